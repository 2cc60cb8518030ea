/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is printed. Text and JSON come from the same calls, so that the JSON document holds
 * every number of the table. The first nine columns are ib_send_lat's.
 */
#ifndef LAT_REPORT_H
#define LAT_REPORT_H

#include <bp/print.h>

#include "trial.h"

#define LAT_SCHEMA 1

/** enum lat_detail - what a row holds besides the table's numbers, as bits. */
enum lat_detail {
	LAT_DETAIL_HIST = 1 << 0,
	LAT_DETAIL_SAMPLES = 1 << 1,
	LAT_DETAIL_PEER = 1 << 2,
};

/** lat_report_head() - what is measured, and the heading of the table. @p: printer. @s: trial. */
void lat_report_head(struct bp_print *p, const struct lat_trial *s);

/**
 * lat_report_row() - one row.
 * @p: printer. @s: trial. @row: it; its take is settled. @detail: enum lat_detail bits.
 */
void lat_report_row(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row,
		    unsigned int detail);

/**
 * lat_report_tail() - what is to be said after the rows: clock, environment, notes, failure.
 * @p: printer. @s: trial. @ret: 0, or why it failed. @err: in words.
 */
void lat_report_tail(struct bp_print *p, const struct lat_trial *s, int ret,
		     const struct bp_error *err);

/**
 * lat_report_document() - all of it as one JSON document.
 * @p: printer in a JSON mode. @s: trial. @ret: as above. @err: as above.
 */
void lat_report_document(struct bp_print *p, const struct lat_trial *s, int ret,
			 const struct bp_error *err);

/** lat_report_samples() - each sample in text, as -H and -U show them. @p: printer. @s: trial.
 * @row: settled.
 */
void lat_report_samples(struct bp_print *p, const struct lat_trial *s, const struct lat_row *row);

/**
 * lat_row_json() - the numbers of a row, for the peer.
 * @s: trial. @row: settled.
 *
 * Return: a new object, or NULL.
 */
struct json_object *lat_row_json(const struct lat_trial *s, const struct lat_row *row);

/**
 * lat_report_ab() - both kinds of --blueflame ab side by side, for each size.
 * @p: printer. @s: trial.
 */
void lat_report_ab(struct bp_print *p, const struct lat_trial *s);

/**
 * lat_print_json() - a value that somebody else made; nothing in text.
 * @p: printer. @key: its name, or NULL. @obj: value; nesting beyond eight levels becomes null.
 */
void lat_print_json(struct bp_print *p, const char *key, struct json_object *obj);

/** lat_half() - half of a round trip in the unit that is reported. @s: trial. @ticks: of the
 * whole; may be a fraction. Return: microseconds, or ticks with -C.
 */
double lat_half(const struct lat_trial *s, double ticks);

/**
 * lat_row_percentile() - of a row's samples, or of its histogram where there are none.
 * @row: settled. @ppm: which.
 *
 * Return: it, in ticks of the whole round trip.
 */
struct lat_percentile lat_row_percentile(const struct lat_row *row, uint32_t ppm);

#endif
