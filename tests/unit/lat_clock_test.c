// SPDX-License-Identifier: GPL-2.0-only
/* The calibration against clocks whose rate is known, also where they are disturbed. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "latency/clock.h"
#include "suite.h"

/* True time passes with each reading; every 7th reading is interrupted for 50 us. */
struct fake {
	double ns, ghz, per_reading;
	unsigned int readings, interrupted_every;
	uint64_t base;
};

static void pass(struct fake *f)
{
	f->ns += f->per_reading;
	if (f->interrupted_every && ++f->readings % f->interrupted_every == 0)
		f->ns += 50000;
}

static uint64_t raw(void *priv)
{
	struct fake *f = priv;

	pass(f);
	return 777000 + (uint64_t)f->ns;
}

static uint64_t ticks(void *priv)
{
	struct fake *f = priv;

	pass(f);
	return f->base + (uint64_t)(f->ns * f->ghz);
}

static struct lat_clock c;
static struct bp_error err;

static int calibrate(struct fake *f, uint64_t window)
{
	struct lat_clock_source s = { .raw = raw, .ticks = ticks, .priv = f };

	bp_error_clear(&err);
	return lat_clock_calibrate(&c, &s, window, &err);
}

START_TEST(the_rate_is_found_within_the_error_that_is_stated)
{
	static const double ghz[] = { 0.025, 1, 2.419203, 5.7 };

	for (size_t i = 0; i < 4; i++) {
		/* With every third reading interrupted no pair is undisturbed, and the error says so. */
		for (unsigned int every = 3; every < 40; every++) {
			struct fake f = { .ghz = ghz[i],
					  .per_reading = 21,
					  .interrupted_every = every };

			ck_assert_int_eq(calibrate(&f, LAT_CLOCK_WINDOW), 0);
			ck_assert(every == 3 ? c.error_ppm > 1000 : c.error_ppm < 10);
			ck_assert_double_lt(fabs(c.ns_per_tick * ghz[i] - 1) * 1e6,
					    c.error_ppm + 2 / ghz[i]);
		}
	}
}
END_TEST

START_TEST(a_counter_that_wraps_does_no_harm)
{
	struct fake f = { .ghz = 3, .per_reading = 20, .base = UINT64_MAX - 1000000 };

	ck_assert_int_eq(calibrate(&f, LAT_CLOCK_WINDOW), 0);
	ck_assert_double_eq_tol(c.ns_per_tick, 1 / 3.0, 1e-6);
}
END_TEST

START_TEST(its_own_cost_is_known)
{
	struct fake f = { .ghz = 2, .per_reading = 30, .interrupted_every = 101 };
	struct lat_clock_source s = { .raw = raw, .priv = &f };

	ck_assert_int_eq(calibrate(&f, LAT_CLOCK_WINDOW), 0);
	ck_assert_double_eq_tol(c.cost_min, 30, 0.1);
	ck_assert_double_eq_tol(c.cost_median, 30, 0.1);
	ck_assert_int_eq(lat_clock_calibrate(&c, &s, LAT_CLOCK_WINDOW, &err), 0);
	ck_assert(!c.tsc);
	ck_assert_double_eq(c.ns_per_tick, 1);
	ck_assert_double_eq(lat_clock_drift(&c), 0);
	ck_assert_double_eq(c.cost_median, 30);
}
END_TEST

START_TEST(a_counter_that_does_not_count_is_refused)
{
	struct fake f = { .ghz = 0, .per_reading = 20 };

	ck_assert_int_eq(calibrate(&f, 100000), -EIO);
	ck_assert_ptr_nonnull(strstr(err.what, "stood still"));
	f.ghz = -1;
	f.base = 1000000000;
	ck_assert_int_eq(calibrate(&f, 100000), -EIO);
	ck_assert_ptr_nonnull(strstr(err.what, "went back"));
	ck_assert_int_eq(calibrate(&f, 10), -EINVAL);
}
END_TEST

START_TEST(a_rate_that_changes_shows_as_drift)
{
	struct fake f = { .ghz = 2, .per_reading = 20 };

	ck_assert_int_eq(calibrate(&f, LAT_CLOCK_WINDOW), 0);
	f.ns += 1e9;
	ck_assert_double_lt(fabs(lat_clock_drift(&c)), 5);
	/* From here on the counter has gained a thousandth. */
	f.ghz = 2.002;
	ck_assert_double_eq_tol(lat_clock_drift(&c), 1000, 30);
}
END_TEST

START_TEST(this_machine)
{
	struct lat_clock_source s = lat_clock_here(false);
	struct timespec a, b;
	uint64_t t, u;

	ck_assert_int_eq(lat_clock_calibrate(&c, &s, 1000000, &err), 0);
	clock_gettime(CLOCK_MONOTONIC_RAW, &a);
	t = lat_clock_now(&c);
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	u = lat_clock_now(&c);
	clock_gettime(CLOCK_MONOTONIC_RAW, &b);
	ck_assert_double_ge(lat_clock_ns(&c, u - t), 2e6);
	ck_assert_double_le(lat_clock_ns(&c, u - t),
			    1e9 * (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec));
}
END_TEST

SUITE("lat_clock", the_rate_is_found_within_the_error_that_is_stated,
      a_counter_that_wraps_does_no_harm, its_own_cost_is_known,
      a_counter_that_does_not_count_is_refused, a_rate_that_changes_shows_as_drift, this_machine)
