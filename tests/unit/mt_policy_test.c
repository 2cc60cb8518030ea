// SPDX-License-Identifier: GPL-2.0-only
/* What the policy makes of a guest's wishes, and that no wish endangers the machine. */
#include <errno.h>

#include <mt/combine.h>
#include <mt/leaf.h>
#include <mt/policy.h>
#include "suite.h"

static const enum mt_type mtrrs[] = { MT_UC, MT_WC, MT_WT, MT_WP, MT_WB };
static const enum mt_type pats[] = { MT_UC, MT_UC_MINUS, MT_WC, MT_WT, MT_WP, MT_WB };

#define EACH(i, a) for (size_t i = 0; i < sizeof(a) / sizeof(*(a)); i++)

/* The type a store gets when KVM's leaf goes through the policy. */
static enum mt_type store(const struct mt_leaf_case *c, enum mt_type guest_pat)
{
	struct mt_leaf_want want = mt_policy_leaf(c);
	/* As KVM makes them: EPT UC for device pages, WB for RAM, IPAT if coherent; NPT index 0. */
	uint64_t leaf = c->vendor == MT_AMD    ? 0x67
			: c->backing == MT_BAR ? 0x07
			: c->coherent	       ? 0x77
					       : 0x37;
	struct mt_effective e;
	enum mt_type type;
	bool ipat;

	ck_assert_int_eq(mt_policy_apply(want, c->vendor, MT_4K, MT_PAT_LINUX, leaf, &leaf), 0);
	if (c->vendor == MT_AMD) {
		type = mt_npt_decode(leaf, MT_4K, MT_PAT_LINUX);
		ck_assert_int_eq(mt_combine_npt(guest_pat, type, c->host_mtrr, false, false, &e),
				 0);
	} else {
		ck_assert_int_eq(mt_ept_decode(leaf, &type, &ipat), 0);
		ck_assert_int_eq(mt_combine_ept(type, ipat, guest_pat, false, &e), 0);
	}
	return e.type;
}

START_TEST(a_legacy_guest_gets_wc_on_its_bar_with_the_module)
{
	for (int vendor = 0; vendor < 2; vendor++) {
		struct mt_leaf_case c = { MT_MODE_MODULE, vendor, MT_BAR, true, MT_WC, MT_UC };

		ck_assert_int_eq(store(&c, MT_UC_MINUS), MT_WC);
		ck_assert_int_eq(store(&c, MT_WB), MT_WC);
		ck_assert_int_eq(store(&c, MT_WC), MT_WC);
		ck_assert_int_eq(store(&c, MT_UC), MT_UC);
		c.mode = MT_MODE_OFF;
		ck_assert_int_eq(store(&c, MT_UC_MINUS), MT_UC);
		ck_assert_int_eq(store(&c, MT_WC), MT_WC);
		/* Outside the guest's WC range nothing but its PAT can combine. */
		c.mode = MT_MODE_MODULE;
		c.guest_mtrr = MT_UC;
		ck_assert_int_eq(store(&c, MT_UC_MINUS), MT_UC);
		ck_assert_int_eq(store(&c, MT_WC), MT_WC);
	}
}
END_TEST

START_TEST(a_bar_is_only_ever_uncached_or_combined)
{
	for (int vendor = 0; vendor < 2; vendor++) {
		for (int coherent = 0; coherent < 2; coherent++) {
			EACH(g, mtrrs)
			{
				EACH(p, pats)
				{
					EACH(h, mtrrs)
					{
						struct mt_leaf_case c = {
							MT_MODE_MODULE, vendor,	  MT_BAR,
							coherent,	mtrrs[g], mtrrs[h]
						};
						enum mt_type t = store(&c, pats[p]);

						/* CD: a host that has the BAR cacheable by MTRR. */
						ck_assert(t == MT_UC || t == MT_WC ||
							  (t == MT_CD && vendor == MT_AMD &&
							   mtrrs[h] != MT_UC));
						ck_assert(t != MT_WC || mtrrs[g] == MT_WC ||
							  pats[p] == MT_WC || mtrrs[h] == MT_WC);
					}
				}
			}
		}
	}
}
END_TEST

START_TEST(only_wc_ranges_are_rewritten_on_a_sound_host)
{
	for (int vendor = 0; vendor < 2; vendor++) {
		EACH(g, mtrrs)
		{
			struct mt_leaf_case c = { MT_MODE_MODULE, vendor,   MT_BAR,
						  true,		  mtrrs[g], MT_UC };

			ck_assert_int_eq(mt_policy_leaf(&c).stock, mtrrs[g] != MT_WC);
			c.mode = MT_MODE_OFF;
			ck_assert(mt_policy_leaf(&c).stock);
			c.mode = MT_MODE_PAT;
			ck_assert(mt_policy_leaf(&c).stock);
		}
	}
}
END_TEST

START_TEST(ram_is_wb_unless_dma_is_not_coherent)
{
	EACH(g, mtrrs)
	{
		EACH(p, pats)
		{
			struct mt_leaf_case c = { MT_MODE_MODULE, MT_INTEL, MT_RAM,
						  true,		  mtrrs[g], MT_WB };
			struct mt_effective bare;

			ck_assert_int_eq(store(&c, pats[p]), MT_WB);
			ck_assert(mt_policy_leaf(&c).stock);
			c.coherent = false;
			ck_assert_int_eq(mt_combine_intel(mtrrs[g], pats[p], &bare), 0);
			ck_assert_int_eq(store(&c, pats[p]), bare.type);
			ck_assert_int_eq(mt_policy_leaf(&c).type, mtrrs[g]);
		}
	}
}
END_TEST

START_TEST(leaves_of_every_size_and_a_host_without_wc)
{
	struct mt_leaf_want wc = { MT_WC, false, false }, stock = { MT_UC, false, true };
	struct mt_leaf_want wp = { MT_WP, false, false };
	uint64_t leaf;

	ck_assert_int_eq(mt_policy_apply(wc, MT_AMD, MT_4K, MT_PAT_LINUX, 0xe67, &leaf), 0);
	ck_assert_uint_eq(leaf, 0xe6f); /* what a kernel's trace shows for PWT */
	ck_assert_int_eq(mt_policy_apply(wc, MT_INTEL, MT_2M, 0, 0x87, &leaf), 0);
	ck_assert_uint_eq(leaf, 0x8f);
	ck_assert_int_eq(mt_policy_apply(wp, MT_AMD, MT_2M, MT_PAT_LINUX, 0xe7, &leaf), 0);
	ck_assert_uint_eq(leaf, 0x10ef); /* index 5 */
	ck_assert_int_eq(mt_policy_apply(wc, MT_AMD, MT_4K, MT_PAT_RESET, 0xe67, &leaf), -ENOENT);
	ck_assert_uint_eq(leaf, 0xe67);
	ck_assert_int_eq(mt_policy_apply(stock, MT_INTEL, MT_4K, 0, 0xabc, &leaf), 0);
	ck_assert_uint_eq(leaf, 0xabc);
}
END_TEST

START_TEST(shadow_pat_lifts_uc_minus_and_nothing_else)
{
	struct mt_pat_case c = { .mode = MT_MODE_PAT,
				 .vendor = MT_AMD,
				 .guest_pat = MT_PAT_RESET,
				 .coherent = true,
				 .bar_mapped = true,
				 .wc_on_bar = true };
	uint64_t pat;

	ck_assert_int_eq(mt_policy_pat(&c, &pat), 0);
	ck_assert_uint_eq(pat, 0x0001040600010406);
	ck_assert_uint_eq(mt_pat_lift(MT_PAT_LINUX), 0x0401050600010106);
	/* Until the guest asks by MTRR, its PAT stands. */
	c.wc_on_bar = false;
	ck_assert_int_eq(mt_policy_pat(&c, &pat), 0);
	ck_assert_uint_eq(pat, MT_PAT_RESET);
	/* A doorbell that must see each store. */
	c.wc_on_bar = true;
	c.no_combining = true;
	ck_assert_int_eq(mt_policy_pat(&c, &pat), -EPERM);
	ck_assert_uint_eq(pat, MT_PAT_RESET);
	c.insist = true;
	ck_assert_int_eq(mt_policy_pat(&c, &pat), 0);
	ck_assert_uint_eq(pat, 0x0001040600010406);
	c.mode = MT_MODE_OFF;
	ck_assert_int_eq(mt_policy_pat(&c, &pat), 0);
	ck_assert_uint_eq(pat, MT_PAT_RESET);
}
END_TEST

START_TEST(svm_forces_ram_by_pat_only_while_no_bar_is_mapped)
{
	struct mt_pat_case c = { .mode = MT_MODE_MODULE,
				 .vendor = MT_AMD,
				 .guest_pat = MT_PAT_LINUX,
				 .coherent = true };
	uint64_t pat;

	ck_assert_int_eq(mt_policy_pat(&c, &pat), 0);
	ck_assert_uint_eq(pat, 0x0606060606060606);
	c.bar_mapped = true;
	ck_assert_int_eq(mt_policy_pat(&c, &pat), 0);
	ck_assert_uint_eq(pat, MT_PAT_LINUX);
	c.bar_mapped = false;
	c.coherent = false;
	ck_assert_int_eq(mt_policy_pat(&c, &pat), 0);
	ck_assert_uint_eq(pat, MT_PAT_LINUX);
	c.coherent = true;
	c.vendor = MT_INTEL;
	ck_assert_int_eq(mt_policy_pat(&c, &pat), 0);
	ck_assert_uint_eq(pat, MT_PAT_LINUX);
}
END_TEST

SUITE("mt_policy", a_legacy_guest_gets_wc_on_its_bar_with_the_module,
      a_bar_is_only_ever_uncached_or_combined, only_wc_ranges_are_rewritten_on_a_sound_host,
      ram_is_wb_unless_dma_is_not_coherent, leaves_of_every_size_and_a_host_without_wc,
      shadow_pat_lifts_uc_minus_and_nothing_else, svm_forces_ram_by_pat_only_while_no_bar_is_mapped)
