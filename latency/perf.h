/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the kernel and the processor (perf_event_open), for a command or for this thread.
 *
 * Counters that belong together are one group, so that their ratio is of the same moments.
 * What the machine does not have is named; where counters had to take turns, values are
 * scaled and it is said how much of the time each really counted.
 */
#ifndef LAT_PERF_H
#define LAT_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

#include <bp/error.h>

/** struct lat_perf_sys - system calls; replaced in tests. Each returns -1 with errno, as the call. */
struct lat_perf_sys {
	int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		    unsigned long flags);
	int (*ioctl)(int fd, unsigned long request, unsigned long arg);
	ssize_t (*read)(int fd, void *buf, size_t size);
	int (*close)(int fd);
};

/** lat_perf_libc() - the real ones. Return: table. */
const struct lat_perf_sys *lat_perf_libc(void);

/**
 * struct lat_perf_event - a counter that can be asked for.
 * @name: as `perf list` has it. @unit: "ns" for times, "" for events.
 * @type, @config: of perf_event_attr. @group: counters with the same number count together.
 */
struct lat_perf_event {
	const char *name;
	const char *unit;
	uint64_t config;
	uint32_t type;
	unsigned int group;
};

/** lat_perf_events - all of them; software first; ends with a NULL name. */
extern const struct lat_perf_event lat_perf_events[];

#define LAT_PERF_MAX 24

/**
 * struct lat_perf_counter - one counter.
 * @event: which. @fd: its descriptor, -1 when the machine does not have it.
 * @why: negative errno of why not, 0 when it counts.
 * @user_only: the kernel's own part is not counted, for lack of the right to.
 */
struct lat_perf_counter {
	const struct lat_perf_event *event;
	int fd;
	int why;
	bool user_only;
};

/** struct lat_perf - all counters. @sys: calls. @n: counters. @counter: they. */
struct lat_perf {
	const struct lat_perf_sys *sys;
	size_t n;
	struct lat_perf_counter counter[LAT_PERF_MAX];
};

/**
 * struct lat_perf_value - what a counter says.
 * @value: events, scaled to the whole time. @raw: events that were seen.
 * @enabled, @running: nanoseconds that it should have counted, and did.
 */
struct lat_perf_value {
	double value;
	uint64_t raw;
	uint64_t enabled;
	uint64_t running;
};

/**
 * lat_perf_open() - open what the machine has.
 * @perf: receives it.
 * @sys: calls.
 * @pid: process to count with all that it starts later, or 0 for this thread alone.
 * @on_exec: start to count when the process calls exec; otherwise at lat_perf_enable().
 * @err: says why nothing can be counted.
 *
 * Return: 0 when at least one counts; -EACCES when none may be counted, or another negative
 * errno of the first. Missing ones have @why.
 */
int lat_perf_open(struct lat_perf *perf, const struct lat_perf_sys *sys, pid_t pid, bool on_exec,
		  struct bp_error *err);

/** lat_perf_enable() - start or stop all. @perf: counters. @on: start. Return: 0 or negative errno. */
int lat_perf_enable(struct lat_perf *perf, bool on);

/**
 * lat_perf_read() - one counter's value since it was opened.
 * @perf: counters. @i: below perf->n. @out: receives it.
 *
 * Return: 0; -ENOENT when this machine does not have it; -ENODATA when it never got to count
 * although it should have (more counters were asked for than there are); -EIO.
 */
int lat_perf_read(const struct lat_perf *perf, size_t i, struct lat_perf_value *out);

/** lat_perf_close() - give all back. @perf: counters; may be closed already. */
void lat_perf_close(struct lat_perf *perf);

/** lat_perf_why() - why a counter is missing. @why: negative errno. Return: a few words. */
const char *lat_perf_why(int why);

#endif
