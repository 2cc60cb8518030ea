/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The root bus: who sits in which slot, configuration access by mechanism 1 and
 * ECAM, and the windows from which BARs get their addresses.
 *
 * The bus owns the standard header's behaviour: command register, BAR sizing and
 * relocation, interrupt line. A device describes itself once and is told when a
 * BAR starts and stops answering.
 */
#ifndef VMM_PCI_H
#define VMM_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include <bp/error.h>
#include "vmm/bus.h"
#include "vmm/pci/cfgspace.h"

struct vmm;
struct vmm_pci;
struct vmm_pci_dev;

/**
 * struct vmm_pci_bar - one base address register.
 * @size: bytes, a power of two; 0 when there is none (also for the upper half of a 64-bit BAR).
 * @addr: where it answers now; meaningful while @live.
 * @io: I/O ports rather than memory.
 * @is64: 64-bit; uses the next register as well.
 * @prefetch: prefetchable.
 * @live: decoding is enabled and the address is valid.
 */
struct vmm_pci_bar {
	uint64_t size;
	uint64_t addr;
	bool io;
	bool is64;
	bool prefetch;
	bool live;
};

#define VMM_PCI_BARS  6
#define VMM_PCI_SLOTS 32

/**
 * struct vmm_pci_ops - what a device does; every function may be NULL.
 * @cfg_read: called before configuration space is read, to refresh @off..@off+@len of it.
 * @cfg_write: called after configuration space was written through its masks, with the
 *             bytes as they were before in @old (@len bytes).
 * @bar_map: a BAR starts answering at dev->bar[n].addr. A failure is reported and the
 *           BAR stays dead.
 * @bar_unmap: it stops; dev->bar[n].addr is still the old address.
 * @reset: the machine was reset; configuration space has its initial content again. May
 *         unplug the device.
 */
struct vmm_pci_ops {
	void (*cfg_read)(struct vmm_pci_dev *dev, unsigned int off, unsigned int len);
	void (*cfg_write)(struct vmm_pci_dev *dev, unsigned int off, unsigned int len,
			  const uint8_t *old);
	int (*bar_map)(struct vmm_pci_dev *dev, unsigned int bar);
	void (*bar_unmap)(struct vmm_pci_dev *dev, unsigned int bar);
	void (*reset)(struct vmm_pci_dev *dev);
};

/**
 * struct vmm_pci_dev - a function on the root bus, embedded in the device's own structure.
 * @name: for messages.
 * @ops: what it does.
 * @cfg: its configuration space; the device fills it, the bus adds the BARs' bits.
 * @bar: its base address registers.
 * @intx_pin: 1 for INTA to 4 for INTD, 0 without.
 * @intx_gsi: line that the bus wired the pin to.
 * @slot: device number on bus 0, chosen by the bus.
 * @bus: the bus.
 */
struct vmm_pci_dev {
	const char *name;
	const struct vmm_pci_ops *ops;
	struct vmm_cfgspace cfg;
	struct vmm_pci_bar bar[VMM_PCI_BARS];
	unsigned int intx_pin;
	unsigned int intx_gsi;
	unsigned int slot;
	struct vmm_pci *bus;
};

/**
 * struct vmm_pci_windows - address ranges for BARs, first byte and first byte after.
 * @mmio64_base: 64-bit prefetchable window; equal to its end when there is none.
 */
struct vmm_pci_windows {
	uint64_t io_base, io_end;
	uint64_t mmio32_base, mmio32_end;
	uint64_t mmio64_base, mmio64_end;
};

/**
 * vmm_pci_new() - make the root bus with a host bridge in slot 0, on ports and in ECAM.
 * @pio: ports. @mmio: memory. @windows: where BARs may be put.
 * @out: receives the bus. @err: receives the reason of a failure.
 *
 * Return: 0, or a negative errno.
 */
int vmm_pci_new(struct vmm_bus *pio, struct vmm_bus *mmio, const struct vmm_pci_windows *windows,
		struct vmm_pci **out, struct bp_error *err);

/** vmm_pci_free() - drop the bus; devices must be gone. @pci: NULL is allowed. */
void vmm_pci_free(struct vmm_pci *pci);

/**
 * vmm_pci_on_reset_control() - who is told about the reset control register.
 * @pci: bus.
 * @fn: called with each byte that the guest writes to VMM_PORT_RESET, which lies inside
 *      the ports of configuration mechanism 1; NULL drops the writes.
 * @priv: handed to @fn.
 */
void vmm_pci_on_reset_control(struct vmm_pci *pci, void (*fn)(void *priv, uint8_t value),
			      void *priv);

/**
 * vmm_pci_add() - plug a device: slot, INTx line and BAR addresses are given out.
 * @pci: bus. @dev: device. @err: says which window is full and how much was wanted.
 *
 * As firmware does: BARs get addresses and memory decoding is enabled, largest BARs first.
 *
 * Return: 0, -ENOSPC for a full bus or window.
 */
int vmm_pci_add(struct vmm_pci *pci, struct vmm_pci_dev *dev, struct bp_error *err);

/** vmm_pci_remove() - unplug: BARs stop answering, the slot reads as empty. @pci: bus. @dev: device. */
void vmm_pci_remove(struct vmm_pci *pci, struct vmm_pci_dev *dev);

/**
 * vmm_pci_function_reset() - what a function-level reset leaves of the configuration space.
 * @dev: device.
 *
 * BARs stop answering; registers have their initial content, but no address and no
 * enable bit (PCI Express Base 5.0, 6.6.2). The device's own reset is the caller's business.
 */
void vmm_pci_function_reset(struct vmm_pci_dev *dev);

/** vmm_pci_reset() - put every device back to its initial configuration. @pci: bus. */
void vmm_pci_reset(struct vmm_pci *pci);

/** vmm_pci_slot() - device in a slot. @pci: bus. @slot: 0 to 31. Return: device or NULL. */
struct vmm_pci_dev *vmm_pci_slot(struct vmm_pci *pci, unsigned int slot);

/**
 * vmm_pci_intx_gsi() - the line that a slot's pin is wired to.
 * @slot: 0 to 31. @pin: 1 to 4.
 *
 * A fixed function, because ACPI's _PRT, the MP table and the interrupt line register
 * must all say the same. Lines 5, 10 and 11: below 16, so that guests without an
 * I/O APIC are served as well; level triggered, active high, as the MADT's overrides say.
 *
 * Return: GSI, the same number for the PICs and the I/O APIC.
 */
unsigned int vmm_pci_intx_gsi(unsigned int slot, unsigned int pin);

#endif
