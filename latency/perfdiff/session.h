/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several commands in turn, so that what changes meanwhile (heat, neighbours, memory that
 * fragments) hits all of them alike: each round runs each command once, in an order drawn
 * anew, with a layout drawn anew.
 */
#ifndef LAT_PERFDIFF_SESSION_H
#define LAT_PERFDIFF_SESSION_H

#include "latency/perfdiff/command.h"

/**
 * struct lat_session - what to do.
 * @rounds: that count. @warmup: rounds before them, which do not.
 * @seed: of order and padding.
 * @quiet: commands' standard output goes nowhere.
 * @any_status: a failing command's runs count as well.
 * @sys: calls for counters.
 * @step: told before each run; may be NULL. @priv: handed to it.
 */
struct lat_session {
	unsigned int rounds;
	unsigned int warmup;
	uint64_t seed;
	bool quiet;
	bool any_status;
	const struct lat_perf_sys *sys;
	void (*step)(void *priv, unsigned int round, unsigned int rounds, const char *name);
	void *priv;
};

/**
 * lat_session_run() - do it.
 * @s: what.
 * @r: record whose configurations are the commands; receives rows and runs.
 * @err: says which command failed, how, and in which round.
 *
 * Return: 0; -ECANCELED when a command failed; another negative errno when it could not be run.
 */
int lat_session_run(const struct lat_session *s, struct lat_record *r, struct bp_error *err);

#endif
