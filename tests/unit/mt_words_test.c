// SPDX-License-Identifier: GPL-2.0-only
/* What the library's codes are called in words. */
#include <errno.h>
#include <string.h>

#include <mt/host.h>
#include <mt/words.h>
#include "suite.h"

static char text[512];

static const char *step(enum mt_why why, unsigned int a, unsigned int b, unsigned int c,
			unsigned int d)
{
	const struct mt_step s = { why, { (uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d } };

	return mt_step_text(&s, text, sizeof(text));
}

START_TEST(steps_with_their_arguments)
{
	ck_assert_str_eq(step(MT_WHY_ASKED, MT_WC, MT_UC_MINUS, MT_WC, 0),
			 "the guest's MTRR says WC and its page table UC-: on bare metal that is "
			 "WC");
	ck_assert_str_eq(step(MT_WHY_EPT_RESULT, MT_UC, 0, MT_WC, MT_WC),
			 "the processor combines EPT type UC without IPAT with PAT type WC to WC");
	ck_assert_str_eq(step(MT_WHY_EPT_RESULT, MT_WB, 1, MT_WC, MT_WB),
			 "the processor combines EPT type WB with IPAT with PAT type WC to WB");
	ck_assert_ptr_nonnull(strstr(step(MT_WHY_GPAT_RESET, 1, MT_WT, MT_WC, 0),
				     "index 1 of the reset value is WT, not WC"));
	ck_assert_str_eq(mt_why_code(MT_WHY_NPT_INDEX0), "npt-index0");
}
END_TEST

/* Every code has a name of its own and words that fit, whatever the arguments are. */
START_TEST(all_steps_fit)
{
	for (unsigned int w = 0; w <= MT_WHY_REMEDY_PAT; w++) {
		ck_assert_str_ne(mt_why_code((enum mt_why)w), "?");
		for (unsigned int v = 0; v < w; v++)
			ck_assert_str_ne(mt_why_code((enum mt_why)v), mt_why_code((enum mt_why)w));
		step((enum mt_why)w, MT_WC_PLUS, MT_WC_PLUS, MT_WC_PLUS, MT_WC_PLUS);
		ck_assert_uint_lt(strlen(text), MT_STEP_TEXT - 1);
		ck_assert_uint_gt(strlen(text), 10);
		ck_assert_ptr_null(strchr(text, '%'));
	}
	ck_assert_str_eq(mt_why_code((enum mt_why)200), "?");
	ck_assert_str_eq(step((enum mt_why)200, 0, 0, 0, 0), "?");
}
END_TEST

/* Text that does not fit is cut, never overrun. */
START_TEST(text_is_cut)
{
	const struct mt_step s = { MT_WHY_AS_ASKED, { 0 } };
	char small[8] = "xxxxxxx";

	mt_step_text(&s, small, 4);
	ck_assert_str_eq(small, "the");
	ck_assert_int_eq(small[4], 'x');
	mt_note_text(MT_NOTE_CD | MT_NOTE_WC_PLUS, small, 4);
	ck_assert_str_eq(small, "CD:");
	ck_assert_int_eq(small[4], 'x');
	mt_step_text(&s, small, 0);
	ck_assert_str_eq(small, "CD:");
}
END_TEST

START_TEST(notes_are_joined)
{
	ck_assert_ptr_null(mt_note_text(0, text, sizeof(text)));
	ck_assert_str_eq(mt_note_text(MT_NOTE_IPAT, text, sizeof(text)),
			 "IPAT: the guest's PAT is ignored");
	ck_assert_str_eq(mt_note_text(MT_NOTE_IPAT | MT_NOTE_WC_PLUS, text, sizeof(text)),
			 "WC+: write-combined, caches are probed; IPAT: the guest's PAT is "
			 "ignored");
	mt_note_text(~0u, text, sizeof(text));
	ck_assert_uint_lt(strlen(text), sizeof(text) - 1);
}
END_TEST

START_TEST(registers_have_names)
{
	char name[MT_MSR_NAME];
	uint32_t msr, known = 0;

	ck_assert_str_eq(mt_msr_name(0x2ff, name, sizeof(name)), "DEF_TYPE");
	ck_assert_str_eq(mt_msr_name(0x200, name, sizeof(name)), "PHYSBASE0");
	ck_assert_str_eq(mt_msr_name(0x20f, name, sizeof(name)), "PHYSMASK7");
	ck_assert_str_eq(mt_msr_name(0x217, name, sizeof(name)), "PHYSMASK11");
	ck_assert_str_eq(mt_msr_name(0x26f, name, sizeof(name)), "FIX4K_F8000");
	ck_assert_ptr_null(mt_msr_name(0x300, name, sizeof(name)));
	ck_assert_ptr_null(mt_msr_name(0x200, name, 4));
	/* There and back. */
	for (uint32_t m = 0; m < 0x400; m++) {
		const char *n = mt_msr_name(m, name, sizeof(name));

		if (!n)
			continue;
		ck_assert_int_eq(mt_msr_find(n, &msr), 0);
		ck_assert_uint_eq(msr, m);
		known++;
	}
	ck_assert_uint_eq(known, 3 + 11 + 2 * MT_VARIABLE_MAX);
	ck_assert_int_eq(mt_msr_find("PHYSBASE", &msr), -ENOENT);
	ck_assert_int_eq(mt_msr_find("PHYSBASE99", &msr), -ENOENT);
	ck_assert_int_eq(mt_msr_find("", &msr), -ENOENT);
}
END_TEST

SUITE("mt_words", steps_with_their_arguments, all_steps_fit, text_is_cut, notes_are_joined,
      registers_have_names)
