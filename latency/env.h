/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a measurement ran, and what of that spoils it: pinning, isolation, frequency, C-states,
 * time-stamp counter, hypervisor; and what happened meanwhile: stolen time, switches, faults.
 *
 * Everything is read below a root, so that tests can describe a machine. What cannot be read
 * is unknown; no measurement fails for it.
 */
#ifndef LAT_ENV_H
#define LAT_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include <bp/print.h>

/** enum lat_known - yes, no, or nobody knows. */
enum lat_known {
	LAT_UNKNOWN = -1,
	LAT_NO,
	LAT_YES,
};

/**
 * struct lat_env - the machine; empty strings and -1 are unknown.
 * @kernel: release. @cpu_model: as /proc/cpuinfo has it.
 * @online: CPUs of the machine. @allowed: CPUs that this thread may use, as a list.
 * @nr_allowed: how many these are. @cpu: the one it runs on.
 * @isolated, @nohz_full: whether all allowed CPUs are kept free of other tasks, or of ticks.
 * @governor: of frequency on @cpu. @turbo: whether it may exceed its nominal frequency.
 * @smt: whether another thread shares the core.
 * @cstate: deepest idle state of @cpu that is not disabled. @cstate_us: time to leave it.
 * @constant_tsc, @nonstop_tsc: the counter's rate does not depend on frequency, or on sleep.
 * @clocksource: the kernel's. @virtualized: runs under a hypervisor. @hypervisor: whose.
 * @thp: setting of transparent huge pages. @aslr: of address space randomisation.
 * @load: running tasks, over the last minute.
 */
struct lat_env {
	char kernel[96];
	char cpu_model[96];
	unsigned int online;
	char allowed[128];
	unsigned int nr_allowed;
	int cpu;
	enum lat_known isolated;
	enum lat_known nohz_full;
	char governor[32];
	enum lat_known turbo;
	enum lat_known smt;
	char cstate[32];
	unsigned int cstate_us;
	enum lat_known constant_tsc;
	enum lat_known nonstop_tsc;
	char clocksource[32];
	enum lat_known virtualized;
	char hypervisor[64];
	char thp[16];
	int aslr;
	double load;
};

/**
 * struct lat_env_counts - what happened so far; two of them make a window.
 * @steal: hundredths of a second (USER_HZ) that the hypervisor gave to others, of the allowed CPUs.
 * @voluntary, @involuntary: context switches of this thread.
 * @minor, @major: its page faults.
 */
struct lat_env_counts {
	uint64_t steal;
	uint64_t voluntary;
	uint64_t involuntary;
	uint64_t minor;
	uint64_t major;
};

#define LAT_ENV_WARNINGS 16

/** struct lat_env_warning - @code: one word for scripts. @text: one sentence for people. */
struct lat_env_warning {
	const char *code;
	char text[192];
};

/** lat_env_read() - look at the machine. @env: receives it. @root: "/", or a tree like it. */
void lat_env_read(struct lat_env *env, const char *root);

/** lat_env_count() - counters of this thread and its CPUs, now. @c: receives them.
 * @env: from lat_env_read(). @root: as there.
 */
void lat_env_count(struct lat_env_counts *c, const struct lat_env *env, const char *root);

/** lat_env_window() - what happened between two readings. @before: first. @after: second.
 * Return: differences; 0 where a counter went back.
 */
struct lat_env_counts lat_env_window(const struct lat_env_counts *before,
				     const struct lat_env_counts *after);

/**
 * lat_env_judge() - what spoils a measurement of latencies.
 * @env: the machine. @window: what happened while it ran, or NULL.
 * @out: receives the warnings.
 *
 * Return: how many, at most LAT_ENV_WARNINGS.
 */
unsigned int lat_env_judge(const struct lat_env *env, const struct lat_env_counts *window,
			   struct lat_env_warning out[LAT_ENV_WARNINGS]);

/**
 * lat_env_print() - an object "environment" in JSON with the warnings in it; nothing in text.
 * @p: printer. @env: machine. @window: what happened, or NULL.
 */
void lat_env_print(struct bp_print *p, const struct lat_env *env,
		   const struct lat_env_counts *window);

/**
 * lat_cpulist() - numbers of a list as the kernel writes it, "0-3,8".
 * @list: text. @isolated: another list, or NULL.
 * @all_in: receives whether each is in @isolated too; may be NULL.
 *
 * Source: Documentation/admin-guide/kernel-parameters.rst, "cpu lists".
 *
 * Return: how many; 0 for an empty list or one that makes no sense.
 */
unsigned int lat_cpulist(const char *list, const char *isolated, bool *all_in);

#endif
