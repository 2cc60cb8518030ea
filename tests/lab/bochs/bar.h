/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The test of nested leaves: what barvm.c, in an emulated host, makes its guest store,
 * and what leaves.c, outside, expects in the trace of that.
 *
 * The guest sees a BAR of BAR_PAGES pages and RAM_PAGES pages of memory through each of the
 * eight PAT indices: BAR_STORES stores, to pages of their own. It does so in each phase,
 * between which the ranges of kvm-memtype.ko are set anew.
 */
#ifndef LAB_BOCHS_BAR_H
#define LAB_BOCHS_BAR_H

#include <stdint.h>

#define BAR_PAGES  16u
#define RAM_PAGES  2u
#define BAR_STORES (8u * (BAR_PAGES + RAM_PAGES))

#define BAR_HPA	   0xd0000000ull /* free in Bochs: a window for PCI, with nothing in it */
#define BAR_GPA	   0x80000000ull
#define RAM_GPA	   0x00400000ull
#define BAR_GVA	   0x40000000ull

/* UC WC WT WP WB UC- UC- UC: every type, and twice what a guest without PAT asks for. */
#define BAR_GUEST_PAT	  0x0007070605040100ull

#define BAR_TAG(phase, i) (0x5eedull << 48 | (uint64_t)(phase) << 16 | (i))

/** struct bar_phase - pages @first to @last of the BAR are WC; none when @last is below. */
struct bar_phase {
	const char *name;
	int first, last;
};

static const struct bar_phase bar_phases[] = {
	{ "before", 0, -1 },
	{ "set", 4, 11 },
	{ "moved", 9, 14 },
	{ "one page", 15, 15 },
	{ "whole BAR", 0, BAR_PAGES - 1 },
	{ "taken away", 0, -1 },
};

#define BAR_PHASES (sizeof(bar_phases) / sizeof(*bar_phases))

static inline unsigned int bar_index(unsigned int store)
{
	return store / (BAR_PAGES + RAM_PAGES);
}

/* Page of the BAR, or BAR_PAGES and more for memory. */
static inline unsigned int bar_page(unsigned int store)
{
	return store % (BAR_PAGES + RAM_PAGES);
}

static inline uint64_t bar_gpa(unsigned int store)
{
	unsigned int page = bar_page(store);

	return page < BAR_PAGES ? BAR_GPA + 4096ull * page : RAM_GPA + 4096ull * (page - BAR_PAGES);
}

#endif
