// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "latency/env.h"

/* An idle state that takes longer to leave than this shows in latencies of microseconds. */
#define CSTATE_US 10

struct list {
	struct lat_env_warning *v;
	unsigned int n;
};

__attribute__((format(printf, 3, 4))) static void warn(struct list *l, const char *code,
						       const char *fmt, ...)
{
	va_list ap;

	if (l->n == LAT_ENV_WARNINGS)
		return;
	l->v[l->n].code = code;
	va_start(ap, fmt);
	vsnprintf(l->v[l->n].text, sizeof(l->v[l->n].text), fmt, ap);
	va_end(ap);
	l->n++;
}

static void judge_cpu(const struct lat_env *env, struct list *l)
{
	if (env->nr_allowed > 1)
		warn(l, "not-pinned", "not pinned: may move between CPUs %s; pin with taskset -c",
		     env->allowed);
	else if (env->nr_allowed && env->isolated == LAT_NO)
		warn(l, "not-isolated",
		     "CPU %s also runs other tasks; boot with isolcpus= or use a cpuset",
		     env->allowed);
	if (*env->governor && strcmp(env->governor, "performance") != 0)
		warn(l, "governor", "frequency governor is %s; set it to performance",
		     env->governor);
	if (env->cstate_us > CSTATE_US)
		warn(l, "c-states",
		     "idle state %s takes %u us to leave; disable it or hold /dev/cpu_dma_latency",
		     env->cstate, env->cstate_us);
	if (env->smt == LAT_YES)
		warn(l, "smt", "another hardware thread may share the core");
	if (env->load > (double)env->online && env->online)
		warn(l, "load", "%.1f tasks want to run on %u CPUs", env->load, env->online);
}

static void judge_clock(const struct lat_env *env, struct list *l)
{
	if (env->constant_tsc == LAT_NO || env->nonstop_tsc == LAT_NO)
		warn(l, "tsc", "the time-stamp counter is not known to be constant and nonstop");
	else if (*env->clocksource && env->constant_tsc == LAT_YES &&
		 strcmp(env->clocksource, "tsc") != 0 &&
		 strcmp(env->clocksource, "kvm-clock") != 0 &&
		 strcmp(env->clocksource, "hyperv_clocksource_tsc_page") != 0)
		warn(l, "clocksource",
		     "the kernel measures time by %s, not by the time-stamp counter",
		     env->clocksource);
	if (env->virtualized == LAT_YES)
		warn(l, "virtual",
		     "runs under a hypervisor%s%s%s: its exits and stolen time are in the numbers",
		     *env->hypervisor ? " (" : "", env->hypervisor, *env->hypervisor ? ")" : "");
}

static void judge_window(const struct lat_env_counts *w, struct list *l)
{
	if (w->steal)
		warn(l, "steal", "the hypervisor gave %lu0 ms of these CPUs to others meanwhile",
		     w->steal);
	if (w->involuntary)
		warn(l, "preempted", "preempted %lu times meanwhile", w->involuntary);
	if (w->major)
		warn(l, "major-faults", "%lu page faults went to the disk meanwhile", w->major);
}

unsigned int lat_env_judge(const struct lat_env *env, const struct lat_env_counts *window,
			   struct lat_env_warning out[LAT_ENV_WARNINGS])
{
	struct list l = { .v = out };

	judge_cpu(env, &l);
	judge_clock(env, &l);
	if (window)
		judge_window(window, &l);
	return l.n;
}

static void known(struct bp_print *p, const char *key, enum lat_known k)
{
	if (k == LAT_UNKNOWN)
		bp_print_null(p, key, NULL);
	else
		bp_print_bool(p, key, NULL, k == LAT_YES);
}

static void word(struct bp_print *p, const char *key, const char *s)
{
	bp_print_str(p, key, NULL, *s ? s : NULL);
}

void lat_env_print(struct bp_print *p, const struct lat_env *env,
		   const struct lat_env_counts *window)
{
	struct lat_env_warning w[LAT_ENV_WARNINGS];
	unsigned int n = lat_env_judge(env, window, w);

	if (!bp_print_is_json(p))
		return;
	bp_print_object(p, "environment");
	word(p, "kernel", env->kernel);
	word(p, "cpu_model", env->cpu_model);
	bp_print_u64(p, "cpus_online", NULL, env->online);
	word(p, "cpus_allowed", env->allowed);
	bp_print_s64(p, "cpu", NULL, env->cpu);
	known(p, "isolated", env->isolated);
	known(p, "nohz_full", env->nohz_full);
	word(p, "governor", env->governor);
	known(p, "turbo", env->turbo);
	known(p, "smt", env->smt);
	word(p, "cstate", env->cstate);
	bp_print_u64(p, "cstate_us", NULL, env->cstate_us);
	known(p, "constant_tsc", env->constant_tsc);
	known(p, "nonstop_tsc", env->nonstop_tsc);
	word(p, "clocksource", env->clocksource);
	known(p, "virtualized", env->virtualized);
	word(p, "hypervisor", env->hypervisor);
	word(p, "thp", env->thp);
	bp_print_s64(p, "aslr", NULL, env->aslr);
	bp_print_f64(p, "load", NULL, 2, env->load);
	if (window) {
		bp_print_object(p, "window");
		bp_print_u64(p, "steal_ms", NULL, 10 * window->steal);
		bp_print_u64(p, "voluntary_switches", NULL, window->voluntary);
		bp_print_u64(p, "involuntary_switches", NULL, window->involuntary);
		bp_print_u64(p, "minor_faults", NULL, window->minor);
		bp_print_u64(p, "major_faults", NULL, window->major);
		bp_print_object_end(p);
	}
	bp_print_array(p, "warnings");
	for (unsigned int i = 0; i < n; i++) {
		bp_print_object(p, NULL);
		bp_print_str(p, "code", NULL, w[i].code);
		bp_print_str(p, "text", NULL, w[i].text);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	bp_print_object_end(p);
}
