/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Message delivery of the MSI capability (PCI Local Bus 3.0, 6.8.1): one address, data
 * whose low bits number the messages, optional masks. Pure, like msix.h.
 */
#ifndef VMM_ASSIGN_MSI_H
#define VMM_ASSIGN_MSI_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm/assign/vecops.h"

#define VMM_MSI_MAX 32

/**
 * struct vmm_msi - one capability's delivery.
 * @ops: delivery. @priv: its argument.
 * @provided: messages that the hardware has connected; 0 while disabled.
 * @address: message address. @data: message data.
 * @mask: mask bits.
 * @attached: bits of messages that reach the guest.
 */
struct vmm_msi {
	const struct vmm_vec_ops *ops;
	void *priv;
	unsigned int provided;
	uint64_t address;
	uint32_t data;
	uint32_t mask;
	uint32_t attached;
};

/** vmm_msi_init() - disabled. @m: delivery. @ops: operations. @priv: their argument. */
void vmm_msi_init(struct vmm_msi *m, const struct vmm_vec_ops *ops, void *priv);

/**
 * vmm_msi_set() - the guest wrote the capability.
 * @m: delivery. @count: enabled messages, a power of two up to VMM_MSI_MAX; 0 disables.
 * @address: message address. @data: message data. @mask: mask bits.
 *
 * Return: 0, or the negative errno of the first message that could not be connected.
 */
int vmm_msi_set(struct vmm_msi *m, unsigned int count, uint64_t address, uint32_t data,
		uint32_t mask);

/** vmm_msi_pending() - masked messages with a remembered interrupt. @m: delivery. Return: bits. */
uint32_t vmm_msi_pending(const struct vmm_msi *m);

#endif
