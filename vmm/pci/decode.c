// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which BAR answers where: command register bits, sizing, relocation.
 *
 * Guests size BARs by writing ones, some of them with decoding enabled (Linux before
 * 2.6.38), and write the halves of a 64-bit BAR one after the other. Addresses in
 * between are nonsense: they lie outside the windows, or on top of something else, and
 * then the BAR is silent until the next write.
 */
#include <linux/pci_regs.h>

#include "vmm/pci/root.h"

static unsigned int bar_reg(unsigned int bar)
{
	return PCI_BASE_ADDRESS_0 + 4 * bar;
}

void vmm_pci_bars_init(struct vmm_pci_dev *dev)
{
	struct vmm_cfgspace *cfg = &dev->cfg;
	uint16_t command = PCI_COMMAND_MASTER;

	for (unsigned int n = 0; n < VMM_PCI_BARS; n++) {
		const struct vmm_pci_bar *bar = &dev->bar[n];
		uint64_t mask = ~(bar->size - 1);
		uint32_t type = 0;

		if (!bar->size)
			continue;
		if (bar->io) {
			command |= PCI_COMMAND_IO;
			type = PCI_BASE_ADDRESS_SPACE_IO;
			mask &= 0xfffffffcu;
		} else {
			command |= PCI_COMMAND_MEMORY;
			mask &= ~0xfull;
			if (bar->is64)
				type |= PCI_BASE_ADDRESS_MEM_TYPE_64;
			if (bar->prefetch)
				type |= PCI_BASE_ADDRESS_MEM_PREFETCH;
		}
		vmm_cfg_set32(cfg, bar_reg(n), type);
		for (unsigned int i = 0; i < (bar->is64 ? 8 : 4); i++)
			cfg->wmask[bar_reg(n) + i] = (uint8_t)(mask >> (8 * i));
		if (bar->is64)
			vmm_cfg_set32(cfg, bar_reg(n) + 4, 0);
	}
	if (dev->intx_pin)
		command |= PCI_COMMAND_INTX_DISABLE;
	cfg->wmask[PCI_COMMAND] |= (uint8_t)command;
	cfg->wmask[PCI_COMMAND + 1] |= (uint8_t)(command >> 8);
}

void vmm_pci_bar_store(struct vmm_pci_dev *dev, unsigned int bar, uint64_t addr)
{
	unsigned int reg = bar_reg(bar);
	uint32_t type = dev->cfg.data[reg] & (dev->bar[bar].io ? 3u : 15u);

	vmm_cfg_set32(&dev->cfg, reg, (uint32_t)addr | type);
	if (dev->bar[bar].is64)
		vmm_cfg_set32(&dev->cfg, reg + 4, (uint32_t)(addr >> 32));
}

static uint64_t bar_address(const struct vmm_pci_dev *dev, unsigned int n)
{
	const struct vmm_pci_bar *bar = &dev->bar[n];
	uint64_t addr = vmm_cfg_get32(&dev->cfg, bar_reg(n)) & (bar->io ? ~3u : ~15u);

	if (bar->is64)
		addr |= (uint64_t)vmm_cfg_get32(&dev->cfg, bar_reg(n) + 4) << 32;
	return addr;
}

static bool in_window(const struct vmm_pci_window *win, uint64_t addr, uint64_t size)
{
	return addr >= win->base && addr < win->end && size <= win->end - addr;
}

/* Whether the registers ask for this BAR to answer, and at an address that exists. */
static bool bar_wanted(const struct vmm_pci *pci, const struct vmm_pci_dev *dev, unsigned int n,
		       uint64_t *addr)
{
	const struct vmm_pci_bar *bar = &dev->bar[n];
	uint16_t command = vmm_cfg_get16(&dev->cfg, PCI_COMMAND);

	if (!bar->size || !(command & (bar->io ? PCI_COMMAND_IO : PCI_COMMAND_MEMORY)))
		return false;
	*addr = bar_address(dev, n);
	if (bar->io)
		return in_window(&pci->window[VMM_PCI_WIN_IO], *addr, bar->size);
	return in_window(&pci->window[VMM_PCI_WIN_MMIO32], *addr, bar->size) ||
	       in_window(&pci->window[VMM_PCI_WIN_MMIO64], *addr, bar->size);
}

static bool collides(const struct vmm_pci *pci, bool io, uint64_t addr, uint64_t size)
{
	for (unsigned int s = 0; s < VMM_PCI_SLOTS; s++) {
		const struct vmm_pci_dev *dev = pci->slot[s];

		for (unsigned int n = 0; dev && n < VMM_PCI_BARS; n++) {
			const struct vmm_pci_bar *bar = &dev->bar[n];

			if (bar->live && bar->io == io && addr < bar->addr + bar->size &&
			    bar->addr < addr + size)
				return true;
		}
	}
	return false;
}

static void bar_stop(struct vmm_pci_dev *dev, unsigned int n)
{
	if (dev->ops && dev->ops->bar_unmap)
		dev->ops->bar_unmap(dev, n);
	dev->bar[n].live = false;
}

static void bar_start(struct vmm_pci *pci, struct vmm_pci_dev *dev, unsigned int n, uint64_t addr)
{
	struct vmm_pci_bar *bar = &dev->bar[n];
	uint64_t *refused = &pci->refused[dev->slot][n];

	if (*refused == addr)
		return;
	*refused = 0;
	if (collides(pci, bar->io, addr, bar->size))
		return;
	bar->addr = addr;
	if (dev->ops && dev->ops->bar_map && dev->ops->bar_map(dev, n)) {
		*refused = addr;
		return;
	}
	bar->live = true;
}

void vmm_pci_bars_off(struct vmm_pci_dev *dev)
{
	for (unsigned int n = 0; n < VMM_PCI_BARS; n++)
		if (dev->bar[n].live)
			bar_stop(dev, n);
}

void vmm_pci_settle(struct vmm_pci *pci)
{
	uint64_t addr;

	for (unsigned int s = 0; s < VMM_PCI_SLOTS; s++) {
		struct vmm_pci_dev *dev = pci->slot[s];

		for (unsigned int n = 0; dev && n < VMM_PCI_BARS; n++) {
			bool wanted = bar_wanted(pci, dev, n, &addr);

			if (!wanted)
				pci->refused[s][n] = 0;
			if (dev->bar[n].live && (!wanted || addr != dev->bar[n].addr))
				bar_stop(dev, n);
		}
	}
	for (unsigned int s = 0; s < VMM_PCI_SLOTS; s++) {
		struct vmm_pci_dev *dev = pci->slot[s];

		for (unsigned int n = 0; dev && n < VMM_PCI_BARS; n++)
			if (!dev->bar[n].live && bar_wanted(pci, dev, n, &addr))
				bar_start(pci, dev, n, addr);
	}
}
