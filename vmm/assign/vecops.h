/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the emulated MSI and MSI-X capabilities need from whatever delivers messages.
 */
#ifndef VMM_ASSIGN_VECOPS_H
#define VMM_ASSIGN_VECOPS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct vmm_vec_ops - the way from the device to the guest.
 * @provide: connect vectors 0 to @count - 1 of the hardware to something that remembers
 *           their interrupts; grows only, until 0 disconnects all. Return: 0 or a negative
 *           errno; what was connected before may be gone after a failure.
 * @attach: let a connected vector send this message to the guest, at once when an
 *          interrupt has been remembered; again for another message. Return: 0 or a
 *          negative errno.
 * @detach: stop sending; interrupts are remembered.
 * @pending: whether an interrupt is remembered.
 */
struct vmm_vec_ops {
	int (*provide)(void *priv, unsigned int count);
	int (*attach)(void *priv, unsigned int vector, uint64_t address, uint32_t data);
	void (*detach)(void *priv, unsigned int vector);
	bool (*pending)(void *priv, unsigned int vector);
};

#endif
