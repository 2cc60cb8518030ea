// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "vfio/iova.h"

static char shown[512];

static const char *show(const struct vf_iova_list *l)
{
	size_t i, at = 0;

	shown[0] = '\0';
	for (i = 0; i < l->nr; i++)
		at += (size_t)snprintf(shown + at, sizeof(shown) - at, "%s%" PRIx64 "-%" PRIx64,
				       i ? " " : "", l->r[i].start, l->r[i].last);
	return shown;
}

START_TEST(adding_keeps_ranges_sorted_and_apart)
{
	struct vf_iova_list l = { 0 };

	ck_assert_int_eq(vf_iova_add(&l, 0x30, 0x3f), 0);
	ck_assert_int_eq(vf_iova_add(&l, 0x10, 0x1f), 0);
	ck_assert_int_eq(vf_iova_add(&l, 0x50, 0x5f), 0);
	ck_assert_str_eq(show(&l), "10-1f 30-3f 50-5f");
	vf_iova_add(&l, 0x20, 0x2f); /* touches both neighbours */
	ck_assert_str_eq(show(&l), "10-3f 50-5f");
	vf_iova_add(&l, 0x18, 0x57); /* overlaps both */
	ck_assert_str_eq(show(&l), "10-5f");
	vf_iova_add(&l, 0x20, 0x21); /* inside */
	ck_assert_str_eq(show(&l), "10-5f");
	ck_assert_int_eq(vf_iova_add(&l, 2, 1), -EINVAL);
	vf_iova_free(&l);
	ck_assert_uint_eq(l.nr, 0);
}
END_TEST

START_TEST(the_ends_of_the_space_do_not_wrap)
{
	struct vf_iova_list l = { 0 };

	vf_iova_add(&l, 0, 0);
	vf_iova_add(&l, UINT64_MAX, UINT64_MAX);
	ck_assert_str_eq(show(&l), "0-0 ffffffffffffffff-ffffffffffffffff");
	vf_iova_add(&l, 1, UINT64_MAX - 1);
	ck_assert_str_eq(show(&l), "0-ffffffffffffffff");
	vf_iova_cut(&l, 0, 0);
	vf_iova_cut(&l, UINT64_MAX, UINT64_MAX);
	ck_assert_str_eq(show(&l), "1-fffffffffffffffe");
	ck_assert(!vf_iova_holds(&l, 0, 1));
	ck_assert(vf_iova_holds(&l, 1, UINT64_MAX - 1));
	vf_iova_cut(&l, 0, UINT64_MAX);
	ck_assert_str_eq(show(&l), "");
	ck_assert(!vf_iova_holds(&l, 1, 1));
	vf_iova_free(&l);
}
END_TEST

START_TEST(cutting)
{
	struct vf_iova_list l = { 0 };

	vf_iova_cut(&l, 5, 6); /* nothing there */
	vf_iova_add(&l, 0x10, 0x4f);
	vf_iova_add(&l, 0x60, 0x6f);
	vf_iova_cut(&l, 0x20, 0x2f); /* a hole */
	ck_assert_str_eq(show(&l), "10-1f 30-4f 60-6f");
	vf_iova_cut(&l, 0x18, 0x67); /* one wholly, two in part */
	ck_assert_str_eq(show(&l), "10-17 68-6f");
	vf_iova_cut(&l, 0x18, 0x67); /* just between */
	ck_assert_str_eq(show(&l), "10-17 68-6f");
	vf_iova_cut(&l, 0x10, 0x17);
	ck_assert_str_eq(show(&l), "68-6f");
	ck_assert_int_eq(vf_iova_cut(&l, 2, 1), -EINVAL);
	vf_iova_free(&l);
}
END_TEST

START_TEST(holding)
{
	struct vf_iova_list l = { 0 };
	uint64_t i;

	for (i = 0; i < 40; i++)
		vf_iova_add(&l, i << 8, (i << 8) + 0x7f);
	ck_assert_uint_eq(l.nr, 40);
	for (i = 0; i < 40; i++) {
		ck_assert(vf_iova_holds(&l, i << 8, (i << 8) + 0x7f));
		ck_assert(!vf_iova_holds(&l, i << 8, (i << 8) + 0x80));
		ck_assert(!vf_iova_holds(&l, (i << 8) + 0x80, (i << 8) + 0x80));
		ck_assert(!vf_iova_holds(&l, i << 8, (i + 1) << 8));
	}
	ck_assert(!vf_iova_holds(&l, 1, 0));
	vf_iova_free(&l);
}
END_TEST

SUITE("iova", adding_keeps_ranges_sorted_and_apart, the_ends_of_the_space_do_not_wrap, cutting,
      holding)
