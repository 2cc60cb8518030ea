// SPDX-License-Identifier: GPL-2.0-only
/* bf_send_lat --wc-check: the line through the posts, the kernel's list, and the answer. */
#include <errno.h>
#include <string.h>

#include "latency/bf_send_lat/wc.h"
#include "suite.h"

static struct lat_wc_evidence judged(double per64, bool connectx, bool pat, bool wc)
{
	struct lat_wc_evidence e = {
		.connectx = connectx, .slope = per64, .noise = 1, .pat_known = pat, .pat_wc = wc
	};
	return e;
}

START_TEST(line)
{
	struct lat_wc_point p[] = { { 16, 110 }, { 32, 120 }, { 64, 140 }, { 128, 180 } };
	struct lat_wc_evidence e = { 0 };

	/* 10 ns for 16 bytes, exactly. */
	ck_assert_int_eq(lat_wc_fit(p, 4, &e), 0);
	ck_assert_double_eq_tol(e.slope, 40, 1e-9);
	ck_assert_double_eq_tol(e.noise, 0, 1e-6);
	ck_assert_double_eq_tol(e.floor, 110, 1e-9);
	p[3].ns = 200;
	ck_assert_int_eq(lat_wc_fit(p, 4, &e), 0);
	ck_assert_double_gt(e.noise, 1);
	ck_assert_int_eq(lat_wc_fit(p, 2, &e), -EINVAL);
	for (int i = 0; i < 4; i++)
		p[i].bytes = 16;
	ck_assert_int_eq(lat_wc_fit(p, 4, &e), -EINVAL);
}
END_TEST

START_TEST(answers)
{
	char why[256];
	struct lat_wc_evidence e;

	e = judged(8, true, true, true);
	ck_assert_int_eq(lat_wc_judge(&e, why, sizeof(why)), LAT_WC_YES);
	e = judged(200, true, true, true);
	ck_assert_int_eq(lat_wc_judge(&e, why, sizeof(why)), LAT_WC_NO);
	ck_assert(strstr(why, "although the kernel's list"));
	/* Neither steep nor flat; flat without proof that the page is used; another device. */
	e = judged(40, true, true, true);
	ck_assert_int_eq(lat_wc_judge(&e, why, sizeof(why)), LAT_WC_UNKNOWN);
	e = judged(8, true, true, false);
	ck_assert_int_eq(lat_wc_judge(&e, why, sizeof(why)), LAT_WC_UNKNOWN);
	e = judged(8, true, false, false);
	ck_assert_int_eq(lat_wc_judge(&e, why, sizeof(why)), LAT_WC_UNKNOWN);
	e = judged(200, false, true, true);
	ck_assert_int_eq(lat_wc_judge(&e, why, sizeof(why)), LAT_WC_UNKNOWN);
	/* A slope that its own noise reaches across says nothing. */
	e = judged(65, true, true, true);
	e.noise = 5;
	ck_assert_int_eq(lat_wc_judge(&e, why, sizeof(why)), LAT_WC_UNKNOWN);
	e = judged(20, true, true, true);
	e.noise = 5;
	ck_assert_int_eq(lat_wc_judge(&e, why, sizeof(why)), LAT_WC_UNKNOWN);
}
END_TEST

static struct lat_wc_evidence pat(const char *list, const char *resource)
{
	FILE *l = fmemopen((void *)list, strlen(list), "r");
	FILE *r = fmemopen((void *)resource, strlen(resource), "r");
	struct lat_wc_evidence e = { 0 };

	lat_wc_read_pat(l, r, &e);
	fclose(l);
	fclose(r);
	return e;
}

START_TEST(kernels_list)
{
	const char *bar = "0x00000000e0000000 0x00000000e07fffff 0x000000000014220c\n"
			  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
	struct lat_wc_evidence e;

	e = pat("PAT memtype list:\n"
		"PAT: [mem 0x00000000e0000000-0x00000000e0001000] uncached-minus\n"
		"PAT: [mem 0x00000000e0400000-0x00000000e0401000] write-combining\n",
		bar);
	ck_assert(e.pat_known && e.pat_wc && e.pat_uc);
	/* Another device's page next to it, and page zero, are not this one's. */
	e = pat("PAT: [mem 0x00000000e0800000-0x00000000e0801000] write-combining\n"
		"PAT: [mem 0x0000000000000000-0x0000000000001000] write-combining\n"
		"PAT: [mem 0x00000000dffff000-0x00000000e0000000] write-combining\n",
		bar);
	ck_assert(e.pat_known && !e.pat_wc && !e.pat_uc);
	/* The form of kernels before 5.7. */
	e = pat("write-combining @ 0xe0400000-0xe0401000\n", bar);
	ck_assert(e.pat_known && e.pat_wc);
	lat_wc_read_pat(NULL, NULL, &e);
	ck_assert(!e.pat_known && !e.pat_wc);
}
END_TEST

SUITE("bf_send_lat --wc-check", line, answers, kernels_list)
