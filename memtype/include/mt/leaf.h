/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The type bits of a second-level leaf: EPT carries a type, NPT an index into
 * the host's PAT.
 */
#ifndef MT_LEAF_H
#define MT_LEAF_H

#include <mt/pat.h>

#define MT_EPT_TYPE_SHIFT 3
#define MT_EPT_TYPE_BITS  (7ull << MT_EPT_TYPE_SHIFT)
#define MT_EPT_IPAT	  (1ull << 6)

/**
 * mt_ept_decode() - type and IPAT of an EPT leaf.
 * @leaf: entry that maps a page, of any size.
 * @type: receives the type.
 * @ipat: receives whether the guest's PAT is ignored.
 *
 * Source: Intel SDM vol. 3 "EPT and Memory Typing", tables of EPT entry formats, bits 5:3 and 6.
 *
 * Return: 0, or -EINVAL for a reserved type, an EPT misconfiguration.
 */
int mt_ept_decode(uint64_t leaf, enum mt_type *type, bool *ipat);

/**
 * mt_ept_encode() - put a type into an EPT leaf.
 * @leaf: entry to start from; its other bits are kept.
 * @type: UC, WC, WT, WP or WB.
 * @ipat: whether to ignore the guest's PAT.
 * @out: receives the entry; may be &leaf's own variable.
 *
 * Return: 0, or -EINVAL for a type that EPT cannot hold; *@out is unchanged then.
 */
int mt_ept_encode(uint64_t leaf, enum mt_type type, bool ipat, uint64_t *out);

/**
 * mt_npt_decode() - type that a nested leaf chooses on this host.
 * @leaf: nested entry that maps a page.
 * @level: size of that page; the PAT bit's place depends on it.
 * @host_pat: IA32_PAT of the host.
 *
 * Source: APM vol. 2 15.25.8.
 *
 * Return: the type.
 */
enum mt_type mt_npt_decode(uint64_t leaf, enum mt_level level, uint64_t host_pat);

/**
 * mt_npt_encode() - make a nested leaf choose a type.
 * @leaf: entry to start from; its other bits are kept.
 * @level: size of the page that it maps.
 * @type: UC, UC-, WC, WT, WP or WB.
 * @host_pat: IA32_PAT of the host; the index is looked up in it, never assumed.
 * @out: receives the entry.
 *
 * Return: 0, or -ENOENT when the host's PAT has no entry of that type; *@out is
 * unchanged then.
 */
int mt_npt_encode(uint64_t leaf, enum mt_level level, enum mt_type type, uint64_t host_pat,
		  uint64_t *out);

#endif
