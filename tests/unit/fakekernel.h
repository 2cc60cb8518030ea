/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel behind a faketree: it takes what is written to attributes and does to
 * the tree what Linux does (drivers/base/bus.c, drivers/pci/pci-driver.c,
 * pci-sysfs.c, iov.c). Failures are put in, and it can kill the writer at the
 * n-th write, before or after the write took effect.
 */
#ifndef TESTS_FAKEKERNEL_H
#define TESTS_FAKEKERNEL_H

#include <vf/admin.h>

#include "faketree.h"

/* Exit status of a writer that was killed. */
#define FK_KILLED 99

struct fakekernel {
	struct faketree *t;
	struct vf_admin admin;
	/* A write whose path contains @fail_path, and whose text contains @fail_text if that is
	 * not NULL, gives @fail_errno without effect. */
	const char *fail_path;
	const char *fail_text;
	int fail_errno;
	/* Driver that refuses every function. */
	const char *refusing;
	/* Driver that a function without an override gets. */
	const char *natural;
	/* Most VFs that sriov_numvfs makes, whatever was asked; 0 for no limit. */
	unsigned int most_vfs;
	/* Kill the process at this write, counted from 1; before it took effect. */
	int kill_at;
	int writes;
	int modules_loaded;
	int module_errno;
	int slept;
};

static inline void fk_probe(struct fakekernel *k, const char *bdf)
{
	char override[128];
	const char *driver = override, *pf_probe;

	snprintf(override, sizeof(override), "%s",
		 ft_text(k->t, "sys/bus/pci/devices/%s/driver_override", bdf));
	if (ft_exists(k->t, "sys/devices/pci0000:00/%s/driver", bdf))
		return;
	if (!strcmp(override, "(null)")) {
		/* pci_device_can_probe() */
		pf_probe = ft_text(k->t, "sys/bus/pci/devices/%s/physfn/sriov_drivers_autoprobe", bdf);
		if (!k->natural || !strcmp(pf_probe, "0"))
			return;
		driver = k->natural;
	}
	if (!ft_exists(k->t, "sys/bus/pci/drivers/%s", driver) ||
	    (k->refusing && !strcmp(driver, k->refusing)))
		return;
	ft_bind(k->t, bdf, driver);
}

static inline int fk_numvfs(struct fakekernel *k, const char *pf, unsigned int n)
{
	unsigned int now = (unsigned int)atoi(ft_text(k->t, "sys/bus/pci/devices/%s/sriov_numvfs", pf));
	unsigned int most = k->most_vfs && n > k->most_vfs ? k->most_vfs : n;
	char text[64];

	if (now && n)
		return -EBUSY;
	for (unsigned int i = 0; i < now; i++) {
		snprintf(text, sizeof(text), "%s",
			 ft_text(k->t, "sys/bus/pci/devices/%s/test_vf%u", pf, i));
		ft_unlink(k->t, "sys/devices/pci0000:00/%s/virtfn%u", pf, i);
		ft_unlink(k->t, "sys/bus/pci/devices/%s", text);
	}
	for (unsigned int i = 0; i < most; i++) {
		struct ft_pci vf = { .vendor = 0x8086, .device = 0x10ca, .class_code = 0x020000 };

		snprintf(text, sizeof(text), "0000:00:13.%x", 2 * i);
		vf.bdf = text;
		vf.group = 20 + (int)i;
		ft_add(k->t, &vf);
		ft_vf(k->t, pf, i, text);
		ft_file(k->t, text, "sys/devices/pci0000:00/%s/test_vf%u", pf, i);
		fk_probe(k, text);
	}
	snprintf(text, sizeof(text), "%u\n", most);
	ft_file(k->t, text, "sys/devices/pci0000:00/%s/sriov_numvfs", pf);
	return 0;
}

static inline int fk_write(struct vf_admin *a, const char *path, const char *data, size_t len)
{
	struct fakekernel *k = a->priv;
	char text[4096], bdf[32] = "";
	const char *attr = strrchr(path, '/') + 1;

	if (++k->writes == k->kill_at)
		_exit(FK_KILLED);
	ck_assert_uint_lt(len, sizeof(text));
	memcpy(text, data, len);
	text[len] = 0;
	if (k->fail_path && strstr(path, k->fail_path) &&
	    (!k->fail_text || strstr(text, k->fail_text)))
		return -k->fail_errno;
	/* Every attribute here is written as one line. */
	ck_assert_msg(len && text[len - 1] == '\n' && !memchr(text, '\n', len - 1),
		      "'%s' to %s is not one line", text, path);
	text[len - 1] = 0;
	if (!ft_exists(k->t, "%s", path))
		return -ENOENT;
	sscanf(path, "sys/bus/pci/devices/%31[^/]", bdf);
	if (!strcmp(attr, "driver_override")) {
		char line[4200];

		snprintf(line, sizeof(line), "%s\n", *text ? text : "(null)");
		ft_file(k->t, line, "%s", path);
	} else if (!strcmp(attr, "unbind")) {
		ck_assert_str_eq(text, bdf);
		ft_unlink(k->t, "sys/devices/pci0000:00/%s/driver", bdf);
	} else if (!strcmp(attr, "drivers_probe")) {
		fk_probe(k, text);
	} else if (!strcmp(attr, "sriov_numvfs")) {
		return fk_numvfs(k, bdf, (unsigned int)atoi(text));
	} else {
		ft_bytes(k->t, data, len, "%s", path);
	}
	return 0;
}

static inline int fk_load_module(struct vf_admin *a, const char *name)
{
	struct fakekernel *k = a->priv;

	k->modules_loaded++;
	if (k->module_errno)
		return -k->module_errno;
	ft_driver(k->t, name);
	return 0;
}

static inline void fk_sleep(struct vf_admin *a, unsigned int ms)
{
	struct fakekernel *k = a->priv;

	k->slept += (int)ms;
}

static inline void fk_init(struct fakekernel *k, struct faketree *t)
{
	static const struct vf_admin_ops ops = {
		.write = fk_write,
		.load_module = fk_load_module,
		.sleep_ms = fk_sleep,
	};

	*k = (struct fakekernel){ .t = t };
	k->admin = (struct vf_admin){ .host = &t->host, .ops = &ops, .live = true, .priv = k };
}

#endif
