// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <string.h>

#include <vf/link.h>
#include <vf/sysfs.h>

static void read_speed(const struct vf_host *host, const char *name, const char *attr, char *buf,
		       size_t size)
{
	if (vf_sysfs_read(host, buf, size, "sys/bus/pci/devices/%s/%s", name, attr) < 0 ||
	    !strncmp(buf, "Unknown", 7))
		buf[0] = 0;
}

static unsigned int read_width(const struct vf_host *host, const char *name, const char *attr)
{
	uint64_t n;

	/* Registers that are not there read as 0, or as 255 through the kernel's width mask. */
	if (vf_sysfs_read_u64(host, &n, "sys/bus/pci/devices/%s/%s", name, attr) || n > 32)
		return 0;
	return (unsigned int)n;
}

void vf_link_read(const struct vf_host *host, const struct vf_bdf *bdf, struct vf_link *out)
{
	char name[VF_BDF_LEN];

	vf_bdf_format(bdf, name);
	read_speed(host, name, "current_link_speed", out->speed, sizeof(out->speed));
	read_speed(host, name, "max_link_speed", out->max_speed, sizeof(out->max_speed));
	out->width = read_width(host, name, "current_link_width");
	out->max_width = read_width(host, name, "max_link_width");
}
