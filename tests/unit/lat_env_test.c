// SPDX-License-Identifier: GPL-2.0-only
/* Machines that a test describes, good and bad for measuring, and one that lies. */
#include <stdlib.h>
#include <string.h>

#include "faketree.h"
#include "latency/env.h"
#include "suite.h"

static struct faketree t;
static struct lat_env env;
static struct lat_env_warning w[LAT_ENV_WARNINGS];

#define put(path, text) ft_file(&t, text, "%s", path)

#define CPU		"sys/devices/system/cpu/"

/* Fields up to the CPU, 39th; faults are the 10th and 12th. */
#define STAT(minor, major, cpu)                                     \
	"4242 (odd ) name) R 1 2 3 0 -1 4194304 " minor " 5 " major \
	" 0 1 2 3 4 20 0 1 0 100 200 300 400 "                      \
	"1 1 0 0 0 0 0 0 0 0 0 0 17 " cpu " 0 0\n"

static void good_machine(void)
{
	ft_new(&t);
	put("proc/sys/kernel/osrelease", "6.1.0-57-amd64\n");
	put("proc/cpuinfo",
	    "processor\t: 0\nmodel name\t: AMD EPYC 9454\nflags\t\t: fpu tsc constant_tsc "
	    "nonstop_tsc rep_good\n\nprocessor\t: 1\n");
	put("proc/thread-self/status",
	    "Name:\tx\nCpus_allowed:\t08\nCpus_allowed_list:\t3\n"
	    "voluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t2\n");
	put("proc/thread-self/stat", STAT("700", "3", "3"));
	put("proc/stat", "cpu  1 2 3 4 5 6 7 99 0 0\ncpu0 1 1 1 1 1 1 1 50 0 0\ncpu3 1 1 1 1 1 1 1 "
			 "7 0 0\nintr 5\n");
	put("proc/loadavg", "0.52 0.60 0.61 1/99 4242\n");
	put("proc/sys/kernel/randomize_va_space", "2\n");
	put(CPU "online", "0-7\n");
	put(CPU "isolated", "2-3,6\n");
	put(CPU "nohz_full", "\n");
	put(CPU "cpu3/cpufreq/scaling_governor", "performance\n");
	put(CPU "cpufreq/boost", "0\n");
	put(CPU "smt/active", "0\n");
	put(CPU "cpu3/cpuidle/state0/name", "POLL\n");
	put(CPU "cpu3/cpuidle/state0/latency", "0\n");
	put(CPU "cpu3/cpuidle/state0/disable", "0\n");
	put(CPU "cpu3/cpuidle/state1/name", "C1\n");
	put(CPU "cpu3/cpuidle/state1/latency", "1\n");
	put(CPU "cpu3/cpuidle/state1/disable", "0\n");
	put(CPU "cpu3/cpuidle/state2/name", "C2\n");
	put(CPU "cpu3/cpuidle/state2/latency", "400\n");
	put(CPU "cpu3/cpuidle/state2/disable", "1\n");
	put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
}

static bool warned(unsigned int n, const char *code)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(w[i].code, code))
			return true;
	return false;
}

START_TEST(a_good_machine_is_read_and_has_nothing_against_it)
{
	good_machine();
	lat_env_read(&env, t.root);
	ck_assert_str_eq(env.kernel, "6.1.0-57-amd64");
	ck_assert_str_eq(env.cpu_model, "AMD EPYC 9454");
	ck_assert_uint_eq(env.online, 8);
	ck_assert_str_eq(env.allowed, "3");
	ck_assert_uint_eq(env.nr_allowed, 1);
	ck_assert_int_eq(env.cpu, 3);
	ck_assert_int_eq(env.isolated, LAT_YES);
	ck_assert_int_eq(env.nohz_full, LAT_NO);
	ck_assert_str_eq(env.governor, "performance");
	ck_assert_int_eq(env.turbo, LAT_NO);
	ck_assert_int_eq(env.smt, LAT_NO);
	ck_assert_str_eq(env.cstate, "C1");
	ck_assert_uint_eq(env.cstate_us, 1);
	ck_assert_int_eq(env.constant_tsc, LAT_YES);
	ck_assert_int_eq(env.nonstop_tsc, LAT_YES);
	ck_assert_str_eq(env.clocksource, "tsc");
	ck_assert_int_eq(env.virtualized, LAT_NO);
	ck_assert_str_eq(env.thp, "madvise");
	ck_assert_int_eq(env.aslr, 2);
	ck_assert_double_eq(env.load, 0.52);
	ck_assert_uint_eq(lat_env_judge(&env, NULL, w), 0);
	ft_free(&t);
}
END_TEST

START_TEST(what_spoils_a_measurement_is_warned_of)
{
	unsigned int n;

	good_machine();
	put("proc/cpuinfo",
	    "model name\t: QEMU Virtual CPU\nflags\t\t: fpu tsc hypervisor constant_tsc_not\n");
	put("proc/thread-self/status", "Cpus_allowed_list:\t0-7\n");
	put(CPU "cpu3/cpufreq/scaling_governor", "powersave\n");
	put(CPU "cpu3/cpuidle/state2/disable", "0\n");
	put(CPU "smt/active", "1\n");
	put("proc/loadavg", "9.01 0 0\n");
	put("sys/class/dmi/id/sys_vendor", "QEMU\n");
	put("sys/class/dmi/id/product_name", "Standard PC\n");
	lat_env_read(&env, t.root);
	ck_assert_str_eq(env.hypervisor, "QEMU");
	n = lat_env_judge(&env, NULL, w);
	ck_assert_uint_eq(n, 7);
	ck_assert(warned(n, "not-pinned"));
	ck_assert(warned(n, "governor"));
	ck_assert(warned(n, "c-states"));
	ck_assert(warned(n, "smt"));
	ck_assert(warned(n, "load"));
	ck_assert(warned(n, "tsc"));
	ck_assert(warned(n, "virtual"));
	put("proc/thread-self/status", "Cpus_allowed_list:\t5\n");
	lat_env_read(&env, t.root);
	n = lat_env_judge(&env, NULL, w);
	ck_assert(!warned(n, "not-pinned"));
	ck_assert(warned(n, "not-isolated"));
	ft_free(&t);
}
END_TEST

START_TEST(what_happened_meanwhile)
{
	struct lat_env_counts before, after, d;
	unsigned int n;

	good_machine();
	lat_env_read(&env, t.root);
	lat_env_count(&before, &env, t.root);
	ck_assert_uint_eq(before.steal, 7);
	ck_assert_uint_eq(before.voluntary, 10);
	ck_assert_uint_eq(before.involuntary, 2);
	ck_assert_uint_eq(before.minor, 700);
	ck_assert_uint_eq(before.major, 3);
	ck_assert_uint_eq(
		lat_env_judge(&env, &(struct lat_env_counts){ .minor = 5, .voluntary = 3 }, w), 0);
	put("proc/stat", "cpu  9\ncpu0 1 1 1 1 1 1 1 90 0 0\ncpu3 1 1 1 1 1 1 1 9 0 0\n");
	put("proc/thread-self/status",
	    "voluntary_ctxt_switches:\t11\nnonvoluntary_ctxt_switches:\t6\n");
	put("proc/thread-self/stat", STAT("750", "4", "3"));
	lat_env_count(&after, &env, t.root);
	d = lat_env_window(&before, &after);
	ck_assert_uint_eq(d.steal, 2);
	ck_assert_uint_eq(d.voluntary, 1);
	ck_assert_uint_eq(d.involuntary, 4);
	ck_assert_uint_eq(d.minor, 50);
	ck_assert_uint_eq(d.major, 1);
	n = lat_env_judge(&env, &d, w);
	ck_assert_uint_eq(n, 3);
	ck_assert(warned(n, "steal") && warned(n, "preempted") && warned(n, "major-faults"));
	ck_assert_ptr_nonnull(strstr(w[0].text, "20 ms"));
	d = lat_env_window(&after, &before);
	ck_assert_uint_eq(d.minor, 0);
	ft_free(&t);
}
END_TEST

START_TEST(nothing_and_nonsense_are_unknown)
{
	char *big = malloc(100000);

	ft_new(&t);
	lat_env_read(&env, t.root);
	ck_assert_int_eq(env.cpu, -1);
	ck_assert_int_eq(env.isolated, LAT_UNKNOWN);
	ck_assert_int_eq(env.constant_tsc, LAT_UNKNOWN);
	ck_assert_str_eq(env.governor, "");
	ck_assert_int_eq(env.aslr, -1);
	ck_assert_uint_eq(lat_env_judge(&env, NULL, w), 0);
	memset(big, '9', 99999);
	big[99999] = '\0';
	put("proc/cpuinfo", big);
	put("proc/thread-self/status", "Cpus_allowed_list:\t0-99999999999999999999,,-\n");
	put("proc/thread-self/stat", "4242 (cut");
	put("proc/stat", "cpu3");
	put("proc/loadavg", "");
	put(CPU "isolated", "5-2\n");
	put("sys/kernel/mm/transparent_hugepage/enabled", "[");
	memcpy(big, "model name\t: ", 13);
	memcpy(big + 500, "\nflags: tsc", 11);
	put("proc/cpuinfo", big);
	lat_env_read(&env, t.root);
	ck_assert_uint_eq(env.nr_allowed, 0);
	ck_assert_uint_eq(strlen(env.cpu_model), sizeof(env.cpu_model) - 1);
	ck_assert_int_eq(env.constant_tsc, LAT_NO);
	lat_env_count(&(struct lat_env_counts){ 0 }, &env, t.root);
	ft_free(&t);
	free(big);
}
END_TEST

START_TEST(lists_of_cpus)
{
	bool all;

	ck_assert_uint_eq(lat_cpulist("0-3,8\n", NULL, NULL), 5);
	ck_assert_uint_eq(lat_cpulist("", NULL, NULL), 0);
	ck_assert_uint_eq(lat_cpulist("7", NULL, NULL), 1);
	ck_assert_uint_eq(lat_cpulist("3-", NULL, NULL), 0);
	ck_assert_uint_eq(lat_cpulist("x", NULL, NULL), 0);
	ck_assert_uint_eq(lat_cpulist("1,2x", NULL, NULL), 0);
	ck_assert_uint_eq(lat_cpulist("0-4294967296", NULL, NULL), 0);
	lat_cpulist("1-2", "0,2-9", &all);
	ck_assert(!all);
	lat_cpulist("2-4,9", "0,2-9", &all);
	ck_assert(all);
	lat_cpulist("2", "", &all);
	ck_assert(!all);
	lat_cpulist("", "0-3", &all);
	ck_assert(!all);
}
END_TEST

START_TEST(json_of_it)
{
	char text[4096] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct bp_print *p = bp_print_new(f, BP_PRINT_JSON);

	good_machine();
	put(CPU "smt/active", "1\n");
	lat_env_read(&env, t.root);
	bp_print_object(p, NULL);
	lat_env_print(p, &env, &(struct lat_env_counts){ .steal = 3 });
	bp_print_object_end(p);
	ck_assert_int_eq(bp_print_free(p), 0);
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "\"smt\":true"));
	ck_assert_ptr_nonnull(strstr(text, "\"hypervisor\":null"));
	ck_assert_ptr_nonnull(strstr(text, "\"steal_ms\":30"));
	ck_assert_ptr_nonnull(strstr(text, "\"warnings\":[{\"code\":\"smt\""));
	ft_free(&t);
}
END_TEST

START_TEST(this_machine)
{
	lat_env_read(&env, "/");
	ck_assert_uint_ge(env.online, 1);
	ck_assert_uint_ge(env.nr_allowed, 1);
	ck_assert_int_ge(env.cpu, 0);
	ck_assert_str_ne(env.kernel, "");
}
END_TEST

SUITE("lat_env", a_good_machine_is_read_and_has_nothing_against_it,
      what_spoils_a_measurement_is_warned_of, what_happened_meanwhile,
      nothing_and_nonsense_are_unknown, lists_of_cpus, json_of_it, this_machine)
