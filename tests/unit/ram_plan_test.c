// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "suite.h"
#include "vmm/boot/boot.h"
#include "vmm/layout.h"
#include "vmm/ram.h"

#define MIB 0x100000ull
#define GIB 0x40000000ull
#define TIB 0x10000000000ull

/* What an AMD host's groups leave: the MSI window and the HyperTransport hole are missing. */
static const struct vf_iova_range amd[] = {
	{ 0, 0xfedfffff },
	{ 0xfef00000, VMM_HT_HOLE_START - 1 },
	{ VMM_HT_HOLE_END, UINT64_MAX },
};

static struct vmm_ram_layout l;
static struct bp_error err;

static int plan(uint64_t size, uint64_t align, uint64_t bars, unsigned int bits)
{
	bp_error_clear(&err);
	return vmm_ram_plan(size, align, bars, bits, amd, 3, &l, &err);
}

static void is_region(unsigned int i, uint64_t gpa, uint64_t size)
{
	ck_assert_uint_lt(i, l.nr);
	ck_assert_uint_eq(l.region[i].gpa, gpa);
	ck_assert_uint_eq(l.region[i].size, size);
	ck_assert_ptr_null(l.region[i].hva);
}

static uint64_t total(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < l.nr; i++)
		sum += l.region[i].size;
	return sum;
}

START_TEST(small_stays_low)
{
	ck_assert_int_eq(plan(512 * MIB, 4096, 64 * 1024, 40), 0);
	ck_assert_uint_eq(l.nr, 1);
	is_region(0, 0, 512 * MIB);
	ck_assert_uint_eq(l.mmio64_base, 4 * GIB);
	ck_assert_uint_eq(l.mmio64_end, 5 * GIB);
}
END_TEST

START_TEST(splits_at_the_pci_hole)
{
	ck_assert_int_eq(plan(4 * GIB, GIB, GIB, 40), 0);
	ck_assert_uint_eq(l.nr, 2);
	is_region(0, 0, 3 * GIB);
	is_region(1, 4 * GIB, GIB);
	ck_assert_uint_eq(l.mmio64_base, 5 * GIB);
}
END_TEST

START_TEST(one_tib_goes_around_the_ht_hole)
{
	ck_assert_int_eq(plan(TIB, 2 * MIB, 3 * GIB, 48), 0);
	ck_assert_uint_eq(l.nr, 3);
	is_region(0, 0, 3 * GIB);
	is_region(1, 4 * GIB, VMM_HT_HOLE_START - 4 * GIB);
	is_region(2, VMM_HT_HOLE_END, TIB - 3 * GIB - (VMM_HT_HOLE_START - 4 * GIB));
	ck_assert_uint_eq(total(), TIB);
	ck_assert_uint_ge(l.mmio64_base, l.region[2].gpa + l.region[2].size);
	ck_assert_uint_eq(l.mmio64_base % GIB, 0);
}
END_TEST

START_TEST(window_jumps_the_ht_hole)
{
	/* RAM leaves 2 GiB below the hole, and 4 are wanted. */
	uint64_t size = VMM_HT_HOLE_START - 4 * GIB + 3 * GIB - 2 * GIB;

	ck_assert_int_eq(plan(size, GIB, 4 * GIB, 48), 0);
	ck_assert_uint_eq(l.nr, 2);
	ck_assert_uint_eq(l.mmio64_base, VMM_HT_HOLE_END);
	ck_assert_int_eq(plan(size, GIB, 2 * GIB, 48), 0);
	ck_assert_uint_eq(l.mmio64_end, VMM_HT_HOLE_START);
	/* 40 bits end with the hole. */
	ck_assert_int_eq(plan(size, GIB, 4 * GIB, 40), -ERANGE);
	ck_assert_ptr_nonnull(strstr(err.what, "40 bits"));
}
END_TEST

START_TEST(without_devices_the_same)
{
	struct vmm_ram_layout with;

	ck_assert_int_eq(plan(TIB, 4096, GIB, 48), 0);
	with = l;
	ck_assert_int_eq(vmm_ram_plan(TIB, 4096, GIB, 48, NULL, 0, &l, &err), 0);
	ck_assert_uint_eq(l.nr, with.nr);
	for (unsigned int i = 0; i < l.nr; i++)
		is_region(i, with.region[i].gpa, with.region[i].size);
	ck_assert_uint_eq(l.mmio64_base, with.mmio64_base);
}
END_TEST

START_TEST(width_limits)
{
	ck_assert_int_eq(plan(64 * GIB, 4096, 0, 36), -ERANGE);
	ck_assert_int_eq(plan(63 * GIB, 4096, 0, 36), 0);
	ck_assert_int_eq(plan(63 * GIB, 4096, 1, 36), -ERANGE);
	ck_assert_int_eq(plan(2 * GIB, 4096, 0, 32), 0);
	ck_assert_int_eq(plan(2 * GIB, 4096, 4096, 32), -ERANGE);
}
END_TEST

START_TEST(large_bar_is_aligned)
{
	/* 5 GiB of RAM end at 6 GiB; a BAR of 16 GiB must start at a multiple of its size. */
	ck_assert_int_eq(plan(5 * GIB, 4096, 16 * GIB + 16384, 40), 0);
	ck_assert_uint_eq(l.mmio64_base, 16 * GIB);
	ck_assert_uint_ge(l.mmio64_end - l.mmio64_base, 16 * GIB + 16384);
}
END_TEST

START_TEST(no_window_wanted)
{
	ck_assert_int_eq(plan(512 * MIB, 4096, 0, 40), 0);
	ck_assert_uint_eq(l.mmio64_base, l.mmio64_end);
}
END_TEST

START_TEST(refuses_nonsense)
{
	ck_assert_int_eq(plan(16 * MIB - 4096, 4096, 0, 40), -EINVAL);
	ck_assert_int_eq(plan(16 * MIB, 4096, 0, 40), 0);
	ck_assert_int_eq(plan(64 * MIB + 4096, 2 * MIB, 0, 40), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.what, "2048 KiB"));
	ck_assert_int_eq(plan(64 * MIB, 3 * MIB, 0, 40), -EINVAL);
	ck_assert_int_eq(plan(UINT64_MAX & ~4095ull, 4096, 0, 52), -ERANGE);
	ck_assert_int_eq(plan(GIB, 4096, UINT64_MAX, 52), -ERANGE);
}
END_TEST

START_TEST(low_ram_must_be_reachable)
{
	static const struct vf_iova_range holed[] = { { 0, 0x7fffffff }, { 0x80100000, TIB } };
	static const struct vf_iova_range late[] = { { 0x1000, TIB } };
	static const struct vf_iova_range meet[] = { { 0, 0x7fffffff }, { 0x80000000, TIB } };

	ck_assert_int_eq(vmm_ram_plan(2 * GIB, 4096, 0, 40, holed, 2, &l, &err), 0);
	ck_assert_int_eq(vmm_ram_plan(2 * GIB + MIB, 4096, 0, 40, holed, 2, &l, &err), -ENXIO);
	ck_assert_int_eq(vmm_ram_plan(GIB, 4096, 0, 40, late, 1, &l, &err), -ENXIO);
	ck_assert_int_eq(vmm_ram_plan(3 * GIB, 4096, 0, 40, meet, 2, &l, &err), 0);
}
END_TEST

START_TEST(holes_above_4g)
{
	/* Odd edges: regions keep to 2 MiB pages and skip what is too small for one. */
	static const struct vf_iova_range r[] = {
		{ 0, 4 * GIB + 5 * MIB - 1 },
		{ 4 * GIB + 7 * MIB, 4 * GIB + 9 * MIB - 1 },
		{ 5 * GIB + 1, 6 * GIB },
		{ 7 * GIB, UINT64_MAX },
	};

	ck_assert_int_eq(vmm_ram_plan(5 * GIB, 2 * MIB, GIB, 40, r, 4, &l, &err), 0);
	ck_assert_uint_eq(l.nr, 4);
	is_region(1, 4 * GIB, 4 * MIB);
	is_region(2, 5 * GIB + 2 * MIB, GIB - 2 * MIB);
	is_region(3, 7 * GIB, GIB - 2 * MIB);
	ck_assert_uint_eq(total(), 5 * GIB);
	ck_assert_uint_eq(l.mmio64_base, 8 * GIB);
}
END_TEST

START_TEST(too_many_pieces)
{
	struct vf_iova_range r[8] = { { 0, 4 * GIB - 1 } };

	for (uint64_t i = 1; i < 8; i++)
		r[i] = (struct vf_iova_range){ 2 * (i + 2) * GIB, 2 * (i + 2) * GIB + MIB - 1 };
	ck_assert_int_eq(vmm_ram_plan(3 * GIB + 3 * MIB, 4096, 0, 40, r, 8, &l, &err), 0);
	ck_assert_uint_eq(l.nr, VMM_RAM_REGIONS_MAX);
	ck_assert_int_eq(vmm_ram_plan(3 * GIB + 4 * MIB, 4096, 0, 40, r, 8, &l, &err), -ERANGE);
}
END_TEST

static void sorted_and_disjoint(const struct vmm_e820 *map, unsigned int n)
{
	ck_assert_uint_le(n, VMM_E820_MAX);
	for (unsigned int i = 1; i < n; i++)
		ck_assert_uint_le(map[i - 1].base + map[i - 1].size, map[i].base);
}

static const struct vmm_e820 *line_of(const struct vmm_e820 *map, unsigned int n, uint64_t addr)
{
	for (unsigned int i = 0; i < n; i++)
		if (addr >= map[i].base && addr - map[i].base < map[i].size)
			return &map[i];
	return NULL;
}

START_TEST(e820_says_what_is_where)
{
	struct vmm_e820 map[VMM_E820_MAX];
	unsigned int n;
	uint64_t ram = 0;

	ck_assert_int_eq(plan(TIB, 4096, 0, 48), 0);
	n = vmm_e820_build(&l, map);
	sorted_and_disjoint(map, n);
	ck_assert_uint_eq(line_of(map, n, 0x1000)->type, 1);
	ck_assert_uint_eq(line_of(map, n, VMM_EBDA)->type, 2);
	ck_assert_ptr_null(line_of(map, n, 0xb8000));
	ck_assert_uint_eq(line_of(map, n, VMM_RSDP)->type, 2);
	ck_assert_uint_eq(line_of(map, n, 0x100000)->type, 1);
	ck_assert_uint_eq(line_of(map, n, 3 * GIB - 1)->type, 1);
	ck_assert_ptr_null(line_of(map, n, VMM_MMIO32_BASE));
	ck_assert_uint_eq(line_of(map, n, VMM_ECAM_BASE)->type, 2);
	ck_assert_uint_eq(line_of(map, n, VMM_ECAM_BASE + VMM_ECAM_SIZE - 1)->type, 2);
	ck_assert_uint_eq(line_of(map, n, VMM_IOAPIC_BASE)->type, 2);
	ck_assert_uint_eq(line_of(map, n, VMM_LAPIC_BASE)->type, 2);
	ck_assert_ptr_null(line_of(map, n, VMM_HT_HOLE_START));
	ck_assert_ptr_null(line_of(map, n, VMM_HT_HOLE_END - 1));
	ck_assert_uint_eq(line_of(map, n, VMM_HT_HOLE_END)->type, 1);
	for (unsigned int i = 0; i < n; i++)
		if (map[i].type == 1)
			ram += map[i].size;
	/* All RAM but what lies from the EBDA to 1 MiB. */
	ck_assert_uint_eq(ram, TIB - (0x100000 - VMM_EBDA));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ram_plan");
	TCase *t = tcase_create("ram_plan");
	SRunner *r;
	int failed;

	tcase_add_test(t, small_stays_low);
	tcase_add_test(t, splits_at_the_pci_hole);
	tcase_add_test(t, one_tib_goes_around_the_ht_hole);
	tcase_add_test(t, window_jumps_the_ht_hole);
	tcase_add_test(t, without_devices_the_same);
	tcase_add_test(t, width_limits);
	tcase_add_test(t, large_bar_is_aligned);
	tcase_add_test(t, no_window_wanted);
	tcase_add_test(t, refuses_nonsense);
	tcase_add_test(t, low_ram_must_be_reachable);
	tcase_add_test(t, holes_above_4g);
	tcase_add_test(t, too_many_pieces);
	tcase_add_test(t, e820_says_what_is_where);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
