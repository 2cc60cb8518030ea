// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include <mt/pat.h>

bool mt_pat_valid(uint64_t pat)
{
	for (unsigned int i = 0; i < MT_PAT_ENTRIES; i++)
		if (!mt_type_in_pat(pat >> (8 * i) & 0xff))
			return false;
	return true;
}

enum mt_type mt_pat_entry(uint64_t pat, unsigned int index)
{
	return (enum mt_type)(pat >> (8 * (index & 7)) & 7);
}

uint64_t mt_pat_replace(uint64_t pat, unsigned int index, enum mt_type type)
{
	const unsigned int shift = 8 * (index & 7);

	return (pat & ~(0xffull << shift)) | (uint64_t)type << shift;
}

int mt_pat_find(uint64_t pat, enum mt_type type)
{
	for (unsigned int i = 0; i < MT_PAT_ENTRIES; i++)
		if (mt_pat_entry(pat, i) == type)
			return (int)i;
	return -ENOENT;
}

static uint64_t pat_bit(enum mt_level level)
{
	return level == MT_4K ? MT_PTE_PAT : MT_PTE_PAT_LARGE;
}

unsigned int mt_table_index(uint64_t entry)
{
	return (entry & MT_PTE_PWT ? 1 : 0) | (entry & MT_PTE_PCD ? 2 : 0);
}

unsigned int mt_pte_index(uint64_t pte, enum mt_level level)
{
	return mt_table_index(pte) | (pte & pat_bit(level) ? 4 : 0);
}

uint64_t mt_pte_with_index(uint64_t pte, enum mt_level level, unsigned int index)
{
	pte &= ~(MT_PTE_PWT | MT_PTE_PCD | pat_bit(level));
	return pte | (index & 1 ? MT_PTE_PWT : 0) | (index & 2 ? MT_PTE_PCD : 0) |
	       (index & 4 ? pat_bit(level) : 0);
}
