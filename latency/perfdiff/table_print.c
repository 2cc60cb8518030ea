// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "latency/perfdiff/table.h"

#define WIDTH 14

/* A value as people read it: times in their natural unit, small counts with a decimal. */
static void text_value(char *out, size_t size, double v, const char *unit)
{
	static const struct {
		double from;
		const char *unit;
	} times[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 0, "ns" } };
	size_t i = 0;

	if (strcmp(unit, "ns") != 0) {
		snprintf(out, size, v < 1000 && v > floor(v) ? "%.1f" : "%.0f", v);
		return;
	}
	while (v < times[i].from)
		i++;
	snprintf(out, size, "%.4g %s", times[i].from > 0 ? v / times[i].from : v, times[i].unit);
}

static void percent(char *out, size_t size, double v)
{
	if (isfinite(v))
		snprintf(out, size, "%+.2f %%", 100 * v);
	else
		snprintf(out, size, "-");
}

static double shown(const struct lat_table *t, const struct lat_cell *c)
{
	return t->stat == LAT_MEAN ? c->mean : c->median;
}

static const char *verdict(const struct lat_diff *d)
{
	return d->differs ? "yes" : d->hopeless ? "few" : "no";
}

static void print_cell(struct bp_print *p, const struct lat_table *t, size_t row, size_t col)
{
	const struct lat_cell *c = &t->cell[row][col];
	const struct lat_diff *d = &c->diff;
	char text[48], low[24], high[24];

	bp_print_object(p, NULL);
	bp_print_str(p, "configuration", NULL, t->column[col].label);
	bp_print_u64(p, "runs", NULL, c->n);
	if (c->n) {
		text_value(text, sizeof(text), shown(t, c), t->row[row].unit);
		bp_print_text(p, "  %*s", WIDTH, text);
		bp_print_f64(p, "mean", NULL, 3, c->mean);
		bp_print_f64(p, "stdev", NULL, 3, c->stdev);
		/* Alone, a value has nothing to differ from but itself. */
		if (t->nr_columns == 1 && c->mean > 0)
			bp_print_text(p, "  +- %6.2f %%", 100 * c->stdev / c->mean);
		bp_print_f64(p, "median", NULL, 3, c->median);
		bp_print_f64(p, "counted_share", NULL, 4, c->share);
	} else {
		bp_print_text(p, "  %*s", WIDTH, "-");
	}
	if (c->compared) {
		percent(text, sizeof(text), d->change);
		percent(low, sizeof(low), d->change_low);
		percent(high, sizeof(high), d->change_high);
		bp_print_text(p, " %10s  %10s .. %-10s %-4s", text, low, high, verdict(d));
		bp_print_f64(p, "change", NULL, 6, d->change);
		bp_print_f64(p, "change_low", NULL, 6, d->change_low);
		bp_print_f64(p, "change_high", NULL, 6, d->change_high);
		bp_print_f64(p, "difference_low", NULL, 3, d->diff_low);
		bp_print_f64(p, "difference_high", NULL, 3, d->diff_high);
		bp_print_f64(p, "p", NULL, 9, d->p);
		bp_print_bool(p, "paired", NULL, c->paired);
		bp_print_bool(p, "differs", NULL, d->differs);
		bp_print_bool(p, "too_few_runs", NULL, d->hopeless);
	} else if (col) {
		bp_print_text(p, " %10s  %10s    %-10s %-4s", "-", "", "", "");
	}
	bp_print_object_end(p);
}

static void print_heading(struct bp_print *p, const struct lat_table *t)
{
	char interval[24];

	snprintf(interval, sizeof(interval), "%g %% interval", 100 * t->level);
	bp_print_text(p, "%-22s", "counter");
	for (size_t i = 0; i < t->nr_columns; i++) {
		bp_print_text(p, "  %*.*s", WIDTH, WIDTH, t->column[i].label);
		if (i)
			bp_print_text(p, " %10s  %-24s %-4s", "change", interval, "real");
	}
	bp_print_text(p, "\n");
}

static bool any(const struct lat_table *t, size_t row)
{
	for (size_t c = 0; c < t->nr_columns; c++)
		if (t->cell[row][c].n)
			return true;
	return false;
}

/* One line for each reason, with all counters that are missing for it. */
static void print_missing(struct bp_print *p, const struct lat_table *t)
{
	bool said[LAT_ROWS_MAX] = { false };

	for (size_t r = 0; r < t->nr_rows; r++) {
		if (said[r] || any(t, r))
			continue;
		bp_print_text(p, "missing: %s", t->row[r].name);
		for (size_t k = r + 1; k < t->nr_rows; k++) {
			if (any(t, k) || strcmp(t->row[k].missing, t->row[r].missing) != 0)
				continue;
			said[k] = true;
			bp_print_text(p, ", %s", t->row[k].name);
		}
		bp_print_text(p, " (%s)\n", t->row[r].missing);
	}
}

/* What a reader of the table has to know. */
static void print_notes(struct bp_print *p, const struct lat_table *t)
{
	bool few = false, paired = false;

	for (size_t r = 0; r < t->nr_rows; r++) {
		for (size_t c = 0; c < t->nr_columns; c++) {
			const struct lat_cell *cell = &t->cell[r][c];

			few |= cell->compared && cell->diff.hopeless && !cell->diff.differs;
			paired |= cell->paired;
			if (cell->n && cell->share < 0.995)
				bp_print_text(
					p, "%s of %s: counted %.0f %% of the time, and scaled\n",
					t->row[r].name, t->column[c].label, 100 * cell->share);
		}
	}
	print_missing(p, t);
	for (size_t c = 0; c < t->nr_columns; c++)
		if (t->column[c].failed)
			bp_print_text(p, "%zu of %zu runs of %s ended with a status other than 0\n",
				      t->column[c].failed, t->column[c].runs, t->column[c].label);
	if (t->nr_columns < 2)
		return;
	bp_print_text(p,
		      "Base is %s; %s of %zu runs%s. real: the interval excludes 0 and a rank test "
		      "agrees.\n",
		      t->column[0].label, t->stat == LAT_MEAN ? "mean" : "median",
		      t->column[0].runs, paired ? ", compared in pairs of a round" : "");
	if (few)
		bp_print_text(p, "few: too few runs to be sure at %g %%; use -r 10 or more\n",
			      100 * t->level);
}

void lat_table_print(struct bp_print *p, const struct lat_table *t)
{
	bp_print_object(p, NULL);
	bp_print_str(p, "base", NULL, t->column[0].label);
	bp_print_str(p, "statistic", NULL, t->stat == LAT_MEAN ? "mean" : "median");
	bp_print_f64(p, "level", NULL, 4, t->level);
	bp_print_array(p, "configurations");
	for (size_t c = 0; c < t->nr_columns; c++) {
		bp_print_object(p, NULL);
		bp_print_str(p, "name", NULL, t->column[c].label);
		bp_print_u64(p, "runs", NULL, t->column[c].runs);
		bp_print_u64(p, "failed", NULL, t->column[c].failed);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	print_heading(p, t);
	bp_print_array(p, "rows");
	for (size_t r = 0; r < t->nr_rows; r++) {
		char name[sizeof(t->row[r].name) + 8];

		if (!any(t, r))
			continue;
		snprintf(name, sizeof(name), "%s%s", t->row[r].name,
			 t->row[r].user_only ? " (user)" : "");
		bp_print_object(p, NULL);
		bp_print_str(p, "counter", NULL, t->row[r].name);
		bp_print_str(p, "unit", NULL, t->row[r].unit);
		bp_print_bool(p, "user_only", NULL, t->row[r].user_only);
		bp_print_text(p, "%-22s", name);
		bp_print_array(p, "columns");
		for (size_t c = 0; c < t->nr_columns; c++)
			print_cell(p, t, r, c);
		bp_print_array_end(p);
		bp_print_text(p, "\n");
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	bp_print_array(p, "missing");
	for (size_t r = 0; r < t->nr_rows; r++) {
		if (any(t, r))
			continue;
		bp_print_object(p, NULL);
		bp_print_str(p, "counter", NULL, t->row[r].name);
		bp_print_str(p, "why", NULL, t->row[r].missing);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	print_notes(p, t);
	bp_print_object_end(p);
}
