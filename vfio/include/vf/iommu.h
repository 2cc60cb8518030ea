/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * One I/O address space: what the devices of a guest see as memory.
 *
 * Two kernel interfaces stand behind it, chosen when it is made: VFIO's own
 * group and type1v2 container, and device nodes with iommufd where the kernel
 * has them (linux/vfio.h, linux/iommufd.h). Callers cannot tell them apart
 * except by asking vf_iommu_backend().
 *
 * Order of use: vf_iommu_new(), vf_device_open() for every device, then
 * vf_iommu_ranges(), then vf_iommu_map(). A type1 container knows its limits
 * only once a group is in it (VFIO_SET_IOMMU), which is why devices come first.
 */
#ifndef VF_IOMMU_H
#define VF_IOMMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bp/error.h>
#include <vf/sys.h>

struct vf_iommu;

/** enum vf_backend - which kernel interface to use. */
enum vf_backend {
	VF_BACKEND_AUTO,
	VF_BACKEND_TYPE1,
	VF_BACKEND_IOMMUFD,
};

/** struct vf_iova_range - I/O addresses @start to @last, both included. */
struct vf_iova_range {
	uint64_t start;
	uint64_t last;
};

#define VF_MAP_READ  (1u << 0) /* the device may read */
#define VF_MAP_WRITE (1u << 1) /* the device may write */

/**
 * vf_iommu_new() - make an empty I/O address space.
 * @host: the host.
 * @want: VF_BACKEND_AUTO takes iommufd when /dev/iommu and the devices' cdev
 *        nodes exist, and the type1 container otherwise.
 * @out: receives it.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Return: 0; -ENOENT without VFIO or without the wanted backend, -EACCES when the
 * node may not be opened, -ENOTSUP for an API version or IOMMU type nobody here knows.
 */
int vf_iommu_new(const struct vf_host *host, enum vf_backend want, struct vf_iommu **out,
		 struct bp_error *err);

/**
 * vf_iommu_free() - drop the address space; its devices must be closed before.
 * @iommu: NULL is allowed. The kernel unmaps what is still mapped.
 */
void vf_iommu_free(struct vf_iommu *iommu);

/** vf_iommu_backend() - "type1" or "iommufd". @iommu: the space. Return: a constant string. */
const char *vf_iommu_backend(const struct vf_iommu *iommu);

/**
 * vf_iommu_ranges() - where mappings may lie.
 * @iommu: a space with at least one device.
 * @ranges: receives sorted, disjoint ranges; reserved regions (MSI window, AMD's
 *          HyperTransport hole 0xfd00000000-0xffffffffff) are left out already.
 * @max: room in @ranges.
 *
 * From VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE or IOMMU_IOAS_IOVA_RANGES, cut by the
 * groups' reserved_regions in sysfs ("direct-relaxable" ones are usable and stay).
 *
 * Return: number of ranges, which may exceed @max; -ENODEV before the first device.
 */
int vf_iommu_ranges(struct vf_iommu *iommu, struct vf_iova_range *ranges, size_t max);

/**
 * vf_iommu_check_memlock() - whether this many bytes can be pinned.
 * @iommu: the space.
 * @bytes: bytes that will be mapped in all.
 * @err: receives the limit and how to raise it.
 *
 * Compares with RLIMIT_MEMLOCK, which CAP_IPC_LOCK lifts (kernel: vfio_lock_acct()).
 *
 * Return: 0, or -ENOMEM.
 */
int vf_iommu_check_memlock(struct vf_iommu *iommu, uint64_t bytes, struct bp_error *err);

/**
 * vf_iommu_map() - let the devices reach memory.
 * @iommu: the space.
 * @iova: I/O address, page aligned.
 * @va: start of the memory, page aligned; it stays pinned.
 * @size: bytes, a multiple of the page size, not 0; @iova + @size must not wrap.
 * @flags: VF_MAP_READ and VF_MAP_WRITE.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Return: 0; -EINVAL outside the allowed ranges, -EEXIST when something is mapped
 * there, -ENOMEM at the memlock limit, -ENOSPC at the container's limit on entries.
 */
int vf_iommu_map(struct vf_iommu *iommu, uint64_t iova, void *va, uint64_t size,
		 unsigned int flags, struct bp_error *err);

/**
 * vf_iommu_unmap() - undo one vf_iommu_map().
 * @iommu: the space.
 * @iova: as mapped.
 * @size: as mapped.
 *
 * Return: 0, or -ENOENT when nothing is mapped there.
 */
int vf_iommu_unmap(struct vf_iommu *iommu, uint64_t iova, uint64_t size);

/**
 * vf_iommu_coherent() - whether the IOMMU makes all DMA snoop the caches.
 * @iommu: a space with at least one device.
 *
 * VFIO_DMA_CC_IOMMU; AMD-Vi always does, VT-d only with snoop control.
 *
 * Return: true when a no-snoop request of a device is overridden.
 */
bool vf_iommu_coherent(struct vf_iommu *iommu);

#endif
