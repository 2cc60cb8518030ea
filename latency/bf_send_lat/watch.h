/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that sleeps while messages are measured and wakes the measuring one when it would
 * wait in vain: the peer died, told an error or has finished, nothing moves any more, or the
 * user has had enough. So the measured loop needs neither time limits nor system calls of
 * its own, only one flag.
 */
#ifndef LAT_WATCH_H
#define LAT_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct lat_ctl;

/** enum lat_stop - why the measuring thread should end. */
enum lat_stop {
	LAT_GO,
	LAT_STOP_WANTED, /* the peer has ended a measurement by time; nothing is wrong */
	LAT_STOP_GONE, /* the peer closed the control channel */
	LAT_STOP_ERROR, /* it told an error; receive it */
	LAT_STOP_LOST, /* it has finished, but not all of its messages came */
	LAT_STOP_STALLED, /* nothing moved for the time limit */
	LAT_STOP_USER, /* SIGINT or SIGTERM */
};

/**
 * struct lat_watch - the thread, seen from outside.
 * @stop: enum lat_stop; the measuring thread reads it while it waits.
 * @progress: exchanges so far; the measuring thread writes it.
 * Others are the thread's own.
 */
struct lat_watch {
	_Atomic int stop;
	_Atomic uint64_t progress;
	struct lat_ctl *ctl;
	double timeout;
	pthread_t thread;
	pthread_t measuring;
	int quit;
};

/**
 * lat_watch_start() - begin to watch over the calling thread.
 * @w: receives all.
 * @ctl: control channel; NULL when there is no peer. Until lat_watch_end() nobody else may use it.
 * @timeout: seconds without progress.
 *
 * System calls of the calling thread are interrupted (SIGURG) when @stop is set, again and
 * again until lat_watch_end().
 *
 * Return: 0, or a negative errno.
 */
int lat_watch_start(struct lat_watch *w, struct lat_ctl *ctl, double timeout);

/** lat_watch_end() - end the thread. @w: started. */
void lat_watch_end(struct lat_watch *w);

#endif
