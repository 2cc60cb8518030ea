// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the registers of each CPU to one state of the machine.
 *
 * Nested leaves belong to the machine, MTRRs to a CPU. An operating system writes them on all
 * its CPUs, each at its own pace, and on the way they differ; so what counts is the last state
 * that all agreed on. One that differs for good is out of order on bare metal, too (Intel SDM
 * vol. 3 "MTRR Considerations in MP Systems"), and is told; one that is offline does not count.
 */
#include "vmm/memtype/state.h"

bool vmm_mt_same_ranges(const struct mt_mtrr *a, const struct mt_mtrr *b)
{
	if (a->def_type != b->def_type)
		return false;
	/* Without E nothing else counts: a CPU in the middle of its writes is like one before them. */
	if (!(a->def_type & MT_DEF_TYPE_E))
		return true;
	for (unsigned int i = 0; a->def_type & MT_DEF_TYPE_FE && i < MT_FIXED_REGISTERS; i++)
		if (a->fixed[i] != b->fixed[i])
			return false;
	for (unsigned int i = 0; i < a->vcnt; i++) {
		const struct mt_variable *x = &a->variable[i], *y = &b->variable[i];

		/* What a range that is off was last set to is nobody's business. */
		if (!(x->mask & MT_PHYSMASK_VALID) && !(y->mask & MT_PHYSMASK_VALID))
			continue;
		if (x->base != y->base || x->mask != y->mask)
			return false;
	}
	return true;
}

static void role_changed(struct vmm_mt *mt)
{
	struct mt_role role = mt->track.role;

	mt->counts.roles++;
	/* On the way, leaves stay as they are: they are made once for the whole way, not for each step. */
	if (!mt_role_settled(role) || mt_role_equal(role, mt->applied))
		return;
	if (vmm_mt_areas_plan(mt)) {
		vmm_mt_request(mt);
		return;
	}
	vmm_mt_areas_adopt(mt);
	mt->applied = role;
	if (vmm_mt_pat_stale(mt))
		vmm_mt_request(mt);
}

void vmm_mt_agree(struct vmm_mt *mt)
{
	const struct mt_mtrr *first = NULL;

	mt->differ = false;
	for (unsigned int i = 0; i < mt->vmm->config->cpus && !mt->differ; i++) {
		if (!mt->cpu[i].seen)
			continue;
		if (first)
			mt->differ = !vmm_mt_same_ranges(first, &mt->cpu[i].regs);
		else
			first = &mt->cpu[i].regs;
	}
	if (mt->differ) {
		vmm_mt_laggards_expect(mt);
		return;
	}
	/*
	 * CR0.CD is not asked for. It never reaches the processor: KVM clears it for the guest
	 * (quirk CD_NW_CLEARED, which stays on), so that leaves need not care. And Linux sets E
	 * while CD is still set and then clears CD by an exit that ends in KVM: whoever
	 * waited for CD would not hear of its end. E alone tells that the writes are over.
	 */
	if (mt_track_update(&mt->track, first ? first : &mt->cpu[0].regs, false))
		role_changed(mt);
}
