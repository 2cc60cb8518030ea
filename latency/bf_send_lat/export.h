/* SPDX-License-Identifier: GPL-2.0-only */
/* Results in forms that other programs read: Prometheus' text, a drawing. */
#ifndef LAT_EXPORT_H
#define LAT_EXPORT_H

#include <stdio.h>

#include "trial.h"

/**
 * lat_prometheus_write() - quantiles, extremes and counts, as node_exporter's textfile
 * collector takes them.
 * @f: receives it. @s: trial. @ret: 0, or why it failed. @err: not used.
 *
 * Source: Prometheus, "Text-based exposition format"; times are in seconds there.
 *
 * Return: 0, or a negative errno.
 */
int lat_prometheus_write(FILE *f, const struct lat_trial *s, int ret, const struct bp_error *err);

/**
 * lat_plot_write() - an SVG file: latency over how rare it is, a line for each row.
 * @f: receives it. @s: trial. @ret: not used. @err: not used.
 *
 * Return: 0, or a negative errno.
 */
int lat_plot_write(FILE *f, const struct lat_trial *s, int ret, const struct bp_error *err);

#endif
