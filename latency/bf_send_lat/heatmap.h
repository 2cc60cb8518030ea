/* SPDX-License-Identifier: GPL-2.0-only */
/* A matrix of latencies in colours: who is far from whom. */
#ifndef LAT_HEATMAP_H
#define LAT_HEATMAP_H

#include <stdio.h>

struct lat_heat;

/** lat_heat_new() - an empty matrix. @n: ranks. Return: it, or NULL. */
struct lat_heat *lat_heat_new(unsigned int n);

/**
 * lat_heat_set() - the latency between two ranks, the same both ways.
 * @h: matrix. @a: rank. @b: rank. @value: above 0.
 */
void lat_heat_set(struct lat_heat *h, unsigned int a, unsigned int b, double value);

/**
 * lat_heat_write() - as SVG; pairs without a value stay white.
 * @f: receives it. @h: matrix.
 *
 * Return: 0, or a negative errno.
 */
int lat_heat_write(FILE *f, const struct lat_heat *h);

/** lat_heat_free() - release. @h: NULL is allowed. */
void lat_heat_free(struct lat_heat *h);

#endif
