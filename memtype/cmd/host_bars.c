// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* Flags of sysfs "resource" lines: include/linux/ioport.h of the kernel. */
#define RESOURCE_MEM	  0x200
#define RESOURCE_PREFETCH 0x2000

#define BAR_ROM		  6

static bool is_bridge(const char *root, const char *bdf)
{
	char path[128], line[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", bdf);
	f = host_open(root, path);
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	return strtoul(line, NULL, 16) >> 8 == 0x0604;
}

static int read_function(struct host *h, const char *root, const char *bdf)
{
	bool bridge = is_bridge(root, bdf);
	unsigned int index = 0;
	char path[128], line[128];
	int ret = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource", bdf);
	f = host_open(root, path);
	if (!f)
		return 0;
	for (; !ret && fgets(line, sizeof(line), f); index++) {
		uint64_t start, last, flags;
		struct host_bar *grown;

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64, &start, &last, &flags) != 3 ||
		    !(flags & RESOURCE_MEM) || !start || last < start)
			continue;
		/* Behind a bridge's ROM come its windows, which hold the BARs of others. */
		if (index == BAR_ROM || (bridge && index > BAR_ROM))
			continue;
		grown = host_grow(h->bars, h->bar_count, sizeof(*h->bars));
		if (!grown) {
			ret = -ENOMEM;
			break;
		}
		h->bars = grown;
		grown[h->bar_count] = (struct host_bar){ .index = index,
							 .prefetchable = flags & RESOURCE_PREFETCH,
							 .start = start,
							 .last = last };
		snprintf(grown[h->bar_count].bdf, sizeof(grown[h->bar_count].bdf), "%s", bdf);
		h->bar_count++;
	}
	fclose(f);
	return ret;
}

int host_read_bars(struct host *h, const char *root, struct bp_error *err)
{
	struct dirent **entries = NULL;
	char path[4096];
	int n, ret = 0;

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", strcmp(root, "/") ? root : "");
	n = scandir(path, &entries, NULL, alphasort);
	if (n < 0)
		return errno == ENOENT ? 0
				       : bp_error_set(err, -errno, NULL, "cannot list %s: %s", path,
						      strerror(errno));
	for (int i = 0; i < n; i++) {
		size_t len = strlen(entries[i]->d_name);

		/* 0000:01:00.0, and the longer domains of some hosts. */
		if (!ret && len >= 12 && len < sizeof(h->bars->bdf) && entries[i]->d_name[0] != '.')
			ret = read_function(h, root, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return ret;
}
