// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "latency/hist.h"

void lat_hist_reset(struct lat_hist *h)
{
	memset(h, 0, sizeof(*h));
}

/* Octave 0 is linear; octave o > 0 holds [SUB << (o - 1), SUB << o), in steps of 1 << (o - 1). */
unsigned int lat_hist_index(uint64_t value)
{
	unsigned int octave;

	if (value < LAT_HIST_SUB)
		return (unsigned int)value;
	octave = 64 - (unsigned int)__builtin_clzll(value) - LAT_HIST_BITS;
	return octave * LAT_HIST_SUB + (unsigned int)((value >> (octave - 1)) - LAT_HIST_SUB);
}

struct lat_bucket lat_hist_bucket(const struct lat_hist *h, unsigned int index)
{
	unsigned int octave = index / LAT_HIST_SUB, sub = index % LAT_HIST_SUB;
	struct lat_bucket b = { .low = sub, .high = sub, .count = h->count[index] };

	if (octave) {
		b.low = (uint64_t)(LAT_HIST_SUB + sub) << (octave - 1);
		b.high = b.low + (((uint64_t)1 << (octave - 1)) - 1);
	}
	return b;
}

static void add_sum(struct lat_hist *h, unsigned __int128 sum)
{
	sum += (unsigned __int128)h->sum_high << 64 | h->sum_low;
	h->sum_low = (uint64_t)sum;
	h->sum_high = (uint64_t)(sum >> 64);
}

void lat_hist_add(struct lat_hist *h, uint64_t value, uint64_t count)
{
	/* What the total can still take; then no single bucket can overflow either. */
	if (count > UINT64_MAX - h->total) {
		count = UINT64_MAX - h->total;
		h->saturated = true;
	}
	if (!count)
		return;
	if (!h->total || value < h->min)
		h->min = value;
	if (!h->total || value > h->max)
		h->max = value;
	h->total += count;
	h->count[lat_hist_index(value)] += count;
	add_sum(h, (unsigned __int128)value * count);
}

void lat_hist_merge(struct lat_hist *into, const struct lat_hist *from)
{
	bool whole = from->total <= UINT64_MAX - into->total;
	uint64_t room = UINT64_MAX - into->total;

	into->saturated |= from->saturated || !whole;
	if (!from->total || !room)
		return;
	if (!into->total || from->min < into->min)
		into->min = from->min;
	if (!into->total || from->max > into->max)
		into->max = from->max;
	for (unsigned int i = 0; i < LAT_HIST_BUCKETS && room; i++) {
		struct lat_bucket b = lat_hist_bucket(from, i);
		uint64_t n = b.count < room ? b.count : room;

		into->count[i] += n;
		into->total += n;
		room -= n;
		if (!whole)
			add_sum(into, (unsigned __int128)b.low * n);
	}
	if (whole)
		add_sum(into, (unsigned __int128)from->sum_high << 64 | from->sum_low);
}

double lat_hist_mean(const struct lat_hist *h)
{
	unsigned __int128 sum = (unsigned __int128)h->sum_high << 64 | h->sum_low;

	if (!h->total)
		return 0;
	/* In two parts, as a double holds 53 bits of the quotient only. */
	return (double)(uint64_t)(sum / h->total) +
	       (double)(uint64_t)(sum % h->total) / (double)h->total;
}

static uint64_t middle(const struct lat_hist *h, const struct lat_bucket *b)
{
	uint64_t v = b->low + (b->high - b->low) / 2;

	return v < h->min ? h->min : v > h->max ? h->max : v;
}

struct lat_percentile lat_hist_percentile(const struct lat_hist *h, uint32_t ppm)
{
	struct lat_percentile p = { .ppm = ppm,
				    .rank = lat_rank(h->total, ppm),
				    .few = lat_few(h->total, ppm) };
	uint64_t below = 0;

	if (!h->total)
		return p;
	if (p.rank == 1 || p.rank == h->total) {
		p.value = p.rank == 1 ? h->min : h->max;
		return p;
	}
	for (unsigned int i = 0; i < LAT_HIST_BUCKETS; i++) {
		struct lat_bucket b = lat_hist_bucket(h, i);

		below += b.count;
		if (below >= p.rank) {
			p.value = middle(h, &b);
			break;
		}
	}
	return p;
}

double lat_hist_above(const struct lat_hist *h, uint64_t limit)
{
	double sum = 0;

	for (unsigned int i = lat_hist_index(limit); i < LAT_HIST_BUCKETS; i++) {
		struct lat_bucket b = lat_hist_bucket(h, i);
		uint64_t v;

		if (!b.count)
			continue;
		v = middle(h, &b);
		if (v > limit)
			sum += (double)(v - limit) * (double)b.count;
	}
	return sum;
}
