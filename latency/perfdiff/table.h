/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records side by side: a column for each configuration, and for each but the first how it
 * differs from the first, how sure that is, and whether it is more than noise.
 */
#ifndef LAT_PERFDIFF_TABLE_H
#define LAT_PERFDIFF_TABLE_H

#include <bp/print.h>
#include "latency/compare.h"
#include "latency/perfdiff/record.h"

/* Columns of a table: what fits on a wide screen. */
#define LAT_COLUMNS_MAX 16

/**
 * struct lat_cell - a row in a column.
 * @n: runs that have a value; the rest is only there when this is not 0.
 * @mean, @stdev, @median: of them. @share: of the time that the counter really counted.
 * @compared: @diff is there: the column is not the base, and both have values.
 * @paired: runs of the same round were compared. @diff: with the base.
 */
struct lat_cell {
	size_t n;
	double mean;
	double stdev;
	double median;
	double share;
	bool compared;
	bool paired;
	struct lat_diff diff;
};

/** struct lat_column - @label: heading. @runs: how many. @failed: of these with another status than 0. */
struct lat_column {
	char label[40];
	size_t runs;
	size_t failed;
};

/**
 * struct lat_table - all of it.
 * @stat: LAT_MEAN or LAT_P50. @level: of the intervals. @nr_columns, @column; @nr_rows, @row: as
 * in the base's record; @cell: by row and column.
 */
struct lat_table {
	uint32_t stat;
	double level;
	size_t nr_columns;
	struct lat_column column[LAT_COLUMNS_MAX];
	size_t nr_rows;
	struct lat_row row[LAT_ROWS_MAX];
	struct lat_cell cell[LAT_ROWS_MAX][LAT_COLUMNS_MAX];
};

/** struct lat_table_opts - @stat: LAT_MEAN or LAT_P50. @level: confidence, 0 for 0.99. @seed: of resampling. */
struct lat_table_opts {
	uint32_t stat;
	double level;
	uint64_t seed;
};

/**
 * lat_table_make() - compare.
 * @t: receives it.
 * @record: records; the first configuration of the first is the base.
 * @name: of each record's file, for headings when there are several.
 * @n: how many. @opts: how. @err: says what does not fit.
 *
 * Configurations of one record took turns, so their runs are compared in pairs of the same
 * round, where there are the eight rounds that pairs need; others as two independent sets.
 *
 * Return: 0; -E2BIG for more columns than LAT_COLUMNS_MAX; -ENODATA when one has no runs; -ENOMEM.
 */
int lat_table_make(struct lat_table *t, const struct lat_record *record, const char *const *name,
		   size_t n, const struct lat_table_opts *opts, struct bp_error *err);

/** lat_table_print() - as text or as JSON (one object). @p: printer. @t: table. */
void lat_table_print(struct bp_print *p, const struct lat_table *t);

#endif
