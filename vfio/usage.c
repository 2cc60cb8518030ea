// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vf/sysfs.h>
#include <vf/usage.h>

/* Devices stacked deeper than this are no configuration but a loop. */
#define DEPTH_MAX 8
#define TABLE_MAX (16u << 20)

#define RTF_UP	   0x0001ul
#define RTF_REJECT 0x0200ul

struct search {
	const struct vf_host *host;
	char bdf[VF_BDF_LEN];
};

/* Whether a sysfs path runs through the function. */
static bool runs_through(const struct search *s, const char *path)
{
	size_t len = strlen(s->bdf);

	for (const char *p = path; (p = strstr(p, s->bdf)); p += len)
		if ((p == path || p[-1] == '/') && (!p[len] || p[len] == '/'))
			return true;
	return false;
}

static bool block_needs(const struct search *s, const char *path, int depth);

/* With NVMe multipath a namespace hangs below its subsystem, which links to its controllers. */
static bool nvme_subsystem_needs(const struct search *s, const char *path)
{
	static const char above[] = "/nvme-subsystem/";
	const char *start = strstr(path, above);
	char controller[VF_ATTR_MAX];
	struct vf_names names;
	bool found = false;
	size_t len;

	if (!start)
		return false;
	start += sizeof(above) - 1;
	len = (size_t)(start - path) + strcspn(start, "/");
	if (vf_sysfs_list(s->host, &names, "%.*s", (int)len, path))
		return false;
	for (size_t i = 0; i < names.count && !found; i++)
		found = !strncmp(names.name[i], "nvme", 4) &&
			!vf_sysfs_realpath(s->host, controller, sizeof(controller), "%.*s/%s",
					   (int)len, path, names.name[i]) &&
			runs_through(s, controller);
	vf_names_free(&names);
	return found;
}

/* Device mapper, MD and bcache list what they are made of. */
static bool slaves_need(const struct search *s, const char *path, int depth)
{
	char slave[VF_ATTR_MAX];
	struct vf_names names;
	bool found = false;

	if (vf_sysfs_list(s->host, &names, "%s/slaves", path))
		return false;
	for (size_t i = 0; i < names.count && !found; i++)
		found = !vf_sysfs_realpath(s->host, slave, sizeof(slave), "%s/slaves/%s", path,
					   names.name[i]) &&
			block_needs(s, slave, depth + 1);
	vf_names_free(&names);
	return found;
}

static bool block_needs(const struct search *s, const char *path, int depth)
{
	char whole[VF_ATTR_MAX], *slash;

	if (depth > DEPTH_MAX)
		return false;
	if (runs_through(s, path) || nvme_subsystem_needs(s, path) || slaves_need(s, path, depth))
		return true;
	/* A partition's slaves are those of its disk. */
	snprintf(whole, sizeof(whole), "%s", path);
	slash = strrchr(whole, '/');
	if (!slash)
		return false;
	*slash = 0;
	return slaves_need(s, whole, depth);
}

/* Kernel's name of a block device that is known by a path below /dev. */
static bool kernel_name(const struct search *s, const char *source, char *name, size_t size)
{
	char path[VF_ATTR_MAX];
	const char *base;

	if (strncmp(source, "/dev/", 5) != 0)
		return false;
	if (vf_sysfs_realpath(s->host, path, sizeof(path), "%s", source + 1))
		snprintf(path, sizeof(path), "%s", source);
	/* Anybody may name a mount's source: "/dev/.." leads to the root, a path without a slash. */
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	if (!*base || strlen(base) >= size || !strcmp(base, ".."))
		return false;
	memcpy(name, base, strlen(base) + 1);
	return true;
}

static bool named_block_needs(const struct search *s, const char *name)
{
	char path[VF_ATTR_MAX];

	return !vf_sysfs_realpath(s->host, path, sizeof(path), "sys/class/block/%s", name) &&
	       block_needs(s, path, 0);
}

/* A btrfs mount names one of its devices; the others stand beside it in sysfs. */
static bool btrfs_needs(const struct search *s, const char *name)
{
	struct vf_names volumes, devices;
	bool found = false;

	if (vf_sysfs_list(s->host, &volumes, "sys/fs/btrfs"))
		return false;
	for (size_t i = 0; i < volumes.count && !found; i++) {
		const char *v = volumes.name[i];

		if (!vf_sysfs_exists(s->host, "sys/fs/btrfs/%s/devices/%s", v, name) ||
		    vf_sysfs_list(s->host, &devices, "sys/fs/btrfs/%s/devices", v))
			continue;
		for (size_t k = 0; k < devices.count && !found; k++)
			found = named_block_needs(s, devices.name[k]);
		vf_names_free(&devices);
	}
	vf_names_free(&volumes);
	return found;
}

/* 9p over virtio: the mount's source is the tag of a channel. */
static bool channel_needs(const struct search *s, const char *tag)
{
	static const char drivers[] = "sys/bus/virtio/drivers/9pnet_virtio";
	char path[VF_ATTR_MAX], text[256];
	struct vf_names names;
	bool found = false;

	if (vf_sysfs_list(s->host, &names, "%s", drivers))
		return false;
	for (size_t i = 0; i < names.count && !found; i++)
		found = vf_sysfs_read(s->host, text, sizeof(text), "%s/%s/mount_tag", drivers,
				      names.name[i]) > 0 &&
			!strcmp(text, tag) &&
			!vf_sysfs_realpath(s->host, path, sizeof(path), "%s/%s", drivers,
					   names.name[i]) &&
			runs_through(s, path);
	vf_names_free(&names);
	return found;
}

/* One line of mountinfo: ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE OPTIONS */
struct mount {
	unsigned int major, minor;
	char point[256];
	char type[32];
	char source[256];
};

static bool mount_parse(const char *line, struct mount *m)
{
	const char *dash = strstr(line, " - ");

	return dash &&
	       sscanf(line, "%*u %*u %u:%u %*s %255s", &m->major, &m->minor, m->point) == 3 &&
	       sscanf(dash, " - %31s %255s", m->type, m->source) == 2;
}

static bool mount_needs(const struct search *s, const struct mount *m)
{
	char path[VF_ATTR_MAX], name[64];

	if (m->major)
		return !vf_sysfs_realpath(s->host, path, sizeof(path), "sys/dev/block/%u:%u",
					  m->major, m->minor) &&
		       block_needs(s, path, 0);
	if (!strcmp(m->type, "9p"))
		return channel_needs(s, m->source);
	/* File systems of several devices have a number of their own (major 0). */
	if (!kernel_name(s, m->source, name, sizeof(name)))
		return false;
	return named_block_needs(s, name) ||
	       (!strcmp(m->type, "btrfs") && btrfs_needs(s, name));
}

static bool mounts_need(const struct search *s, char *table, char *why, size_t size)
{
	char *line, *rest;

	for (line = strtok_r(table, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct mount m;

		if (!mount_parse(line, &m) || !mount_needs(s, &m))
			continue;
		if (!strcmp(m.point, "/"))
			snprintf(why, size, "carries the root file system (%s)", m.source);
		else
			snprintf(why, size, "carries the file system mounted at %s (%s)", m.point,
				 m.source);
		return true;
	}
	return false;
}

static bool swap_needs(const struct search *s, char *table, char *why, size_t size)
{
	char *line, *rest, source[256], name[64];

	for (line = strtok_r(table, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (sscanf(line, "%255s", source) != 1 ||
		    !kernel_name(s, source, name, sizeof(name)) || !named_block_needs(s, name))
			continue;
		snprintf(why, size, "carries swap space (%s)", source);
		return true;
	}
	return false;
}

static bool interface_needs(const struct search *s, const char *ifname, int depth)
{
	char path[VF_ATTR_MAX];
	struct vf_names names;
	bool found = false;

	if (depth > DEPTH_MAX || strchr(ifname, '/') ||
	    vf_sysfs_realpath(s->host, path, sizeof(path), "sys/class/net/%s", ifname))
		return false;
	if (runs_through(s, path))
		return true;
	if (vf_sysfs_list(s->host, &names, "%s", path))
		return false;
	for (size_t i = 0; i < names.count && !found; i++)
		found = !strncmp(names.name[i], "lower_", 6) &&
			interface_needs(s, names.name[i] + 6, depth + 1);
	vf_names_free(&names);
	return found;
}

/* Interface of a default route in a line of /proc/net/route; numbers are hexadecimal. */
static bool ipv4_default(const char *line, char ifname[IFNAMSIZ])
{
	unsigned long dest, flags, mask;

	return sscanf(line, "%15s %lx %*x %lx %*d %*d %*d %lx", ifname, &dest, &flags, &mask) == 4 &&
	       !dest && !mask && (flags & RTF_UP) && !(flags & RTF_REJECT);
}

/* DEST PREFIX SOURCE PREFIX NEXTHOP METRIC REFCOUNT USE FLAGS INTERFACE */
static bool ipv6_default(const char *line, char ifname[IFNAMSIZ])
{
	char dest[33];
	unsigned long prefix, flags;

	return sscanf(line, "%32s %lx %*s %*x %*s %*x %*x %*x %lx %15s", dest, &prefix, &flags,
		      ifname) == 4 &&
	       !prefix && strspn(dest, "0") == 32 && (flags & RTF_UP) && !(flags & RTF_REJECT) &&
	       strcmp(ifname, "lo") != 0;
}

static bool routes_need(const struct search *s, char *table,
			bool (*is_default)(const char *, char[IFNAMSIZ]), char *why, size_t size)
{
	char *line, *rest, ifname[IFNAMSIZ];

	for (line = strtok_r(table, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!is_default(line, ifname) || !interface_needs(s, ifname, 0))
			continue;
		snprintf(why, size, "carries the default route (%s)", ifname);
		return true;
	}
	return false;
}

int vf_usage(const struct vf_host *host, const struct vf_bdf *bdf, char *why, size_t size,
	     struct bp_error *err)
{
	static const char *const views[] = { "proc/self", "proc/1" };
	struct search s = { .host = host };
	bool any = false, needed = false;
	char *table;

	vf_bdf_format(bdf, s.bdf);
	why[0] = 0;
	for (int i = 0; i < 2 && !needed; i++) {
		if (!vf_sysfs_read_all(host, TABLE_MAX, &table, "%s/mountinfo", views[i])) {
			any = true;
			needed = mounts_need(&s, table, why, size);
			free(table);
		}
		if (!needed &&
		    !vf_sysfs_read_all(host, TABLE_MAX, &table, "%s/net/route", views[i])) {
			needed = routes_need(&s, table, ipv4_default, why, size);
			free(table);
		}
		if (!needed &&
		    !vf_sysfs_read_all(host, TABLE_MAX, &table, "%s/net/ipv6_route", views[i])) {
			needed = routes_need(&s, table, ipv6_default, why, size);
			free(table);
		}
	}
	if (!needed && !vf_sysfs_read_all(host, TABLE_MAX, &table, "proc/swaps")) {
		needed = swap_needs(&s, table, why, size);
		free(table);
	}
	if (!needed && !any && !strcmp(host->root, "/"))
		return bp_error_set(err, -EIO, "mount /proc",
				    "cannot tell what the host uses %s for: /proc/self/mountinfo is not readable",
				    s.bdf);
	return needed;
}
