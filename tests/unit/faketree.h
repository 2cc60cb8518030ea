/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A directory that looks like a host: sys, proc, run and dev of a machine that
 * a test describes function by function.
 */
#ifndef TESTS_FAKETREE_H
#define TESTS_FAKETREE_H

#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vf/sys.h>

struct faketree {
	char root[64];
	struct vf_host host;
};

#define FT_PATH(buf, t, fmt)                                                                       \
	do {                                                                                       \
		va_list ap_;                                                                       \
		int n_ = snprintf(buf, sizeof(buf), "%s/", (t)->root);                             \
                                                                                                   \
		va_start(ap_, fmt);                                                                \
		vsnprintf(buf + n_, sizeof(buf) - (size_t)n_, fmt, ap_);                           \
		va_end(ap_);                                                                       \
	} while (0)

static inline void ft_parents(const char *path)
{
	char part[PATH_MAX];

	for (const char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(s - path), path);
		if (mkdir(part, 0755))
			ck_assert_int_eq(errno, EEXIST);
	}
}

static inline void ft_new(struct faketree *t)
{
	snprintf(t->root, sizeof(t->root), "/tmp/vf-tree-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(t->root));
	t->host = (struct vf_host){ .root = t->root, .sys = vf_sys_libc() };
}

static inline int ft_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void ft_free(struct faketree *t)
{
	nftw(t->root, ft_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/** ft_bytes() - a file with these bytes, folders made as needed. */
static inline void __attribute__((format(printf, 4, 5)))
ft_bytes(struct faketree *t, const void *data, size_t len, const char *fmt, ...)
{
	char path[PATH_MAX];
	FILE *f;

	FT_PATH(path, t, fmt);
	ft_parents(path);
	f = fopen(path, "w");
	ck_assert_msg(f, "%s: %s", path, strerror(errno));
	ck_assert_uint_eq(fwrite(data, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

/** ft_file() - a file with this text. */
#define ft_file(t, text, ...) ft_bytes(t, text, strlen(text), __VA_ARGS__)

static inline void __attribute__((format(printf, 2, 3)))
ft_dir(struct faketree *t, const char *fmt, ...)
{
	char path[PATH_MAX];

	FT_PATH(path, t, fmt);
	ft_parents(path);
	if (mkdir(path, 0755))
		ck_assert_int_eq(errno, EEXIST);
}

/** ft_link() - a symbolic link; one that is there is replaced. */
static inline void __attribute__((format(printf, 3, 4)))
ft_link(struct faketree *t, const char *target, const char *fmt, ...)
{
	char path[PATH_MAX];

	FT_PATH(path, t, fmt);
	ft_parents(path);
	unlink(path);
	ck_assert_msg(!symlink(target, path), "%s: %s", path, strerror(errno));
}

static inline void __attribute__((format(printf, 2, 3)))
ft_unlink(struct faketree *t, const char *fmt, ...)
{
	char path[PATH_MAX];

	FT_PATH(path, t, fmt);
	unlink(path);
}

static inline bool __attribute__((format(printf, 2, 3)))
ft_exists(struct faketree *t, const char *fmt, ...)
{
	char path[PATH_MAX];
	struct stat st;

	FT_PATH(path, t, fmt);
	return !lstat(path, &st);
}

/** ft_text() - what is in a file, without a final line break; "" when it is not there. */
static inline const char *__attribute__((format(printf, 2, 3)))
ft_text(struct faketree *t, const char *fmt, ...)
{
	static char text[8192];
	char path[PATH_MAX];
	size_t n = 0;
	FILE *f;

	FT_PATH(path, t, fmt);
	f = fopen(path, "r");
	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = 0;
	return text;
}

/** struct ft_pci - one function to make. Zero fields are left out of the tree. */
struct ft_pci {
	const char *bdf;
	unsigned int vendor, device, class_code;
	const char *driver;
	int group; /* -1 for none */
	unsigned int header_type;
	unsigned int total_vfs;
};

/** ft_driver() - a driver that the kernel has, with its module. */
static inline void ft_driver(struct faketree *t, const char *name)
{
	char target[256];

	ft_file(t, "", "sys/bus/pci/drivers/%s/bind", name);
	ft_file(t, "", "sys/bus/pci/drivers/%s/unbind", name);
	ft_dir(t, "sys/module/%s", name);
	snprintf(target, sizeof(target), "../../../../module/%s", name);
	ft_link(t, target, "sys/bus/pci/drivers/%s/module", name);
}

static inline void ft_bind(struct faketree *t, const char *bdf, const char *driver)
{
	char target[256];

	snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
	ft_link(t, target, "sys/devices/pci0000:00/%s/driver", bdf);
}

/** ft_add() - add a function, as the kernel lays it out below sys/devices. */
static inline void ft_add(struct faketree *t, const struct ft_pci *f)
{
	char text[256], target[256];
	uint8_t cfg[256] = { 0 };

	snprintf(text, sizeof(text), "0x%04x\n", f->vendor);
	ft_file(t, text, "sys/devices/pci0000:00/%s/vendor", f->bdf);
	snprintf(text, sizeof(text), "0x%04x\n", f->device);
	ft_file(t, text, "sys/devices/pci0000:00/%s/device", f->bdf);
	snprintf(text, sizeof(text), "0x%06x\n", f->class_code);
	ft_file(t, text, "sys/devices/pci0000:00/%s/class", f->bdf);
	ft_file(t, "-1\n", "sys/devices/pci0000:00/%s/numa_node", f->bdf);
	ft_file(t, "(null)\n", "sys/devices/pci0000:00/%s/driver_override", f->bdf);
	cfg[0] = f->vendor & 0xff;
	cfg[1] = f->vendor >> 8 & 0xff;
	cfg[2] = f->device & 0xff;
	cfg[3] = f->device >> 8 & 0xff;
	cfg[0x0e] = f->header_type & 0xff;
	ft_bytes(t, cfg, sizeof(cfg), "sys/devices/pci0000:00/%s/config", f->bdf);
	snprintf(target, sizeof(target), "../../../devices/pci0000:00/%s", f->bdf);
	ft_link(t, target, "sys/bus/pci/devices/%s", f->bdf);
	if (f->total_vfs) {
		snprintf(text, sizeof(text), "%u\n", f->total_vfs);
		ft_file(t, text, "sys/devices/pci0000:00/%s/sriov_totalvfs", f->bdf);
		ft_file(t, "0\n", "sys/devices/pci0000:00/%s/sriov_numvfs", f->bdf);
		ft_file(t, "1\n", "sys/devices/pci0000:00/%s/sriov_drivers_autoprobe", f->bdf);
		ft_file(t, "128\n", "sys/devices/pci0000:00/%s/sriov_offset", f->bdf);
		ft_file(t, "2\n", "sys/devices/pci0000:00/%s/sriov_stride", f->bdf);
	}
	if (f->group >= 0) {
		snprintf(target, sizeof(target), "../../../kernel/iommu_groups/%d", f->group);
		ft_link(t, target, "sys/devices/pci0000:00/%s/iommu_group", f->bdf);
		snprintf(target, sizeof(target), "../../../../devices/pci0000:00/%s", f->bdf);
		ft_link(t, target, "sys/kernel/iommu_groups/%d/devices/%s", f->group, f->bdf);
		ft_file(t, "DMA\n", "sys/kernel/iommu_groups/%d/type", f->group);
	}
	if (f->driver) {
		ft_driver(t, f->driver);
		ft_bind(t, f->bdf, f->driver);
	}
}

/** ft_vf() - make a function that was added VF @index of a PF that was added. */
static inline void ft_vf(struct faketree *t, const char *pf, unsigned int index, const char *vf)
{
	char target[128];

	snprintf(target, sizeof(target), "../%s", vf);
	ft_link(t, target, "sys/devices/pci0000:00/%s/virtfn%u", pf, index);
	snprintf(target, sizeof(target), "../%s", pf);
	ft_link(t, target, "sys/devices/pci0000:00/%s/physfn", vf);
}

/** ft_system() - what every host has: no mount and no route that names a device. */
static inline void ft_system(struct faketree *t)
{
	ft_file(t, "22 1 0:21 / / rw - tmpfs tmpfs rw\n", "proc/self/mountinfo");
	ft_file(t, "", "proc/self/net/route");
	ft_file(t, "", "sys/bus/pci/drivers_probe");
	ft_dir(t, "sys/bus/pci/devices");
}

#endif
