/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts into the guest: lines of the in-kernel PICs and I/O APIC, message
 * signalled interrupts, and eventfds wired to either (Linux KVM API,
 * KVM_SET_GSI_ROUTING, KVM_IRQFD).
 *
 * Order matters on AMD hosts: a GSI must be routed before an irqfd is attached
 * to it, and the irqfd must be gone before the route goes. vmm_irq_msi_attach()
 * and its counterpart keep that order; callers cannot break it.
 */
#ifndef VMM_IRQ_H
#define VMM_IRQ_H

#include <stdbool.h>
#include <stdint.h>

#include <bp/error.h>

struct vmm_irq;

/**
 * vmm_irq_new() - start with KVM's default routes of pins 0 to 23.
 * @vm_fd: the virtual machine, with its irqchip created.
 * @out: receives the controller.
 *
 * Return: 0, or a negative errno.
 */
int vmm_irq_new(int vm_fd, struct vmm_irq **out);

/** vmm_irq_free() - drop all routes and irqfds. @irq: NULL is allowed. */
void vmm_irq_free(struct vmm_irq *irq);

/**
 * vmm_irq_line() - drive a line.
 * @irq: controller.
 * @gsi: 0 to 23.
 * @level: true for asserted. An edge is true followed by false.
 */
void vmm_irq_line(struct vmm_irq *irq, unsigned int gsi, bool level);

/**
 * vmm_irq_line_attach() - let eventfds drive a level-triggered line.
 * @irq: controller.
 * @gsi: 0 to 23.
 * @trigger: eventfd that asserts the line.
 * @resample: eventfd that KVM signals when the guest acknowledged the interrupt
 *            (KVM_IRQFD_FLAG_RESAMPLE), after it has taken the line down.
 *
 * Return: 0, or a negative errno.
 */
int vmm_irq_line_attach(struct vmm_irq *irq, unsigned int gsi, int trigger, int resample);

/** vmm_irq_line_detach() - undo vmm_irq_line_attach(). @irq: controller. @gsi: line. @trigger: eventfd. */
void vmm_irq_line_detach(struct vmm_irq *irq, unsigned int gsi, int trigger);

/**
 * vmm_irq_msi_attach() - let an eventfd send a message.
 * @irq: controller.
 * @address: message address, upper half included.
 * @data: message data.
 * @devid: requester ID, used where KVM wants one; 0 otherwise.
 * @trigger: eventfd.
 *
 * Allocates a route, then attaches the eventfd.
 *
 * Return: a handle of 0 or more, or a negative errno (-ENOSPC: KVM's routes are used up).
 */
int vmm_irq_msi_attach(struct vmm_irq *irq, uint64_t address, uint32_t data, uint32_t devid,
		       int trigger);

/**
 * vmm_irq_msi_update() - change the message of an attached eventfd.
 * @irq: controller.
 * @handle: from vmm_irq_msi_attach().
 * @address: new address.
 * @data: new data.
 *
 * Return: 0, or a negative errno.
 */
int vmm_irq_msi_update(struct vmm_irq *irq, int handle, uint64_t address, uint32_t data);

/** vmm_irq_msi_detach() - detach the eventfd, then free the route. @irq: controller. @handle: handle. */
void vmm_irq_msi_detach(struct vmm_irq *irq, int handle);

/**
 * vmm_irq_msi_send() - send one message now, without an eventfd.
 * @irq: controller. @address: message address. @data: message data.
 *
 * Return: 0, or a negative errno.
 */
int vmm_irq_msi_send(struct vmm_irq *irq, uint64_t address, uint32_t data);

#endif
