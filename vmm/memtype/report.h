/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `ctl memtype`, from inside: the registers, the map, and for each stretch of each BAR what
 * the guest asked for, the leaf, and what a store gets. Text and JSON are one sequence of calls.
 */
#ifndef VMM_MEMTYPE_REPORT_H
#define VMM_MEMTYPE_REPORT_H

#include <bp/print.h>
#include "vmm/memtype/state.h"
#include "vmm/memtype/walk.h"

/** struct vmm_mt_stretch - one cut of an area, in order of address. */
struct vmm_mt_stretch {
	const struct vmm_mt_area *area;
	const struct vmm_mt_cut *cut;
};

/**
 * struct vmm_mt_report_state - what is gathered before the first word.
 * @stretch: all of them. @target: the same for the walk. @nr: how many.
 * @walk: their mappings; NULL when there was no memory for it. @found: they. @nr_found: how many.
 * @truncated: something is not told.
 * @lost: kvm-memtype.ko was given ranges and does not have them any more.
 * @counts: what it says of this machine; all 0 in other modes.
 */
struct vmm_mt_report_state {
	struct vmm_mt *mt;
	struct bp_print *p;
	struct vmm_mt_stretch *stretch;
	struct vmm_walk_target *target;
	unsigned int nr;
	struct vmm_walk *walk;
	const struct vmm_walk_mapping *found;
	unsigned int nr_found;
	bool truncated;
	bool lost;
	struct kvm_memtype_stats counts;
};

/** vmm_mt_report_bars() - the part about BARs. @r: what was gathered. */
void vmm_mt_report_bars(const struct vmm_mt_report_state *r);

#endif
