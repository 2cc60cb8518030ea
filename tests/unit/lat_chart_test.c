// SPDX-License-Identifier: GPL-2.0-only
/* The picture is well-formed for any name, and its points are where the values are. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "latency/chart.h"
#include "suite.h"

static char text[1 << 18];
static struct lat_hist h, empty;

static int draw(const char *title, const struct lat_chart_series *s, size_t n)
{
	FILE *f = fmemopen(text, sizeof(text), "w");
	int ret = lat_chart_write(f, title, "ns", s, n);

	fclose(f);
	return ret;
}

/* Every tag that is opened is closed, and no text holds a bare < or &. */
static void well_formed(void)
{
	char stack[32][16];
	int depth = 0;

	for (const char *s = text; *s; s++) {
		if (*s == '&')
			ck_assert(!strncmp(s, "&lt;", 4) || !strncmp(s, "&amp;", 5));
		ck_assert((unsigned char)*s >= 0x20 || *s == '\n');
		if (*s != '<')
			continue;
		const char *end = strchr(s, '>');

		ck_assert_ptr_nonnull(end);
		if (s[1] == '/') {
			ck_assert_int_gt(depth, 0);
			depth--;
			ck_assert(!strncmp(s + 2, stack[depth], strlen(stack[depth])));
		} else if (end[-1] != '/') {
			ck_assert_int_eq(sscanf(s + 1, "%15[a-z]", stack[depth]), 1);
			depth++;
		}
		s = end;
	}
	ck_assert_int_eq(depth, 0);
}

START_TEST(points_are_where_the_values_are)
{
	struct lat_chart_series s = { "a", &h, 1 };

	lat_hist_reset(&h);
	lat_hist_add(&h, 10, 900);
	lat_hist_add(&h, 100, 90);
	lat_hist_add(&h, 1000, 10);
	ck_assert_int_eq(draw("t", &s, 1), 0);
	well_formed();
	/* Decades of 10 to 1000 over 330 pixels, a nine is 100 wide: 10 until 90 %, then 100 until 99 %. */
	ck_assert_ptr_nonnull(strstr(text, "d=\"M80.0 370.0L80.0 370.0L180.0 205.0L280.0 40.0\""));
	/* The maximum, at 99.9 %. */
	ck_assert_ptr_nonnull(strstr(text, "cx=\"380.0\" cy=\"40.0\""));
	/* In another unit the axis moves, not the line. */
	s.scale = 100;
	ck_assert_int_eq(draw("t", &s, 1), 0);
	ck_assert_ptr_nonnull(strstr(text, "d=\"M80.0 370.0L80.0 370.0L180.0 205.0L280.0 40.0\""));
	ck_assert_ptr_nonnull(strstr(text, ">100000</text>"));
}
END_TEST

START_TEST(what_few_samples_say_is_no_line)
{
	struct lat_chart_series s = { "a", &h, 1 };

	lat_hist_reset(&h);
	lat_hist_add(&h, 10, 1000);
	lat_hist_add(&h, 1000, 9);
	ck_assert_int_eq(draw("t", &s, 1), 0);
	ck_assert_ptr_nonnull(strstr(text, "d=\"M80.0 370.0L80.0 370.0\"/>"));
	ck_assert_ptr_nonnull(strstr(text, "<circle"));
}
END_TEST

START_TEST(any_name_is_text)
{
	struct lat_chart_series s[] = { { "<script>&\"\n\x01\xff\xc3\xa9", &h, 1 },
					{ "none", &empty, 1 } };

	lat_hist_reset(&h);
	lat_hist_add(&h, 0, 20);
	lat_hist_add(&h, UINT64_MAX, 20);
	ck_assert_int_eq(draw("</svg>", s, 2), 0);
	well_formed();
	ck_assert_ptr_nonnull(strstr(text, ">&lt;script>&amp;\"???\xc3\xa9</text>"));
	ck_assert_ptr_null(strstr(text, "nan"));
	ck_assert_ptr_null(strstr(text, "inf"));
	/* Nothing at all still is a picture. */
	ck_assert_int_eq(draw("t", &s[1], 1), 0);
	well_formed();
	ck_assert_ptr_null(strstr(text, "nan"));
	ck_assert_ptr_null(strstr(text, "<circle"));
}
END_TEST

START_TEST(wrong_numbers)
{
	struct lat_chart_series s[LAT_CHART_SERIES + 1] = { 0 };

	ck_assert_int_eq(draw("t", s, 0), -EINVAL);
	ck_assert_int_eq(draw("t", s, LAT_CHART_SERIES + 1), -EINVAL);
}
END_TEST

SUITE("lat_chart", points_are_where_the_values_are, what_few_samples_say_is_no_line,
      any_name_is_text, wrong_numbers)
