/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What oracle.c asks and native.c does on Bochs: a list of 64-bit words on the disk,
 * from sector NATIVE_SECTOR on.
 *
 *   NATIVE_MAGIC, number of words that follow, then operations:
 *   NATIVE_WRITES n, then n times MSR, value: WRMSR and RDMSR. One line is printed:
 *     "w", one '0' (fine) or '1' (#GP) for each, and native_mix() of all that was read.
 *   NATIVE_STORES n, then n times page-table entry, value: each entry maps a page of its
 *     own, the TLB is flushed, and between two magic breakpoints each value is stored.
 *   NATIVE_CACHES 0 or 1: CR0.CD set or clear.
 *   NATIVE_END
 *
 * The kind is in the low byte of a word, the number above it.
 */
#ifndef LAB_BOCHS_NATIVE_H
#define LAB_BOCHS_NATIVE_H

#include <stdint.h>

#define NATIVE_SECTOR	  128u
#define NATIVE_MAGIC	  0x3176697461326c62ull
#define NATIVE_ADDR	  0x1000000ull /* where the list lies meanwhile */
#define NATIVE_WORDS_MAX  (1u << 19)
#define NATIVE_STORES_MAX 512u /* as many as a page table has entries */

enum native_kind {
	NATIVE_END = 0,
	NATIVE_WRITES = 1,
	NATIVE_STORES = 2,
	NATIVE_CACHES = 3,
};

/* Order counts: what was read back by a series of RDMSR. */
static inline uint64_t native_mix(uint64_t sum, uint64_t value)
{
	sum = (sum ^ value) * 0x9e3779b97f4a7c15ull;
	return sum ^ sum >> 29;
}

/*
 * Whether a store to this page leaves alone what runs on the machine: page tables and
 * program in low memory, its stack, the list, the registers of interrupt controllers.
 */
static inline int native_page_is_free(uint64_t page)
{
	return page >= 0xa000 && !(page >= 0x10000 && page < 0x30000) &&
	       !(page >= 0x9e000 && page < 0xa0000) &&
	       !(page >= NATIVE_ADDR && page < NATIVE_ADDR + 8ull * NATIVE_WORDS_MAX) &&
	       !(page >= 0xfec00000 && page < 0xff000000);
}

#endif
