// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>
#include "latency/chart.h"
#include "latency/mmap_lat/mmap_lat.h"
#include "latency/mmap_lat/phases.h"

#define EXIT_SKIPPED 77

/* First touches of each kind that was measured, for a picture. */
struct plot {
	size_t n;
	char name[LAT_CHART_COLOURS][16];
	struct lat_hist hist[LAT_CHART_COLOURS];
};

static void plot_keep(struct plot *plot, const struct lat_area *a, const struct lat_phases *ph)
{
	if (!plot || plot->n == LAT_CHART_COLOURS)
		return;
	snprintf(plot->name[plot->n], sizeof(plot->name[0]), "%s %s", lat_backing_words[a->backing],
		 lat_pages_words[a->pages]);
	plot->hist[plot->n++] = ph->series[LAT_PH_TOUCH].hist;
}

static int plot_write(const struct plot *plot, const char *path, const struct lat_meter *m)
{
	struct lat_chart_series s[LAT_CHART_COLOURS];
	FILE *f = fopen(path, "we");
	int ret;

	if (!f) {
		bp_log_error("cannot write '%s': %s", path, strerror(errno));
		return BP_EXIT_FAIL;
	}
	for (size_t i = 0; i < plot->n; i++)
		s[i] = (struct lat_chart_series){ plot->name[i], &plot->hist[i],
						  m->clock.ns_per_tick };
	ret = lat_chart_write(f, "First touch of a page", "ns", s, plot->n);
	if (fclose(f) && !ret)
		ret = -errno;
	if (ret)
		bp_log_error("cannot write '%s': %s", path, strerror(-ret));
	return ret ? BP_EXIT_FAIL : BP_EXIT_OK;
}

static void print_phases(struct bp_print *p, const struct lat_meter *m, const struct lat_phases *ph)
{
	bp_print_u64(p, "touched_pages", " %lu pages\n", ph->pages);
	bp_print_s64(p, "huge_bytes", NULL, ph->huge);
	bp_print_str(p, "no_move", "no move: %s\n", *ph->no_move ? ph->no_move : NULL);
	lat_series_heading(p);
	bp_print_array(p, "phases");
	for (size_t i = 0; i < LAT_PHASES; i++)
		if (ph->series[i].stats.seen)
			lat_series_print(p, m, &ph->series[i]);
	bp_print_array_end(p);
	lat_series_counters(p, m, ph->series, LAT_PHASES);
	bp_print_text(p, "\n");
}

/* One kind of memory: measured, or skipped with the reason; otherwise a failure. */
static int one(struct bp_print *p, struct lat_meter *m, const struct lat_mmap_opts *o,
	       unsigned int backing, unsigned int pages, struct lat_phases *ph, struct plot *plot,
	       bool *measured)
{
	struct bp_error err = { 0 };
	struct lat_area a;
	int ret = lat_area_init(&a, backing, pages, o->sizes[0], o->dir, &err);

	if (!ret)
		ret = lat_phases_run(ph, m, &a, (unsigned int)o->rounds, (unsigned int)o->warmup,
				     "/proc/self/exe", &err);
	lat_area_free(&a);
	if (ret && ret != -ENODATA)
		return bp_log_report(&err, ret, "measuring");
	bp_print_object(p, NULL);
	bp_print_text(p, "%s", ret ? "skip " : "");
	bp_print_str(p, "backing", "%s", lat_backing_words[backing]);
	bp_print_str(p, "pages", " %s:", lat_pages_words[pages]);
	bp_print_u64(p, "page_size", NULL, a.page);
	bp_print_u64(p, "size", NULL, a.size);
	bp_print_str(p, "skipped", " %s", ret ? err.what : NULL);
	bp_print_str(p, "fix", "; %s", ret && *err.fix ? err.fix : NULL);
	if (ret)
		bp_print_text(p, "\n");
	else
		print_phases(p, m, ph);
	bp_print_object_end(p);
	if (!ret)
		plot_keep(plot, &a, ph);
	*measured |= !ret;
	return 0;
}

int lat_mmap_phases(struct bp_cli *cli, int argc, char **argv)
{
	struct lat_mmap_opts o = { .backings = ~0u,
				   .pages = ~0u,
				   .sizes = { 8u << 20 },
				   .nr_sizes = 1,
				   .rounds = 10,
				   .warmup = 1 };
	struct bp_error err = { 0 };
	struct plot *plot = NULL;
	struct lat_phases *ph;
	struct lat_meter m;
	struct bp_print *p = NULL;
	bool measured = false;
	int status = lat_mmap_parse(cli, argc, argv, "bpsnwdcP", &o), ret;

	if (status)
		return status;
	if (o.nr_sizes > 1)
		return bp_cli_usage(cli, argv[0], "one --size at a time");
	ret = lat_meter_open(&m, o.cpu, lat_perf_libc(), &err);
	if (ret)
		return bp_log_report(&err, ret, "starting");
	ph = lat_phases_new();
	p = bp_print_new(stdout, cli->mode);
	if (o.plot)
		plot = calloc(1, sizeof(*plot));
	if (!ph || !p || (o.plot && !plot)) {
		status = bp_log_report(NULL, -ENOMEM, "starting");
		goto out;
	}
	lat_mmap_begin(p, "phases");
	bp_print_u64(p, "rounds", NULL, o.rounds);
	bp_print_u64(p, "warmup_rounds", NULL, o.warmup);
	bp_print_array(p, "results");
	for (unsigned int b = 0; b < LAT_BACKINGS && !status; b++)
		for (unsigned int g = 0; g < LAT_PAGES && !status; g++)
			if (o.backings >> b & 1 && o.pages >> g & 1)
				status = one(p, &m, &o, b, g, ph, plot, &measured);
	bp_print_array_end(p);
	lat_meter_print(p, &m);
	bp_print_object_end(p);
	if (!status && !measured)
		status = EXIT_SKIPPED;
out:
	ret = bp_print_free(p);
	if (ret && !status)
		status = bp_log_report(NULL, ret, "writing what was measured");
	if (!status && plot)
		status = plot_write(plot, o.plot, &m);
	free(plot);
	lat_phases_free(ph);
	lat_meter_close(&m);
	return status;
}
