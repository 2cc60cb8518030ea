// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root bus: plugging, unplugging and resetting.
 */
#include "vmm/pci/root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pci_regs.h>

/* The PCI ID list's generic PCI Express host bridge of virtual machines: no driver wants it. */
#define BRIDGE_VENDOR	  0x1b36
#define BRIDGE_DEVICE	  0x0008
#define CLASS_HOST_BRIDGE 0x0600

static void bridge_init(struct vmm_pci *pci)
{
	struct vmm_pci_dev *dev = &pci->bridge;

	dev->name = "host bridge";
	dev->bus = pci;
	vmm_cfg_init(&dev->cfg, VMM_CFG_SIZE);
	vmm_cfg_set16(&dev->cfg, PCI_VENDOR_ID, BRIDGE_VENDOR);
	vmm_cfg_set16(&dev->cfg, PCI_DEVICE_ID, BRIDGE_DEVICE);
	vmm_cfg_set16(&dev->cfg, PCI_CLASS_DEVICE, CLASS_HOST_BRIDGE);
	vmm_cfg_set16(&dev->cfg, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	vmm_cfg_seal(&dev->cfg);
	pci->slot[0] = dev;
}

int vmm_pci_new(struct vmm_bus *pio, struct vmm_bus *mmio, const struct vmm_pci_windows *windows,
		struct vmm_pci **out, struct bp_error *err)
{
	struct vmm_pci *pci = calloc(1, sizeof(*pci));
	int ret;

	if (!pci)
		return -ENOMEM;
	pci->pio = pio;
	pci->mmio = mmio;
	vmm_pci_window_init(&pci->window[VMM_PCI_WIN_IO], "I/O port", windows->io_base,
			    windows->io_end);
	vmm_pci_window_init(&pci->window[VMM_PCI_WIN_MMIO32], "32-bit memory", windows->mmio32_base,
			    windows->mmio32_end);
	vmm_pci_window_init(&pci->window[VMM_PCI_WIN_MMIO64], "64-bit memory", windows->mmio64_base,
			    windows->mmio64_end);
	bridge_init(pci);
	ret = vmm_pci_access_init(pci);
	if (ret) {
		free(pci);
		return bp_error_set(err, ret, NULL,
				    "PCI configuration access cannot be set up: its ports or "
				    "memory are taken");
	}
	*out = pci;
	return 0;
}

void vmm_pci_free(struct vmm_pci *pci)
{
	if (!pci)
		return;
	vmm_pci_access_exit(pci);
	free(pci);
}

void vmm_pci_on_reset_control(struct vmm_pci *pci, void (*fn)(void *priv, uint8_t value),
			      void *priv)
{
	pci->reset_fn = fn;
	pci->reset_priv = priv;
}

static void release_windows(struct vmm_pci *pci, struct vmm_pci_dev *dev)
{
	for (unsigned int n = 0; n < VMM_PCI_BARS; n++) {
		uint64_t addr = pci->placed[dev->slot][n];

		if (!addr)
			continue;
		if (dev->bar[n].io) {
			vmm_pci_window_free(&pci->window[VMM_PCI_WIN_IO], addr);
		} else {
			vmm_pci_window_free(&pci->window[VMM_PCI_WIN_MMIO32], addr);
			vmm_pci_window_free(&pci->window[VMM_PCI_WIN_MMIO64], addr);
		}
		pci->placed[dev->slot][n] = 0;
		pci->refused[dev->slot][n] = 0;
	}
}

int vmm_pci_add(struct vmm_pci *pci, struct vmm_pci_dev *dev, struct bp_error *err)
{
	struct vmm_pci_want want[VMM_PCI_BARS];
	uint16_t command = 0;
	unsigned int slot;
	int ret;

	for (slot = 1; slot < VMM_PCI_SLOTS && pci->slot[slot]; slot++)
		;
	if (slot == VMM_PCI_SLOTS)
		return bp_error_set(err, -ENOSPC, "assign fewer devices to this guest",
				    "all %d slots of the guest's PCI bus are taken",
				    VMM_PCI_SLOTS - 1);
	for (unsigned int n = 0; n < VMM_PCI_BARS; n++) {
		want[n] = (struct vmm_pci_want){ dev->bar[n].size, dev->bar[n].io, dev->bar[n].is64,
						 dev->bar[n].prefetch, 0 };
		dev->bar[n].live = false;
	}
	ret = vmm_pci_place(pci->window, want, VMM_PCI_BARS, err);
	if (ret)
		return ret;

	dev->slot = slot;
	dev->bus = pci;
	dev->cfg.data[PCI_HEADER_TYPE] &= 0x7f;
	dev->cfg.data[PCI_INTERRUPT_PIN] = (uint8_t)dev->intx_pin;
	if (dev->intx_pin) {
		dev->intx_gsi = vmm_pci_intx_gsi(slot, dev->intx_pin);
		dev->cfg.data[PCI_INTERRUPT_LINE] = (uint8_t)dev->intx_gsi;
	}
	dev->cfg.wmask[PCI_INTERRUPT_LINE] = 0xff;
	vmm_pci_bars_init(dev);
	for (unsigned int n = 0; n < VMM_PCI_BARS; n++) {
		if (!dev->bar[n].size)
			continue;
		pci->placed[slot][n] = want[n].addr;
		pci->refused[slot][n] = 0;
		vmm_pci_bar_store(dev, n, want[n].addr);
		command |= dev->bar[n].io ? PCI_COMMAND_IO : PCI_COMMAND_MEMORY;
	}
	vmm_cfg_set16(&dev->cfg, PCI_COMMAND, command);
	vmm_cfg_seal(&dev->cfg);
	pci->slot[slot] = dev;
	vmm_pci_settle(pci);
	return 0;
}

void vmm_pci_remove(struct vmm_pci *pci, struct vmm_pci_dev *dev)
{
	if (dev->slot >= VMM_PCI_SLOTS || pci->slot[dev->slot] != dev)
		return;
	vmm_pci_bars_off(dev);
	pci->slot[dev->slot] = NULL;
	release_windows(pci, dev);
	/* Something may have waited for the addresses that are free now. */
	vmm_pci_settle(pci);
}

void vmm_pci_function_reset(struct vmm_pci_dev *dev)
{
	vmm_pci_bars_off(dev);
	vmm_cfg_reset(&dev->cfg);
	vmm_cfg_set16(&dev->cfg, PCI_COMMAND, 0);
	for (unsigned int n = 0; n < VMM_PCI_BARS; n++)
		if (dev->bar[n].size)
			vmm_pci_bar_store(dev, n, 0);
	vmm_pci_settle(dev->bus);
}

void vmm_pci_reset(struct vmm_pci *pci)
{
	pci->address = 0;
	pci->reset_control = 0;
	for (unsigned int s = 0; s < VMM_PCI_SLOTS; s++)
		if (pci->slot[s])
			vmm_pci_bars_off(pci->slot[s]);
	for (unsigned int s = 0; s < VMM_PCI_SLOTS; s++) {
		struct vmm_pci_dev *dev = pci->slot[s];

		if (!dev)
			continue;
		vmm_cfg_reset(&dev->cfg);
		if (dev->ops && dev->ops->reset)
			dev->ops->reset(dev);
	}
	vmm_pci_settle(pci);
}

struct vmm_pci_dev *vmm_pci_slot(struct vmm_pci *pci, unsigned int slot)
{
	return slot < VMM_PCI_SLOTS ? pci->slot[slot] : NULL;
}

unsigned int vmm_pci_intx_gsi(unsigned int slot, unsigned int pin)
{
	static const unsigned int line[3] = { 5, 10, 11 };

	return line[(slot + pin - 1) % 3];
}
