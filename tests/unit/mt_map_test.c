// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps: that they say what the registers say, also for masks with holes, that a
 * walk covers every address once, and that differences are found.
 */
#include <stdlib.h>
#include <string.h>

#include <mt/firmware.h>
#include <mt/map.h>
#include "suite.h"
#include "tests/fuzz/mt_reference.h"

static struct mt_mtrr m;
static struct mt_map map, other;
static struct ref ref;

static void start(unsigned int width)
{
	ck_assert_int_eq(mt_mtrr_init(&m, width), 0);
	ref_reset(&ref, (int)width);
}

static void wr(uint32_t msr, uint64_t v)
{
	ck_assert_int_eq(mt_wrmsr(&m, msr, v), 0);
	ck_assert_int_eq(ref_wrmsr(&ref, msr, v), REF_OK);
}

/* Walk the whole map; every page of [0, 2^width) must lie in a piece of its own type. */
static unsigned long walk(uint64_t step)
{
	uint64_t addr = 0, seen = 0;
	unsigned long pieces = 0;
	struct mt_range r;

	mt_map_build(&map, &m);
	do {
		mt_map_next(&map, addr, &r);
		if (r.start != addr || r.last < r.start || r.start % 4096 || (r.last + 1) % 4096)
			ck_abort_msg("piece %#lx-%#lx at %#lx", r.start, r.last, addr);
		for (; seen <= r.last && seen < 1ull << m.maxphyaddr; seen += step) {
			bool undefined;
			int type = ref_type(&ref, seen, &undefined);

			/* Not ck_assert(): it reports its place each time. */
			if (type != (int)r.type || undefined != r.undefined)
				ck_abort_msg("%#lx: walk %s, manual %d", seen, mt_type_name(r.type),
					     type);
		}
		addr = r.last + 1;
		pieces++;
	} while (r.last != ~0ull);
	return pieces;
}

START_TEST(the_firmware_state_is_a_handful_of_ranges)
{
	static const struct mt_range expected[] = {
		{ 0, 0x9ffff, MT_WB, false },	       { 0xa0000, 0xbffff, MT_UC, false },
		{ 0xc0000, 0xbfffffff, MT_WB, false }, { 0xc0000000, 0xffffffff, MT_UC, false },
		{ 0x100000000, ~0ull, MT_WB, false },
	};
	struct mt_msr msrs[MT_FIRMWARE_MSRS];
	uint64_t addr = 0;

	start(40);
	ck_assert_int_eq(mt_firmware_state(0xc0000000, 40, msrs), 0);
	for (size_t i = 0; i < MT_FIRMWARE_MSRS; i++)
		wr(msrs[i].index, msrs[i].value);
	mt_map_build(&map, &m);
	ck_assert_uint_eq(map.count, 5);
	for (size_t i = 0; i < 5; i++) {
		struct mt_range r;

		mt_map_next(&map, addr, &r);
		ck_assert(r.start == expected[i].start && r.last == expected[i].last &&
			  r.type == expected[i].type && !r.undefined);
		addr = r.last + 1;
	}
	/* From the middle too. */
	{
		struct mt_range r;

		mt_map_next(&map, 0xc1234567, &r);
		ck_assert_uint_eq(r.start, 0xc0000000);
		ck_assert_uint_eq(r.last, 0xffffffff);
	}
	ck_assert_uint_eq(walk(4096 * 61), 5);
}
END_TEST

START_TEST(every_register_in_use_still_fits)
{
	start(36);
	wr(0x2ff, 0xc05);
	for (unsigned int i = 0; i < 11; i++)
		wr(mt_fixed_msr(i), i % 2 ? 0x0601060106010601 : 0x0405040504050405);
	for (unsigned int i = 0; i < 8; i++) {
		wr(0x200 + 2 * i, 0x100000000 + i * 0x10000000ull + (i % 2 ? MT_WC : MT_WT));
		wr(0x201 + 2 * i, 0xffff00800ull | (0xfffull << 24) | 0xf000000);
	}
	mt_map_build(&map, &m);
	ck_assert_uint_ge(map.count, 88 + 1 + 2 * 8);
	ck_assert_uint_le(map.count, MT_MAP_RANGES);
	walk(4096);
}
END_TEST

START_TEST(holes_in_masks_page_by_page)
{
	srandom(1);
	for (int round = 0; round < 10; round++) {
		static const int types[] = { 0, 1, 4, 5, 6 };

		start(32);
		wr(0x2ff, 0x800 | (round & 1 ? 0x400 : 0) | types[random() % 5]);
		for (unsigned int i = 0; i < 4; i++) {
			uint64_t base = (uint64_t)random() << 12 & 0xfffff000;
			/* High granularity, or the walk below would be a million pieces. */
			uint64_t mask = (uint64_t)random() << 20 & 0xfff00000;

			wr(0x200 + 2 * i, base | types[random() % 5]);
			wr(0x201 + 2 * i, (i == 3 && round % 3 ? mask : mask | 0xf0000000) | 0x800);
		}
		walk(4096);
	}
}
END_TEST

START_TEST(a_hostile_mask_costs_no_more_than_a_step)
{
	struct mt_range r;

	/* Every second page of 2^51, for each of eight registers. */
	start(52);
	wr(0x2ff, 0x806);
	for (unsigned int i = 0; i < 8; i++) {
		wr(0x200 + 2 * i, (uint64_t)i << 13 | MT_WC);
		wr(0x201 + 2 * i, 0xf000 | 0x800);
	}
	mt_map_build(&map, &m);
	ck_assert_uint_le(map.count, MT_MAP_RANGES);
	ck_assert_int_eq(mt_map_type(&map, 0x0008000000000000).type, MT_WC);
	ck_assert_int_eq(mt_map_type(&map, 0x0008000000001000).type, MT_WB);
	mt_map_next(&map, 0x0008000000001000, &r);
	ck_assert_uint_eq(r.start, 0x0008000000001000);
	ck_assert_uint_eq(r.last, 0x0008000000001fff);
	ck_assert_int_eq(r.type, MT_WB);
	mt_map_next(&map, r.last + 1, &r);
	ck_assert_int_eq(r.type, MT_WC);
	/* Beyond the width nothing matches, and nothing is scattered. */
	mt_map_next(&map, 1ull << 52, &r);
	ck_assert_uint_eq(r.last, ~0ull);
	ck_assert_int_eq(r.type, MT_WB);
}
END_TEST

START_TEST(pages_over_two_types_are_found)
{
	enum mt_type t;

	start(40);
	wr(0x2ff, 0x806);
	wr(0x200, 0xc0000000 | MT_UC);
	wr(0x201, 0xffffe00000 | 0x800); /* 2 MiB */
	wr(0x202, 0xd0000000 | MT_WC);
	wr(0x203, 0xfffffff000 | 0x800); /* one page */
	mt_map_build(&map, &m);
	ck_assert(mt_map_uniform(&map, 0xc0000000, 0xc01fffff, &t));
	ck_assert_int_eq(t, MT_UC);
	ck_assert(!mt_map_uniform(&map, 0xc0000000, 0xc0200000, &t));
	ck_assert(!mt_map_uniform(&map, 0xc0000000, 0xffffffff, &t));
	ck_assert(!mt_map_uniform(&map, 0xd0000000, 0xd01fffff, &t));
	ck_assert(mt_map_uniform(&map, 0xd0000000, 0xd0000fff, &t));
	ck_assert_int_eq(t, MT_WC);
	ck_assert(mt_map_uniform(&map, 0xd0001000, ~0ull, &t));
	ck_assert_int_eq(t, MT_WB);
}
END_TEST

START_TEST(differences_are_exactly_what_changed)
{
	uint64_t first, last;

	start(40);
	wr(0x2ff, 0x806);
	mt_map_build(&map, &m);
	wr(0x204, 0xc0000000 | MT_WC);
	wr(0x205, 0xffff000000 | 0x800); /* 16 MiB */
	mt_map_build(&other, &m);
	ck_assert(mt_map_diff(&map, &other, 0, &first, &last));
	ck_assert_uint_eq(first, 0xc0000000);
	ck_assert_uint_eq(last, 0xc0ffffff);
	ck_assert(!mt_map_diff(&map, &other, last + 1, &first, &last));
	ck_assert(mt_map_diff(&map, &other, 0xc0800000, &first, &last));
	ck_assert_uint_eq(first, 0xc0800000);
	ck_assert(!mt_map_equal(&map, &other));
	/* The same from another register is no difference. */
	wr(0x205, 0);
	wr(0x20e, 0xc0000000 | MT_WC);
	wr(0x20f, 0xffff000000 | 0x800);
	mt_map_build(&map, &m);
	ck_assert(mt_map_equal(&map, &other));
	/* Nor is one register turned into two halves. */
	wr(0x20f, 0xffff800000 | 0x800);
	wr(0x200, 0xc0800000 | MT_WC);
	wr(0x201, 0xffff800000 | 0x800);
	mt_map_build(&map, &m);
	ck_assert(mt_map_equal(&map, &other));
}
END_TEST

START_TEST(scattered_blocks_are_equal_only_by_equal_registers)
{
	uint64_t first, last;

	start(40);
	wr(0x2ff, 0x806);
	wr(0x200, 0x80000000 | MT_WC);
	wr(0x201, 0xfff0ff0000 | 0x800);
	mt_map_build(&map, &m);
	wr(0x201, 0);
	wr(0x20a, 0x80000000 | MT_WC);
	wr(0x20b, 0xfff0ff0000 | 0x800);
	mt_map_build(&other, &m);
	ck_assert(mt_map_equal(&map, &other));
	wr(0x20a, 0x80000000 | MT_WT);
	mt_map_build(&other, &m);
	ck_assert(mt_map_diff(&map, &other, 0, &first, &last));
	ck_assert_uint_eq(first, 0x80000000);
	ck_assert_uint_eq(last, 0x8f00ffff);
	ck_assert(!mt_map_diff(&map, &other, last + 1, &first, &last));
}
END_TEST

/* What is listed: neighbours joined, up to a limit, and never without end. */
START_TEST(stretches_join_neighbours)
{
	struct mt_range r;
	uint32_t steps = 1000;

	start(40);
	wr(MT_MSR_PHYSBASE(0), 0x80000000 | MT_WC);
	wr(MT_MSR_PHYSMASK(0), 0xffff000000 | MT_PHYSMASK_VALID);
	wr(MT_MSR_PHYSBASE(1), 0x81000000 | MT_WC);
	wr(MT_MSR_PHYSMASK(1), 0xffff000000 | MT_PHYSMASK_VALID);
	wr(MT_MSR_DEF_TYPE, MT_DEF_TYPE_E | MT_WB);
	mt_map_build(&map, &m);
	ck_assert(mt_map_stretch(&map, 0, ~0ull >> 24, &steps, &r));
	ck_assert(r.start == 0 && r.last == 0x7fffffff && r.type == MT_WB);
	ck_assert(mt_map_stretch(&map, 0x80000000, ~0ull >> 24, &steps, &r));
	ck_assert(r.start == 0x80000000 && r.last == 0x81ffffff && r.type == MT_WC);
	/* From inside, and not beyond the limit. */
	ck_assert(mt_map_stretch(&map, 0x80001000, 0x80001fff, &steps, &r));
	ck_assert(r.start == 0x80001000 && r.last == 0x80001fff && r.type == MT_WC);
	ck_assert_uint_gt(steps, 900);
	/* Every other page of the lowest 4 GiB, of the type that is there anyway. */
	wr(MT_MSR_PHYSBASE(0), MT_WB);
	wr(MT_MSR_PHYSMASK(0), 0xff00001000 | MT_PHYSMASK_VALID);
	wr(MT_MSR_PHYSMASK(1), 0);
	mt_map_build(&map, &m);
	steps = 100;
	ck_assert(!mt_map_stretch(&map, 0, ~0ull >> 24, &steps, &r));
	ck_assert_uint_eq(steps, 0);
	ck_assert(r.start == 0 && r.last < ~0ull >> 24 && r.type == MT_WB);
}
END_TEST

SUITE("mt_map", the_firmware_state_is_a_handful_of_ranges, every_register_in_use_still_fits,
      holes_in_masks_page_by_page, a_hostile_mask_costs_no_more_than_a_step,
      pages_over_two_types_are_found, differences_are_exactly_what_changed,
      scattered_blocks_are_equal_only_by_equal_registers, stretches_join_neighbours)
