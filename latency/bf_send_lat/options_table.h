/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of bf_send_lat as data: parsing, help and refusals read the same rows. */
#ifndef LAT_OPTIONS_TABLE_H
#define LAT_OPTIONS_TABLE_H

/** enum lat_opt_id - options that have no letter. */
enum lat_opt_id {
	LAT_OPT_OUT_JSON = 256,
	LAT_OPT_OUT_JSON_FILE,
	LAT_OPT_IPV6,
	LAT_OPT_SOURCE_IP,
	LAT_OPT_GAP,
	LAT_OPT_OUTPUT,
	LAT_OPT_TCLASS,
	LAT_OPT_PKEY,
	LAT_OPT_RETRY,
	LAT_OPT_FORCE_LINK,
	LAT_OPT_OLD_POST,
	LAT_OPT_LOOPBACK,
	LAT_OPT_WARMUP,
	LAT_OPT_TIMEOUT,
	LAT_OPT_WAIT,
	LAT_OPT_PRETTY,
	LAT_OPT_SAMPLES,
	LAT_OPT_BLUEFLAME,
	LAT_OPT_BLOCK,
	LAT_OPT_SEED,
	LAT_OPT_WC_CHECK,
	LAT_OPT_RATE,
	LAT_OPT_COMPARE,
	LAT_OPT_FAIL_IF,
	LAT_OPT_PLOT,
	LAT_OPT_PROMETHEUS,
	LAT_OPT_CPU,
	LAT_OPT_YIELD,
	LAT_OPT_ALL_PAIRS,
	LAT_OPT_RENDEZVOUS,
	LAT_OPT_REFUSED,
};

/**
 * struct lat_opt_row - one option.
 * @id: letter, or enum lat_opt_id.
 * @name: long name, or NULL.
 * @arg: name of its value, or NULL for a flag.
 * @help: one line; NULL for what is refused.
 * @refused: why it is, or NULL.
 */
struct lat_opt_row {
	int id;
	const char *name;
	const char *arg;
	const char *help;
	const char *refused;
};

/** lat_opt_rows - all options, ending with a row whose id is 0; a new heading has only @help. */
extern const struct lat_opt_row lat_opt_rows[];

#endif
