// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include <mt/host.h>

#define FOUR_GIB 0x100000000ull
#define ROUTING	 0x1818181818181818ull

/* TOP_MEM and TOP_MEM2 count in units of 8 MiB. */
#define TOP_BITS 0x000fffffff800000ull

#define IORR_RD	 0x10u
#define IORR_WR	 0x08u

int mt_host_init(struct mt_host *h, enum mt_vendor vendor, uint32_t cap, unsigned int maxphyaddr)
{
	*h = (struct mt_host){ .vendor = vendor };
	if ((cap & 0xff) > MT_VARIABLE_MAX)
		return -E2BIG;
	if (mt_mtrr_init(&h->mtrr, maxphyaddr))
		return -EINVAL;
	h->mtrr.cap = cap;
	h->mtrr.vcnt = cap & 0xff;
	return 0;
}

static bool tom2_forces_wb(const struct mt_host *h)
{
	const uint64_t both = MT_SYSCFG_TOM2_EN | MT_SYSCFG_TOM2_WB;

	return (h->syscfg & both) == both;
}

static int load_amd(struct mt_host *h, uint32_t msr, uint64_t value)
{
	if (msr == MT_MSR_SYSCFG)
		h->syscfg = value;
	else if (msr == MT_MSR_TOP_MEM)
		h->top_mem = value & TOP_BITS;
	else if (msr == MT_MSR_TOP_MEM2)
		h->top_mem2 = value & TOP_BITS;
	else if (msr >= MT_MSR_IORR_BASE(0) && msr < MT_MSR_IORR_BASE(MT_IORRS))
		*(msr & 1 ? &h->iorr[(msr - MT_MSR_IORR_BASE(0)) / 2].mask
			  : &h->iorr[(msr - MT_MSR_IORR_BASE(0)) / 2].base) = value;
	else
		return -ENOENT;
	h->mtrr.wb_above_4g = tom2_forces_wb(h) ? h->top_mem2 : 0;
	return 0;
}

int mt_host_load(struct mt_host *h, uint32_t msr, uint64_t value)
{
	if (msr == MT_MSR_MTRRCAP)
		return value == h->mtrr.cap ? 0 : -EINVAL;
	if (h->vendor == MT_AMD) {
		if (load_amd(h, msr, value) == 0)
			return 0;
		for (unsigned int i = 0; i < MT_FIXED_REGISTERS; i++) {
			if (msr != mt_fixed_msr(i))
				continue;
			if (mt_wrmsr_fault(&h->mtrr, msr, value & ~ROUTING) != MT_GP_NONE)
				return -EINVAL;
			h->mtrr.fixed[i] = value;
			return 0;
		}
	}
	return mt_wrmsr(&h->mtrr, msr, value);
}

static bool fixed_routes(const struct mt_host *h, uint64_t addr)
{
	return addr < MT_FIXED_END && h->syscfg & MT_SYSCFG_FIX_DRAM_EN;
}

/* The IORR that holds an address, NULL for none. */
static const struct mt_variable *iorr_at(const struct mt_host *h, uint64_t addr)
{
	for (unsigned int i = 0; i < MT_IORRS; i++) {
		const struct mt_variable *v = &h->iorr[i];
		uint64_t mask = (v->mask & ~0xfffull) | ~0ull << h->mtrr.maxphyaddr;

		if (v->mask & MT_PHYSMASK_VALID && !((addr ^ v->base) & mask))
			return v;
	}
	return NULL;
}

int mt_host_route(const struct mt_host *h, uint64_t addr, enum mt_route *read, enum mt_route *write)
{
	const struct mt_variable *iorr;
	bool dram;

	if (fixed_routes(h, addr)) {
		unsigned int i = mt_fixed_index(addr);
		unsigned int byte = h->mtrr.fixed[i / 8] >> (i % 8 * 8) & 0xff;

		if (!(h->syscfg & MT_SYSCFG_FIX_DRAM_MOD_EN))
			return -ENODATA;
		*read = byte & MT_FIXED_RDMEM ? MT_ROUTE_DRAM : MT_ROUTE_MMIO;
		*write = byte & MT_FIXED_WRMEM ? MT_ROUTE_DRAM : MT_ROUTE_MMIO;
		return 0;
	}
	if (!(h->syscfg & MT_SYSCFG_VAR_DRAM_EN))
		return -ENODATA;
	iorr = iorr_at(h, addr);
	if (iorr) {
		*read = iorr->base & IORR_RD ? MT_ROUTE_DRAM : MT_ROUTE_MMIO;
		*write = iorr->base & IORR_WR ? MT_ROUTE_DRAM : MT_ROUTE_MMIO;
		return 0;
	}
	if (addr < FOUR_GIB)
		dram = addr < h->top_mem;
	else
		dram = h->syscfg & MT_SYSCFG_TOM2_EN && addr < h->top_mem2;
	*read = *write = dram ? MT_ROUTE_DRAM : MT_ROUTE_MMIO;
	return 0;
}

bool mt_host_route_legal(enum mt_route read, enum mt_route write, enum mt_type type)
{
	if (read == MT_ROUTE_MMIO)
		return write == MT_ROUTE_MMIO ? type != MT_WB : type == MT_UC;
	return write == MT_ROUTE_MMIO ? type == MT_UC || type == MT_WP : type != MT_WP;
}
