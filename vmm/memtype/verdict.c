// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "vmm/memtype/verdict.h"

#define UC_MINUS_AT_RESET 2

struct vmm_mt_use vmm_mt_use_of(const struct vmm_mt_cpu *cpu, int index)
{
	struct vmm_mt_use u = { MT_WB, MT_WB, index };

	if (index < 0)
		return u;
	u.pat = mt_pat_entry(cpu->regs.pat, (unsigned int)index);
	u.hw_pat = mt_pat_entry(cpu->hw_pat, (unsigned int)index);
	return u;
}

struct vmm_mt_use vmm_mt_use_assumed(const struct vmm_mt_cpu *cpu)
{
	int index = mt_pat_find(cpu->regs.pat, MT_UC_MINUS);

	return index < 0 ? (struct vmm_mt_use){ MT_UC_MINUS, MT_UC_MINUS, UC_MINUS_AT_RESET }
			 : vmm_mt_use_of(cpu, index);
}

/* The mode that the leaf and the PAT which are really there come from. */
static enum mt_mode mode_at_work(const struct vmm_mt *mt, const struct vmm_mt_cut *cut,
				 const struct vmm_mt_use *use, enum mt_type host_mtrr)
{
	if (!cut->want.stock)
		return MT_MODE_MODULE;
	if (use->pat == MT_UC_MINUS && use->hw_pat == MT_WC)
		return MT_MODE_PAT;
	/* The module is there and leaves the leaf alone, as long as policy says so, too. */
	return mt->mode == MT_MODE_MODULE && cut->mtrr != MT_WC && host_mtrr == MT_UC
		       ? MT_MODE_MODULE
		       : MT_MODE_OFF;
}

/* A PAT of which no rule tells, such as all-WB: the processor's tables do, without words. */
static void by_tables(const struct vmm_mt *mt, const struct vmm_mt_use *use, enum mt_type host_mtrr,
		      struct mt_explanation *e)
{
	if (!mt->nested)
		return;
	e->count = 0;
	if (mt->vendor == MT_INTEL)
		mt_combine_ept(e->leaf, e->ipat, use->hw_pat, false, &e->effective);
	else
		mt_combine_npt(use->hw_pat, e->leaf, host_mtrr, false, false, &e->effective);
}

void vmm_mt_judge(const struct vmm_mt *mt, const struct vmm_mt_cut *cut,
		  const struct vmm_mt_use *use, enum mt_type host_mtrr, struct mt_explanation *out)
{
	static const struct mt_kernel oldest = { 5, 10, 0 };
	struct mt_case c = {
		.vendor = mt->vendor,
		.kernel = mt->kernel.major ? mt->kernel : oldest,
		.backing = MT_BAR,
		.coherent = mt->coherent,
		.guest_mtrr = cut->mtrr,
		.guest_pat = use->pat,
		.pat_index = use->index,
		.mode = mode_at_work(mt, cut, use, host_mtrr),
		.shadow = !mt->nested,
		.host_mtrr = host_mtrr,
	};

	memset(out, 0, sizeof(*out));
	/* It refuses only what registers cannot hold. */
	if (mt_explain(&c, out))
		return;
	if (use->pat != use->hw_pat && c.mode != MT_MODE_PAT)
		by_tables(mt, use, host_mtrr, out);
}
