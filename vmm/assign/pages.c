// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interval arithmetic on whole pages. Everything is clipped to the BAR first, so that
 * sums below cannot wrap.
 */
#include "vmm/assign/pages.h"

#include <string.h>

struct span {
	uint64_t start;
	uint64_t end;
};

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The part of @offset, @size that lies below @limit; empty when there is none. */
static struct span clip(uint64_t offset, uint64_t size, uint64_t limit)
{
	struct span s = { min_u64(offset, limit), 0 };

	s.end = s.start + min_u64(size, limit - s.start);
	return s;
}

/* Areas as sorted, disjoint spans of whole pages. Return: how many. */
static unsigned int direct_spans(const struct vf_region *region, uint64_t limit, uint64_t page,
				 struct span *span)
{
	unsigned int nr = 0, areas = region->nr_areas, kept = 0;

	if (areas > VF_REGION_AREAS_MAX)
		areas = VF_REGION_AREAS_MAX;
	for (unsigned int i = 0; i < areas; i++) {
		struct span s = clip(region->areas[i].offset, region->areas[i].size, limit);
		unsigned int at = nr;

		s.start = s.start + ((0 - s.start) & (page - 1));
		s.end &= ~(page - 1);
		if (s.start >= s.end)
			continue;
		while (at && span[at - 1].start > s.start) {
			span[at] = span[at - 1];
			at--;
		}
		span[at] = s;
		nr++;
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (kept && span[i].start <= span[kept - 1].end) {
			if (span[i].end > span[kept - 1].end)
				span[kept - 1].end = span[i].end;
			continue;
		}
		span[kept++] = span[i];
	}
	return kept;
}

/* Cut the pages that @hole touches out of @span. Return: the new number. */
static unsigned int cut(struct span *span, unsigned int nr, struct span hole, uint64_t page)
{
	struct span old[VMM_PAGES_MAX];
	unsigned int out = 0;

	if (hole.start >= hole.end)
		return nr;
	hole.start &= ~(page - 1);
	hole.end = hole.end + ((0 - hole.end) & (page - 1));
	memcpy(old, span, nr * sizeof(*span));
	for (unsigned int i = 0; i < nr; i++) {
		struct span before = { old[i].start, min_u64(old[i].end, hole.start) };
		struct span after = { old[i].start > hole.end ? old[i].start : hole.end,
				      old[i].end };

		if (before.start < before.end)
			span[out++] = before;
		if (after.start < after.end)
			span[out++] = after;
	}
	return out;
}

static void add(struct vmm_pages *out, uint64_t start, uint64_t end, bool direct)
{
	if (start < end && out->nr < VMM_PAGES_MAX)
		out->piece[out->nr++] = (struct vmm_piece){ start, end - start, direct };
}

void vmm_pages_split(uint64_t bar_size, const struct vf_region *region, uint64_t page,
		     const struct vmm_hole *hole, unsigned int nr_holes, struct vmm_pages *out)
{
	/* Room for every area cut by every hole that callers have. */
	struct span span[VMM_PAGES_MAX];
	uint64_t limit = min_u64(bar_size, region->size);
	unsigned int nr = direct_spans(region, limit, page, span);
	uint64_t at = 0;

	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < nr_holes && i < 2; i++)
		nr = cut(span, nr, clip(hole[i].offset, hole[i].size, limit), page);
	for (unsigned int i = 0; i < nr; i++) {
		add(out, at, span[i].start, false);
		add(out, span[i].start, span[i].end, true);
		at = span[i].end;
	}
	add(out, at, bar_size, false);
}
