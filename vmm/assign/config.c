// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's accesses to configuration space, and what they do to the hardware.
 */
#include <string.h>

#include <linux/pci_regs.h>

#include <bp/log.h>
#include "vmm/assign/state.h"

static bool overlaps(unsigned int off, unsigned int len, unsigned int start, unsigned int size)
{
	return off < start + size && start < off + len;
}

void vmm_assign_hw_command(struct vmm_assign *a, uint16_t guest)
{
	uint16_t command = guest & (PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR);
	uint8_t bytes[2];
	int ret;

	for (unsigned int n = 0; n < VMM_PCI_BARS; n++)
		if (a->pci.bar[n].size)
			command |= a->pci.bar[n].io ? PCI_COMMAND_IO : PCI_COMMAND_MEMORY;
	bytes[0] = (uint8_t)command;
	bytes[1] = (uint8_t)(command >> 8);
	ret = vf_device_write(a->dev, VF_REGION_CONFIG, PCI_COMMAND, bytes, 2);
	/* A guest may try as often as it likes; the log is told when it begins. */
	if (ret && !a->command_lost)
		bp_log_warn("%s: the command register cannot be written: %s", a->name,
			    strerror(-ret));
	a->command_lost = ret;
}

void vmm_assign_hw_reset(struct vmm_assign *a)
{
	int ret;

	/* Off first: the kernel restores after the reset what it found before. */
	vmm_assign_hw_command(a, 0);
	if (!vf_device_can_reset(a->dev))
		return;
	ret = vf_device_reset(a->dev);
	if (ret && !a->reset_lost)
		bp_log_warn("%s: reset failed: %s", a->name, strerror(-ret));
	a->reset_lost = ret;
	a->resets++;
	vmm_assign_hw_command(a, 0);
}

/* The guest reset the function: FLR, Advanced Features, or out of D3hot. */
static void function_reset(struct vmm_assign *a)
{
	bp_log_debug("%s: reset by the guest", a->name);
	vmm_assign_irq_off(a);
	vmm_pci_function_reset(&a->pci);
	vmm_assign_hw_reset(a);
	vmm_assign_irq_sync(a);
}

void vmm_assign_cfg_read(struct vmm_pci_dev *dev, unsigned int off, unsigned int len)
{
	struct vmm_assign *a = vmm_assign_of(dev);
	const struct vmm_chain *c = &a->chain;
	uint8_t now[4], any = 0;

	if (!a->dev)
		return;
	if (c->msi && (vmm_cfg_get16(&dev->cfg, c->msi + PCI_MSI_FLAGS) & PCI_MSI_FLAGS_MASKBIT)) {
		bool wide = vmm_cfg_get16(&dev->cfg, c->msi + PCI_MSI_FLAGS) & PCI_MSI_FLAGS_64BIT;
		unsigned int pos = c->msi + (wide ? PCI_MSI_PENDING_64 : PCI_MSI_PENDING_32);

		if (overlaps(off, len, pos, 4))
			vmm_cfg_set32(&dev->cfg, pos, vmm_msi_pending(&a->msi));
	}
	for (unsigned int i = 0; i < len; i++)
		any |= c->live[off + i];
	if (!any || vf_device_read(a->dev, VF_REGION_CONFIG, off, now, len))
		return;
	for (unsigned int i = 0; i < len; i++) {
		uint8_t live = c->live[off + i];

		dev->cfg.data[off + i] =
			(uint8_t)((dev->cfg.data[off + i] & ~live) | (now[i] & live));
	}
}

/* Hand on a run of bytes; bits that the guest may not write keep the hardware's value. */
static void forward(struct vmm_assign *a, unsigned int off, unsigned int len)
{
	const struct vmm_cfgspace *cfg = &a->pci.cfg;
	uint8_t out[4], mask = 0xff;
	int ret = 0;

	for (unsigned int i = 0; i < len; i++)
		mask &= cfg->wmask[off + i];
	memcpy(out, cfg->data + off, len);
	if (mask != 0xff) {
		uint8_t now[4];

		ret = vf_device_read(a->dev, VF_REGION_CONFIG, off, now, len);
		for (unsigned int i = 0; !ret && i < len; i++) {
			uint8_t w = cfg->wmask[off + i];

			out[i] = (uint8_t)((now[i] & ~w) | (out[i] & w));
		}
	}
	if (!ret)
		ret = vf_device_write(a->dev, VF_REGION_CONFIG, off, out, len);
	if (ret)
		bp_log_debug("%s: configuration write at %#x failed: %s", a->name, off,
			     strerror(-ret));
}

static void forward_runs(struct vmm_assign *a, unsigned int off, unsigned int len)
{
	unsigned int i = 0;

	while (i < len) {
		unsigned int run = 0;

		while (i + run < len && a->chain.forward[off + i + run])
			run++;
		if (run)
			forward(a, off + i, run);
		i += run ? run : 1;
	}
}

static uint16_t old16(const struct vmm_cfgspace *cfg, unsigned int reg, unsigned int off,
		      unsigned int len, const uint8_t *old)
{
	uint8_t b[2] = { cfg->data[reg], cfg->data[reg + 1] };

	for (unsigned int i = 0; i < 2; i++)
		if (reg + i >= off && reg + i < off + len)
			b[i] = old[reg + i - off];
	return (uint16_t)(b[0] | b[1] << 8);
}

/* Whether this write asks for a reset of the function. Clears bits that read as zero. */
static bool wants_reset(struct vmm_assign *a, unsigned int off, unsigned int len,
			const uint8_t *old)
{
	const struct vmm_chain *c = &a->chain;
	struct vmm_cfgspace *cfg = &a->pci.cfg;
	bool reset = false;

	if (c->exp && overlaps(off, len, c->exp + PCI_EXP_DEVCTL, 2)) {
		uint16_t ctl = vmm_cfg_get16(cfg, c->exp + PCI_EXP_DEVCTL);

		reset |= !!(ctl & PCI_EXP_DEVCTL_BCR_FLR);
		vmm_cfg_set16(cfg, c->exp + PCI_EXP_DEVCTL,
			      ctl & (uint16_t)~PCI_EXP_DEVCTL_BCR_FLR);
	}
	if (c->af && overlaps(off, len, c->af + PCI_AF_CTRL, 1)) {
		reset |= !!(cfg->data[c->af + PCI_AF_CTRL] & PCI_AF_CTRL_FLR);
		cfg->data[c->af + PCI_AF_CTRL] &= (uint8_t)~PCI_AF_CTRL_FLR;
	}
	if (c->pm && overlaps(off, len, c->pm + PCI_PM_CTRL, 2)) {
		uint16_t was = old16(cfg, c->pm + PCI_PM_CTRL, off, len, old);
		uint16_t now = vmm_cfg_get16(cfg, c->pm + PCI_PM_CTRL);

		/* From D3hot to D0 without No_Soft_Reset is a reset (PCI PM 1.2, 5.4.1). */
		reset |= (was & PCI_PM_CTRL_STATE_MASK) == 3 &&
			 (now & PCI_PM_CTRL_STATE_MASK) == 0 && !(now & PCI_PM_CTRL_NO_SOFT_RESET);
	}
	return reset;
}

/* Device control is emulated, but these bits act in the hardware as well. */
static void forward_devctl(struct vmm_assign *a)
{
	unsigned int pos = a->chain.exp + PCI_EXP_DEVCTL;
	uint16_t mask = (uint16_t)(a->pci.cfg.wmask[pos] | a->pci.cfg.wmask[pos + 1] << 8);
	uint16_t want = vmm_cfg_get16(&a->pci.cfg, pos), value;
	uint8_t b[2];

	mask &= (uint16_t) ~(PCI_EXP_DEVCTL_BCR_FLR | PCI_EXP_DEVCTL_PAYLOAD);
	if (vf_device_read(a->dev, VF_REGION_CONFIG, pos, b, 2))
		return;
	value = (uint16_t)(b[0] | b[1] << 8);
	value = (uint16_t)((value & ~mask) | (want & mask)) & (uint16_t)~PCI_EXP_DEVCTL_BCR_FLR;
	b[0] = (uint8_t)value;
	b[1] = (uint8_t)(value >> 8);
	if (vf_device_write(a->dev, VF_REGION_CONFIG, pos, b, 2))
		bp_log_debug("%s: device control cannot be written", a->name);
}

void vmm_assign_cfg_write(struct vmm_pci_dev *dev, unsigned int off, unsigned int len,
			  const uint8_t *old)
{
	struct vmm_assign *a = vmm_assign_of(dev);
	const struct vmm_chain *c = &a->chain;
	bool irq;

	if (!a->dev)
		return;
	if (wants_reset(a, off, len, old)) {
		function_reset(a);
		return;
	}
	forward_runs(a, off, len);
	if (c->exp && overlaps(off, len, c->exp + PCI_EXP_DEVCTL, 2))
		forward_devctl(a);
	irq = overlaps(off, len, PCI_COMMAND, 2);
	if (irq &&
	    old16(&dev->cfg, PCI_COMMAND, off, len, old) != vmm_cfg_get16(&dev->cfg, PCI_COMMAND))
		vmm_assign_hw_command(a, vmm_cfg_get16(&dev->cfg, PCI_COMMAND));
	irq |= c->msix && overlaps(off, len, c->msix, PCI_CAP_MSIX_SIZEOF);
	irq |= c->msi && overlaps(off, len, c->msi, 24);
	if (irq)
		vmm_assign_irq_sync(a);
}
