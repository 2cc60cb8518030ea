// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include <vf/reset.h>
#include <vf/sysfs.h>

static size_t count_words(const char *s)
{
	size_t n = 0;

	while (*(s += strspn(s, " "))) {
		n++;
		s += strcspn(s, " ");
	}
	return n;
}

size_t vf_reset_methods(const struct vf_host *host, const struct vf_bdf *bdf, const uint8_t *cfg,
			size_t len, const struct vf_caps *caps, char *buf, size_t size)
{
	char name[VF_BDF_LEN];

	vf_bdf_format(bdf, name);
	if (vf_sysfs_read(host, buf, size, "sys/bus/pci/devices/%s/reset_method", name) >= 0)
		return count_words(buf);
	buf[0] = 0;
	if (!vf_sysfs_exists(host, "sys/bus/pci/devices/%s/reset", name))
		return 0;
	snprintf(buf, size, "%s", vf_config_has_flr(cfg, len, caps) ? "flr" : "other");
	return 1;
}
