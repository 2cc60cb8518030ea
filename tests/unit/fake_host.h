/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A directory that looks like the root of a host with PCI functions, as far as
 * libvf reads sysfs, and with the device nodes of VFIO as plain files.
 */
#ifndef TESTS_FAKE_HOST_H
#define TESTS_FAKE_HOST_H

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fake_root[64];

static inline void fake_path(char *out, const char *path)
{
	snprintf(out, PATH_MAX, "%s/%s", fake_root, path);
}

static inline void fake_dirs(const char *path)
{
	char full[PATH_MAX];
	char *p;

	fake_path(full, path);
	for (p = full + strlen(fake_root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
}

static inline void fake_file(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	fake_dirs(path);
	fake_path(full, path);
	f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static inline void fake_link(const char *path, const char *target)
{
	char full[PATH_MAX];

	fake_dirs(path);
	fake_path(full, path);
	unlink(full);
	ck_assert_int_eq(symlink(target, full), 0);
}

static inline void fake_remove(const char *path)
{
	char full[PATH_MAX];

	fake_path(full, path);
	ck_assert_int_eq(remove(full), 0);
}

/* A function as sysfs shows it; no driver and no group when NULL and negative. */
static inline void fake_function(const char *bdf, const char *driver, int group)
{
	char path[256], target[256];

	snprintf(path, sizeof(path), "sys/devices/pci0000:00/%s/vendor", bdf);
	fake_file(path, "0x15b3\n");
	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s", bdf);
	snprintf(target, sizeof(target), "../../../devices/pci0000:00/%s", bdf);
	fake_link(path, target);
	if (driver) {
		snprintf(path, sizeof(path), "sys/bus/pci/drivers/%s/bind", driver);
		fake_file(path, "");
		snprintf(path, sizeof(path), "sys/devices/pci0000:00/%s/driver", bdf);
		snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
		fake_link(path, target);
	}
	if (group >= 0) {
		snprintf(path, sizeof(path), "sys/kernel/iommu_groups/%d/devices/%s", group, bdf);
		snprintf(target, sizeof(target), "../../../../devices/pci0000:00/%s", bdf);
		fake_link(path, target);
		snprintf(path, sizeof(path), "sys/devices/pci0000:00/%s/iommu_group", bdf);
		snprintf(target, sizeof(target), "../../../kernel/iommu_groups/%d", group);
		fake_link(path, target);
		snprintf(path, sizeof(path), "sys/kernel/iommu_groups/%d/reserved_regions", group);
		fake_file(path, "0x00000000fee00000 0x00000000feefffff msi\n"
				"0x000000fd00000000 0x000000ffffffffff reserved\n");
		snprintf(path, sizeof(path), "dev/vfio/%d", group);
		fake_file(path, "");
	}
}

/* The device node of a function, as since Linux 6.6. */
static inline void fake_cdev(const char *bdf, int n)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/devices/pci0000:00/%s/vfio-dev/vfio%d/dev", bdf, n);
	fake_file(path, "241:0\n");
	snprintf(path, sizeof(path), "dev/vfio/devices/vfio%d", n);
	fake_file(path, "");
	fake_file("dev/iommu", "");
}

static inline void fake_root_make(void)
{
	snprintf(fake_root, sizeof(fake_root), "/tmp/vfio-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(fake_root));
}

static inline void fake_root_remove(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", fake_root);
	ck_assert_int_eq(system(cmd), 0);
}

#endif
