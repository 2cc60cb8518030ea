// SPDX-License-Identifier: GPL-2.0-only
#include <sys/wait.h>

#include <vf/bind.h>
#include <vf/record.h>

#include "fakekernel.h"
#include "suite.h"

static struct faketree t;
static struct fakekernel k;
static struct bp_error err;

#define NIC  "0000:00:03.0"
#define NIC2 "0000:00:04.0"
#define AHCI "0000:00:1f.2"
#define SMB  "0000:00:1f.3"
#define DEV  "sys/devices/pci0000:00/"

static void host(void)
{
	ft_new(&t);
	ft_system(&t);
	ft_add(&t, &(struct ft_pci){ NIC, 0x8086, 0x10d3, 0x020000, "e1000e", 3, 0, 0 });
	ft_add(&t, &(struct ft_pci){ NIC2, 0x8086, 0x10d3, 0x020000, "e1000e", 4, 0, 0 });
	ft_add(&t, &(struct ft_pci){ "0000:00:1f.0", 0x8086, 0x2918, 0x060100, NULL, 7, 0, 0 });
	ft_add(&t, &(struct ft_pci){ AHCI, 0x8086, 0x2922, 0x010601, "ahci", 7, 0, 0 });
	ft_add(&t, &(struct ft_pci){ SMB, 0x8086, 0x2930, 0x0c0500, "i801_smbus", 7, 0, 0 });
	ft_driver(&t, "vfio-pci");
	fk_init(&k, &t);
	k.natural = "e1000e";
	err = (struct bp_error){ 0 };
}

static int bind(struct vf_bind_result *r, const char *a, const char *b, const char *c)
{
	const char *names[] = { a, b, c };
	struct vf_bdf bdfs[3];
	size_t n = 0;

	bp_error_clear(&err);
	for (; n < 3 && names[n]; n++)
		ck_assert_int_eq(vf_bdf_parse(names[n], &bdfs[n]), 0);
	return vf_bind(&k.admin, bdfs, n, r, &err);
}

static int restore(struct vf_bind_result *r, const char *name)
{
	struct vf_bdf b;

	bp_error_clear(&err);
	ck_assert_int_eq(vf_bdf_parse(name, &b), 0);
	return vf_restore(&k.admin, &b, r, &err);
}

static const char *driver(const char *bdf)
{
	static char target[256];
	char path[512];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/" DEV "%s/driver", t.root, bdf);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return "";
	target[n] = 0;
	return strrchr(target, '/') + 1;
}

static const char *override(const char *bdf)
{
	return ft_text(&t, DEV "%s/driver_override", bdf);
}

static bool recorded(const char *bdf)
{
	return ft_exists(&t, "run/bluepass/bind/%s", bdf);
}

/* The function is as the host had it, and nothing remains of us. */
static void untouched(const char *bdf, const char *drv)
{
	ck_assert_str_eq(driver(bdf), drv);
	ck_assert_str_eq(override(bdf), "(null)");
	ck_assert(!recorded(bdf));
}

START_TEST(there_and_back)
{
	struct vf_bind_result r;

	host();
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ck_assert(r.changed);
	ck_assert_str_eq(r.from, "e1000e");
	ck_assert_str_eq(r.to, "vfio-pci");
	ck_assert_str_eq(driver(NIC), "vfio-pci");
	ck_assert_str_eq(override(NIC), "vfio-pci");
	ck_assert_str_eq(ft_text(&t, "run/bluepass/bind/" NIC),
			 "driver=e1000e\noverride=\nmodule=e1000e\nid=8086:10d3");
	ck_assert_str_eq(driver(NIC2), "e1000e");
	ck_assert_int_eq(k.modules_loaded, 0);
	/* Twice does nothing. */
	k.writes = 0;
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ck_assert(!r.changed);
	ck_assert_int_eq(r.note, VF_NOTE_ALREADY);
	ck_assert_int_eq(k.writes, 0);

	ck_assert_int_eq(restore(&r, NIC), 0);
	ck_assert(r.changed);
	ck_assert_str_eq(r.from, "vfio-pci");
	ck_assert_str_eq(r.to, "e1000e");
	untouched(NIC, "e1000e");
	k.writes = 0;
	ck_assert_int_eq(restore(&r, NIC), 0);
	ck_assert(!r.changed);
	ck_assert_int_eq(r.note, VF_NOTE_NO_RECORD);
	ck_assert_int_eq(k.writes, 0);
	ft_free(&t);
}
END_TEST

START_TEST(an_override_comes_back)
{
	struct vf_bind_result r;

	host();
	ft_file(&t, "e1000e\n", DEV NIC "/driver_override");
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ck_assert_int_eq(restore(&r, NIC), 0);
	ck_assert_str_eq(driver(NIC), "e1000e");
	ck_assert_str_eq(override(NIC), "e1000e");
	ft_free(&t);
}
END_TEST

START_TEST(no_driver_before_none_after)
{
	struct vf_bind_result r;

	host();
	ft_unlink(&t, DEV NIC "/driver");
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ck_assert_str_eq(r.from, "");
	ck_assert_int_eq(restore(&r, NIC), 0);
	ck_assert_str_eq(r.to, "");
	untouched(NIC, "");
	ft_free(&t);
}
END_TEST

START_TEST(module_is_loaded)
{
	struct vf_bind_result r;

	host();
	ft_unlink(&t, "sys/bus/pci/drivers/vfio-pci/module");
	ft_unlink(&t, "sys/bus/pci/drivers/vfio-pci/bind");
	ft_unlink(&t, "sys/bus/pci/drivers/vfio-pci/unbind");
	{
		char path[256];

		snprintf(path, sizeof(path), "%s/sys/bus/pci/drivers/vfio-pci", t.root);
		ck_assert_int_eq(rmdir(path), 0);
	}
	k.module_errno = ENOENT;
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), -ENOENT);
	ck_assert_str_eq(err.fix, "use a kernel with CONFIG_VFIO_PCI");
	untouched(NIC, "e1000e");
	k.module_errno = EPERM;
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), -EPERM);
	ck_assert_str_eq(err.fix, "run this as root");
	k.module_errno = 0;
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ck_assert_str_eq(driver(NIC), "vfio-pci");
	ft_free(&t);
}
END_TEST

START_TEST(group_must_be_viable)
{
	struct vf_bind_result r[3];

	host();
	ck_assert_int_eq(bind(r, SMB, NULL, NULL), -EPERM);
	ck_assert_str_eq(err.what, "binding 0000:00:1f.3 would leave IOMMU group 7 not viable: "
				   "0000:00:1f.2 (ahci) on drivers of the host");
	ck_assert_str_eq(err.fix, "name the whole group (vfctl bind 0000:00:1f.3 0000:00:1f.2) or "
				  "use a slot with a group of its own");
	untouched(SMB, "i801_smbus");
	/* All that have drivers are named; 1f.0 has none and does not matter. */
	ck_assert_int_eq(bind(r, SMB, AHCI, NULL), 0);
	ck_assert_str_eq(driver(SMB), "vfio-pci");
	ck_assert_str_eq(driver(AHCI), "vfio-pci");
	ck_assert_str_eq(driver("0000:00:1f.0"), "");
	ft_free(&t);
}
END_TEST

/* Who does as told must not be sent back for one that was named at first. */
START_TEST(advice_keeps_what_was_named)
{
	struct vf_bind_result r[3];

	host();
	ft_add(&t, &(struct ft_pci){ "0000:00:1f.6", 0x8086, 0x10d3, 0x020000, "e1000e", 7, 0, 0 });
	ck_assert_int_eq(bind(r, SMB, AHCI, NULL), -EPERM);
	ck_assert_str_eq(err.fix, "name the whole group (vfctl bind 0000:00:1f.3 0000:00:1f.2 0000:00:1f.6) or "
				  "use a slot with a group of its own");
	ck_assert_int_eq(bind(r, SMB, AHCI, "0000:00:1f.6"), 0);
	ft_free(&t);
}
END_TEST

/* Advice that is cut in the middle of a name would be typed as it stands. */
START_TEST(group_too_large_for_a_sentence)
{
	struct vf_bind_result r[3];
	char name[32];

	host();
	for (int i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "0000:00:%02x.%d", 8 + i / 8, i % 8);
		ft_add(&t, &(struct ft_pci){ name, 0x8086, 0x10d3, 0x020000, "e1000e", 7, 0, 0 });
	}
	ck_assert_int_eq(bind(r, SMB, NULL, NULL), -EPERM);
	ck_assert_str_eq(err.fix, "name the whole group, which 'vfctl show 0000:00:1f.3' lists, or "
				  "use a slot with a group of its own");
	ft_free(&t);
}
END_TEST

START_TEST(refused)
{
	struct vf_bind_result r;

	host();
	ck_assert_int_eq(bind(&r, "0000:77:00.0", NULL, NULL), -ENODEV);
	ck_assert_str_eq(err.what, "there is no PCI function 0000:77:00.0");
	ft_add(&t, &(struct ft_pci){ "0000:00:1c.0", 0x8086, 1, 0x060400, "pcieport", 9, 0x81, 0 });
	ck_assert_int_eq(bind(&r, "0000:00:1c.0", NULL, NULL), -EINVAL);
	ck_assert_str_eq(err.what, "0000:00:1c.0 is a bridge, which vfio-pci does not take");
	ft_add(&t, &(struct ft_pci){ "0000:00:05.0", 0x8086, 1, 0x020000, NULL, -1, 0, 0 });
	ck_assert_int_eq(bind(&r, "0000:00:05.0", NULL, NULL), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.what, "0000:00:05.0 has no IOMMU group"));
	ck_assert_ptr_nonnull(strstr(err.fix, "AMD-Vi"));
	ft_add(&t, &(struct ft_pci){ "0000:00:06.0", 0x8086, 1, 0x020000, "igb", 10, 0, 7 });
	ft_file(&t, "2\n", DEV "0000:00:06.0/sriov_numvfs");
	ck_assert_int_eq(bind(&r, "0000:00:06.0", NULL, NULL), -EBUSY);
	ck_assert_str_eq(err.what, "0000:00:06.0 is a PF with 2 VFs, which would go with it");
	ck_assert_str_eq(err.fix, "bind its VFs, or run 'vfctl destroy 0000:00:06.0' first");
	ft_dir(&t, DEV NIC "/net/eth0");
	ft_link(&t, "../../devices/pci0000:00/" NIC "/net/eth0", "sys/class/net/eth0");
	ft_file(&t, "eth0\t00000000\t0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", "proc/self/net/route");
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), -EBUSY);
	ck_assert_str_eq(err.what, NIC " carries the default route (eth0)");
	ck_assert_int_eq(k.writes, 0);
	untouched(NIC, "e1000e");
	ft_free(&t);
}
END_TEST

/* One of several fails: the others get back what they had. */
START_TEST(all_or_none)
{
	struct vf_bind_result r[3];

	host();
	/* A mistake in the last name is found before anything is changed. */
	ck_assert_int_eq(bind(r, NIC, NIC2, "0000:77:00.0"), -ENODEV);
	ck_assert_int_eq(k.writes, 0);

	k.fail_path = NIC2 "/driver_override";
	k.fail_text = "vfio-pci";
	k.fail_errno = EACCES;
	ck_assert_int_eq(bind(r, NIC, NIC2, NULL), -EACCES);
	ck_assert_str_eq(err.what, NIC2 ": cannot set driver_override: Permission denied");
	ck_assert_str_eq(err.fix, "run this as root");
	untouched(NIC, "e1000e");
	untouched(NIC2, "e1000e");

	k.fail_path = NIC2 "/driver/unbind";
	k.fail_text = NULL;
	k.fail_errno = EBUSY;
	ck_assert_int_eq(bind(r, NIC, NIC2, NULL), -EBUSY);
	untouched(NIC, "e1000e");
	untouched(NIC2, "e1000e");

	k.fail_path = NULL;
	k.refusing = "vfio-pci";
	ck_assert_int_eq(bind(r, NIC2, NIC, NULL), -EIO);
	ck_assert_str_eq(err.what, "vfio-pci did not take " NIC2);
	untouched(NIC, "e1000e");
	untouched(NIC2, "e1000e");
	ft_free(&t);
}
END_TEST

START_TEST(named_twice)
{
	struct vf_bind_result r[3];

	host();
	ck_assert_int_eq(bind(r, NIC, NIC, NULL), 0);
	ck_assert(r[0].changed);
	ck_assert(!r[1].changed);
	ck_assert_int_eq(restore(r, NIC), 0);
	untouched(NIC, "e1000e");
	ft_free(&t);
}
END_TEST

START_TEST(record_cannot_be_written)
{
	struct vf_bind_result r;

	host();
	ft_file(&t, "in the way", "run/bluepass/bind");
	ck_assert_int_lt(bind(&r, NIC, NULL, NULL), 0);
	ck_assert_ptr_nonnull(strstr(err.what, "/run/bluepass/bind/" NIC));
	ck_assert_int_eq(k.writes, 0);
	ck_assert_str_eq(driver(NIC), "e1000e");
	ft_free(&t);
}
END_TEST

/* Killed at each write of a bind, then of the restore that repairs it. */
START_TEST(killed_anywhere)
{
	static const char *const before[] = { "(null)\n", "e1000e\n" };
	int killed = 0;

	for (size_t o = 0; o < 2; o++) {
		for (int at = 1; at <= 8; at++) {
			for (int again = 0; again <= 6; again++) {
				struct vf_bind_result r;
				int status;

				host();
				ft_file(&t, before[o], DEV NIC "/driver_override");
				k.kill_at = at;
				if (!fork())
					_exit(!!bind(&r, NIC, NULL, NULL));
				wait(&status);
				ck_assert(WIFEXITED(status));
				killed += WEXITSTATUS(status) == FK_KILLED;
				if (again) {
					k.kill_at = again;
					if (!fork())
						_exit(!!restore(&r, NIC));
					wait(&status);
				}
				k.kill_at = 0;
				ck_assert_msg(!restore(&r, NIC), "bind killed at %d, restore at %d: %s", at,
					      again, err.what);
				ck_assert_str_eq(driver(NIC), "e1000e");
				ck_assert_str_eq(override(NIC), o ? "e1000e" : "(null)");
				ck_assert(!recorded(NIC));
				ft_free(&t);
			}
		}
	}
	/* Three writes in a bind: override, unbind, probe. */
	ck_assert_int_eq(killed, 2 * 3 * 7);
}
END_TEST

/* Killed in a bind, and then bound again instead of restored: the first record counts. */
START_TEST(bound_again_after_a_kill)
{
	for (int at = 1; at <= 3; at++) {
		struct vf_bind_result r;
		int status;

		host();
		k.kill_at = at;
		if (!fork())
			_exit(!!bind(&r, NIC, NULL, NULL));
		wait(&status);
		ck_assert_int_eq(WEXITSTATUS(status), FK_KILLED);
		k.kill_at = 0;
		ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
		ck_assert_str_eq(driver(NIC), "vfio-pci");
		ck_assert_int_eq(restore(&r, NIC), 0);
		untouched(NIC, "e1000e");
		ft_free(&t);
	}
}
END_TEST

START_TEST(function_is_gone)
{
	struct vf_bind_result r;

	host();
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ft_unlink(&t, "sys/bus/pci/devices/" NIC);
	ck_assert_int_eq(restore(&r, NIC), 0);
	ck_assert_int_eq(r.note, VF_NOTE_GONE);
	ck_assert(r.changed);
	ck_assert(!recorded(NIC));
	ck_assert_int_eq(restore(&r, NIC), -ENODEV);
	ft_free(&t);
}
END_TEST

/* Another card in the same slot is not given the old one's driver. */
/* What cannot be looked at may well be there: its record is all that knows its driver. */
START_TEST(function_cannot_be_looked_at)
{
	struct vf_bind_result r;

	host();
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ft_unlink(&t, "sys/bus/pci/devices/" NIC);
	ft_link(&t, NIC, "sys/bus/pci/devices/" NIC);
	ck_assert_int_eq(restore(&r, NIC), -ELOOP);
	ck_assert(ft_exists(&t, "run/bluepass/bind/" NIC));
	ft_link(&t, "../../../devices/pci0000:00/" NIC, "sys/bus/pci/devices/" NIC);
	ck_assert_int_eq(restore(&r, NIC), 0);
	ck_assert_str_eq(driver(NIC), "e1000e");
	ft_free(&t);
}
END_TEST

START_TEST(function_is_another)
{
	struct vf_bind_result r;

	host();
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ft_file(&t, "0x1533\n", DEV NIC "/device");
	k.writes = 0;
	ck_assert_int_eq(restore(&r, NIC), 0);
	ck_assert_int_eq(r.note, VF_NOTE_GONE);
	ck_assert_int_eq(k.writes, 0);
	ck_assert(!recorded(NIC));
	ft_free(&t);
}
END_TEST

START_TEST(somebody_else_took_it)
{
	struct vf_bind_result r;

	host();
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ft_bind(&t, NIC, "ahci");
	ft_file(&t, "ahci\n", DEV NIC "/driver_override");
	ck_assert_int_eq(restore(&r, NIC), 0);
	ck_assert_int_eq(r.note, VF_NOTE_OTHER);
	ck_assert_str_eq(driver(NIC), "ahci");
	ck_assert_str_eq(override(NIC), "ahci");
	ck_assert(!recorded(NIC));
	ft_free(&t);
}
END_TEST

START_TEST(in_use)
{
	struct vf_bind_result r;

	host();
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ft_file(&t, "bluepass\n", "proc/4711/comm");
	ft_link(&t, "/dev/vfio/3", "proc/4711/fd/5");
	ck_assert_int_eq(restore(&r, NIC), -EBUSY);
	ck_assert_str_eq(err.what, NIC " is in use by bluepass (pid 4711)");
	ck_assert_str_eq(driver(NIC), "vfio-pci");
	ck_assert(recorded(NIC));
	ft_unlink(&t, "proc/4711/fd/5");
	ck_assert_int_eq(restore(&r, NIC), 0);
	untouched(NIC, "e1000e");
	ft_free(&t);
}
END_TEST

START_TEST(driver_does_not_take_it_back)
{
	struct vf_bind_result r;

	host();
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	k.refusing = "e1000e";
	ck_assert_int_eq(restore(&r, NIC), -EIO);
	ck_assert_str_eq(err.what, NIC ": e1000e did not take it back");
	ck_assert_str_eq(override(NIC), "(null)");
	/* It can be tried again. */
	ck_assert(recorded(NIC));
	k.refusing = NULL;
	ck_assert_int_eq(restore(&r, NIC), 0);
	untouched(NIC, "e1000e");
	ft_free(&t);
}
END_TEST

START_TEST(junk_in_a_record)
{
	static const char *const junk[] = {
		"", "x", "driver=e1000e\n", "driver=../../x\noverride=\nmodule=\nid=8086:10d3\n",
		"driver=0123456789012345678901234567890123456789012345678901234567890123456789\noverride=\nmodule=\nid=1\n",
		"driver=e1000e\noverride=\nmodule=..\nid=8086:10d3\n",
	};
	struct vf_bind_result r;

	host();
	for (size_t i = 0; i < sizeof(junk) / sizeof(*junk); i++) {
		ft_file(&t, junk[i], "run/bluepass/bind/" NIC);
		ck_assert_int_eq(restore(&r, NIC), -EBADMSG);
		ck_assert_ptr_nonnull(strstr(err.what, "/run/bluepass/bind/" NIC));
	}
	ck_assert_int_eq(k.writes, 0);
	ft_free(&t);
}
END_TEST

/* A tree that somebody copied: attributes are written, nothing is expected of them. */
START_TEST(no_kernel_behind_it)
{
	struct vf_bind_result r;

	host();
	vf_admin_init(&k.admin, &t.host);
	ck_assert(!k.admin.live);
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ck_assert(r.changed);
	ck_assert_str_eq(override(NIC), "vfio-pci");
	ck_assert_str_eq(ft_text(&t, "sys/bus/pci/drivers/e1000e/unbind"), NIC);
	ck_assert_str_eq(ft_text(&t, "sys/bus/pci/drivers_probe"), NIC);
	ck_assert_int_eq(bind(&r, NIC, NULL, NULL), 0);
	ck_assert(!r.changed);
	ck_assert_int_eq(restore(&r, NIC), 0);
	ck_assert_str_eq(override(NIC), "");
	ck_assert(!recorded(NIC));
	ft_free(&t);
}
END_TEST

START_TEST(records)
{
	struct vf_bdf b = { 0, 0, 3, 0 }, *list;
	char buf[VF_RECORD_MAX];
	size_t n;

	host();
	ck_assert_int_eq(vf_record_list(&t.host, VF_RECORD_BIND, &list, &n), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(vf_record_drop(&t.host, VF_RECORD_BIND, &b), 0);
	ck_assert_int_eq(vf_record_load(&t.host, VF_RECORD_BIND, &b, buf), -ENOENT);
	/* What a writer left that was killed is no record, and in nobody's way. */
	ft_file(&t, "half", "run/bluepass/bind/." NIC ".new");
	ck_assert_int_eq(vf_record_list(&t.host, VF_RECORD_BIND, &list, &n), 0);
	ck_assert_uint_eq(n, 0);
	free(list);
	ck_assert_int_eq(vf_record_save(&t.host, VF_RECORD_BIND, &b, "text\n", NULL), 0);
	ck_assert(!ft_exists(&t, "run/bluepass/bind/." NIC ".new"));
	ck_assert_int_eq(vf_record_load(&t.host, VF_RECORD_BIND, &b, buf), 0);
	ck_assert_str_eq(buf, "text");
	ck_assert_int_eq(vf_record_list(&t.host, VF_RECORD_BIND, &list, &n), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(vf_bdf_cmp(&list[0], &b), 0);
	free(list);
	ft_free(&t);
}
END_TEST

SUITE("bind and restore", there_and_back, an_override_comes_back, no_driver_before_none_after,
      module_is_loaded, group_must_be_viable, advice_keeps_what_was_named, group_too_large_for_a_sentence, refused,
      all_or_none, named_twice, record_cannot_be_written,
      killed_anywhere, bound_again_after_a_kill, function_is_gone, function_cannot_be_looked_at, function_is_another,
      somebody_else_took_it, in_use, driver_does_not_take_it_back, junk_in_a_record, no_kernel_behind_it,
      records)
