/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine for testing one device at a time: a real bus, but a clock that stands still
 * until the test moves it, timers that follow that clock, and interrupt lines that are
 * only written down. Defining these functions here keeps the real ones out of the program.
 */
#ifndef BOARD_H
#define BOARD_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"
#include "vmm/machine.h"

#define BOARD_LINES   24
#define BOARD_WATCHES 4
#define BOARD_SEC     1000000000ll

struct vmm_timer {
	void (*fn)(void *priv);
	void *priv;
	int64_t deadline; /* of the monotonic clock; 0 while not armed */
	struct vmm_timer *next;
};

struct board_watch {
	int fd;
	void (*fn)(void *priv, int fd);
	void *priv;
};

static struct board {
	struct vmm vmm;
	struct vmm_config config;
	bool ticking; /* clock_gettime() tells the board's time */
	int64_t mono;
	int64_t real;
	struct vmm_timer *timers;
	unsigned int fired; /* timers that have run */
	struct board_watch watch[BOARD_WATCHES];
	int watch_result;
	bool line[BOARD_LINES];
	unsigned int edges[BOARD_LINES]; /* times that it went from low to high */
	unsigned int ends;
	enum vmm_end why;
	unsigned int resets;
} board;

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ns = id == CLOCK_REALTIME ? board.real : board.mono;

	if (!board.ticking)
		return syscall(SYS_clock_gettime, id, ts);
	ts->tv_sec = ns / BOARD_SEC;
	ts->tv_nsec = ns % BOARD_SEC;
	return 0;
}

int vmm_timer_new(struct vmm_loop *loop, void (*fn)(void *priv), void *priv, struct vmm_timer **out)
{
	struct vmm_timer *t = calloc(1, sizeof(*t));

	(void)loop;
	ck_assert_ptr_nonnull(t);
	t->fn = fn;
	t->priv = priv;
	t->next = board.timers;
	board.timers = t;
	*out = t;
	return 0;
}

void vmm_timer_arm(struct vmm_timer *timer, uint64_t ns)
{
	ck_assert(ns < INT64_MAX);
	timer->deadline = ns ? board.mono + (int64_t)ns : 0;
}

void vmm_timer_free(struct vmm_timer *timer)
{
	struct vmm_timer **p;

	for (p = &board.timers; *p; p = &(*p)->next) {
		if (*p == timer) {
			*p = timer->next;
			break;
		}
	}
	free(timer);
}

int vmm_loop_watch(struct vmm_loop *loop, int fd, void (*fn)(void *priv, int fd), void *priv)
{
	int i;

	(void)loop;
	if (board.watch_result)
		return board.watch_result;
	for (i = 0; i < BOARD_WATCHES; i++) {
		ck_assert(!board.watch[i].fn || board.watch[i].fd != fd);
		if (board.watch[i].fn)
			continue;
		board.watch[i] = (struct board_watch){ fd, fn, priv };
		return 0;
	}
	return -ENOSPC;
}

void vmm_loop_unwatch(struct vmm_loop *loop, int fd)
{
	int i;

	(void)loop;
	for (i = 0; i < BOARD_WATCHES; i++)
		if (board.watch[i].fn && board.watch[i].fd == fd)
			board.watch[i].fn = NULL;
}

void vmm_irq_line(struct vmm_irq *irq, unsigned int gsi, bool level)
{
	(void)irq;
	ck_assert(gsi < BOARD_LINES);
	if (level && !board.line[gsi])
		board.edges[gsi]++;
	board.line[gsi] = level;
}

void vmm_end(struct vmm *vmm, enum vmm_end why)
{
	ck_assert_ptr_eq(vmm, &board.vmm);
	board.ends++;
	board.why = why;
}

void vmm_reset(struct vmm *vmm)
{
	ck_assert_ptr_eq(vmm, &board.vmm);
	board.resets++;
}

/* Let time pass, running the timers that fall due in their order. */
static inline void board_advance(int64_t ns)
{
	int64_t end = board.mono + ns;

	for (;;) {
		struct vmm_timer *t, *first = NULL;
		int64_t step;

		for (t = board.timers; t; t = t->next)
			if (t->deadline && t->deadline <= end &&
			    (!first || t->deadline < first->deadline))
				first = t;
		step = (first ? first->deadline : end) - board.mono;
		board.mono += step;
		board.real += step;
		if (!first)
			return;
		first->deadline = 0;
		board.fired++;
		first->fn(first->priv);
	}
}

/* Run the handler of a watched descriptor, if it is watched. */
static inline bool board_readable(int fd)
{
	int i;

	for (i = 0; i < BOARD_WATCHES; i++) {
		if (board.watch[i].fn && board.watch[i].fd == fd) {
			board.watch[i].fn(board.watch[i].priv, fd);
			return true;
		}
	}
	return false;
}

static inline bool board_watches(int fd)
{
	int i;

	for (i = 0; i < BOARD_WATCHES; i++)
		if (board.watch[i].fn && board.watch[i].fd == fd)
			return true;
	return false;
}

static inline void board_out(uint16_t port, uint32_t value, unsigned int len)
{
	vmm_bus_access(board.vmm.pio, port, &value, len, true);
}

static inline void outb(uint16_t port, uint8_t value)
{
	board_out(port, value, 1);
}

static inline uint32_t board_in(uint16_t port, unsigned int len)
{
	uint32_t value = 0;

	vmm_bus_access(board.vmm.pio, port, &value, len, false);
	return value;
}

static inline uint8_t inb(uint16_t port)
{
	return board_in(port, 1);
}

static inline void board_start(void)
{
	memset(&board, 0, sizeof(board));
	board.config.mem = 512ull << 20;
	board.config.append = "";
	board.config.cpus = 1;
	board.vmm.config = &board.config;
	board.vmm.pio = vmm_bus_new();
	ck_assert_ptr_nonnull(board.vmm.pio);
	board.ticking = true;
	board.mono = 1000 * BOARD_SEC;
	board.real = 1700000000 * BOARD_SEC; /* Tuesday, 14 November 2023, 22:13:20 UTC */
}

/* A device that is gone leaves no port, no timer and no watch. */
static inline void board_stop(void)
{
	int i;

	ck_assert_ptr_null(board.timers);
	for (i = 0; i < BOARD_WATCHES; i++)
		ck_assert(!board.watch[i].fn);
	for (i = 0; i < 0x10000; i++) {
		uint8_t byte = 0;

		ck_assert_ptr_null(vmm_bus_access(board.vmm.pio, i, &byte, 1, false));
	}
	vmm_bus_free(board.vmm.pio);
	board.ticking = false;
}

/**
 * BOARD_TEST() - a test between the file's setup() and teardown(), with the board's clock.
 * @name: as for START_TEST().
 *
 * libcheck measures a test's time itself and must not see that clock.
 */
#define BOARD_TEST(name)               \
	static void name##_body(void); \
	START_TEST(name)               \
	{                              \
		setup();               \
		name##_body();         \
		teardown();            \
	}                              \
	END_TEST                       \
	static void name##_body(void)

#endif
