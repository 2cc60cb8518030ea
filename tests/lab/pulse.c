// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "pulse.h"

/* Nanoseconds for which one thread has run; 0 where the kernel does not tell. */
static unsigned long long ran(pid_t pid, const char *task)
{
	unsigned long long ns = 0;
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/schedstat", (int)pid, task);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	fclose(f);
	return ns;
}

bool pulse_lost(struct pulse *p, pid_t pid, double now)
{
	unsigned long long ns = 0;
	char path[48];
	const struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.' && atoi(e->d_name) != pid)
			ns += ran(pid, e->d_name);
	closedir(dir);
	if (!ns || ns != p->ran) {
		p->ran = ns;
		p->since = now;
		return false;
	}
	return now - p->since >= PULSE_SECONDS;
}
