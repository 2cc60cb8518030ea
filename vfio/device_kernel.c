// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
/*
 * A device behind a descriptor of the kernel's VFIO. How the descriptor was
 * come by (group or device node) makes no difference here.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backend.h"
#include "caps.h"

struct kernel_device {
	const struct vf_sys *sys;
	int fd;
	int kvm_fd;
	uint64_t offset[VF_REGION_COUNT]; /* of each region in the descriptor */
};

static const struct vf_device_ops kernel_ops;

static int call(const struct kernel_device *k, unsigned long request, void *arg)
{
	int ret = k->sys->ioctl(k->fd, request, arg);

	return ret < 0 ? -errno : ret;
}

int vf_kernel_device_new(struct vf_device *dev, const struct vf_host *host, int fd, int kvm_fd)
{
	struct kernel_device *k = malloc(sizeof(*k));

	if (!k) {
		host->sys->close(fd);
		return -ENOMEM;
	}
	*k = (struct kernel_device){
		.sys = host->sys,
		.fd = fd,
		.kvm_fd = kvm_fd < 0 ? fd : kvm_fd,
	};
	dev->priv = k;
	dev->ops = &kernel_ops;
	return 0;
}

static void kernel_close(struct vf_device *dev)
{
	struct kernel_device *k = dev->priv;

	k->sys->close(k->fd);
	free(k);
}

/* Keep areas sorted; @size and @offset lie in the region already. */
static int add_area(struct vf_region *r, uint64_t offset, uint64_t size)
{
	unsigned int at = r->nr_areas;

	/* What does not fit is not lost: it can be read and written, just not mapped. */
	if (!size || at == VF_REGION_AREAS_MAX)
		return 0;
	while (at && r->areas[at - 1].offset > offset)
		at--;
	if ((at && r->areas[at - 1].offset + r->areas[at - 1].size > offset) ||
	    (at < r->nr_areas && offset + size > r->areas[at].offset))
		return -EPROTO;
	memmove(&r->areas[at + 1], &r->areas[at], (r->nr_areas - at) * sizeof(r->areas[0]));
	r->areas[at] = (struct vf_area){ offset, size };
	r->nr_areas++;
	return 0;
}

static int sparse_areas(struct vf_region *r, const void *cap, size_t room)
{
	struct vfio_region_info_cap_sparse_mmap head;
	struct vfio_region_sparse_mmap_area a;
	uint32_t i;
	int ret = 0;

	memcpy(&head, cap, sizeof(head));
	if (head.nr_areas > (room - sizeof(head)) / sizeof(a))
		return -EPROTO;
	for (i = 0; !ret && i < head.nr_areas; i++) {
		memcpy(&a, (const char *)cap + sizeof(head) + i * sizeof(a), sizeof(a));
		if (a.offset > r->size || a.size > r->size - a.offset)
			return -EPROTO;
		ret = add_area(r, a.offset, a.size);
	}
	return ret;
}

static int describe_region(struct vf_device *dev, unsigned int index)
{
	struct kernel_device *k = dev->priv;
	struct vfio_region_info fixed = { .index = index };
	struct vf_region *r = &dev->regions[index];
	const void *cap;
	void *info;
	size_t len, room;
	int ret;

	ret = vf_info_get(k->sys, k->fd, VFIO_DEVICE_GET_REGION_INFO, &fixed, sizeof(fixed), &info,
			  &len);
	if (ret == -EINVAL) /* an index without a region, such as VGA */
		return 0;
	if (ret)
		return ret;
	memcpy(&fixed, info, sizeof(fixed));
	if (!fixed.size)
		goto out;
	/* File offsets are signed. */
	if (fixed.size > INT64_MAX || fixed.offset > INT64_MAX - fixed.size) {
		ret = -EPROTO;
		goto out;
	}
	r->size = fixed.size;
	r->readable = fixed.flags & VFIO_REGION_INFO_FLAG_READ;
	r->writable = fixed.flags & VFIO_REGION_INFO_FLAG_WRITE;
	k->offset[index] = fixed.offset;
	if (!(fixed.flags & VFIO_REGION_INFO_FLAG_CAPS))
		fixed.cap_offset = 0;

	ret = vf_caps_find(info, len, fixed.cap_offset, sizeof(fixed),
			   VFIO_REGION_INFO_CAP_MSIX_MAPPABLE, sizeof(struct vfio_info_cap_header),
			   &cap, &room);
	if (ret && ret != -ENOENT)
		goto out;
	r->msix_mappable = !ret;
	ret = 0;
	if (!(fixed.flags & VFIO_REGION_INFO_FLAG_MMAP))
		goto out;
	ret = vf_caps_find(info, len, fixed.cap_offset, sizeof(fixed),
			   VFIO_REGION_INFO_CAP_SPARSE_MMAP,
			   sizeof(struct vfio_region_info_cap_sparse_mmap), &cap, &room);
	if (!ret)
		ret = sparse_areas(r, cap, room);
	else if (ret == -ENOENT)
		ret = add_area(r, 0, r->size);
out:
	free(info);
	return ret;
}

static int describe_irq(struct vf_device *dev, unsigned int index)
{
	struct vfio_irq_info info = { .argsz = sizeof(info), .index = index };
	struct vf_irq *irq = &dev->irqs[index];
	int ret = call(dev->priv, VFIO_DEVICE_GET_IRQ_INFO, &info);

	if (ret == -EINVAL) /* as for error reporting on conventional PCI */
		return 0;
	if (ret < 0)
		return ret;
	/* Without eventfds we could not be told. */
	if (!(info.flags & VFIO_IRQ_INFO_EVENTFD))
		return 0;
	*irq = (struct vf_irq){
		.count = info.count,
		.maskable = info.flags & VFIO_IRQ_INFO_MASKABLE,
		.automasked = info.flags & VFIO_IRQ_INFO_AUTOMASKED,
		.noresize = info.flags & VFIO_IRQ_INFO_NORESIZE,
	};
	return 0;
}

static int kernel_describe(struct vf_device *dev, struct bp_error *err)
{
	struct vfio_device_info info = { .argsz = sizeof(info) };
	unsigned int i;
	int ret;

	ret = call(dev->priv, VFIO_DEVICE_GET_INFO, &info);
	if (ret < 0)
		return bp_error_set(err, ret, NULL, "VFIO does not describe %s: %s", dev->bdf,
				    strerror(-ret));
	if (!(info.flags & VFIO_DEVICE_FLAGS_PCI))
		return bp_error_set(err, -ENODEV, NULL, "%s is not a PCI device for VFIO",
				    dev->bdf);
	dev->can_reset = info.flags & VFIO_DEVICE_FLAGS_RESET;
	for (i = 0; i < VF_REGION_COUNT && i < info.num_regions; i++) {
		ret = describe_region(dev, i);
		if (ret)
			return bp_error_set(
				err, ret, NULL,
				"VFIO's description of region %u of %s makes no sense: %s", i,
				dev->bdf, strerror(-ret));
	}
	for (i = 0; i < VF_IRQ_COUNT && i < info.num_irqs; i++) {
		ret = describe_irq(dev, i);
		if (ret)
			return bp_error_set(err, ret, NULL,
					    "VFIO does not describe interrupt %u of %s: %s", i,
					    dev->bdf, strerror(-ret));
	}
	return 0;
}

/* Read, or write where @out says so; @buf is only read then. */
static int transfer(const struct kernel_device *k, uint64_t at, char *buf, size_t len, bool out)
{
	while (len) {
		ssize_t n = out ? k->sys->pwrite(k->fd, buf, len, (off_t)at) :
				  k->sys->pread(k->fd, buf, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0 || (size_t)n > len)
			return -EIO;
		buf += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int kernel_read(struct vf_device *dev, unsigned int index, uint64_t offset, void *buf,
		       size_t len)
{
	const struct kernel_device *k = dev->priv;

	return transfer(k, k->offset[index] + offset, buf, len, false);
}

static int kernel_write(struct vf_device *dev, unsigned int index, uint64_t offset, const void *buf,
			size_t len)
{
	const struct kernel_device *k = dev->priv;

	return transfer(k, k->offset[index] + offset, (char *)buf, len, true);
}

static int kernel_map(struct vf_device *dev, unsigned int index, uint64_t offset, size_t len,
		      void **out)
{
	struct kernel_device *k = dev->priv;
	const struct vf_region *r = &dev->regions[index];
	int prot = (r->readable ? PROT_READ : 0) | (r->writable ? PROT_WRITE : 0);
	void *va;

	va = k->sys->mmap(NULL, len, prot, MAP_SHARED, k->fd, (off_t)(k->offset[index] + offset));
	if (va == MAP_FAILED)
		return -errno;
	*out = va;
	return 0;
}

static void kernel_unmap(struct vf_device *dev, void *va, size_t len)
{
	struct kernel_device *k = dev->priv;

	k->sys->munmap(va, len);
}

static int set_irqs(struct vf_device *dev, unsigned int index, uint32_t flags, unsigned int start,
		    unsigned int count, const int *fds)
{
	size_t data = fds ? count * sizeof(int32_t) : 0;
	size_t size = sizeof(struct vfio_irq_set) + data;
	struct vfio_irq_set *set = malloc(size);
	int ret;

	if (!set)
		return -ENOMEM;
	*set = (struct vfio_irq_set){
		.argsz = (uint32_t)size,
		.flags = flags,
		.index = index,
		.start = start,
		.count = count,
	};
	if (data)
		memcpy(set->data, fds, data);
	ret = call(dev->priv, VFIO_DEVICE_SET_IRQS, set);
	free(set);
	return ret < 0 ? ret : 0;
}

static int kernel_irq_trigger(struct vf_device *dev, unsigned int index, unsigned int start,
			      unsigned int count, const int *fds)
{
	return set_irqs(dev, index, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, start,
			count, fds);
}

static int kernel_irq_off(struct vf_device *dev, unsigned int index)
{
	const int none = -1;

	/* Without an eventfd these two take DATA_NONE for a mistake (vfio_pci_intrs.c). */
	if (index == VF_IRQ_ERR || index == VF_IRQ_REQ)
		return kernel_irq_trigger(dev, index, 0, 1, &none);
	return set_irqs(dev, index, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 0,
			NULL);
}

static int kernel_intx_unmask_fd(struct vf_device *dev, int fd)
{
	return set_irqs(dev, VF_IRQ_INTX, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_UNMASK, 0,
			1, &fd);
}

static int kernel_intx_mask(struct vf_device *dev, bool mask)
{
	return set_irqs(dev, VF_IRQ_INTX,
			VFIO_IRQ_SET_DATA_NONE |
				(mask ? VFIO_IRQ_SET_ACTION_MASK : VFIO_IRQ_SET_ACTION_UNMASK),
			0, 1, NULL);
}

static int kernel_reset(struct vf_device *dev)
{
	int ret = call(dev->priv, VFIO_DEVICE_RESET, NULL);

	return ret < 0 ? ret : 0;
}

static int kernel_kvm_fd(const struct vf_device *dev)
{
	const struct kernel_device *k = dev->priv;

	return k->kvm_fd;
}

static const struct vf_device_ops kernel_ops = {
	.describe = kernel_describe,
	.read = kernel_read,
	.write = kernel_write,
	.map = kernel_map,
	.unmap = kernel_unmap,
	.irq_trigger = kernel_irq_trigger,
	.irq_off = kernel_irq_off,
	.intx_unmask_fd = kernel_intx_unmask_fd,
	.intx_mask = kernel_intx_mask,
	.reset = kernel_reset,
	.kvm_fd = kernel_kvm_fd,
	.close = kernel_close,
};
