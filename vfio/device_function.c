// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <vf/holder.h>
#include <vf/sysfs.h>

#include "function.h"

int vf_path(const struct vf_host *host, char *out, size_t len, const char *fmt, ...)
{
	size_t root = strlen(host->root);
	va_list ap;
	int n;

	while (root && host->root[root - 1] == '/')
		root--;
	if (root + 1 >= len)
		return -ENAMETOOLONG;
	memcpy(out, host->root, root);
	out[root++] = '/';
	va_start(ap, fmt);
	n = vsnprintf(out + root, len - root, fmt, ap);
	va_end(ap);
	return n < 0 || (size_t)n >= len - root ? -ENAMETOOLONG : 0;
}

/* N of the entry vfioN of the function's vfio-dev folder (Linux 6.1 and later). */
static int find_cdev(const struct vf_host *host, const char *bdf)
{
	struct vf_names names;
	size_t i;
	int cdev = -1;

	if (vf_sysfs_list(host, &names, "sys/bus/pci/devices/%s/vfio-dev", bdf))
		return -1;
	for (i = 0; i < names.count && cdev < 0; i++) {
		int end = 0, n;

		if (sscanf(names.name[i], "vfio%9d%n", &n, &end) == 1 && !names.name[i][end] &&
		    n >= 0)
			cdev = n;
	}
	vf_names_free(&names);
	return cdev;
}

/* Why a function has no IOMMU group, as far as the host's files tell. */
static int no_group(const struct vf_host *host, const char *bdf, struct bp_error *err)
{
	static const char *const off[] = { "amd_iommu=off", "intel_iommu=off", "iommu=off" };
	char cmdline[VF_ATTR_MAX];
	size_t i;

	bp_error_set(err, -ENOTCONN,
		     "enable the IOMMU in the firmware's set-up (AMD: IOMMU or AMD-Vi; Intel: "
		     "VT-d); on Intel also boot with intel_iommu=on, on AMD without amd_iommu=off",
		     "%s has no IOMMU group: no IOMMU translates its DMA", bdf);
	if (vf_sysfs_read(host, cmdline, sizeof(cmdline), "proc/cmdline") < 0)
		return -ENOTCONN;
	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		const char *at = strstr(cmdline, off[i]);

		if (at && (at == cmdline || at[-1] == ' ')) {
			bp_error_fix(err, "boot the host without %s on its kernel command line",
				     off[i]);
			break;
		}
	}
	return -ENOTCONN;
}

int vf_function_find(const struct vf_host *host, const char *bdf, struct vf_function *out,
		     struct bp_error *err)
{
	int ret;

	*out = (struct vf_function){ .group = -1, .cdev = -1 };
	if (vf_bdf_parse(bdf, &out->id))
		return bp_error_set(err, -EINVAL, "write it as 0000:01:00.1 or 01:00.1",
				    "'%.64s' is not the name of a PCI function", bdf);
	vf_bdf_format(&out->id, out->bdf);
	if (!vf_sysfs_exists(host, "sys/bus/pci/devices/%s", out->bdf))
		return bp_error_set(err, -ENODEV, "'vfctl list --all' shows the functions that exist",
				    "there is no PCI function %s", out->bdf);

	ret = vf_sysfs_link_name(host, out->driver, sizeof(out->driver),
				 "sys/bus/pci/devices/%s/driver", out->bdf);
	out->cdev = find_cdev(host, out->bdf);
	/* A driver that gives out VFIO devices is one, whatever its name. */
	if (out->cdev < 0 && (ret || !vf_driver_is_vfio(out->driver))) {
		if (ret)
			bp_error_set(err, -ENOTCONN, NULL, "%s is not bound to any driver",
				     out->bdf);
		else
			bp_error_set(err, -ENOTCONN, NULL, "%s is bound to %s, not to vfio-pci",
				     out->bdf, out->driver);
		bp_error_fix(err, "vfctl bind %s", out->bdf);
		return -ENOTCONN;
	}

	out->group = vf_group_of(host, &out->id);
	if (out->group == -ENOENT)
		return no_group(host, out->bdf, err);
	if (out->group < 0)
		return bp_error_set(err, -ENOTCONN, NULL, "%s: its IOMMU group cannot be told: %s",
				    out->bdf, strerror(-out->group));
	return 0;
}

int vf_not_viable(const struct vf_host *host, const struct vf_function *fn, struct bp_error *err)
{
	char members[384] = "";
	struct vf_group *group;

	if (!vf_group_read(host, fn->group, &group, NULL)) {
		vf_group_describe(group, VF_MEMBER_HOST, members, sizeof(members));
		vf_group_free(group);
	}
	if (!*members)
		strcpy(members, "a driver of the host");
	return bp_error_set(err, -EPERM,
			    "bind every member of the group to vfio-pci (vfctl bind), or move the "
			    "device to a slot with ACS",
			    "IOMMU group %d of %s is not viable, it is also used by %s", fn->group,
			    fn->bdf, members);
}

int vf_in_use(const struct vf_host *host, const struct vf_function *fn, struct bp_error *err)
{
	char who[256] = "";

	if (vf_holders_describe(host, &fn->id, who, sizeof(who)) <= 0 || !*who)
		strcpy(who, "another process");
	return bp_error_set(err, -EBUSY, "stop the program that uses it",
			    "%s (IOMMU group %d) is in use by %s", fn->bdf, fn->group, who);
}

int vf_no_remapping(const char *module, struct bp_error *err)
{
	bp_error_set(err, -EPERM, NULL,
		     "the kernel refuses to give the device away, because the IOMMU does not "
		     "remap interrupts");
	bp_error_fix(err,
		     "enable interrupt remapping (firmware set-up, no intremap=off); where the "
		     "platform has none and the guest is trusted: modprobe %s "
		     "allow_unsafe_interrupts=1",
		     module);
	return -EPERM;
}

int vf_needs_token(const struct vf_function *fn, struct bp_error *err)
{
	return bp_error_set(err, -EACCES, "bind the physical function to its own driver again",
			    "%s needs a VF token, since its physical function is in the hands of "
			    "a VFIO program",
			    fn->bdf);
}
