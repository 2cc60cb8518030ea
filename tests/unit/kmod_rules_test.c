// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel module decides, without a kernel: ranges, look-up, leaves, releases. */
#include <errno.h>
#include <stdlib.h>

#include "suite.h"

#include "memtype/kmod/rules.c"

#define VERSION(a, b, c) ((a) << 16 | (b) << 8 | (c))
#define PAGE 0x1000ull
#define ALL 0x73u /* UC WC WT WP WB */

static int check_set(const struct kvm_memtype_range *r, uint32_t nr)
{
	return km_ranges_check(r, nr, KM_PAT, ALL);
}

static int check_one(uint64_t gpa, uint64_t size, uint32_t type, uint32_t flags)
{
	const struct kvm_memtype_range r = { gpa, size, type, flags };

	return check_set(&r, 1);
}

START_TEST(known_kernels)
{
	ck_assert_int_eq(km_kernel_of(VERSION(5, 10, 0)), KM_ARGS_LEVEL);
	ck_assert_int_eq(km_kernel_of(VERSION(5, 10, 255)), KM_ARGS_LEVEL);
	ck_assert_int_eq(km_kernel_of(VERSION(6, 1, 192)), KM_ARGS_SP);
	ck_assert_int_eq(km_kernel_of(VERSION(6, 12, 95)), KM_ARGS_SP);
}
END_TEST

START_TEST(unknown_kernels)
{
	static const uint32_t versions[] = {
		0, VERSION(4, 19, 0), VERSION(5, 4, 0), VERSION(5, 9, 255), VERSION(5, 11, 0),
		VERSION(5, 15, 1), VERSION(6, 0, 9), VERSION(6, 2, 0), VERSION(6, 11, 255),
		VERSION(6, 13, 0), VERSION(6, 18, 0), VERSION(7, 3, 4), VERSION(6, 112, 0), ~0u,
		/* The numbers of known ones, elsewhere. */
		VERSION(261, 10, 0), VERSION(262, 1, 0), 6 << 8 | 12, 5 << 8 | 10,
	};

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		ck_assert_msg(km_kernel_of(versions[i]) == KM_UNKNOWN, "%#x", versions[i]);
}
END_TEST

START_TEST(types_by_format)
{
	ck_assert_uint_eq(km_types(KM_EPT, 0), ALL);
	ck_assert_uint_eq(km_types(KM_PAT, MT_PAT_LINUX), ALL);
	/* The reset value has no WC and no WP. */
	ck_assert_uint_eq(km_types(KM_PAT, MT_PAT_RESET), 1u << MT_UC | 1u << MT_WT | 1u << MT_WB);
	ck_assert_uint_eq(km_types(KM_NO_TYPE, MT_PAT_LINUX), 0);
}
END_TEST

START_TEST(valid_ranges)
{
	const struct kvm_memtype_range touching[] = { { 0, PAGE, MT_WC, 0 },
						      { PAGE, PAGE, MT_WC, 0 },
						      { 4 * PAGE, PAGE, MT_UC, 0 } };

	ck_assert_int_eq(check_set(NULL, 0), 0);
	ck_assert_int_eq(check_one(0, PAGE, MT_UC, 0), 0);
	ck_assert_int_eq(check_one(0xfe000000, 0x800000, MT_WC, 0), 0);
	ck_assert_int_eq(check_one(0, ~0xfffull, MT_WB, 0), 0);
	ck_assert_int_eq(check_one(~0x1fffull, PAGE, MT_WP, 0), 0);
	ck_assert_int_eq(check_set(touching, 3), 0);
}
END_TEST

START_TEST(hostile_ranges)
{
	ck_assert_int_eq(check_one(0, 0, MT_WC, 0), -EINVAL);
	ck_assert_int_eq(check_one(1, PAGE, MT_WC, 0), -EINVAL);
	ck_assert_int_eq(check_one(0x800, PAGE, MT_WC, 0), -EINVAL);
	ck_assert_int_eq(check_one(0, PAGE + 1, MT_WC, 0), -EINVAL);
	ck_assert_int_eq(check_one(0, 0xfff, MT_WC, 0), -EINVAL);
	/* Wraps, also to exactly 0. */
	ck_assert_int_eq(check_one(~0xfffull, PAGE, MT_WC, 0), -EINVAL);
	ck_assert_int_eq(check_one(~0xfffull, 2 * PAGE, MT_WC, 0), -EINVAL);
	ck_assert_int_eq(check_one(PAGE, ~0xfffull, MT_WC, 0), -EINVAL);
	ck_assert_int_eq(check_one(1ull << 63, 1ull << 63, MT_WC, 0), -EINVAL);
	/* Types that do not exist, or shift out of the mask. */
	for (uint64_t type = 0; type <= UINT32_MAX; type = type < 64 ? type + 1 : type * 2 + 1) {
		bool good = type < 32 && ALL >> type & 1;

		ck_assert_int_eq(check_one(0, PAGE, (uint32_t)type, 0), good ? 0 : -EINVAL);
	}
	/* IPAT is EPT's alone. */
	ck_assert_int_eq(check_one(0, PAGE, MT_WC, KVM_MEMTYPE_IPAT), -EINVAL);
	ck_assert_int_eq(check_one(0, PAGE, MT_WC, ~0u), -EINVAL);
}
END_TEST

START_TEST(flags_of_ept)
{
	struct kvm_memtype_range r = { 0, PAGE, MT_WC, KVM_MEMTYPE_IPAT };

	ck_assert_int_eq(km_ranges_check(&r, 1, KM_EPT, ALL), 0);
	r.flags = 2;
	ck_assert_int_eq(km_ranges_check(&r, 1, KM_EPT, ALL), -EINVAL);
	r.flags = 3;
	ck_assert_int_eq(km_ranges_check(&r, 1, KM_EPT, ALL), -EINVAL);
}
END_TEST

START_TEST(type_that_cannot_be_had)
{
	const struct kvm_memtype_range r = { 0, PAGE, MT_WC, 0 };

	ck_assert_int_eq(km_ranges_check(&r, 1, KM_PAT, km_types(KM_PAT, MT_PAT_RESET)), -EINVAL);
	ck_assert_int_eq(km_ranges_check(&r, 1, KM_NO_TYPE, km_types(KM_NO_TYPE, 0)), -EINVAL);
}
END_TEST

START_TEST(order_and_overlap)
{
	struct kvm_memtype_range r[2] = { { 0, 2 * PAGE, MT_WC, 0 }, { PAGE, PAGE, MT_WC, 0 } };

	ck_assert_int_eq(check_set(r, 2), -EINVAL);
	r[1].gpa = 0;
	ck_assert_int_eq(check_set(r, 2), -EINVAL);
	r[0].gpa = 8 * PAGE;
	ck_assert_int_eq(check_set(r, 2), -EINVAL);
	r[1].gpa = 10 * PAGE;
	ck_assert_int_eq(check_set(r, 2), 0);
}
END_TEST

START_TEST(too_many)
{
	struct kvm_memtype_range *r = calloc(KM_RANGES_MAX, sizeof(*r));

	ck_assert_ptr_nonnull(r);
	for (uint32_t i = 0; i < KM_RANGES_MAX; i++)
		r[i] = (struct kvm_memtype_range){ 2 * i * PAGE, PAGE, MT_WC, 0 };
	ck_assert_int_eq(check_set(r, KM_RANGES_MAX), 0);
	/* More is refused before it is looked at: under AddressSanitizer this would show. */
	ck_assert_int_eq(check_set(r, KM_RANGES_MAX + 1), -E2BIG);
	ck_assert_int_eq(check_set(r, UINT32_MAX), -E2BIG);
	free(r);
}
END_TEST

static const struct kvm_memtype_range some[] = {
	{ 0x10000, 0x2000, MT_WC, 0 },
	{ 0x12000, 0x1000, MT_UC, 0 },
	{ 0x200000, 0x400000, MT_WC, 0 },
	{ 0xfffffffffffe0000, 0x10000, MT_WT, 0 },
};

#define SOME (sizeof(some) / sizeof(*some))

static enum km_hit find(uint64_t gpa, uint64_t size, const struct kvm_memtype_range **found)
{
	*found = NULL;
	return km_ranges_find(some, SOME, gpa, size, found);
}

START_TEST(look_up)
{
	const struct kvm_memtype_range *r;

	ck_assert_int_eq(find(0xf000, PAGE, &r), KM_OUTSIDE);
	ck_assert_int_eq(find(0x10000, PAGE, &r), KM_INSIDE);
	ck_assert_ptr_eq(r, &some[0]);
	ck_assert_int_eq(find(0x11000, PAGE, &r), KM_INSIDE);
	ck_assert_ptr_eq(r, &some[0]);
	ck_assert_int_eq(find(0x12000, PAGE, &r), KM_INSIDE);
	ck_assert_ptr_eq(r, &some[1]);
	ck_assert_int_eq(find(0x13000, PAGE, &r), KM_OUTSIDE);
	ck_assert_int_eq(find(0xfffffffffffe0000, PAGE, &r), KM_INSIDE);
	ck_assert_int_eq(find(0xfffffffffffff000, PAGE, &r), KM_OUTSIDE);
	ck_assert_int_eq(km_ranges_find(NULL, 0, 0, PAGE, &r), KM_OUTSIDE);
}
END_TEST

START_TEST(large_pages)
{
	const struct kvm_memtype_range *r;

	ck_assert_int_eq(find(0x200000, 0x200000, &r), KM_INSIDE);
	ck_assert_int_eq(find(0x400000, 0x200000, &r), KM_INSIDE);
	ck_assert_int_eq(find(0x600000, 0x200000, &r), KM_OUTSIDE);
	/* The first 2 MiB hold three ranges, the first 1 GiB more: types would reach too far. */
	ck_assert_int_eq(find(0, 0x200000, &r), KM_STRADDLES);
	ck_assert_int_eq(find(0, 0x40000000, &r), KM_STRADDLES);
	ck_assert_ptr_null(r);
	/* Adjacent ranges of other types are two ranges. */
	ck_assert_int_eq(find(0x10000, 0x4000, &r), KM_STRADDLES);
	ck_assert_int_eq(find(0xffffffffffe00000, 0x200000, &r), KM_STRADDLES);
}
END_TEST

/* Against a slow look-up: every page of a small space, random sets. */
START_TEST(look_up_agrees_with_a_slow_one)
{
	struct kvm_memtype_range r[16];

	srand(1);
	for (int round = 0; round < 2000; round++) {
		uint8_t owner[64] = { 0 };
		uint32_t nr = 0;

		for (uint64_t page = rand() % 4; page < 60 && nr < 16; page += rand() % 5) {
			uint64_t pages = 1 + rand() % 4;

			r[nr] = (struct kvm_memtype_range){ page * PAGE, pages * PAGE, MT_WC, 0 };
			nr++;
			for (uint64_t i = 0; i < pages; i++)
				owner[page++] = nr;
		}
		ck_assert_int_eq(check_set(r, nr), 0);
		for (unsigned int size = 1; size <= 8; size *= 2) {
			for (unsigned int at = 0; at < 64; at += size) {
				const struct kvm_memtype_range *found = NULL;
				enum km_hit hit = km_ranges_find(r, nr, at * PAGE, size * PAGE, &found);
				bool same = true, any = owner[at];

				for (unsigned int i = 1; i < size; i++) {
					same = same && owner[at + i] == owner[at];
					any = any || owner[at + i];
				}
				ck_assert_int_eq(hit, !any ? KM_OUTSIDE : same ? KM_INSIDE : KM_STRADDLES);
				if (hit == KM_INSIDE)
					ck_assert_ptr_eq(found, &r[owner[at] - 1]);
			}
		}
	}
}
END_TEST

START_TEST(same_range_in_another_set)
{
	struct kvm_memtype_range r = some[2];

	ck_assert(km_ranges_has(some, SOME, &r));
	ck_assert(!km_ranges_has(NULL, 0, &r));
	r.size += PAGE;
	ck_assert(!km_ranges_has(some, SOME, &r));
	r = some[2];
	r.gpa += PAGE;
	ck_assert(!km_ranges_has(some, SOME, &r));
	r = some[2];
	r.type = MT_UC;
	ck_assert(!km_ranges_has(some, SOME, &r));
	r = some[2];
	r.flags = KVM_MEMTYPE_IPAT;
	ck_assert(!km_ranges_has(some, SOME, &r));
	r = some[3];
	ck_assert(km_ranges_has(some, SOME, &r));
}
END_TEST

static int level_of(enum km_kernel kernel, uint64_t spte, uint64_t gfn, uint64_t pfn, unsigned int level)
{
	const struct km_leaf leaf = { kernel, spte, gfn, pfn, level };

	return km_leaf_level(&leaf);
}

/* Entries as 6.12 and 5.10 make them under NPT. */
START_TEST(leaves_of_kvm)
{
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x5e17e67, 0x104, 0x5e17, 1), MT_4K);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x5e17e67, 0x104, 0x5e17, 0), MT_4K);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x6600ee7, 0x800, 0x6600, 2), MT_2M);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x40000ee7, 0x40000, 0x40000, 3), MT_1G);
	ck_assert_int_eq(level_of(KM_ARGS_LEVEL, 0x42d8c67, 0x104, 0x42d8, 1), MT_4K);
	ck_assert_int_eq(level_of(KM_ARGS_LEVEL, 0x6600ce7, 0x800, 0x6600, 2), MT_2M);
	/* The bit of memory encryption is no part of the frame. */
	ck_assert_int_eq(level_of(KM_ARGS_SP, 1ull << 51 | 0x5e17e67, 0x104, 0x5e17, 1), MT_4K);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 1ull << 47 | 0x5e17e67, 0x104, 0x5e17, 1), MT_4K);
}
END_TEST

START_TEST(what_is_no_leaf)
{
	/* Not present, and the marker of emulated MMIO, in the way of each kernel. */
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0, 0, 0, 1), -EINVAL);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x5e17667, 0x104, 0x5e17, 1), -EINVAL);
	ck_assert_int_eq(level_of(KM_ARGS_LEVEL, 0, 0, 0, 1), -EINVAL);
	ck_assert_int_eq(level_of(KM_ARGS_LEVEL, 3ull << 52 | 0x5e17c67, 0x104, 0x5e17, 1), -EINVAL);
	/* An entry without accessed and dirty bits (1 or 2 there) is a leaf in 5.10. */
	ck_assert_int_eq(level_of(KM_ARGS_LEVEL, 1ull << 52 | 0x5e17c67, 0x104, 0x5e17, 1), MT_4K);
}
END_TEST

START_TEST(what_does_not_fit)
{
	/* Another frame: the arguments were not what they were taken for. */
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x5e17e67, 0x104, 0x5e18, 1), -EINVAL);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x5e17e67, 0x104, ~0ull, 1), -EINVAL);
	/* Level and page-size bit. */
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x5e17e67, 0x104, 0x5e17, 2), -EINVAL);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x6600ee7, 0x800, 0x6600, 1), -EINVAL);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x6600ee7, 0x800, 0x6600, 0), -EINVAL);
	for (unsigned int level = 4; level < 16; level++)
		ck_assert_int_eq(level_of(KM_ARGS_SP, 0x6600ee7, 0x800, 0x6600, level), -EINVAL);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x6600ee7, 0x800, 0x6600, ~0u), -EINVAL);
	/* Frames that such a page cannot start at. */
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x6600ee7, 0x801, 0x6600, 2), -EINVAL);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x6601ee7, 0x800, 0x6601, 2), -EINVAL);
	ck_assert_int_eq(level_of(KM_ARGS_SP, 0x6600ee7, 0x800, 0x6600, 3), -EINVAL);
}
END_TEST

static int apply(uint64_t spte, int level, uint32_t type, uint32_t flags, enum km_format format,
		 uint64_t pat, uint64_t *out)
{
	const struct kvm_memtype_range r = { 0, PAGE, type, flags };

	*out = 0;
	return km_leaf_apply(spte, level, &r, format, pat, out);
}

START_TEST(types_into_leaves)
{
	uint64_t out;

	ck_assert_int_eq(apply(0x5e17e67, 1, MT_WC, 0, KM_PAT, MT_PAT_LINUX, &out), 0);
	ck_assert_uint_eq(out, 0x5e17e6f);
	ck_assert_int_eq(apply(0x5e17e67, 1, MT_UC, 0, KM_PAT, MT_PAT_LINUX, &out), 0);
	ck_assert_uint_eq(out, 0x5e17e7f);
	ck_assert_int_eq(apply(0x5e17e67, 1, MT_WT, 0, KM_PAT, MT_PAT_LINUX, &out), 0);
	ck_assert_uint_eq(out, 0x5e17eff);
	ck_assert_int_eq(apply(0x6600ee7, 2, MT_WC, 0, KM_PAT, MT_PAT_LINUX, &out), 0);
	ck_assert_uint_eq(out, 0x6600eef);
	/* EPT: UC as KVM makes it for a device, then WC, then WB with IPAT. */
	ck_assert_int_eq(apply(0x5e17e07, 1, MT_WC, 0, KM_EPT, 0, &out), 0);
	ck_assert_uint_eq(out, 0x5e17e0f);
	ck_assert_int_eq(apply(0x5e17e77, 1, MT_WC, 0, KM_EPT, 0, &out), 0);
	ck_assert_uint_eq(out, 0x5e17e0f);
	ck_assert_int_eq(apply(0x5e17e07, 1, MT_WB, KVM_MEMTYPE_IPAT, KM_EPT, 0, &out), 0);
	ck_assert_uint_eq(out, 0x5e17e77);
}
END_TEST

START_TEST(index_from_the_hosts_pat)
{
	uint64_t out;

	/* WC at 6, where no Linux has it. */
	ck_assert_int_eq(apply(0x5e17e67, 1, MT_WC, 0, KM_PAT, mt_pat_replace(MT_PAT_RESET, 6, MT_WC),
			       &out), 0);
	ck_assert_uint_eq(out, 0x5e17ef7);
	ck_assert_int_eq(apply(0x5e17e67, 1, MT_WC, 0, KM_PAT, MT_PAT_RESET, &out), -ENOENT);
	ck_assert_uint_eq(out, 0);
}
END_TEST

START_TEST(large_leaf_that_would_need_the_pat_bit)
{
	uint64_t out;

	/* Bit 12 would be set, which KVM reads as part of the frame. */
	ck_assert_int_eq(apply(0x6600ee7, 2, MT_WT, 0, KM_PAT, MT_PAT_LINUX, &out), -ERANGE);
	ck_assert_int_eq(apply(0x40000ee7, 3, MT_WP, 0, KM_PAT, MT_PAT_LINUX, &out), -ERANGE);
	ck_assert_uint_eq(out, 0);
	ck_assert_int_eq(apply(0x6600ee7, 2, MT_WT, 0, KM_EPT, 0, &out), 0);
	ck_assert_int_eq(apply(0x5e17e67, 1, MT_WC, 0, KM_NO_TYPE, MT_PAT_LINUX, &out), -EINVAL);
}
END_TEST

SUITE("kmod rules", known_kernels, unknown_kernels, types_by_format, valid_ranges, hostile_ranges,
      flags_of_ept, type_that_cannot_be_had, order_and_overlap, too_many, look_up, large_pages,
      look_up_agrees_with_a_slow_one, same_range_in_another_set, leaves_of_kvm, what_is_no_leaf,
      what_does_not_fit, types_into_leaves, index_from_the_hosts_pat,
      large_leaf_that_would_need_the_pat_bit)
