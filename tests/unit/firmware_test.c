// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state a guest is handed, checked by a look-up written from the manual's
 * text (Intel SDM vol. 3, "MTRR precedences"), not from the code under test.
 */
#include <errno.h>
#include <stdlib.h>

#include <mt/firmware.h>
#include "suite.h"

static uint64_t msr(const struct mt_msr *m, uint32_t index)
{
	for (int i = 0; i < MT_FIRMWARE_MSRS; i++)
		if (m[i].index == index)
			return m[i].value;
	ck_abort_msg("MSR %#x is missing", index);
	return 0;
}

static int type_at(const struct mt_msr *m, uint64_t addr)
{
	uint64_t def = msr(m, MT_MSR_DEF_TYPE);
	int found = -1;

	if (!(def & MT_DEF_TYPE_E))
		return MT_UC;
	if (addr < 0x100000 && def & MT_DEF_TYPE_FE) {
		if (addr < 0x80000)
			return msr(m, 0x250) >> (addr / 0x10000 * 8) & 0xff;
		if (addr < 0xc0000)
			return msr(m, addr < 0xa0000 ? 0x258 : 0x259) >>
				       (addr % 0x20000 / 0x4000 * 8) &
			       0xff;
		return msr(m, 0x268 + (addr - 0xc0000) / 0x8000) >> (addr % 0x8000 / 0x1000 * 8) &
		       0xff;
	}
	for (int i = 0; i < 8; i++) {
		uint64_t base = msr(m, 0x200 + 2 * i), mask = msr(m, 0x201 + 2 * i);

		if (mask & MT_PHYSMASK_VALID &&
		    (addr & mask & ~0xfffull) == (base & mask & ~0xfffull)) {
			ck_assert_msg(found < 0, "%#lx lies in two ranges", addr);
			found = base & 0xff;
		}
	}
	return found < 0 ? (int)(def & 0xff) : found;
}

START_TEST(linux_finds_mtrrs_enabled_and_the_hole_uncached)
{
	static const uint64_t starts[] = { 0x80000000, 0xc0000000, 0xe0000000,
					   0xc8000000, 0xfec00000, 0xbff00000 };
	static const unsigned int widths[] = { 32, 36, 40, 48, 52 };

	for (size_t s = 0; s < sizeof(starts) / sizeof(*starts); s++) {
		for (size_t w = 0; w < sizeof(widths) / sizeof(*widths); w++) {
			struct mt_msr m[MT_FIRMWARE_MSRS];
			uint64_t reserved = ~((1ull << widths[w]) - 1);

			ck_assert_int_eq(mt_firmware_state(starts[s], widths[w], m), 0);
			ck_assert_int_eq(type_at(m, starts[s] - 1), MT_WB);
			ck_assert_int_eq(type_at(m, starts[s]), MT_UC);
			ck_assert_int_eq(type_at(m, 0xfee00000), MT_UC);
			ck_assert_int_eq(type_at(m, 0xffffffff), MT_UC);
			ck_assert_int_eq(type_at(m, 0x100000), MT_WB);
			if (widths[w] > 32)
				ck_assert_int_eq(type_at(m, 0x100000000), MT_WB);
			for (int i = 0; i < 16; i++)
				ck_assert_uint_eq(msr(m, 0x200 + i) & reserved, 0);
		}
	}
}
END_TEST

START_TEST(the_first_mebibyte_is_memory_but_for_vga)
{
	struct mt_msr m[MT_FIRMWARE_MSRS];

	ck_assert_int_eq(mt_firmware_state(0xc0000000, 40, m), 0);
	for (uint64_t a = 0; a < 0x100000; a += 0x1000)
		ck_assert_int_eq(type_at(m, a), a >= 0xa0000 && a < 0xc0000 ? MT_UC : MT_WB);
	ck_assert_uint_eq(msr(m, MT_MSR_PAT), 0x0007040600070406);
	ck_assert_uint_eq(msr(m, MT_MSR_DEF_TYPE), 0xc06);
	ck_assert_uint_eq(m[MT_FIRMWARE_MSRS - 1].index, MT_MSR_DEF_TYPE);
}
END_TEST

START_TEST(impossible_requests_are_refused)
{
	struct mt_msr m[MT_FIRMWARE_MSRS];

	ck_assert_int_eq(mt_firmware_state(0x7ff00000, 40, m), -EINVAL);
	ck_assert_int_eq(mt_firmware_state(0x100000000, 40, m), -EINVAL);
	ck_assert_int_eq(mt_firmware_state(0xc0000001, 40, m), -EINVAL);
	ck_assert_int_eq(mt_firmware_state(0xc0000000, 31, m), -EINVAL);
	ck_assert_int_eq(mt_firmware_state(0xc0000000, 53, m), -EINVAL);
	/* 0x80100000 to 4 GiB needs 12 naturally aligned ranges; there are 8. */
	ck_assert_int_eq(mt_firmware_state(0x80100000, 40, m), -EINVAL);
}
END_TEST

START_TEST(default_uncached_leaves_the_hole_to_the_guest)
{
	static const struct {
		uint64_t low, high;
	} sizes[] = { { 0x100000, 0x100000000 },    { 0x10000000, 0x100000000 },
		      { 0x80000000, 0x100000000 },  { 0xc0000000, 0x140000000 },
		      { 0xc0000000, 0x440000000 },  { 0xe0000000, 0x200000000 },
		      { 0x80000000, 0x1000000000 } };

	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		uint64_t low = sizes[s].low, high = sizes[s].high;
		struct mt_msr m[MT_FIRMWARE_MSRS];
		int used = 0;

		ck_assert_int_eq(mt_firmware_wc_state(low, high, 44, m), 0);
		ck_assert_int_eq(type_at(m, 0xa0000), MT_UC);
		ck_assert_int_eq(type_at(m, 0), MT_WB);
		ck_assert_int_eq(type_at(m, low - 1), MT_WB);
		ck_assert_int_eq(type_at(m, low), MT_UC);
		ck_assert_int_eq(type_at(m, 0xfee00000), MT_UC);
		ck_assert_int_eq(type_at(m, 0xffffffff), MT_UC);
		if (high > 0x100000000) {
			ck_assert_int_eq(type_at(m, 0x100000000), MT_WB);
			ck_assert_int_eq(type_at(m, high / 2 + 0x80000000), MT_WB);
			ck_assert_int_eq(type_at(m, high - 1), MT_WB);
		}
		ck_assert_int_eq(type_at(m, high), MT_UC);
		for (int i = 0; i < 8; i++)
			used += !!(msr(m, 0x201 + 2 * i) & MT_PHYSMASK_VALID);
		ck_assert_int_le(used, 8 - MT_FIRMWARE_SPARE);
		ck_assert_uint_eq(m[MT_FIRMWARE_MSRS - 1].index, MT_MSR_DEF_TYPE);
	}
}
END_TEST

START_TEST(ram_that_takes_all_ranges_is_refused)
{
	struct mt_msr m[MT_FIRMWARE_MSRS];

	ck_assert_int_eq(mt_firmware_wc_state(0xbff00000, 0x100000000, 40, m), -ENOSPC);
	ck_assert_int_eq(mt_firmware_wc_state(0xc0000000, 0x1fff00000, 40, m), -ENOSPC);
	ck_assert_int_eq(mt_firmware_wc_state(0, 0x100000000, 40, m), -EINVAL);
	ck_assert_int_eq(mt_firmware_wc_state(0x80000001, 0x100000000, 40, m), -EINVAL);
	ck_assert_int_eq(mt_firmware_wc_state(0x80000000, 0xff000000, 40, m), -EINVAL);
	ck_assert_int_eq(mt_firmware_wc_state(0x80000000, 0x2000000000, 36, m), -EINVAL);
}
END_TEST

SUITE("firmware", default_uncached_leaves_the_hole_to_the_guest,
      ram_that_takes_all_ranges_is_refused, linux_finds_mtrrs_enabled_and_the_hole_uncached,
      the_first_mebibyte_is_memory_but_for_vga, impossible_requests_are_refused)
