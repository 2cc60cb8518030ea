// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <mt/pat.h>

#include "ranges.h"

#define STEPS_MAX (1u << 16)

static void print_range(struct bp_print *p, const struct mt_range *r)
{
	bp_print_object(p, NULL);
	bp_print_hex(p, "start", "  %s", 13, r->start);
	bp_print_hex(p, "end", "-%s", 13, r->last);
	bp_print_str(p, "type", "  %s", mt_type_name(r->type));
	bp_print_bool(p, "undefined", NULL, r->undefined);
	bp_print_text(p, "%s\n",
		      r->undefined ? "  (overlap that the manuals leave undefined)" : "");
	bp_print_object_end(p);
}

unsigned int mt_print_ranges(struct bp_print *p, const struct mt_map *map)
{
	const uint64_t end = (1ull << map->regs.maxphyaddr) - 1;
	unsigned int undefined = 0;
	uint32_t steps = STEPS_MAX;
	struct mt_range r = { 0 };
	bool more = true;

	bp_print_array(p, "ranges");
	for (unsigned int shown = 0; more && shown < MT_RANGES_SHOWN; shown++) {
		bool whole = mt_map_stretch(map, shown ? r.last + 1 : 0, end, &steps, &r);

		print_range(p, &r);
		undefined += r.undefined;
		more = whole && r.last < end;
	}
	bp_print_array_end(p);
	bp_print_bool(p, "truncated", NULL, r.last != end);
	if (r.last != end)
		bp_print_text(p, "  and so on: a mask with holes repeats its range\n");
	return undefined;
}

void mt_print_pat(struct bp_print *p, uint64_t pat)
{
	bp_print_array(p, "pat");
	bp_print_text(p, "PAT:");
	for (unsigned int i = 0; i < MT_PAT_ENTRIES; i++)
		bp_print_str(p, NULL, " %s", mt_type_name(mt_pat_entry(pat, i)));
	bp_print_text(p, "\n");
	bp_print_array_end(p);
}
