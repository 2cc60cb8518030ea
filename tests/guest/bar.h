/* SPDX-License-Identifier: GPL-2.0-only */
/* A BAR of an assigned function, mapped into this process as a driver in user space has it. */
#ifndef BP_TESTS_GUEST_BAR_H
#define BP_TESTS_GUEST_BAR_H

#include "guest.h"

/**
 * struct bar - one BAR.
 * @bdf: its function. @index: number.
 * @start: guest-physical address. @size: bytes.
 * @map: the mapping, NULL while there is none. @wc: it is made through resourceN_wc.
 * @scratch: offset of a register that keeps what is written, ~0 for none.
 * @reads, @writes: accesses so far.
 * @wrong: how often the scratch register did not hold what was written.
 */
struct bar {
	char bdf[32];
	unsigned int index;
	uint64_t start, size;
	volatile unsigned char *map;
	bool wc;
	uint64_t scratch;
	uint64_t reads, writes, wrong;
};

/**
 * bar_find - the BAR that parameters "pci" (or "driver") and "bar" name
 *
 * Without "pci" and "driver" it is the first function that is no bridge. A function without
 * a driver is enabled, so that its registers answer.
 * Return: 0, or a negative errno after an error line.
 */
int bar_find(const struct guest *g, struct bar *b);

/**
 * bar_map - map all of it
 * @wc: through resourceN_wc, which exists only in a kernel with PAT; else the page table says UC-
 *
 * A kernel with IO_STRICT_DEVMEM refuses while a driver is bound, unless booted with
 * iomem=relaxed.
 * Return: 0, or a negative errno after an error line.
 */
int bar_map(const struct guest *g, struct bar *b, bool wc);

/** bar_unmap - undo bar_map(). */
void bar_unmap(struct bar *b);

/**
 * bar_touch - read a word of each page, from each CPU in turn, and use the scratch register
 *
 * So every page has a leaf afterwards.
 */
void bar_touch(struct bar *b);

#endif
