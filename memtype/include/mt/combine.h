/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The effective type of an access: what the processor makes of an MTRR and a
 * PAT type, with and without a second level of paging.
 */
#ifndef MT_COMBINE_H
#define MT_COMBINE_H

#include <mt/types.h>

/*
 * What else is to be said of a cell, bit by bit. The first three are the
 * numbered notes of Intel's table.
 */
#define MT_NOTE_NO_SNOOP    (1u << 0) /* UC by MTRR: caches need not be looked at */
#define MT_NOTE_SNOOP	    (1u << 1) /* UC by page table: caches are snooped */
#define MT_NOTE_ONCE_UNDEF  (1u << 2) /* older manuals left it undefined; all processors agree */
#define MT_NOTE_IMPL	    (1u << 3) /* AMD: dependent on the implementation with the reset PAT */
#define MT_NOTE_CD	    (1u << 4) /* CD: uncached, cached copies are written back first */
#define MT_NOTE_WC_PLUS	    (1u << 5) /* WC+: write-combined, caches are probed */
#define MT_NOTE_IPAT	    (1u << 6) /* the guest's PAT was ignored */
#define MT_NOTE_CACHE_OFF   (1u << 7) /* CR0.CD decided */

/**
 * struct mt_effective - a type and what is to be known about it.
 * @type: effective type; CD and WC+ occur on AMD only.
 * @notes: MT_NOTE_ bits.
 */
struct mt_effective {
	enum mt_type type;
	uint32_t notes;
};

/**
 * mt_combine_intel() - effective type on bare metal, Intel.
 * @mtrr: UC, WC, WT, WP or WB.
 * @pat: these, or UC-.
 * @out: receives the type.
 *
 * CR0.CD clear. Source: Intel SDM vol. 3 "Effective Page-Level Memory Types for
 * Pentium III and More Recent Processor Families".
 *
 * Return: 0, or -EINVAL for a type that cannot stand there.
 */
int mt_combine_intel(enum mt_type mtrr, enum mt_type pat, struct mt_effective *out);

/**
 * mt_combine_amd() - effective type on bare metal, AMD, and the second step of NPT.
 * @mtrr: UC, WC, WT, WP or WB.
 * @pat: these, or UC-, or WC+ as the first step of NPT gives it.
 * @out: receives the type.
 *
 * CR0.CD clear. Source: APM vol. 2 7.8.5 table 7-11, 15.25.8 table 15-20.
 *
 * Return: 0, or -EINVAL for a type that cannot stand there.
 */
int mt_combine_amd(enum mt_type mtrr, enum mt_type pat, struct mt_effective *out);

/**
 * mt_combine() - one of the two above.
 * @vendor: whose table.
 * @mtrr: MTRR type.
 * @pat: PAT type.
 * @out: receives the type.
 *
 * Return: as they do.
 */
int mt_combine(enum mt_vendor vendor, enum mt_type mtrr, enum mt_type pat,
	       struct mt_effective *out);

/**
 * mt_combine_ept() - effective type of a guest-physical access under EPT.
 * @leaf: type in the EPT leaf.
 * @ipat: IPAT in the EPT leaf.
 * @pat: guest's PAT type; WB while the guest's CR0.PG is clear.
 * @cache_disabled: CR0.CD of the processor. KVM keeps that bit for the host, so a
 *                  guest's own CR0.CD does not count here.
 * @out: receives the type.
 *
 * The machine's MTRRs have no say in it. Source: Intel SDM vol. 3 "Memory Type Used
 * for Translated Guest-Physical Addresses".
 *
 * Return: 0, or -EINVAL for a type that cannot stand there.
 */
int mt_combine_ept(enum mt_type leaf, bool ipat, enum mt_type pat, bool cache_disabled,
		   struct mt_effective *out);

/**
 * mt_combine_npt_pat() - first step of NPT: the two page tables.
 * @guest: type by the guest's PAT (VMCB G_PAT); WB while its CR0.PG is clear.
 * @host: type of the nested leaf by the host's PAT.
 * @out: receives UC, UC-, WC, WC+, WT, WP or WB, to be combined with the MTRR type of
 *       the system-physical address by mt_combine_amd().
 *
 * Source: APM vol. 2 15.25.8 table 15-19.
 *
 * Return: 0, or -EINVAL for a type that no PAT entry holds.
 */
int mt_combine_npt_pat(enum mt_type guest, enum mt_type host, enum mt_type *out);

/**
 * mt_combine_npt() - effective type of a guest access under nested paging.
 * @guest: type by the guest's PAT.
 * @host: type of the nested leaf by the host's PAT.
 * @mtrr: type by the machine's MTRRs for the system-physical address.
 * @guest_cd: CR0.CD as the VMCB holds it (KVM clears it unless its quirk
 *            CD_NW_CLEARED is off).
 * @host_cd: CR0.CD of the host; either one disables caching.
 * @out: receives the type.
 *
 * With CR0.CD set the page's and the range's types are not looked at (APM vol. 2
 * 7.6.2), and the result is CD.
 *
 * Return: 0, or -EINVAL for a type that cannot stand there.
 */
int mt_combine_npt(enum mt_type guest, enum mt_type host, enum mt_type mtrr, bool guest_cd,
		   bool host_cd, struct mt_effective *out);

#endif
