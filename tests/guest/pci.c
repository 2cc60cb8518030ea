// SPDX-License-Identifier: GPL-2.0-only
/* PCI functions as the guest's kernel sees them: drivers, interrupts, reset. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

#define DEVICES "/sys/bus/pci/devices"

/* Name of what DEVICES/bdf/link points to; -ENOENT where there is no such link. */
static int link_name(const char *bdf, const char *link, char *name, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), DEVICES "/%s/%s", bdf, link);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = 0;
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	if (strlen(base) >= size)
		return -ENAMETOOLONG;
	strcpy(name, base);
	return 0;
}

static void attr(const char *bdf, const char *name, char *value, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICES "/%s/%s", bdf, name);
	if (read_text(path, value, size))
		value[0] = 0;
}

static int by_name(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

void pci_report_all(const struct guest *g)
{
	struct dirent **list;
	int n = scandir(DEVICES, &list, by_name, alphasort);

	for (int i = 0; i < n; i++) {
		const char *bdf = list[i]->d_name;
		struct irq_count irq;
		char value[256];
		struct report r;

		report_open(&r, "dev");
		report_str(&r, "bdf", bdf);
		attr(bdf, "vendor", value, sizeof(value));
		report_str(&r, "vendor", value);
		attr(bdf, "device", value, sizeof(value));
		report_str(&r, "device", value);
		attr(bdf, "class", value, sizeof(value));
		report_str(&r, "class", value);
		report_str(&r, "driver", link_name(bdf, "driver", value, sizeof(value)) ? NULL : value);
		attr(bdf, "reset_method", value, sizeof(value));
		report_str(&r, "reset_method", value);
		if (!pci_irqs(bdf, &irq)) {
			report_str(&r, "irq_mode", irq.mode);
			report_u64(&r, "vectors", irq.vectors);
			report_u64(&r, "interrupts", irq.total);
		}
		report_send(g, &r);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

struct vector {
	unsigned int irq;
	uint64_t count;
	char name[64];
};

/* Fill in what /proc/interrupts has of each: a number a CPU, then names. */
static int count_vectors(struct vector *v, unsigned int n)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return -errno;
	while (getline(&line, &size, f) > 0) {
		unsigned int irq, i;
		char *p, *end;

		irq = (unsigned int)strtoul(line, &end, 10);
		if (*end != ':')
			continue;
		for (i = 0; i < n && v[i].irq != irq; i++)
			;
		if (i == n)
			continue;
		v[i].count = 0;
		for (p = end + 1;; p = end) {
			unsigned long c = strtoul(p, &end, 10);

			if (end == p || (*end != ' ' && *end != '\n'))
				break;
			v[i].count += c;
		}
		/* The last column is the name that the driver gave. */
		line[strcspn(line, "\n")] = 0;
		end = strrchr(line, ' ');
		snprintf(v[i].name, sizeof(v[i].name), "%s", end ? end + 1 : "");
	}
	free(line);
	fclose(f);
	return 0;
}

static int find_vectors(const char *bdf, struct vector *v, unsigned int max, unsigned int *n, char *mode)
{
	char path[PATH_MAX], value[32] = "";
	struct dirent *e;
	DIR *d;

	*n = 0;
	strcpy(mode, "none");
	snprintf(path, sizeof(path), DEVICES "/%s/msi_irqs", bdf);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || *n == max)
			continue;
		snprintf(path, sizeof(path), DEVICES "/%s/msi_irqs/%s", bdf, e->d_name);
		if (!read_text(path, value, sizeof(value)))
			strcpy(mode, strcmp(value, "msix") ? "msi" : "msix");
		v[(*n)++].irq = (unsigned int)atoi(e->d_name);
	}
	if (d)
		closedir(d);
	if (!*n) {
		snprintf(path, sizeof(path), DEVICES "/%s/irq", bdf);
		if (read_text(path, value, sizeof(value)) || !atoi(value))
			return 0;
		strcpy(mode, "intx");
		v[(*n)++].irq = (unsigned int)atoi(value);
	}
	return count_vectors(v, *n);
}

int pci_irqs(const char *bdf, struct irq_count *irq)
{
	struct vector v[64] = { 0 };
	int err = find_vectors(bdf, v, 64, &irq->vectors, irq->mode);

	irq->total = 0;
	for (unsigned int i = 0; i < irq->vectors; i++)
		irq->total += v[i].count;
	return err;
}

void pci_report_irqs(const struct guest *g, const char *bdf, const char *when, struct irq_count *irq)
{
	struct vector v[64] = { 0 };
	struct report r;

	irq->total = 0;
	if (find_vectors(bdf, v, 64, &irq->vectors, irq->mode))
		return;
	report_open(&r, "irq");
	report_str(&r, "bdf", bdf);
	report_str(&r, "when", when);
	report_str(&r, "mode", irq->mode);
	report_list(&r, "vectors");
	for (unsigned int i = 0; i < irq->vectors; i++) {
		report_object(&r);
		report_u64(&r, "irq", v[i].irq);
		report_str(&r, "name", v[i].name);
		report_u64(&r, "count", v[i].count);
		report_object_end(&r);
		irq->total += v[i].count;
	}
	report_list_end(&r);
	report_u64(&r, "total", irq->total);
	report_send(g, &r);
}

int pci_reset(const struct guest *g, const char *bdf)
{
	char path[PATH_MAX], driver[64], method[64];
	struct report r;
	int err;

	attr(bdf, "reset_method", method, sizeof(method));
	err = link_name(bdf, "driver", driver, sizeof(driver));
	if (err) {
		report_error(g, "reset of %s: no driver is bound to it", bdf);
		return err;
	}
	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%s/unbind", driver);
	err = write_text(path, bdf);
	if (!err) {
		snprintf(path, sizeof(path), DEVICES "/%s/reset", bdf);
		err = write_text(path, "1");
	}
	if (!err) {
		snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%s/bind", driver);
		err = write_text(path, bdf);
	}
	report_open(&r, "flr");
	report_str(&r, "bdf", bdf);
	report_str(&r, "driver", driver);
	report_str(&r, "method", method);
	report_bool(&r, "ok", !err);
	report_send(g, &r);
	if (err)
		report_error(g, "reset of %s: %s: %s", bdf, path, strerror(-err));
	return err;
}

int pci_of(const char *sysfs, char *bdf, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX];
	char *last = NULL;

	snprintf(path, sizeof(path), "%s", sysfs);
	if (!realpath(path, real))
		return -ENODEV;
	/* The deepest component that looks like 0000:00:03.0. */
	for (char *p = strtok(real, "/"); p; p = strtok(NULL, "/")) {
		unsigned int a, b, c, d;
		int used = 0;

		if (sscanf(p, "%x:%x:%x.%x%n", &a, &b, &c, &d, &used) == 4 && !p[used])
			last = p;
	}
	if (!last || strlen(last) >= size)
		return -ENODEV;
	strcpy(bdf, last);
	return 0;
}
