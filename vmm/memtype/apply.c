// SPDX-License-Identifier: GPL-2.0-only
/*
 * A new role at work. While slots are gone a guest's store to a BAR would be lost, and leaves
 * of two types must not be in use at a time: so no VCPU runs meanwhile. Waiting for the VCPUs
 * is for the loop, since it may be one of them that asks.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "vmm/core.h"
#include "vmm/memtype/state.h"

void vmm_mt_request(struct vmm_mt *mt)
{
	if (!mt->pending)
		mt->pending = vmm_hold_ask(vmm_core(mt->vmm), mt->apply_fd);
}

static int make_anew(struct vmm_mt *mt)
{
	int ret = 0;

	if (vmm_mt_areas_plan(mt))
		ret = vmm_mt_areas_remake(mt, false);
	else
		vmm_mt_areas_adopt(mt);
	if (ret)
		return ret;
	/* The guest may be in the middle of its next change: then these are leaves for the one before. */
	if (mt_role_settled(mt->track.role))
		mt->applied = mt->track.role;
	else
		mt->applied =
			mt_role_of(&mt_track_map(&mt->track)->regs, false, mt->track.generation);
	ret = vmm_mt_pat_load(mt);
	/*
	 * A guest that does not know of a new PAT does not flush what it cached of the old
	 * one. KVM does when a slot goes.
	 */
	if (ret > 0)
		ret = vmm_mt_areas_remake(mt, true);
	return ret;
}

void vmm_mt_apply(void *priv, int fd)
{
	struct vmm_mt *mt = priv;
	struct vmm_core *core = vmm_core(mt->vmm);
	uint64_t count;
	int ret;

	if (read(fd, &count, sizeof(count)) != sizeof(count) || !mt->pending)
		return;
	if (!vmm_hold(core)) {
		ret = make_anew(mt);
		if (ret)
			vmm_crash(core, "new memory types of the guest could not be applied: %s",
				  strerror(-ret));
	}
	mt->pending = false;
	vmm_release(core);
	/* And the hold that vmm_mt_request() began. */
	vmm_release(core);
}
