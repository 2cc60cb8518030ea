// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <mt/map.h>

bool mt_map_stretch(const struct mt_map *map, uint64_t addr, uint64_t limit, uint32_t *steps,
		    struct mt_range *out)
{
	struct mt_range next;

	mt_map_next(map, addr, out);
	out->start = addr;
	while (out->last < limit) {
		if (!*steps)
			return false;
		--*steps;
		mt_map_next(map, out->last + 1, &next);
		if (next.type != out->type || next.undefined != out->undefined)
			break;
		out->last = next.last;
	}
	if (out->last > limit)
		out->last = limit;
	return true;
}
