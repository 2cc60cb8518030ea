/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The VFIO device node calls that came with Linux 6.6, for older header
 * packages. Numbers and layouts are those of include/uapi/linux/vfio.h.
 */
#ifndef VF_UAPI_VFIO_H
#define VF_UAPI_VFIO_H

#include <linux/types.h>
#include <linux/vfio.h>

#ifndef VFIO_DEVICE_BIND_IOMMUFD

struct vfio_device_bind_iommufd {
	__u32 argsz;
	__u32 flags;
	__s32 iommufd;
	__u32 out_devid;
};
#define VFIO_DEVICE_BIND_IOMMUFD _IO(VFIO_TYPE, VFIO_BASE + 18)

struct vfio_device_attach_iommufd_pt {
	__u32 argsz;
	__u32 flags;
	__u32 pt_id;
};
#define VFIO_DEVICE_ATTACH_IOMMUFD_PT _IO(VFIO_TYPE, VFIO_BASE + 19)

struct vfio_device_detach_iommufd_pt {
	__u32 argsz;
	__u32 flags;
};
#define VFIO_DEVICE_DETACH_IOMMUFD_PT _IO(VFIO_TYPE, VFIO_BASE + 20)

#endif
#endif
