// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bar.h"

#define DEVICES "/sys/bus/pci/devices"
#define PAGE	4096u

/* What DEVICES/bdf/driver points to, "" without a driver. */
static void driver_of(const char *bdf, char *name, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *base;
	ssize_t n;

	name[0] = 0;
	snprintf(path, sizeof(path), DEVICES "/%s/driver", bdf);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return;
	target[n] = 0;
	base = strrchr(target, '/');
	snprintf(name, size, "%.*s", (int)size - 1, base ? base + 1 : target);
}

static bool is_bridge(const char *bdf)
{
	char path[PATH_MAX], class[32];

	snprintf(path, sizeof(path), DEVICES "/%s/class", bdf);
	return read_text(path, class, sizeof(class)) || !strncmp(class, "0x06", 4);
}

static int find_function(const struct guest *g, char *bdf, size_t size)
{
	const char *pci = guest_str(g, "pci", NULL), *driver = guest_str(g, "driver", NULL);
	struct dirent **list;
	int n, err = -ENODEV;

	if (pci) {
		snprintf(bdf, size, "%s", pci);
		return 0;
	}
	n = scandir(DEVICES, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;
		char bound[64];

		if (err && name[0] != '.' && !is_bridge(name)) {
			driver_of(name, bound, sizeof(bound));
			if ((!driver || !strcmp(driver, bound)) && strlen(name) < size) {
				strcpy(bdf, name);
				err = 0;
			}
		}
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	if (err)
		report_error(g, "no PCI function %s%s", driver ? "of driver " : "but bridges",
			     driver ? driver : "");
	return err;
}

int bar_find(const struct guest *g, struct bar *b)
{
	char path[PATH_MAX], driver[64];
	uint64_t index, start = 0, last = 0;
	FILE *f;
	int err;

	*b = (struct bar){ 0 };
	if (guest_u64(g, "bar", 0, &index) || guest_u64(g, "scratch", UINT64_MAX, &b->scratch))
		return -EINVAL;
	if (index > 5) {
		report_error(g, "bar=%llu is not 0 to 5", (unsigned long long)index);
		return -EINVAL;
	}
	b->index = (unsigned int)index;
	err = find_function(g, b->bdf, sizeof(b->bdf));
	if (err)
		return err;
	driver_of(b->bdf, driver, sizeof(driver));
	if (!*driver) {
		snprintf(path, sizeof(path), DEVICES "/%s/enable", b->bdf);
		err = write_text(path, "1");
		if (err) {
			report_error(g, "%s: %s", path, strerror(-err));
			return err;
		}
	}
	/* A line for each BAR: first byte, last byte, flags. */
	snprintf(path, sizeof(path), DEVICES "/%s/resource", b->bdf);
	f = fopen(path, "re");
	for (uint64_t i = 0; f && i <= index; i++)
		if (fscanf(f, "%lx %lx %*x", &start, &last) != 2)
			start = last = 0;
	if (f)
		fclose(f);
	if (!start || last <= start || (last - start + 1) % PAGE) {
		report_error(g, "%s has no BAR %u of whole pages", b->bdf, b->index);
		return -ENODEV;
	}
	b->start = start;
	b->size = last - start + 1;
	if (b->scratch != UINT64_MAX && (b->scratch % 4 || b->scratch > b->size - 4)) {
		report_error(g, "scratch=0x%llx is no register in the BAR", (unsigned long long)b->scratch);
		return -EINVAL;
	}
	return 0;
}

int bar_map(const struct guest *g, struct bar *b, bool wc)
{
	char path[PATH_MAX];
	void *map;
	int fd, err = 0;

	bar_unmap(b);
	snprintf(path, sizeof(path), DEVICES "/%s/resource%u%s", b->bdf, b->index, wc ? "_wc" : "");
	fd = open(path, O_RDWR | O_CLOEXEC);
	map = fd < 0 ? MAP_FAILED : mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		err = -errno;
		report_error(g, "%s: %s", path, strerror(errno));
	} else {
		b->map = map;
		b->wc = wc;
	}
	if (fd >= 0)
		close(fd);
	return err;
}

void bar_unmap(struct bar *b)
{
	if (b->map)
		munmap((void *)(uintptr_t)b->map, b->size);
	b->map = NULL;
}

static volatile uint32_t *word(struct bar *b, uint64_t offset)
{
	return (volatile uint32_t *)(uintptr_t)(b->map + offset);
}

static void touch_here(struct bar *b)
{
	for (uint64_t at = 0; at < b->size; at += PAGE) {
		(void)*word(b, at);
		b->reads++;
	}
	if (b->scratch == UINT64_MAX)
		return;
	*word(b, b->scratch) = (uint32_t)++b->writes;
	if (*word(b, b->scratch) != (uint32_t)b->writes)
		b->wrong++;
}

void bar_touch(struct bar *b)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t all, one;

	if (!b->map || sched_getaffinity(0, sizeof(all), &all))
		return;
	for (int cpu = 0; cpu < cpus; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (!sched_setaffinity(0, sizeof(one), &one))
			touch_here(b);
	}
	sched_setaffinity(0, sizeof(all), &all);
}
