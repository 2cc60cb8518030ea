/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The access pattern of lmbench's lat_mmap: map a file, shared and writable; touch a part of
 * it; unmap it. Its parts are timed one by one and as a whole, and the whole is comparable.
 */
#ifndef LAT_MMAP_PATTERN_H
#define LAT_MMAP_PATTERN_H

#include "latency/mmap_lat/meter.h"

/* Every 16 KiB of the first tenth is touched, or every 160 KiB of all: as many times. */
#define LAT_PATTERN_STRIDE 16384u
#define LAT_PATTERN_PART   10u

/** struct lat_pattern - results. @whole, @map, @touch, @unmap: the parts. @touches: in each. */
struct lat_pattern {
	struct lat_series whole;
	struct lat_series map;
	struct lat_series touch;
	struct lat_series unmap;
	size_t touches;
};

/**
 * lat_pattern_run() - do it.
 * @out: receives results.
 * @m: instruments.
 * @fd: file of at least @size bytes.
 * @size: bytes, at least LAT_PATTERN_STRIDE x LAT_PATTERN_PART.
 * @spread: touch all of it, not just the first tenth.
 * @rounds: from 1 on. @warmup: those before that do not count; the very first never does.
 * @err: says what failed.
 *
 * Return: 0 or a negative errno.
 */
int lat_pattern_run(struct lat_pattern *out, struct lat_meter *m, int fd, size_t size, bool spread,
		    unsigned int rounds, unsigned int warmup, struct bp_error *err);

#endif
