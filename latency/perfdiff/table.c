// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "latency/perfdiff/table.h"
#include "latency/stats.h"

/* Of fewer pairs the signed-rank test can never be sure enough: 2 / 2^8 is below 1 %. */
#define PAIRS_MIN 8

/* Where a column comes from. */
struct source {
	const struct lat_record *record;
	const struct lat_config *config;
};

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The row of that name; LAT_ROWS_MAX when the record has none. */
static size_t row_of(const struct lat_record *r, const char *name)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (!strcmp(r->row[i].name, name))
			return i;
	return LAT_ROWS_MAX;
}

/* Values of a row; none when the record counted something else under that name. */
static size_t values(const struct source *s, const struct lat_row *want, double *out, double *share)
{
	size_t row = row_of(s->record, want->name), n = 0;

	*share = 0;
	if (row < LAT_ROWS_MAX && (s->record->row[row].user_only != want->user_only ||
				   strcmp(s->record->row[row].unit, want->unit) != 0))
		return 0;
	for (size_t i = 0; row < LAT_ROWS_MAX && i < s->config->nr; i++) {
		const struct lat_run *run = &s->config->run[i];

		if (isnan(run->value[row]))
			continue;
		out[n++] = run->value[row];
		*share += isnan(run->share[row]) ? 0 : run->share[row];
	}
	*share /= n ? (double)n : 1;
	return n;
}

static bool same_rounds(const struct source *a, const struct source *b)
{
	if (a->record != b->record || a->config->nr != b->config->nr)
		return false;
	for (size_t i = 0; i < a->config->nr; i++)
		if (a->config->run[i].round != b->config->run[i].round)
			return false;
	return true;
}

static int summarise(struct lat_cell *c, const double *v, size_t n, double share)
{
	struct lat_moments m = { 0 };
	double *sorted = malloc((n ? n : 1) * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	*c = (struct lat_cell){ .n = n, .share = share };
	for (size_t i = 0; i < n; i++) {
		sorted[i] = v[i];
		lat_moments_add(&m, v[i]);
	}
	c->mean = m.mean;
	c->stdev = lat_moments_stdev(&m);
	if (n) {
		qsort(sorted, n, sizeof(*sorted), by_double);
		c->median = sorted[lat_rank(n, LAT_P50) - 1];
	}
	free(sorted);
	return 0;
}

/* One row: each column by itself, then against the first. */
static int make_row(struct lat_table *t, size_t row, const struct source *src,
		    const struct lat_table_opts *opts)
{
	struct lat_compare_opts o = {
		/* Order was drawn anew each round: neighbours are no more alike than others. */
		.ppm = t->stat,
		.level = t->level,
		.seed = opts->seed,
		.block = 1,
	};
	double *v[LAT_COLUMNS_MAX] = { NULL }, share;
	size_t columns = t->nr_columns;
	int ret = 0;

	for (size_t c = 0; c < columns && !ret; c++) {
		size_t n;

		v[c] = calloc(src[c].config->nr, sizeof(**v));
		if (!v[c]) {
			ret = -ENOMEM;
			break;
		}
		n = values(&src[c], &t->row[row], v[c], &share);
		ret = summarise(&t->cell[row][c], v[c], n, share);
		if (ret || !c || !n || !t->cell[row][0].n)
			continue;
		o.paired = n == src[c].config->nr && n == t->cell[row][0].n && n >= PAIRS_MIN &&
			   same_rounds(&src[0], &src[c]);
		ret = lat_compare(v[0], t->cell[row][0].n, v[c], n, &o, &t->cell[row][c].diff);
		t->cell[row][c].compared = !ret;
		t->cell[row][c].paired = o.paired;
	}
	for (size_t c = 0; c < columns; c++)
		free(v[c]);
	return ret;
}

static void label(struct lat_column *col, const char *file, const struct lat_record *r,
		  const struct lat_config *c, bool several)
{
	const char *slash = strrchr(file, '/');
	size_t len;

	file = slash ? slash + 1 : file;
	len = strlen(file);
	if (len > 5 && !strcmp(file + len - 5, ".json"))
		len -= 5;
	if (!several)
		snprintf(col->label, sizeof(col->label), "%s", c->name);
	else if (r->nr_configs == 1)
		snprintf(col->label, sizeof(col->label), "%.*s", (int)len, file);
	else
		snprintf(col->label, sizeof(col->label), "%.*s:%s", (int)len, file, c->name);
	col->runs = c->nr;
	for (size_t i = 0; i < c->nr; i++)
		col->failed += c->run[i].status != 0;
}

int lat_table_make(struct lat_table *t, const struct lat_record *record, const char *const *name,
		   size_t n, const struct lat_table_opts *opts, struct bp_error *err)
{
	struct source src[LAT_COLUMNS_MAX] = { 0 };
	size_t columns = 0;
	int ret = 0;

	memset(t, 0, sizeof(*t));
	t->stat = opts->stat;
	t->level = opts->level > 0 ? opts->level : 0.99;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < record[i].nr_configs; k++) {
			const struct lat_config *c = &record[i].config[k];

			if (columns == LAT_COLUMNS_MAX)
				return bp_error_set(err, -E2BIG, "name fewer files",
						    "more than %d configurations", LAT_COLUMNS_MAX);
			if (!c->nr)
				return bp_error_set(err, -ENODATA, NULL,
						    "'%s' holds no run of '%s'", name[i], c->name);
			label(&t->column[columns], name[i], &record[i], c, n > 1);
			src[columns].record = &record[i];
			src[columns++].config = c;
		}
	}
	t->nr_columns = columns;
	t->nr_rows = columns ? record[0].nr_rows : 0;
	for (size_t i = 0; i < t->nr_rows && !ret; i++) {
		t->row[i] = record[0].row[i];
		ret = make_row(t, i, src, opts);
	}
	return ret;
}
