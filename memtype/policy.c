// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include <mt/leaf.h>
#include <mt/policy.h>

/* In the first column of a rule: whichever type the guest's MTRRs say. In the second: that type. */
#define ANY 0xff

struct rule {
	uint8_t guest_mtrr;
	uint8_t type;
	uint8_t ipat;
	uint8_t stock;
};

/* The first rule that fits decides; each list ends with one that fits all. */
static const struct rule bar_by_kvm[] = { { ANY, MT_UC, false, true } };
static const struct rule ram_by_kvm[] = { { ANY, MT_WB, true, true } };
static const struct rule ram_nc_by_kvm[] = { { ANY, MT_WB, false, true } };
static const struct rule bar_by_module[] = {
	{ MT_WC, MT_WC, false, false },
	{ ANY, MT_UC, false, true },
};
static const struct rule ram_nc_by_module[] = {
	{ MT_WB, MT_WB, false, true },
	{ ANY, ANY, false, false },
};

static const struct rule *rules(const struct mt_leaf_case *c)
{
	bool module = c->mode == MT_MODE_MODULE;

	if (c->backing == MT_BAR)
		return module ? bar_by_module : bar_by_kvm;
	if (c->coherent)
		return ram_by_kvm;
	return module ? ram_nc_by_module : ram_nc_by_kvm;
}

struct mt_leaf_want mt_policy_leaf(const struct mt_leaf_case *c)
{
	const struct rule *r = rules(c);
	struct mt_leaf_want want;

	while (r->guest_mtrr != ANY && r->guest_mtrr != c->guest_mtrr)
		r++;
	want.type = r->type == ANY ? c->guest_mtrr : (enum mt_type)r->type;
	want.ipat = r->ipat;
	want.stock = r->stock;
	/* SVM's own leaf for a BAR is index 0, WB, and relies on the machine's MTRRs. */
	if (c->mode == MT_MODE_MODULE && c->backing == MT_BAR && c->vendor == MT_AMD &&
	    c->host_mtrr != MT_UC)
		want.stock = false;
	return want;
}

int mt_policy_apply(struct mt_leaf_want want, enum mt_vendor vendor, enum mt_level level,
		    uint64_t host_pat, uint64_t leaf, uint64_t *out)
{
	*out = leaf;
	if (want.stock)
		return 0;
	if (vendor == MT_INTEL)
		return mt_ept_encode(leaf, want.type, want.ipat, out);
	return mt_npt_encode(leaf, level, want.type, host_pat, out);
}

uint64_t mt_pat_lift(uint64_t pat)
{
	for (unsigned int i = 0; i < MT_PAT_ENTRIES; i++)
		if (mt_pat_entry(pat, i) == MT_UC_MINUS)
			pat = mt_pat_replace(pat, i, MT_WC);
	return pat;
}

int mt_policy_pat(const struct mt_pat_case *c, uint64_t *hw_pat)
{
	*hw_pat = c->guest_pat;
	if (c->mode == MT_MODE_PAT && c->wc_on_bar) {
		if (c->no_combining && !c->insist)
			return -EPERM;
		*hw_pat = mt_pat_lift(c->guest_pat);
	} else if (c->mode == MT_MODE_MODULE && c->vendor == MT_AMD && c->coherent &&
		   !c->bar_mapped) {
		*hw_pat = MT_PAT_ALL_WB;
	}
	return 0;
}
