/* SPDX-License-Identifier: GPL-2.0-only */
/* What bf_send_lat does besides measuring against a peer. */
#ifndef LAT_MODES_H
#define LAT_MODES_H

#include "options.h"

/**
 * lat_wc_check() - time posts alone, and say whether the doorbell page combines writes.
 * @o: device, port, what to print.
 *
 * Return: exit status: 0 write-combining, 1 uncached, 77 unknown, 2 wrong usage.
 */
int lat_wc_check(const struct lat_options *o);

/**
 * lat_compare_documents() - is one run slower than another?
 * @o: compare, fail_if, what to print.
 *
 * Return: exit status: 0, or 1 when a --fail-if condition holds or a document cannot be read.
 */
int lat_compare_documents(const struct lat_options *o);

/**
 * lat_all_pairs() - one process of many that a launcher started: each measures with each.
 * @o: what to measure; rendezvous, plot (a heat map).
 *
 * Return: exit status; 1 when a pair failed.
 */
int lat_all_pairs(const struct lat_options *o);

#endif
