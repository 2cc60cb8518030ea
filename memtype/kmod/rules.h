/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * What the module decides, without a kernel around it: which kernels it knows, which
 * ranges it takes, which leaf gets which type. The same file compiles in user space.
 */
#ifndef KM_RULES_H
#define KM_RULES_H

#include <mt/leaf.h>
#include <mt/pat.h>

#include "kvm_memtype.h"

#define KM_PAGE_SHIFT 12
#define KM_RANGES_MAX 512

/**
 * enum km_kernel - families of kernels with the same make_spte().
 * @KM_UNKNOWN: not known; nothing may be hooked.
 * @KM_ARGS_LEVEL: (vcpu, pte_access, level, gfn, pfn, old_spte, ..., new_spte), returns int.
 * @KM_ARGS_SP: (vcpu, sp, slot, pte_access, gfn, pfn, old_spte, ..., new_spte).
 */
enum km_kernel {
	KM_UNKNOWN,
	KM_ARGS_LEVEL,
	KM_ARGS_SP,
};

/**
 * km_kernel_of() - family of a release.
 * @version: as LINUX_VERSION_CODE: major << 16, minor << 8, patch.
 *
 * Known are the series whose arch/x86/kvm/mmu/spte.c and mmu.c were read and run: 5.10, 6.1
 * and 6.12.
 *
 * Return: the family.
 */
enum km_kernel km_kernel_of(uint32_t version);

/**
 * enum km_format - format of a leaf.
 * @KM_EPT: type in bits 5:3, IPAT in bit 6.
 * @KM_PAT: an ordinary page-table entry, nested or shadow: an index into the host's PAT.
 * @KM_NO_TYPE: an ordinary entry that is read with the guest's own PAT (VMX without EPT): it
 *              cannot carry a type.
 */
enum km_format {
	KM_EPT,
	KM_PAT,
	KM_NO_TYPE,
};

/**
 * km_types() - types that leaves can have.
 * @format: of the leaves.
 * @host_pat: IA32_PAT of the host.
 *
 * Return: bit n for encoding n, as struct kvm_memtype_info.types.
 */
uint32_t km_types(enum km_format format, uint64_t host_pat);

/**
 * km_ranges_check() - whether a set of ranges may be set.
 * @r: ranges.
 * @nr: how many.
 * @format: of the leaves.
 * @types: from km_types().
 *
 * Rules: those of struct kvm_memtype_range and struct kvm_memtype_set.
 *
 * Return: 0; -E2BIG for more than KM_RANGES_MAX; -EINVAL.
 */
int km_ranges_check(const struct kvm_memtype_range *r, uint32_t nr, enum km_format format,
		    uint32_t types);

/**
 * km_ranges_has() - whether a set has exactly this range.
 * @r: ranges that km_ranges_check() accepted.
 * @nr: how many.
 * @want: range.
 *
 * O(log nr). What one set has and the other has not is what must be zapped when the other
 * replaces it.
 *
 * Return: true when address, size, type and flags are the same.
 */
bool km_ranges_has(const struct kvm_memtype_range *r, uint32_t nr,
		   const struct kvm_memtype_range *want);

/** enum km_hit - how a page lies. */
enum km_hit {
	KM_OUTSIDE,   /* of all ranges */
	KM_INSIDE,    /* of one */
	KM_STRADDLES, /* an edge */
};

/**
 * km_ranges_find() - range of a page.
 * @r: ranges that km_ranges_check() accepted.
 * @nr: how many.
 * @gpa: address of the page, aligned to @size.
 * @size: its size in bytes; @gpa + @size - 1 does not wrap.
 * @found: receives the range for KM_INSIDE.
 *
 * O(log nr).
 *
 * Return: how the page lies.
 */
enum km_hit km_ranges_find(const struct kvm_memtype_range *r, uint32_t nr, uint64_t gpa,
			   uint64_t size, const struct kvm_memtype_range **found);

/**
 * struct km_leaf - what the probe knows about a leaf.
 * @kernel: family of the kernel.
 * @spte: entry as KVM made it.
 * @gfn: guest frame that KVM was asked for.
 * @pfn: host frame that KVM was asked for.
 * @level: level that KVM said (1 to 3); 0 when that is not known.
 */
struct km_leaf {
	enum km_kernel kernel;
	uint64_t spte;
	uint64_t gfn;
	uint64_t pfn;
	unsigned int level;
};

/**
 * km_leaf_level() - size of the page that a leaf maps, if it is one.
 * @leaf: what is known.
 *
 * Nothing is taken for granted that can be verified: the entry must be marked present in
 * the way of this kernel's KVM (never so is a marker of emulated MMIO), hold the frame that
 * KVM was asked for, have the page-size bit exactly when the level is above 1, and map
 * aligned frames.
 *
 * Return: the level, 1 to 3; -EINVAL when anything does not fit.
 */
int km_leaf_level(const struct km_leaf *leaf);

/**
 * km_leaf_apply() - give a leaf a type.
 * @spte: entry as KVM made it.
 * @level: from km_leaf_level().
 * @range: range that the page is in.
 * @format: of the leaf.
 * @host_pat: IA32_PAT of the host.
 * @out: receives the entry.
 *
 * An index above 3 sets bit 12 of a large leaf, which KVM takes for an address bit
 * (spte_to_pfn() in arch/x86/kvm/mmu/spte.h): such a leaf is refused.
 *
 * Return: 0; -ERANGE for such a leaf; -EINVAL or -ENOENT when the type cannot be had.
 */
int km_leaf_apply(uint64_t spte, int level, const struct kvm_memtype_range *range,
		  enum km_format format, uint64_t host_pat, uint64_t *out);

#endif
