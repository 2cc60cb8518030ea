/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is one series of measurements really slower than another, or is it noise?
 *
 * Samples of one run resemble their neighbours (a stall, a frequency, another process), so
 * counting each as independent makes every difference look certain. Here whole blocks of
 * neighbours are drawn again, which keeps the resemblance within them (circular block
 * bootstrap: Politis and Romano 1992), and a rank test of the blocks has to agree.
 */
#ifndef LAT_COMPARE_H
#define LAT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of lat_compare_opts.ppm for the mean; anything else is a percentile. */
#define LAT_MEAN UINT32_MAX

/**
 * struct lat_compare_opts - how to compare; zeroed fields mean the defaults.
 * @ppm: percentile, 0 to 1000000, or LAT_MEAN.
 * @block: samples in a block; 0 finds a length for each series from its autocorrelation.
 *         1 for runs that were made in random order.
 * @resamples: how often to draw again; default 2000, which also is enough for 99.9 %.
 * @level: confidence, above 0.5 and below 1; default 0.99, as a report has many rows.
 * @seed: of the drawing.
 * @paired: sample i of both was measured under the same conditions (one round of runs that
 *          take turns); both series are equally long.
 */
struct lat_compare_opts {
	uint32_t ppm;
	size_t block;
	unsigned int resamples;
	double level;
	uint64_t seed;
	bool paired;
};

/**
 * struct lat_diff - what was found.
 * @base, @other: the statistic of each series.
 * @diff_low, @diff_high: interval of other - base; infinite when there are too few blocks.
 * @change: other / base - 1. NAN when base is 0.
 * @change_low, @change_high: its interval; NAN when it cannot be told.
 * @block_base, @block_other: block lengths used.
 * @p: of the rank test over blocks.
 * @level: confidence that was used.
 * @differs: the interval excludes 0 and the rank test agrees at this level.
 * @hopeless: with so few blocks the rank test could never agree at this level.
 */
struct lat_diff {
	double base;
	double other;
	double diff_low;
	double diff_high;
	double change;
	double change_low;
	double change_high;
	size_t block_base;
	size_t block_other;
	double p;
	double level;
	bool differs;
	bool hopeless;
};

/**
 * lat_block_length() - how long neighbours resemble each other.
 * @v: samples in the order they were taken. @n: how many.
 * @length: receives it: five times the sum of the ranks' correlations (values would
 *          let one outlier hide everything), at least the cube root of @n and at most an
 *          eighth of @n; 1 for fewer than 16 samples.
 *
 * Return: 0 or -ENOMEM.
 */
int lat_block_length(const double *v, size_t n, size_t *length);

/**
 * lat_compare() - compare two series.
 * @base: samples in the order they were taken. @nbase: how many, at least 1.
 * @other: the other series. @nother: how many, at least 1.
 * @opts: how.
 * @out: receives the result.
 *
 * The interval is the percentile interval, widened for few blocks as t is wider than z
 * (Hesterberg 2015, "expanded percentile"). Takes time in proportion to samples x resamples.
 *
 * Return: 0; -EINVAL for wrong options, no samples, or one that is not finite; -ENOMEM.
 */
int lat_compare(const double *base, size_t nbase, const double *other, size_t nother,
		const struct lat_compare_opts *opts, struct lat_diff *out);

/** lat_t_quantile() - Student's t. @p: 0.5 to below 1. @df: degrees of freedom, from 1 on.
 * Return: the value that t stays below with probability p.
 */
double lat_t_quantile(double p, double df);

#endif
