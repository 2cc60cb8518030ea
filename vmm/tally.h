/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts of accesses that left the guest, by the name of what answered them. */
#ifndef VMM_TALLY_H
#define VMM_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#define VMM_TALLY_NAMES 64

/**
 * struct vmm_tally_line - accesses that one name answered.
 * @name: a copy, since a device may go while its count stays.
 */
struct vmm_tally_line {
	char name[32];
	bool mmio;
	uint64_t count;
};

/**
 * struct vmm_tally - all counts; guarded by the machine's lock.
 * @lines: the last one takes what finds no room.
 */
struct vmm_tally {
	unsigned int nr;
	struct vmm_tally_line line[VMM_TALLY_NAMES];
};

/**
 * vmm_tally_add() - count one access.
 * @tally: counts.
 * @name: what vmm_bus_access() returned; NULL counts as "unclaimed".
 * @mmio: memory rather than a port.
 */
void vmm_tally_add(struct vmm_tally *tally, const char *name, bool mmio);

/**
 * vmm_exit_name() - name of a KVM_EXIT_* number.
 * @reason: 0 to VMM_EXIT_REASONS - 1.
 *
 * Return: lower-case name, or NULL for a number nobody here knows.
 */
const char *vmm_exit_name(unsigned int reason);

#endif
