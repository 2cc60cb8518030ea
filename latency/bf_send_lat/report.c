// SPDX-License-Identifier: GPL-2.0-only
/* Rows: the table, and the same numbers in JSON. report_doc.c has what is around them. */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blueflame.h"
#include "report.h"

#define DIGITS 3

double lat_half(const struct lat_trial *s, double ticks)
{
	return s->o->cycles ? ticks / 2 : ticks * s->clock.ns_per_tick / 2000;
}

struct lat_percentile lat_row_percentile(const struct lat_row *row, uint32_t ppm)
{
	return row->sorted ? lat_percentile(row->sorted, row->nr_sorted, ppm)
			   : lat_hist_percentile(&row->take.hist, ppm);
}

/* One number of the table. */
static void number(struct bp_print *p, const struct lat_trial *s, const char *key, const char *fmt,
		   double ticks)
{
	bp_print_f64(p, key, fmt, DIGITS, lat_half(s, ticks));
}

static void percentile(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row,
		       const char *key, const char *fmt, uint32_t ppm)
{
	number(p, s, key, fmt, (double)lat_row_percentile(row, ppm).value);
}

static const struct {
	uint32_t ppm;
	const char *name;
} named[] = {
	{ LAT_P50, "50" },    { LAT_P90, "90" },      { LAT_P99, "99" },
	{ LAT_P999, "99.9" }, { LAT_P9999, "99.99" },
};

/* Percentiles that chance decides, as one word in text and a list in JSON. */
static void print_few(struct bp_print *p, const struct lat_row *row)
{
	char text[64] = "";

	bp_print_array(p, "few_samples");
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		size_t used = strlen(text);

		if (!lat_row_percentile(row, named[i].ppm).few)
			continue;
		bp_print_str(p, NULL, NULL, named[i].name);
		snprintf(text + used, sizeof(text) - used, "%s%s", used ? "," : "", named[i].name);
	}
	bp_print_array_end(p);
	bp_print_text(p, "%-17s", *text ? text : "-");
}

static void print_warmup(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row)
{
	const struct lat_stats *st = &row->take.stats;

	number(p, s, "first", "%-12.3f", (double)st->first.value);
	number(p, s, "warmup_avg", "%-12.3f", st->warmup.mean);
	bp_print_u64(p, "warmup_n", NULL, st->warmup.n);
	number(p, s, "warmup_max", NULL, (double)st->warmup_max.value);
}

/* Open loop: what a closed loop would have said, beside the latency from when a send was due. */
static void print_service(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row)
{
	const struct lat_take *t = &row->take;
	size_t n = row->nr_sorted;
	uint64_t *v;

	if (!t->service || !n || !(v = malloc(n * sizeof(*v))))
		return;
	memcpy(v, t->service + (t->n - n), n * sizeof(*v));
	lat_sort(v, n);
	bp_print_object(p, "from_real_send");
	bp_print_text(p, "\n# from the real send instead of the time it was due:");
	number(p, s, "t_min", " t_min %.3f", (double)v[0]);
	number(p, s, "t_max", ", t_max %.3f", (double)v[n - 1]);
	number(p, s, "t_typical", ", t_typical %.3f", (double)lat_percentile(v, n, LAT_P50).value);
	number(p, s, "percentile_99", ", 99%% %.3f", (double)lat_percentile(v, n, LAT_P99).value);
	bp_print_object_end(p);
	free(v);
}

static void print_rtt(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row)
{
	if (!bp_print_is_json(p))
		return;
	bp_print_object(p, "rtt");
	number(p, s, "t_min", NULL, 2.0 * (double)row->take.stats.min.value);
	number(p, s, "t_max", NULL, 2.0 * (double)row->take.stats.max.value);
	number(p, s, "t_typical", NULL, 2.0 * (double)lat_row_percentile(row, LAT_P50).value);
	number(p, s, "t_avg", NULL, 2.0 * row->take.stats.measured.mean);
	bp_print_object_end(p);
}

static void print_blueflame(struct bp_print *p, const struct lat_trial *s,
			    const struct lat_row *row)
{
	bool ab = s->p.blueflame == LAT_BF_AB;
	enum lat_blueflame asked = !ab ? s->p.blueflame : row->arm ? LAT_BF_OFF : LAT_BF_ON;
	struct lat_bf_verdict v;

	lat_blueflame_judge(&s->ends[row->arm], row->size, asked != LAT_BF_OFF, &v);
	bp_print_object(p, "blueflame");
	bp_print_str(p, "asked", ab ? "%s" : NULL, lat_blueflame_name(asked));
	bp_print_str(p, "used", NULL, lat_bf_used_name(v.used));
	bp_print_str(p, "how", NULL, v.how);
	bp_print_object_end(p);
}

static void print_hist(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row)
{
	bp_print_array(p, "histogram");
	for (unsigned int i = 0; i < LAT_HIST_BUCKETS; i++) {
		struct lat_bucket b = lat_hist_bucket(&row->take.hist, i);

		if (!b.count)
			continue;
		bp_print_array(p, NULL);
		number(p, s, NULL, NULL, (double)b.low);
		number(p, s, NULL, NULL, (double)b.high);
		bp_print_u64(p, NULL, NULL, b.count);
		bp_print_array_end(p);
	}
	bp_print_array_end(p);
}

static void print_samples(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row)
{
	const struct lat_take *t = &row->take;

	bp_print_array(p, "samples");
	for (uint64_t i = t->n - row->nr_sorted; row->sorted && i < t->n; i++)
		number(p, s, NULL, NULL, (double)t->samples[i]);
	bp_print_array_end(p);
}

/* Columns in ib_send_lat's order: nine for a number of exchanges, four for a time. */
static void print_columns(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row)
{
	const struct lat_stats *st = &row->take.stats;
	double n = (double)st->measured.n;
	bool timed = s->p.duration;

	bp_print_u64(p, "MsgSize", " %-8lu", row->size);
	bp_print_u64(p, "n_iterations", "%-12lu", st->measured.n);
	if (timed) {
		number(p, s, "t_avg", "%-12.3f", st->measured.mean);
		bp_print_f64(p, "tps", "%-14.3f", DIGITS, row->seconds > 0 ? n / row->seconds : 0);
	}
	number(p, s, "t_min", "%-12.3f", (double)st->min.value);
	number(p, s, "t_max", "%-12.3f", (double)st->max.value);
	percentile(p, s, row, "t_typical", "%-16.3f", LAT_P50);
	if (!timed)
		number(p, s, "t_avg", "%-12.3f", st->measured.mean);
	number(p, s, "t_stdev", "%-14.3f", lat_moments_stdev(&st->measured));
	percentile(p, s, row, "percentile_99", "%-21.3f", LAT_P99);
	percentile(p, s, row, "percentile_99.9", "%-23.3f", LAT_P999);
	percentile(p, s, row, "percentile_99.99", "%-24.3f", LAT_P9999);
	percentile(p, s, row, "percentile_90", "%-21.3f", LAT_P90);
}

void lat_report_row(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row,
		    unsigned int detail)
{
	const struct lat_stats *st = &row->take.stats;

	bp_print_object(p, NULL);
	print_columns(p, s, row);
	print_few(p, row);
	bp_print_u64(p, "t_max_at", "%-10lu", st->max.index);
	bp_print_f64(p, "t_max_ms", "%-13.3f", DIGITS, lat_clock_ns(&s->clock, st->max.time) / 1e6);
	print_warmup(p, s, row);
	print_blueflame(p, s, row);
	bp_print_bool(p, "complete", row->complete ? NULL : " (incomplete)%.0s", row->complete);
	if (row->sorted)
		number(p, s, "median_deviation", NULL,
		       (double)lat_mad(row->sorted, row->nr_sorted));
	bp_print_bool(p, "paced_by_peer", NULL, row->paced);
	bp_print_f64(p, "seconds", NULL, 6, row->seconds);
	print_rtt(p, s, row);
	print_service(p, s, row);
	if (bp_print_is_json(p) && detail & LAT_DETAIL_HIST)
		print_hist(p, s, row);
	if (bp_print_is_json(p) && detail & LAT_DETAIL_SAMPLES)
		print_samples(p, s, row);
	bp_print_text(p, "\n");
	if (detail & LAT_DETAIL_PEER && row->peer)
		lat_print_json(p, "peer", row->peer);
	bp_print_object_end(p);
}

void lat_report_samples(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row)
{
	const uint64_t *v = s->o->unsorted ? row->take.samples + (row->take.n - row->nr_sorted)
					   : row->sorted;

	bp_print_text(p, "#, %s\n", s->o->cycles ? "cycles" : "usec");
	for (size_t i = 0; i < row->nr_sorted; i++)
		bp_print_text(p, "%zu, %.3f\n", i + 1, lat_half(s, (double)v[i]));
}

struct json_object *lat_row_json(const struct lat_trial *s, const struct lat_row *row)
{
	struct json_object *obj = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct bp_print *p = f ? bp_print_new(f, BP_PRINT_JSON) : NULL;

	if (p) {
		lat_report_row(p, s, row, 0);
		if (!bp_print_free(p))
			obj = json_tokener_parse(text);
	}
	if (f)
		fclose(f);
	free(text);
	return obj;
}
