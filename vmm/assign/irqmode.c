// SPDX-License-Identifier: GPL-2.0-only
/*
 * INTx, MSI or MSI-X: one at a time, and the old one off before the new one is on, as
 * the kernel demands (drivers/vfio/pci/vfio_pci_intrs.c).
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include <bp/log.h>
#include "vmm/assign/state.h"

static void intx_off(struct vmm_assign *a)
{
	if (a->intx_trigger < 0)
		return;
	vf_device_intx_unmask_fd(a->dev, -1);
	vf_device_irq_disable(a->dev, VF_IRQ_INTX);
	vmm_irq_line_detach(a->vmm->irq, a->pci.intx_gsi, a->intx_trigger);
	close(a->intx_trigger);
	close(a->intx_resample);
	a->intx_trigger = a->intx_resample = -1;
}

static void intx_on(struct vmm_assign *a)
{
	int trigger, resample, ret;

	if (a->intx_trigger >= 0 || a->intx_failed)
		return;
	trigger = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	resample = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (trigger < 0 || resample < 0) {
		ret = -errno;
		goto err_close;
	}
	/*
	 * The guest's end first: once the device's end is up an interrupt may come, and it
	 * stays masked until somebody resamples.
	 */
	ret = vmm_irq_line_attach(a->vmm->irq, a->pci.intx_gsi, trigger, resample);
	if (ret)
		goto err_close;
	ret = vf_device_irq_set(a->dev, VF_IRQ_INTX, 0, 1, &trigger);
	if (ret)
		goto err_detach;
	ret = vf_device_intx_unmask_fd(a->dev, resample);
	if (ret)
		goto err_disable;
	a->intx_trigger = trigger;
	a->intx_resample = resample;
	return;

err_disable:
	vf_device_irq_disable(a->dev, VF_IRQ_INTX);
err_detach:
	vmm_irq_line_detach(a->vmm->irq, a->pci.intx_gsi, trigger);
err_close:
	if (trigger >= 0)
		close(trigger);
	if (resample >= 0)
		close(resample);
	a->intx_failed = true;
	/* A line that other drivers of the host use does not matter where messages do. */
	if (a->chain.msix || a->chain.msi)
		bp_log_info("%s: INTx cannot be used: %s", a->name, strerror(-ret));
	else
		bp_log_warn("%s: INTx cannot be used: %s", a->name, strerror(-ret));
}

static void msi_sync(struct vmm_assign *a)
{
	const struct vmm_cfgspace *cfg = &a->pci.cfg;
	unsigned int pos = a->chain.msi;
	uint16_t flags = vmm_cfg_get16(cfg, pos + PCI_MSI_FLAGS);
	bool wide = flags & PCI_MSI_FLAGS_64BIT;
	unsigned int mme = (flags & PCI_MSI_FLAGS_QSIZE) >> 4;
	uint64_t address = vmm_cfg_get32(cfg, pos + PCI_MSI_ADDRESS_LO);
	uint32_t mask = 0;
	unsigned int count;

	/* More messages than are offered is a mistake; hardware is free to use fewer. */
	count = mme > 5 || 1u << mme > a->chain.msi_nr ? a->chain.msi_nr : 1u << mme;
	if (wide)
		address |= (uint64_t)vmm_cfg_get32(cfg, pos + PCI_MSI_ADDRESS_HI) << 32;
	if (flags & PCI_MSI_FLAGS_MASKBIT)
		mask = vmm_cfg_get32(cfg, pos + (wide ? PCI_MSI_MASK_64 : PCI_MSI_MASK_32));
	vmm_msi_set(&a->msi, count, address,
		    vmm_cfg_get16(cfg, pos + (wide ? PCI_MSI_DATA_64 : PCI_MSI_DATA_32)), mask);
}

void vmm_assign_irq_sync(struct vmm_assign *a)
{
	const struct vmm_cfgspace *cfg = &a->pci.cfg;
	uint16_t command = vmm_cfg_get16(cfg, PCI_COMMAND);
	uint16_t msix_flags = 0, msi_flags = 0;
	bool msix, msi, intx;

	if (!a->dev)
		return;
	if (a->chain.msix)
		msix_flags = vmm_cfg_get16(cfg, a->chain.msix + PCI_MSIX_FLAGS);
	if (a->chain.msi)
		msi_flags = vmm_cfg_get16(cfg, a->chain.msi + PCI_MSI_FLAGS);
	msix = msix_flags & PCI_MSIX_FLAGS_ENABLE;
	/* Both at once is forbidden to software; then MSI-X counts. */
	msi = !msix && (msi_flags & PCI_MSI_FLAGS_ENABLE);
	intx = a->pci.intx_pin && !msix && !msi && !(command & PCI_COMMAND_INTX_DISABLE);

	if (!msix)
		vmm_msix_control(&a->msix, false, msix_flags & PCI_MSIX_FLAGS_MASKALL);
	if (!msi && a->msi.provided)
		vmm_msi_set(&a->msi, 0, 0, 0, 0);
	if (!intx)
		intx_off(a);

	if (msix)
		vmm_msix_control(&a->msix, true, msix_flags & PCI_MSIX_FLAGS_MASKALL);
	else if (msi)
		msi_sync(a);
	else if (intx)
		intx_on(a);
}

void vmm_assign_irq_off(struct vmm_assign *a)
{
	if (!a->dev)
		return;
	vmm_msix_reset(&a->msix);
	if (a->msi.provided)
		vmm_msi_set(&a->msi, 0, 0, 0, 0);
	intx_off(a);
	a->intx_failed = false;
}

const char *vmm_assign_irq_mode(const struct vmm_assign *a)
{
	if (a->msix.enabled)
		return "msix";
	if (a->msi.provided)
		return "msi";
	return a->intx_trigger >= 0 ? "intx" : "none";
}
