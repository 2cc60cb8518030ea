// SPDX-License-Identifier: GPL-2.0-only
#include <sys/wait.h>

#include <vf/pci.h>
#include <vf/record.h>
#include <vf/sriov.h>

#include "fakekernel.h"
#include "suite.h"

static struct faketree t;
static struct fakekernel k;
static struct bp_error err;
static bool changed;

static const struct vf_bdf pf = { 0, 0, 3, 0 };

#define PF  "0000:00:03.0"
#define DEV "sys/devices/pci0000:00/"

static void host(void)
{
	ft_new(&t);
	ft_system(&t);
	ft_add(&t, &(struct ft_pci){ PF, 0x8086, 0x10c9, 0x020000, "igb", 1, 0, 7 });
	ft_driver(&t, "igbvf");
	fk_init(&k, &t);
	k.natural = "igbvf";
	err = (struct bp_error){ 0 };
}

static int create(uint32_t n, unsigned int flags)
{
	bp_error_clear(&err);
	return vf_sriov_create(&k.admin, &pf, n, flags, &changed, &err);
}

static int destroy(void)
{
	bp_error_clear(&err);
	return vf_sriov_destroy(&k.admin, &pf, &changed, &err);
}

static const char *numvfs(void)
{
	return ft_text(&t, DEV PF "/sriov_numvfs");
}

static const char *autoprobe(void)
{
	return ft_text(&t, DEV PF "/sriov_drivers_autoprobe");
}

START_TEST(made_and_removed)
{
	host();
	ck_assert_int_eq(create(2, 0), 0);
	ck_assert(changed);
	ck_assert_str_eq(numvfs(), "2");
	ck_assert(ft_exists(&t, DEV "0000:00:13.2/driver"));
	k.writes = 0;
	ck_assert_int_eq(create(2, 0), 0);
	ck_assert(!changed);
	ck_assert_int_eq(k.writes, 0);
	ck_assert_int_eq(destroy(), 0);
	ck_assert(changed);
	ck_assert_str_eq(numvfs(), "0");
	k.writes = 0;
	ck_assert_int_eq(destroy(), 0);
	ck_assert(!changed);
	ck_assert_int_eq(k.writes, 0);
	ft_free(&t);
}
END_TEST

START_TEST(another_number_is_left_alone)
{
	host();
	ck_assert_int_eq(create(2, 0), 0);
	k.writes = 0;
	ck_assert_int_eq(create(3, 0), -EBUSY);
	ck_assert_str_eq(err.what, PF " has 2 VFs already, not 3");
	ck_assert_ptr_nonnull(strstr(err.fix, "vfctl destroy " PF));
	ck_assert_int_eq(k.writes, 0);
	ck_assert_str_eq(numvfs(), "2");
	ft_free(&t);
}
END_TEST

START_TEST(who_can_have_vfs)
{
	struct vf_bdf vf = { 0, 0, 0x13, 0 }, none = { 0, 0, 4, 0 };

	host();
	ck_assert_int_eq(create(8, 0), -ERANGE);
	ck_assert_str_eq(err.what, PF ": cannot make 8 VFs: its driver allows 1 to 7");
	ck_assert_int_eq(create(0, 0), -ERANGE);
	ck_assert_str_eq(err.fix, "'vfctl destroy' removes VFs");
	ck_assert_int_eq(create(1, 0), 0);
	bp_error_clear(&err);
	ck_assert_int_eq(vf_sriov_create(&k.admin, &vf, 1, 0, &changed, &err), -EINVAL);
	ck_assert_str_eq(err.what, "0000:00:13.0 is itself a VF");
	ck_assert_str_eq(err.fix, "name its PF, " PF);
	ft_add(&t, &(struct ft_pci){ "0000:00:04.0", 0x15b3, 0x1003, 0x020000, NULL, 2, 0, 0 });
	bp_error_clear(&err);
	ck_assert_int_eq(vf_sriov_create(&k.admin, &none, 1, 0, &changed, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.what, "0000:00:04.0 is not a PF"));
	ck_assert_ptr_nonnull(strstr(err.fix, "SRIOV_EN"));
	ft_free(&t);
}
END_TEST

/* Each errno of the kernel in words. */
START_TEST(errors_in_words)
{
	static const struct {
		int errnum;
		const char *what;
		const char *fix;
	} cases[] = {
		{ EACCES, "Permission denied", "run this as root" },
		{ EBUSY, "busy", "vfctl show" },
		{ ERANGE, "its driver allows at most 7", "ask for fewer" },
		{ ENOENT, "igb cannot make VFs", "bind the PF to the driver" },
		{ ENOMEM, "not enough MMIO resources", "pci=realloc" },
		{ EPERM, "Operation not permitted", "guest" },
		{ EIO, "Input/output error", "dmesg" },
	};

	host();
	k.fail_path = "sriov_numvfs";
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		k.fail_errno = cases[i].errnum;
		ck_assert_int_eq(create(2, 0), -cases[i].errnum);
		ck_assert_msg(strstr(err.what, cases[i].what), "%s", err.what);
		ck_assert_msg(strstr(err.what, PF ": cannot make 2 VFs: ") == err.what, "%s", err.what);
		ck_assert_msg(strstr(err.fix, cases[i].fix), "%s", err.fix);
		ck_assert(!changed);
	}
	ft_unlink(&t, DEV PF "/driver");
	k.fail_errno = ENOENT;
	ck_assert_int_eq(create(2, 0), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.what, "no driver is bound to it"));
	ft_free(&t);
}
END_TEST

START_TEST(too_few_came)
{
	host();
	k.most_vfs = 1;
	ck_assert_int_eq(create(3, 0), -EIO);
	ck_assert_str_eq(err.what, PF ": asked for 3 VFs, 1 came; they were removed again");
	ck_assert_str_eq(numvfs(), "0");
	ck_assert_int_gt(k.slept, 0);
	ft_free(&t);
}
END_TEST

START_TEST(no_probe)
{
	host();
	ck_assert_int_eq(create(2, VF_SRIOV_NO_PROBE), 0);
	ck_assert(!ft_exists(&t, DEV "0000:00:13.0/driver"));
	ck_assert_str_eq(autoprobe(), "1");
	ck_assert(!ft_exists(&t, "run/bluepass/autoprobe/" PF));
	ck_assert_int_eq(destroy(), 0);
	/* Who had it off keeps it off. */
	ft_file(&t, "0\n", DEV PF "/sriov_drivers_autoprobe");
	ck_assert_int_eq(create(2, VF_SRIOV_NO_PROBE), 0);
	ck_assert_str_eq(autoprobe(), "0");
	ck_assert_int_eq(destroy(), 0);
	/* It is put back after a failure, too. */
	ft_file(&t, "1\n", DEV PF "/sriov_drivers_autoprobe");
	k.fail_path = "sriov_numvfs";
	k.fail_errno = ENOMEM;
	ck_assert_int_eq(create(2, VF_SRIOV_NO_PROBE), -ENOMEM);
	ck_assert_str_eq(autoprobe(), "1");
	ft_free(&t);
}
END_TEST

START_TEST(killed_with_probing_off)
{
	int status;

	for (int at = 1; at <= 3; at++) {
		host();
		k.kill_at = at;
		if (!fork())
			_exit(!!create(2, VF_SRIOV_NO_PROBE));
		wait(&status);
		ck_assert_int_eq(WEXITSTATUS(status), FK_KILLED);
		ck_assert(ft_exists(&t, "run/bluepass/autoprobe/" PF));
		k.kill_at = 0;
		/* The next run puts it right, whatever it was asked. */
		ck_assert_int_eq(at == 3 ? destroy() : create(2, 0), 0);
		ck_assert_str_eq(autoprobe(), "1");
		ck_assert(!ft_exists(&t, "run/bluepass/autoprobe/" PF));
		ft_free(&t);
	}
}
END_TEST

START_TEST(vfs_in_use)
{
	host();
	ck_assert_int_eq(create(2, 0), 0);
	ft_file(&t, "qemu\n", "proc/77/comm");
	ft_link(&t, "/dev/vfio/21", "proc/77/fd/9");
	k.writes = 0;
	ck_assert_int_eq(destroy(), -EBUSY);
	ck_assert_str_eq(err.what, "cannot remove the VFs of " PF ": 0000:00:13.2 is in use by qemu (pid 77)");
	ft_unlink(&t, "proc/77/fd/9");
	ft_dir(&t, DEV "0000:00:13.0/net/eth7");
	ft_link(&t, "../../devices/pci0000:00/0000:00:13.0/net/eth7", "sys/class/net/eth7");
	ft_file(&t, "eth7\t00000000\t0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", "proc/self/net/route");
	ck_assert_int_eq(destroy(), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err.what, "0000:00:13.0 carries the default route (eth7)"));
	ck_assert_int_eq(k.writes, 0);
	ck_assert_str_eq(numvfs(), "2");
	ft_free(&t);
}
END_TEST

START_TEST(records_of_vfs_go_with_them)
{
	struct vf_bdf vf = { 0, 0, 0x13, 2 };
	char text[VF_RECORD_MAX];

	host();
	ck_assert_int_eq(create(2, 0), 0);
	ck_assert_int_eq(vf_record_save(&t.host, VF_RECORD_BIND, &vf, "x\n", NULL), 0);
	k.fail_path = "sriov_numvfs";
	k.fail_errno = EIO;
	ck_assert_int_eq(destroy(), -EIO);
	ck_assert_int_eq(vf_record_load(&t.host, VF_RECORD_BIND, &vf, text), 0);
	k.fail_path = NULL;
	ck_assert_int_eq(destroy(), 0);
	ck_assert_int_eq(vf_record_load(&t.host, VF_RECORD_BIND, &vf, text), -ENOENT);
	ft_free(&t);
}
END_TEST

/* A run that is making VFs has the setting at 0 on purpose: whoever repairs waits for it. */
START_TEST(repair_waits_for_a_run_at_work)
{
	int lock, status;
	pid_t other;

	host();
	lock = vf_admin_lock(&k.admin, &err);
	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(vf_record_save(&t.host, VF_RECORD_AUTOPROBE, &pf, "1\n", NULL), 0);
	ft_file(&t, "0\n", DEV PF "/sriov_drivers_autoprobe");
	other = fork();
	ck_assert_int_ge(other, 0);
	if (!other) {
		close(lock);
		_exit(vf_sriov_heal(&k.admin, &pf, &changed, &err) || !changed);
	}
	usleep(200000);
	ck_assert_int_eq(waitpid(other, &status, WNOHANG), 0);
	ck_assert_str_eq(autoprobe(), "0");
	close(lock);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(autoprobe(), "1");
	ck_assert(!ft_exists(&t, "run/bluepass/autoprobe/" PF));
	ft_free(&t);
}
END_TEST

/* A setting that cannot be reached is not one that is gone. */
START_TEST(repair_that_fails_keeps_the_record)
{
	host();
	ck_assert_int_eq(vf_record_save(&t.host, VF_RECORD_AUTOPROBE, &pf, "1\n", NULL), 0);
	ft_unlink(&t, DEV PF "/sriov_drivers_autoprobe");
	ft_link(&t, "sriov_drivers_autoprobe", DEV PF "/sriov_drivers_autoprobe");
	vf_admin_init(&k.admin, &t.host);
	ck_assert_int_eq(vf_sriov_heal(&k.admin, &pf, &changed, &err), -ELOOP);
	ck_assert(ft_exists(&t, "run/bluepass/autoprobe/" PF));
	ft_unlink(&t, DEV PF "/sriov_drivers_autoprobe");
	bp_error_clear(&err);
	ck_assert_int_eq(vf_sriov_heal(&k.admin, &pf, &changed, &err), 0);
	ck_assert(!ft_exists(&t, "run/bluepass/autoprobe/" PF));
	ft_free(&t);
}
END_TEST

SUITE("VFs", made_and_removed, another_number_is_left_alone, who_can_have_vfs, errors_in_words, too_few_came,
      no_probe, killed_with_probing_off, vfs_in_use, records_of_vfs_go_with_them,
      repair_waits_for_a_run_at_work, repair_that_fails_keeps_the_record)
