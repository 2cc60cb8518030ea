// SPDX-License-Identifier: GPL-2.0-only
/* What a guest's RDMSR and WRMSR do, as Intel SDM vol. 3 and APM vol. 2 chapter 7 say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mt/mtrr.h>
#include "suite.h"

static const uint32_t all_msrs[] = { 0xfe,  0x200, 0x201, 0x202, 0x203, 0x204, 0x205, 0x206,
				     0x207, 0x208, 0x209, 0x20a, 0x20b, 0x20c, 0x20d, 0x20e,
				     0x20f, 0x250, 0x258, 0x259, 0x268, 0x269, 0x26a, 0x26b,
				     0x26c, 0x26d, 0x26e, 0x26f, 0x277, 0x2ff };
static const uint32_t fixed_msrs[] = { 0x250, 0x258, 0x259, 0x268, 0x269, 0x26a,
				       0x26b, 0x26c, 0x26d, 0x26e, 0x26f };

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct mt_mtrr fresh(unsigned int width)
{
	struct mt_mtrr m;

	ck_assert_int_eq(mt_mtrr_init(&m, width), 0);
	return m;
}

static uint64_t rd(const struct mt_mtrr *m, uint32_t msr)
{
	uint64_t v;

	ck_assert_int_eq(mt_rdmsr(m, msr, &v), 0);
	return v;
}

START_TEST(power_on_is_what_a_processor_leaves)
{
	struct mt_mtrr m = fresh(40);

	ck_assert_uint_eq(rd(&m, 0xfe), 0x508);
	ck_assert_uint_eq(rd(&m, 0x277), 0x0007040600070406);
	for (size_t i = 1; i < COUNT(all_msrs); i++)
		if (all_msrs[i] != 0x277)
			ck_assert_uint_eq(rd(&m, all_msrs[i]), 0);
	ck_assert_int_eq(mt_mtrr_init(&m, 31), -EINVAL);
	ck_assert_int_eq(mt_mtrr_init(&m, 53), -EINVAL);
}
END_TEST

START_TEST(only_these_registers_exist)
{
	struct mt_mtrr m = fresh(40), before = m;

	for (uint32_t msr = 0; msr < 0x400; msr++) {
		bool mine = false;
		uint64_t v;

		for (size_t i = 0; i < COUNT(all_msrs); i++)
			mine |= all_msrs[i] == msr;
		ck_assert_msg(mt_msr_known(&m, msr) == mine, "MSR %#x", msr);
		ck_assert_int_eq(mt_rdmsr(&m, msr, &v), mine ? 0 : -ENOENT);
		if (!mine)
			ck_assert_int_eq(mt_wrmsr(&m, msr, 0), -ENOENT);
	}
	ck_assert(!memcmp(&m, &before, sizeof(m)));
}
END_TEST

/* A write that must fault, for this reason, and must leave no trace. */
static void faults(struct mt_mtrr *m, uint32_t msr, uint64_t v, enum mt_gp why)
{
	struct mt_mtrr before = *m;

	ck_assert_msg(mt_wrmsr(m, msr, v) == -EINVAL, "WRMSR %#x, %#lx was accepted", msr, v);
	ck_assert_msg(mt_wrmsr_fault(m, msr, v) == why, "WRMSR %#x, %#lx: reason %d", msr, v,
		      mt_wrmsr_fault(m, msr, v));
	ck_assert(!memcmp(m, &before, sizeof(before)));
}

static void works(struct mt_mtrr *m, uint32_t msr, uint64_t v)
{
	ck_assert_msg(mt_wrmsr(m, msr, v) == 0, "WRMSR %#x, %#lx was refused", msr, v);
	ck_assert_int_eq(mt_wrmsr_fault(m, msr, v), MT_GP_NONE);
	ck_assert_uint_eq(rd(m, msr), v);
}

START_TEST(mtrrcap_is_read_only)
{
	struct mt_mtrr m = fresh(40);

	faults(&m, 0xfe, 0x508, MT_GP_READ_ONLY);
	faults(&m, 0xfe, 0, MT_GP_READ_ONLY);
}
END_TEST

START_TEST(type_fields_take_five_encodings_and_pat_a_sixth)
{
	struct mt_mtrr m = fresh(40);

	for (unsigned int t = 0; t < 256; t++) {
		bool good = t == 0 || t == 1 || t == 4 || t == 5 || t == 6;

		if (good)
			works(&m, 0x2ff, 0xc00 | t);
		else
			faults(&m, 0x2ff, 0xc00 | t, MT_GP_TYPE);
		for (unsigned int n = 0; n < 8; n++) {
			if (good)
				works(&m, 0x200 + 2 * n, 0x10000000 | t);
			else
				faults(&m, 0x200 + 2 * n, 0x10000000 | t, MT_GP_TYPE);
		}
		for (unsigned int byte = 0; byte < 8; byte++) {
			uint64_t others = 0x0605040106050401 & ~(0xffull << 8 * byte);

			for (size_t i = 0; i < COUNT(fixed_msrs); i++) {
				if (good)
					works(&m, fixed_msrs[i], others | (uint64_t)t << 8 * byte);
				else
					faults(&m, fixed_msrs[i], others | (uint64_t)t << 8 * byte,
					       MT_GP_TYPE);
			}
			if (good || t == 7)
				works(&m, 0x277, others | (uint64_t)t << 8 * byte);
			else
				faults(&m, 0x277, others | (uint64_t)t << 8 * byte, MT_GP_TYPE);
		}
	}
}
END_TEST

START_TEST(reserved_bits_fault_one_by_one)
{
	static const unsigned int widths[] = { 32, 36, 40, 46, 48, 52 };

	for (size_t w = 0; w < COUNT(widths); w++) {
		struct mt_mtrr m = fresh(widths[w]);

		for (unsigned int bit = 0; bit < 64; bit++) {
			uint64_t v = 1ull << bit;

			if (bit >= 8) {
				if (bit == 10 || bit == 11)
					works(&m, 0x2ff, v | 6);
				else
					faults(&m, 0x2ff, v | 6, MT_GP_RESERVED);
			}
			for (unsigned int n = 0; n < 8; n++) {
				if (bit >= 8 && bit < 12)
					faults(&m, 0x200 + 2 * n, v | 6, MT_GP_RESERVED);
				else if (bit >= widths[w])
					faults(&m, 0x200 + 2 * n, v | 6, MT_GP_WIDTH);
				else if (bit >= 12)
					works(&m, 0x200 + 2 * n, v | 6);
				if (bit < 11)
					faults(&m, 0x201 + 2 * n, v, MT_GP_RESERVED);
				else if (bit >= widths[w])
					faults(&m, 0x201 + 2 * n, v, MT_GP_WIDTH);
				else
					works(&m, 0x201 + 2 * n, v);
			}
		}
	}
}
END_TEST

START_TEST(registers_are_judged_alone)
{
	struct mt_mtrr m = fresh(40);

	/* Overlapping, not aligned to the mask, mask with a hole: discouraged, never a fault. */
	works(&m, 0x200, 0x12345006);
	works(&m, 0x201, 0xff00000800);
	works(&m, 0x202, 0x12345001);
	works(&m, 0x203, 0xff00000800);
	works(&m, 0x205, 0xf0f0f0f800);
	works(&m, 0x2ff, 0xc06);
}
END_TEST

SUITE("mt_mtrr", power_on_is_what_a_processor_leaves, only_these_registers_exist,
      mtrrcap_is_read_only, type_fields_take_five_encodings_and_pat_a_sixth,
      reserved_bits_fault_one_by_one, registers_are_judged_alone)
