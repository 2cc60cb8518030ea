// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <stdlib.h>

#include <vf/coherent.h>
#include <vf/sysfs.h>

#define ECAP_SNOOP_CONTROL (1u << 7)

static void intel(const struct vf_host *host, const char *name, struct vf_translation *out)
{
	unsigned long long ecap;
	char text[32], *end;

	out->kind = "intel";
	/* Hexadecimal without a prefix. */
	if (vf_sysfs_read(host, text, sizeof(text),
			  "sys/bus/pci/devices/%s/iommu/intel-iommu/ecap", name) <= 0)
		return;
	ecap = strtoull(text, &end, 16);
	if (*end)
		return;
	out->coherent = !!(ecap & ECAP_SNOOP_CONTROL);
	out->why = out->coherent ? "this VT-d unit has snoop control" :
				   "this VT-d unit has no snoop control";
}

void vf_translation_read(const struct vf_host *host, const struct vf_bdf *bdf,
			 struct vf_translation *out)
{
	char name[VF_BDF_LEN];

	vf_bdf_format(bdf, name);
	*out = (struct vf_translation){ .kind = "", .coherent = -1 };
	if (vf_sysfs_link_name(host, out->iommu, sizeof(out->iommu),
			       "sys/bus/pci/devices/%s/iommu", name)) {
		out->iommu[0] = 0;
		out->why = "no IOMMU translates for this function";
		return;
	}
	out->why = "nothing is known about this IOMMU";
	if (vf_sysfs_exists(host, "sys/bus/pci/devices/%s/iommu/amd-iommu", name)) {
		out->kind = "amd";
		out->coherent = 1;
		out->why = "AMD-Vi overrides no-snoop";
	} else if (vf_sysfs_exists(host, "sys/bus/pci/devices/%s/iommu/intel-iommu", name)) {
		intel(host, name, out);
	}
}
