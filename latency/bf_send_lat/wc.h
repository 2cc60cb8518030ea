/* SPDX-License-Identifier: GPL-2.0-only */
/* Judging whether stores to a doorbell page are combined; see wc_check.c for the measurement. */
#ifndef LAT_WC_H
#define LAT_WC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** enum lat_wc - the answer; values are exit statuses. */
enum lat_wc {
	LAT_WC_YES = 0,
	LAT_WC_NO = 1,
	LAT_WC_UNKNOWN = 77,
};

/** struct lat_wc_point - @bytes: stored inline. @ns: median time of the post. */
struct lat_wc_point {
	double bytes;
	double ns;
};

/**
 * struct lat_wc_evidence - what is known.
 * @connectx: the device's provider writes requests to a BlueFlame page.
 * @slope: ns for each further 64 bytes. @floor: ns of the smallest post.
 * @noise: standard error of @slope.
 * @pat_known: the kernel's list could be read.
 * @pat_wc, @pat_uc: it has write-combining, uncached mappings within the device's BARs.
 */
struct lat_wc_evidence {
	bool connectx;
	double slope;
	double floor;
	double noise;
	bool pat_known;
	bool pat_wc;
	bool pat_uc;
};

/**
 * lat_wc_fit() - straight line through the points, by least squares.
 * @points: at least three with different @bytes. @n: how many.
 * @out: slope, floor and noise are set.
 *
 * Return: 0 or -EINVAL.
 */
int lat_wc_fit(const struct lat_wc_point *points, size_t n, struct lat_wc_evidence *out);

/**
 * lat_wc_judge() - the answer.
 * @e: evidence.
 * @why: receives it in words. @size: of @why.
 *
 * An uncached page takes each 8 bytes as a transaction of its own, eight for 64 bytes; a
 * write-combining one takes 64 bytes as one. The times between which nothing is said are
 * far from both.
 *
 * Return: answer.
 */
enum lat_wc lat_wc_judge(const struct lat_wc_evidence *e, char *why, size_t size);

/**
 * lat_wc_read_pat() - mappings of a device in /sys/kernel/debug/x86/pat_memtype_list.
 * @list: that file, or NULL when it cannot be read.
 * @resource: the device's resource file in sysfs, or NULL.
 * @out: pat_ fields are set.
 */
void lat_wc_read_pat(FILE *list, FILE *resource, struct lat_wc_evidence *out);

#endif
