// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "latency/clock.h"
#include "latency/stats.h"

/* Readings taken together; the one that was disturbed least counts. */
#define TRIES 32
/* Readings whose distances are the clock's cost. */
#define READINGS 501

static uint64_t raw_here(void *priv)
{
	const struct lat_clock c = { .tsc = false };

	(void)priv;
	return lat_clock_now(&c);
}

#ifdef __x86_64__
static uint64_t ticks_here(void *priv)
{
	const struct lat_clock c = { .tsc = true };

	(void)priv;
	return lat_clock_now(&c);
}
#endif

struct lat_clock_source lat_clock_here(bool tsc)
{
	struct lat_clock_source s = { .raw = raw_here };

#ifdef __x86_64__
	if (tsc)
		s.ticks = ticks_here;
#else
	(void)tsc;
#endif
	return s;
}

/* Both clocks at one moment. Returns how uncertain that moment is, in nanoseconds. */
static uint64_t both(const struct lat_clock_source *s, uint64_t *raw, uint64_t *ticks)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = s->raw(s->priv), t = s->ticks(s->priv), after = s->raw(s->priv);

		/* An interrupt between the readings makes them far apart. */
		if (after - before >= best)
			continue;
		best = after - before;
		*raw = before + best / 2;
		*ticks = t;
	}
	return best;
}

static uint64_t now(const struct lat_clock *c)
{
	return c->tsc ? c->source.ticks(c->source.priv) : c->source.raw(c->source.priv);
}

static void measure_cost(struct lat_clock *c)
{
	uint64_t d[READINGS], last = now(c);

	for (size_t i = 0; i < READINGS; i++) {
		uint64_t t = now(c);

		d[i] = t - last;
		last = t;
	}
	lat_sort(d, READINGS);
	c->cost_min = lat_clock_ns(c, d[0]);
	c->cost_median = lat_clock_ns(c, lat_percentile(d, READINGS, LAT_P50).value);
}

int lat_clock_calibrate(struct lat_clock *c, const struct lat_clock_source *source, uint64_t window,
			struct bp_error *err)
{
	uint64_t raw1, ticks1, slack1;

	*c = (struct lat_clock){ .tsc = source->ticks, .ns_per_tick = 1, .source = *source };
	if (window < 1000)
		return bp_error_set(err, -EINVAL, NULL, "a clock cannot be calibrated in %lu ns",
				    window);
	if (c->tsc) {
		c->slack0 = both(source, &c->raw0, &c->ticks0);
		do {
			slack1 = both(source, &raw1, &ticks1);
		} while (raw1 - c->raw0 < window);
		if ((int64_t)(ticks1 - c->ticks0) <= 0)
			return bp_error_set(err, -EIO, "measure with CLOCK_MONOTONIC_RAW instead",
					    "the time-stamp counter %s within %lu us",
					    ticks1 == c->ticks0 ? "stood still" : "went back",
					    window / 1000);
		c->ns_per_tick = (double)(raw1 - c->raw0) / (double)(ticks1 - c->ticks0);
		/* Either moment can be wrong by half of its uncertainty, plus the raw clock's step of 1 ns. */
		c->error_ppm =
			1e6 * ((double)(c->slack0 + slack1) / 2 + 2) / (double)(raw1 - c->raw0);
	}
	measure_cost(c);
	return 0;
}

double lat_clock_drift(const struct lat_clock *c)
{
	uint64_t raw, ticks;

	if (!c->tsc)
		return 0;
	both(&c->source, &raw, &ticks);
	if (raw == c->raw0)
		return 0;
	return 1e6 * (lat_clock_ns(c, ticks - c->ticks0) / (double)(raw - c->raw0) - 1);
}
