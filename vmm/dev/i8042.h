/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keyboard controller with nothing plugged in: answers probes and resets the machine
 * (command 0xfe, or bit 0 of port 0x92). Port 0x61 belongs to KVM's timer chip.
 */
#ifndef VMM_I8042_H
#define VMM_I8042_H

struct vmm;
struct vmm_i8042;

/** vmm_i8042_new() - put the controller on its ports. @vmm: machine. @out: receives it. Return: 0 or a negative errno. */
int vmm_i8042_new(struct vmm *vmm, struct vmm_i8042 **out);

/** vmm_i8042_reset() - back to power-on. @ctl: controller. */
void vmm_i8042_reset(struct vmm_i8042 *ctl);

/** vmm_i8042_free() - unplug. @ctl: NULL is allowed. */
void vmm_i8042_free(struct vmm_i8042 *ctl);

#endif
