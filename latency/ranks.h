/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rank tests: are two sets of numbers alike, whatever their distribution? Ties share the
 * mean of their ranks. Small sets are judged by counting all outcomes, larger ones by the
 * normal approximation with corrections for ties and continuity.
 *
 * Source: Mann and Whitney 1947; Wilcoxon 1945; Hollander, Wolfe, Chicken: Nonparametric
 * Statistical Methods, sections 3.1 and 4.1.
 */
#ifndef LAT_RANKS_H
#define LAT_RANKS_H

#include <stdbool.h>
#include <stddef.h>

/* Up to this many numbers all outcomes are counted. */
#define LAT_RANKS_EXACT 40

/** struct lat_rank_result - @statistic: U of the first set, or the sum of positive ranks.
 * @p: two-sided probability of such a difference, or a greater one, by chance.
 * @exact: outcomes were counted.
 */
struct lat_rank_result {
	double statistic;
	double p;
	bool exact;
};

/**
 * lat_rank_test() - Mann-Whitney test of two independent sets.
 * @a: first. @na: numbers in it. @b: second. @nb: numbers in it.
 * @out: result; p is 1 when a set is empty or all numbers are equal.
 *
 * Return: 0, -EINVAL for a number that is not finite, -ENOMEM.
 */
int lat_rank_test(const double *a, size_t na, const double *b, size_t nb,
		  struct lat_rank_result *out);

/**
 * lat_signed_rank() - Wilcoxon's test of pairs.
 * @d: differences of the pairs. @n: how many; those that are zero do not count.
 * @out: result; p is 1 when none counts.
 *
 * Return: 0, -EINVAL for a number that is not finite, -ENOMEM.
 */
int lat_signed_rank(const double *d, size_t n, struct lat_rank_result *out);

#endif
