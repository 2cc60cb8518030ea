// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include <bp/log.h>
#include "latency/mmap_lat/mmap_lat.h"
#include "latency/mmap_lat/pattern.h"

static int one(struct bp_print *p, struct lat_meter *m, const struct lat_mmap_opts *o,
	       uint64_t size, struct lat_pattern *pt)
{
	struct bp_error err = { 0 };
	struct lat_area a;
	int ret = lat_area_init(&a, LAT_FILE, LAT_4K, size, o->dir, &err);

	if (!ret)
		ret = lat_pattern_run(pt, m, a.fd, a.size, o->spread, (unsigned int)o->rounds,
				      (unsigned int)o->warmup, &err);
	lat_area_free(&a);
	if (ret)
		return bp_log_report(&err, ret, "measuring");
	bp_print_object(p, NULL);
	bp_print_f64(p, "megabytes", "%.6f", 6, (double)size / (1 << 20));
	/* The two columns that lmbench prints: megabytes and microseconds of the whole. */
	bp_print_f64(p, "whole_us", " %.1f\n", 3,
		     lat_clock_ns(&m->clock, lat_hist_percentile(&pt->whole.hist, LAT_P50).value) /
			     1000);
	bp_print_u64(p, "touches", NULL, pt->touches);
	lat_series_heading(p);
	bp_print_array(p, "parts");
	lat_series_print(p, m, &pt->map);
	lat_series_print(p, m, &pt->touch);
	lat_series_print(p, m, &pt->unmap);
	lat_series_print(p, m, &pt->whole);
	bp_print_array_end(p);
	lat_series_counters(p, m, &pt->whole, 1);
	bp_print_text(p, "\n");
	bp_print_object_end(p);
	return 0;
}

int lat_mmap_pattern(struct bp_cli *cli, int argc, char **argv)
{
	struct lat_mmap_opts o = { .rounds = 200,
				   .warmup = 10,
				   .nr_sizes = 6,
				   .sizes = { 512u << 10, 1u << 20, 2u << 20, 4u << 20, 8u << 20,
					      16u << 20 } };
	struct bp_error err = { 0 };
	struct lat_pattern *pt;
	struct lat_meter m;
	struct bp_print *p = NULL;
	int status = lat_mmap_parse(cli, argc, argv, "snwrdc", &o), ret;

	if (status)
		return status;
	ret = lat_meter_open(&m, o.cpu, lat_perf_libc(), &err);
	if (ret)
		return bp_log_report(&err, ret, "starting");
	pt = malloc(sizeof(*pt));
	p = bp_print_new(stdout, cli->mode);
	if (!pt || !p) {
		status = bp_log_report(NULL, -ENOMEM, "starting");
		goto out;
	}
	lat_mmap_begin(p, "lat_mmap");
	bp_print_bool(p, "spread", NULL, o.spread);
	bp_print_u64(p, "rounds", NULL, o.rounds);
	bp_print_u64(p, "warmup_rounds", NULL, o.warmup);
	bp_print_array(p, "results");
	for (size_t i = 0; i < o.nr_sizes && !status; i++)
		status = one(p, &m, &o, o.sizes[i], pt);
	bp_print_array_end(p);
	lat_meter_print(p, &m);
	bp_print_object_end(p);
out:
	ret = bp_print_free(p);
	if (ret && !status)
		status = bp_log_report(NULL, ret, "writing what was measured");
	free(pt);
	lat_meter_close(&m);
	return status;
}
