// SPDX-License-Identifier: GPL-2.0-only
/* The PAT that a VCPU runs with, where the guest's own does not do. */
#include <mt/pat.h>

#include "mtvmm_board.h"

#define LEGACY MT_PAT_RESET /* WB WT UC- UC, as a guest without PAT has it */
#define LIFTED 0x0001040600010406ull

static uint64_t hw(unsigned int cpu)
{
	ck_assert_uint_eq(kernel.msr[cpu][MT_MSR_PAT], mt->cpu[cpu].hw_pat);
	return kernel.msr[cpu][MT_MSR_PAT];
}

static void guest_reads(unsigned int cpu, uint64_t pat)
{
	uint64_t value;

	ck_assert_int_eq(vmm_mt_rdmsr(mt, cpu, MT_MSR_PAT, &value), 0);
	ck_assert_uint_eq(value, pat);
}

START_TEST(uncached_minus_becomes_wc_while_all_of_the_bars_is_wc)
{
	unsigned int dropped;

	machine(VMM_MT_PAT, 2);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	ck_assert(!mt->pending);
	ck_assert_uint_eq(hw(0), LEGACY);
	dropped = kernel.slots_dropped;
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		linux_set(cpu, 1, BAR, 0x4000, MT_WC);
	ck_assert(loop_works());
	ck_assert_uint_eq(hw(0), LIFTED);
	ck_assert_uint_eq(hw(1), LIFTED);
	/* A slot goes and comes: so KVM flushes what is cached of the old PAT. */
	ck_assert_uint_gt(kernel.slots_dropped, dropped);
	ck_assert_int_eq(reaches(BAR + 0x3000), 0x3000);
	guest_reads(0, LEGACY);
	/* A PAT that the guest writes meanwhile. */
	wr(1, MT_MSR_PAT, 0x0606060606070606);
	ck_assert_uint_eq(hw(1), 0x0606060606010606);
	guest_reads(1, 0x0606060606070606);
	/* The range goes. */
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		linux_set(cpu, 1, 0, 0, MT_UC);
	ck_assert(loop_works());
	ck_assert_uint_eq(hw(0), LEGACY);
	ck_assert_uint_eq(hw(1), 0x0606060606070606);
	ck_assert_uint_eq(kernel.set_calls, 0);
	gone();
}
END_TEST

START_TEST(refused_where_it_would_combine_stores_that_may_not)
{
	uint64_t remakes;

	machine(VMM_MT_PAT, 1);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	remakes = mt->counts.remakes;
	linux_set(0, 1, BAR + 0x1000, 0x1000, MT_WC);
	ck_assert(!mt->pending);
	ck_assert_uint_eq(hw(0), LEGACY);
	ck_assert(mt->pat_refused);
	ck_assert_ptr_nonnull(strstr(vmm_mt_why(mt), "pat,force"));
	ck_assert_str_eq(vmm_mt_mode(mt), "pat");
	ck_assert_uint_eq(mt->counts.remakes, remakes);
	/* All of it, and it is given; a second BAR, and it is taken back. */
	linux_set(0, 1, BAR, 0x4000, MT_WC);
	ck_assert(loop_works());
	ck_assert(!mt->pat_refused);
	ck_assert_str_eq(vmm_mt_why(mt), "");
	ck_assert_uint_eq(hw(0), LIFTED);
	ck_assert_int_eq(add(2, BAR + 0x100000, 0x1000), 1);
	ck_assert(loop_works());
	ck_assert(mt->pat_refused);
	ck_assert_uint_eq(hw(0), LEGACY);
	vmm_mt_area_remove(mt, 1);
	ck_assert(loop_works());
	ck_assert_uint_eq(hw(0), LIFTED);
	gone();
}
END_TEST

START_TEST(the_user_may_insist)
{
	machine(VMM_MT_PAT_FORCE, 1);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	linux_set(0, 1, BAR + 0x1000, 0x1000, MT_WC);
	ck_assert(loop_works());
	ck_assert_uint_eq(hw(0), LIFTED);
	ck_assert(!mt->pat_refused);
	/* Without BARs there is nothing to combine. */
	vmm_mt_area_remove(mt, 0);
	ck_assert(loop_works());
	ck_assert_uint_eq(hw(0), LEGACY);
	gone();
}
END_TEST

/* On SVM RAM is forced to WB as IPAT does it on VMX, until a BAR is there. */
START_TEST(all_wb_until_the_first_bar)
{
	machine(VMM_MT_MODULE, 2);
	ck_assert_uint_eq(hw(0), MT_PAT_ALL_WB);
	guest_reads(0, LEGACY);
	wr(0, MT_MSR_PAT, MT_PAT_LINUX);
	ck_assert_uint_eq(hw(0), MT_PAT_ALL_WB);
	guest_reads(0, MT_PAT_LINUX);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	/* The CPU that mapped it does not go on before. */
	ck_assert(loop_works());
	ck_assert_uint_eq(hw(0), MT_PAT_LINUX);
	ck_assert_uint_eq(hw(1), LEGACY);
	/* Sizing a BAR switches it off and on: nobody is stopped for that. */
	vmm_mt_area_remove(mt, 0);
	ck_assert(!mt->pending);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	ck_assert(!mt->pending);
	ck_assert_uint_eq(hw(0), MT_PAT_LINUX);
	/* A new start is one without BARs. */
	vmm_mt_area_remove(mt, 0);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		ck_assert_int_eq(vmm_mt_power_on(mt, cpu, VCPU_FD + (int)cpu), 0);
	ck_assert_uint_eq(hw(0), MT_PAT_ALL_WB);
	loop_works();
	ck_assert_uint_eq(hw(1), MT_PAT_ALL_WB);
	gone();
}
END_TEST

START_TEST(on_vmx_and_without_the_module_it_is_the_guests_own)
{
	with_kernel();
	kernel.intel = true;
	ck_assert_int_eq(build(VMM_MT_MODULE, 1), 0);
	ck_assert_uint_eq(hw(0), LEGACY);
	gone();
	machine(VMM_MT_OFF, 1);
	ck_assert_uint_eq(hw(0), LEGACY);
	wr(0, MT_MSR_PAT, MT_PAT_LINUX);
	ck_assert_uint_eq(hw(0), MT_PAT_LINUX);
	gone();
}
END_TEST

/* The module goes while all is WB: nobody else would undo it. */
START_TEST(a_fall_undoes_it)
{
	machine(VMM_MT_MODULE, 2);
	linux_set(0, 1, BAR, 0x1000, MT_WC);
	ck_assert_uint_eq(hw(1), MT_PAT_ALL_WB);
	kernel.module = false;
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	ck_assert(loop_works());
	ck_assert_str_eq(vmm_mt_mode(mt), "off");
	ck_assert_uint_eq(hw(0), LEGACY);
	ck_assert_uint_eq(hw(1), LEGACY);
	gone();
}
END_TEST

START_TEST(a_pat_that_kvm_does_not_take_ends_the_machine)
{
	machine(VMM_MT_PAT, 1);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	kernel.msr_refuse = MT_MSR_PAT;
	linux_set(0, 1, BAR, 0x4000, MT_WC);
	vmm_mt_apply(mt, mt->apply_fd);
	ck_assert_int_eq(core.end, VMM_END_CRASHED);
	gone();
}
END_TEST

SUITE("mtvmm_pat", uncached_minus_becomes_wc_while_all_of_the_bars_is_wc,
      refused_where_it_would_combine_stores_that_may_not, the_user_may_insist,
      all_wb_until_the_first_bar, on_vmx_and_without_the_module_it_is_the_guests_own,
      a_fall_undoes_it, a_pat_that_kvm_does_not_take_ends_the_machine)
