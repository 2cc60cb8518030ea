/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * A device in our hands: its regions, interrupts and resets. Where it comes
 * from (a VFIO group, a VFIO device node, later a vfio-user socket) is behind
 * one table of operations and does not show here.
 */
#ifndef VF_DEVICE_H
#define VF_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <bp/error.h>
#include <vf/iommu.h>

struct vf_device;

/* Region and interrupt indexes are those of linux/vfio.h (VFIO_PCI_BAR0_REGION_INDEX, ...). */
#define VF_REGION_BAR(n) (n)
#define VF_REGION_ROM	 6
#define VF_REGION_CONFIG 7
#define VF_REGION_COUNT	 9

#define VF_IRQ_INTX  0
#define VF_IRQ_MSI   1
#define VF_IRQ_MSIX  2
#define VF_IRQ_ERR   3
#define VF_IRQ_REQ   4
#define VF_IRQ_COUNT 5

#define VF_REGION_AREAS_MAX 16

/** struct vf_area - a part of a region that can be mapped: @offset and @size in bytes. */
struct vf_area {
	uint64_t offset;
	uint64_t size;
};

/**
 * struct vf_region - one region of a device.
 * @size: bytes; 0 when the device has no such region.
 * @readable: pread works.
 * @writable: pwrite works.
 * @nr_areas: mappable parts, 0 when nothing can be mapped.
 * @areas: sorted and disjoint: the sparse areas that the kernel names
 *         (VFIO_REGION_INFO_CAP_SPARSE_MMAP), or the whole region.
 * @msix_mappable: the kernel also lets the pages of the MSI-X table be mapped
 *         (VFIO_REGION_INFO_CAP_MSIX_MAPPABLE); without it the caller keeps off them.
 */
struct vf_region {
	uint64_t size;
	bool readable;
	bool writable;
	bool msix_mappable;
	unsigned int nr_areas;
	struct vf_area areas[VF_REGION_AREAS_MAX];
};

/**
 * struct vf_irq - one interrupt index of a device.
 * @count: vectors; 0 when the device has none.
 * @maskable: VFIO_IRQ_INFO_MASKABLE.
 * @automasked: VFIO_IRQ_INFO_AUTOMASKED: masked when it fires (INTx).
 * @noresize: VFIO_IRQ_INFO_NORESIZE: vectors can only be added after disabling all.
 */
struct vf_irq {
	uint32_t count;
	bool maskable;
	bool automasked;
	bool noresize;
};

/**
 * vf_device_open() - take a function that is bound to a VFIO driver.
 * @iommu: address space it joins.
 * @bdf: "0000:01:00.1"; the domain may be left out.
 * @out: receives the device.
 * @err: says what stands in the way by name: no such function, driver it is bound to
 *       instead, the members of a group that is not viable, the process that holds it.
 *
 * Return: 0; -ENODEV no such function, -ENOTCONN not bound to a VFIO driver or without
 * IOMMU group, -EPERM group not viable or interrupts not remapped, -EBUSY in use, -EACCES
 * node may not be opened, -ENOENT no node for the backend that was asked for, -EPROTO
 * descriptions that make no sense, -EINVAL not a BDF.
 */
int vf_device_open(struct vf_iommu *iommu, const char *bdf, struct vf_device **out,
		   struct bp_error *err);

/**
 * vf_device_close() - give the function back: interrupts off, the kernel resets it.
 * @dev: NULL is allowed.
 *
 * Unmap its regions first, and take its file out of KVM: the kernel keeps a device, and
 * its group, for as long as one of them refers to it. With the last device of an address
 * space go the space's mappings.
 */
void vf_device_close(struct vf_device *dev);

/** vf_device_bdf() - canonical name. @dev: device. Return: "dddd:bb:dd.f". */
const char *vf_device_bdf(const struct vf_device *dev);

/** vf_device_group() - IOMMU group number. @dev: device. Return: number, or -ENOENT. */
int vf_device_group(const struct vf_device *dev);

/**
 * vf_device_kvm_fd() - the file that KVM_DEV_VFIO_FILE_ADD wants.
 * @dev: device.
 *
 * A group's descriptor (which several devices may share) or the device's own.
 *
 * Return: a descriptor that stays owned by the device, or -ENOENT when there is none.
 */
int vf_device_kvm_fd(const struct vf_device *dev);

/**
 * vf_device_region() - one region.
 * @dev: device.
 * @index: 0 to VF_REGION_COUNT - 1.
 *
 * Return: a constant description, NULL for another index.
 */
const struct vf_region *vf_device_region(const struct vf_device *dev, unsigned int index);

/**
 * vf_device_irq() - one interrupt index.
 * @dev: device.
 * @index: 0 to VF_IRQ_COUNT - 1.
 *
 * Return: a constant description, NULL for another index.
 */
const struct vf_irq *vf_device_irq(const struct vf_device *dev, unsigned int index);

/**
 * vf_device_read() - read from a region through the kernel.
 * @dev: device.
 * @index: region.
 * @offset: bytes from its start.
 * @buf: receives the data as the device holds it (PCI is little-endian).
 * @len: bytes; the access must lie inside the region.
 *
 * Return: 0, -EINVAL outside the region, -EACCES when it cannot be read (written), -EIO
 * when only a part could be, or another negative errno.
 */
int vf_device_read(struct vf_device *dev, unsigned int index, uint64_t offset, void *buf,
		   size_t len);

/** vf_device_write() - the other direction; parameters and result as vf_device_read(). */
int vf_device_write(struct vf_device *dev, unsigned int index, uint64_t offset, const void *buf,
		    size_t len);

/**
 * vf_device_map() - map a part of a region into this process.
 * @dev: device.
 * @index: region.
 * @offset: page aligned, inside one of the region's areas.
 * @len: bytes, a multiple of the page size; the area counts as rounded up to one, so that
 *       a BAR smaller than a page can be mapped.
 * @out: receives the address; unmap with vf_device_unmap().
 *
 * Return: 0, -EINVAL outside the areas, or mmap's negative errno.
 */
int vf_device_map(struct vf_device *dev, unsigned int index, uint64_t offset, size_t len,
		  void **out);

/** vf_device_unmap() - undo vf_device_map(). @dev: device. @va: address. @len: as mapped. */
void vf_device_unmap(struct vf_device *dev, void *va, size_t len);

/**
 * vf_device_irq_set() - connect vectors to eventfds.
 * @dev: device.
 * @index: VF_IRQ_*.
 * @start: first vector.
 * @count: vectors.
 * @fds: one eventfd a vector; -1 disconnects a vector.
 *
 * The first call of an index enables it with vectors 0 to @start + @count - 1.
 * MSI and MSI-X exclude each other and INTx (vfio_pci_intrs.c): disable one
 * before enabling the next.
 *
 * Return: 0; -EINVAL for vectors that are not there, -EBUSY while one of the excluded
 * others is enabled, or another negative errno.
 */
int vf_device_irq_set(struct vf_device *dev, unsigned int index, unsigned int start,
		      unsigned int count, const int *fds);

/**
 * vf_device_irq_disable() - disconnect and disable all vectors.
 * @dev: device.
 * @index: VF_IRQ_*.
 *
 * Return: 0, also when they are off already, or a negative errno.
 */
int vf_device_irq_disable(struct vf_device *dev, unsigned int index);

/**
 * vf_device_intx_unmask_fd() - unmask INTx whenever an eventfd is signalled.
 * @dev: device.
 * @fd: KVM's resample eventfd, or -1 to disconnect.
 *
 * Return: 0 or a negative errno.
 */
int vf_device_intx_unmask_fd(struct vf_device *dev, int fd);

/** vf_device_intx_unmask() - unmask INTx once. @dev: device. Return: 0 or a negative errno. */
int vf_device_intx_unmask(struct vf_device *dev);

/** vf_device_intx_mask() - mask INTx by hand. @dev: device. Return: 0 or a negative errno. */
int vf_device_intx_mask(struct vf_device *dev);

/** vf_device_can_reset() - whether VFIO_DEVICE_RESET works. @dev: device. Return: true if so. */
bool vf_device_can_reset(const struct vf_device *dev);

/**
 * vf_device_reset() - reset this function alone (FLR where it has one).
 * @dev: device.
 *
 * Return: 0, -ENOTTY without a reset method, or another negative errno.
 */
int vf_device_reset(struct vf_device *dev);

#endif
