/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of a mapping, each step timed by itself. */
#ifndef LAT_MMAP_PHASES_H
#define LAT_MMAP_PHASES_H

#include "latency/mmap_lat/area.h"
#include "latency/mmap_lat/meter.h"

/** enum lat_phase_nr - steps, in the order they are done. */
enum lat_phase_nr {
	LAT_PH_MAP, /* mmap() */
	LAT_PH_TOUCH, /* first write to each page, one by one */
	LAT_PH_DROP, /* madvise(MADV_DONTNEED) */
	LAT_PH_AGAIN, /* write to each page again */
	LAT_PH_PROTECT, /* mprotect() to read-only */
	LAT_PH_UNPROTECT, /* and back */
	LAT_PH_FORK, /* fork(), until it returns here */
	LAT_PH_COW, /* write to each page after the child has gone */
	LAT_PH_EXEC, /* fork, exec of this program, its end */
	LAT_PH_MOVE, /* mremap() to another address */
	LAT_PH_UNMAP, /* munmap() */
	LAT_PHASES,
};

/** lat_phase_names - of each. */
extern const char *const lat_phase_names[LAT_PHASES];

/* A program whose argv[0] is this ends at once; see lat_phases_run(). */
#define LAT_EXIT_NAME "mmap_lat-exit"

/** struct lat_phases - results. @series: of each step. @pages: touched in a round.
 * @huge: bytes that transparent huge pages mapped, -1 when unknown.
 * @no_move: why there is no "move", or empty.
 */
struct lat_phases {
	struct lat_series series[LAT_PHASES];
	size_t pages;
	int64_t huge;
	char no_move[96];
};

/** lat_phases_new() - room for results that forks do not share: else each of the program's own
 * pages would fault once after every fork, in the middle of what is counted.
 * Return: zeroed; NULL when memory is short.
 */
struct lat_phases *lat_phases_new(void);

/** lat_phases_free() - give it back. @ph: NULL is allowed. */
void lat_phases_free(struct lat_phases *ph);

/**
 * lat_phases_run() - do all steps, @rounds times after @warmup times that do not count.
 * @ph: receives results; from lat_phases_new().
 * @m: instruments.
 * @a: memory; not mapped before and after.
 * @rounds: from 1 on. @warmup: may be 0; the very first operation never counts.
 * @exit_program: what exec runs; it is given LAT_EXIT_NAME as argv[0], and must end with 0.
 * @err: says what failed, or why this machine does not have such memory.
 *
 * Return: 0; -ENODATA when there is no such memory here; another negative errno.
 */
int lat_phases_run(struct lat_phases *ph, struct lat_meter *m, const struct lat_area *a,
		   unsigned int rounds, unsigned int warmup, const char *exit_program,
		   struct bp_error *err);

#endif
