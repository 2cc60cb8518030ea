// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include <mt/leaf.h>

int mt_ept_decode(uint64_t leaf, enum mt_type *type, bool *ipat)
{
	unsigned int encoding = (leaf & MT_EPT_TYPE_BITS) >> MT_EPT_TYPE_SHIFT;

	if (!mt_type_in_mtrr(encoding))
		return -EINVAL;
	*type = (enum mt_type)encoding;
	*ipat = leaf & MT_EPT_IPAT;
	return 0;
}

int mt_ept_encode(uint64_t leaf, enum mt_type type, bool ipat, uint64_t *out)
{
	if (!mt_type_in_mtrr(type))
		return -EINVAL;
	leaf &= ~(MT_EPT_TYPE_BITS | MT_EPT_IPAT);
	*out = leaf | (uint64_t)type << MT_EPT_TYPE_SHIFT | (ipat ? MT_EPT_IPAT : 0);
	return 0;
}

enum mt_type mt_npt_decode(uint64_t leaf, enum mt_level level, uint64_t host_pat)
{
	return mt_pat_entry(host_pat, mt_pte_index(leaf, level));
}

int mt_npt_encode(uint64_t leaf, enum mt_level level, enum mt_type type, uint64_t host_pat,
		  uint64_t *out)
{
	int index = mt_pat_find(host_pat, type);

	if (index < 0)
		return index;
	*out = mt_pte_with_index(leaf, level, (unsigned int)index);
	return 0;
}
