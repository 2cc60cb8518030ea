/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The MSI-X table as the guest sees it (PCI Local Bus 3.0, 6.8.2): entries, masks, pending
 * bits. Pure: what leaves it goes through struct vmm_vec_ops.
 */
#ifndef VMM_ASSIGN_MSIX_H
#define VMM_ASSIGN_MSIX_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm/assign/vecops.h"

/**
 * struct vmm_msix - one table.
 * @ops: delivery. @priv: its argument.
 * @nr: entries.
 * @enabled: MSI-X Enable. @masked: Function Mask.
 * @provided: vectors that the hardware has connected.
 * @written: entries 0 to @written - 1 hold the highest one that got an address: what a
 *           guest fills in before it unmasks says how many vectors it will use. Back to 0
 *           when the host had not so many.
 * @table: @nr entries of 16 bytes.
 * @attached: per vector.
 */
struct vmm_msix {
	const struct vmm_vec_ops *ops;
	void *priv;
	unsigned int nr;
	bool enabled;
	bool masked;
	unsigned int provided;
	unsigned int written;
	uint8_t *table;
	bool *attached;
};

/**
 * vmm_msix_init() - a table after reset: every vector masked.
 * @m: table. @nr: entries, 1 to 2048. @ops: delivery. @priv: its argument.
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int vmm_msix_init(struct vmm_msix *m, unsigned int nr, const struct vmm_vec_ops *ops, void *priv);

/** vmm_msix_exit() - stop delivery and drop the table. @m: table; one of zeros is allowed. */
void vmm_msix_exit(struct vmm_msix *m);

/** vmm_msix_reset() - stop delivery; as after vmm_msix_init(). @m: table. */
void vmm_msix_reset(struct vmm_msix *m);

/**
 * vmm_msix_control() - the guest wrote the message control register.
 * @m: table. @enable: MSI-X Enable. @mask: Function Mask.
 *
 * Return: 0, or the negative errno of the first vector that could not be connected.
 */
int vmm_msix_control(struct vmm_msix *m, bool enable, bool mask);

/**
 * vmm_msix_table_read() - the guest reads the table.
 * @m: table. @off: byte in it. @buf: receives the data. @len: bytes; outside reads zero.
 */
void vmm_msix_table_read(const struct vmm_msix *m, uint64_t off, uint8_t *buf, unsigned int len);

/**
 * vmm_msix_table_write() - the guest writes the table.
 * @m: table. @off: byte in it. @buf: data. @len: bytes; outside is dropped.
 *
 * Return: as vmm_msix_control().
 */
int vmm_msix_table_write(struct vmm_msix *m, uint64_t off, const uint8_t *buf, unsigned int len);

/**
 * vmm_msix_pba_read() - the guest reads pending bits.
 * @m: table. @off: byte in the array. @buf: receives the data. @len: bytes.
 *
 * A bit is set while its vector is masked and an interrupt is remembered.
 */
void vmm_msix_pba_read(const struct vmm_msix *m, uint64_t off, uint8_t *buf, unsigned int len);

/** vmm_msix_attached() - vectors that reach the guest now. @m: table. Return: how many. */
unsigned int vmm_msix_attached(const struct vmm_msix *m);

#endif
