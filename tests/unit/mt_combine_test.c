// SPDX-License-Identifier: GPL-2.0-only
/*
 * The combination tables against a transcription of the manuals' own, kept as
 * text: Intel SDM vol. 3 "Effective Page-Level Memory Types for Pentium III and More
 * Recent Processor Families"; AMD APM vol. 2 tables 7-11, 15-19 and 15-20.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <mt/combine.h>
#include "suite.h"

struct cell {
	const char *first, *second, *result;
};

/* As the manual lists them, with its note numbers. */
static const struct cell intel[] = {
	{ "UC", "UC", "UC1" },	 { "UC", "UC-", "UC1" }, { "UC", "WC", "WC" },
	{ "UC", "WT", "UC1" },	 { "UC", "WB", "UC1" },	 { "UC", "WP", "UC1" },
	{ "WC", "UC", "UC2" },	 { "WC", "UC-", "WC" },	 { "WC", "WC", "WC" },
	{ "WC", "WT", "UC2,3" }, { "WC", "WB", "WC" },	 { "WC", "WP", "UC2,3" },
	{ "WT", "UC", "UC2" },	 { "WT", "UC-", "UC2" }, { "WT", "WC", "WC" },
	{ "WT", "WT", "WT" },	 { "WT", "WB", "WT" },	 { "WT", "WP", "WP3" },
	{ "WB", "UC", "UC2" },	 { "WB", "UC-", "UC2" }, { "WB", "WC", "WC" },
	{ "WB", "WT", "WT" },	 { "WB", "WB", "WB" },	 { "WB", "WP", "WP" },
	{ "WP", "UC", "UC2" },	 { "WP", "UC-", "WC3" }, { "WP", "WC", "WC" },
	{ "WP", "WT", "WT3" },	 { "WP", "WB", "WP" },	 { "WP", "WP", "WP" },
};

static const struct cell amd[] = {
	{ "UC", "UC", "UC" },  { "UC", "UC-", "UC" }, { "UC", "WC", "WC" }, { "UC", "WC+", "WC" },
	{ "UC", "WT", "UC" },  { "UC", "WP", "UC" },  { "UC", "WB", "UC" }, { "WC", "UC", "CD" },
	{ "WC", "UC-", "WC" }, { "WC", "WC", "WC" },  { "WC", "WC+", "WC" }, { "WC", "WT", "CD" },
	{ "WC", "WP", "CD" },  { "WC", "WB", "WC" },  { "WT", "UC", "CD" }, { "WT", "UC-", "CD" },
	{ "WT", "WC", "WC" },  { "WT", "WC+", "WC+" }, { "WT", "WT", "WT" }, { "WT", "WP", "CD" },
	{ "WT", "WB", "WT" },  { "WP", "UC", "CD" },  { "WP", "UC-", "CD" }, { "WP", "WC", "WC" },
	{ "WP", "WC+", "WC+" }, { "WP", "WT", "CD" }, { "WP", "WP", "WP" }, { "WP", "WB", "WP" },
	{ "WB", "UC", "CD" },  { "WB", "UC-", "CD" }, { "WB", "WC", "WC" }, { "WB", "WC+", "WC+" },
	{ "WB", "WT", "WT" },  { "WB", "WP", "WP" },  { "WB", "WB", "WB" },
};

/* Rows guest, columns host: UC UC- WC WP WT WB. */
static const char *const npt_order[] = { "UC", "UC-", "WC", "WP", "WT", "WB" };
static const char *const npt[6][6] = {
	{ "UC", "UC", "UC", "UC", "UC", "UC" },	    { "UC", "UC-", "WC", "UC", "UC", "UC" },
	{ "WC", "WC", "WC", "WC+", "WC+", "WC+" }, { "UC", "UC", "UC", "WP", "UC", "WP" },
	{ "UC", "UC", "UC", "UC", "WT", "WT" },	    { "UC", "UC", "WC", "WP", "WT", "WB" },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static enum mt_type type(const char *name)
{
	enum mt_type t;

	if (!strcmp(name, "WC+"))
		return MT_WC_PLUS;
	if (!strcmp(name, "CD"))
		return MT_CD;
	ck_assert_msg(!mt_type_parse(name, &t), "no type '%s'", name);
	return t;
}

static void compare(const struct mt_effective *e, const char *want, const char *what,
		    const char *a, const char *b)
{
	char got[32];
	int n = snprintf(got, sizeof(got), "%s", mt_type_name(e->type));

	if (e->notes & MT_NOTE_NO_SNOOP)
		n += snprintf(got + n, sizeof(got) - n, "1");
	if (e->notes & MT_NOTE_SNOOP)
		n += snprintf(got + n, sizeof(got) - n, "2");
	if (e->notes & MT_NOTE_ONCE_UNDEF)
		snprintf(got + n, sizeof(got) - n, "%s3", e->notes & MT_NOTE_SNOOP ? "," : "");
	ck_assert_msg(!strcmp(got, want), "%s %s x %s gives %s, the manual says %s", what, a, b,
		      got, want);
}

START_TEST(names_go_both_ways)
{
	static const char *const names[] = { "UC", "UC-", "WC", "WT", "WP", "WB" };
	static const int encodings[] = { 0, 7, 1, 4, 5, 6 };
	enum mt_type t;

	for (size_t i = 0; i < COUNT(names); i++) {
		ck_assert_int_eq(mt_type_parse(names[i], &t), 0);
		ck_assert_int_eq(t, encodings[i]);
		ck_assert_str_eq(mt_type_name(t), names[i]);
	}
	ck_assert_str_eq(mt_type_name(MT_CD), "CD");
	ck_assert_str_eq(mt_type_name(MT_WC_PLUS), "WC+");
	ck_assert_str_eq(mt_type_name((enum mt_type)2), "?");
	ck_assert_str_eq(mt_type_name((enum mt_type)200), "?");
	ck_assert_int_eq(mt_type_parse("CD", &t), -EINVAL);
	ck_assert_int_eq(mt_type_parse("wc", &t), -EINVAL);
	ck_assert_int_eq(mt_type_parse("UC-x", &t), -EINVAL);
	ck_assert_int_eq(mt_type_parse("", &t), -EINVAL);
}
END_TEST

START_TEST(intel_table)
{
	for (size_t i = 0; i < COUNT(intel); i++) {
		struct mt_effective e;

		ck_assert_int_eq(mt_combine_intel(type(intel[i].first), type(intel[i].second), &e),
				 0);
		compare(&e, intel[i].result, "Intel", intel[i].first, intel[i].second);
	}
	ck_assert_uint_eq(COUNT(intel), 30);
}
END_TEST

START_TEST(amd_table)
{
	for (size_t i = 0; i < COUNT(amd); i++) {
		struct mt_effective e;

		ck_assert_int_eq(mt_combine_amd(type(amd[i].first), type(amd[i].second), &e), 0);
		compare(&e, amd[i].result, "AMD", amd[i].first, amd[i].second);
		ck_assert_int_eq(!!(e.notes & MT_NOTE_CD), !strcmp(amd[i].result, "CD"));
		ck_assert_int_eq(!!(e.notes & MT_NOTE_WC_PLUS), !strcmp(amd[i].result, "WC+"));
	}
	ck_assert_uint_eq(COUNT(amd), 35);
}
END_TEST

START_TEST(ept_takes_its_type_for_the_mtrr_unless_ipat)
{
	for (size_t i = 0; i < COUNT(intel); i++) {
		struct mt_effective e;

		ck_assert_int_eq(mt_combine_ept(type(intel[i].first), false, type(intel[i].second),
						false, &e), 0);
		compare(&e, intel[i].result, "EPT", intel[i].first, intel[i].second);
		ck_assert_int_eq(mt_combine_ept(type(intel[i].first), true, type(intel[i].second),
						false, &e), 0);
		compare(&e, intel[i].first, "EPT with IPAT", intel[i].first, intel[i].second);
		ck_assert_int_eq(mt_combine_ept(type(intel[i].first), i % 2, type(intel[i].second),
						true, &e), 0);
		compare(&e, "UC", "EPT with CR0.CD", intel[i].first, intel[i].second);
	}
}
END_TEST

START_TEST(npt_first_step)
{
	for (int g = 0; g < 6; g++) {
		for (int h = 0; h < 6; h++) {
			enum mt_type t;

			ck_assert_int_eq(mt_combine_npt_pat(type(npt_order[g]), type(npt_order[h]),
							    &t), 0);
			ck_assert_msg(!strcmp(mt_type_name(t), npt[g][h]),
				      "guest %s with host %s gives %s, the manual says %s",
				      npt_order[g], npt_order[h], mt_type_name(t), npt[g][h]);
		}
	}
}
END_TEST

/* Both steps through the transcriptions alone. */
static const char *two_steps(int g, int h, const char *mtrr)
{
	for (size_t i = 0; i < COUNT(amd); i++)
		if (!strcmp(amd[i].first, mtrr) && !strcmp(amd[i].second, npt[g][h]))
			return amd[i].result;
	ck_abort_msg("%s x %s is not in the table", mtrr, npt[g][h]);
	return NULL;
}

START_TEST(npt_both_steps)
{
	static const char *const mtrrs[] = { "UC", "WC", "WT", "WP", "WB" };

	for (int g = 0; g < 6; g++) {
		for (int h = 0; h < 6; h++) {
			for (int r = 0; r < 5; r++) {
				enum mt_type a = type(npt_order[g]), b = type(npt_order[h]);
				struct mt_effective e;

				ck_assert_int_eq(mt_combine_npt(a, b, type(mtrrs[r]), false, false,
								&e), 0);
				compare(&e, two_steps(g, h, mtrrs[r]), "NPT", npt_order[g],
					npt_order[h]);
				ck_assert_int_eq(mt_combine_npt(a, b, type(mtrrs[r]), true, false,
								&e), 0);
				ck_assert_int_eq(e.type, MT_CD);
				ck_assert_int_eq(mt_combine_npt(a, b, type(mtrrs[r]), false, true,
								&e), 0);
				ck_assert_int_eq(e.type, MT_CD);
			}
		}
	}
}
END_TEST

/* The sentence that the whole policy rests on: a nested WC leaf on a BAR mirrors EPT's. */
START_TEST(a_wc_leaf_on_a_bar_is_the_same_on_both)
{
	for (int g = 0; g < 6; g++) {
		struct mt_effective ept, nested;
		enum mt_type guest = type(npt_order[g]);
		bool lifted = guest == MT_UC_MINUS || guest == MT_WB || guest == MT_WC;

		ck_assert_int_eq(mt_combine_ept(MT_WC, false, guest, false, &ept), 0);
		ck_assert_int_eq(mt_combine_npt(guest, MT_WC, MT_UC, false, false, &nested), 0);
		ck_assert_int_eq(ept.type, lifted ? MT_WC : MT_UC);
		ck_assert_int_eq(nested.type, ept.type);
	}
}
END_TEST

START_TEST(types_that_cannot_stand_there_are_refused)
{
	struct mt_effective e;
	enum mt_type t;

	ck_assert_int_eq(mt_combine_intel(MT_UC_MINUS, MT_WB, &e), -EINVAL);
	ck_assert_int_eq(mt_combine_intel(MT_WB, MT_WC_PLUS, &e), -EINVAL);
	ck_assert_int_eq(mt_combine_intel(MT_WB, (enum mt_type)3, &e), -EINVAL);
	ck_assert_int_eq(mt_combine_amd((enum mt_type)2, MT_WB, &e), -EINVAL);
	ck_assert_int_eq(mt_combine_amd(MT_WB, MT_CD, &e), -EINVAL);
	ck_assert_int_eq(mt_combine(MT_INTEL, MT_WB, MT_WC_PLUS, &e), -EINVAL);
	ck_assert_int_eq(mt_combine_ept(MT_UC_MINUS, false, MT_WB, false, &e), -EINVAL);
	ck_assert_int_eq(mt_combine_npt_pat(MT_WC_PLUS, MT_WB, &t), -EINVAL);
	ck_assert_int_eq(mt_combine_npt(MT_WB, MT_WB, MT_UC_MINUS, false, false, &e), -EINVAL);
	ck_assert_int_eq(mt_combine_npt(MT_WB, MT_CD, MT_WB, true, false, &e), -EINVAL);
}
END_TEST

SUITE("mt_combine", names_go_both_ways, intel_table, amd_table,
      ept_takes_its_type_for_the_mtrr_unless_ipat, npt_first_step, npt_both_steps,
      a_wc_leaf_on_a_bar_is_the_same_on_both, types_that_cannot_stand_there_are_refused)
