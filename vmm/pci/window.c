// SPDX-License-Identifier: GPL-2.0-only
/*
 * First fit with natural alignment inside the windows of the root bus.
 */
#include "vmm/pci/window.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define PAGE 4096u

void vmm_pci_window_init(struct vmm_pci_window *win, const char *name, uint64_t base, uint64_t end)
{
	memset(win, 0, sizeof(*win));
	win->name = name;
	win->base = base;
	win->end = end < base ? base : end;
}

int vmm_pci_window_alloc(struct vmm_pci_window *win, uint64_t size, uint64_t min_align,
			 uint64_t *addr)
{
	uint64_t align = size > min_align ? size : min_align;
	uint64_t from = win->base;
	unsigned int i;

	if (!size || (size & (size - 1)) || !align || (align & (align - 1)))
		return -EINVAL;
	if (win->nr == VMM_PCI_RANGES_MAX)
		return -ENOSPC;
	/* Small ranges take a whole alignment unit, which keeps neighbours out of their page. */
	for (i = 0;; i++) {
		uint64_t gap_end = i < win->nr ? win->used[i].base : win->end;
		uint64_t start = from + ((0 - from) & (align - 1));

		if (start >= from && start <= gap_end && align <= gap_end - start) {
			memmove(&win->used[i + 1], &win->used[i],
				(win->nr - i) * sizeof(win->used[0]));
			win->used[i] = (struct vmm_pci_range){ start, align };
			win->nr++;
			*addr = start;
			return 0;
		}
		if (i == win->nr)
			return -ENOSPC;
		from = win->used[i].base + win->used[i].size;
	}
}

void vmm_pci_window_free(struct vmm_pci_window *win, uint64_t addr)
{
	for (unsigned int i = 0; i < win->nr; i++) {
		if (win->used[i].base != addr)
			continue;
		win->nr--;
		memmove(&win->used[i], &win->used[i + 1], (win->nr - i) * sizeof(win->used[0]));
		return;
	}
}

uint64_t vmm_pci_window_left(const struct vmm_pci_window *win)
{
	uint64_t left = win->end - win->base;

	for (unsigned int i = 0; i < win->nr; i++)
		left -= win->used[i].size;
	return left;
}

static int place_one(struct vmm_pci_window *win, struct vmm_pci_want *want, struct bp_error *err)
{
	enum vmm_pci_window_kind first = VMM_PCI_WIN_MMIO32, second = VMM_PCI_WIN_MMIO32;
	struct vmm_pci_window *full;
	int ret;

	if (want->io) {
		first = second = VMM_PCI_WIN_IO;
	} else if (want->is64) {
		first = want->prefetch ? VMM_PCI_WIN_MMIO64 : VMM_PCI_WIN_MMIO32;
		second = want->prefetch ? VMM_PCI_WIN_MMIO32 : VMM_PCI_WIN_MMIO64;
	}
	ret = vmm_pci_window_alloc(&win[first], want->size, want->io ? 4 : PAGE, &want->addr);
	if (ret == -ENOSPC && second != first)
		ret = vmm_pci_window_alloc(&win[second], want->size, PAGE, &want->addr);
	if (!ret)
		return 0;
	if (ret == -EINVAL)
		return bp_error_set(err, ret, NULL,
				    "a BAR of %#" PRIx64 " bytes is not a power of two",
				    want->size);
	full = win[first].base == win[first].end ? &win[second] : &win[first];
	return bp_error_set(err, ret, "assign fewer devices to this guest",
			    "no room for a BAR of %" PRIu64 " KiB: the %s window %#" PRIx64
			    "-%#" PRIx64 " has %" PRIu64 " KiB left",
			    (want->size + 1023) / 1024, full->name, full->base, full->end,
			    vmm_pci_window_left(full) / 1024);
}

static void unplace(struct vmm_pci_window *win, uint64_t addr, bool io)
{
	if (io) {
		vmm_pci_window_free(&win[VMM_PCI_WIN_IO], addr);
		return;
	}
	vmm_pci_window_free(&win[VMM_PCI_WIN_MMIO32], addr);
	vmm_pci_window_free(&win[VMM_PCI_WIN_MMIO64], addr);
}

int vmm_pci_place(struct vmm_pci_window *win, struct vmm_pci_want *want, unsigned int nr,
		  struct bp_error *err)
{
	bool done[VMM_PCI_RANGES_MAX] = { false };
	int ret;

	if (nr > VMM_PCI_RANGES_MAX)
		return -EINVAL;
	for (;;) {
		unsigned int best = nr;

		for (unsigned int i = 0; i < nr; i++)
			if (!done[i] && want[i].size &&
			    (best == nr || want[i].size > want[best].size))
				best = i;
		if (best == nr)
			return 0;
		ret = place_one(win, &want[best], err);
		if (ret)
			break;
		done[best] = true;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (done[i])
			unplace(win, want[i].addr, want[i].io);
	return ret;
}
