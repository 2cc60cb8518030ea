// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>

#include "latency/stats.h"

/* Samples above a percentile that make its value more than chance. */
#define ENOUGH 10

const uint32_t lat_percentiles[] = { LAT_P50, LAT_P90, LAT_P99, LAT_P999, LAT_P9999, 0 };

void lat_moments_add(struct lat_moments *m, double value)
{
	double delta = value - m->mean;

	m->n++;
	m->mean += delta / (double)m->n;
	m->m2 += delta * (value - m->mean);
}

void lat_moments_merge(struct lat_moments *into, const struct lat_moments *from)
{
	double delta = from->mean - into->mean, n;

	if (!from->n)
		return;
	n = (double)into->n + (double)from->n;
	into->m2 += from->m2 + delta * delta * (double)into->n * (double)from->n / n;
	into->mean += delta * (double)from->n / n;
	into->n += from->n;
}

double lat_moments_stdev(const struct lat_moments *m)
{
	return m->n < 2 ? 0 : sqrt(m->m2 / (double)(m->n - 1));
}

void lat_stats_init(struct lat_stats *s, uint64_t warmup)
{
	*s = (struct lat_stats){ .warmup_wanted = warmup };
}

enum lat_phase lat_stats_add(struct lat_stats *s, uint64_t value, uint64_t time)
{
	struct lat_extreme e = { .value = value, .index = s->seen++, .time = time };

	if (!e.index) {
		s->first = e;
		return LAT_FIRST;
	}
	if (s->warmup.n < s->warmup_wanted) {
		if (!s->warmup.n || value > s->warmup_max.value)
			s->warmup_max = e;
		lat_moments_add(&s->warmup, (double)value);
		return LAT_WARMUP;
	}
	if (!s->measured.n || value < s->min.value)
		s->min = e;
	if (!s->measured.n || value > s->max.value)
		s->max = e;
	lat_moments_add(&s->measured, (double)value);
	return LAT_MEASURED;
}

void lat_stats_merge(struct lat_stats *into, const struct lat_stats *from)
{
	if (!into->seen) {
		*into = *from;
		return;
	}
	if (from->measured.n) {
		if (!into->measured.n || from->min.value < into->min.value)
			into->min = from->min;
		if (!into->measured.n || from->max.value > into->max.value)
			into->max = from->max;
	}
	lat_moments_merge(&into->measured, &from->measured);
	into->seen += from->seen;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void lat_sort(uint64_t *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof(*v), ascending);
}

uint64_t lat_rank(uint64_t n, uint32_t ppm)
{
	/* 64 bits do not hold the product for n beyond 1.8e13. */
	uint64_t rank = (uint64_t)(((unsigned __int128)n * ppm + LAT_PPM - 1) / LAT_PPM);

	return n && !rank ? 1 : rank;
}

bool lat_few(uint64_t n, uint32_t ppm)
{
	return (unsigned __int128)n * (LAT_PPM - ppm) < (unsigned __int128)ENOUGH * LAT_PPM;
}

struct lat_percentile lat_percentile(const uint64_t *sorted, size_t n, uint32_t ppm)
{
	struct lat_percentile p = { .ppm = ppm, .rank = lat_rank(n, ppm), .few = lat_few(n, ppm) };

	if (n)
		p.value = sorted[p.rank - 1];
	return p;
}

/* How many samples lie within @d of @median; two searches in sorted samples. */
static size_t within(const uint64_t *sorted, size_t n, uint64_t median, uint64_t d)
{
	uint64_t low = d > median ? 0 : median - d,
		 high = d > UINT64_MAX - median ? UINT64_MAX : median + d;
	size_t first = 0, last = n;

	for (size_t to = n; first < to;) {
		size_t mid = first + (to - first) / 2;

		if (sorted[mid] < low)
			first = mid + 1;
		else
			to = mid;
	}
	for (size_t from = first; from < last;) {
		size_t mid = from + (last - from) / 2;

		if (sorted[mid] <= high)
			from = mid + 1;
		else
			last = mid;
	}
	return last - first;
}

uint64_t lat_mad(const uint64_t *sorted, size_t n)
{
	uint64_t median, rank, low = 0, high = UINT64_MAX;

	if (!n)
		return 0;
	median = lat_percentile(sorted, n, LAT_P50).value;
	rank = lat_rank(n, LAT_P50);
	/* The least distance that half of the samples keep: no second array needed. */
	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (within(sorted, n, median, mid) >= rank)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}
