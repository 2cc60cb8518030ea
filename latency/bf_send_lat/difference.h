/* SPDX-License-Identifier: GPL-2.0-only */
/* Two series side by side: what --compare and --blueflame ab print, and what --fail-if judges. */
#ifndef LAT_DIFFERENCE_H
#define LAT_DIFFERENCE_H

#include <bp/error.h>
#include <bp/print.h>

#include "latency/compare.h"

/** struct lat_series - samples in the order they came. @v: them. @n: how many. */
struct lat_series {
	double *v;
	size_t n;
};

/**
 * struct lat_limit - one --fail-if.
 * @text: as given. @ppm: percentile or LAT_MEAN.
 * @relative: @value is a change, 0.05 for 5%; otherwise a latency in the documents' unit.
 * @value: what must not be exceeded.
 */
struct lat_limit {
	const char *text;
	uint32_t ppm;
	bool relative;
	double value;
};

/**
 * lat_limit_parse() - "p99>+5%", "avg>3.5".
 * @text: avg or pN, where N is 0 to 100 with decimals; ">"; a change in per cent with "%",
 *        or a latency.
 * @out: receives it. @err: receives what is wrong.
 *
 * Return: 0 or -EINVAL.
 */
int lat_limit_parse(const char *text, struct lat_limit *out, struct bp_error *err);

/**
 * lat_limit_broken() - does the second series exceed it?
 * @limit: it. @a: first series. @b: second. @broken: receives the answer; for a change only when
 * the difference is one beyond noise.
 *
 * Return: 0, or a negative errno of lat_compare().
 */
int lat_limit_broken(const struct lat_limit *limit, const struct lat_series *a,
		     const struct lat_series *b, bool *broken);

/**
 * lat_difference_head() - heading of the table.
 * @p: printer. @a: name of the first column. @b: of the second.
 */
void lat_difference_head(struct bp_print *p, const char *a, const char *b);

/**
 * lat_difference_print() - mean and percentiles of both, change, interval, verdict.
 * @p: printer, inside an array. @size: bytes of the messages. @a: first. @b: second.
 *
 * Return: 0, or a negative errno of lat_compare().
 */
int lat_difference_print(struct bp_print *p, unsigned int size, const struct lat_series *a,
			 const struct lat_series *b);

#endif
