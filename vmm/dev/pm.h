/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ACPI fixed hardware: PM1 event and control registers, PM timer, GPE0, the reset
 * register at 0xcf9, and the ejection registers behind the DSDT's PCI slots.
 */
#ifndef VMM_PM_H
#define VMM_PM_H

#include <stdbool.h>
#include <stdint.h>

struct vmm;
struct vmm_pm;

/** vmm_pm_new() - put the registers on their ports. @vmm: machine. @out: receives them. Return: 0 or a negative errno. */
int vmm_pm_new(struct vmm *vmm, struct vmm_pm **out);

/** vmm_pm_reset() - registers back to power-on; nothing pending. @pm: registers. */
void vmm_pm_reset(struct vmm_pm *pm);

/** vmm_pm_free() - unplug. @pm: NULL is allowed. */
void vmm_pm_free(struct vmm_pm *pm);

/** vmm_pm_power_button() - press it: PWRBTN_STS and the SCI if enabled. @pm: registers. */
void vmm_pm_power_button(struct vmm_pm *pm);

/**
 * vmm_pm_eject_request() - ask the guest to give a PCI slot back.
 * @pm: registers.
 * @slot: 1 to 31.
 * @ejected: called, with the machine's lock held, when the guest evaluates _EJ0.
 * @priv: handed to @ejected.
 *
 * Sets the slot's bit in VMM_PORT_EJECT and raises GPE 1; the DSDT's _E01 notifies the slot.
 */
void vmm_pm_eject_request(struct vmm_pm *pm, unsigned int slot,
			  void (*ejected)(void *priv, unsigned int slot), void *priv);

/**
 * vmm_pm_reset_register() - the guest wrote one byte to VMM_PORT_RESET.
 * @pm: registers.
 * @value: bit 2 resets the machine (0x06 and 0x0e are what kernels write); without it
 *         the byte only chooses the kind of a reset to come.
 *
 * The port lies inside the doubleword of the PCI address port, so the PCI bus owns the
 * range and hands single bytes on to here (vmm_pci_on_reset_control()).
 */
void vmm_pm_reset_register(struct vmm_pm *pm, uint8_t value);

/** vmm_pm_eject_cancel() - forget a request whose device is gone. @pm: registers. @slot: slot. */
void vmm_pm_eject_cancel(struct vmm_pm *pm, unsigned int slot);

#endif
