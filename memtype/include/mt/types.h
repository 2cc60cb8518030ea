/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Memory types and the MSRs that carry them.
 *
 * Freestanding: nothing here does I/O or allocates, so that user space and a
 * kernel module compile the same files.
 */
#ifndef MT_TYPES_H
#define MT_TYPES_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

/*
 * Encodings of MTRRs and PAT entries (Intel SDM vol. 3 "Memory Types That Can
 * Be Encoded With MTRRs" and "With PAT"; AMD APM vol. 2 7.7 and 7.8). 2 and 3
 * are reserved; 7 exists in the PAT only.
 */
enum mt_type {
	MT_UC = 0,
	MT_WC = 1,
	MT_WT = 4,
	MT_WP = 5,
	MT_WB = 6,
	MT_UC_MINUS = 7,
	/* Results only, on AMD; no register holds them (APM vol. 2 7.4.1 and 15.25.8). */
	MT_CD = 8,	/* uncached, but a hit in a cache is written back or dropped first */
	MT_WC_PLUS = 9, /* write combining that also probes the caches */
};

/** enum mt_vendor - whose rules apply. */
enum mt_vendor {
	MT_INTEL,
	MT_AMD,
};

/**
 * mt_type_name() - "UC", "UC-", "WC", "WC+", "WT", "WP", "WB" or "CD".
 * @type: any type; a reserved encoding gives "?".
 *
 * Return: static text.
 */
const char *mt_type_name(enum mt_type type);

/**
 * mt_type_parse() - the type of a name, as users write it.
 * @name: one of UC UC- WC WT WP WB, the types that a register can hold.
 * @out: the type.
 *
 * Return: 0, or -EINVAL for any other text.
 */
int mt_type_parse(const char *name, enum mt_type *out);

/**
 * mt_type_in_mtrr() - whether an MTRR may hold this encoding.
 * @encoding: the whole 8-bit field.
 *
 * Source: Intel SDM vol. 3 "Memory Types That Can Be Encoded in MTRRs"; APM vol. 2 7.7.1.
 *
 * Return: true for UC, WC, WT, WP and WB.
 */
bool mt_type_in_mtrr(unsigned int encoding);

/**
 * mt_type_in_pat() - whether a PAT entry may hold this encoding.
 * @encoding: the whole 8-bit field.
 *
 * Source: Intel SDM vol. 3 "Memory Types That Can Be Encoded With PAT"; APM vol. 2 7.8.1.
 *
 * Return: true for UC, WC, WT, WP, WB and UC-.
 */
bool mt_type_in_pat(unsigned int encoding);

#define MT_MSR_MTRRCAP	     0xfe
#define MT_MSR_PHYSBASE(n)   (0x200u + 2 * (n))
#define MT_MSR_PHYSMASK(n)   (0x201u + 2 * (n))
#define MT_MSR_FIX64K_00000  0x250
#define MT_MSR_FIX16K_80000  0x258
#define MT_MSR_FIX16K_A0000  0x259
#define MT_MSR_FIX4K_C0000   0x268 /* and 0x269 to 0x26f, 32 KiB each */
#define MT_MSR_PAT	     0x277
#define MT_MSR_DEF_TYPE	     0x2ff

#define MT_MTRRCAP_VALUE     0x508u /* WC, fixed ranges, 8 variable ranges: what KVM reports */
#define MT_VARIABLE_RANGES   8
#define MT_PHYSMASK_VALID    (1u << 11)
#define MT_DEF_TYPE_FE	     (1u << 10)
#define MT_DEF_TYPE_E	     (1u << 11)

#define MT_PAT_RESET 0x0007040600070406ull /* PA0..7: WB WT UC- UC, twice */

#endif
