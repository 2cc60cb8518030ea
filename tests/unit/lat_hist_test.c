// SPDX-License-Identifier: GPL-2.0-only
/* The histogram: its error is what it promises, at any size, and nothing overflows. */
#include <math.h>
#include <string.h>

#include "latency/hist.h"
#include "suite.h"

static struct lat_hist h, other, both;

START_TEST(every_value_has_a_bucket_that_holds_it)
{
	uint64_t next = 0;

	lat_hist_reset(&h);
	for (unsigned int i = 0; i < LAT_HIST_BUCKETS; i++) {
		struct lat_bucket b = lat_hist_bucket(&h, i);

		/* No gap, no overlap, and never wider than promised. */
		ck_assert_uint_eq(b.low, next);
		ck_assert_uint_eq(lat_hist_index(b.low), i);
		ck_assert_uint_eq(lat_hist_index(b.high), i);
		ck_assert_double_le((double)(b.high - b.low) / 2, LAT_HIST_ERROR * (double)b.low);
		next = b.high + 1;
	}
	ck_assert_uint_eq(next, 0);
	ck_assert_uint_eq(lat_hist_index(UINT64_MAX), LAT_HIST_BUCKETS - 1);
}
END_TEST

START_TEST(percentiles_agree_with_the_sorted_samples)
{
	static uint64_t v[20000];
	uint64_t x = 1;

	lat_hist_reset(&h);
	for (size_t i = 0; i < 20000; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		/* From a few to 2^40: sizes that a linear histogram cannot have together. */
		v[i] = x >> (24 + (x >> 59));
		lat_hist_add(&h, v[i], 1);
	}
	lat_sort(v, 20000);
	for (uint32_t ppm = 0; ppm <= LAT_PPM; ppm += 500) {
		struct lat_percentile a = lat_percentile(v, 20000, ppm);
		struct lat_percentile b = lat_hist_percentile(&h, ppm);

		ck_assert_uint_eq(a.rank, b.rank);
		ck_assert_int_eq(a.few, b.few);
		ck_assert_double_le(fabs((double)b.value - (double)a.value),
				    LAT_HIST_ERROR * (double)a.value * 1.0001);
	}
	ck_assert_uint_eq(lat_hist_percentile(&h, LAT_PPM).value, v[19999]);
	ck_assert_uint_eq(lat_hist_percentile(&h, 0).value, v[0]);
	ck_assert_uint_eq(h.max, v[19999]);
}
END_TEST

START_TEST(small_values_are_exact)
{
	lat_hist_reset(&h);
	for (uint64_t i = 1; i <= 100; i++)
		lat_hist_add(&h, i, 1);
	ck_assert_uint_eq(lat_hist_percentile(&h, LAT_P50).value, 50);
	ck_assert_uint_eq(lat_hist_percentile(&h, LAT_P99).value, 99);
	ck_assert_double_eq(lat_hist_mean(&h), 50.5);
}
END_TEST

START_TEST(extremes_are_exact_and_the_middle_stands_for_the_rest)
{
	/* Buckets here are 4 wide: 1004 and 1007 share one, whose middle is 1005. */
	lat_hist_reset(&h);
	lat_hist_add(&h, 1000, 1);
	lat_hist_add(&h, 1004, 3);
	lat_hist_add(&h, 1007, 1);
	ck_assert_uint_eq(lat_hist_percentile(&h, 0).value, 1000);
	ck_assert_uint_eq(lat_hist_percentile(&h, LAT_P50).value, 1005);
	ck_assert_uint_eq(lat_hist_percentile(&h, LAT_PPM).value, 1007);
}
END_TEST

START_TEST(nothing_overflows)
{
	lat_hist_reset(&h);
	lat_hist_add(&h, UINT64_MAX, 3);
	ck_assert_double_eq(lat_hist_mean(&h), 18446744073709551615.0);
	lat_hist_add(&h, 1, UINT64_MAX - 10);
	ck_assert(!h.saturated);
	lat_hist_add(&h, 2, 20);
	ck_assert(h.saturated);
	ck_assert_uint_eq(h.total, UINT64_MAX);
	ck_assert_uint_eq(h.count[2], 7);
	ck_assert_uint_eq(h.max, UINT64_MAX);
	lat_hist_reset(&other);
	lat_hist_add(&other, 9, 1);
	lat_hist_merge(&h, &other);
	ck_assert_uint_eq(h.total, UINT64_MAX);
	ck_assert_uint_eq(h.count[9], 0);
	lat_hist_merge(&other, &h);
	ck_assert_uint_eq(other.total, UINT64_MAX);
	ck_assert(other.saturated);
}
END_TEST

START_TEST(a_merge_is_what_one_histogram_would_have_held)
{
	lat_hist_reset(&h);
	lat_hist_reset(&other);
	lat_hist_reset(&both);
	lat_hist_merge(&h, &other);
	ck_assert_uint_eq(h.total, 0);
	for (uint64_t i = 0; i < 5000; i++) {
		lat_hist_add(i % 3 ? &h : &other, i * i * 977, 1 + i % 2);
		lat_hist_add(&both, i * i * 977, 1 + i % 2);
	}
	lat_hist_merge(&h, &other);
	ck_assert(!memcmp(&h, &both, sizeof(h)));
}
END_TEST

START_TEST(an_empty_one)
{
	lat_hist_reset(&h);
	ck_assert_uint_eq(lat_hist_percentile(&h, LAT_P50).rank, 0);
	ck_assert_double_eq(lat_hist_mean(&h), 0);
	ck_assert_double_eq(lat_hist_above(&h, 0), 0);
	lat_hist_add(&h, 5, 0);
	ck_assert_uint_eq(h.total, 0);
}
END_TEST

START_TEST(time_above_a_limit)
{
	lat_hist_reset(&h);
	lat_hist_add(&h, 10, 1000);
	lat_hist_add(&h, 30, 2);
	lat_hist_add(&h, 100, 1);
	ck_assert_double_eq(lat_hist_above(&h, 20), 2 * 10 + 80);
	ck_assert_double_eq(lat_hist_above(&h, 100), 0);
}
END_TEST

SUITE("lat_hist", every_value_has_a_bucket_that_holds_it, percentiles_agree_with_the_sorted_samples,
      small_values_are_exact, extremes_are_exact_and_the_middle_stands_for_the_rest,
      nothing_overflows, a_merge_is_what_one_histogram_would_have_held, an_empty_one,
      time_above_a_limit)
