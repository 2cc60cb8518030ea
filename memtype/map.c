// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <mt/map.h>

#define FOUR_GIB   0x100000000ull
#define JOIN_STEPS 64
#define POINTS	   (1 + 2 * MT_VARIABLE_MAX + 2)

/* A valid variable range in the terms of the look-up: addr matches when (addr & mask) == base. */
struct pattern {
	uint64_t base;
	uint64_t mask;
};

static bool pattern_of(const struct mt_mtrr *m, unsigned int i, struct pattern *p)
{
	const struct mt_variable *v = &m->variable[i];

	p->mask = (v->mask & ~0xfffull) | ~0ull << m->maxphyaddr;
	p->base = v->base & p->mask;
	return v->mask & MT_PHYSMASK_VALID;
}

static bool has_holes(const struct pattern *p)
{
	return ~p->mask & (~p->mask + 1);
}

/* The last address that can match; the first is p->base itself. */
static uint64_t pattern_last(const struct pattern *p)
{
	return p->base | ~p->mask;
}

static unsigned int top_bit(uint64_t v)
{
	return 63 - (unsigned int)__builtin_clzll(v);
}

/*
 * The first address after addr at which a pattern starts or stops matching;
 * false when it never does again.
 */
static bool next_edge(const struct pattern *p, uint64_t addr, uint64_t *edge)
{
	uint64_t wrong = (addr ^ p->base) & p->mask, free, below;
	unsigned int bit;

	if (!wrong) {
		/* Counting up, the lowest bit that the mask looks at is the first to go wrong. */
		uint64_t run = (p->mask & -p->mask) - 1;

		*edge = (addr | run) + 1;
		return true;
	}
	bit = top_bit(wrong);
	if (!(p->base >> bit & 1)) {
		/* Too large at this bit: the next free bit above has to carry. */
		free = ~p->mask & ~addr & ~0ull << bit;
		if (!free)
			return false;
		bit = top_bit(free & -free);
		addr |= 1ull << bit;
		below = (1ull << bit) - 1;
	} else {
		below = bit == 63 ? ~0ull : (2ull << bit) - 1;
	}
	*edge = (addr & ~below) | (p->base & below);
	return true;
}

static void append(struct mt_map *map, uint64_t start, struct mt_range_type t, bool scattered)
{
	struct mt_map_entry e = {
		.start = start,
		.type = scattered ? 0 : (uint8_t)t.type,
		.undefined = !scattered && t.undefined,
		.scattered = scattered,
	};

	if (map->count) {
		const struct mt_map_entry *prev = &map->entries[map->count - 1];

		if (prev->type == e.type && prev->undefined == e.undefined &&
		    prev->scattered == e.scattered)
			return;
	}
	map->entries[map->count++] = e;
}

/* Addresses from `from` on at which the type may change, in order. */
static unsigned int collect(const struct mt_mtrr *m, uint64_t from, uint64_t points[POINTS])
{
	uint64_t candidates[2];
	unsigned int n = 0;

	points[n++] = from;
	for (unsigned int i = 0; i <= m->vcnt; i++) {
		struct pattern p;

		if (i == m->vcnt) {
			if (m->wb_above_4g <= FOUR_GIB)
				break;
			candidates[0] = FOUR_GIB;
			candidates[1] = m->wb_above_4g;
		} else {
			if (!pattern_of(m, i, &p))
				continue;
			candidates[0] = p.base;
			candidates[1] = pattern_last(&p) + 1;
		}
		for (unsigned int c = 0; c < 2; c++) {
			unsigned int at = n;

			if (candidates[c] <= from)
				continue;
			for (; points[at - 1] > candidates[c]; at--)
				points[at] = points[at - 1];
			points[at] = candidates[c];
			n++;
		}
	}
	return n;
}

static bool in_scattered(const struct mt_mtrr *m, uint64_t addr)
{
	for (unsigned int i = 0; i < m->vcnt; i++) {
		struct pattern p;

		if (pattern_of(m, i, &p) && has_holes(&p) && addr >= p.base &&
		    addr <= pattern_last(&p))
			return true;
	}
	return false;
}

void mt_map_build(struct mt_map *map, const struct mt_mtrr *m)
{
	uint64_t points[POINTS], from = 0;
	unsigned int n;

	map->count = 0;
	map->regs = *m;
	if (!(m->def_type & MT_DEF_TYPE_E)) {
		append(map, 0, (struct mt_range_type){ MT_UC, false }, false);
		return;
	}
	if (m->def_type & MT_DEF_TYPE_FE) {
		for (unsigned int i = 0; i < MT_FIXED_RANGES; i++) {
			uint64_t start;
			uint32_t size;

			mt_fixed_range(i, &start, &size);
			append(map, start, mt_mtrr_type(m, start), false);
		}
		from = MT_FIXED_END;
	}
	n = collect(m, from, points);
	for (unsigned int i = 0; i < n; i++)
		if (!i || points[i] != points[i - 1])
			append(map, points[i], mt_mtrr_type(m, points[i]),
			       in_scattered(m, points[i]));
}

static unsigned int find(const struct mt_map *map, uint64_t addr)
{
	unsigned int low = 0, high = map->count;

	while (high - low > 1) {
		unsigned int mid = (low + high) / 2;

		if (map->entries[mid].start <= addr)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static uint64_t entry_last(const struct mt_map *map, unsigned int i)
{
	return i + 1 < map->count ? map->entries[i + 1].start - 1 : ~0ull;
}

struct mt_range_type mt_map_type(const struct mt_map *map, uint64_t addr)
{
	const struct mt_map_entry *e = &map->entries[find(map, addr)];

	if (e->scattered)
		return mt_mtrr_type(&map->regs, addr);
	return (struct mt_range_type){ (enum mt_type)e->type, e->undefined };
}

/* The first address after addr where any range starts or stops to match, at most last + 1. */
static bool next_change(const struct mt_mtrr *m, uint64_t addr, uint64_t last, uint64_t *out)
{
	bool found = false;

	for (unsigned int i = 0; i < m->vcnt; i++) {
		struct pattern p;
		uint64_t edge;

		if (!pattern_of(m, i, &p) || !next_edge(&p, addr, &edge) || edge > last)
			continue;
		if (!found || edge < *out)
			*out = edge;
		found = true;
	}
	if (m->wb_above_4g > FOUR_GIB) {
		const uint64_t edges[] = { FOUR_GIB, m->wb_above_4g };

		for (unsigned int i = 0; i < 2; i++) {
			if (edges[i] <= addr || edges[i] > last || (found && edges[i] >= *out))
				continue;
			*out = edges[i];
			found = true;
		}
	}
	return found;
}

void mt_map_next(const struct mt_map *map, uint64_t addr, struct mt_range *out)
{
	unsigned int i = find(map, addr);
	const struct mt_map_entry *e = &map->entries[i];
	struct mt_range_type t, after;
	uint64_t edge = addr;

	out->last = entry_last(map, i);
	if (!e->scattered) {
		out->start = e->start;
		out->type = (enum mt_type)e->type;
		out->undefined = e->undefined;
		return;
	}
	t = mt_mtrr_type(&map->regs, addr);
	out->start = addr;
	out->type = t.type;
	out->undefined = t.undefined;
	for (unsigned int step = 0; next_change(&map->regs, edge, out->last, &edge); step++) {
		after = mt_mtrr_type(&map->regs, edge);
		if (after.type != t.type || after.undefined != t.undefined || step == JOIN_STEPS) {
			out->last = edge - 1;
			return;
		}
	}
}

bool mt_map_uniform(const struct mt_map *map, uint64_t start, uint64_t last, enum mt_type *type)
{
	enum mt_type first = MT_UC;
	uint64_t addr = start;

	for (unsigned int step = 0; step < MT_MAP_RANGES; step++) {
		struct mt_range r;

		mt_map_next(map, addr, &r);
		if (!step)
			first = r.type;
		else if (r.type != first)
			return false;
		if (r.last >= last) {
			*type = first;
			return true;
		}
		addr = r.last + 1;
	}
	return false;
}

/* Whether look-ups in scattered blocks of both go to registers that mean the same. */
static bool same_scatter(const struct mt_mtrr *a, const struct mt_mtrr *b)
{
	unsigned int i = 0, j = 0;

	if (a->def_type != b->def_type || a->wb_above_4g != b->wb_above_4g)
		return false;
	for (;; i++, j++) {
		struct pattern p = { 0 }, q = { 0 };

		while (i < a->vcnt && !pattern_of(a, i, &p))
			i++;
		while (j < b->vcnt && !pattern_of(b, j, &q))
			j++;
		if (i == a->vcnt || j == b->vcnt)
			return i == a->vcnt && j == b->vcnt;
		if (p.base != q.base || p.mask != q.mask ||
		    (a->variable[i].base & 0xff) != (b->variable[j].base & 0xff))
			return false;
	}
}

bool mt_map_diff(const struct mt_map *a, const struct mt_map *b, uint64_t addr, uint64_t *start,
		 uint64_t *last)
{
	unsigned int i = find(a, addr), j = find(b, addr);

	for (;;) {
		uint64_t end_a = entry_last(a, i), end_b = entry_last(b, j);
		uint64_t end = end_a < end_b ? end_a : end_b;
		const struct mt_map_entry *x = &a->entries[i], *y = &b->entries[j];
		bool same = x->scattered == y->scattered && x->type == y->type;

		if (same && x->scattered)
			same = same_scatter(&a->regs, &b->regs);
		if (!same) {
			*start = addr;
			*last = end;
			return true;
		}
		if (end == ~0ull)
			return false;
		addr = end + 1;
		i += end_a == end;
		j += end_b == end;
	}
}

bool mt_map_equal(const struct mt_map *a, const struct mt_map *b)
{
	uint64_t start, last;

	return !mt_map_diff(a, b, 0, &start, &last);
}
