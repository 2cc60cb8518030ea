/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The page attribute table: eight types, and the three bits of a page-table
 * entry that choose among them.
 */
#ifndef MT_PAT_H
#define MT_PAT_H

#include <mt/types.h>

#define MT_PAT_ENTRIES 8

/* What Linux programs (arch/x86/mm/pat/memtype.c): WB WC UC- UC WB WP UC- WT. */
#define MT_PAT_LINUX 0x0407050600070106ull

/* Every index means WB: on SVM the substitute for VMX's IPAT. */
#define MT_PAT_ALL_WB 0x0606060606060606ull

/** enum mt_level - which page a leaf maps; the PAT bit moves with it. */
enum mt_level {
	MT_4K = 1,
	MT_2M = 2,
	MT_1G = 3,
};

#define MT_PTE_PWT	 (1ull << 3)
#define MT_PTE_PCD	 (1ull << 4)
#define MT_PTE_PAT	 (1ull << 7)
#define MT_PTE_PAT_LARGE (1ull << 12)

/**
 * mt_pat_valid() - whether a PAT value may be written.
 * @pat: all eight bytes.
 *
 * Source: Intel SDM vol. 3 "IA32_PAT MSR"; APM vol. 2 7.8.1.
 *
 * Return: true when each byte is UC, WC, WT, WP, WB or UC-.
 */
bool mt_pat_valid(uint64_t pat);

/**
 * mt_pat_entry() - type at an index.
 * @pat: valid PAT value.
 * @index: 0 to 7; higher bits are ignored.
 *
 * Return: the type.
 */
enum mt_type mt_pat_entry(uint64_t pat, unsigned int index);

/**
 * mt_pat_replace() - the same table with one entry changed.
 * @pat: PAT value.
 * @index: 0 to 7; higher bits are ignored.
 * @type: a type that a PAT entry can hold.
 *
 * Return: the new value.
 */
uint64_t mt_pat_replace(uint64_t pat, unsigned int index, enum mt_type type);

/**
 * mt_pat_find() - an index that means the wanted type.
 * @pat: PAT value.
 * @type: wanted type.
 *
 * Return: the lowest such index, so that the PAT bit stays clear where it can;
 * -ENOENT when the table has no such entry, as the reset value has no WC.
 */
int mt_pat_find(uint64_t pat, enum mt_type type);

/**
 * mt_pte_index() - PAT index that a leaf entry chooses.
 * @pte: entry that maps a page.
 * @level: size of that page.
 *
 * PAT, PCD, PWT from high to low; PAT is bit 7 of a 4 KiB entry and bit 12 of a
 * larger one, where bit 7 is the page-size bit. Source: Intel SDM vol. 3 "Selecting a
 * Memory Type from the PAT"; APM vol. 2 7.8.2 and 5.4.1.
 *
 * Return: 0 to 7.
 */
unsigned int mt_pte_index(uint64_t pte, enum mt_level level);

/**
 * mt_table_index() - PAT index used to read the table that an entry points to.
 * @entry: CR3 or an entry that maps no page.
 *
 * Return: 0 to 3: such entries have PCD and PWT but no PAT bit.
 */
unsigned int mt_table_index(uint64_t entry);

/**
 * mt_pte_with_index() - the same leaf entry choosing another index.
 * @pte: entry that maps a page.
 * @level: size of that page.
 * @index: 0 to 7; higher bits are ignored.
 *
 * Return: the entry, all other bits kept.
 */
uint64_t mt_pte_with_index(uint64_t pte, enum mt_level level, unsigned int index);

#endif
