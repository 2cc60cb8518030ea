/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random maps, unmaps, moves and changes of protection, and a touch now and then: what the
 * mmap-perf program of 2009 did, timed operation by operation. With the same seed it is the
 * same sequence on every kernel, and its digest proves that.
 */
#ifndef LAT_MMAP_WORKLOAD_H
#define LAT_MMAP_WORKLOAD_H

#include "latency/mmap_lat/meter.h"

/* Mappings at a time, and most pages in one. */
#define LAT_SLOTS      256u
#define LAT_SLOT_PAGES 32u

/** enum lat_work - kinds of operation. */
enum lat_work {
	LAT_WK_MAP,
	LAT_WK_UNMAP,
	LAT_WK_RESIZE,
	LAT_WK_MOVE,
	LAT_WK_PROTECT,
	LAT_WK_TOUCH,
	LAT_WORKS,
};

/** lat_work_names - of each. */
extern const char *const lat_work_names[LAT_WORKS];

/**
 * struct lat_workload - results.
 * @series: of each kind. @all: of all together, with their counters. @digest: of the sequence and of what was read.
 * @wrong: bytes that were not what had been written there; always 0 on a kernel that works.
 */
struct lat_workload {
	struct lat_series series[LAT_WORKS];
	struct lat_series all;
	uint64_t digest;
	uint64_t wrong;
};

/**
 * lat_workload_run() - do it.
 * @w: receives results.
 * @m: instruments.
 * @seed: of the sequence.
 * @ops: operations that count, beside touches. @warmup: before them.
 * @err: says which operation failed and why.
 *
 * Return: 0 or a negative errno.
 */
int lat_workload_run(struct lat_workload *w, struct lat_meter *m, uint64_t seed, uint64_t ops,
		     uint64_t warmup, struct bp_error *err);

#endif
