// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "difference.h"
#include "latency/stats.h"

static const struct {
	const char *name;
	uint32_t ppm;
} metrics[] = {
	{ "avg", LAT_MEAN },
	{ "p50", LAT_P50 },
	{ "p90", LAT_P90 },
	{ "p99", LAT_P99 },
};

static int bad_limit(struct bp_error *err, const char *text)
{
	return bp_error_set(err, -EINVAL, NULL,
			    "--fail-if takes something as 'p99>+5%%' or 'avg>3.5', not '%s'", text);
}

/* "99.9" without rounding: percentiles are whole parts per million. */
static bool parse_ppm(const char *text, size_t len, uint32_t *ppm)
{
	uint32_t value = 0, unit = 10000;
	bool point = false, digit = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (text[i] < '0' || text[i] > '9')
			return false;
		digit = true;
		if (point) {
			unit /= 10;
			value += (uint32_t)(text[i] - '0') * unit;
		} else {
			value = value * 10 + (uint32_t)(text[i] - '0') * 10000;
		}
		if (value > LAT_PPM)
			return false;
	}
	*ppm = value;
	return digit;
}

int lat_limit_parse(const char *text, struct lat_limit *out, struct bp_error *err)
{
	const char *more = strchr(text, '>');
	char *end;

	*out = (struct lat_limit){ .text = text };
	if (!more)
		return bad_limit(err, text);
	if (more - text == 3 && !strncmp(text, "avg", 3))
		out->ppm = LAT_MEAN;
	else if (text[0] != 'p' || !parse_ppm(text + 1, (size_t)(more - text - 1), &out->ppm))
		return bad_limit(err, text);
	out->value = strtod(more + 1, &end);
	if (end == more + 1 || !isfinite(out->value) || out->value < 0)
		return bad_limit(err, text);
	if (*end == '%') {
		out->relative = true;
		out->value /= 100;
		end++;
	}
	return *end ? bad_limit(err, text) : 0;
}

static int compare(const struct lat_series *a, const struct lat_series *b, uint32_t ppm,
		   struct lat_diff *d)
{
	const struct lat_compare_opts opts = { .ppm = ppm };

	return lat_compare(a->v, a->n, b->v, b->n, &opts, d);
}

int lat_limit_broken(const struct lat_limit *limit, const struct lat_series *a,
		     const struct lat_series *b, bool *broken)
{
	struct lat_diff d;
	int ret = compare(a, b, limit->ppm, &d);

	if (ret)
		return ret;
	*broken = limit->relative ? d.differs && d.change > limit->value : d.other > limit->value;
	return 0;
}

void lat_difference_head(struct bp_print *p, const char *a, const char *b)
{
	bp_print_text(p, " %-8s %-6s %12s %12s %10s   %-22s %s\n", "#bytes", "", a, b, "change",
		      "interval", "verdict");
}

static const char *verdict(const struct lat_diff *d)
{
	if (d->hopeless)
		return "too few samples";
	if (!d->differs)
		return "no difference beyond noise";
	return d->other > d->base ? "slower" : "faster";
}

static void print_one(struct bp_print *p, unsigned int size, const char *name,
		      const struct lat_diff *d)
{
	char interval[48] = "-";

	bp_print_object(p, NULL);
	bp_print_u64(p, "MsgSize", " %-8lu", size);
	bp_print_str(p, "metric", " %-6s", name);
	bp_print_f64(p, "base", " %12.3f", 3, d->base);
	bp_print_f64(p, "other", " %12.3f", 3, d->other);
	bp_print_f64(p, "change_percent", " %+9.2f%%", 2, 100 * d->change);
	if (isfinite(d->change_low) && isfinite(d->change_high))
		snprintf(interval, sizeof(interval), "%+.2f%% to %+.2f%%", 100 * d->change_low,
			 100 * d->change_high);
	bp_print_text(p, "   %-22s", interval);
	bp_print_f64(p, "low_percent", NULL, 2, 100 * d->change_low);
	bp_print_f64(p, "high_percent", NULL, 2, 100 * d->change_high);
	bp_print_f64(p, "level", NULL, 4, d->level);
	bp_print_f64(p, "rank_test_p", NULL, 6, d->p);
	bp_print_bool(p, "differs", NULL, d->differs);
	bp_print_str(p, "verdict", " %s\n", verdict(d));
	bp_print_object_end(p);
}

int lat_difference_print(struct bp_print *p, unsigned int size, const struct lat_series *a,
			 const struct lat_series *b)
{
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		struct lat_diff d;
		int ret = compare(a, b, metrics[i].ppm, &d);

		if (ret)
			return ret;
		print_one(p, size, metrics[i].name, &d);
	}
	return 0;
}
