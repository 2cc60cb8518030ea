// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <string.h>

#include "wc.h"

/*
 * Nanoseconds for 64 bytes. A posted write of 8 bytes needs a header of about three times
 * its size on the link; eight of them cost at least 50 ns even on a fast one, while one of
 * 64 bytes is a copy within the processor until its buffers are full.
 */
#define COMBINED_MAX 25.0
#define UNCACHED_MIN 60.0
#define BARS	     6

int lat_wc_fit(const struct lat_wc_point *points, size_t n, struct lat_wc_evidence *out)
{
	double mx = 0, my = 0, sxx = 0, sxy = 0, rest = 0, a, b;

	if (n < 3)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		mx += points[i].bytes / (double)n;
		my += points[i].ns / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		sxx += (points[i].bytes - mx) * (points[i].bytes - mx);
		sxy += (points[i].bytes - mx) * (points[i].ns - my);
	}
	if (sxx <= 0)
		return -EINVAL;
	b = sxy / sxx;
	a = my - b * mx;
	for (size_t i = 0; i < n; i++)
		rest += pow(points[i].ns - a - b * points[i].bytes, 2);
	out->slope = 64 * b;
	out->floor = points[0].ns;
	out->noise = 64 * sqrt(rest / (double)(n - 2) / sxx);
	return 0;
}

enum lat_wc lat_wc_judge(const struct lat_wc_evidence *e, char *why, size_t size)
{
	double low = e->slope - 3 * e->noise, high = e->slope + 3 * e->noise;

	if (!e->connectx) {
		snprintf(why, size,
			 "the device has no BlueFlame page, so a post says nothing about one");
		return LAT_WC_UNKNOWN;
	}
	if (low > UNCACHED_MIN) {
		snprintf(why, size,
			 "64 bytes more cost %.1f ns: each store is a transaction of its own%s",
			 e->slope,
			 e->pat_known && e->pat_wc
				 ? ", although the kernel's list has a write-combining mapping"
				 : "");
		return LAT_WC_NO;
	}
	if (high >= COMBINED_MAX) {
		snprintf(why, size, "64 bytes more cost %.1f ns +- %.1f, which is neither",
			 e->slope, 3 * e->noise);
		return LAT_WC_UNKNOWN;
	}
	/* Flat posts also come from a provider that does not copy them to the page at all. */
	if (e->pat_known && !e->pat_wc) {
		snprintf(why, size,
			 "posts are flat, but the kernel's list has no write-combining mapping of "
			 "the "
			 "device: BlueFlame is not used");
		return LAT_WC_UNKNOWN;
	}
	if (!e->pat_known) {
		snprintf(why, size,
			 "posts are flat, but without the kernel's list (root, debugfs) BlueFlame "
			 "may "
			 "just not be used");
		return LAT_WC_UNKNOWN;
	}
	snprintf(why, size,
		 "64 bytes more cost %.1f ns, and the kernel's list has a write-combining mapping",
		 e->slope);
	return LAT_WC_YES;
}

void lat_wc_read_pat(FILE *list, FILE *resource, struct lat_wc_evidence *out)
{
	unsigned long start[BARS] = { 0 }, end[BARS] = { 0 }, flags, low, high;
	char line[256], type[64];
	int bars = 0;

	out->pat_known = false;
	out->pat_wc = false;
	out->pat_uc = false;
	if (!list || !resource)
		return;
	while (bars < BARS && fgets(line, sizeof(line), resource) &&
	       sscanf(line, "%lx %lx %lx", &start[bars], &end[bars], &flags) == 3)
		bars++;
	while (fgets(line, sizeof(line), list)) {
		/* "PAT: [mem 0x00000000e0000000-0x00000000e0800000] write-combining" */
		if (sscanf(line, "PAT: [mem 0x%lx-0x%lx] %63s", &low, &high, type) != 3 &&
		    sscanf(line, "%63s @ 0x%lx-0x%lx", type, &low, &high) != 3)
			continue;
		out->pat_known = true;
		for (int i = 0; i < bars; i++) {
			if (!end[i] || low > end[i] || high <= start[i])
				continue;
			out->pat_wc |= !strcmp(type, "write-combining");
			out->pat_uc |= !strncmp(type, "uncached", 8);
		}
	}
}
