// SPDX-License-Identifier: GPL-2.0-only
/*
 * How configuration space is reached: mechanism 1 (PCI Local Bus 3.0, 3.2.2.3.2) and
 * ECAM (PCI Express Base 5.0, 7.2.2).
 */
#include <string.h>

#include <linux/pci_regs.h>

#include "vmm/layout.h"
#include "vmm/pci/root.h"

#define ADDRESS_ENABLE 0x80000000u

static void fill_ones(void *data, unsigned int len)
{
	memset(data, 0xff, len);
}

static bool overlaps(unsigned int off, unsigned int len, unsigned int start, unsigned int end)
{
	return off < end && start < off + len;
}

static void cfg_write(struct vmm_pci *pci, struct vmm_pci_dev *dev, unsigned int off,
		      const void *data, unsigned int len)
{
	uint8_t old[4];
	uint32_t value = 0;

	if (off >= dev->cfg.size || len > dev->cfg.size - off)
		return;
	memcpy(old, dev->cfg.data + off, len);
	memcpy(&value, data, len);
	vmm_cfg_write(&dev->cfg, off, len, value);
	if (overlaps(off, len, PCI_COMMAND, PCI_COMMAND + 2) ||
	    overlaps(off, len, PCI_BASE_ADDRESS_0, PCI_BASE_ADDRESS_5 + 4))
		vmm_pci_settle(pci);
	if (dev->ops && dev->ops->cfg_write)
		dev->ops->cfg_write(dev, off, len, old);
}

static void cfg_read(struct vmm_pci_dev *dev, unsigned int off, void *data, unsigned int len)
{
	uint32_t value;

	if (dev->ops && dev->ops->cfg_read && off < dev->cfg.size && len <= dev->cfg.size - off)
		dev->ops->cfg_read(dev, off, len);
	value = vmm_cfg_read(&dev->cfg, off, len);
	memcpy(data, &value, len);
}

/* One access of up to four bytes inside one function's space. */
static void cfg_access(struct vmm_pci *pci, unsigned int bus, unsigned int devfn, unsigned int off,
		       void *data, unsigned int len, bool write)
{
	struct vmm_pci_dev *dev = NULL;

	if (bus == 0 && (devfn & 7) == 0)
		dev = pci->slot[devfn >> 3];
	if (!dev) {
		if (!write)
			fill_ones(data, len);
		return;
	}
	if (write)
		cfg_write(pci, dev, off, data, len);
	else
		cfg_read(dev, off, data, len);
}

/*
 * CONFIG_ADDRESS takes 32-bit accesses only; other sizes belong to whatever else the
 * chipset has at these ports, here the reset control register at 0xcf9.
 */
static void address_port(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_pci *pci = priv;
	const unsigned int reset = VMM_PORT_RESET - VMM_PORT_PCI_ADDR;

	if (len == 4 && offset == 0) {
		if (write)
			memcpy(&pci->address, data, 4);
		else
			memcpy(data, &pci->address, 4);
		return;
	}
	if (!write)
		fill_ones(data, len);
	if (len != 1 || offset != reset)
		return;
	if (!write) {
		*(uint8_t *)data = pci->reset_control;
		return;
	}
	/* The bit that starts the reset reads as zero once it is done. */
	pci->reset_control = *(const uint8_t *)data & 0x0a;
	if (pci->reset_fn)
		pci->reset_fn(pci->reset_priv, *(const uint8_t *)data);
}

static void data_port(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_pci *pci = priv;
	/* AMD puts bits 11:8 of the register into 27:24 (BKDG family 10h, F3x8C EnableCf8ExtCfg). */
	unsigned int off = (pci->address >> 16 & 0xf00) | (pci->address & 0xfc) |
			   (unsigned int)offset;

	if (!(pci->address & ADDRESS_ENABLE) || len > 4) {
		if (!write)
			fill_ones(data, len);
		return;
	}
	cfg_access(pci, (pci->address >> 16) & 0xff, (pci->address >> 8) & 0xff, off, data, len,
		   write);
}

static void ecam(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_pci *pci = priv;

	/* Wider accesses than a dword are made of dwords; none may leave its function. */
	while (len) {
		unsigned int off = offset & (VMM_CFG_EXT_SIZE - 1);
		unsigned int part = len > 4 ? 4 : len;

		if (part > VMM_CFG_EXT_SIZE - off)
			part = VMM_CFG_EXT_SIZE - off;
		cfg_access(pci, (unsigned int)(offset >> 20), (offset >> 12) & 0xff, off, data,
			   part, write);
		offset += part;
		data = (uint8_t *)data + part;
		len -= part;
	}
}

int vmm_pci_access_init(struct vmm_pci *pci)
{
	int ret;

	ret = vmm_bus_add(pci->pio, VMM_PORT_PCI_ADDR, 4, address_port, pci, "pci-address");
	if (ret)
		return ret;
	ret = vmm_bus_add(pci->pio, VMM_PORT_PCI_DATA, 4, data_port, pci, "pci-data");
	if (ret)
		goto no_data;
	ret = vmm_bus_add(pci->mmio, VMM_ECAM_BASE, VMM_ECAM_SIZE, ecam, pci, "pci-ecam");
	if (ret)
		goto no_ecam;
	return 0;

no_ecam:
	vmm_bus_remove(pci->pio, VMM_PORT_PCI_DATA);
no_data:
	vmm_bus_remove(pci->pio, VMM_PORT_PCI_ADDR);
	return ret;
}

void vmm_pci_access_exit(struct vmm_pci *pci)
{
	vmm_bus_remove(pci->mmio, VMM_ECAM_BASE);
	vmm_bus_remove(pci->pio, VMM_PORT_PCI_DATA);
	vmm_bus_remove(pci->pio, VMM_PORT_PCI_ADDR);
}
