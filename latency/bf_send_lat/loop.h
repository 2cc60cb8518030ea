/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The measured loop: messages go to and fro, and the time from one send to the next is a
 * sample. What a sample holds is what ib_send_lat's holds (both directions, both ends'
 * posting and polling), less what that does between them: receives are posted in batches
 * after a send, only every 64th send asks for a completion, and nothing else is looked at.
 */
#ifndef LAT_LOOP_H
#define LAT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include <bp/error.h>

#include "end.h"
#include "latency/clock.h"
#include "latency/hist.h"
#include "latency/stats.h"
#include "watch.h"

/**
 * struct lat_take - what one kind of exchange gave.
 * @samples: ticks, in the order they came; NULL when only counted (-D).
 * @room: of @samples. @n: samples taken, all of them.
 * @service: with --rate: from the real send; @samples are from the intended one. Or NULL.
 * @stats: of what @samples holds, or kept up when there is no array.
 * @hist: of the measured ones.
 */
struct lat_take {
	uint64_t *samples;
	uint64_t room;
	uint64_t n;
	uint64_t *service;
	struct lat_stats stats;
	struct lat_hist hist;
};

/**
 * struct lat_loop - one run of the loop.
 * @end: own end; @other: in --loopback the other one, else NULL.
 * @take: where samples go. @watch: whom to ask while waiting. @clock: what ticks.
 * @size: bytes of each message. @client: sends first.
 * @events: sleep for completions. @yield: give way while polling.
 * @gap: ticks before each send. @interval: ticks between intended sends, 0 for a closed loop.
 * @until: ticks at which it ends, 0 for a given number.
 * @started: ticks of the first send.
 */
struct lat_loop {
	struct lat_end *end;
	struct lat_end *other;
	struct lat_take *take;
	struct lat_watch *watch;
	const struct lat_clock *clock;
	uint32_t size;
	bool client;
	bool events;
	bool yield;
	uint64_t gap;
	double interval;
	uint64_t until;
	uint64_t started;
};

/**
 * lat_take_init() - make room.
 * @t: receives all. @room: samples, 0 to only count. @warmup: of @stats. @service: also that.
 *
 * Return: 0 or -ENOMEM.
 */
int lat_take_init(struct lat_take *t, uint64_t room, uint64_t warmup, bool service);

/** lat_take_reset() - forget samples, for the next size. @t: made. @warmup: of @stats. */
void lat_take_reset(struct lat_take *t, uint64_t warmup);

/** lat_take_settle() - fill @stats and @hist from the samples, if there are. @t: done. */
void lat_take_settle(struct lat_take *t);

/** lat_take_drop() - release. @t: zeroed is allowed. */
void lat_take_drop(struct lat_take *t);

/**
 * lat_loop_run() - exchange messages.
 * @l: loop.
 * @exchanges: how many; UINT64_MAX with @until or for a server that is told when to stop.
 * @err: receives the reason.
 *
 * Return: 0; -ECANCELED when the watch said so (see its @stop); another negative errno.
 */
int lat_loop_run(struct lat_loop *l, uint64_t exchanges, struct bp_error *err);

/**
 * lat_loop_local() - the same with both ends in this thread; @other answers.
 * @l: loop. @exchanges: how many. @err: receives the reason.
 *
 * Return: as lat_loop_run().
 */
int lat_loop_local(struct lat_loop *l, uint64_t exchanges, struct bp_error *err);

#endif
