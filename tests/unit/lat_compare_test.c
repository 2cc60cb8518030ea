// SPDX-License-Identifier: GPL-2.0-only
/* Comparing two series: tests against all outcomes counted, a planted slowdown, and equals. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "latency/compare.h"
#include "latency/ranks.h"
#include "latency/rng.h"
#include "latency/stats.h"
#include "suite.h"

#define N 2000

static double a[N], b[N];
static struct lat_diff d;

static double uniform(struct lat_rng *r)
{
	return (double)(lat_rng_next(r) >> 11) / 9007199254740992.0;
}

static double normal(struct lat_rng *r)
{
	return sqrt(-2 * log(uniform(r) + 1e-300)) * cos(2 * M_PI * uniform(r));
}

/* Latencies as they are: skewed, a long tail, and each like its neighbour. */
static void latencies(double *v, size_t n, uint64_t seed, double factor, double memory)
{
	struct lat_rng r = { seed };
	double state = normal(&r);

	for (size_t i = 0; i < n; i++) {
		state = memory * state + sqrt(1 - memory * memory) * normal(&r);
		v[i] = factor * (1000 + 40 * exp(0.8 * state) +
				 (uniform(&r) < 0.01 ? 3000 * uniform(&r) : 0));
	}
}

static void compare(uint32_t ppm, size_t n)
{
	struct lat_compare_opts o = { .ppm = ppm, .seed = 7, .resamples = 1000 };

	ck_assert_int_eq(lat_compare(a, n, b, n, &o, &d), 0);
}

START_TEST(a_planted_slowdown_of_3_percent_is_found)
{
	unsigned int missed = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		latencies(a, N, seed, 1, 0.7);
		latencies(b, N, seed + 100, 1.03, 0.7);
		compare(LAT_P50, N);
		ck_assert_msg(d.differs, "seed %lu: %f to %f, p %f", seed, d.change_low,
			      d.change_high, d.p);
		ck_assert_double_gt(d.change_low, 0.01);
		ck_assert_double_lt(d.change_high, 0.05);
		ck_assert_double_lt(d.change_low, 0.03);
		ck_assert_double_gt(d.change_high, 0.03);
		compare(LAT_MEAN, N);
		missed += d.change_low > 0.03 || d.change_high < 0.03;
		/* And a gain is one: the signs are not lost. */
		memcpy(b, a, sizeof(b));
		latencies(a, N, seed + 100, 1.03, 0.7);
		compare(LAT_P50, N);
		ck_assert(d.differs);
		ck_assert_double_lt(d.change_high, -0.01);
	}
	/* An interval of 99 % may miss one in a hundred. */
	ck_assert_uint_le(missed, 1);
}
END_TEST

START_TEST(equal_pairs_pass)
{
	static const uint32_t what[] = { LAT_P50, LAT_P99, LAT_MEAN };

	for (size_t w = 0; w < 3; w++) {
		for (uint64_t seed = 1; seed <= 20; seed++) {
			latencies(a, N, seed, 1, 0.7);
			latencies(b, N, seed + 1000, 1, 0.7);
			compare(what[w], N);
			ck_assert_msg(!d.differs, "seed %lu: %f to %f, p %f", seed, d.change_low,
				      d.change_high, d.p);
		}
	}
}
END_TEST

START_TEST(neighbours_that_are_alike_are_not_taken_for_independent)
{
	unsigned int fooled = 0, careful = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct lat_compare_opts o = {
			.ppm = LAT_P50, .seed = seed, .resamples = 500, .block = 1
		};

		latencies(a, N, seed, 1, 0.97);
		latencies(b, N, seed + 1000, 1, 0.97);
		ck_assert_int_eq(lat_compare(a, N, b, N, &o, &d), 0);
		fooled += d.differs;
		o.block = 0;
		ck_assert_int_eq(lat_compare(a, N, b, N, &o, &d), 0);
		careful += d.differs;
		ck_assert_uint_ge(d.block_base, 30);
	}
	ck_assert_uint_ge(fooled, 15);
	ck_assert_uint_le(careful, 3);
}
END_TEST

START_TEST(a_tail_that_grew_is_found_where_the_median_is_the_same)
{
	struct lat_rng r = { 3 };

	for (size_t i = 0; i < N; i++) {
		a[i] = 1000 + 10 * normal(&r) + (uniform(&r) < 0.03 ? 500 : 0);
		b[i] = 1000 + 10 * normal(&r) + (uniform(&r) < 0.03 ? 900 : 0);
	}
	compare(LAT_P50, N);
	ck_assert(!d.differs);
	for (size_t i = 0; i < N; i++)
		b[i] += uniform(&r) < 0.03 ? 500 : 0;
	compare(LAT_P99, N);
	ck_assert(d.differs);
	ck_assert_double_gt(d.change_low, 0.1);
}
END_TEST

START_TEST(exact_intervals)
{
	for (size_t i = 0; i < 100; i++)
		a[i] = 200, b[i] = 206;
	compare(LAT_P50, 100);
	ck_assert_double_eq(d.base, 200);
	ck_assert_double_eq(d.other, 206);
	ck_assert_double_eq(d.diff_low, 6);
	ck_assert_double_eq(d.diff_high, 6);
	ck_assert_double_eq_tol(d.change, 0.03, 1e-12);
	ck_assert_double_eq_tol(d.change_low, 0.03, 1e-12);
	ck_assert_double_eq_tol(d.change_high, 0.03, 1e-12);
	ck_assert(d.differs);
	memcpy(b, a, sizeof(b));
	compare(LAT_MEAN, 100);
	ck_assert_double_eq(d.p, 1);
	ck_assert(!d.differs);
	/* From nothing to something is no percentage, but a difference all the same. */
	for (size_t i = 0; i < 100; i++)
		a[i] = 0, b[i] = 1 + (double)(i % 3);
	compare(LAT_MEAN, 100);
	ck_assert(isnan(d.change) && isnan(d.change_low));
	ck_assert(d.differs);
	ck_assert_double_gt(d.diff_low, 1.5);
}
END_TEST

START_TEST(pairs_take_out_what_both_had_in_common)
{
	struct lat_compare_opts o = { .ppm = LAT_MEAN, .block = 1, .seed = 1 };
	struct lat_rng r = { 5 };

	/* A machine that gets 40 % slower meanwhile; the second is 1 % slower than the first. */
	for (size_t i = 0; i < 20; i++) {
		double drift = 1000 + 20 * (double)i;

		a[i] = drift + normal(&r);
		b[i] = 1.01 * drift + normal(&r);
	}
	ck_assert_int_eq(lat_compare(a, 20, b, 20, &o, &d), 0);
	ck_assert(!d.differs);
	o.paired = true;
	ck_assert_int_eq(lat_compare(a, 20, b, 20, &o, &d), 0);
	ck_assert(d.differs);
	ck_assert_double_gt(d.change_low, 0.008);
	ck_assert_double_lt(d.change_high, 0.012);
	ck_assert_int_eq(lat_compare(a, 20, b, 19, &o, &d), -EINVAL);
}
END_TEST

START_TEST(too_few_runs_are_said_to_be_too_few)
{
	struct lat_compare_opts o = { .ppm = LAT_MEAN, .block = 1 };

	for (size_t i = 0; i < 8; i++)
		a[i] = 10 + (double)i / 100, b[i] = 20 + (double)i / 100;
	/* 2 of 252 outcomes are below 1 %; 2 of 70 are not. */
	ck_assert_int_eq(lat_compare(a, 5, b, 5, &o, &d), 0);
	ck_assert(d.differs && !d.hopeless);
	ck_assert_int_eq(lat_compare(a, 4, b, 4, &o, &d), 0);
	ck_assert(!d.differs && d.hopeless);
	ck_assert_double_eq_tol(d.p, 2.0 / 70, 1e-12);
	ck_assert_int_eq(lat_compare(a, 1, b, 1, &o, &d), 0);
	ck_assert(!d.differs && isinf(d.diff_low) && isinf(d.diff_high));
	o.paired = true;
	ck_assert_int_eq(lat_compare(a, 7, b, 7, &o, &d), 0);
	ck_assert(d.hopeless && !d.differs);
	ck_assert_int_eq(lat_compare(a, 8, b, 8, &o, &d), 0);
	ck_assert(!d.hopeless && d.differs);
}
END_TEST

START_TEST(a_mean_that_one_run_decides_is_not_real)
{
	struct lat_compare_opts o = { .ppm = LAT_MEAN, .block = 1 };

	/* Every rank says that the second is slower, but one run of the first outweighs them all. */
	for (size_t i = 0; i < 20; i++) {
		a[i] = 100 + (double)i / 100;
		b[i] = 110 + (double)i / 100;
	}
	ck_assert_int_eq(lat_compare(a, 20, b, 20, &o, &d), 0);
	ck_assert(d.differs);
	a[7] = 1000;
	ck_assert_int_eq(lat_compare(a, 20, b, 20, &o, &d), 0);
	ck_assert_double_lt(d.p, 0.01);
	ck_assert(d.diff_low < 0 && d.diff_high > 0);
	ck_assert(!d.differs);
}
END_TEST

START_TEST(intervals_of_few_runs_hold_what_they_promise)
{
	struct lat_compare_opts o = {
		.ppm = LAT_MEAN, .block = 1, .level = 0.95, .resamples = 600
	};
	struct lat_rng r = { 11 };
	unsigned int held = 0;

	for (int trial = 0; trial < 400; trial++) {
		for (int i = 0; i < 6; i++) {
			a[i] = 100 + normal(&r);
			b[i] = 103 + normal(&r);
		}
		o.seed = (uint64_t)trial;
		ck_assert_int_eq(lat_compare(a, 6, b, 6, &o, &d), 0);
		held += d.diff_low <= 3 && d.diff_high >= 3;
	}
	/* 380 expected; the plain percentile interval holds about 350 of them. */
	ck_assert_uint_ge(held, 366);
	ck_assert_uint_le(held, 396);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_interval)
{
	struct lat_diff first;

	latencies(a, 500, 1, 1, 0.5);
	latencies(b, 500, 2, 1, 0.5);
	compare(LAT_P90, 500);
	first = d;
	compare(LAT_P90, 500);
	ck_assert_double_eq(first.diff_low, d.diff_low);
	ck_assert_double_eq(first.diff_high, d.diff_high);
}
END_TEST

START_TEST(what_cannot_be_compared_is_refused)
{
	struct lat_compare_opts o = { .ppm = LAT_P50 };

	latencies(a, 50, 1, 1, 0);
	latencies(b, 50, 2, 1, 0);
	ck_assert_int_eq(lat_compare(a, 0, b, 50, &o, &d), -EINVAL);
	ck_assert_int_eq(lat_compare(a, 50, b, 0, &o, &d), -EINVAL);
	o.ppm = LAT_PPM + 1;
	ck_assert_int_eq(lat_compare(a, 50, b, 50, &o, &d), -EINVAL);
	o.ppm = LAT_P50;
	o.level = 1;
	ck_assert_int_eq(lat_compare(a, 50, b, 50, &o, &d), -EINVAL);
	o.level = 0.9;
	b[3] = NAN;
	ck_assert_int_eq(lat_compare(a, 50, b, 50, &o, &d), -EINVAL);
}
END_TEST

/* ---- rank tests against every outcome --------------------------------------------------- */

static double rank_of(const double *v, size_t n, double x)
{
	double less = 0, same = 0;

	for (size_t i = 0; i < n; i++) {
		less += v[i] < x;
		same += v[i] <= x && v[i] >= x;
	}
	return less + (same + 1) / 2;
}

static double all_choices(const double *x, size_t nx, const double *y, size_t ny)
{
	double v[16], seen = 0, middle, far = 0, all = 0;
	size_t n = nx + ny;

	memcpy(v, x, nx * sizeof(*v));
	memcpy(v + nx, y, ny * sizeof(*v));
	for (size_t i = 0; i < nx; i++)
		seen += rank_of(v, n, v[i]);
	middle = (double)(nx * (n + 1)) / 2;
	for (unsigned int m = 0; m < 1u << n; m++) {
		double sum = 0;

		if ((size_t)__builtin_popcount(m) != nx)
			continue;
		for (size_t i = 0; i < n; i++)
			sum += m >> i & 1 ? rank_of(v, n, v[i]) : 0;
		all++;
		far += fabs(sum - middle) >= fabs(seen - middle) - 1e-9;
	}
	return far / all;
}

START_TEST(mann_whitney_against_all_choices)
{
	struct lat_rng r = { 9 };
	struct lat_rank_result res;
	static const double x[] = { 1, 2, 3 }, y[] = { 4, 5, 6 };

	ck_assert_int_eq(lat_rank_test(x, 3, y, 3, &res), 0);
	ck_assert_double_eq(res.statistic, 0);
	ck_assert_double_eq_tol(res.p, 0.1, 1e-12);
	ck_assert(res.exact);
	for (int trial = 0; trial < 200; trial++) {
		size_t nx = 1 + lat_rng_below(&r, 6), ny = 1 + lat_rng_below(&r, 6);

		/* Few different values: ties everywhere. */
		for (size_t i = 0; i < nx; i++)
			a[i] = (double)lat_rng_below(&r, 5);
		for (size_t i = 0; i < ny; i++)
			b[i] = (double)lat_rng_below(&r, 7);
		ck_assert_int_eq(lat_rank_test(a, nx, b, ny, &res), 0);
		ck_assert_double_eq_tol(res.p, all_choices(a, nx, b, ny), 1e-12);
	}
}
END_TEST

START_TEST(mann_whitney_of_many)
{
	struct lat_rank_result res;

	/* 1..30 with 11..40, ties: U = 200, variance (900 / 12)(61 - 120 / 3540), by hand. */
	for (size_t i = 0; i < 30; i++) {
		a[i] = (double)i + 1;
		b[i] = (double)i + 11;
	}
	ck_assert_int_eq(lat_rank_test(a, 30, b, 30, &res), 0);
	ck_assert(!res.exact);
	ck_assert_double_eq(res.statistic, 200);
	ck_assert_double_eq_tol(res.p, erfc(249.5 / sqrt(75 * (61 - 120.0 / 3540)) / sqrt(2)),
				1e-12);
	for (size_t i = 0; i < 30; i++)
		b[i] = a[i] = 4;
	ck_assert_int_eq(lat_rank_test(a, 30, b, 30, &res), 0);
	ck_assert_double_eq(res.p, 1);
	a[2] = INFINITY;
	ck_assert_int_eq(lat_rank_test(a, 30, b, 30, &res), -EINVAL);
}
END_TEST

START_TEST(signed_ranks_against_all_signs)
{
	struct lat_rng r = { 10 };
	struct lat_rank_result res;
	static const double up[] = { 1, 2, 3, 4, 5 };

	ck_assert_int_eq(lat_signed_rank(up, 5, &res), 0);
	ck_assert_double_eq_tol(res.p, 2.0 / 32, 1e-12);
	ck_assert_double_eq(res.statistic, 15);
	for (int trial = 0; trial < 100; trial++) {
		size_t n = 1 + lat_rng_below(&r, 9), used = 0;
		double abs_[16], seen = 0, far = 0, middle;

		for (size_t i = 0; i < n; i++) {
			a[i] = (double)lat_rng_below(&r, 9) - 4;
			if (a[i] > 0 || a[i] < 0)
				abs_[used++] = fabs(a[i]);
		}
		for (size_t i = 0; i < n; i++)
			seen += a[i] > 0 ? rank_of(abs_, used, a[i]) : 0;
		middle = (double)(used * (used + 1)) / 4;
		for (unsigned int m = 0; m < 1u << used; m++) {
			double sum = 0;

			for (size_t i = 0; i < used; i++)
				sum += m >> i & 1 ? rank_of(abs_, used, abs_[i]) : 0;
			far += fabs(sum - middle) >= fabs(seen - middle) - 1e-9;
		}
		ck_assert_int_eq(lat_signed_rank(a, n, &res), 0);
		ck_assert_double_eq_tol(res.p, far / (double)(1u << used), 1e-12);
	}
	/* 50 differences of one sign, all different: 1275, variance 50 51 101 / 24. */
	for (size_t i = 0; i < 50; i++)
		a[i] = (double)i + 1;
	ck_assert_int_eq(lat_signed_rank(a, 50, &res), 0);
	ck_assert_double_eq_tol(res.p, erfc(637 / sqrt(50 * 51 * 101 / 24.0) / sqrt(2)), 1e-15);
}
END_TEST

START_TEST(students_t)
{
	/* Tables: 12.706, 3.250, 2.845, 2.576 for many. */
	ck_assert_double_eq_tol(lat_t_quantile(0.975, 1), 12.706, 0.005);
	ck_assert_double_eq_tol(lat_t_quantile(0.995, 9), 3.2498, 0.0005);
	ck_assert_double_eq_tol(lat_t_quantile(0.995, 20), 2.8453, 0.0005);
	ck_assert_double_eq_tol(lat_t_quantile(0.995, 100000), 2.5758, 0.01);
	ck_assert_double_eq_tol(lat_t_quantile(0.5, 5), 0, 0.002);
}
END_TEST

START_TEST(random_numbers)
{
	struct lat_rng r = { 1234567 };
	unsigned int v[100], hits[3] = { 0 };
	bool there[100] = { false };

	/* First numbers of the published generator for this seed. */
	ck_assert_uint_eq(lat_rng_next(&r), 6457827717110365317ull);
	ck_assert_uint_eq(lat_rng_next(&r), 3203168211198807973ull);
	for (int i = 0; i < 30000; i++)
		hits[lat_rng_below(&r, 3)]++;
	for (int i = 0; i < 3; i++)
		ck_assert_uint_ge(hits[i], 9700);
	/* Of three quarters of all numbers the first third would come twice as often. */
	hits[0] = 0;
	for (int i = 0; i < 3000; i++)
		hits[0] += lat_rng_below(&r, 3ull << 62) < 1ull << 62;
	ck_assert_uint_le(hits[0], 1150);
	lat_rng_shuffle(&r, v, 100);
	for (int i = 0; i < 100; i++) {
		ck_assert_uint_lt(v[i], 100);
		ck_assert(!there[v[i]]);
		there[v[i]] = true;
	}
}
END_TEST

SUITE("lat_compare", a_planted_slowdown_of_3_percent_is_found, equal_pairs_pass,
      neighbours_that_are_alike_are_not_taken_for_independent,
      a_tail_that_grew_is_found_where_the_median_is_the_same, exact_intervals,
      pairs_take_out_what_both_had_in_common, too_few_runs_are_said_to_be_too_few,
      a_mean_that_one_run_decides_is_not_real, intervals_of_few_runs_hold_what_they_promise,
      the_same_seed_gives_the_same_interval, what_cannot_be_compared_is_refused,
      mann_whitney_against_all_choices, mann_whitney_of_many, signed_ranks_against_all_signs,
      students_t, random_numbers)
