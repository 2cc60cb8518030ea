/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Assigned functions: a vf_device of the host on the guest's root bus.
 */
#ifndef VMM_ASSIGN_H
#define VMM_ASSIGN_H

#include <stdint.h>

#include <bp/error.h>
#include <vf/device.h>

struct vmm;
struct bp_print;
struct vmm_assign;

/**
 * vmm_assign_bar_space() - what a device's BARs need of the 64-bit window.
 * @dev: opened device.
 *
 * Return: bytes, each 64-bit prefetchable BAR rounded to its alignment.
 */
uint64_t vmm_assign_bar_space(struct vf_device *dev);

/**
 * vmm_assign_add() - put an opened device on the guest's bus.
 * @vmm: machine with RAM mapped for DMA and a PCI bus.
 * @dev: opened device; owned by the assignment from now on, also on failure.
 * @out: receives the assignment.
 * @err: receives the reason of a failure.
 *
 * Resets the device, reads its configuration space, rebuilds the capability chain
 * for the guest, watches its error and request eventfds.
 *
 * Return: 0, or a negative errno.
 */
int vmm_assign_add(struct vmm *vmm, struct vf_device *dev, struct vmm_assign **out,
		   struct bp_error *err);

/**
 * vmm_assign_remove() - take the device from the guest: interrupts off, BARs unmapped,
 * device reset and closed.
 * @assign: NULL is allowed.
 */
void vmm_assign_remove(struct vmm_assign *assign);

/**
 * vmm_assign_print() - one JSON object or some lines: BDF, slot, driver-visible state,
 * which BAR pages are mapped straight and which trap, interrupt mode and counts of
 * vectors, interrupts delivered through irqfd are not counted here. Nothing for a device
 * that was given back to the host.
 * @assign: assignment. @p: printer, inside an array.
 */
void vmm_assign_print(const struct vmm_assign *assign, struct bp_print *p);

#endif
