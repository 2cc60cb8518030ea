// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "latency/env.h"

#define CPUS_MAX 65536ul

/* Up to @size - 1 bytes of a file below @root; returns whether it could be read. */
__attribute__((format(printf, 4, 5))) static bool slurp(const char *root, char *buf, size_t size,
							const char *fmt, ...)
{
	char name[256], path[PATH_MAX];
	size_t got = 0;
	ssize_t n = 1;
	va_list ap;
	int fd;

	*buf = '\0';
	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	if (snprintf(path, sizeof(path), "%s/%s", root, name) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	while (got < size - 1 && (n = read(fd, buf + got, size - 1 - got)) > 0)
		got += (size_t)n;
	close(fd);
	buf[got] = '\0';
	return n >= 0;
}

/* The same for one line. */
#define LINE(root, buf, ...)                                           \
	({                                                             \
		bool ok_ = slurp(root, buf, sizeof(buf), __VA_ARGS__); \
                                                                       \
		(buf)[strcspn(buf, "\n")] = '\0';                      \
		ok_;                                                   \
	})

/* What follows "NAME" and a colon at the start of a line. */
static const char *field(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *s = text; s; s = strchr(s, '\n'), s = s ? s + 1 : NULL)
		if (!strncmp(s, name, len) && s[len + strspn(s + len, " \t")] == ':')
			return s + len + strspn(s + len, " \t:");
	return NULL;
}

static void copy_line(char *out, size_t size, const char *from)
{
	size_t len = from ? strcspn(from, "\n") : 0;

	snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), from ? from : "");
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = text; s && (s = strstr(s, word)); s += len)
		if ((s == text || s[-1] == ' ') && (s[len] == ' ' || s[len] == '\n' || !s[len]))
			return true;
	return false;
}

/* One stretch of a list; returns what follows it, NULL at the end or for nonsense. */
static const char *stretch(const char *s, unsigned long *first, unsigned long *last)
{
	char *end;

	if (*s < '0' || *s > '9')
		return NULL;
	*first = *last = strtoul(s, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return NULL;
		*last = strtoul(end + 1, &end, 10);
	}
	if (*last < *first || *last >= CPUS_MAX || (*end && *end != ',' && *end != '\n'))
		return NULL;
	return *end == ',' ? end + 1 : end;
}

static bool in_list(const char *list, unsigned long cpu)
{
	unsigned long first, last;

	while (list && (list = stretch(list, &first, &last)))
		if (cpu >= first && cpu <= last)
			return true;
	return false;
}

unsigned int lat_cpulist(const char *list, const char *isolated, bool *all_in)
{
	unsigned int n = 0;
	bool all = true;

	for (const char *s = list; *s && *s != '\n';) {
		unsigned long first, last;

		s = stretch(s, &first, &last);
		if (!s) {
			n = 0;
			break;
		}
		n += (unsigned int)(last - first + 1);
		for (unsigned long c = first; isolated && all && c <= last; c++)
			all = in_list(isolated, c);
	}
	if (all_in)
		*all_in = n && all && isolated;
	return n;
}

static void read_self(struct lat_env *env, const char *root)
{
	char text[8192];
	const char *s;
	int field_nr = 2;

	if (!slurp(root, text, sizeof(text), "proc/thread-self/status"))
		slurp(root, text, sizeof(text), "proc/self/status");
	copy_line(env->allowed, sizeof(env->allowed), field(text, "Cpus_allowed_list"));
	env->nr_allowed = lat_cpulist(env->allowed, NULL, NULL);
	if (!slurp(root, text, sizeof(text), "proc/thread-self/stat"))
		slurp(root, text, sizeof(text), "proc/self/stat");
	/* The name in parentheses may hold anything; field 39 is the CPU (proc(5)). */
	s = strrchr(text, ')');
	while (s && field_nr < 39 && (s = strchr(s + 1, ' ')))
		field_nr++;
	env->cpu = s ? atoi(s) : -1;
}

static void read_cstates(struct lat_env *env, const char *root)
{
	char name[32], value[32];

	for (unsigned int i = 0; i < 32; i++) {
		if (!LINE(root, name, "sys/devices/system/cpu/cpu%d/cpuidle/state%u/name", env->cpu,
			  i))
			break;
		if (LINE(root, value, "sys/devices/system/cpu/cpu%d/cpuidle/state%u/disable",
			 env->cpu, i) &&
		    strcmp(value, "0") != 0)
			continue;
		LINE(root, value, "sys/devices/system/cpu/cpu%d/cpuidle/state%u/latency", env->cpu,
		     i);
		memcpy(env->cstate, name, sizeof(name));
		env->cstate_us = (unsigned int)strtoul(value, NULL, 10);
	}
}

static enum lat_known on_off(const char *root, const char *path, const char *yes)
{
	char text[32];

	if (!LINE(root, text, "%s", path))
		return LAT_UNKNOWN;
	return !strcmp(text, yes) ? LAT_YES : LAT_NO;
}

static enum lat_known covered(const struct lat_env *env, const char *root, const char *path)
{
	char list[1024];
	bool all;

	if (!env->nr_allowed || !LINE(root, list, "%s", path))
		return LAT_UNKNOWN;
	lat_cpulist(env->allowed, list, &all);
	return all ? LAT_YES : LAT_NO;
}

static void read_cpuinfo(struct lat_env *env, const char *root)
{
	char text[16384], vendor[64];
	const char *flags;

	slurp(root, text, sizeof(text), "proc/cpuinfo");
	copy_line(env->cpu_model, sizeof(env->cpu_model), field(text, "model name"));
	flags = field(text, "flags");
	if (flags) {
		char line[8192];

		copy_line(line, sizeof(line), flags);
		env->constant_tsc = has_word(line, "constant_tsc") ? LAT_YES : LAT_NO;
		env->nonstop_tsc = has_word(line, "nonstop_tsc") ? LAT_YES : LAT_NO;
		env->virtualized = has_word(line, "hypervisor") ? LAT_YES : LAT_NO;
	}
	if (env->virtualized != LAT_YES)
		return;
	if (!LINE(root, env->hypervisor, "sys/hypervisor/type") || !*env->hypervisor) {
		LINE(root, env->hypervisor, "sys/class/dmi/id/product_name");
		if (LINE(root, vendor, "sys/class/dmi/id/sys_vendor") && !strcmp(vendor, "QEMU"))
			strcpy(env->hypervisor, "QEMU");
	}
}

void lat_env_read(struct lat_env *env, const char *root)
{
	char text[256];
	const char *s;

	*env = (struct lat_env){ .cpu = -1,
				 .aslr = -1,
				 .constant_tsc = LAT_UNKNOWN,
				 .nonstop_tsc = LAT_UNKNOWN,
				 .virtualized = LAT_UNKNOWN,
				 .load = -1 };
	LINE(root, env->kernel, "proc/sys/kernel/osrelease");
	LINE(root, text, "sys/devices/system/cpu/online");
	env->online = lat_cpulist(text, NULL, NULL);
	read_self(env, root);
	read_cpuinfo(env, root);
	env->isolated = covered(env, root, "sys/devices/system/cpu/isolated");
	env->nohz_full = covered(env, root, "sys/devices/system/cpu/nohz_full");
	if (env->cpu >= 0) {
		LINE(root, env->governor, "sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
		     env->cpu);
		read_cstates(env, root);
	}
	env->turbo = on_off(root, "sys/devices/system/cpu/intel_pstate/no_turbo", "0");
	if (env->turbo == LAT_UNKNOWN)
		env->turbo = on_off(root, "sys/devices/system/cpu/cpufreq/boost", "1");
	env->smt = on_off(root, "sys/devices/system/cpu/smt/active", "1");
	LINE(root, env->clocksource,
	     "sys/devices/system/clocksource/clocksource0/current_clocksource");
	/* "always [madvise] never": the chosen one is in brackets. */
	if (LINE(root, text, "sys/kernel/mm/transparent_hugepage/enabled") &&
	    (s = strchr(text, '[')))
		snprintf(env->thp, sizeof(env->thp), "%.*s", (int)strcspn(s + 1, "]"), s + 1);
	if (LINE(root, text, "proc/sys/kernel/randomize_va_space") && *text)
		env->aslr = atoi(text);
	if (LINE(root, text, "proc/loadavg") && *text)
		env->load = strtod(text, NULL);
}

/* Eighth number of "cpuN ..." in /proc/stat (proc(5)). */
static uint64_t steal_of(const char *line)
{
	const char *s = line + strcspn(line, " ");

	for (int i = 0; i < 7 && *s; i++) {
		s += strspn(s, " ");
		s += strcspn(s, " \n");
	}
	return *s == ' ' ? strtoull(s, NULL, 10) : 0;
}

void lat_env_count(struct lat_env_counts *c, const struct lat_env *env, const char *root)
{
	char text[65536];
	const char *s;

	*c = (struct lat_env_counts){ 0 };
	slurp(root, text, sizeof(text), "proc/stat");
	for (s = text; s && !strncmp(s, "cpu", 3); s = strchr(s, '\n'), s = s ? s + 1 : NULL)
		if (s[3] >= '0' && s[3] <= '9' && in_list(env->allowed, strtoul(s + 3, NULL, 10)))
			c->steal += steal_of(s);
	if (!slurp(root, text, sizeof(text), "proc/thread-self/status"))
		slurp(root, text, sizeof(text), "proc/self/status");
	s = field(text, "voluntary_ctxt_switches");
	c->voluntary = s ? strtoull(s, NULL, 10) : 0;
	s = field(text, "nonvoluntary_ctxt_switches");
	c->involuntary = s ? strtoull(s, NULL, 10) : 0;
	if (!slurp(root, text, sizeof(text), "proc/thread-self/stat"))
		slurp(root, text, sizeof(text), "proc/self/stat");
	/* State, ppid, pgrp, session, tty, tpgid, flags, minflt, cminflt, majflt. */
	s = strrchr(text, ')');
	for (int i = 3; s && i <= 12; i++) {
		s = strchr(s + 1, ' ');
		if (s && i == 10)
			c->minor = strtoull(s, NULL, 10);
		if (s && i == 12)
			c->major = strtoull(s, NULL, 10);
	}
}

static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

struct lat_env_counts lat_env_window(const struct lat_env_counts *before,
				     const struct lat_env_counts *after)
{
	return (struct lat_env_counts){
		.steal = grown(before->steal, after->steal),
		.voluntary = grown(before->voluntary, after->voluntary),
		.involuntary = grown(before->involuntary, after->involuntary),
		.minor = grown(before->minor, after->minor),
		.major = grown(before->major, after->major),
	};
}
