// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include <mt/combine.h>

/* Places of the types in the tables below: rows UC WC WT WP WB, columns with UC- and WC+ too. */
enum {
	P_UC,
	P_UCM,
	P_WC,
	P_WCP,
	P_WT,
	P_WP,
	P_WB,
	PLACES,
};

static const uint8_t place[] = {
	[MT_UC] = P_UC, [MT_UC_MINUS] = P_UCM, [MT_WC] = P_WC, [MT_WC_PLUS] = P_WCP,
	[MT_WT] = P_WT, [MT_WP] = P_WP,	       [MT_WB] = P_WB,
};

#define UC  MT_UC
#define UCM MT_UC_MINUS
#define WC  MT_WC
#define WCP MT_WC_PLUS
#define WT  MT_WT
#define WP  MT_WP
#define WB  MT_WB
#define CD  MT_CD

/* clang-format off */

/* Rows MTRR, columns PAT. Intel has no WC+; that column is never asked. */
static const uint8_t intel[PLACES][PLACES] = {
	/*          UC  UC- WC  WC+ WT  WP  WB */
	[P_UC] = { UC, UC, WC, WC, UC, UC, UC },
	[P_WC] = { UC, WC, WC, WC, UC, UC, WC },
	[P_WT] = { UC, UC, WC, WC, WT, WP, WT },
	[P_WP] = { UC, WC, WC, WC, WT, WP, WP },
	[P_WB] = { UC, UC, WC, WC, WT, WP, WB },
};

static const uint8_t amd[PLACES][PLACES] = {
	/*          UC  UC- WC  WC+  WT  WP  WB */
	[P_UC] = { UC, UC, WC, WC,  UC, UC, UC },
	[P_WC] = { CD, WC, WC, WC,  CD, CD, WC },
	[P_WT] = { CD, CD, WC, WCP, WT, CD, WT },
	[P_WP] = { CD, CD, WC, WCP, CD, WP, WP },
	[P_WB] = { CD, CD, WC, WCP, WT, WP, WB },
};

/* Rows guest, columns host. */
static const uint8_t nested[PLACES][PLACES] = {
	/*           UC  UC-  WC  WC+ WT   WP   WB */
	[P_UC]  = { UC, UC,  UC, UC, UC,  UC,  UC },
	[P_UCM] = { UC, UCM, WC, WC, UC,  UC,  UC },
	[P_WC]  = { WC, WC,  WC, WC, WCP, WCP, WCP },
	[P_WP]  = { UC, UC,  UC, UC, UC,  WP,  WP },
	[P_WT]  = { UC, UC,  UC, UC, WT,  UC,  WT },
	[P_WB]  = { UC, UC,  WC, WC, WT,  WP,  WB },
};

/* clang-format on */

static uint32_t intel_notes(enum mt_type mtrr, enum mt_type pat, enum mt_type type)
{
	uint32_t notes = 0;

	if (type == MT_UC)
		notes |= mtrr == MT_UC ? MT_NOTE_NO_SNOOP : MT_NOTE_SNOOP;
	if ((mtrr == MT_WC && (pat == MT_WT || pat == MT_WP)) || (mtrr == MT_WT && pat == MT_WP) ||
	    (mtrr == MT_WP && (pat == MT_UC_MINUS || pat == MT_WT)))
		notes |= MT_NOTE_ONCE_UNDEF;
	return notes;
}

int mt_combine_intel(enum mt_type mtrr, enum mt_type pat, struct mt_effective *out)
{
	if (!mt_type_in_mtrr(mtrr) || !mt_type_in_pat(pat))
		return -EINVAL;
	out->type = (enum mt_type)intel[place[mtrr]][place[pat]];
	out->notes = intel_notes(mtrr, pat, out->type);
	return 0;
}

int mt_combine_amd(enum mt_type mtrr, enum mt_type pat, struct mt_effective *out)
{
	if (!mt_type_in_mtrr(mtrr) || (!mt_type_in_pat(pat) && pat != MT_WC_PLUS))
		return -EINVAL;
	out->type = (enum mt_type)amd[place[mtrr]][place[pat]];
	out->notes = 0;
	if (out->type == MT_CD)
		out->notes |= MT_NOTE_CD;
	if (out->type == MT_WC_PLUS)
		out->notes |= MT_NOTE_WC_PLUS;
	/* APM table 7-8, the reset PAT, where PCD=1 PWT=0 is UC-. */
	if (mtrr == MT_WC && pat == MT_UC_MINUS)
		out->notes |= MT_NOTE_IMPL;
	return 0;
}

int mt_combine(enum mt_vendor vendor, enum mt_type mtrr, enum mt_type pat, struct mt_effective *out)
{
	return vendor == MT_AMD ? mt_combine_amd(mtrr, pat, out) : mt_combine_intel(mtrr, pat, out);
}

int mt_combine_ept(enum mt_type leaf, bool ipat, enum mt_type pat, bool cache_disabled,
		   struct mt_effective *out)
{
	if (!mt_type_in_mtrr(leaf) || !mt_type_in_pat(pat))
		return -EINVAL;
	if (cache_disabled) {
		*out = (struct mt_effective){ MT_UC, MT_NOTE_CACHE_OFF };
		return 0;
	}
	if (ipat) {
		*out = (struct mt_effective){ leaf, MT_NOTE_IPAT };
		return 0;
	}
	return mt_combine_intel(leaf, pat, out);
}

int mt_combine_npt_pat(enum mt_type guest, enum mt_type host, enum mt_type *out)
{
	if (!mt_type_in_pat(guest) || !mt_type_in_pat(host))
		return -EINVAL;
	*out = (enum mt_type)nested[place[guest]][place[host]];
	return 0;
}

int mt_combine_npt(enum mt_type guest, enum mt_type host, enum mt_type mtrr, bool guest_cd,
		   bool host_cd, struct mt_effective *out)
{
	enum mt_type both;
	int ret = mt_combine_npt_pat(guest, host, &both);

	if (ret)
		return ret;
	ret = mt_combine_amd(mtrr, both, out);
	if (!ret && (guest_cd || host_cd))
		*out = (struct mt_effective){ MT_CD, MT_NOTE_CACHE_OFF | MT_NOTE_CD };
	return ret;
}
