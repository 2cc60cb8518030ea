// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PAT that a VCPU runs with. The guest reads back its own; what is loaded is another one
 * where policy wants that.
 */
#include <stdio.h>

#include <bp/log.h>
#include "vmm/memtype/state.h"

static struct mt_pat_case pat_case(const struct vmm_mt *mt)
{
	struct mt_pat_case c = {
		.mode = mt->mode,
		.vendor = mt->vendor,
		.coherent = mt->coherent,
		/*
		 * A guest switches a BAR off and on again to find its size, and with each of
		 * its devices. All-WB is a favour, not a duty: it ends with the first BAR.
		 */
		.bar_mapped = mt->bar_seen,
		.insist = mt->wish == VMM_MT_PAT_FORCE,
	};

	for (unsigned int i = 0; i < mt->nr_areas; i++) {
		const struct vmm_mt_area *a = &mt->area[i];

		for (unsigned int n = 0; a->used && n < a->nr; n++) {
			if (!a->limited && a->cut[n].mtrr == MT_WC)
				c.wc_on_bar = true;
			else
				c.no_combining = true;
		}
	}
	return c;
}

static void refused(struct vmm_mt *mt, bool is)
{
	mt->pat_refused = is;
	if (mt->mode != MT_MODE_PAT)
		return;
	snprintf(mt->why, sizeof(mt->why), "%s",
		 is ? "a shadow PAT would also combine stores to pages of BARs that the guest's "
		      "MTRRs do not make WC; --memtype pat,force accepts that"
		    : "");
	if (is && !mt->pat_told)
		bp_log_warn("memory types stay as KVM makes them: %s", mt->why);
	mt->pat_told |= is;
}

uint64_t vmm_mt_pat_due(struct vmm_mt *mt, unsigned int cpu)
{
	struct mt_pat_case c = pat_case(mt);
	uint64_t pat;

	c.guest_pat = mt->cpu[cpu].regs.pat;
	refused(mt, mt_policy_pat(&c, &pat) != 0);
	return pat;
}

bool vmm_mt_pat_stale(struct vmm_mt *mt)
{
	bool stale = false;

	for (unsigned int i = 0; i < mt->vmm->config->cpus; i++)
		stale |= mt->cpu[i].fd >= 0 && vmm_mt_pat_due(mt, i) != mt->cpu[i].hw_pat;
	return stale;
}

int vmm_mt_pat_load(struct vmm_mt *mt)
{
	int changed = 0;

	for (unsigned int i = 0; i < mt->vmm->config->cpus; i++) {
		uint64_t pat = vmm_mt_pat_due(mt, i);
		int ret;

		if (mt->cpu[i].fd < 0 || pat == mt->cpu[i].hw_pat)
			continue;
		ret = vmm_mt_load_pat(mt, i, pat);
		if (ret)
			return ret;
		changed = 1;
	}
	return changed;
}
