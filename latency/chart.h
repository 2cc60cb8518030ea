/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A picture of histograms, as SVG without anything from elsewhere: for each series its value by
 * percentile, where the axis gives each further nine as much room as the one before. That is
 * where latencies differ, and where a mean and a deviation show nothing.
 */
#ifndef LAT_CHART_H
#define LAT_CHART_H

#include <stdio.h>

#include "latency/hist.h"

/* Colours that can be told apart; behind the last one they come again, with dashes. */
#define LAT_CHART_COLOURS 8
/* Series in one picture: more than anybody can read. */
#define LAT_CHART_SERIES 64

/** struct lat_chart_series - @name: in the legend; any text. @hist: its values. @scale: of a value, in
 * the unit of the axis (nanoseconds per tick, say).
 */
struct lat_chart_series {
	const char *name;
	const struct lat_hist *hist;
	double scale;
};

/**
 * lat_chart_write() - draw.
 * @out: stream.
 * @title: above it; any text. @unit: of the values, at the axis.
 * @s: series; those without values are only in the legend.
 * @n: how many, 1 to LAT_CHART_SERIES.
 *
 * A line ends where fewer than ten samples are left, as percentile marks do, and a dot shows the maximum.
 *
 * Return: 0; -EINVAL for a wrong number of series; -EIO when @out cannot be written.
 */
int lat_chart_write(FILE *out, const char *title, const char *unit,
		    const struct lat_chart_series *s, size_t n);

#endif
