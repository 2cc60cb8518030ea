// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of an assigned function: taken over, put on the bus, reset, given back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pci_regs.h>

#include <bp/log.h>
#include "vmm/assign/state.h"
#include "vmm/kvm.h"

static void on_machine_reset(struct vmm_pci_dev *dev)
{
	struct vmm_assign *a = vmm_assign_of(dev);

	if (!a->dev)
		return;
	/* The kernel that was asked is gone and the next one would not know of it. */
	if (a->recalled) {
		bp_log_info("%s: the guest restarts without it; it is given back to the host",
			    a->name);
		vmm_assign_give_back(a);
		return;
	}
	vmm_assign_irq_off(a);
	vmm_assign_hw_reset(a);
	vmm_assign_irq_sync(a);
}

static const struct vmm_pci_ops assign_ops = {
	.cfg_read = vmm_assign_cfg_read,
	.cfg_write = vmm_assign_cfg_write,
	.bar_map = vmm_assign_bar_map,
	.bar_unmap = vmm_assign_bar_unmap,
	.reset = on_machine_reset,
};

static int read_config(struct vmm_assign *a, uint8_t *raw, size_t *size, struct bp_error *err)
{
	uint64_t region = vf_device_region(a->dev, VF_REGION_CONFIG)->size;
	int ret = 0;

	*size = region >= VMM_CFG_EXT_SIZE ? VMM_CFG_EXT_SIZE : VMM_CFG_SIZE;
	for (size_t off = 0; !ret && off < *size; off += 4)
		ret = vf_device_read(a->dev, VF_REGION_CONFIG, off, raw + off, 4);
	if (ret)
		return bp_error_set(err, ret, NULL, "configuration space of %s cannot be read: %s",
				    a->name, strerror(-ret));
	return 0;
}

static int build(struct vmm_assign *a, struct bp_error *err)
{
	struct vmm_chain_opts opts = { .hide_msi = a->vmm->config->force_intx };
	uint8_t *raw = calloc(1, VMM_CFG_EXT_SIZE);
	size_t size;
	int ret;

	if (!raw)
		return -ENOMEM;
	ret = read_config(a, raw, &size, err);
	if (ret)
		goto out;
	vmm_assign_bars_describe(a->dev, raw, a->pci.bar);
	opts.msi_vectors = vf_device_irq(a->dev, VF_IRQ_MSI)->count;
	opts.msix_vectors = vf_device_irq(a->dev, VF_IRQ_MSIX)->count;
	opts.intx = vf_device_irq(a->dev, VF_IRQ_INTX)->count > 0;
	for (unsigned int n = 0; n < VMM_PCI_BARS; n++)
		if (!a->pci.bar[n].io)
			opts.bar_size[n] = a->pci.bar[n].size;
	ret = vmm_chain_build(raw, size, &opts, &a->pci.cfg, &a->chain, err);
	if (ret)
		goto out;
	a->pci.intx_pin = a->chain.intx_pin;
	if (opts.hide_msi && !a->pci.intx_pin)
		ret = bp_error_set(err, -EINVAL, "run it without --intx",
				   "%s has no INTx: a virtual function signals by messages only",
				   a->name);
out:
	free(raw);
	return ret;
}

static int open_vectors(struct vmm_assign *a)
{
	unsigned int most = a->chain.msix_nr > a->chain.msi_nr ? a->chain.msix_nr : a->chain.msi_nr;
	int ret;

	vmm_vectors_limit(most, a->name);
	if (a->chain.msix_nr) {
		ret = vmm_vectors_init(&a->msix_vec, a->vmm->irq, a->dev, VF_IRQ_MSIX,
				       a->chain.msix_nr, a->name);
		if (!ret)
			ret = vmm_msix_init(&a->msix, a->chain.msix_nr, &vmm_vectors_ops,
					    &a->msix_vec);
		if (ret)
			return ret;
	}
	if (a->chain.msi_nr) {
		ret = vmm_vectors_init(&a->msi_vec, a->vmm->irq, a->dev, VF_IRQ_MSI,
				       a->chain.msi_nr, a->name);
		if (ret)
			return ret;
	}
	vmm_msi_init(&a->msi, &vmm_vectors_ops, &a->msi_vec);
	return 0;
}

/* Whether another function of this guest is behind the same file, as in one IOMMU group. */
static bool file_is_shared(struct vmm_assign *a, int file)
{
	for (unsigned int slot = 0; slot < VMM_PCI_SLOTS; slot++) {
		struct vmm_pci_dev *dev = vmm_pci_slot(a->vmm->pci, slot);

		if (dev && dev->ops == &assign_ops && dev != &a->pci &&
		    vf_device_kvm_fd(vmm_assign_of(dev)->dev) == file)
			return true;
	}
	return false;
}

/* Before the device is closed: with a reference in KVM the host would wait for the guest's end. */
static void tell_kvm(struct vmm_assign *a)
{
	int file = vf_device_kvm_fd(a->dev), ret;

	if (file < 0 || file_is_shared(a, file))
		return;
	ret = vmm_kvm_vfio_del(a->vmm->vfio_fd, file);
	if (ret)
		bp_log_warn("%s: KVM does not let go of it: %s", a->name, strerror(-ret));
}

void vmm_assign_give_back(struct vmm_assign *a)
{
	if (!a->dev)
		return;
	vmm_assign_events_close(a);
	if (a->pci.bus)
		vmm_pci_remove(a->pci.bus, &a->pci);
	a->pci.bus = NULL;
	vmm_assign_irq_off(a);
	vmm_assign_hw_reset(a);
	vmm_msix_exit(&a->msix);
	vmm_vectors_exit(&a->msix_vec);
	vmm_vectors_exit(&a->msi_vec);
	vmm_assign_bars_close(a);
	tell_kvm(a);
	vf_device_close(a->dev);
	a->dev = NULL;
}

int vmm_assign_add(struct vmm *vmm, struct vf_device *dev, struct vmm_assign **out,
		   struct bp_error *err)
{
	struct vmm_assign *a = calloc(1, sizeof(*a));
	int ret;

	if (!a) {
		vf_device_close(dev);
		return -ENOMEM;
	}
	a->vmm = vmm;
	a->dev = dev;
	a->intx_trigger = a->intx_resample = -1;
	a->err_fd = a->req_fd = -1;
	strncpy(a->name, vf_device_bdf(dev), sizeof(a->name) - 1);
	a->pci.name = a->name;
	a->pci.ops = &assign_ops;
	/* A device has no use for a way to itself. */
	a->p2p = vmm->iommu && vmm->config->nr_vfs > 1;

	ret = build(a, err);
	if (ret)
		goto err_back;
	vmm_assign_hw_reset(a);
	ret = open_vectors(a);
	if (ret)
		goto err_back;
	vmm_assign_bars_open(a);
	ret = vmm_assign_events_open(a);
	if (ret) {
		bp_error_set(err, ret, NULL, "events of %s cannot be watched: %s", a->name,
			     strerror(-ret));
		goto err_back;
	}
	ret = vmm_pci_add(vmm->pci, &a->pci, err);
	if (ret)
		goto err_back;
	vmm_assign_irq_sync(a);
	*out = a;
	return 0;

err_back:
	vmm_assign_give_back(a);
	free(a);
	return ret;
}

void vmm_assign_remove(struct vmm_assign *assign)
{
	if (!assign)
		return;
	vmm_assign_give_back(assign);
	free(assign);
}
