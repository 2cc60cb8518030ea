/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine's event loop: one thread waits for descriptors and deadlines and
 * calls handlers with the machine's lock held.
 */
#ifndef VMM_LOOP_H
#define VMM_LOOP_H

#include <pthread.h>
#include <stdint.h>

struct vmm_loop;

/**
 * vmm_loop_new() - make a loop.
 * @lock: held while a handler runs, and by callers of the functions below.
 * @out: receives the loop.
 *
 * Return: 0, or a negative errno.
 */
int vmm_loop_new(pthread_mutex_t *lock, struct vmm_loop **out);

/** vmm_loop_free() - drop the loop; watched descriptors stay open. @loop: NULL is allowed. */
void vmm_loop_free(struct vmm_loop *loop);

/**
 * vmm_loop_watch() - call a handler whenever a descriptor is readable.
 * @loop: loop. @fd: descriptor. @fn: handler. @priv: handed to it.
 *
 * Return: 0, or a negative errno.
 */
int vmm_loop_watch(struct vmm_loop *loop, int fd, void (*fn)(void *priv, int fd), void *priv);

/** vmm_loop_unwatch() - stop watching; also from inside a handler. @loop: loop. @fd: descriptor. */
void vmm_loop_unwatch(struct vmm_loop *loop, int fd);

struct vmm_timer;

/**
 * vmm_timer_new() - a timer, not running.
 * @loop: loop. @fn: handler. @priv: handed to it. @out: receives the timer.
 *
 * Return: 0, or a negative errno.
 */
int vmm_timer_new(struct vmm_loop *loop, void (*fn)(void *priv), void *priv,
		  struct vmm_timer **out);

/** vmm_timer_arm() - fire once after @ns nanoseconds of CLOCK_MONOTONIC; 0 stops it. @timer: timer. @ns: delay. */
void vmm_timer_arm(struct vmm_timer *timer, uint64_t ns);

/** vmm_timer_free() - stop and drop. @timer: NULL is allowed. */
void vmm_timer_free(struct vmm_timer *timer);

/** vmm_loop_run() - serve until vmm_loop_stop(). @loop: loop. Return: 0, or a negative errno. */
int vmm_loop_run(struct vmm_loop *loop);

/** vmm_loop_stop() - make vmm_loop_run() return; from any thread or signal handler. @loop: loop. */
void vmm_loop_stop(struct vmm_loop *loop);

#endif
