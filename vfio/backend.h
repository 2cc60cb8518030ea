/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * What stands behind struct vf_iommu and struct vf_device: one table of
 * operations each. iommu.c and device.c check arguments and keep the state
 * that is the same everywhere; a backend only moves bytes and mappings.
 *
 *   vf_iommu_ops   type1.c (group and container), iommufd.c (device nodes)
 *   vf_device_ops  device_kernel.c for every descriptor that the kernel's VFIO
 *                  gives out; a client of another protocol adds a table here
 */
#ifndef VF_BACKEND_H
#define VF_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bp/error.h>
#include <vf/bdf.h>
#include <vf/device.h>
#include <vf/iommu.h>
#include <vf/sys.h>

#include "iova.h"

struct vf_function;

/**
 * struct vf_iommu_ops - one kind of I/O address space.
 * @name: "type1" or "iommufd".
 * @attach: bring a function in; on success the device's @ops and @priv are set.
 * @detach: take it out again; the device's own resources are gone by then.
 * @ranges: where mappings may lie, as the kernel says.
 * @map: make a mapping; arguments are checked already. Returns a negative errno.
 * @unmap: undo one; @done receives the bytes that went.
 * @map_limit: number of mappings that can still be made, 0 when unknown.
 * @coherent: whether all DMA snoops.
 * @free: let go of everything; no device is left.
 */
struct vf_iommu_ops {
	const char *name;
	int (*attach)(struct vf_iommu *iommu, const struct vf_function *fn, struct vf_device *dev,
		      struct bp_error *err);
	void (*detach)(struct vf_iommu *iommu, struct vf_device *dev);
	int (*ranges)(struct vf_iommu *iommu, struct vf_iova_list *out);
	int (*map)(struct vf_iommu *iommu, uint64_t iova, void *va, uint64_t size,
		   unsigned int flags);
	int (*unmap)(struct vf_iommu *iommu, uint64_t iova, uint64_t size, uint64_t *done);
	uint32_t (*map_limit)(struct vf_iommu *iommu);
	bool (*coherent)(struct vf_iommu *iommu);
	void (*free)(struct vf_iommu *iommu);
};

/**
 * struct vf_iommu - an I/O address space.
 * @ops: its kind.
 * @host: the host; root is a copy that @root owns.
 * @root: see @host.
 * @priv: of the kind.
 * @fallback: the kind may still be changed to type1, until a device is in.
 * @nr_devices: devices in it.
 * @ranges: usable ranges, valid while @have_ranges.
 * @have_ranges: cleared when a device comes or goes.
 * @groups: numbers of the IOMMU groups of its devices, for reserved_regions.
 * @nr_groups: entries in @groups; a group appears once for each device.
 */
struct vf_iommu {
	const struct vf_iommu_ops *ops;
	struct vf_host host;
	char *root;
	void *priv;
	bool fallback;
	unsigned int nr_devices;
	struct vf_iova_list ranges;
	bool have_ranges;
	int *groups;
	unsigned int nr_groups;
};

int vf_type1_new(struct vf_iommu *iommu, struct bp_error *err);
int vf_iommufd_new(struct vf_iommu *iommu, struct bp_error *err);

/**
 * vf_iommu_settle() - decide the kind of address space for good.
 * @iommu: the space.
 * @fn: first function that joins.
 * @err: receives the reason of a failure.
 *
 * A choice left to us falls back to type1 when this function has no device node.
 *
 * Return: 0 or a negative errno.
 */
int vf_iommu_settle(struct vf_iommu *iommu, const struct vf_function *fn, struct bp_error *err);

int vf_iommu_add_device(struct vf_iommu *iommu, int group);
void vf_iommu_del_device(struct vf_iommu *iommu, int group);

/**
 * struct vf_device_ops - one way to reach a device.
 * @describe: fill in the device's @regions, @irqs and @can_reset.
 * @read: as vf_device_read(), bounds checked.
 * @write: as vf_device_write(), bounds checked.
 * @map: as vf_device_map(), area and alignment checked.
 * @unmap: as vf_device_unmap().
 * @irq_trigger: connect @count vectors from @start to @fds.
 * @irq_off: disable an index that is enabled.
 * @intx_unmask_fd: as vf_device_intx_unmask_fd().
 * @intx_mask: mask or unmask INTx once.
 * @reset: as vf_device_reset().
 * @kvm_fd: as vf_device_kvm_fd().
 * @close: release @priv; the device leaves its address space afterwards.
 */
struct vf_device_ops {
	int (*describe)(struct vf_device *dev, struct bp_error *err);
	int (*read)(struct vf_device *dev, unsigned int index, uint64_t offset, void *buf,
		    size_t len);
	int (*write)(struct vf_device *dev, unsigned int index, uint64_t offset, const void *buf,
		     size_t len);
	int (*map)(struct vf_device *dev, unsigned int index, uint64_t offset, size_t len,
		   void **out);
	void (*unmap)(struct vf_device *dev, void *va, size_t len);
	int (*irq_trigger)(struct vf_device *dev, unsigned int index, unsigned int start,
			   unsigned int count, const int *fds);
	int (*irq_off)(struct vf_device *dev, unsigned int index);
	int (*intx_unmask_fd)(struct vf_device *dev, int fd);
	int (*intx_mask)(struct vf_device *dev, bool mask);
	int (*reset)(struct vf_device *dev);
	int (*kvm_fd)(const struct vf_device *dev);
	void (*close)(struct vf_device *dev);
};

/**
 * struct vf_device - a device.
 * @ops: how it is reached.
 * @iommu: address space that it is in.
 * @priv: of @ops.
 * @attachment: of @iommu's kind.
 * @bdf: canonical name.
 * @group: IOMMU group number, or -ENOENT.
 * @can_reset: it has a reset of its own.
 * @irq_on: bit n set while interrupt index n is enabled.
 */
struct vf_device {
	const struct vf_device_ops *ops;
	struct vf_iommu *iommu;
	void *priv;
	void *attachment;
	char bdf[VF_BDF_LEN];
	int group;
	bool can_reset;
	unsigned int irq_on;
	struct vf_region regions[VF_REGION_COUNT];
	struct vf_irq irqs[VF_IRQ_COUNT];
};

/**
 * vf_kernel_device_new() - make a device of a descriptor from the kernel's VFIO.
 * @dev: receives ops and priv.
 * @host: the host that the descriptor is of.
 * @fd: the device's descriptor, owned from now on, also when this fails.
 * @kvm_fd: what KVM_DEV_VFIO_FILE_ADD takes, or -1 for @fd itself; not owned.
 *
 * Return: 0 or -ENOMEM.
 */
int vf_kernel_device_new(struct vf_device *dev, const struct vf_host *host, int fd, int kvm_fd);

#endif
