// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vf/group.h>
#include <vf/sysfs.h>

#include "backend.h"
#include "function.h"

/* Whether the host offers iommufd and device nodes at all. */
static bool host_has_iommufd(const struct vf_host *host)
{
	struct vf_names nodes;
	bool any;

	if (!vf_sysfs_exists(host, "dev/iommu") || vf_sysfs_list(host, &nodes, "dev/vfio/devices"))
		return false;
	any = nodes.count > 0;
	vf_names_free(&nodes);
	return any;
}

int vf_iommu_new(const struct vf_host *host, enum vf_backend want, struct vf_iommu **out,
		 struct bp_error *err)
{
	struct vf_iommu *iommu = calloc(1, sizeof(*iommu));
	int ret;

	if (!iommu)
		return bp_error_set(err, -ENOMEM, NULL, "no memory for an I/O address space");
	iommu->root = strdup(host->root);
	if (!iommu->root) {
		free(iommu);
		return bp_error_set(err, -ENOMEM, NULL, "no memory for an I/O address space");
	}
	iommu->host = (struct vf_host){ .root = iommu->root, .sys = host->sys };

	switch (want) {
	case VF_BACKEND_AUTO:
		iommu->fallback = host_has_iommufd(&iommu->host);
		ret = iommu->fallback ? vf_iommufd_new(iommu, err) : vf_type1_new(iommu, err);
		break;
	case VF_BACKEND_TYPE1:
		ret = vf_type1_new(iommu, err);
		break;
	case VF_BACKEND_IOMMUFD:
		ret = vf_iommufd_new(iommu, err);
		break;
	default:
		ret = bp_error_set(err, -EINVAL, NULL, "there is no VFIO backend %d", (int)want);
	}
	if (ret) {
		free(iommu->root);
		free(iommu);
		return ret;
	}
	*out = iommu;
	return 0;
}

int vf_iommu_settle(struct vf_iommu *iommu, const struct vf_function *fn, struct bp_error *err)
{
	struct vf_iommu before = *iommu;
	int ret;

	if (!iommu->fallback)
		return 0;
	if (fn->cdev < 0 || !vf_sysfs_exists(&iommu->host, "dev/vfio/devices/vfio%d", fn->cdev)) {
		ret = vf_type1_new(iommu, err);
		if (ret)
			return ret;
		before.ops->free(&before);
	}
	iommu->fallback = false;
	return 0;
}

int vf_iommu_add_device(struct vf_iommu *iommu, int group)
{
	int *groups = reallocarray(iommu->groups, iommu->nr_groups + 1, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	iommu->groups = groups;
	groups[iommu->nr_groups++] = group;
	iommu->nr_devices++;
	iommu->have_ranges = false;
	return 0;
}

void vf_iommu_del_device(struct vf_iommu *iommu, int group)
{
	unsigned int i;

	for (i = 0; i < iommu->nr_groups; i++) {
		if (iommu->groups[i] == group) {
			iommu->groups[i] = iommu->groups[--iommu->nr_groups];
			break;
		}
	}
	iommu->nr_devices--;
	iommu->have_ranges = false;
}

void vf_iommu_free(struct vf_iommu *iommu)
{
	if (!iommu)
		return;
	iommu->ops->free(iommu);
	vf_iova_free(&iommu->ranges);
	free(iommu->groups);
	free(iommu->root);
	free(iommu);
}

const char *vf_iommu_backend(const struct vf_iommu *iommu)
{
	return iommu->ops->name;
}

/*
 * "direct-relaxable" regions serve firmware's own use of the device and may be
 * used once it is ours, so they stay (vfio_iommu_type1.c does the same).
 */
static int cut_group(struct vf_iommu *iommu, int group, struct vf_iova_list *list)
{
	struct vf_resv *resv = NULL;
	int i, nr = 0, room, ret = 0;

	do {
		room = nr;
		free(resv);
		resv = calloc((size_t)room + 1, sizeof(*resv));
		if (!resv)
			return -ENOMEM;
		nr = vf_group_reserved(&iommu->host, group, resv, (size_t)room);
	} while (nr > room);
	for (i = 0; !ret && i < nr; i++)
		if (resv[i].type != VF_RESV_DIRECT_RELAXABLE)
			ret = vf_iova_cut(list, resv[i].start, resv[i].last);
	free(resv);
	/* Without the file (before Linux 4.11) the kernel's own answer has to do. */
	return nr < 0 && nr != -ENOENT ? nr : ret;
}

static int load_ranges(struct vf_iommu *iommu)
{
	struct vf_iova_list list = { 0 };
	unsigned int i;
	int ret;

	if (!iommu->nr_devices)
		return -ENODEV;
	if (iommu->have_ranges)
		return 0;
	ret = iommu->ops->ranges(iommu, &list);
	for (i = 0; !ret && i < iommu->nr_groups; i++)
		ret = cut_group(iommu, iommu->groups[i], &list);
	if (ret) {
		vf_iova_free(&list);
		return ret;
	}
	vf_iova_free(&iommu->ranges);
	iommu->ranges = list;
	iommu->have_ranges = true;
	return 0;
}

int vf_iommu_ranges(struct vf_iommu *iommu, struct vf_iova_range *ranges, size_t max)
{
	int ret = load_ranges(iommu);
	size_t n;

	if (ret)
		return ret;
	n = iommu->ranges.nr < max ? iommu->ranges.nr : max;
	if (n)
		memcpy(ranges, iommu->ranges.r, n * sizeof(*ranges));
	return (int)iommu->ranges.nr;
}

/* The kernel's errno in words. */
static int map_failed(struct vf_iommu *iommu, int ret, uint64_t iova, uint64_t size,
		      struct bp_error *err)
{
	uint64_t last = iova + (size - 1);
	uint32_t limit = 0;
	const char *fix = NULL;

#define MAP_WHAT "cannot map I/O addresses %#" PRIx64 "-%#" PRIx64 " for DMA: "
	switch (ret) {
	case -EEXIST:
		return bp_error_set(err, ret, "unmap it first",
				    MAP_WHAT "something is mapped there already", iova, last);
	case -ENOMEM:
		return bp_error_set(err, ret,
				    "raise the limit (ulimit -l unlimited, LimitMEMLOCK=infinity) "
				    "or free memory",
				    MAP_WHAT "the limit on locked memory or the memory is used up",
				    iova, last);
	case -ENOSPC:
		if (iommu->ops->map_limit)
			limit = iommu->ops->map_limit(iommu);
		return bp_error_set(err, ret,
				    "map fewer and larger pieces, or load vfio_iommu_type1 with a "
				    "larger dma_entry_limit",
				    MAP_WHAT "the kernel's table of mappings is full (%u left)",
				    iova, last, limit);
	case -EFAULT:
		return bp_error_set(err, ret, NULL,
				    MAP_WHAT
				    "the memory behind it cannot be pinned (device memory, "
				    "or not mapped in this process)",
				    iova, last);
	case -EINVAL:
		fix = "see 'vfctl show' for the reserved ranges of the device";
		return bp_error_set(err, ret, fix, MAP_WHAT "the IOMMU does not take this range",
				    iova, last);
	default:
		return bp_error_set(err, ret, NULL, MAP_WHAT "%s", iova, last, strerror(-ret));
	}
#undef MAP_WHAT
}

int vf_iommu_map(struct vf_iommu *iommu, uint64_t iova, void *va, uint64_t size, unsigned int flags,
		 struct bp_error *err)
{
	uint64_t mask = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	int ret;

	if (!size || (iova & mask) || ((uintptr_t)va & mask) || (size & mask) ||
	    iova + (size - 1) < iova || (uintptr_t)va + (size - 1) < (uintptr_t)va)
		return bp_error_set(err, -EINVAL, NULL,
				    "DMA mapping of %#" PRIx64 " bytes at %#" PRIx64
				    " is not made of whole pages",
				    size, iova);
	if (!(flags & (VF_MAP_READ | VF_MAP_WRITE)) || (flags & ~(VF_MAP_READ | VF_MAP_WRITE)))
		return bp_error_set(
			err, -EINVAL, NULL,
			"DMA mapping at %#" PRIx64 " allows neither reading nor writing", iova);
	ret = load_ranges(iommu);
	if (ret == -ENODEV)
		return bp_error_set(err, ret, "open a device first",
				    "the I/O address space has no device yet");
	if (ret)
		return bp_error_set(err, ret, NULL, "cannot learn the usable I/O addresses: %s",
				    strerror(-ret));
	if (!vf_iova_holds(&iommu->ranges, iova, iova + (size - 1)))
		return bp_error_set(
			err, -EINVAL,
			"place guest memory and BARs inside the ranges that 'vfctl show' "
			"lists",
			"I/O addresses %#" PRIx64 "-%#" PRIx64
			" touch a range that the IOMMU reserves or cannot reach",
			iova, iova + (size - 1));
	ret = iommu->ops->map(iommu, iova, va, size, flags);
	return ret ? map_failed(iommu, ret, iova, size, err) : 0;
}

int vf_iommu_unmap(struct vf_iommu *iommu, uint64_t iova, uint64_t size)
{
	uint64_t done = 0;
	int ret;

	if (!iommu->nr_devices)
		return -ENOENT;
	if (!size || iova + (size - 1) < iova)
		return -EINVAL;
	ret = iommu->ops->unmap(iommu, iova, size, &done);
	if (ret)
		return ret;
	return done ? 0 : -ENOENT;
}

bool vf_iommu_coherent(struct vf_iommu *iommu)
{
	return iommu->nr_devices && iommu->ops->coherent(iommu);
}
