// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vf/group.h>
#include <vf/sysfs.h>

#define CFG_HEADER_TYPE 0x0e

bool vf_driver_is_vfio(const char *driver)
{
	return strstr(driver, "vfio-pci") || strstr(driver, "vfio_pci");
}

int vf_group_of(const struct vf_host *host, const struct vf_bdf *bdf)
{
	char name[VF_BDF_LEN], text[16];
	char *end;
	long n;
	int ret;

	vf_bdf_format(bdf, name);
	if (!vf_sysfs_exists(host, "sys/bus/pci/devices/%s", name))
		return -ENODEV;
	ret = vf_sysfs_link_name(host, text, sizeof(text), "sys/bus/pci/devices/%s/iommu_group",
				 name);
	if (ret)
		return ret == -ENOENT ? -ENOENT : -EINVAL;
	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || *end || end == text || n < 0 || n > INT_MAX)
		return -EINVAL;
	return (int)n;
}

static enum vf_member_state state_of(const struct vf_host *host, const char *name,
				     const char *driver)
{
	uint8_t header[64];
	int n;

	if (!*driver || !strcmp(driver, "pci-stub"))
		return VF_MEMBER_FREE;
	if (vf_driver_is_vfio(driver))
		return VF_MEMBER_VFIO;
	n = vf_sysfs_read_bytes(host, header, sizeof(header), "sys/bus/pci/devices/%s/config",
				name);
	/* Bit 7 only says that there are more functions in the slot. */
	if (n > CFG_HEADER_TYPE && (header[CFG_HEADER_TYPE] & 0x7f))
		return VF_MEMBER_BRIDGE;
	return VF_MEMBER_HOST;
}

static int member_read(const struct vf_host *host, const char *name, struct vf_group_member *m)
{
	int ret;

	/* The name was parsed, so it is safe in a path. */
	ret = vf_sysfs_link_name(host, m->driver, sizeof(m->driver),
				 "sys/bus/pci/devices/%s/driver", name);
	if (ret == -ENOENT)
		m->driver[0] = 0;
	else if (ret)
		return ret;
	m->state = state_of(host, name, m->driver);
	return 0;
}

static int member_order(const void *a, const void *b)
{
	const struct vf_group_member *ma = a, *mb = b;

	return vf_bdf_cmp(&ma->bdf, &mb->bdf);
}

int vf_group_read(const struct vf_host *host, int number, struct vf_group **out,
		  struct bp_error *err)
{
	struct vf_group *g = NULL;
	struct vf_names names;
	int ret;

	ret = vf_sysfs_list(host, &names, "sys/kernel/iommu_groups/%d/devices", number);
	if (ret)
		return bp_error_set(err, ret, NULL, "IOMMU group %d cannot be read: %s", number,
				    strerror(-ret));
	g = calloc(1, sizeof(*g));
	if (g)
		g->members = calloc(names.count + 1, sizeof(*g->members));
	if (!g || !g->members) {
		ret = -ENOMEM;
		goto out;
	}
	g->number = number;
	for (size_t i = 0; i < names.count; i++) {
		struct vf_group_member *m = &g->members[g->count];

		if (vf_bdf_parse(names.name[i], &m->bdf)) {
			g->strangers++;
			continue;
		}
		ret = member_read(host, names.name[i], m);
		if (ret) {
			bp_error_set(err, ret, NULL, "driver of %s in IOMMU group %d: %s",
				     names.name[i], number, strerror(-ret));
			goto out;
		}
		g->count++;
	}
	qsort(g->members, g->count, sizeof(*g->members), member_order);
	if (vf_sysfs_read(host, g->type, sizeof(g->type), "sys/kernel/iommu_groups/%d/type",
			  number) < 0)
		g->type[0] = 0;
	*out = g;
	g = NULL;
out:
	vf_group_free(g);
	vf_names_free(&names);
	return ret;
}

void vf_group_free(struct vf_group *group)
{
	if (!group)
		return;
	free(group->members);
	free(group);
}

bool vf_group_viable(const struct vf_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].state == VF_MEMBER_HOST)
			return false;
	return true;
}

size_t vf_group_describe(const struct vf_group *group, int state, char *buf, size_t size)
{
	size_t len = 0, meant = 0;
	bool full = false;

	buf[0] = 0;
	for (size_t i = 0; i < group->count; i++) {
		const struct vf_group_member *m = &group->members[i];
		char bdf[VF_BDF_LEN], one[VF_BDF_LEN + VF_DRIVER_LEN + 8];
		int n;

		if (state >= 0 && m->state != (enum vf_member_state)state)
			continue;
		n = snprintf(one, sizeof(one), "%s%s (%s)", meant ? ", " : "",
			     vf_bdf_format(&m->bdf, bdf), *m->driver ? m->driver : "no driver");
		meant++;
		if (full)
			continue;
		/* Keep room for the mark of a list that is cut. */
		if (len + (size_t)n + sizeof(", ...") > size) {
			snprintf(buf + len, size - len, "%s...", len ? ", " : "");
			full = true;
			continue;
		}
		memcpy(buf + len, one, (size_t)n + 1);
		len += (size_t)n;
	}
	return meant;
}

static const char *const resv_names[] = {
	[VF_RESV_DIRECT] = "direct",
	[VF_RESV_DIRECT_RELAXABLE] = "direct-relaxable",
	[VF_RESV_RESERVED] = "reserved",
	/* The kernel has one word for both kinds of MSI window (iommu_group_resv_type_string[]). */
	[VF_RESV_MSI] = "msi",
	[VF_RESV_SW_MSI] = "msi",
	[VF_RESV_UNKNOWN] = "unknown",
};

const char *vf_resv_name(enum vf_resv_type type)
{
	return resv_names[type];
}

static enum vf_resv_type resv_type(const char *word)
{
	for (int t = VF_RESV_DIRECT; t < VF_RESV_UNKNOWN; t++)
		if (!strcmp(word, resv_names[t]))
			return t;
	return VF_RESV_UNKNOWN;
}

int vf_group_reserved(const struct vf_host *host, int number, struct vf_resv *out, size_t max)
{
	char *text, *line, *rest;
	size_t n = 0;
	int ret;

	ret = vf_sysfs_read_all(host, 1u << 20, &text, "sys/kernel/iommu_groups/%d/reserved_regions",
				number);
	if (ret)
		return ret;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct vf_resv r;
		char word[32];
		int used = 0;

		if (sscanf(line, "0x%" SCNx64 " 0x%" SCNx64 " %31s %n", &r.start, &r.last, word,
			   &used) != 3 || line[used] || r.last < r.start) {
			ret = -EBADMSG;
			goto out;
		}
		r.type = resv_type(word);
		if (n < max)
			out[n] = r;
		n++;
	}
	ret = (int)n;
out:
	free(text);
	return ret;
}
