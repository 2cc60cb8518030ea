// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that differ because the guest has taken them offline. They are left behind when the
 * others change their MTRRs, and get the new ones when they are started again; until then the
 * others must not wait for them.
 *
 * An operating system leaves such a CPU in HLT with interrupts off, which nothing but INIT or
 * NMI ends (Linux: native_play_dead()). One in a rendezvous has interrupts off, too, but spins.
 */
#include <linux/kvm.h>

#include "vmm/core.h"
#include "vmm/memtype/state.h"

/* A rendezvous takes far less. */
#define PATIENCE_NS 500000000ull

#define RFLAGS_IF   (1ull << 9)

void vmm_mt_laggards_expect(struct vmm_mt *mt)
{
	if (mt->laggards_due)
		return;
	mt->laggards_due = true;
	vmm_timer_arm(mt->laggards, PATIENCE_NS);
}

static bool is_offline(struct vmm_mt *mt, int fd)
{
	const struct vf_sys *sys = mt->host.sys;
	struct kvm_mp_state mp;
	struct kvm_regs regs;

	if (sys->ioctl(fd, KVM_GET_MP_STATE, &mp) || sys->ioctl(fd, KVM_GET_REGS, &regs))
		return false;
	switch (mp.mp_state) {
	case KVM_MP_STATE_HALTED:
		return !(regs.rflags & RFLAGS_IF);
	case KVM_MP_STATE_UNINITIALIZED:
	case KVM_MP_STATE_INIT_RECEIVED:
		return true;
	default:
		return false;
	}
}

void vmm_mt_laggards_look(void *priv)
{
	struct vmm_mt *mt = priv;
	struct vmm_core *core = vmm_core(mt->vmm);
	bool left = false;

	mt->laggards_due = false;
	if (!mt->differ)
		return;
	/* KVM tells nothing of a VCPU that runs. */
	if (!vmm_hold(core)) {
		for (unsigned int i = 0; i < mt->vmm->config->cpus; i++) {
			if (!mt->cpu[i].seen || !is_offline(mt, mt->cpu[i].fd))
				continue;
			mt->cpu[i].seen = false;
			left = true;
		}
		/* It counts again from its next access on. */
		if (left)
			vmm_mt_agree(mt);
	}
	vmm_release(core);
}
