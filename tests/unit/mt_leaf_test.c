// SPDX-License-Identifier: GPL-2.0-only
/* Bits of PAT, page-table entries, EPT and NPT leaves. */
#include <errno.h>

#include <mt/leaf.h>
#include "suite.h"

#define OTHER_BITS 0x8000123456789067ull /* a plausible 4 KiB leaf; no PWT, PCD, PAT */

START_TEST(pat_index_bits_are_where_the_manual_puts_them)
{
	/* PWT is bit 3, PCD bit 4, PAT bit 7 of a 4 KiB entry and bit 12 of larger ones. */
	ck_assert_uint_eq(mt_pte_index(0x008, MT_4K), 1);
	ck_assert_uint_eq(mt_pte_index(0x010, MT_4K), 2);
	ck_assert_uint_eq(mt_pte_index(0x080, MT_4K), 4);
	ck_assert_uint_eq(mt_pte_index(0x098, MT_4K), 7);
	ck_assert_uint_eq(mt_pte_index(0x1000, MT_4K), 0);
	ck_assert_uint_eq(mt_pte_index(0x1080, MT_2M), 4);
	ck_assert_uint_eq(mt_pte_index(0x0080, MT_2M), 0); /* bit 7 is the page-size bit there */
	ck_assert_uint_eq(mt_pte_index(0x1000, MT_1G), 4);
	ck_assert_uint_eq(mt_pte_index(0x1018, MT_1G), 7);
	ck_assert_uint_eq(mt_table_index(0x1098), 3);
	ck_assert_uint_eq(mt_table_index(0x08), 1);
	ck_assert_uint_eq(mt_table_index(0x10), 2);
}
END_TEST

START_TEST(setting_an_index_touches_nothing_else)
{
	static const enum mt_level levels[] = { MT_4K, MT_2M, MT_1G };

	for (int l = 0; l < 3; l++) {
		uint64_t bits = 0x18 | (levels[l] == MT_4K ? 0x80 : 0x1000);

		for (unsigned int i = 0; i < 8; i++) {
			uint64_t zeros = mt_pte_with_index(0, levels[l], i);
			uint64_t ones = mt_pte_with_index(~0ull, levels[l], i);

			ck_assert_uint_eq(mt_pte_index(zeros, levels[l]), i);
			ck_assert_uint_eq(mt_pte_index(ones, levels[l]), i);
			ck_assert_uint_eq(zeros & ~bits, 0);
			ck_assert_uint_eq(ones | bits, ~0ull);
		}
	}
}
END_TEST

START_TEST(pat_entries_by_place_and_by_type)
{
	static const int reset[] = { 6, 4, 7, 0, 6, 4, 7, 0 };
	static const int linux_pat[] = { 6, 1, 7, 0, 6, 5, 7, 4 };

	for (unsigned int i = 0; i < 8; i++) {
		ck_assert_int_eq(mt_pat_entry(MT_PAT_RESET, i), reset[i]);
		ck_assert_int_eq(mt_pat_entry(MT_PAT_LINUX, i), linux_pat[i]);
	}
	ck_assert_int_eq(mt_pat_find(MT_PAT_LINUX, MT_WC), 1);
	ck_assert_int_eq(mt_pat_find(MT_PAT_LINUX, MT_WB), 0); /* the lowest of two */
	ck_assert_int_eq(mt_pat_find(MT_PAT_LINUX, MT_WP), 5);
	ck_assert_int_eq(mt_pat_find(MT_PAT_LINUX, MT_WT), 7);
	ck_assert_int_eq(mt_pat_find(MT_PAT_RESET, MT_WC), -ENOENT);
	ck_assert_int_eq(mt_pat_find(MT_PAT_RESET, MT_WP), -ENOENT);
	ck_assert_uint_eq(mt_pat_replace(MT_PAT_RESET, 2, MT_WC), 0x0007040600010406);
	ck_assert_uint_eq(mt_pat_replace(MT_PAT_RESET, 7, MT_WB), 0x0607040600070406);
	ck_assert(mt_pat_valid(MT_PAT_LINUX));
	ck_assert(!mt_pat_valid((MT_PAT_LINUX & ~0xffull) | 2));
	ck_assert(!mt_pat_valid(0x0800000000000000));
}
END_TEST

START_TEST(ept_type_is_bits_5_to_3_and_ipat_bit_6)
{
	enum mt_type t;
	bool ipat;

	for (unsigned int e = 0; e < 8; e++) {
		uint64_t leaf = 0x123456087 | (uint64_t)e << 3;
		bool good = e != 2 && e != 3 && e != 7;

		ck_assert_int_eq(mt_ept_decode(leaf, &t, &ipat), good ? 0 : -EINVAL);
		if (good) {
			ck_assert_int_eq(t, (int)e);
			ck_assert(!ipat);
			ck_assert_int_eq(mt_ept_decode(leaf | 0x40, &t, &ipat), 0);
			ck_assert(ipat);
		}
	}
}
END_TEST

START_TEST(ept_encoding_replaces_only_its_bits)
{
	uint64_t leaf = 0xdead;

	ck_assert_int_eq(mt_ept_encode(0x0123456789abc000 | 0x7f, MT_WC, false, &leaf), 0);
	ck_assert_uint_eq(leaf, 0x0123456789abc00f);
	ck_assert_int_eq(mt_ept_encode(~0ull, MT_UC, true, &leaf), 0);
	ck_assert_uint_eq(leaf, ~0x38ull);
	leaf = 0xdead;
	ck_assert_int_eq(mt_ept_encode(0, MT_UC_MINUS, false, &leaf), -EINVAL);
	ck_assert_int_eq(mt_ept_encode(0, MT_WC_PLUS, false, &leaf), -EINVAL);
	ck_assert_int_eq(mt_ept_encode(0, (enum mt_type)2, false, &leaf), -EINVAL);
	ck_assert_uint_eq(leaf, 0xdead);
}
END_TEST

START_TEST(npt_looks_the_index_up_in_the_host_pat)
{
	/* A host whose WC is index 6 only: PCD and PAT. */
	const uint64_t odd = 0x0001040600070406;
	uint64_t leaf;

	ck_assert_int_eq(mt_npt_encode(OTHER_BITS, MT_4K, MT_WC, MT_PAT_LINUX, &leaf), 0);
	ck_assert_uint_eq(leaf, OTHER_BITS | 0x08);
	ck_assert_int_eq(mt_npt_decode(leaf, MT_4K, MT_PAT_LINUX), MT_WC);
	ck_assert_int_eq(mt_npt_decode(leaf, MT_4K, MT_PAT_RESET), MT_WT);
	ck_assert_int_eq(mt_npt_encode(OTHER_BITS, MT_4K, MT_WC, odd, &leaf), 0);
	ck_assert_uint_eq(leaf, OTHER_BITS | 0x90);
	ck_assert_int_eq(mt_npt_encode(0xe7, MT_2M, MT_WC, odd, &leaf), 0);
	ck_assert_uint_eq(leaf, 0x10f7);
	ck_assert_int_eq(mt_npt_decode(0x10f7, MT_2M, odd), MT_WC);
	/* Back to WB: every bit of the old index goes. */
	ck_assert_int_eq(mt_npt_encode(0x10ff, MT_1G, MT_WB, odd, &leaf), 0);
	ck_assert_uint_eq(leaf, 0xe7);
	leaf = 0xdead;
	ck_assert_int_eq(mt_npt_encode(OTHER_BITS, MT_4K, MT_WC, MT_PAT_RESET, &leaf), -ENOENT);
	ck_assert_uint_eq(leaf, 0xdead);
}
END_TEST

SUITE("mt_leaf", pat_index_bits_are_where_the_manual_puts_them,
      setting_an_index_touches_nothing_else, pat_entries_by_place_and_by_type,
      ept_type_is_bits_5_to_3_and_ipat_bit_6, ept_encoding_replaces_only_its_bits,
      npt_looks_the_index_up_in_the_host_pat)
