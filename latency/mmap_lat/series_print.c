// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "latency/mmap_lat/meter.h"

#define WIDTH 10

/* Decimals enough for four digits: 0.412, 52.31, 1904. */
static int digits(double ns)
{
	return ns < 10 ? 3 : ns < 100 ? 2 : ns < 1000 ? 1 : 0;
}

static void cell(struct bp_print *p, const char *key, double ns, char mark)
{
	bp_print_text(p, " %*.*f%c", WIDTH, digits(ns), ns, mark);
	bp_print_f64(p, key, NULL, 2, ns);
}

static void extreme(struct bp_print *p, const struct lat_meter *m, const char *key,
		    const struct lat_extreme *e)
{
	bp_print_object(p, key);
	cell(p, "ns", lat_clock_ns(&m->clock, e->value), ' ');
	bp_print_u64(p, "index", NULL, e->index);
	bp_print_f64(p, "at_us", NULL, 3, lat_clock_ns(&m->clock, e->time) / 1000);
	bp_print_object_end(p);
}

static const char *percentile_name(uint32_t ppm)
{
	switch (ppm) {
	case LAT_P50:
		return "p50";
	case LAT_P90:
		return "p90";
	case LAT_P99:
		return "p99";
	case LAT_P999:
		return "p99.9";
	default:
		return "p99.99";
	}
}

void lat_series_heading(struct bp_print *p)
{
	bp_print_text(p, "%-14s %8s %*s ", "ns", "times", WIDTH, "min");
	for (const uint32_t *q = lat_percentiles; *q; q++)
		bp_print_text(p, " %*s ", WIDTH, percentile_name(*q));
	bp_print_text(p, " %*s  %*s  %*s  %*s\n", WIDTH, "max", WIDTH, "mean", WIDTH, "stdev",
		      WIDTH, "first");
}

static void print_counters(struct bp_print *p, const struct lat_meter *m,
			   const struct lat_series *s)
{
	bp_print_object(p, "counters");
	for (size_t i = 0; m->counting && i < m->perf.n; i++)
		if (m->perf.counter[i].fd >= 0)
			bp_print_f64(p, m->perf.counter[i].event->name, NULL, 1, s->counted[i]);
	bp_print_object_end(p);
}

void lat_series_print(struct bp_print *p, const struct lat_meter *m, const struct lat_series *s)
{
	double tick = m->clock.ns_per_tick;

	bp_print_object(p, NULL);
	bp_print_str(p, "name", "%-14s", s->name);
	bp_print_u64(p, "times", " %8lu", s->stats.measured.n);
	if (!s->stats.measured.n) {
		bp_print_text(p, "\n");
		bp_print_object_end(p);
		return;
	}
	extreme(p, m, "min", &s->stats.min);
	for (const uint32_t *q = lat_percentiles; *q; q++) {
		struct lat_percentile v = lat_hist_percentile(&s->hist, *q);

		bp_print_object(p, percentile_name(*q));
		cell(p, "ns", lat_clock_ns(&m->clock, v.value), v.few ? '?' : ' ');
		bp_print_bool(p, "few", NULL, v.few);
		bp_print_object_end(p);
	}
	extreme(p, m, "max", &s->stats.max);
	cell(p, "mean", s->stats.measured.mean * tick, ' ');
	cell(p, "stdev", lat_moments_stdev(&s->stats.measured) * tick, ' ');
	cell(p, "first", lat_clock_ns(&m->clock, s->stats.first.value), ' ');
	bp_print_text(p, "\n");
	bp_print_object(p, "warmup");
	bp_print_u64(p, "times", NULL, s->stats.warmup.n);
	bp_print_f64(p, "mean", NULL, 2, s->stats.warmup.mean * tick);
	bp_print_f64(p, "max", NULL, 2, lat_clock_ns(&m->clock, s->stats.warmup_max.value));
	bp_print_object_end(p);
	bp_print_u64(p, "faults", NULL, s->faults);
	print_counters(p, m, s);
	bp_print_array(p, "histogram");
	for (unsigned int i = 0; bp_print_is_json(p) && i < LAT_HIST_BUCKETS; i++) {
		struct lat_bucket b = lat_hist_bucket(&s->hist, i);

		if (!b.count)
			continue;
		bp_print_array(p, NULL);
		bp_print_f64(p, NULL, NULL, 1, lat_clock_ns(&m->clock, b.low));
		bp_print_u64(p, NULL, NULL, b.count);
		bp_print_array_end(p);
	}
	bp_print_array_end(p);
	bp_print_object_end(p);
}

/* Of the counters only those that say more than the faults, which everyone has. */
static bool worth_showing(const struct lat_perf_counter *c)
{
	return c->fd >= 0 && (c->event->type != PERF_TYPE_SOFTWARE);
}

void lat_series_counters(struct bp_print *p, const struct lat_meter *m, const struct lat_series *s,
			 size_t n)
{
	if (bp_print_is_json(p))
		return;
	bp_print_text(p, "%-14s %*s", "each time", WIDTH + 1, "faults");
	for (size_t i = 0; m->counting && i < m->perf.n; i++)
		if (worth_showing(&m->perf.counter[i]))
			bp_print_text(p, " %17s", m->perf.counter[i].event->name);
	bp_print_text(p, "\n");
	for (size_t k = 0; k < n; k++) {
		double ops = (double)s[k].counted_ops;

		if (!s[k].counted_ops)
			continue;
		bp_print_text(p, "%-14s %*.3f", s[k].name, WIDTH + 1, (double)s[k].faults / ops);
		for (size_t i = 0; m->counting && i < m->perf.n; i++)
			if (worth_showing(&m->perf.counter[i]))
				bp_print_text(p, " %17.1f", s[k].counted[i] / ops);
		bp_print_text(p, "\n");
	}
}

static void print_missing(struct bp_print *p, const struct lat_meter *m)
{
	bool first = true;

	bp_print_array(p, "missing_counters");
	for (size_t i = 0; i < m->perf.n; i++) {
		const struct lat_perf_counter *c = &m->perf.counter[i];

		if (m->counting && c->fd >= 0)
			continue;
		bp_print_text(p, "%s%s", first ? "missing: " : ", ", c->event->name);
		first = false;
		bp_print_object(p, NULL);
		bp_print_str(p, "counter", NULL, c->event->name);
		bp_print_str(p, "why", NULL, lat_perf_why(c->why));
		bp_print_object_end(p);
	}
	if (!first)
		bp_print_text(p, "\n");
	bp_print_array_end(p);
}

void lat_meter_print(struct bp_print *p, const struct lat_meter *m)
{
	struct lat_env_warning w[LAT_ENV_WARNINGS];
	struct lat_env_counts after, window;
	double drift = lat_clock_drift(&m->clock);

	lat_env_count(&after, &m->env, "/");
	window = lat_env_window(&m->before, &after);
	bp_print_text(p, "?: fewer than ten samples can be expected above it, so chance decides\n");
	print_missing(p, m);
	bp_print_object(p, "clock");
	bp_print_str(p, "source", "clock: %s", m->clock.tsc ? "tsc" : "CLOCK_MONOTONIC_RAW");
	bp_print_f64(p, "ns_per_tick", ", %.6f ns a tick", 9, m->clock.ns_per_tick);
	bp_print_f64(p, "error_ppm", " within %.1f ppm", 2, m->clock.error_ppm);
	bp_print_f64(p, "drift_ppm", ", moved by %.1f ppm meanwhile", 2, drift);
	bp_print_f64(p, "cost_ns", "; a reading costs %.1f ns,", 2, m->clock.cost_median);
	bp_print_f64(p, "cost_min_ns", " at least %.1f, which is in each number\n", 2,
		     m->clock.cost_min);
	bp_print_object_end(p);
	lat_env_print(p, &m->env, &window);
	for (unsigned int i = 0, n = lat_env_judge(&m->env, &window, w);
	     !bp_print_is_json(p) && i < n; i++)
		bp_print_text(p, "warning: %s\n", w[i].text);
}
