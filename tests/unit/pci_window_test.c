// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "suite.h"
#include "vmm/pci/window.h"

static struct vmm_pci_window win[VMM_PCI_WIN_COUNT];

static void set_up(uint64_t end32, uint64_t end64)
{
	vmm_pci_window_init(&win[VMM_PCI_WIN_IO], "I/O port", 0xc000, 0x10000);
	vmm_pci_window_init(&win[VMM_PCI_WIN_MMIO32], "32-bit memory", 0xc0000000, end32);
	vmm_pci_window_init(&win[VMM_PCI_WIN_MMIO64], "64-bit memory", 0x4000000000, end64);
}

START_TEST(addresses_are_aligned_to_the_size)
{
	uint64_t a, b, c;

	set_up(0xe0000000, 0x4040000000);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[1], 0x4000, 0x1000, &a), 0);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[1], 0x2000000, 0x1000, &b), 0);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[1], 0x4000, 0x1000, &c), 0);
	ck_assert_uint_eq(a, 0xc0000000);
	ck_assert_uint_eq(b, 0xc2000000);
	/* The gap that alignment left is used. */
	ck_assert_uint_eq(c, 0xc0004000);
}
END_TEST

START_TEST(small_memory_bars_get_a_page_each)
{
	struct vmm_pci_want want[3] = { { .size = 16 },
					{ .size = 128 },
					{ .size = 8, .io = true } };

	set_up(0xe0000000, 0x4040000000);
	ck_assert_int_eq(vmm_pci_place(win, want, 3, NULL), 0);
	ck_assert_uint_eq(want[1].addr, 0xc0000000);
	ck_assert_uint_eq(want[0].addr, 0xc0001000);
	ck_assert_uint_eq(want[2].addr, 0xc000);
}
END_TEST

START_TEST(largest_first_and_by_kind)
{
	struct vmm_pci_want want[4] = {
		{ .size = 0x4000, .is64 = true, .prefetch = true },
		{ .size = 0x800000, .is64 = true, .prefetch = true },
		{ .size = 0x4000, .is64 = true },
		{ .size = 0x20000 },
	};

	set_up(0xe0000000, 0x4040000000);
	ck_assert_int_eq(vmm_pci_place(win, want, 4, NULL), 0);
	ck_assert_uint_eq(want[1].addr, 0x4000000000);
	ck_assert_uint_eq(want[0].addr, 0x4000800000);
	ck_assert_uint_eq(want[3].addr, 0xc0000000);
	ck_assert_uint_eq(want[2].addr, 0xc0020000);
}
END_TEST

START_TEST(without_high_window_all_goes_below)
{
	struct vmm_pci_want want[1] = { { .size = 0x4000, .is64 = true, .prefetch = true } };

	set_up(0xe0000000, 0x4000000000);
	ck_assert_int_eq(vmm_pci_place(win, want, 1, NULL), 0);
	ck_assert_uint_eq(want[0].addr, 0xc0000000);
}
END_TEST

START_TEST(sixty_four_bit_bars_may_go_above_when_below_is_full)
{
	struct vmm_pci_want want[1] = { { .size = 0x40000000, .is64 = true } };

	set_up(0xe0000000, 0x4080000000);
	ck_assert_int_eq(vmm_pci_place(win, want, 1, NULL), 0);
	ck_assert_uint_eq(want[0].addr, 0x4000000000);
}
END_TEST

START_TEST(a_full_window_is_named_and_nothing_stays_taken)
{
	struct vmm_pci_want want[2] = { { .size = 0x10000000 }, { .size = 0x20000000 } };
	struct bp_error err = { 0 };

	set_up(0xe0000000, 0x4000000000);
	ck_assert_int_eq(vmm_pci_place(win, want, 2, &err), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(err.what, "262144 KiB"));
	ck_assert_ptr_nonnull(strstr(err.what, "32-bit memory"));
	ck_assert_ptr_nonnull(strstr(err.what, "0xc0000000-0xe0000000"));
	ck_assert_ptr_nonnull(strstr(err.what, "has 0 KiB left"));
	ck_assert_uint_eq(vmm_pci_window_left(&win[VMM_PCI_WIN_MMIO32]), 0x20000000);
}
END_TEST

START_TEST(sizes_that_are_no_power_of_two_are_refused)
{
	struct vmm_pci_want want[1] = { { .size = 0x3000 } };
	struct bp_error err = { 0 };
	uint64_t addr;

	set_up(0xe0000000, 0x4000000000);
	ck_assert_int_eq(vmm_pci_place(win, want, 1, &err), -EINVAL);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[1], 0, 0x1000, &addr), -EINVAL);
}
END_TEST

START_TEST(freed_ranges_are_given_out_again)
{
	uint64_t a, b;

	set_up(0xc0002000, 0x4000000000);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[1], 0x1000, 0x1000, &a), 0);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[1], 0x1000, 0x1000, &b), 0);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[1], 0x1000, 0x1000, &b), -ENOSPC);
	vmm_pci_window_free(&win[1], a);
	vmm_pci_window_free(&win[1], 0xdeadbeef);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[1], 0x1000, 0x1000, &b), 0);
	ck_assert_uint_eq(b, a);
}
END_TEST

START_TEST(nothing_wraps_at_the_end_of_the_address_space)
{
	uint64_t addr;

	vmm_pci_window_init(&win[0], "top", 0xfffffffffffff000, UINT64_MAX);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[0], 1ull << 63, 1, &addr), -ENOSPC);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[0], 0x800, 1, &addr), 0);
	ck_assert_uint_eq(addr, 0xfffffffffffff000);
	ck_assert_int_eq(vmm_pci_window_alloc(&win[0], 0x800, 1, &addr), -ENOSPC);
}
END_TEST

SUITE("pci_window", addresses_are_aligned_to_the_size, small_memory_bars_get_a_page_each,
      largest_first_and_by_kind, without_high_window_all_goes_below,
      sixty_four_bit_bars_may_go_above_when_below_is_full,
      a_full_window_is_named_and_nothing_stays_taken, sizes_that_are_no_power_of_two_are_refused,
      freed_ranges_are_given_out_again, nothing_wraps_at_the_end_of_the_address_space)
