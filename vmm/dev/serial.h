/* SPDX-License-Identifier: GPL-2.0-only */
/* The first serial port: a 16550A, which every kernel since the nineties can print on. */
#ifndef VMM_SERIAL_H
#define VMM_SERIAL_H

struct vmm;
struct vmm_serial;

/**
 * vmm_serial_new() - put a 16550A at VMM_PORT_COM1, interrupt VMM_IRQ_COM1.
 * @vmm: machine.
 * @out_fd: what the guest sends goes here; -1 drops it. A full non-blocking descriptor or
 *          a vanished reader never stops the guest.
 * @in_fd: what the guest receives comes from here, watched by the loop; -1 for none.
 * @out: receives the port.
 *
 * Return: 0, or a negative errno.
 */
int vmm_serial_new(struct vmm *vmm, int out_fd, int in_fd, struct vmm_serial **out);

/** vmm_serial_reset() - registers back to power-on. @serial: port. */
void vmm_serial_reset(struct vmm_serial *serial);

/** vmm_serial_free() - unplug; descriptors stay open. @serial: NULL is allowed. */
void vmm_serial_free(struct vmm_serial *serial);

#endif
