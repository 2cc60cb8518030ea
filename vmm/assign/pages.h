/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which pages of a BAR the guest reaches without an exit. Pure.
 */
#ifndef VMM_ASSIGN_PAGES_H
#define VMM_ASSIGN_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include <vf/device.h>

/* Each mappable area can be cut twice, and there is something between any two. */
#define VMM_PAGES_MAX (2 * (VF_REGION_AREAS_MAX + 2) + 1)

/** struct vmm_hole - bytes that must trap: @offset, @size (0 for none). */
struct vmm_hole {
	uint64_t offset;
	uint64_t size;
};

/**
 * struct vmm_piece - one part of a BAR.
 * @offset: bytes from the start of the BAR. @size: bytes.
 * @direct: mapped into the guest; otherwise each access exits.
 */
struct vmm_piece {
	uint64_t offset;
	uint64_t size;
	bool direct;
};

/** struct vmm_pages - all parts of a BAR, in order and without gaps; @nr of them in @piece. */
struct vmm_pages {
	unsigned int nr;
	struct vmm_piece piece[VMM_PAGES_MAX];
};

/**
 * vmm_pages_split() - cut a BAR into pieces.
 * @bar_size: bytes that the guest sees.
 * @region: what the kernel says of it. Its areas are not trusted to be sorted, disjoint,
 *          inside the region or aligned.
 * @page: page size of the host, a power of two.
 * @hole: what must trap (MSI-X table, pending bits). @nr_holes: entries.
 * @out: receives the pieces.
 *
 * Only whole pages are direct. A BAR smaller than a page therefore traps: the rest of
 * its page belongs to others.
 */
void vmm_pages_split(uint64_t bar_size, const struct vf_region *region, uint64_t page,
		     const struct vmm_hole *hole, unsigned int nr_holes, struct vmm_pages *out);

#endif
