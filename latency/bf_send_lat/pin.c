// SPDX-License-Identifier: GPL-2.0-only
/* Which processor to measure on. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

int lat_cpus(int *only)
{
	cpu_set_t set;
	int n;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	n = CPU_COUNT(&set);
	for (int i = 0; n == 1 && i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			*only = i;
	return n;
}

/* "0-3,8" of sysfs. Returns false when there is no such file, as for a software device. */
static bool near_device(const char *device, cpu_set_t *set)
{
	char path[160], text[1024], *s = text;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/local_cpulist", device);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	CPU_ZERO(set);
	while (*s >= '0' && *s <= '9') {
		long first = strtol(s, &s, 10), last = first;

		if (*s == '-')
			last = strtol(s + 1, &s, 10);
		for (long i = first; i <= last && i < CPU_SETSIZE; i++)
			CPU_SET((int)i, set);
		s += *s == ',';
	}
	return true;
}

static int pin_to(int cpu, struct bp_error *err)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return bp_error_set(err, -errno, "choose one of this process's, see taskset -p",
				    "cannot run on processor %d: %s", cpu, strerror(errno));
	return 0;
}

int lat_pin(const struct lat_options *o, const char *device, bool client, int *cpu,
	    struct bp_error *err)
{
	cpu_set_t allowed, local;
	int picked = -1, before = -1;

	*cpu = -1;
	if (o->cpu >= 0) {
		*cpu = o->cpu;
		return pin_to(o->cpu, err);
	}
	if (o->cpu == -2 || !near_device(device, &local) ||
	    sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2)
		return 0;
	CPU_AND(&local, &local, &allowed);
	/* The last ones: the first have most of the interrupts. Two ends take different ones. */
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &local))
			continue;
		before = picked;
		picked = i;
	}
	if (before < 0)
		return 0;
	*cpu = client ? picked : before;
	return pin_to(*cpu, err);
}
