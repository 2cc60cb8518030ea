// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "latency/mmap_lat/meter.h"

static int pin(int cpu, struct bp_error *err)
{
	cpu_set_t set;

	if (cpu == -2)
		return 0;
	if (cpu == -1)
		cpu = sched_getcpu();
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return bp_error_set(err, -EINVAL, NULL, "there is no CPU %d", cpu);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return bp_error_set(err, -errno,
				    "name a CPU of /proc/self/status, Cpus_allowed_list",
				    "cannot stay on CPU %d: %s", cpu, strerror(errno));
	return 0;
}

int lat_meter_open(struct lat_meter *m, int cpu, const struct lat_perf_sys *sys,
		   struct bp_error *err)
{
	struct lat_clock_source source;
	int ret;

	*m = (struct lat_meter){ .perf.sys = sys };
	ret = pin(cpu, err);
	if (ret)
		return ret;
	lat_env_read(&m->env, "/");
	source = lat_clock_here(m->env.constant_tsc == LAT_YES && m->env.nonstop_tsc == LAT_YES);
	ret = lat_clock_calibrate(&m->clock, &source, LAT_CLOCK_WINDOW, NULL);
	if (ret == -EIO) {
		source.ticks = NULL;
		ret = lat_clock_calibrate(&m->clock, &source, LAT_CLOCK_WINDOW, err);
	}
	if (ret)
		return ret;
	m->counting = !lat_perf_open(&m->perf, sys, 0, false, NULL) &&
		      !lat_perf_enable(&m->perf, true);
	lat_env_count(&m->before, &m->env, "/");
	m->start = lat_clock_now(&m->clock);
	return 0;
}

void lat_meter_close(struct lat_meter *m)
{
	lat_perf_close(&m->perf);
	m->counting = false;
}

void lat_series_init(struct lat_series *s, const char *name, uint64_t warmup)
{
	memset(s, 0, sizeof(*s));
	s->name = name;
	lat_stats_init(&s->stats, warmup ? warmup - 1 : 0);
}

static uint64_t faults(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) ? 0 : (uint64_t)u.ru_minflt;
}

void lat_series_open(struct lat_series *s, struct lat_meter *m)
{
	for (size_t i = 0; m->counting && i < m->perf.n; i++) {
		struct lat_perf_value v;

		s->open_value[i] = lat_perf_read(&m->perf, i, &v) ? 0 : v.value;
	}
	s->open_ops = s->stats.measured.n;
	s->open_faults = faults();
}

void lat_series_close(struct lat_series *s, struct lat_meter *m)
{
	uint64_t now = faults(), ops = s->stats.measured.n - s->open_ops;

	if (!ops)
		return;
	s->counted_ops += ops;
	s->faults += now - s->open_faults;
	for (size_t i = 0; m->counting && i < m->perf.n; i++) {
		struct lat_perf_value v;

		/* Scaling may make a later reading a little smaller than an earlier one. */
		if (!lat_perf_read(&m->perf, i, &v) && v.value > s->open_value[i])
			s->counted[i] += v.value - s->open_value[i];
	}
}
