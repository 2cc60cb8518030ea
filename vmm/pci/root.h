/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The root bus from inside: shared by the files of this directory only.
 */
#ifndef VMM_PCI_ROOT_H
#define VMM_PCI_ROOT_H

#include "vmm/pci/pci.h"
#include "vmm/pci/window.h"

/**
 * struct vmm_pci - the root bus.
 * @pio: ports. @mmio: memory.
 * @window: where BARs may answer, and what is given out.
 * @address: CONFIG_ADDRESS of mechanism 1.
 * @reset_control: what the guest last wrote to 0xcf9.
 * @reset_fn: told about writes to 0xcf9. @reset_priv: its argument.
 * @slot: devices of bus 0.
 * @placed: address that each BAR was given, for the window's books; 0 for none.
 * @refused: address at which a BAR could not be mapped, so that it is tried once only.
 * @bridge: the host bridge.
 */
struct vmm_pci {
	struct vmm_bus *pio;
	struct vmm_bus *mmio;
	struct vmm_pci_window window[VMM_PCI_WIN_COUNT];
	uint32_t address;
	uint8_t reset_control;
	void (*reset_fn)(void *priv, uint8_t value);
	void *reset_priv;
	struct vmm_pci_dev *slot[VMM_PCI_SLOTS];
	uint64_t placed[VMM_PCI_SLOTS][VMM_PCI_BARS];
	uint64_t refused[VMM_PCI_SLOTS][VMM_PCI_BARS];
	struct vmm_pci_dev bridge;
};

/**
 * vmm_pci_access_init() - put mechanism 1 and ECAM on their buses.
 * @pci: bus.
 *
 * Return: 0, or a negative errno.
 */
int vmm_pci_access_init(struct vmm_pci *pci);

/** vmm_pci_access_exit() - take them off again. @pci: bus. */
void vmm_pci_access_exit(struct vmm_pci *pci);

/** vmm_pci_bars_init() - BAR and command bits of the header. @dev: device with its bars described. */
void vmm_pci_bars_init(struct vmm_pci_dev *dev);

/**
 * vmm_pci_bar_store() - put an address into a BAR's register(s), type bits kept.
 * @dev: device. @bar: 0 to 5. @addr: address.
 */
void vmm_pci_bar_store(struct vmm_pci_dev *dev, unsigned int bar, uint64_t addr);

/** vmm_pci_bars_off() - make all BARs of a device stop answering. @dev: device. */
void vmm_pci_bars_off(struct vmm_pci_dev *dev);

/**
 * vmm_pci_settle() - make what answers agree with the registers.
 * @pci: bus.
 *
 * First everything stops that has moved or lost its decode enable, then everything
 * starts that is wanted and collides with nothing; so two BARs can change places.
 */
void vmm_pci_settle(struct vmm_pci *pci);

#endif
