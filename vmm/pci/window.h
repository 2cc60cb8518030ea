/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Giving addresses to BARs, as firmware does. Pure: knows ranges, not devices.
 */
#ifndef VMM_PCI_WINDOW_H
#define VMM_PCI_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include <bp/error.h>

/* Every BAR of every slot. */
#define VMM_PCI_RANGES_MAX 192

/**
 * struct vmm_pci_range - a piece of a window that is given out.
 * @base: first address. @size: bytes.
 */
struct vmm_pci_range {
	uint64_t base;
	uint64_t size;
};

/**
 * struct vmm_pci_window - an address range for BARs.
 * @name: for messages.
 * @base: first address.
 * @end: first address after it; equal to @base for a window that does not exist.
 * @nr: entries of @used.
 * @used: what is given out, sorted.
 */
struct vmm_pci_window {
	const char *name;
	uint64_t base;
	uint64_t end;
	unsigned int nr;
	struct vmm_pci_range used[VMM_PCI_RANGES_MAX];
};

/** enum vmm_pci_window_kind - the windows of the root bus. */
enum vmm_pci_window_kind {
	VMM_PCI_WIN_IO,
	VMM_PCI_WIN_MMIO32,
	VMM_PCI_WIN_MMIO64,
	VMM_PCI_WIN_COUNT,
};

/**
 * struct vmm_pci_want - one BAR that needs an address.
 * @size: bytes, a power of two; 0 is skipped.
 * @io: ports. @is64: may lie above 4 GiB. @prefetch: prefetchable.
 * @addr: receives the address.
 */
struct vmm_pci_want {
	uint64_t size;
	bool io;
	bool is64;
	bool prefetch;
	uint64_t addr;
};

/**
 * vmm_pci_window_init() - an empty window.
 * @win: window. @name: for messages. @base: first address. @end: first address after it.
 */
void vmm_pci_window_init(struct vmm_pci_window *win, const char *name, uint64_t base, uint64_t end);

/**
 * vmm_pci_window_alloc() - take a range, lowest address first.
 * @win: window. @size: bytes, a power of two; also the alignment.
 * @min_align: alignment of small ranges. @addr: receives the address.
 *
 * Return: 0, -EINVAL when @size is no power of two, -ENOSPC.
 */
int vmm_pci_window_alloc(struct vmm_pci_window *win, uint64_t size, uint64_t min_align,
			 uint64_t *addr);

/** vmm_pci_window_free() - give back what starts at @addr. @win: window. @addr: address. */
void vmm_pci_window_free(struct vmm_pci_window *win, uint64_t addr);

/** vmm_pci_window_left() - bytes that are not given out. @win: window. Return: bytes. */
uint64_t vmm_pci_window_left(const struct vmm_pci_window *win);

/**
 * vmm_pci_place() - addresses for all BARs of one device.
 * @win: array of VMM_PCI_WIN_COUNT windows.
 * @want: BARs. @nr: how many.
 * @err: names the window, what was wanted and what is left.
 *
 * Largest first, so that alignment wastes least. 64-bit prefetchable BARs go above
 * 4 GiB when that window exists and has room, all others below; 64-bit ones that do not
 * fit below go above. Memory BARs never share a page, so that each can be mapped alone.
 * On failure nothing stays taken.
 *
 * Return: 0, -EINVAL for a size that is no power of two, -ENOSPC.
 */
int vmm_pci_place(struct vmm_pci_window *win, struct vmm_pci_want *want, unsigned int nr,
		  struct bp_error *err);

#endif
