// SPDX-License-Identifier: GPL-2.0-only
/* The machine's own registers: AMD's extra bits and where they send accesses. */
#include <errno.h>
#include <stdlib.h>

#include <mt/host.h>
#include <mt/map.h>
#include "suite.h"

#define LIVE_SYSCFG 0x740000 /* a usual value: all five bits but the visibility bit 19 */

static struct mt_host h;

static void start(enum mt_vendor vendor, uint32_t cap)
{
	ck_assert_int_eq(mt_host_init(&h, vendor, cap, 48), 0);
}

static void load(uint32_t msr, uint64_t v)
{
	ck_assert_msg(mt_host_load(&h, msr, v) == 0, "MSR %#x = %#lx was refused", msr, v);
}

static void goes(uint64_t addr, enum mt_route read, enum mt_route write)
{
	enum mt_route r, w;

	ck_assert_int_eq(mt_host_route(&h, addr, &r, &w), 0);
	ck_assert_msg(r == read && w == write, "%#lx: reads %s, writes %s", addr,
		      r == MT_ROUTE_DRAM ? "DRAM" : "MMIO", w == MT_ROUTE_DRAM ? "DRAM" : "MMIO");
}

START_TEST(more_ranges_than_a_guest_has)
{
	start(MT_INTEL, 0xd0a);
	load(0x212, 0xe0000001);
	load(0x213, 0xfffff0000800);
	load(0x2ff, 0xc06);
	ck_assert_int_eq(mt_mtrr_type(&h.mtrr, 0xe0001234).type, MT_WC);
	ck_assert_int_eq(mt_host_load(&h, 0x214, 0), -ENOENT);
	ck_assert_int_eq(mt_host_load(&h, MT_MSR_MTRRCAP, 0xd0a), 0);
	ck_assert_int_eq(mt_host_load(&h, MT_MSR_MTRRCAP, 0x508), -EINVAL);
	ck_assert_int_eq(mt_host_init(&h, MT_INTEL, 0x511, 48), -E2BIG);
	ck_assert_int_eq(mt_host_init(&h, MT_INTEL, 0x508, 60), -EINVAL);
}
END_TEST

START_TEST(routing_bits_are_amds_alone)
{
	start(MT_INTEL, 0x508);
	ck_assert_int_eq(mt_host_load(&h, 0x250, 0x1e1e1e1e1e1e1e1e), -EINVAL);
	ck_assert_int_eq(mt_host_load(&h, MT_MSR_SYSCFG, 0), -ENOENT);
	start(MT_AMD, 0x508);
	load(0x250, 0x1e1e1e1e1e1e1e1e);
	load(0x2ff, 0xc00);
	ck_assert_int_eq(mt_mtrr_type(&h.mtrr, 0x1000).type, MT_WB);
	ck_assert_int_eq(mt_host_load(&h, 0x250, 0x3e), -EINVAL);
	ck_assert_int_eq(mt_host_load(&h, 0x250, 0x1a), -EINVAL); /* type 2 */
	ck_assert_int_eq(mt_host_load(&h, 0x2ff, 0x1e), -EINVAL);
}
END_TEST

START_TEST(first_mebibyte_is_routed_by_its_own_bits)
{
	start(MT_AMD, 0x508);
	load(MT_MSR_TOP_MEM, 0x80000000);
	load(0x268, 0x0000000000180810); /* C0000 read only, C1000 write only, C2000 both */
	load(MT_MSR_SYSCFG, MT_SYSCFG_FIX_DRAM_EN | MT_SYSCFG_FIX_DRAM_MOD_EN);
	goes(0xc0000, MT_ROUTE_DRAM, MT_ROUTE_MMIO);
	goes(0xc1000, MT_ROUTE_MMIO, MT_ROUTE_DRAM);
	goes(0xc2fff, MT_ROUTE_DRAM, MT_ROUTE_DRAM);
	goes(0xc3000, MT_ROUTE_MMIO, MT_ROUTE_MMIO);
	/* Bits that read as zero because they are hidden say nothing. */
	{
		enum mt_route r, w;

		load(MT_MSR_SYSCFG, LIVE_SYSCFG);
		ck_assert_int_eq(mt_host_route(&h, 0xc0000, &r, &w), -ENODATA);
		load(MT_MSR_SYSCFG, 0);
		ck_assert_int_eq(mt_host_route(&h, 0xc0000, &r, &w), -ENODATA);
	}
	/* Without FixDramEn TOP_MEM decides there too. */
	load(MT_MSR_SYSCFG, MT_SYSCFG_VAR_DRAM_EN);
	goes(0xc3000, MT_ROUTE_DRAM, MT_ROUTE_DRAM);
}
END_TEST

START_TEST(top_of_memory_and_io_ranges)
{
	start(MT_AMD, 0x508);
	load(MT_MSR_SYSCFG, LIVE_SYSCFG);
	load(MT_MSR_TOP_MEM, 0xc0000000);
	load(MT_MSR_TOP_MEM2, 0x240000000);
	goes(0xbfffffff, MT_ROUTE_DRAM, MT_ROUTE_DRAM);
	goes(0xc0000000, MT_ROUTE_MMIO, MT_ROUTE_MMIO);
	goes(0xffffffff, MT_ROUTE_MMIO, MT_ROUTE_MMIO);
	goes(0x100000000, MT_ROUTE_DRAM, MT_ROUTE_DRAM);
	goes(0x23fffffff, MT_ROUTE_DRAM, MT_ROUTE_DRAM);
	goes(0x240000000, MT_ROUTE_MMIO, MT_ROUTE_MMIO);
	load(MT_MSR_IORR_BASE(1), 0x90000000 | 0x10);
	load(MT_MSR_IORR_MASK(1), 0xfffff0000800);
	goes(0x90000000, MT_ROUTE_DRAM, MT_ROUTE_MMIO);
	goes(0xa0000000, MT_ROUTE_DRAM, MT_ROUTE_DRAM);
	load(MT_MSR_SYSCFG, MT_SYSCFG_VAR_DRAM_EN);
	goes(0x100000000, MT_ROUTE_MMIO, MT_ROUTE_MMIO);
}
END_TEST

START_TEST(tom2_makes_high_memory_wb_by_default)
{
	struct mt_map map;

	start(MT_AMD, 0x508);
	load(0x2ff, 0xc00);
	load(MT_MSR_TOP_MEM2, 0x240000000);
	load(MT_MSR_SYSCFG, LIVE_SYSCFG);
	ck_assert_int_eq(mt_mtrr_type(&h.mtrr, 0x100000000).type, MT_WB);
	ck_assert_int_eq(mt_mtrr_type(&h.mtrr, 0x240000000).type, MT_UC);
	load(0x200, 0x200000000 | MT_WC);
	load(0x201, 0xffffc0000800);
	mt_map_build(&map, &h.mtrr);
	ck_assert_int_eq(mt_map_type(&map, 0x1ffffffff).type, MT_WB);
	ck_assert_int_eq(mt_map_type(&map, 0x200000000).type, MT_WC);
	ck_assert_int_eq(mt_map_type(&map, 0x240000000).type, MT_UC);
	/* The order in which registers are read must not matter, nor one bit alone suffice. */
	load(MT_MSR_TOP_MEM2, 0x280000000);
	ck_assert_int_eq(mt_mtrr_type(&h.mtrr, 0x240000000).type, MT_WB);
	load(MT_MSR_SYSCFG, LIVE_SYSCFG & ~MT_SYSCFG_TOM2_EN);
	ck_assert_int_eq(mt_mtrr_type(&h.mtrr, 0x100000000).type, MT_UC);
	load(MT_MSR_SYSCFG, LIVE_SYSCFG & ~MT_SYSCFG_TOM2_WB);
	ck_assert_int_eq(mt_mtrr_type(&h.mtrr, 0x100000000).type, MT_UC);
	load(MT_MSR_SYSCFG, LIVE_SYSCFG);
	load(0x2ff, 0x400);
	ck_assert_int_eq(mt_mtrr_type(&h.mtrr, 0x100000000).type, MT_UC);
}
END_TEST

START_TEST(table_7_13)
{
	static const enum mt_type types[] = { MT_UC, MT_WC, MT_WT, MT_WP, MT_WB };
	/* Rows (read, write) = MMIO MMIO, MMIO DRAM, DRAM MMIO, DRAM DRAM. */
	static const bool legal[4][5] = {
		{ true, true, true, true, false },
		{ true, false, false, false, false },
		{ true, false, false, true, false },
		{ true, true, true, false, true },
	};

	for (int row = 0; row < 4; row++)
		for (int t = 0; t < 5; t++)
			ck_assert_int_eq(mt_host_route_legal(row & 2 ? MT_ROUTE_DRAM : MT_ROUTE_MMIO,
							     row & 1 ? MT_ROUTE_DRAM : MT_ROUTE_MMIO,
							     types[t]), legal[row][t]);
}
END_TEST

SUITE("mt_host", more_ranges_than_a_guest_has, routing_bits_are_amds_alone,
      first_mebibyte_is_routed_by_its_own_bits, top_of_memory_and_io_ranges,
      tom2_makes_high_memory_wb_by_default, table_7_13)
