/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The part of iommufd (Linux 6.2 and later) that libvf calls, for header
 * packages without linux/iommufd.h. Numbers and layouts are those of
 * include/uapi/linux/iommufd.h and Documentation/userspace-api/iommufd.rst.
 */
#ifndef VF_UAPI_IOMMUFD_H
#define VF_UAPI_IOMMUFD_H

#include <linux/ioctl.h>
#include <linux/types.h>

#if defined(__has_include)
#if __has_include(<linux/iommufd.h>)
#include <linux/iommufd.h>
#endif
#endif

#ifndef IOMMU_IOAS_ALLOC

#define IOMMUFD_TYPE (';')

struct iommu_destroy {
	__u32 size;
	__u32 id;
};
#define IOMMU_DESTROY _IO(IOMMUFD_TYPE, 0x80)

struct iommu_ioas_alloc {
	__u32 size;
	__u32 flags;
	__u32 out_ioas_id;
};
#define IOMMU_IOAS_ALLOC _IO(IOMMUFD_TYPE, 0x81)

struct iommu_iova_range {
	__aligned_u64 start;
	__aligned_u64 last;
};

/* On -EMSGSIZE num_iovas says how many entries are needed. */
struct iommu_ioas_iova_ranges {
	__u32 size;
	__u32 ioas_id;
	__u32 num_iovas;
	__u32 __reserved;
	__aligned_u64 allowed_iovas;
	__aligned_u64 out_iova_alignment;
};
#define IOMMU_IOAS_IOVA_RANGES _IO(IOMMUFD_TYPE, 0x84)

#define IOMMU_IOAS_MAP_FIXED_IOVA (1 << 0)
#define IOMMU_IOAS_MAP_WRITEABLE  (1 << 1)
#define IOMMU_IOAS_MAP_READABLE	  (1 << 2)

struct iommu_ioas_map {
	__u32 size;
	__u32 flags;
	__u32 ioas_id;
	__u32 __reserved;
	__aligned_u64 user_va;
	__aligned_u64 length;
	__aligned_u64 iova;
};
#define IOMMU_IOAS_MAP _IO(IOMMUFD_TYPE, 0x85)

struct iommu_ioas_unmap {
	__u32 size;
	__u32 ioas_id;
	__aligned_u64 iova;
	__aligned_u64 length;
};
#define IOMMU_IOAS_UNMAP _IO(IOMMUFD_TYPE, 0x86)

/* Makes an address space the one that VFIO's own calls on the iommufd mean. */
#define IOMMU_VFIO_IOAS_GET   0
#define IOMMU_VFIO_IOAS_SET   1
#define IOMMU_VFIO_IOAS_CLEAR 2

struct iommu_vfio_ioas {
	__u32 size;
	__u32 ioas_id;
	__u16 op;
	__u16 __reserved;
};
#define IOMMU_VFIO_IOAS _IO(IOMMUFD_TYPE, 0x88)

#endif
#endif
