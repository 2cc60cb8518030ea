// SPDX-License-Identifier: GPL-2.0-only
/* When leaves must be re-made, seen through what an operating system does at boot. */
#include <stdlib.h>

#include <mt/firmware.h>
#include <mt/role.h>
#include "suite.h"

static struct mt_mtrr m;
static struct mt_track t;
static unsigned int remade;

static void power_on(void)
{
	struct mt_msr msrs[MT_FIRMWARE_MSRS];

	ck_assert_int_eq(mt_mtrr_init(&m, 40), 0);
	ck_assert_int_eq(mt_firmware_state(0xc0000000, 40, msrs), 0);
	for (size_t i = 0; i < MT_FIRMWARE_MSRS; i++)
		ck_assert_int_eq(mt_wrmsr(&m, msrs[i].index, msrs[i].value), 0);
	mt_track_init(&t, &m, false);
	remade = 0;
}

/* A monitor that re-makes leaves for settled roles only. */
static struct mt_role made;

static void tell(bool cd)
{
	mt_track_update(&t, &m, cd);
	if (mt_role_settled(t.role) && !mt_role_equal(t.role, made)) {
		made = t.role;
		remade++;
	}
}

/* The manuals' sequence for changing MTRRs, telling the tracker after each write. */
static void change(uint64_t base, uint64_t mask)
{
	uint64_t def_type = m.def_type;

	tell(true);
	ck_assert_int_eq(mt_wrmsr(&m, 0x2ff, def_type & ~0xc00ull), 0);
	tell(true);
	ck_assert_int_eq(mt_wrmsr(&m, MT_MSR_PHYSBASE(5), base), 0);
	tell(true);
	ck_assert_int_eq(mt_wrmsr(&m, MT_MSR_PHYSMASK(5), mask), 0);
	tell(true);
	ck_assert_int_eq(mt_wrmsr(&m, 0x2ff, def_type), 0);
	tell(true);
	tell(false);
}

START_TEST(each_real_change_re_makes_once)
{
	power_on();
	made = t.role;
	change(0x800000000 | MT_WC, 0xffff000800);
	ck_assert_uint_eq(remade, 1);
	ck_assert_int_eq(mt_track_type(&t, 0x800000000).type, MT_WC);
	change(0x800000000 | MT_WC, 0xffff000800);
	ck_assert_uint_eq(remade, 1);
	change(0, 0);
	ck_assert_uint_eq(remade, 2);
	/* Where the firmware has UC, UC wins: no page changes its type. */
	change(0xe0000000 | MT_WC, 0xffff000800);
	ck_assert_uint_eq(remade, 2);
}
END_TEST

/* The same values again, on each processor, as every Linux does at boot: nothing to do. */
START_TEST(writing_what_is_there_costs_nothing)
{
	power_on();
	made = t.role;
	for (int cpu = 0; cpu < 64; cpu++)
		change(m.variable[5].base, m.variable[5].mask);
	ck_assert_uint_eq(remade, 0);
	ck_assert_uint_eq(t.updates, 64 * 6);
}
END_TEST

START_TEST(everything_the_role_names_changes_it)
{
	struct mt_role before;

	power_on();
	before = t.role;
	ck_assert(!mt_track_update(&t, &m, false));
	ck_assert(mt_track_update(&t, &m, true));
	ck_assert(!mt_role_equal(before, t.role));
	ck_assert(!mt_role_settled(t.role));
	ck_assert(mt_track_update(&t, &m, false));
	ck_assert(mt_role_equal(before, t.role));
	ck_assert(mt_role_settled(t.role));

	ck_assert_int_eq(mt_wrmsr(&m, 0x2ff, 0x406), 0);
	ck_assert(mt_track_update(&t, &m, false));
	ck_assert(!mt_role_settled(t.role));
	ck_assert_int_eq(mt_wrmsr(&m, 0x2ff, 0x806), 0);
	ck_assert(mt_track_update(&t, &m, false));
	ck_assert(!mt_role_equal(before, t.role));
	ck_assert_int_eq(mt_wrmsr(&m, 0x2ff, 0xc06), 0);
	ck_assert(mt_track_update(&t, &m, false));
	/* A new default is a new map. */
	before = t.role;
	ck_assert_int_eq(mt_wrmsr(&m, 0x2ff, 0xc00), 0);
	ck_assert(mt_track_update(&t, &m, false));
	ck_assert(!mt_role_equal(before, t.role));
}
END_TEST

START_TEST(pat_is_no_part_of_it)
{
	power_on();
	ck_assert_int_eq(mt_wrmsr(&m, MT_MSR_PAT, 0x0407050600070106), 0);
	ck_assert(!mt_track_update(&t, &m, false));
	ck_assert_uint_eq(t.changes, 0);
}
END_TEST

START_TEST(types_follow_the_role)
{
	power_on();
	ck_assert_int_eq(mt_track_type(&t, 0x100000).type, MT_WB);
	mt_track_update(&t, &m, true);
	ck_assert_int_eq(mt_track_type(&t, 0x100000).type, MT_UC);
	mt_track_update(&t, &m, false);
	ck_assert_int_eq(mt_track_type(&t, 0x100000).type, MT_WB);
	ck_assert_int_eq(mt_map_type(mt_track_map(&t), 0xc0000000).type, MT_UC);
	ck_assert_int_eq(mt_wrmsr(&m, 0x2ff, 0), 0);
	mt_track_update(&t, &m, false);
	ck_assert_int_eq(mt_track_type(&t, 0x100000).type, MT_UC);
}
END_TEST

SUITE("mt_role", each_real_change_re_makes_once, writing_what_is_there_costs_nothing,
      everything_the_role_names_changes_it, pat_is_no_part_of_it, types_follow_the_role)
