/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram of fixed size for latencies of any size: linear within each power of two,
 * logarithmic across them. Two of them add up to what one would have held.
 *
 * Values below LAT_HIST_SUB have a bucket each. Above, a bucket is at most 1/LAT_HIST_SUB
 * of its lower end wide, and its middle stands for what is in it: no value is off by more
 * than LAT_HIST_ERROR of itself. Every 64-bit value has a bucket.
 */
#ifndef LAT_HIST_H
#define LAT_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "latency/stats.h"

#define LAT_HIST_BITS	 7
#define LAT_HIST_SUB	 (1u << LAT_HIST_BITS)
#define LAT_HIST_BUCKETS ((64u - LAT_HIST_BITS + 1) * LAT_HIST_SUB)
/* Greatest relative error: half a bucket. */
#define LAT_HIST_ERROR (0.5 / LAT_HIST_SUB)

/**
 * struct lat_hist - about 60 KiB; zeroed is empty.
 * @total: values in it, at most UINT64_MAX.
 * @min: least. @max: greatest; both exact.
 * @sum_low, @sum_high: their sum, 128 bits, which no number of 64-bit values overflows.
 * @saturated: more than UINT64_MAX values were offered; the counts stopped there.
 * @count: values in each bucket.
 */
struct lat_hist {
	uint64_t total;
	uint64_t min;
	uint64_t max;
	uint64_t sum_low;
	uint64_t sum_high;
	bool saturated;
	uint64_t count[LAT_HIST_BUCKETS];
};

/** struct lat_bucket - @low to @high: values that it takes. @count: how many it holds. */
struct lat_bucket {
	uint64_t low;
	uint64_t high;
	uint64_t count;
};

/** lat_hist_reset() - empty it. @h: histogram. */
void lat_hist_reset(struct lat_hist *h);

/** lat_hist_index() - the bucket that takes a value. @value: any. Return: below LAT_HIST_BUCKETS. */
unsigned int lat_hist_index(uint64_t value);

/** lat_hist_bucket() - one bucket. @h: histogram. @index: below LAT_HIST_BUCKETS. Return: it. */
struct lat_bucket lat_hist_bucket(const struct lat_hist *h, unsigned int index);

/**
 * lat_hist_add() - count a value.
 * @h: histogram. @value: any. @count: how many times; 0 does nothing.
 *
 * No allocation, no division: fit for the loop that is measured.
 */
void lat_hist_add(struct lat_hist *h, uint64_t value, uint64_t count);

/** lat_hist_merge() - add all that another holds. @into: receives it. @from: the other. */
void lat_hist_merge(struct lat_hist *into, const struct lat_hist *from);

/** lat_hist_mean() - exact but for the last rounding. @h: histogram. Return: 0 when empty. */
double lat_hist_mean(const struct lat_hist *h);

/**
 * lat_hist_percentile() - by nearest rank, as lat_percentile().
 * @h: histogram. @ppm: 0 to 1000000.
 *
 * The least and the greatest rank give @min and @max exactly, others the middle of their
 * bucket (never outside @min and @max).
 *
 * Return: it; value and rank are 0 when empty.
 */
struct lat_percentile lat_hist_percentile(const struct lat_hist *h, uint32_t ppm);

/**
 * lat_hist_above() - time spent above a limit: sum of (value - limit) of all above it.
 * @h: histogram. @limit: it.
 *
 * Does not suffer from one long stall being a single sample.
 *
 * Return: in the values' unit, within LAT_HIST_ERROR of the values.
 */
double lat_hist_above(const struct lat_hist *h, uint64_t limit);

#endif
