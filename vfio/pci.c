// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vf/pci.h>
#include <vf/sysfs.h>

#define DEV "sys/bus/pci/devices/%s/"

/* The kernel's own limit: NumVFs has 16 bits. */
#define VFS_MAX 65535u

const char *vf_role_name(enum vf_role role)
{
	static const char *const names[] = { "none", "pf", "vf" };

	return names[role];
}

static int read_id(const struct vf_host *host, const char *name, const char *attr, uint64_t max,
		   uint64_t *out, struct bp_error *err)
{
	int ret = vf_sysfs_read_u64(host, out, DEV "%s", name, attr);

	if (!ret && *out > max)
		ret = -ERANGE;
	if (!ret)
		return 0;
	/* The attribute is there, but is no number: sysfs itself never says so. */
	if (ret == -EINVAL || ret == -ERANGE || ret == -EILSEQ)
		ret = -EBADMSG;
	return bp_error_set(err, ret, NULL, "%s: cannot read its attribute '%s': %s", name, attr,
			    strerror(-ret));
}

static int read_ids(const struct vf_host *host, const char *name, struct vf_pci *f,
		    struct bp_error *err)
{
	static const struct {
		const char *attr;
		uint64_t max;
	} attrs[] = {
		{ "vendor", 0xffff },		{ "device", 0xffff },
		{ "subsystem_vendor", 0xffff }, { "subsystem_device", 0xffff },
		{ "class", 0xffffff },		{ "revision", 0xff },
	};
	uint64_t v[6];

	for (int i = 0; i < 6; i++) {
		/* The last four are not needed to tell functions apart; old kernels lack some. */
		int ret = read_id(host, name, attrs[i].attr, attrs[i].max, &v[i], i < 2 ? err : NULL);

		if (ret && i < 2)
			return ret;
		if (ret)
			v[i] = 0;
	}
	f->vendor_id = (uint16_t)v[0];
	f->device_id = (uint16_t)v[1];
	f->sub_vendor_id = (uint16_t)v[2];
	f->sub_device_id = (uint16_t)v[3];
	f->class_code = (uint32_t)v[4];
	f->revision = (uint8_t)v[5];
	return 0;
}

/* N for which the PF's virtfnN is this function. */
static int find_index(const struct vf_host *host, const struct vf_pci *f)
{
	char pf[VF_BDF_LEN], self[VF_BDF_LEN], name[VF_BDF_LEN];
	uint64_t offset, stride;
	unsigned int n = 0;
	int distance;

	vf_bdf_format(&f->pf, pf);
	vf_bdf_format(&f->bdf, self);
	/*
	 * VF n is at the PF's routing ID + offset + n * stride (SR-IOV specification, 2.1.2), so
	 * the first guess is right whenever the PF says these two; the link has the last word.
	 */
	if (!vf_sysfs_read_u64(host, &offset, DEV "sriov_offset", pf) &&
	    !vf_sysfs_read_u64(host, &stride, DEV "sriov_stride", pf) && offset <= 0xffff &&
	    stride && stride <= 0xffff) {
		distance = vf_bdf_rid(&f->bdf) - vf_bdf_rid(&f->pf) - (int)offset;
		if (distance >= 0)
			n = (unsigned int)distance / (unsigned int)stride;
		if (!vf_sysfs_link_name(host, name, sizeof(name), DEV "virtfn%u", pf, n) &&
		    !strcmp(name, self))
			return (int)n;
	}
	for (n = 0; n < VFS_MAX; n++) {
		if (vf_sysfs_link_name(host, name, sizeof(name), DEV "virtfn%u", pf, n))
			break;
		if (!strcmp(name, self))
			return (int)n;
	}
	return -1;
}

static int read_role(const struct vf_host *host, const char *name, struct vf_pci *f)
{
	char pf[VF_BDF_LEN];
	uint64_t total, num;

	f->vf_index = -1;
	if (!vf_sysfs_link_name(host, pf, sizeof(pf), DEV "physfn", name)) {
		if (vf_bdf_parse(pf, &f->pf))
			return -EBADMSG;
		f->role = VF_ROLE_VF;
		f->vf_index = find_index(host, f);
		return 0;
	}
	if (vf_sysfs_read_u64(host, &total, DEV "sriov_totalvfs", name))
		return 0;
	if (vf_sysfs_read_u64(host, &num, DEV "sriov_numvfs", name))
		num = 0;
	if (total > VFS_MAX || num > VFS_MAX)
		return -EBADMSG;
	f->role = VF_ROLE_PF;
	f->total_vfs = (uint32_t)total;
	f->num_vfs = (uint32_t)num;
	return 0;
}

int vf_pci_read(const struct vf_host *host, const struct vf_bdf *bdf, struct vf_pci *out,
		struct bp_error *err)
{
	struct vf_pci f = { .bdf = *bdf };
	char name[VF_BDF_LEN];
	int64_t node;
	int ret;

	vf_bdf_format(bdf, name);
	ret = vf_sysfs_open(host, O_PATH, "sys/bus/pci/devices/%s", name);
	if (ret == -ENOENT || ret == -ENOTDIR)
		return bp_error_set(err, -ENODEV, "'vfctl list --all' shows the functions that exist",
				    "there is no PCI function %s", name);
	/* Nobody may take what cannot be looked at for what is gone. */
	if (ret < 0)
		return bp_error_set(err, ret, NULL, "%s cannot be looked at: %s", name,
				    strerror(-ret));
	close(ret);
	ret = read_ids(host, name, &f, err);
	if (ret)
		return ret;
	ret = read_role(host, name, &f);
	if (ret)
		return bp_error_set(err, ret, NULL, "%s: its SR-IOV attributes make no sense", name);
	ret = vf_sysfs_link_name(host, f.driver, sizeof(f.driver), DEV "driver", name);
	if (ret && ret != -ENOENT)
		return bp_error_set(err, ret, NULL, "%s: cannot tell its driver: %s", name,
				    strerror(-ret));
	if (ret)
		f.driver[0] = 0;
	/* "(null)" is how the kernel prints that there is none. */
	if (vf_sysfs_read(host, f.driver_override, sizeof(f.driver_override),
			  DEV "driver_override", name) < 0 ||
	    !strcmp(f.driver_override, "(null)"))
		f.driver_override[0] = 0;
	ret = vf_group_of(host, bdf);
	f.iommu_group = ret >= 0 ? ret : -1;
	f.numa_node = -1;
	if (!vf_sysfs_read_s64(host, &node, DEV "numa_node", name) && node >= 0 && node < 1 << 20)
		f.numa_node = (int)node;
	*out = f;
	return 0;
}

/* The function whose interface this is: its device link ends in a BDF, or lies below one. */
static int bdf_of_interface(const struct vf_host *host, const char *ifname, struct vf_bdf *out)
{
	char path[VF_ATTR_MAX], *part, *rest;
	int found = -ENODEV;

	if (!*ifname || strlen(ifname) >= IFNAMSIZ || strchr(ifname, '/') || !strcmp(ifname, ".") ||
	    !strcmp(ifname, ".."))
		return -EINVAL;
	if (!vf_sysfs_exists(host, "sys/class/net/%s", ifname))
		return -EINVAL;
	if (vf_sysfs_realpath(host, path, sizeof(path), "sys/class/net/%s/device", ifname))
		return -ENODEV;
	for (part = strtok_r(path, "/", &rest); part; part = strtok_r(NULL, "/", &rest))
		if (!vf_bdf_parse(part, out))
			found = 0;
	return found;
}

int vf_pci_find(const struct vf_host *host, const char *text, struct vf_pci *out,
		struct bp_error *err)
{
	struct vf_bdf bdf;
	int ret = vf_bdf_parse(text, &bdf);

	if (ret)
		ret = bdf_of_interface(host, text, &bdf);
	if (ret == -ENODEV)
		return bp_error_set(err, ret, NULL, "interface '%.32s' is not that of a PCI function",
				    text);
	if (ret)
		return bp_error_set(err, ret, "write it as 0000:01:00.1 or 01:00.1",
				    "'%.64s' is neither the name of a PCI function nor a network interface",
				    text);
	return vf_pci_read(host, &bdf, out, err);
}

static int pci_order(const void *a, const void *b)
{
	const struct vf_pci *fa = a, *fb = b;

	return vf_bdf_cmp(&fa->bdf, &fb->bdf);
}

int vf_pci_list(const struct vf_host *host, struct vf_pci **out, size_t *count,
		struct bp_error *err)
{
	struct vf_names names;
	struct vf_pci *all;
	size_t n = 0;
	int ret;

	ret = vf_sysfs_list(host, &names, "sys/bus/pci/devices");
	if (ret)
		return bp_error_set(err, ret, "is sysfs mounted there?",
				    "cannot list PCI functions in %.200s/sys/bus/pci/devices: %s",
				    strcmp(host->root, "/") ? host->root : "", strerror(-ret));
	all = calloc(names.count + 1, sizeof(*all));
	if (!all) {
		ret = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < names.count; i++) {
		struct vf_bdf bdf;

		if (vf_bdf_parse(names.name[i], &bdf))
			continue;
		ret = vf_pci_read(host, &bdf, &all[n], NULL);
		/* Gone between the listing and the reading: hot removal, or somebody's destroy. */
		if (ret && !vf_sysfs_exists(host, "sys/bus/pci/devices/%s", names.name[i]))
			continue;
		if (ret) {
			vf_pci_read(host, &bdf, &all[n], err);
			goto out;
		}
		n++;
	}
	ret = 0;
	qsort(all, n, sizeof(*all), pci_order);
	*out = all;
	*count = n;
	all = NULL;
out:
	free(all);
	vf_names_free(&names);
	return ret;
}

int vf_pci_vfs(const struct vf_host *host, const struct vf_bdf *pf, struct vf_bdf **out,
	       size_t *count)
{
	char name[VF_BDF_LEN], vf[VF_BDF_LEN];
	struct vf_bdf *all = NULL;
	size_t n = 0, room = 0;
	int ret;

	vf_bdf_format(pf, name);
	for (;;) {
		ret = vf_sysfs_link_name(host, vf, sizeof(vf), DEV "virtfn%zu", name, n);
		if (ret == -ENOENT || n == VFS_MAX)
			break;
		if (n == room) {
			struct vf_bdf *more = reallocarray(all, room = room ? 2 * room : 16,
							   sizeof(*all));

			if (!more) {
				ret = -ENOMEM;
				goto out;
			}
			all = more;
		}
		if (ret || vf_bdf_parse(vf, &all[n])) {
			ret = -EBADMSG;
			goto out;
		}
		n++;
	}
	ret = 0;
	*out = all;
	*count = n;
	all = NULL;
out:
	free(all);
	return ret;
}
