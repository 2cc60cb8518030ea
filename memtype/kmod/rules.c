// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "rules.h"

/* Bits of KVM's entries; arch/x86/kvm/mmu/spte.h of the kernels named. */
#define SPTE_PAGE_SIZE	 (1ull << 7)
#define SPTE_PRESENT	 (1ull << 11) /* SPTE_MMU_PRESENT_MASK, from 5.13 on */
#define SPTE_SPECIAL	 (3ull << 52) /* SPTE_SPECIAL_MASK of 5.10: both set is SPTE_MMIO_MASK */
#define SPTE_FRAME	 ((1ull << 47) - (1ull << KM_PAGE_SHIFT))
/* SPTE_FRAME leaves out bits that memory encryption may use. */

enum km_kernel km_kernel_of(uint32_t version)
{
	switch (version >> 8) {
	case 5 << 8 | 10:
		return KM_ARGS_LEVEL;
	case 6 << 8 | 1:
	case 6 << 8 | 12:
		return KM_ARGS_SP;
	default:
		return KM_UNKNOWN;
	}
}

uint32_t km_types(enum km_format format, uint64_t host_pat)
{
	uint32_t types = 0;
	unsigned int t;

	for (t = 0; t <= MT_WB; t++) {
		if (!mt_type_in_mtrr(t) || format == KM_NO_TYPE)
			continue;
		if (format == KM_EPT || mt_pat_find(host_pat, (enum mt_type)t) >= 0)
			types |= 1u << t;
	}
	return types;
}

static bool range_valid(const struct kvm_memtype_range *r, enum km_format format, uint32_t types)
{
	const uint64_t offset = (1ull << KM_PAGE_SHIFT) - 1;

	if (!r->size || (r->gpa | r->size) & offset || r->gpa + r->size < r->gpa)
		return false;
	if (r->type > MT_WB || !(types & 1u << r->type))
		return false;
	return !(r->flags & ~KVM_MEMTYPE_IPAT) && (!r->flags || format == KM_EPT);
}

int km_ranges_check(const struct kvm_memtype_range *r, uint32_t nr, enum km_format format,
		    uint32_t types)
{
	uint32_t i;

	if (nr > KM_RANGES_MAX)
		return -E2BIG;
	for (i = 0; i < nr; i++) {
		if (!range_valid(&r[i], format, types))
			return -EINVAL;
		if (i && r[i].gpa < r[i - 1].gpa + r[i - 1].size)
			return -EINVAL;
	}
	return 0;
}

/* First range that ends above an address; nr when none does. */
static uint32_t first_above(const struct kvm_memtype_range *r, uint32_t nr, uint64_t gpa)
{
	uint32_t lo = 0, hi = nr;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (r[mid].gpa + r[mid].size > gpa)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

bool km_ranges_has(const struct kvm_memtype_range *r, uint32_t nr,
		   const struct kvm_memtype_range *want)
{
	uint32_t i = first_above(r, nr, want->gpa);

	return i < nr && r[i].gpa == want->gpa && r[i].size == want->size &&
	       r[i].type == want->type && r[i].flags == want->flags;
}

enum km_hit km_ranges_find(const struct kvm_memtype_range *r, uint32_t nr, uint64_t gpa,
			   uint64_t size, const struct kvm_memtype_range **found)
{
	const uint64_t last = gpa + size - 1;
	uint32_t i = first_above(r, nr, gpa);

	if (i == nr || r[i].gpa > last)
		return KM_OUTSIDE;
	if (r[i].gpa > gpa || r[i].gpa + r[i].size - 1 < last)
		return KM_STRADDLES;
	*found = &r[i];
	return KM_INSIDE;
}

static bool present(const struct km_leaf *leaf)
{
	if (leaf->kernel == KM_ARGS_LEVEL)
		return leaf->spte && (leaf->spte & SPTE_SPECIAL) != SPTE_SPECIAL;
	return leaf->spte & SPTE_PRESENT;
}

int km_leaf_level(const struct km_leaf *leaf)
{
	const bool large = leaf->spte & SPTE_PAGE_SIZE;
	uint64_t offset;

	if (!present(leaf) || (leaf->spte ^ leaf->pfn << KM_PAGE_SHIFT) & SPTE_FRAME)
		return -EINVAL;
	if (!large)
		return leaf->level <= MT_4K ? MT_4K : -EINVAL;
	if (leaf->level != MT_2M && leaf->level != MT_1G)
		return -EINVAL;
	offset = (1ull << 9 * (leaf->level - 1)) - 1;
	return (leaf->gfn | leaf->pfn) & offset ? -EINVAL : (int)leaf->level;
}

int km_leaf_apply(uint64_t spte, int level, const struct kvm_memtype_range *range,
		  enum km_format format, uint64_t host_pat, uint64_t *out)
{
	const enum mt_type type = (enum mt_type)range->type;
	int index;

	switch (format) {
	case KM_EPT:
		return mt_ept_encode(spte, type, range->flags & KVM_MEMTYPE_IPAT, out);
	case KM_PAT:
		index = mt_pat_find(host_pat, type);
		if (level > MT_4K && index > 3)
			return -ERANGE;
		return mt_npt_encode(spte, (enum mt_level)level, type, host_pat, out);
	default:
		return -EINVAL;
	}
}
