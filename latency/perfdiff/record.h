/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `perfdiff run` found out: configurations (commands), their runs, and for each run a
 * value of each counter. It is written to a file as JSON and read again from files that
 * somebody else may have written.
 */
#ifndef LAT_PERFDIFF_RECORD_H
#define LAT_PERFDIFF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <bp/error.h>
#include "latency/env.h"

#define LAT_RECORD_SCHEMA  "bluepass-perfdiff"
#define LAT_RECORD_VERSION 1

/* Limits for what is read. */
#define LAT_ROWS_MAX	32
#define LAT_CONFIGS_MAX 32
#define LAT_RUNS_MAX	100000
#define LAT_FILE_MAX	(256u << 20)

/**
 * struct lat_row - a counter. @name: it. @unit: "ns" or "".
 * @user_only: without the kernel's part. @missing: why this machine does not have it, or "".
 */
struct lat_row {
	char name[32];
	char unit[8];
	bool user_only;
	char missing[64];
};

/**
 * struct lat_run - one run of a command.
 * @round: from 0. @place: its place in that round. @padding: bytes added to its environment.
 * @status: exit status, or 128 + N for signal N.
 * @value: of each row; NAN where it is missing. @share: of the time that it really counted.
 */
struct lat_run {
	unsigned int round;
	unsigned int place;
	unsigned int padding;
	int status;
	double value[LAT_ROWS_MAX];
	double share[LAT_ROWS_MAX];
};

/** struct lat_config - @name: heading of its column. @argv: command, ends with NULL.
 * @nr: runs. @run: they.
 */
struct lat_config {
	char *name;
	char **argv;
	size_t nr;
	struct lat_run *run;
};

/**
 * struct lat_record - all of a file.
 * @seed: of order and padding. @rounds, @warmup: how many of each. @env: where; only written.
 * @has_env: whether @env is filled in. @steal: hundredths of a second stolen meanwhile.
 */
struct lat_record {
	uint64_t seed;
	unsigned int rounds;
	unsigned int warmup;
	struct lat_env env;
	struct lat_env_counts window;
	bool has_env;
	size_t nr_rows;
	struct lat_row row[LAT_ROWS_MAX];
	size_t nr_configs;
	struct lat_config config[LAT_CONFIGS_MAX];
};

/**
 * lat_record_config() - add a configuration.
 * @r: record. @argv: command, ends with NULL; copied. @name: or NULL for the command's words.
 *
 * A name that is taken gets a number after it.
 *
 * Return: 0, -ENOSPC beyond LAT_CONFIGS_MAX, -ENOMEM.
 */
int lat_record_config(struct lat_record *r, char *const *argv, const char *name);

/** lat_record_run() - add a run to a configuration. @c: it. Return: a zeroed run, or NULL for lack
 * of memory or beyond LAT_RUNS_MAX.
 */
struct lat_run *lat_record_run(struct lat_config *c);

/** lat_record_free() - give its memory back. @r: record; zeroed afterwards. */
void lat_record_free(struct lat_record *r);

/** lat_record_write() - as JSON. @r: record. @out: stream. Return: 0 or a negative errno. */
int lat_record_write(const struct lat_record *r, FILE *out);

/** lat_record_probe() - whether lat_record_save() will find a place, before hours of work are done.
 * @path: file. @err: says why not. Return: 0 or a negative errno.
 */
int lat_record_probe(const char *path, struct bp_error *err);

/**
 * lat_record_save() - to a file, which is replaced only when all of it could be written.
 * @r: record. @path: file. @err: says what failed.
 * Return: 0 or a negative errno.
 */
int lat_record_save(const struct lat_record *r, const char *path, struct bp_error *err);

/**
 * lat_record_parse() - from JSON.
 * @r: receives it; lat_record_free() it. Untouched on failure.
 * @text: JSON. @len: its length. @name: file's name, for messages. @err: says what is wrong.
 *
 * Every length, number and type is checked.
 *
 * Return: 0; -EINVAL for anything that is no such record; -EPROTO for one of a later version; -ENOMEM.
 */
int lat_record_parse(struct lat_record *r, const char *text, size_t len, const char *name,
		     struct bp_error *err);

/** lat_record_load() - from a file. @r: as above. @path: file. @err: as above.
 * Return: as lat_record_parse(), -EFBIG, or what open() and read() say.
 */
int lat_record_load(struct lat_record *r, const char *path, struct bp_error *err);

#endif
