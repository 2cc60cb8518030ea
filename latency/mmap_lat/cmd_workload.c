// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include <bp/log.h>
#include "latency/mmap_lat/mmap_lat.h"
#include "latency/mmap_lat/workload.h"

static void print(struct bp_print *p, const struct lat_meter *m, const struct lat_mmap_opts *o,
		  const struct lat_workload *w)
{
	lat_mmap_begin(p, "mmap-perf");
	bp_print_u64(p, "seed", "seed %lu", o->seed);
	bp_print_u64(p, "operations", ", %lu operations", o->rounds);
	bp_print_u64(p, "warmup_operations", " after %lu", o->warmup);
	bp_print_hex(p, "digest", ", digest %s\n", 16, w->digest);
	bp_print_u64(p, "wrong_bytes", NULL, w->wrong);
	lat_series_heading(p);
	bp_print_array(p, "kinds");
	for (size_t i = 0; i < LAT_WORKS; i++)
		lat_series_print(p, m, &w->series[i]);
	lat_series_print(p, m, &w->all);
	bp_print_array_end(p);
	lat_series_counters(p, m, &w->all, 1);
	bp_print_u64(p, "faults", "%lu faults in all\n\n", w->all.faults);
	lat_meter_print(p, m);
	bp_print_object_end(p);
}

int lat_mmap_workload(struct bp_cli *cli, int argc, char **argv)
{
	struct lat_mmap_opts o = { .rounds = 1000000, .warmup = 1000, .seed = 2009 };
	struct bp_error err = { 0 };
	struct lat_workload *w;
	struct lat_meter m;
	struct bp_print *p;
	int status = lat_mmap_parse(cli, argc, argv, "nwSc", &o), ret;

	if (status)
		return status;
	ret = lat_meter_open(&m, o.cpu, lat_perf_libc(), &err);
	if (ret)
		return bp_log_report(&err, ret, "starting");
	w = malloc(sizeof(*w));
	ret = w ? lat_workload_run(w, &m, o.seed, o.rounds, o.warmup, &err) : -ENOMEM;
	if (ret) {
		status = bp_log_report(&err, ret, "measuring");
		goto out;
	}
	p = bp_print_new(stdout, cli->mode);
	if (p)
		print(p, &m, &o, w);
	ret = p ? bp_print_free(p) : -ENOMEM;
	if (ret)
		status = bp_log_report(NULL, ret, "writing what was measured");
	else if (w->wrong) {
		bp_log_error("%lu bytes were not what had been written: this kernel moves or maps "
			     "memory wrongly",
			     w->wrong);
		status = BP_EXIT_FAIL;
	}
out:
	free(w);
	lat_meter_close(&m);
	return status;
}
