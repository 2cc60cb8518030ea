/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of a command, counted from its exec to its end. */
#ifndef LAT_PERFDIFF_COMMAND_H
#define LAT_PERFDIFF_COMMAND_H

#include "latency/perf.h"
#include "latency/perfdiff/record.h"

/* Rows that need no counter: time by the clock, and what wait4() says. */
#define LAT_ROW_ELAPSED 0
#define LAT_ROW_USER	1
#define LAT_ROW_SYSTEM	2
#define LAT_ROW_PERF	3

/* Name of the variable whose length shifts the command's stack. */
#define LAT_PADDING_VARIABLE "PERFDIFF_PADDING"
#define LAT_PADDING_MAX	     4096

/** struct lat_command - @argv: what to run, ends with NULL. @padding: bytes to add to its
 * environment. @quiet: its standard output goes nowhere.
 */
struct lat_command {
	char *const *argv;
	unsigned int padding;
	bool quiet;
};

/** lat_command_rows() - the rows that lat_command_run() fills. @r: receives them, all present. */
void lat_command_rows(struct lat_record *r);

/**
 * lat_command_run() - run it, wait for it, count it.
 * @cmd: command; address space randomisation is switched on for it.
 * @sys: calls for counters.
 * @r: rows; "missing" and "user_only" are filled in.
 * @run: receives values, shares and status.
 * @err: says why it could not be run.
 *
 * Without any counter the first three rows remain.
 *
 * Return: 0 whatever its exit status; the errno of exec as a negative number; others.
 */
int lat_command_run(const struct lat_command *cmd, const struct lat_perf_sys *sys,
		    struct lat_record *r, struct lat_run *run, struct bp_error *err);

#endif
