// SPDX-License-Identifier: GPL-2.0-only
/* Statistics against results worked out by hand, also where well-known tools go wrong. */
#include <math.h>
#include <string.h>

#include "latency/stats.h"
#include "suite.h"

#define NEAR(a, b) ck_assert_double_eq_tol(a, b, 1e-9 * (fabs((double)(b)) + 1e-9))

static struct lat_stats s;

static void series(const uint64_t *v, size_t n, uint64_t warmup)
{
	lat_stats_init(&s, warmup);
	for (size_t i = 0; i < n; i++)
		lat_stats_add(&s, v[i], 1000 + i);
}

START_TEST(the_true_maximum_is_shown_and_counts)
{
	/* A tool that drops the two worst would say 12 here, and a mean of 10.5. */
	static const uint64_t v[] = { 99, 10, 11, 9, 38995, 12, 2653, 10 };

	series(v, 8, 0);
	ck_assert_uint_eq(s.max.value, 38995);
	ck_assert_uint_eq(s.max.index, 4);
	ck_assert_uint_eq(s.max.time, 1004);
	ck_assert_uint_eq(s.min.value, 9);
	ck_assert_uint_eq(s.min.index, 3);
	ck_assert_uint_eq(s.min.time, 1003);
	ck_assert_uint_eq(s.measured.n, 7);
	NEAR(s.measured.mean, (10 + 11 + 9 + 38995 + 12 + 2653 + 10) / 7.0);
}
END_TEST

START_TEST(first_sample_and_warm_up_are_kept_apart)
{
	static const uint64_t v[] = { 5000, 100, 300, 200, 10, 20, 30 };

	lat_stats_init(&s, 3);
	ck_assert_int_eq(lat_stats_add(&s, v[0], 0), LAT_FIRST);
	for (int i = 1; i < 4; i++)
		ck_assert_int_eq(lat_stats_add(&s, v[i], 0), LAT_WARMUP);
	for (int i = 4; i < 7; i++)
		ck_assert_int_eq(lat_stats_add(&s, v[i], 0), LAT_MEASURED);
	ck_assert_uint_eq(s.first.value, 5000);
	ck_assert_uint_eq(s.warmup.n, 3);
	NEAR(s.warmup.mean, 200);
	ck_assert_uint_eq(s.warmup_max.value, 300);
	ck_assert_uint_eq(s.warmup_max.index, 2);
	ck_assert_uint_eq(s.measured.n, 3);
	NEAR(s.measured.mean, 20);
	NEAR(lat_moments_stdev(&s.measured), 10);
	ck_assert_uint_eq(s.max.value, 30);
	ck_assert_uint_eq(s.max.index, 6);
	ck_assert_uint_eq(s.seen, 7);
}
END_TEST

START_TEST(jitter_below_a_microsecond_has_a_standard_deviation)
{
	/* Nanoseconds: all within one microsecond, where whole microseconds would give 0. */
	static const uint64_t v[] = { 0, 1202, 1204, 1204, 1204, 1205, 1205, 1207, 1209 };

	series(v, 9, 0);
	NEAR(s.measured.mean, 1205);
	NEAR(lat_moments_stdev(&s.measured), sqrt(32.0 / 7));
}
END_TEST

START_TEST(large_deviations_do_not_overflow)
{
	/* 46341 squared does not fit an int; two deviations of 1e12 do not fit 64 bits. */
	static const uint64_t a[] = { 0, 0, 92682 };
	static const uint64_t b[] = { 0, 0, 2000000000000 };
	static const uint64_t c[] = { 0, UINT64_MAX, UINT64_MAX, 0 };

	series(a, 3, 0);
	NEAR(lat_moments_stdev(&s.measured), 46341 * sqrt(2));
	series(b, 3, 0);
	NEAR(lat_moments_stdev(&s.measured), 1e12 * sqrt(2));
	series(c, 4, 0);
	ck_assert(isfinite(lat_moments_stdev(&s.measured)));
	ck_assert_uint_eq(s.max.value, UINT64_MAX);
	ck_assert_uint_eq(s.max.index, 1);
}
END_TEST

START_TEST(a_small_spread_on_a_large_mean_is_not_lost)
{
	/* Sums of squares would cancel: 4e18 + ... in a double. Deviations -6 -3 3 6. */
	static const uint64_t v[] = { 7, 1000000000004, 1000000000007, 1000000000013,
				      1000000000016 };

	series(v, 5, 0);
	ck_assert_double_eq_tol(s.measured.mean, 1000000000010.0, 1e-3);
	ck_assert_double_eq_tol(lat_moments_stdev(&s.measured), sqrt(30), 1e-3);
}
END_TEST

START_TEST(fewer_than_two_samples)
{
	static const uint64_t v[] = { 8, 5 };

	series(v, 0, 0);
	ck_assert_uint_eq(s.measured.n, 0);
	NEAR(lat_moments_stdev(&s.measured), 0);
	series(v, 2, 0);
	ck_assert_uint_eq(s.max.value, 5);
	NEAR(lat_moments_stdev(&s.measured), 0);
	ck_assert_uint_eq(lat_percentile(v, 0, LAT_P50).rank, 0);
	ck_assert_uint_eq(lat_mad(v, 0), 0);
}
END_TEST

START_TEST(nearest_rank_is_not_one_too_high)
{
	uint64_t v[1000];

	for (unsigned int i = 0; i < 1000; i++)
		v[i] = i + 1;
	/* Of 1..100 the 99th percentile is 99, and the median 50. */
	ck_assert_uint_eq(lat_percentile(v, 100, LAT_P99).value, 99);
	ck_assert_uint_eq(lat_percentile(v, 100, LAT_P50).value, 50);
	ck_assert_uint_eq(lat_percentile(v, 1000, LAT_P99).value, 990);
	/* 99.9 % of 1000 is not the maximum. */
	ck_assert_uint_eq(lat_percentile(v, 1000, LAT_P999).value, 999);
	ck_assert_uint_eq(lat_percentile(v, 1000, LAT_P9999).value, 1000);
	ck_assert_uint_eq(lat_percentile(v, 1000, 0).value, 1);
	ck_assert_uint_eq(lat_percentile(v, 1000, LAT_PPM).value, 1000);
	ck_assert_uint_eq(lat_percentile(v, 7, LAT_P50).value, 4);
	ck_assert_uint_eq(lat_percentile(v, 8, LAT_P50).value, 4);
	ck_assert_uint_eq(lat_percentile(v, 1, LAT_P99).value, 1);
	/* ceil(0.9 x 10) is 9; in floating point 0.9 x 10 may be a little more. */
	for (uint64_t n = 10; n <= 100000; n += 10)
		ck_assert_uint_eq(lat_rank(n, LAT_P90), n / 10 * 9);
	ck_assert_uint_eq(lat_rank(UINT64_MAX, LAT_PPM), UINT64_MAX);
	ck_assert_uint_eq(lat_rank(18000000000000000000ull, LAT_P50), 9000000000000000000ull);
}
END_TEST

START_TEST(percentiles_without_samples_behind_them_are_marked)
{
	ck_assert(!lat_few(1000, LAT_P99));
	ck_assert(lat_few(999, LAT_P99));
	ck_assert(lat_few(1000, LAT_P999));
	ck_assert(!lat_few(10000, LAT_P999));
	ck_assert(!lat_few(20, LAT_P50));
	ck_assert(lat_few(19, LAT_P50));
	ck_assert(lat_few(99999, LAT_P9999));
	ck_assert(!lat_few(100000, LAT_P9999));
	ck_assert(lat_few(0, LAT_P50));
	ck_assert(lat_few(UINT64_MAX, LAT_PPM));
}
END_TEST

START_TEST(median_absolute_deviation)
{
	static const uint64_t v[] = { 1, 1, 2, 2, 4, 6, 900 };
	static const uint64_t same[] = { 5, 5, 5 };
	static const uint64_t wide[] = { 0, 1, UINT64_MAX };

	/* Median 2; deviations 1 1 0 0 2 4 898, of which the fourth smallest is 1. */
	ck_assert_uint_eq(lat_mad(v, 7), 1);
	ck_assert_uint_eq(lat_mad(same, 3), 0);
	ck_assert_uint_eq(lat_mad(wide, 3), 1);
}
END_TEST

START_TEST(two_series_merge_into_what_one_would_have_been)
{
	static const uint64_t a[] = { 50, 10, 20, 30 }, b[] = { 60, 1, 2, 100, 3 };
	static const uint64_t all[] = { 50, 10, 20, 30, 1, 2, 100, 3 };
	struct lat_stats first, second;

	series(a, 4, 0);
	first = s;
	series(b, 5, 0);
	second = s;
	lat_stats_merge(&first, &second);
	series(all, 8, 0);
	ck_assert_uint_eq(first.measured.n, s.measured.n);
	NEAR(first.measured.mean, s.measured.mean);
	NEAR(lat_moments_stdev(&first.measured), lat_moments_stdev(&s.measured));
	ck_assert_uint_eq(first.max.value, 100);
	ck_assert_uint_eq(first.min.value, 1);
	ck_assert_uint_eq(first.first.value, 50);
	lat_stats_init(&second, 0);
	lat_stats_merge(&first, &second);
	ck_assert_uint_eq(first.measured.n, 7);
	lat_stats_merge(&second, &first);
	ck_assert_uint_eq(second.measured.n, 7);
	ck_assert_uint_eq(second.first.value, 50);
}
END_TEST

START_TEST(sorting)
{
	uint64_t v[] = { UINT64_MAX, 0, 5, 1ull << 63, 5, 1 };
	static const uint64_t want[] = { 0, 1, 5, 5, 1ull << 63, UINT64_MAX };

	lat_sort(v, 6);
	ck_assert(!memcmp(v, want, sizeof(want)));
	lat_sort(NULL, 0);
}
END_TEST

SUITE("lat_stats", the_true_maximum_is_shown_and_counts, first_sample_and_warm_up_are_kept_apart,
      jitter_below_a_microsecond_has_a_standard_deviation, large_deviations_do_not_overflow,
      a_small_spread_on_a_large_mean_is_not_lost, fewer_than_two_samples,
      nearest_rank_is_not_one_too_high, percentiles_without_samples_behind_them_are_marked,
      median_absolute_deviation, two_series_merge_into_what_one_would_have_been, sorting)
