// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "latency/mmap_lat/pattern.h"

int lat_pattern_run(struct lat_pattern *out, struct lat_meter *m, int fd, size_t size, bool spread,
		    unsigned int rounds, unsigned int warmup, struct bp_error *err)
{
	size_t stride = spread ? (size_t)LAT_PATTERN_STRIDE * LAT_PATTERN_PART : LAT_PATTERN_STRIDE;
	size_t end = spread ? size : size / LAT_PATTERN_PART;

	if (size < (size_t)LAT_PATTERN_STRIDE * LAT_PATTERN_PART)
		return bp_error_set(err, -EINVAL, NULL,
				    "the pattern needs at least %u bytes, not %zu",
				    LAT_PATTERN_STRIDE * LAT_PATTERN_PART, size);
	lat_series_init(&out->whole, "whole", warmup);
	lat_series_init(&out->map, "map", warmup);
	lat_series_init(&out->touch, "touch all", warmup);
	lat_series_init(&out->unmap, "unmap", warmup);
	out->touches = (end + stride - 1) / stride;
	for (unsigned int i = 0; i < rounds + warmup; i++) {
		uint64_t t0, t1, t2, t3;
		char *p;
		int ret;

		lat_series_open(&out->whole, m);
		t0 = lat_clock_now(&m->clock);
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		t1 = lat_clock_now(&m->clock);
		if (p == MAP_FAILED)
			return bp_error_set(err, -errno, NULL, "cannot map %zu bytes: %s", size,
					    strerror(errno));
		for (size_t at = 0; at < end; at += stride)
			*(volatile char *)(p + at) = (char)at;
		t2 = lat_clock_now(&m->clock);
		ret = munmap(p, size);
		t3 = lat_clock_now(&m->clock);
		if (ret)
			return bp_error_set(err, -errno, NULL, "cannot unmap: %s", strerror(errno));
		lat_series_add(&out->map, m, t0, t1);
		lat_series_add(&out->touch, m, t1, t2);
		lat_series_add(&out->unmap, m, t2, t3);
		lat_series_add(&out->whole, m, t0, t3);
		lat_series_close(&out->whole, m);
	}
	return 0;
}
