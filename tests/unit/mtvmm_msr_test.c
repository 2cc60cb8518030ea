// SPDX-License-Identifier: GPL-2.0-only
/* A guest's RDMSR and WRMSR of MTRRs and PAT: which come to the monitor, and what they do. */
#include "mtvmm_board.h"

static bool is_ours(uint32_t msr)
{
	return msr == 0xfe || (msr >= 0x200 && msr <= 0x20f) || msr == 0x250 || msr == 0x258 ||
	       msr == 0x259 || (msr >= 0x268 && msr <= 0x26f) || msr == 0x277 || msr == 0x2ff;
}

START_TEST(only_these_come_here)
{
	machine(VMM_MT_OFF, 1);
	ck_assert_uint_eq(kernel.cap.cap, KVM_CAP_X86_USER_SPACE_MSR);
	ck_assert_uint_eq(kernel.cap.args[0], KVM_MSR_EXIT_REASON_FILTER);
	ck_assert_uint_eq(kernel.filter.flags, KVM_MSR_FILTER_DEFAULT_ALLOW);
	for (uint32_t msr = 0; msr < 0x400; msr++) {
		ck_assert_msg(kernel.filtered[msr] == is_ours(msr), "MSR %#x", msr);
		ck_assert(vmm_mt_owns(msr) == is_ours(msr));
	}
	for (unsigned int i = 0; i < KVM_MSR_FILTER_MAX_RANGES; i++)
		if (kernel.filter.ranges[i].nmsrs)
			ck_assert_uint_eq(kernel.filter.ranges[i].flags,
					  KVM_MSR_FILTER_READ | KVM_MSR_FILTER_WRITE);
	gone();
}
END_TEST

static uint64_t rd(unsigned int cpu, uint32_t msr)
{
	uint64_t value = 0;

	ck_assert_int_eq(vmm_mt_rdmsr(mt, cpu, msr, &value), 0);
	return value;
}

START_TEST(as_firmware_leaves_them)
{
	machine(VMM_MT_OFF, 2);
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		ck_assert_uint_eq(rd(cpu, 0xfe), 0x508);
		ck_assert_uint_eq(rd(cpu, MT_MSR_DEF_TYPE), 0xc06);
		ck_assert_uint_eq(rd(cpu, MT_MSR_PHYSBASE(0)), 0xc0000000);
		ck_assert_uint_eq(rd(cpu, MT_MSR_PHYSMASK(0)), 0xffc0000800);
		ck_assert_uint_eq(rd(cpu, MT_MSR_PAT), MT_PAT_RESET);
		/* KVM has the same. */
		for (uint32_t msr = 0xff; msr < 0x400; msr++)
			if (is_ours(msr))
				ck_assert_uint_eq(kernel.msr[cpu][msr], rd(cpu, msr));
	}
	gone();
}
END_TEST

START_TEST(an_accepted_value_goes_to_kvm)
{
	machine(VMM_MT_OFF, 2);
	wr(1, MT_MSR_PHYSBASE(3), 0x100000001);
	wr(1, MT_MSR_PAT, 0x0007010600070106);
	ck_assert_uint_eq(rd(1, MT_MSR_PHYSBASE(3)), 0x100000001);
	ck_assert_uint_eq(kernel.msr[1][MT_MSR_PHYSBASE(3)], 0x100000001);
	ck_assert_uint_eq(kernel.msr[1][MT_MSR_PAT], 0x0007010600070106);
	/* Each CPU has its own. */
	ck_assert_uint_eq(rd(0, MT_MSR_PHYSBASE(3)), 0);
	ck_assert_uint_eq(rd(0, MT_MSR_PAT), MT_PAT_RESET);
	ck_assert_uint_eq(mt->counts.writes, 1);
	ck_assert_uint_eq(mt->counts.pat_writes, 1);
	gone();
}
END_TEST

START_TEST(what_breaks_a_rule_is_refused)
{
	static const struct {
		uint32_t msr;
		uint64_t value;
		int ret;
	} wrong[] = {
		{ 0xfe, 0x508, -EINVAL },
		{ MT_MSR_DEF_TYPE, 0xc02, -EINVAL }, /* reserved type */
		{ MT_MSR_DEF_TYPE, 0x1c06, -EINVAL }, /* reserved bit */
		{ MT_MSR_PHYSBASE(1), 3, -EINVAL },
		{ MT_MSR_PHYSBASE(1), 0x106, -EINVAL },
		{ MT_MSR_PHYSBASE(1), 1ull << 40 | 6, -EINVAL }, /* MAXPHYADDR is 40 */
		{ MT_MSR_PHYSMASK(1), 0x400, -EINVAL },
		{ MT_MSR_PHYSMASK(7), 1ull << 63 | 0x800, -EINVAL },
		{ MT_MSR_FIX16K_A0000, 0x0607060606060606, -EINVAL }, /* UC- is no MTRR type */
		{ MT_MSR_PAT, 0x0007040600070206, -EINVAL },
		{ MT_MSR_PAT, 0x8007040600070406, -EINVAL },
		{ MT_MSR_PHYSBASE(8), 6, -ENOENT },
		{ 0x10, 0, -ENOENT },
	};
	uint64_t value;
	unsigned int before;

	machine(VMM_MT_OFF, 1);
	before = kernel.set_msrs;
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint64_t was = 0;
		bool there = !mt_rdmsr(&mt->cpu[0].regs, wrong[i].msr, &was);

		ck_assert_int_eq(vmm_mt_wrmsr(mt, 0, wrong[i].msr, wrong[i].value), wrong[i].ret);
		ck_assert_uint_eq(mt->counts.faults, i + 1);
		if (there)
			ck_assert_uint_eq(rd(0, wrong[i].msr), was);
	}
	ck_assert_int_eq(vmm_mt_rdmsr(mt, 0, MT_MSR_PHYSMASK(8), &value), -ENOENT);
	ck_assert_uint_eq(kernel.set_msrs, before);
	ck_assert_uint_eq(mt->counts.writes + mt->counts.pat_writes, 0);
	gone();
}
END_TEST

START_TEST(what_kvm_refuses_is_not_kept)
{
	machine(VMM_MT_OFF, 1);
	kernel.msr_refuse = MT_MSR_PHYSBASE(2);
	ck_assert_int_eq(vmm_mt_wrmsr(mt, 0, MT_MSR_PHYSBASE(2), 0x1006), -EIO);
	ck_assert_uint_eq(rd(0, MT_MSR_PHYSBASE(2)), 0);
	kernel.msr_refuse = MT_MSR_PAT;
	ck_assert_int_eq(vmm_mt_wrmsr(mt, 0, MT_MSR_PAT, 0x0606060606060606), -EIO);
	ck_assert_uint_eq(rd(0, MT_MSR_PAT), MT_PAT_RESET);
	ck_assert_uint_eq(mt->counts.writes + mt->counts.pat_writes, 0);
	ck_assert_int_eq(vmm_mt_power_on(mt, 0, VCPU_FD), -EIO);
	gone();
}
END_TEST

/* KVM of 6.10 and before drops leaves of RAM for each write. */
START_TEST(the_same_value_is_not_given_to_kvm_again)
{
	unsigned int before;

	machine(VMM_MT_OFF, 1);
	before = kernel.set_msrs;
	for (uint32_t msr = 0x200; msr < 0x300; msr++)
		if (is_ours(msr) && msr != MT_MSR_PAT)
			wr(0, msr, rd(0, msr));
	ck_assert_uint_eq(kernel.set_msrs, before);
	ck_assert_uint_eq(mt->counts.writes, 28);
	ck_assert_uint_eq(mt->counts.roles, 0);
	gone();
}
END_TEST

SUITE("mtvmm_msr", only_these_come_here, as_firmware_leaves_them, an_accepted_value_goes_to_kvm,
      what_breaks_a_rule_is_refused, what_kvm_refuses_is_not_kept,
      the_same_value_is_not_given_to_kvm_again)
