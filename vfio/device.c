// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "function.h"

#define IRQ_EXCLUSIVE (1u << VF_IRQ_INTX | 1u << VF_IRQ_MSI | 1u << VF_IRQ_MSIX)

int vf_device_open(struct vf_iommu *iommu, const char *bdf, struct vf_device **out,
		   struct bp_error *err)
{
	struct vf_function fn;
	struct vf_device *dev;
	int ret;

	ret = vf_function_find(&iommu->host, bdf, &fn, err);
	if (ret)
		return ret;
	ret = vf_iommu_settle(iommu, &fn, err);
	if (ret)
		return ret;
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return bp_error_set(err, -ENOMEM, NULL, "no memory for device %s", fn.bdf);
	dev->iommu = iommu;
	dev->group = fn.group;
	memcpy(dev->bdf, fn.bdf, sizeof(dev->bdf));
	ret = iommu->ops->attach(iommu, &fn, dev, err);
	if (ret)
		goto err_free;
	ret = vf_iommu_add_device(iommu, dev->group);
	if (ret) {
		bp_error_set(err, ret, NULL, "no memory for device %s", fn.bdf);
		goto err_close;
	}
	ret = dev->ops->describe(dev, err);
	if (ret)
		goto err_del;
	*out = dev;
	return 0;

err_del:
	vf_iommu_del_device(iommu, dev->group);
err_close:
	dev->ops->close(dev);
	iommu->ops->detach(iommu, dev);
err_free:
	free(dev);
	return ret;
}

void vf_device_close(struct vf_device *dev)
{
	unsigned int i;

	if (!dev)
		return;
	/*
	 * Off before the descriptor goes: whoever else still holds it (a mapped
	 * BAR) must not keep our eventfds firing.
	 */
	for (i = 0; i < VF_IRQ_COUNT; i++)
		vf_device_irq_disable(dev, i);
	/* The device before its group: a group does not leave with an open device. */
	dev->ops->close(dev);
	vf_iommu_del_device(dev->iommu, dev->group);
	dev->iommu->ops->detach(dev->iommu, dev);
	free(dev);
}

const char *vf_device_bdf(const struct vf_device *dev)
{
	return dev->bdf;
}

int vf_device_group(const struct vf_device *dev)
{
	return dev->group;
}

int vf_device_kvm_fd(const struct vf_device *dev)
{
	return dev->ops->kvm_fd(dev);
}

const struct vf_region *vf_device_region(const struct vf_device *dev, unsigned int index)
{
	return index < VF_REGION_COUNT ? &dev->regions[index] : NULL;
}

const struct vf_irq *vf_device_irq(const struct vf_device *dev, unsigned int index)
{
	return index < VF_IRQ_COUNT ? &dev->irqs[index] : NULL;
}

static bool inside(const struct vf_device *dev, unsigned int index, uint64_t offset, size_t len)
{
	return index < VF_REGION_COUNT && len && len <= dev->regions[index].size &&
	       offset <= dev->regions[index].size - len;
}

int vf_device_read(struct vf_device *dev, unsigned int index, uint64_t offset, void *buf,
		   size_t len)
{
	if (!inside(dev, index, offset, len))
		return -EINVAL;
	if (!dev->regions[index].readable)
		return -EACCES;
	return dev->ops->read(dev, index, offset, buf, len);
}

int vf_device_write(struct vf_device *dev, unsigned int index, uint64_t offset, const void *buf,
		    size_t len)
{
	if (!inside(dev, index, offset, len))
		return -EINVAL;
	if (!dev->regions[index].writable)
		return -EACCES;
	return dev->ops->write(dev, index, offset, buf, len);
}

int vf_device_map(struct vf_device *dev, unsigned int index, uint64_t offset, size_t len,
		  void **out)
{
	uint64_t mask = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	const struct vf_region *r;
	unsigned int i;

	if (index >= VF_REGION_COUNT || !len || (offset & mask) || (len & mask))
		return -EINVAL;
	r = &dev->regions[index];
	for (i = 0; i < r->nr_areas; i++) {
		/* A BAR smaller than a page owns the page it is in, or has no area. */
		uint64_t end = (r->areas[i].offset + r->areas[i].size + mask) & ~mask;

		if (offset >= r->areas[i].offset && offset < end && len <= end - offset)
			return dev->ops->map(dev, index, offset, len, out);
	}
	return -EINVAL;
}

void vf_device_unmap(struct vf_device *dev, void *va, size_t len)
{
	dev->ops->unmap(dev, va, len);
}

int vf_device_irq_set(struct vf_device *dev, unsigned int index, unsigned int start,
		      unsigned int count, const int *fds)
{
	int ret;

	if (index >= VF_IRQ_COUNT || !count || start >= dev->irqs[index].count ||
	    count > dev->irqs[index].count - start)
		return -EINVAL;
	if ((IRQ_EXCLUSIVE >> index & 1) && (dev->irq_on & IRQ_EXCLUSIVE & ~(1u << index)))
		return -EBUSY;
	ret = dev->ops->irq_trigger(dev, index, start, count, fds);
	if (!ret)
		dev->irq_on |= 1u << index;
	return ret;
}

int vf_device_irq_disable(struct vf_device *dev, unsigned int index)
{
	int ret;

	if (index >= VF_IRQ_COUNT)
		return -EINVAL;
	/* The kernel takes it for a mistake to disable what is off. */
	if (!(dev->irq_on >> index & 1))
		return 0;
	ret = dev->ops->irq_off(dev, index);
	if (!ret)
		dev->irq_on &= ~(1u << index);
	return ret;
}

int vf_device_intx_unmask_fd(struct vf_device *dev, int fd)
{
	return dev->irqs[VF_IRQ_INTX].count ? dev->ops->intx_unmask_fd(dev, fd) : -EINVAL;
}

int vf_device_intx_unmask(struct vf_device *dev)
{
	return dev->irqs[VF_IRQ_INTX].count ? dev->ops->intx_mask(dev, false) : -EINVAL;
}

int vf_device_intx_mask(struct vf_device *dev)
{
	return dev->irqs[VF_IRQ_INTX].count ? dev->ops->intx_mask(dev, true) : -EINVAL;
}

bool vf_device_can_reset(const struct vf_device *dev)
{
	return dev->can_reset;
}

int vf_device_reset(struct vf_device *dev)
{
	return dev->can_reset ? dev->ops->reset(dev) : -ENOTTY;
}
