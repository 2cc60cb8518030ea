/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A measurement from the first word with the peer to the last: who agrees on what, what
 * exists meanwhile, and the rows that come of it.
 */
#ifndef LAT_TRIAL_H
#define LAT_TRIAL_H

#include <sched.h>

#include "ctl.h"
#include "latency/clock.h"
#include "latency/env.h"
#include "loop.h"
#include "options.h"

#define LAT_ROWS_MAX (2 * LAT_SIZES_MAX)

struct lat_cmqp;

/**
 * struct lat_row - what one size gave.
 * @size: bytes. @arm: 0, or with --blueflame ab 0 for on and 1 for off.
 * @complete: all that was asked for was measured.
 * @take: samples, statistics, histogram.
 * @sorted: measured samples in ascending order, or NULL when only the histogram has them.
 * @nr_sorted: how many.
 * @seconds: from the first send to the end.
 * @paced: the peer sends by the clock, so that samples of this end are the time between sends.
 * @peer: the peer's own row as it told it, or NULL.
 */
struct lat_row {
	uint32_t size;
	unsigned int arm;
	bool complete;
	struct lat_take take;
	uint64_t *sorted;
	size_t nr_sorted;
	double seconds;
	bool paced;
	struct json_object *peer;
};

/**
 * struct lat_trial - all of it.
 * @o: command line. @p: what both agreed on.
 * @ctl: control channel; NULL in --loopback.
 * @client: sends first.
 * @clock: calibrated once.
 * @devices, @ends: own ends; @nr_ends of them. In --loopback the second of each pair is the peer.
 * @cmqp: rdma_cm's part of -R, or NULL.
 * @mtu: agreed path MTU in bytes. @max_size: largest message.
 * @same_host: the peer runs on this machine. @yield: give way while polling.
 * @cpu: processor this end was pinned to, or -1.
 * @peer_open: the peer sends by the clock.
 * @rows: results. @nr_rows: how many.
 * @env: the machine. @before, @after: its counters around all that was measured.
 * @busy: seconds in which messages were measured. @elapsed: seconds of all, from the greeting on.
 * @peer_error: what the peer told after this end had failed by itself; empty for nothing.
 * @on_row: is told of each row as it comes, or NULL. @priv: for it.
 */
struct lat_trial {
	const struct lat_options *o;
	struct lat_params p;
	struct lat_ctl *ctl;
	bool client;
	struct lat_clock clock;
	struct lat_device devices[2];
	struct lat_end ends[4];
	unsigned int nr_ends;
	struct lat_cmqp *cmqp;
	unsigned int mtu;
	uint32_t max_size;
	bool same_host;
	bool yield;
	int cpu;
	bool peer_open;
	struct lat_row rows[LAT_ROWS_MAX];
	unsigned int nr_rows;
	struct lat_env env;
	struct lat_env_counts before;
	struct lat_env_counts after;
	double busy;
	double elapsed;
	struct bp_error peer_error;
	void (*on_row)(const struct lat_trial *s, const struct lat_row *row);
	void *priv;
};

/**
 * lat_trial_run() - do all of it.
 * @s: @o, @p, @client and @on_row are set, the rest is zero.
 * @err: receives the reason.
 *
 * Rows that were measured before a failure stay. lat_trial_drop() in all cases.
 *
 * Return: 0, or a negative errno.
 */
int lat_trial_run(struct lat_trial *s, struct bp_error *err);

/**
 * lat_trial_local() - only what is needed to send from here to here: devices, joined ends.
 * @s: @o is set, the rest is zero. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_trial_local(struct lat_trial *s, struct bp_error *err);

/** lat_trial_drop() - release all. @s: trial. */
void lat_trial_drop(struct lat_trial *s);

/**
 * lat_hello_client() - what a client says first, and what it makes of the answer.
 * @s: trial. @cm_port: receives the port for -R. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_hello_client(struct lat_trial *s, unsigned int *cm_port, struct bp_error *err);

/**
 * lat_hello_read() - a server takes its client's wishes.
 * @s: trial; @p becomes what holds. @err: receives the reason.
 *
 * Return: 0, or a negative errno; -EBADMSG when it was no client at all.
 */
int lat_hello_read(struct lat_trial *s, struct bp_error *err);

/**
 * lat_hello_answer() - a server tells what holds.
 * @s: trial. @cm_port: for -R, or 0. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_hello_answer(struct lat_trial *s, unsigned int cm_port, struct bp_error *err);

/**
 * lat_params_merge() - one set of parameters out of two.
 * @client: its wishes. @server: its wishes. @out: receives what holds.
 * @err: receives which parameter contradicts.
 *
 * Return: 0 or -EINVAL.
 */
int lat_params_merge(const struct lat_params *client, const struct lat_params *server,
		     struct lat_params *out, struct bp_error *err);

/** lat_params_put() - as JSON. @p: parameters. Return: a new object. */
struct json_object *lat_params_put(const struct lat_params *p);

/**
 * lat_params_get() - from JSON that somebody else wrote.
 * @obj: object. @p: receives them, checked. @err: receives the reason.
 *
 * Return: 0 or -EPROTO.
 */
int lat_params_get(struct json_object *obj, struct lat_params *p, struct bp_error *err);

/**
 * lat_join_peer() - exchange the addresses of the ends and connect them.
 * @s: trial whose ends are made. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_join_peer(struct lat_trial *s, struct bp_error *err);

/**
 * lat_measure() - all sizes.
 * @s: trial whose ends are joined. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_measure(struct lat_trial *s, struct bp_error *err);

/**
 * lat_pin() - run on one processor near the device, unless the user wishes otherwise.
 * @o: cpu. @device: name. @client: two ends on one machine must not choose the same.
 * @cpu: receives it, -1 for none. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_pin(const struct lat_options *o, const char *device, bool client, int *cpu,
	    struct bp_error *err);

/** lat_cpus() - processors this process may run on. @only: receives the number if it is one.
 * Return: how many.
 */
int lat_cpus(int *only);

/** lat_host_id() - tells machines apart (boot_id). @buf: receives it. Return: @buf. */
const char *lat_host_id(char buf[64]);

#endif
