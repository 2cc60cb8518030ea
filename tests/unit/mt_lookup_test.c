// SPDX-License-Identifier: GPL-2.0-only
/* Which type an address has: the precedences of Intel SDM vol. 3 and APM vol. 2 7.7.4. */
#include <stdio.h>
#include <string.h>

#include <mt/map.h>
#include "suite.h"

static struct mt_mtrr m;
static struct mt_map map;

static void start(unsigned int width, uint64_t def_type)
{
	ck_assert_int_eq(mt_mtrr_init(&m, width), 0);
	ck_assert_int_eq(mt_wrmsr(&m, 0x2ff, def_type), 0);
}

static void range(unsigned int n, uint64_t base, uint64_t size, unsigned int type)
{
	uint64_t reach = (1ull << m.maxphyaddr) - 1;

	ck_assert_int_eq(mt_wrmsr(&m, 0x200 + 2 * n, base | type), 0);
	ck_assert_int_eq(mt_wrmsr(&m, 0x201 + 2 * n, (~(size - 1) & reach) | 0x800), 0);
}

/* The registers and the map must say the same. */
static struct mt_range_type at(uint64_t addr)
{
	struct mt_range_type direct = mt_mtrr_type(&m, addr), mapped;

	mt_map_build(&map, &m);
	mapped = mt_map_type(&map, addr);
	ck_assert_msg(direct.type == mapped.type && direct.undefined == mapped.undefined,
		      "at %#lx the registers say %s, the map %s", addr, mt_type_name(direct.type),
		      mt_type_name(mapped.type));
	return direct;
}

static void is(uint64_t addr, enum mt_type type, bool undefined)
{
	struct mt_range_type t = at(addr);

	ck_assert_msg(t.type == type && t.undefined == undefined, "%#lx is %s%s, not %s", addr,
		      mt_type_name(t.type), t.undefined ? " (undefined)" : "", mt_type_name(type));
}

START_TEST(disabled_means_uncached_everywhere)
{
	start(40, 0x406); /* E clear, FE set, default WB */
	range(0, 0x80000000, 0x10000000, MT_WC);
	ck_assert_int_eq(mt_wrmsr(&m, 0x250, 0x0606060606060606), 0);
	is(0, MT_UC, false);
	is(0x80000000, MT_UC, false);
	is(0x123456789000, MT_UC, false);
	ck_assert_int_eq(mt_wrmsr(&m, 0x2ff, 0xc06), 0);
	is(0, MT_WB, false);
	is(0x80000000, MT_WC, false);
}
END_TEST

START_TEST(fixed_ranges_lie_where_the_manual_says)
{
	/* MSR, byte, first and last byte of the range. */
	static const struct {
		uint32_t msr;
		unsigned int byte;
		uint64_t first, last;
	} places[] = {
		{ 0x250, 0, 0x00000, 0x0ffff }, { 0x250, 7, 0x70000, 0x7ffff },
		{ 0x258, 0, 0x80000, 0x83fff }, { 0x258, 7, 0x9c000, 0x9ffff },
		{ 0x259, 0, 0xa0000, 0xa3fff }, { 0x259, 7, 0xbc000, 0xbffff },
		{ 0x268, 0, 0xc0000, 0xc0fff }, { 0x268, 7, 0xc7000, 0xc7fff },
		{ 0x269, 0, 0xc8000, 0xc8fff }, { 0x26a, 3, 0xd3000, 0xd3fff },
		{ 0x26b, 0, 0xd8000, 0xd8fff }, { 0x26c, 0, 0xe0000, 0xe0fff },
		{ 0x26d, 0, 0xe8000, 0xe8fff }, { 0x26e, 0, 0xf0000, 0xf0fff },
		{ 0x26f, 7, 0xff000, 0xfffff },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		start(40, 0xc06);
		ck_assert_int_eq(mt_wrmsr(&m, places[i].msr, 4ull << 8 * places[i].byte), 0);
		is(places[i].first, MT_WT, false);
		is(places[i].last, MT_WT, false);
		if (places[i].first)
			is(places[i].first - 1, MT_UC, false);
		is(places[i].last + 1, places[i].last == 0xfffff ? MT_WB : MT_UC, false);
	}
}
END_TEST

START_TEST(fixed_ranges_win_below_one_mebibyte)
{
	start(40, 0xc06);
	range(0, 0, 0x200000, MT_UC);
	ck_assert_int_eq(mt_wrmsr(&m, 0x259, 0x0101010101010101), 0);
	is(0xa0000, MT_WC, false);
	is(0x100000, MT_UC, false);
	/* FE clear: variable ranges reach down. */
	ck_assert_int_eq(mt_wrmsr(&m, 0x2ff, 0x806), 0);
	is(0xa0000, MT_UC, false);
	ck_assert_int_eq(mt_wrmsr(&m, 0x201, 0), 0);
	is(0xa0000, MT_WB, false);
}
END_TEST

START_TEST(overlaps_pair_by_pair)
{
	static const int types[] = { MT_UC, MT_WC, MT_WT, MT_WP, MT_WB };
	/* Rows and columns UC WC WT WP WB; '!' marks what the manuals leave undefined. */
	static const char *const expected[5][5] = {
		{ "UC", "UC", "UC", "UC", "UC" },
		{ "UC", "WC", "WC!", "WC!", "WC!" },
		{ "UC", "WC!", "WT", "WT!", "WT" },
		{ "UC", "WC!", "WT!", "WP", "WP!" },
		{ "UC", "WC!", "WT", "WP!", "WB" },
	};

	for (int a = 0; a < 5; a++) {
		for (int b = 0; b < 5; b++) {
			struct mt_range_type t;
			char got[8];

			start(40, 0x800);
			range(3, 0x40000000, 0x10000000, types[a]);
			range(6, 0x48000000, 0x01000000, types[b]);
			t = at(0x48000000);
			snprintf(got, sizeof(got), "%s%s", mt_type_name(t.type),
				 t.undefined ? "!" : "");
			ck_assert_msg(!strcmp(got, expected[a][b]), "%s over %s gives %s, not %s",
				      mt_type_name(types[a]), mt_type_name(types[b]), got,
				      expected[a][b]);
			is(0x47ffffff, types[a], false);
			is(0x49000000, types[a], false);
		}
	}
}
END_TEST

START_TEST(uncached_wins_even_behind_an_undefined_pair)
{
	start(40, 0x806);
	range(0, 0x40000000, 0x1000000, MT_WC);
	range(1, 0x40000000, 0x1000000, MT_WB);
	is(0x40000000, MT_WC, true);
	range(7, 0x40000000, 0x1000000, MT_UC);
	is(0x40000000, MT_UC, false);
}
END_TEST

START_TEST(three_ranges_agree_or_are_undefined)
{
	start(40, 0x800);
	range(0, 0x40000000, 0x1000000, MT_WB);
	range(1, 0x40000000, 0x1000000, MT_WT);
	range(2, 0x40000000, 0x1000000, MT_WB);
	is(0x40000000, MT_WT, false);
	range(3, 0x40000000, 0x1000000, MT_WP);
	is(0x40000000, MT_WT, true);
}
END_TEST

START_TEST(a_range_ends_at_the_width)
{
	start(36, 0x806);
	ck_assert_int_eq(mt_wrmsr(&m, 0x200, 0x0), 0);
	ck_assert_int_eq(mt_wrmsr(&m, 0x201, 0x800), 0); /* no mask bit: all addresses */
	is(0x100000, MT_UC, false);
	is(0xfffffffff, MT_UC, false);
	is(0x1000000000, MT_WB, false);
	is(0x8000001000, MT_WB, false);
	is(~0ull, MT_WB, false);
}
END_TEST

START_TEST(a_base_off_its_mask_is_cut_to_it)
{
	start(40, 0x806);
	ck_assert_int_eq(mt_wrmsr(&m, 0x200, 0x40345001), 0);
	ck_assert_int_eq(mt_wrmsr(&m, 0x201, 0xfffff00800), 0);
	is(0x40300000, MT_WC, false);
	is(0x4030ffff, MT_WC, false);
	is(0x403fffff, MT_WC, false);
	is(0x40400000, MT_WB, false);
	is(0x402fffff, MT_WB, false);
}
END_TEST

START_TEST(amd_hosts_have_a_second_default_above_four_gib)
{
	start(48, 0x800);
	m.wb_above_4g = 0x280000000;
	is(0xffffffff, MT_UC, false);
	is(0x100000000, MT_WB, false);
	is(0x27fffffff, MT_WB, false);
	is(0x280000000, MT_UC, false);
	range(0, 0x200000000, 0x40000000, MT_WC);
	is(0x200000000, MT_WC, false);
}
END_TEST

SUITE("mt_lookup", disabled_means_uncached_everywhere, fixed_ranges_lie_where_the_manual_says,
      fixed_ranges_win_below_one_mebibyte, overlaps_pair_by_pair,
      uncached_wins_even_behind_an_undefined_pair, three_ranges_agree_or_are_undefined,
      a_range_ends_at_the_width, a_base_off_its_mask_is_cut_to_it,
      amd_hosts_have_a_second_default_above_four_gib)
