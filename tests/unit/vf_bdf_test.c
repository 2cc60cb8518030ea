// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include <vf/bdf.h>

#include "suite.h"

START_TEST(names_that_pass)
{
	static const struct {
		const char *text;
		const char *canonical;
	} cases[] = {
		{ "0000:01:00.1", "0000:01:00.1" }, { "01:00.1", "0000:01:00.1" },
		{ "ABCD:ef:1F.7", "abcd:ef:1f.7" }, { "10000:00:02.0", "10000:00:02.0" },
		{ "ffffffff:ff:1f.7", "ffffffff:ff:1f.7" },
	};
	char buf[VF_BDF_LEN];
	struct vf_bdf bdf;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ck_assert_int_eq(vf_bdf_parse(cases[i].text, &bdf), 0);
		ck_assert_str_eq(vf_bdf_format(&bdf, buf), cases[i].canonical);
		ck_assert_int_eq(vf_bdf_parse(cases[i].text, NULL), 0);
	}
}
END_TEST

START_TEST(names_that_do_not_pass)
{
	static const char *const bad[] = {
		"", "0", "01:00", "01:00.", "01:00.8", "01:20.0", "1:00.0", "01:0.0", "001:00:00.0",
		"0000:01:00.1 ", " 01:00.1", "0000:01:00.1/../..", "0000:01:00.1\n", "0000:01:00.11",
		"123456789:00:00.0", "-1:00.0", "0x01:00.0", "../../etc", "eth0", "0000:0g:00.0", "0000",
		"0000:", "0000:01:", "0000:01:00", "01:00.1:",
	};
	struct vf_bdf bdf = { .domain = 7 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(vf_bdf_parse(bad[i], &bdf) == -EINVAL, "'%s' passed", bad[i]);
	ck_assert_uint_eq(bdf.domain, 7);
}
END_TEST

START_TEST(order_and_requester_id)
{
	static const char *const sorted[] = {
		"0000:00:00.0", "0000:00:00.7", "0000:00:01.0", "0000:01:00.0", "0001:00:00.0", "80000000:00:00.0",
	};
	struct vf_bdf a, b;

	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 6; k++) {
			vf_bdf_parse(sorted[i], &a);
			vf_bdf_parse(sorted[k], &b);
			ck_assert_int_eq(vf_bdf_cmp(&a, &b) < 0, i < k);
			ck_assert_int_eq(vf_bdf_cmp(&a, &b) > 0, i > k);
		}
	/* igb's second VF: 00:03.0 + 128 + 2 */
	vf_bdf_parse("00:03.0", &a);
	vf_bdf_parse("00:13.2", &b);
	ck_assert_uint_eq(vf_bdf_rid(&a) + 128 + 2, vf_bdf_rid(&b));
	vf_bdf_parse("ff:1f.7", &a);
	ck_assert_uint_eq(vf_bdf_rid(&a), 0xffff);
}
END_TEST

SUITE("function names", names_that_pass, names_that_do_not_pass, order_and_requester_id)
