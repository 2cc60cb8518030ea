/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of one rebuild of a configuration space; shared by chain.c and extchain.c only.
 */
#ifndef VMM_ASSIGN_REBUILD_H
#define VMM_ASSIGN_REBUILD_H

#include "vmm/assign/chain.h"

/**
 * struct vmm_rebuild - work in progress.
 * @raw: the function's own bytes. @size: how many. @opts: what is asked.
 * @cfg: the guest's space. @chain: what stands behind it.
 * @taken: bytes that belong to a capability already.
 */
struct vmm_rebuild {
	const uint8_t *raw;
	size_t size;
	const struct vmm_chain_opts *opts;
	struct vmm_cfgspace *cfg;
	struct vmm_chain *chain;
	bool taken[VMM_CFG_EXT_SIZE];
};

/**
 * vmm_rebuild_claim() - take bytes for one capability.
 * @rb: rebuild. @off: first byte. @len: bytes. @end: first byte that is out of bounds.
 *
 * Return: false when they reach beyond @end or belong to another capability.
 */
bool vmm_rebuild_claim(struct vmm_rebuild *rb, unsigned int off, unsigned int len,
		       unsigned int end);

/** vmm_rebuild_copy() - the guest sees the function's own bytes. @rb: rebuild. @off: offset. @len: bytes. */
void vmm_rebuild_copy(struct vmm_rebuild *rb, unsigned int off, unsigned int len);

/** vmm_rebuild_pass() - reads and writes go to the hardware. @rb: rebuild. @off: offset. @len: bytes. */
void vmm_rebuild_pass(struct vmm_rebuild *rb, unsigned int off, unsigned int len);

/** vmm_rebuild_ext() - the list of extended capabilities. @rb: rebuild. */
void vmm_rebuild_ext(struct vmm_rebuild *rb);

#endif
