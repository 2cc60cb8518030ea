// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "vmm/hostmem.h"

/* Sum of some "Name:   123 kB" lines of a file; false when the file cannot be read. */
static bool sum_kib(const char *path, const char *const *names, uint64_t *out)
{
	FILE *f = fopen(path, "re");
	char line[256];

	*out = 0;
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');
		uint64_t v;

		if (!colon || sscanf(colon + 1, "%" SCNu64, &v) != 1)
			continue;
		*colon = '\0';
		for (const char *const *n = names; *n; n++)
			if (!strcmp(line, *n))
				*out += v;
	}
	fclose(f);
	return true;
}

static bool read_u64(const char *path, uint64_t *out)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fscanf(f, "%" SCNu64, out) == 1;
	fclose(f);
	return ok;
}

static int check_hugepages(const char *root, uint64_t bytes, uint64_t page_size,
			   struct bp_error *err)
{
	uint64_t wanted = bytes / page_size + (bytes % page_size != 0);
	uint64_t kib = page_size / 1024, nr, avail, promised = 0;
	char dir[256], path[512];

	snprintf(dir, sizeof(dir), "%s/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB",
		 strcmp(root, "/") ? root : "", kib);
	snprintf(path, sizeof(path), "%s/free_hugepages", dir);
	if (!read_u64(path, &avail))
		return bp_error_set(err, -ENOMEM, "use another size with --hugepages, or none",
				    "this host has no huge pages of %" PRIu64 " MiB", kib / 1024);
	snprintf(path, sizeof(path), "%s/resv_hugepages", dir);
	if (read_u64(path, &promised))
		avail -= promised < avail ? promised : avail;
	if (wanted <= avail)
		return 0;
	snprintf(path, sizeof(path), "%s/nr_hugepages", dir);
	if (!read_u64(path, &nr))
		nr = avail;
	bp_error_set(err, -ENOMEM, NULL,
		     "the guest's memory takes %" PRIu64 " huge pages of %" PRIu64
		     " MiB, and %" PRIu64 " are free",
		     wanted, kib / 1024, avail);
	bp_error_fix(err, "reserve more: echo %" PRIu64 " > %s", nr + wanted - avail, path);
	return -ENOMEM;
}

int vmm_hostmem_check(const char *root, uint64_t bytes, uint64_t page_size, struct bp_error *err)
{
	static const char *const names[] = { "MemAvailable", "SwapFree", NULL };
	char path[512];
	uint64_t kib;

	if (page_size)
		return check_hugepages(root, bytes, page_size, err);
	snprintf(path, sizeof(path), "%s/proc/meminfo", strcmp(root, "/") ? root : "");
	/* Without /proc the kernel has the last word, when the memory is touched. */
	if (!sum_kib(path, names, &kib) || bytes / 1024 <= kib)
		return 0;
	return bp_error_set(err, -ENOMEM, "choose a smaller --mem or end something else",
			    "the guest's memory of %.4g GiB is more than the %.4g GiB of memory "
			    "and swap that are available on this host",
			    (double)bytes / (1 << 30), (double)kib / (1 << 20));
}

uint64_t vmm_hostmem_own(void)
{
	static const char *const names[] = { "RssAnon", "RssFile", "VmPTE", NULL };
	uint64_t kib;

	return sum_kib("/proc/self/status", names, &kib) ? kib : 0;
}
