// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <mt/mtrr.h>

#define FOUR_GIB 0x100000000ull

/* Three stretches of 64 KiB, 16 KiB and 4 KiB ranges, one after the other. */
void mt_fixed_range(unsigned int index, uint64_t *start, uint32_t *size)
{
	if (index < 8) {
		*size = 0x10000;
		*start = (uint64_t)index * *size;
	} else if (index < 24) {
		*size = 0x4000;
		*start = 0x80000 + (uint64_t)(index - 8) * *size;
	} else {
		*size = 0x1000;
		*start = 0xc0000 + (uint64_t)(index - 24) * *size;
	}
}

unsigned int mt_fixed_index(uint64_t addr)
{
	if (addr < 0x80000)
		return addr >> 16;
	if (addr < 0xc0000)
		return 8 + ((addr - 0x80000) >> 14);
	return 24 + ((addr - 0xc0000) >> 12);
}

/* What the ranges seen so far make of an address; starts as "nothing matched". */
struct overlap {
	enum mt_type type;
	bool any;
	bool uc;
	bool undefined;
};

static void overlap_add(struct overlap *o, enum mt_type type)
{
	o->uc |= type == MT_UC;
	if (!o->any) {
		o->any = true;
		o->type = type;
		return;
	}
	if (type == o->type)
		return;
	/* WT and WB mix to WT; the smaller encoding is that, and the more uncached of any two. */
	if (!((type == MT_WT || type == MT_WB) && (o->type == MT_WT || o->type == MT_WB)))
		o->undefined = true;
	if (type < o->type)
		o->type = type;
}

struct mt_range_type mt_mtrr_type(const struct mt_mtrr *m, uint64_t addr)
{
	const uint64_t beyond = ~0ull << m->maxphyaddr;
	struct overlap o = { .type = MT_UC };

	if (!(m->def_type & MT_DEF_TYPE_E))
		return (struct mt_range_type){ MT_UC, false };
	if (addr < MT_FIXED_END && m->def_type & MT_DEF_TYPE_FE) {
		unsigned int i = mt_fixed_index(addr);

		/* Three bits: on an AMD host bits 3 and 4 say where accesses are routed. */
		return (struct mt_range_type){ (enum mt_type)(m->fixed[i / 8] >> (i % 8 * 8) & 7),
					       false };
	}
	for (unsigned int i = 0; i < m->vcnt; i++) {
		const struct mt_variable *v = &m->variable[i];
		uint64_t mask = (v->mask & ~0xfffull) | beyond;

		if (v->mask & MT_PHYSMASK_VALID && !((addr ^ v->base) & mask))
			overlap_add(&o, (enum mt_type)(v->base & 0xff));
	}
	if (o.uc)
		return (struct mt_range_type){ MT_UC, false };
	if (o.any)
		return (struct mt_range_type){ o.type, o.undefined };
	if (addr >= FOUR_GIB && addr < m->wb_above_4g)
		return (struct mt_range_type){ MT_WB, false };
	return (struct mt_range_type){ (enum mt_type)(m->def_type & 0xff), false };
}
