/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all measurements of mmap_lat have in common: one calibrated clock, counters of this
 * thread, and series of operations of one kind.
 */
#ifndef LAT_MMAP_METER_H
#define LAT_MMAP_METER_H

#include <bp/error.h>
#include <bp/print.h>
#include "latency/clock.h"
#include "latency/env.h"
#include "latency/hist.h"
#include "latency/perf.h"

/**
 * struct lat_meter - the instruments.
 * @clock: calibrated once. @perf: counters of this thread. @counting: it has some.
 * @env: where this runs. @before: counts when it was opened. @start: the clock then.
 */
struct lat_meter {
	struct lat_clock clock;
	struct lat_perf perf;
	bool counting;
	struct lat_env env;
	struct lat_env_counts before;
	uint64_t start;
};

/**
 * struct lat_series - operations of one kind.
 * @name: of the kind. @stats, @hist: of their times, in ticks.
 * @counted_ops: operations that @faults and @counted belong to: those that are measured.
 * @faults: page faults without disk, by getrusage(2), which every machine has.
 * @counted: of each counter of the meter. @open_*: values when the window was opened.
 */
struct lat_series {
	const char *name;
	struct lat_stats stats;
	struct lat_hist hist;
	uint64_t counted_ops;
	uint64_t faults;
	double counted[LAT_PERF_MAX];
	uint64_t open_ops;
	uint64_t open_faults;
	double open_value[LAT_PERF_MAX];
};

/**
 * lat_meter_open() - get ready.
 * @m: receives it.
 * @cpu: CPU to stay on, -1 for the one it is on, -2 to stay free.
 * @sys: calls for counters.
 * @err: says what failed.
 *
 * Without counters it works all the same.
 *
 * Return: 0 or a negative errno.
 */
int lat_meter_open(struct lat_meter *m, int cpu, const struct lat_perf_sys *sys,
		   struct bp_error *err);

/** lat_meter_close() - give its counters back. @m: meter. */
void lat_meter_close(struct lat_meter *m);

/** lat_series_init() - start a series. @s: it. @name: kind, stays valid. @warmup: operations that
 * do not count, the first included.
 */
void lat_series_init(struct lat_series *s, const char *name, uint64_t warmup);

/** lat_series_open() - counters from here on belong to this series. @s: series. @m: meter. */
void lat_series_open(struct lat_series *s, struct lat_meter *m);

/** lat_series_close() - up to here. Operations of a warm-up are forgotten. @s: series. @m: meter. */
void lat_series_close(struct lat_series *s, struct lat_meter *m);

/** lat_series_add() - an operation. @s: series. @m: meter. @from: clock before. @to: clock after. */
static inline void lat_series_add(struct lat_series *s, const struct lat_meter *m, uint64_t from,
				  uint64_t to)
{
	if (lat_stats_add(&s->stats, to - from, from - m->start) == LAT_MEASURED)
		lat_hist_add(&s->hist, to - from, 1);
}

/** lat_series_heading() - column names of lat_series_print(), in text. @p: printer. */
void lat_series_heading(struct bp_print *p);

/** lat_series_print() - a line, or a JSON object. @p: printer. @m: meter. @s: series. */
void lat_series_print(struct bp_print *p, const struct lat_meter *m, const struct lat_series *s);

/** lat_series_counters() - counters per operation of several series: lines of text that JSON has
 * already had. @p: printer. @m: meter. @s: series. @n: how many.
 */
void lat_series_counters(struct bp_print *p, const struct lat_meter *m, const struct lat_series *s,
			 size_t n);

/** lat_meter_print() - clock, missing counters, environment: the end of the document. @p: printer.
 * @m: meter.
 */
void lat_meter_print(struct bp_print *p, const struct lat_meter *m);

#endif
