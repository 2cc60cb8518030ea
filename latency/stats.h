/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a series of latencies was like, without the usual lies: the true extremes and when
 * they were, a standard deviation in floating point, percentiles by nearest rank, and a
 * mark where too few samples stand behind one.
 *
 * A sample is a whole number in a unit of the caller's choice (nanoseconds, ticks).
 */
#ifndef LAT_STATS_H
#define LAT_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Percentiles are whole numbers of parts per million, since 0.999 has no exact binary form. */
#define LAT_PPM	  1000000u
#define LAT_P50	  500000u
#define LAT_P90	  900000u
#define LAT_P99	  990000u
#define LAT_P999  999000u
#define LAT_P9999 999900u

/** lat_percentiles - those that every report here shows, ending with 0. */
extern const uint32_t lat_percentiles[];

/** struct lat_extreme - one sample. @value: it. @index: its place among all, from 0. @time: caller's. */
struct lat_extreme {
	uint64_t value;
	uint64_t index;
	uint64_t time;
};

/** struct lat_moments - mean and spread, kept up sample by sample. @n: how many. @mean: theirs.
 * @m2: sum of squared deviations from the mean.
 */
struct lat_moments {
	uint64_t n;
	double mean;
	double m2;
};

/** enum lat_phase - which part of a run a sample belongs to. */
enum lat_phase {
	LAT_FIRST,
	LAT_WARMUP,
	LAT_MEASURED,
};

/**
 * struct lat_stats - a series.
 * @warmup_wanted: samples after the first that do not count.
 * @seen: all samples, those that do not count included.
 * @first: the very first sample; it pays for cold caches and for the start of the other side.
 * @warmup: samples after it that were left out. @warmup_max: greatest of these.
 * @measured: the samples that count. @min: least of them. @max: greatest of them; the earlier
 *            one where several are equal.
 */
struct lat_stats {
	uint64_t warmup_wanted;
	uint64_t seen;
	struct lat_extreme first;
	struct lat_moments warmup;
	struct lat_extreme warmup_max;
	struct lat_moments measured;
	struct lat_extreme min;
	struct lat_extreme max;
};

/**
 * struct lat_percentile - one percentile.
 * @ppm: which. @value: a sample that was really seen (from an array), or its bucket's
 * (from a histogram). @rank: its place in ascending order, from 1; 0 when there is no sample.
 * @few: fewer than ten samples can be expected above it, so chance decides its value.
 */
struct lat_percentile {
	uint32_t ppm;
	uint64_t value;
	uint64_t rank;
	bool few;
};

/** lat_moments_add() - one more value. @m: zeroed at first. @value: any finite number.
 *
 * Welford's recurrence: no difference of large sums, hence no loss where the spread is
 * small beside the mean.
 */
void lat_moments_add(struct lat_moments *m, double value);

/** lat_moments_merge() - two series as one. @into: receives it. @from: the other. */
void lat_moments_merge(struct lat_moments *into, const struct lat_moments *from);

/** lat_moments_stdev() - of the population that they are a sample of (n - 1).
 * @m: moments. Return: 0 for fewer than two values.
 */
double lat_moments_stdev(const struct lat_moments *m);

/**
 * lat_stats_init() - start a series.
 * @s: it.
 * @warmup: how many samples after the first to keep apart.
 */
void lat_stats_init(struct lat_stats *s, uint64_t warmup);

/**
 * lat_stats_add() - one more sample.
 * @s: series.
 * @value: sample.
 * @time: when, in the caller's unit; kept for the extremes.
 *
 * Return: which part it went to; only LAT_MEASURED belongs into a histogram.
 */
enum lat_phase lat_stats_add(struct lat_stats *s, uint64_t value, uint64_t time);

/**
 * lat_stats_merge() - add what another thread measured.
 * @into: receives it; indexes of @from's extremes stay those of @from.
 * @from: the other.
 *
 * The first sample and the warm-up remain @into's own, unless it has none.
 */
void lat_stats_merge(struct lat_stats *into, const struct lat_stats *from);

/** lat_sort() - ascending. @v: samples. @n: how many. */
void lat_sort(uint64_t *v, size_t n);

/**
 * lat_rank() - place of a percentile in ascending order: ceil(p x n), at least 1.
 * @n: samples.
 * @ppm: 0 to 1000000.
 *
 * The nearest-rank definition; exact for every n, as it is done in whole numbers.
 *
 * Return: 1 to n, or 0 when n is 0.
 */
uint64_t lat_rank(uint64_t n, uint32_t ppm);

/**
 * lat_few() - whether too few samples stand behind a percentile.
 * @n: samples.
 * @ppm: percentile.
 *
 * Return: true when n x (1 - p) < 10.
 */
bool lat_few(uint64_t n, uint32_t ppm);

/**
 * lat_percentile() - one percentile of samples in ascending order.
 * @sorted: samples. @n: how many, 0 is allowed. @ppm: 0 to 1000000.
 *
 * Return: it; value and rank are 0 when there is no sample.
 */
struct lat_percentile lat_percentile(const uint64_t *sorted, size_t n, uint32_t ppm);

/**
 * lat_mad() - median absolute deviation from the median, both by nearest rank.
 * @sorted: samples in ascending order. @n: how many.
 *
 * The measure of spread that a few outliers do not move.
 *
 * Return: it, 0 for no samples.
 */
uint64_t lat_mad(const uint64_t *sorted, size_t n);

#endif
