// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "program.h"

#define PAGE 4096ull
#define MiB  (1ull << 20)
#define GiB  (1ull << 30)

uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	return rng_next(r) % n;
}

unsigned int rng_type(struct rng *r)
{
	static const unsigned int types[] = { MT_UC, MT_WC, MT_WT, MT_WP, MT_WB };

	return types[rng_below(r, 5)];
}

static void edge(struct program *p, uint64_t at, uint64_t end)
{
	if (at < end)
		p->edges[p->nr_edges++] = at;
}

/* Ranges gather around few places, so that they overlap. */
static uint64_t place(struct rng *r, uint64_t end)
{
	switch (rng_below(r, 4)) {
	case 0: return rng_below(r, 4 * MiB);
	case 1: return 3 * GiB + rng_below(r, 2 * GiB);
	case 2: return end - 1 - rng_below(r, 64 * MiB);
	default: return rng_below(r, end);
	}
}

static int make_range(struct rng *r, struct program *p, unsigned int n, bool tidy)
{
	unsigned int width = p->m.maxphyaddr;
	uint64_t end = 1ull << width, size, base, mask;
	/* One in eight is there, but does not count. */
	bool valid = rng_below(r, 8);
	/* Small and large sizes alike; the largest is the whole address space. */
	unsigned int bits = 12 + (unsigned int)rng_below(r, width - 11);

	size = 1ull << bits;
	base = place(r, end) & ~(PAGE - 1);
	mask = (end - 1) & ~(size - 1);
	if (tidy || rng_below(r, 4))
		base &= mask;
	if (!tidy && !rng_below(r, 4))
		mask &= ~(PAGE << rng_below(r, width - 12));
	/* The lowest one and all above it: no hole. */
	if (valid && mask && mask + (mask & -mask) != end)
		p->holes = true;
	if (valid && base & ~mask)
		p->unaligned = true;
	edge(p, base & mask, end);
	edge(p, (base & mask) + size, end);
	if (mt_wrmsr(&p->m, MT_MSR_PHYSBASE(n), base | rng_type(r)))
		return -EINVAL;
	return mt_wrmsr(&p->m, MT_MSR_PHYSMASK(n), mask | (valid ? MT_PHYSMASK_VALID : 0));
}

static uint64_t fixed_value(struct rng *r)
{
	uint64_t one = rng_type(r), value = 0;
	bool same = rng_below(r, 2);

	for (unsigned int i = 0; i < 8; i++)
		value |= (same ? one : rng_type(r)) << (8 * i);
	return value;
}

int program_make(struct rng *r, unsigned int maxphyaddr, bool tidy, struct program *p)
{
	unsigned int nr = (unsigned int)rng_below(r, MT_VARIABLE_RANGES + 1);
	uint64_t def_type = rng_type(r);
	int err;

	*p = (struct program){ 0 };
	err = mt_mtrr_init(&p->m, maxphyaddr);
	for (unsigned int i = 0; !err && i < nr; i++)
		err = make_range(r, p, i, tidy);
	for (unsigned int i = 0; !err && i < MT_FIXED_REGISTERS; i++)
		err = mt_wrmsr(&p->m, mt_fixed_msr(i), fixed_value(r));
	def_type |= rng_below(r, 12) ? MT_DEF_TYPE_E : 0;
	def_type |= rng_below(r, 3) ? MT_DEF_TYPE_FE : 0;
	if (!err)
		err = mt_wrmsr(&p->m, MT_MSR_DEF_TYPE, def_type);
	edge(p, 0, UINT64_MAX);
	edge(p, MT_FIXED_END, UINT64_MAX);
	edge(p, 4 * GiB, 1ull << maxphyaddr);
	edge(p, rng_below(r, MT_FIXED_END) & ~(PAGE - 1), UINT64_MAX);
	return err ? -EINVAL : 0;
}
