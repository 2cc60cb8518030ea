// SPDX-License-Identifier: GPL-2.0-only
/* From registers to leaves: CPUs that agree, cuts of BARs, and when leaves are made anew. */
#include "mtvmm_board.h"

#define KVMS 9u /* leaf(): as KVM makes it */
#define NONE 10u /* no slot there */

/* Pages of [BAR, BAR + size): their leaves, a letter each. */
static const char *leaves(uint64_t size)
{
	static char text[64];
	unsigned int n = 0;

	for (uint64_t at = 0; at < size; at += 4096) {
		unsigned int type = leaf(BAR + at);

		text[n++] = type == KVMS ? '.' : type == NONE ? '-' : (char)('0' + type);
		/* The slot leads where it should. */
		if (type != NONE)
			ck_assert_int_eq(reaches(BAR + at), (long)at);
	}
	text[n] = 0;
	return text;
}

START_TEST(a_wc_range_makes_wc_leaves_exactly_there)
{
	machine(VMM_MT_MODULE, 1);
	wr(0, MT_MSR_PAT, MT_PAT_LINUX);
	ck_assert_int_ge(add(0, BAR, 0x8000), 0);
	loop_works();
	ck_assert_str_eq(leaves(0x8000), "........");
	linux_set(0, 1, BAR + 0x2000, 0x2000, MT_WC);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x8000), "..11....");
	ck_assert_uint_eq(slots(), 3);
	/* Moved. */
	linux_set(0, 1, BAR + 0x4000, 0x4000, MT_WC);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x8000), "....1111");
	/* Taken away. */
	linux_set(0, 1, 0, 0, MT_UC);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x8000), "........");
	ck_assert_uint_eq(kernel.nr_ranges, 0);
	ck_assert_uint_eq(slots(), 1);
	gone();
}
END_TEST

START_TEST(other_types_stay_as_kvm_makes_them)
{
	static const enum mt_type types[] = { MT_UC, MT_WT, MT_WP, MT_WB };

	machine(VMM_MT_MODULE, 1);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	loop_works();
	for (unsigned int i = 0; i < 4; i++) {
		linux_set(0, 1, BAR + 0x1000, 0x1000, types[i]);
		loop_works();
		ck_assert_str_eq(leaves(0x4000), "....");
	}
	/* UC wins where it meets WC. */
	linux_set(0, 1, BAR, 0x4000, MT_WC);
	linux_set(0, 2, BAR + 0x1000, 0x1000, MT_UC);
	loop_works();
	ck_assert_str_eq(leaves(0x4000), "1.11");
	gone();
}
END_TEST

/* Firmware has left a WB range over the BAR: KVM's leaf, index 0, would be cacheable. */
START_TEST(a_host_with_wb_over_the_bar)
{
	with_kernel();
	fake_file("proc/mtrr",
		  "reg00: base=0x0e0000000 ( 3584MB), size=  256MB, count=1: write-back\n");
	fake_file("sys/bus/pci/devices/0000:01:10.1/resource",
		  "0x00000000e0000000 0x00000000e0003fff 0x000000000014220c\n");
	ck_assert_int_eq(build(VMM_MT_MODULE, 1), 0);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	loop_works();
	ck_assert_str_eq(leaves(0x4000), "0000");
	linux_set(0, 1, BAR, 0x2000, MT_WC);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x4000), "1100");
	gone();
	/* An EPT leaf has a type of its own. */
	with_kernel();
	kernel.intel = true;
	fake_file("proc/mtrr",
		  "reg00: base=0x0e0000000 ( 3584MB), size=  256MB, count=1: write-back\n");
	fake_file("sys/bus/pci/devices/0000:01:10.1/resource",
		  "0x00000000e0000000 0x00000000e0003fff 0x000000000014220c\n");
	ck_assert_int_eq(build(VMM_MT_MODULE, 1), 0);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	ck_assert_str_eq(leaves(0x4000), "....");
	gone();
}
END_TEST

START_TEST(once_for_each_change_not_for_each_write)
{
	uint64_t before;

	machine(VMM_MT_MODULE, 2);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	loop_works();
	before = mt->counts.remakes;
	/* Two CPUs, now one a step ahead, now the other. */
	wr(0, MT_MSR_DEF_TYPE, 0x406);
	wr(1, MT_MSR_DEF_TYPE, 0x406);
	wr(1, MT_MSR_PHYSBASE(1), BAR | MT_WC);
	wr(0, MT_MSR_PHYSBASE(1), BAR | MT_WC);
	wr(0, MT_MSR_PHYSMASK(1), MASK(0x2000));
	ck_assert(!mt->pending);
	wr(0, MT_MSR_DEF_TYPE, 0xc06);
	/* Half way: nothing has happened, and nobody was stopped. */
	ck_assert(!mt->pending);
	ck_assert(mt->differ);
	ck_assert_str_eq(leaves(0x4000), "....");
	wr(1, MT_MSR_PHYSMASK(1), MASK(0x2000));
	ck_assert(!mt->pending);
	wr(1, MT_MSR_DEF_TYPE, 0xc06);
	ck_assert(!mt->differ);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x4000), "11..");
	ck_assert_uint_eq(mt->counts.remakes, before + 1);
	ck_assert_uint_eq(mt->counts.writes, 8);
	gone();
}
END_TEST

/* A guest that writes its registers over and over, as the one that made leaves 3696 times. */
START_TEST(the_same_again_makes_nothing_anew)
{
	uint64_t remakes, made;

	machine(VMM_MT_MODULE, 2);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		linux_set(cpu, 1, BAR, 0x2000, MT_WC);
	ck_assert(loop_works());
	remakes = mt->counts.remakes;
	made = kernel.slots_made;
	for (unsigned int i = 0; i < 100; i++) {
		for (unsigned int cpu = 0; cpu < 2; cpu++)
			linux_set(cpu, 1, BAR, 0x2000, MT_WC);
		ck_assert(!mt->pending);
	}
	/* Away from the BAR. */
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		linux_set(cpu, 2, 0x1000000, 0x1000000, MT_UC);
	ck_assert(!mt->pending);
	ck_assert_str_eq(leaves(0x4000), "11..");
	ck_assert_uint_eq(mt->counts.remakes, remakes);
	ck_assert_uint_eq(kernel.slots_made, made);
	gone();
}
END_TEST

START_TEST(there_and_back_before_the_loop_came)
{
	uint64_t made;

	machine(VMM_MT_MODULE, 1);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	loop_works();
	made = kernel.slots_made;
	linux_set(0, 1, BAR, 0x2000, MT_WC);
	ck_assert(mt->pending);
	linux_set(0, 1, 0, 0, MT_UC);
	ck_assert(loop_works());
	ck_assert_uint_eq(kernel.slots_made, made);
	/* Stopped in the middle of the next change: the one before it is applied. */
	linux_set(0, 1, BAR, 0x2000, MT_WC);
	wr(0, MT_MSR_DEF_TYPE, 0x406);
	wr(0, MT_MSR_PHYSMASK(1), 0);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x4000), "11..");
	wr(0, MT_MSR_DEF_TYPE, 0xc06);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x4000), "....");
	gone();
}
END_TEST

START_TEST(cpus_that_differ)
{
	uint64_t value;

	machine(VMM_MT_MODULE, 4);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	loop_works();
	/* One CPU runs; the others wait for their SIPI and do not count. */
	linux_set(0, 1, BAR, 0x1000, MT_WC);
	ck_assert(!mt->differ);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x4000), "1...");
	/* The second comes, with what firmware left; the leaves stay. */
	ck_assert_int_eq(vmm_mt_rdmsr(mt, 1, MT_MSR_DEF_TYPE, &value), 0);
	ck_assert(mt->differ);
	ck_assert(!mt->pending);
	linux_set(1, 1, BAR, 0x1000, MT_WC);
	ck_assert(!mt->differ);
	ck_assert(!mt->pending);
	/* For good. */
	linux_set(1, 1, BAR, 0x4000, MT_WC);
	ck_assert(mt->differ);
	ck_assert(!mt->pending);
	ck_assert_str_eq(leaves(0x4000), "1...");
	linux_set(0, 1, BAR, 0x4000, MT_WC);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x4000), "1111");
	/* What a range that is off holds is no difference, nor is PAT. */
	wr(0, MT_MSR_PHYSBASE(5), 0x1006);
	wr(0, MT_MSR_PAT, MT_PAT_LINUX);
	ck_assert(!mt->differ);
	wr(0, MT_MSR_FIX64K_00000, 0);
	ck_assert(mt->differ);
	gone();
}
END_TEST

/* CPUs other than the first are as @state and @rflags tell while it changes its MTRRs alone. */
static const char *alone(uint32_t state, uint64_t rflags)
{
	uint64_t value;

	machine(VMM_MT_MODULE, 3);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	loop_works();
	for (unsigned int cpu = 1; cpu < 3; cpu++) {
		ck_assert_int_eq(vmm_mt_rdmsr(mt, cpu, MT_MSR_DEF_TYPE, &value), 0);
		kernel.mp_state[cpu] = state;
		kernel.rflags[cpu] = rflags;
	}
	linux_set(0, 1, BAR, 0x1000, MT_WC);
	ck_assert(mt->differ);
	ck_assert(!mt->pending);
	ck_assert(mt->laggards_due);
	vmm_mt_laggards_look(mt);
	ck_assert(!mt->laggards_due);
	loop_works();
	return leaves(0x4000);
}

START_TEST(cpus_that_are_offline_do_not_count)
{
	uint64_t value;

	/* HLT with interrupts off, or waiting for SIPI. */
	ck_assert_str_eq(alone(KVM_MP_STATE_HALTED, 2), "1...");
	ck_assert(!mt->differ);
	/* Started again, one counts from its first access on; then it takes over what the others have. */
	ck_assert_int_eq(vmm_mt_rdmsr(mt, 1, MT_MSR_PHYSMASK(1), &value), 0);
	ck_assert(mt->differ);
	linux_set(1, 1, BAR, 0x1000, MT_WC);
	ck_assert(!mt->differ);
	ck_assert(!mt->pending);
	gone();
	ck_assert_str_eq(alone(KVM_MP_STATE_INIT_RECEIVED, 2), "1...");
	gone();
	/* Idle, and on the way through a rendezvous. */
	ck_assert_str_eq(alone(KVM_MP_STATE_HALTED, 0x202), "....");
	ck_assert(mt->differ);
	gone();
	ck_assert_str_eq(alone(KVM_MP_STATE_RUNNABLE, 2), "....");
	ck_assert(mt->differ);
	gone();
}
END_TEST

START_TEST(only_areas_that_change_lose_their_leaves)
{
	int second;
	uint64_t made, cuts;

	machine(VMM_MT_MODULE, 1);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	second = add(2, BAR + 0x100000, 0x4000);
	ck_assert_int_ge(second, 0);
	loop_works();
	made = kernel.slots_made;
	cuts = mt->counts.cuts;
	linux_set(0, 1, BAR + 0x1000, 0x1000, MT_WC);
	ck_assert(loop_works());
	ck_assert_uint_eq(kernel.slots_made, made + 3);
	ck_assert_uint_eq(mt->counts.cuts, cuts + 3);
	/* Both have a range; they go to the module in order of address. */
	linux_set(0, 2, BAR + 0x100000, 0x1000, MT_WC);
	ck_assert(loop_works());
	ck_assert_uint_eq(kernel.nr_ranges, 2);
	/* An area that goes takes its range along, and leaves the other. */
	made = kernel.slots_made;
	vmm_mt_area_remove(mt, second);
	ck_assert_uint_eq(kernel.nr_ranges, 1);
	ck_assert_uint_eq(kernel.range[0].gpa, BAR + 0x1000);
	ck_assert_uint_eq(kernel.slots_made, made);
	/* And comes back with it, at once. */
	ck_assert_int_ge(add(2, BAR + 0x100000, 0x4000), 0);
	ck_assert(!mt->pending);
	ck_assert_uint_eq(leaf(BAR + 0x100000), MT_WC);
	ck_assert_uint_eq(leaf(BAR + 0x101000), KVMS);
	gone();
}
END_TEST

/* Below 1 MiB and 4 GiB no BAR lies, but the edges of maps do. */
START_TEST(cuts_are_at_the_edges_of_types)
{
	const struct vmm_mt_area *a;

	machine(VMM_MT_OFF, 1);
	ck_assert_int_eq(add(0, 0xfffff000, 0x3000), 0);
	a = &mt->area[0];
	ck_assert_uint_eq(a->nr, 2);
	ck_assert_uint_eq(a->cut[0].gpa, 0xfffff000);
	ck_assert_uint_eq(a->cut[0].size, 0x1000);
	ck_assert_int_eq(a->cut[0].mtrr, MT_UC);
	ck_assert_uint_eq(a->cut[1].gpa, 0x100000000);
	ck_assert_uint_eq(a->cut[1].size, 0x2000);
	ck_assert_int_eq(a->cut[1].mtrr, MT_WB);
	ck_assert_str_eq(a->place.device, "0000:01:10.1");
	/* An overlap that the manuals leave undefined is a stretch of its own. */
	linux_set(0, 2, BAR + 0x1000, 0x1000, MT_WP);
	linux_set(0, 1, BAR, 0x2000, MT_WC);
	ck_assert_uint_eq(a->nr, 3);
	ck_assert(!a->cut[1].undefined);
	ck_assert(a->cut[2].undefined);
	gone();
}
END_TEST

/* A mask with holes: every other page of @size bytes. */
static void scatter(unsigned int reg, uint64_t size, enum mt_type type)
{
	wr(0, MT_MSR_PHYSBASE(reg), BAR | type);
	wr(0, MT_MSR_PHYSMASK(reg), (MASK(size)) | 0x1000);
}

START_TEST(a_guest_with_scattered_masks_gets_no_more_than_64_cuts)
{
	machine(VMM_MT_MODULE, 1);
	ck_assert_int_ge(add(0, BAR, 0x40000), 0);
	ck_assert_int_ge(add(1, BAR + 0x1000000, 0x2000), 0);
	loop_works();
	scatter(1, 0x40000, MT_WC); /* 64 pages */
	ck_assert(loop_works());
	ck_assert_uint_eq(mt->area[0].nr, 64);
	ck_assert(!mt->area[0].limited);
	ck_assert_str_eq(leaves(0x8000), "1.1.1.1.");
	/* One more piece and all of it is as KVM makes it; the other area is served. */
	vmm_mt_area_remove(mt, 0);
	ck_assert_int_eq(add(0, BAR, 0x41000), 0);
	scatter(1, 0x80000000, MT_WC);
	ck_assert(loop_works());
	ck_assert(mt->area[0].limited);
	ck_assert_uint_eq(mt->area[0].nr, 1);
	ck_assert(mt->area[0].cut[0].want.stock);
	ck_assert_str_eq(leaves(0x8000), "........");
	ck_assert_uint_eq(leaf(BAR + 0x1000000), MT_WC);
	ck_assert_uint_eq(leaf(BAR + 0x1001000), KVMS);
	/* Back to sense. */
	wr(0, MT_MSR_PHYSMASK(1), MASK(0x2000));
	ck_assert(loop_works());
	ck_assert(!mt->area[0].limited);
	ck_assert_str_eq(leaves(0x8000), "11......");
	gone();
}
END_TEST

START_TEST(no_more_ranges_than_the_module_takes)
{
	with_kernel();
	kernel.ranges_max = 3;
	ck_assert_int_eq(build(VMM_MT_MODULE, 1), 0);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	ck_assert_int_ge(add(1, BAR + 0x10000, 0x4000), 0);
	loop_works();
	scatter(1, 0x100000, MT_WC);
	ck_assert(loop_works());
	/* Two for the first, and the second would need as many. */
	ck_assert_uint_eq(kernel.nr_ranges, 2);
	ck_assert_str_eq(leaves(0x4000), "1.1.");
	ck_assert(mt->area[1].limited);
	ck_assert_uint_eq(leaf(BAR + 0x10000), KVMS);
	/* One that comes later does not take from those that are there. */
	ck_assert_int_ge(add(2, BAR + 0x20000, 0x4000), 0);
	ck_assert_uint_eq(leaf(BAR + 0x20000), KVMS);
	ck_assert_int_ge(add(3, BAR + 0x30000, 0x1000), 0);
	ck_assert_uint_eq(leaf(BAR + 0x30000), MT_WC);
	ck_assert_uint_eq(kernel.nr_ranges, 3);
	gone();
}
END_TEST

START_TEST(reset_restores_what_firmware_left)
{
	machine(VMM_MT_MODULE, 2);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		linux_set(cpu, 1, BAR, 0x4000, MT_WC);
	wr(0, MT_MSR_PAT, MT_PAT_LINUX);
	ck_assert(loop_works());
	/* As in vmm_life_reset(): devices first, then the CPUs, one after the other. */
	vmm_mt_area_remove(mt, 0);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		ck_assert_int_eq(vmm_mt_power_on(mt, cpu, VCPU_FD + (int)cpu), 0);
	loop_works();
	ck_assert(!mt->differ);
	ck_assert(!mt->cpu[0].seen && !mt->cpu[1].seen);
	ck_assert_uint_eq(mt->cpu[1].regs.variable[1].mask, 0);
	ck_assert_uint_eq(mt->cpu[0].regs.pat, MT_PAT_RESET);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	loop_works();
	ck_assert_str_eq(leaves(0x4000), "....");
	gone();
}
END_TEST

/* A BAR that stays mapped over the reset follows, too. */
START_TEST(reset_with_a_bar_in_place)
{
	machine(VMM_MT_MODULE, 2);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		linux_set(cpu, 1, BAR, 0x4000, MT_WC);
	ck_assert(loop_works());
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		ck_assert_int_eq(vmm_mt_power_on(mt, cpu, VCPU_FD + (int)cpu), 0);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x4000), "....");
	gone();
}
END_TEST

START_TEST(off_never_makes_leaves_anew)
{
	unsigned int made;

	machine(VMM_MT_OFF, 1);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	made = kernel.slots_made;
	linux_set(0, 1, BAR + 0x1000, 0x1000, MT_WC);
	ck_assert(!mt->pending);
	/* What is asked for is known all the same. */
	ck_assert_uint_eq(mt->area[0].nr, 3);
	ck_assert_int_eq(mt->area[0].cut[1].mtrr, MT_WC);
	ck_assert_uint_eq(mt->counts.remakes, 0);
	ck_assert_uint_eq(kernel.slots_made, made);
	ck_assert_uint_eq(kernel.set_calls, 0);
	vmm_mt_area_remove(mt, 0);
	ck_assert_uint_eq(slots(), 0);
	gone();
}
END_TEST

START_TEST(slots_that_cannot_be_had)
{
	machine(VMM_MT_MODULE, 1);
	ck_assert_int_eq(add(0, BAR, 0), -EINVAL);
	ck_assert_int_eq(add(0, BAR + 1, 0x1000), -EINVAL);
	ck_assert_int_eq(add(0, BAR, 0x1001), -EINVAL);
	ck_assert_int_eq(add(0, ~0xfffull, 0x2000), -EINVAL);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	ck_assert_int_eq(add(1, BAR + 0x3000, 0x4000), -EEXIST);
	ck_assert_uint_eq(slots(), 1);
	loop_works();
	/* Room for one only: the area stays in one piece, and the module hears of no range. */
	kernel.slots_room = 1;
	linux_set(0, 1, BAR + 0x1000, 0x1000, MT_WC);
	ck_assert(loop_works());
	ck_assert_str_eq(leaves(0x4000), "....");
	ck_assert_uint_eq(kernel.nr_ranges, 0);
	ck_assert_int_eq(add(1, BAR + 0x10000, 0x1000), -ENOSPC);
	ck_assert_uint_eq(slots(), 1);
	/* None at all: a BAR that vanishes under a running driver ends the machine. */
	kernel.slots_room = 0;
	linux_set(0, 1, BAR, 0x4000, MT_WC);
	vmm_mt_apply(mt, mt->apply_fd);
	ck_assert_int_eq(core.end, VMM_END_CRASHED);
	ck_assert_ptr_nonnull(strstr(core.crash, "No space left"));
	gone();
}
END_TEST

START_TEST(nothing_is_asked_of_a_machine_that_ends)
{
	machine(VMM_MT_MODULE, 1);
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	loop_works();
	vmm_end(&core.vmm, VMM_END_STOPPED);
	linux_set(0, 1, BAR, 0x4000, MT_WC);
	ck_assert(!mt->pending);
	ck_assert_uint_eq(core.holds, 0);
	vmm_mt_area_remove(mt, 0);
	gone();
}
END_TEST

SUITE("mtvmm_apply", a_wc_range_makes_wc_leaves_exactly_there, other_types_stay_as_kvm_makes_them,
      a_host_with_wb_over_the_bar, once_for_each_change_not_for_each_write,
      the_same_again_makes_nothing_anew, there_and_back_before_the_loop_came, cpus_that_differ,
      cpus_that_are_offline_do_not_count, only_areas_that_change_lose_their_leaves,
      cuts_are_at_the_edges_of_types, a_guest_with_scattered_masks_gets_no_more_than_64_cuts,
      no_more_ranges_than_the_module_takes, reset_restores_what_firmware_left,
      reset_with_a_bar_in_place, off_never_makes_leaves_anew, slots_that_cannot_be_had,
      nothing_is_asked_of_a_machine_that_ends)
