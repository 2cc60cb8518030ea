// SPDX-License-Identifier: GPL-2.0-only
/* What the host offers, what the user wants, what becomes of it; a module that fails. */
#include "mtvmm_board.h"

static void refused(enum vmm_mt_wish wish, int ret, const char *what, const char *fix)
{
	ck_assert_int_eq(build(wish, 1), ret);
	ck_assert_msg(strstr(err.what, what) != NULL, "'%s' is not in '%s'", what, err.what);
	ck_assert_msg(strstr(err.fix, fix) != NULL, "'%s' is not in '%s'", fix, err.fix);
	bp_error_clear(&err);
	vmm_loop_free(core.vmm.loop);
}

static void becomes(enum vmm_mt_wish wish, const char *mode, const char *why)
{
	ck_assert_msg(!build(wish, 1), "%s", err.what);
	ck_assert_str_eq(vmm_mt_mode(mt), mode);
	if (*why)
		ck_assert_msg(strstr(vmm_mt_why(mt), why) != NULL, "'%s' is not in '%s'", why,
			      vmm_mt_why(mt));
	else
		ck_assert_str_eq(vmm_mt_why(mt), "");
	vmm_mt_free(mt);
	vmm_loop_free(core.vmm.loop);
	ck_assert_uint_eq(kernel.opened, 0);
}

START_TEST(with_the_module)
{
	with_kernel();
	becomes(VMM_MT_AUTO, "module", "");
	becomes(VMM_MT_MODULE, "module", "");
	becomes(VMM_MT_PAT, "pat", "");
	becomes(VMM_MT_PAT_FORCE, "pat", "");
	becomes(VMM_MT_OFF, "off", "");
	fake_root_remove();
}
END_TEST

START_TEST(without_the_module)
{
	static const int codes[] = { ENOENT, ENXIO, ENODEV };

	with_kernel();
	for (unsigned int i = 0; i < 3; i++) {
		kernel.open_errno = codes[i];
		becomes(VMM_MT_AUTO, "off", "not loaded");
		refused(VMM_MT_MODULE, -ENODEV, "not loaded", "modprobe kvm-memtype");
	}
	kernel.open_errno = EACCES;
	becomes(VMM_MT_AUTO, "off", "Permission denied");
	refused(VMM_MT_MODULE, -EACCES, "Permission denied", "");
	kernel.open_errno = 0;
	kernel.info_errno = ENOTTY;
	refused(VMM_MT_MODULE, -ENOTTY, "ioctl", "");
	kernel.info_errno = 0;
	kernel.abi = 2;
	becomes(VMM_MT_AUTO, "off", "another version");
	refused(VMM_MT_MODULE, -EPROTO, "another version", "");
	kernel.abi = KVM_MEMTYPE_ABI;
	kernel.types &= ~(1u << MT_WC);
	becomes(VMM_MT_AUTO, "off", "cannot make leaves WC");
	refused(VMM_MT_MODULE, -EOPNOTSUPP, "cannot make leaves WC", "");
	fake_root_remove();
}
END_TEST

START_TEST(kvm_without_msr_filters)
{
	with_kernel();
	kernel.no_filter = true;
	becomes(VMM_MT_AUTO, "off", "KVM_CAP_X86_MSR_FILTER");
	becomes(VMM_MT_OFF, "off", "");
	refused(VMM_MT_MODULE, -EOPNOTSUPP, "KVM_CAP_X86_MSR_FILTER", "--memtype auto");
	refused(VMM_MT_PAT, -EOPNOTSUPP, "KVM_CAP_X86_MSR_FILTER", "--memtype auto");
	/* Registers are KVM's then, and read when somebody asks. */
	ck_assert_int_eq(build(VMM_MT_AUTO, 2), 0);
	ck_assert(!mt->intercept);
	ck_assert_int_ge(add(0, BAR, 0x2000), 0);
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		kernel.msr[cpu][MT_MSR_PHYSBASE(1)] = BAR | MT_WC;
		kernel.msr[cpu][MT_MSR_PHYSMASK(1)] = MASK(0x1000);
	}
	vmm_mt_refresh(mt);
	ck_assert(!mt->differ);
	ck_assert_int_eq(mt->area[0].cut[0].mtrr, MT_WC);
	ck_assert_int_eq(mt->area[0].cut[1].mtrr, MT_WB);
	ck_assert(!mt->pending);
	gone();
}
END_TEST

START_TEST(what_the_host_is)
{
	with_kernel();
	ck_assert_int_eq(build(VMM_MT_OFF, 1), 0);
	ck_assert_int_eq(mt->vendor, MT_AMD);
	ck_assert(mt->nested);
	ck_assert(mt->coherent);
	ck_assert_uint_eq(mt->kernel.major, 6);
	ck_assert_uint_eq(mt->kernel.minor, 12);
	ck_assert_uint_eq(mt->kernel.patch, 95);
	gone();
	with_kernel();
	kernel.intel = true;
	ck_assert_int_eq(build(VMM_MT_OFF, 1), 0);
	ck_assert_int_eq(mt->vendor, MT_INTEL);
	ck_assert(mt->nested);
	gone();
}
END_TEST

START_TEST(a_shadow_pat_needs_nested_paging)
{
	with_kernel();
	fake_file("proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
	becomes(VMM_MT_PAT, "pat", "");
	fake_file("sys/module/kvm_amd/parameters/npt", "N\n");
	/* build() would write the host anew. */
	ck_assert_int_eq(vmm_loop_new(&core.vmm.lock, &core.vmm.loop), 0);
	ck_assert_int_eq(vmm_mt_new_on(&core.vmm, &(struct vf_host){ fake_root, &sys }, &mt, &err),
			 -EOPNOTSUPP);
	ck_assert_ptr_nonnull(strstr(err.what, "without EPT or NPT"));
	vmm_loop_free(core.vmm.loop);
	fake_root_remove();
}
END_TEST

static void wc_somewhere(void)
{
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	loop_works();
	linux_set(0, 1, BAR + 0x1000, 0x1000, MT_WC);
	loop_works();
	ck_assert_uint_eq(leaf(BAR + 0x1000), MT_WC);
}

/* The machine runs on, every page of every BAR is reached, and all are as KVM makes them. */
static void fell(const char *why)
{
	loop_works();
	ck_assert_str_eq(vmm_mt_mode(mt), "off");
	ck_assert_msg(strstr(vmm_mt_why(mt), why) != NULL, "'%s' is not in '%s'", why,
		      vmm_mt_why(mt));
	ck_assert_int_eq(core.end, VMM_END_NONE);
	for (uint64_t at = 0; at < 0x4000; at += 4096)
		if (mt->area[0].used)
			ck_assert_int_eq(reaches(BAR + at), (long)at);
	for (unsigned int i = 0; i < SLOTS_MAX; i++)
		ck_assert(!kernel.slot[i].used || kernel.slot[i].type == 9);
	for (unsigned int i = 0; i < mt->nr_areas; i++)
		for (unsigned int n = 0; mt->area[i].used && n < mt->area[i].nr; n++)
			ck_assert(mt->area[i].cut[n].want.stock);
}

START_TEST(the_module_goes)
{
	/* It is missed when the guest changes its MTRRs, */
	machine(VMM_MT_AUTO, 1);
	wc_somewhere();
	kernel.module = false;
	kernel.nr_ranges = 0;
	linux_set(0, 1, BAR + 0x2000, 0x1000, MT_WC);
	fell("not loaded any more");
	gone();
	/* when it moves a BAR that has a range, */
	machine(VMM_MT_AUTO, 1);
	wc_somewhere();
	kernel.module = false;
	kernel.nr_ranges = 0;
	vmm_mt_area_remove(mt, 0);
	fell("not loaded any more");
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	fell("not loaded any more");
	gone();
	/* or puts one where it has asked for WC. */
	machine(VMM_MT_AUTO, 1);
	wc_somewhere();
	linux_set(0, 2, BAR + 0x100000, 0x1000, MT_WC);
	kernel.module = false;
	kernel.nr_ranges = 0;
	ck_assert_int_ge(add(1, BAR + 0x100000, 0x2000), 0);
	ck_assert(mt->pending);
	fell("not loaded any more");
	ck_assert_int_eq(reaches(BAR + 0x101000), 0x1000);
	/* It may come back, but for this machine it stays away. */
	kernel.module = true;
	linux_set(0, 1, BAR, 0x1000, MT_WC);
	fell("not loaded any more");
	gone();
}
END_TEST

START_TEST(the_module_refuses)
{
	static const int codes[] = { EBADF, EINVAL, E2BIG, ENOMEM, EFAULT, EACCES, ENOTTY };

	for (unsigned int i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		machine(VMM_MT_MODULE, 1);
		wc_somewhere();
		kernel.set_errno = codes[i];
		linux_set(0, 1, BAR, 0x2000, MT_WC);
		fell(strerror(codes[i]));
		/* It was told to forget the range from before. */
		ck_assert_uint_eq(kernel.nr_ranges, 0);
		gone();
	}
}
END_TEST

START_TEST(the_module_does_not_even_forget)
{
	machine(VMM_MT_MODULE, 1);
	wc_somewhere();
	kernel.set_errno = kernel.clear_errno = ENOMEM;
	vmm_mt_area_remove(mt, 0);
	ck_assert_str_eq(vmm_mt_mode(mt), "off");
	ck_assert_ptr_nonnull(strstr(vmm_mt_why(mt), "forgets"));
	ck_assert_uint_eq(kernel.nr_ranges, 1);
	/* It is told again before other pages could come to lie there. */
	kernel.clear_errno = 0;
	ck_assert_int_ge(add(0, BAR, 0x4000), 0);
	ck_assert_uint_eq(kernel.nr_ranges, 0);
	fell("forgets");
	gone();
}
END_TEST

SUITE("mtvmm_mode", with_the_module, without_the_module, kvm_without_msr_filters, what_the_host_is,
      a_shadow_pat_needs_nested_paging, the_module_goes, the_module_refuses,
      the_module_does_not_even_forget)
