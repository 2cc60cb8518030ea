/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest's memory types from inside; shared by the files of this directory only. */
#ifndef VMM_MEMTYPE_STATE_H
#define VMM_MEMTYPE_STATE_H

#include <mt/explain.h>
#include <mt/policy.h>
#include <mt/role.h>
#include "memtype/kmod/kvm_memtype.h"
#include "vmm/machine.h"
#include "vmm/memtype/memtype.h"

/**
 * struct vmm_mt_cut - a stretch of an area that has one type.
 * @gpa: first byte. @size: bytes.
 * @mtrr: type by the guest's MTRRs. @undefined: an overlap that the manuals leave undefined.
 * @want: the leaf by policy.
 * @slot: KVM's memory slot, -1 while it has none.
 */
struct vmm_mt_cut {
	uint64_t gpa;
	uint64_t size;
	enum mt_type mtrr;
	bool undefined;
	struct mt_leaf_want want;
	int slot;
};

/**
 * struct vmm_mt_area - pages of a BAR that the guest reaches without an exit.
 * @used: the entry is in use.
 * @place: which pages. @gpa: first byte. @size: bytes. @hva: this process's mapping.
 * @nr: cuts. @cut: in order and without gaps.
 */
struct vmm_mt_area {
	bool used;
	struct vmm_mt_place place;
	uint64_t gpa;
	uint64_t size;
	void *hva;
	unsigned int nr;
	struct vmm_mt_cut *cut;
};

/**
 * struct vmm_mt_cpu - one CPU's registers.
 * @regs: MTRRs and PAT as the guest sees them.
 * @hw_pat: PAT that is loaded.
 * @fd: VCPU.
 * @seen: it has accessed one of the registers since the reset, so it runs and counts. A CPU
 *        that waits for its SIPI has firmware's state and would differ from all others.
 */
struct vmm_mt_cpu {
	struct mt_mtrr regs;
	uint64_t hw_pat;
	int fd;
	bool seen;
};

/**
 * struct vmm_mt_counts - what happened.
 * @writes: accepted WRMSRs to MTRRs. @pat_writes: to PAT. @faults: #GPs.
 * @roles: changes of the machine's role.
 * @remakes: how many times leaves were made anew. @cuts: stretches that this took.
 */
struct vmm_mt_counts {
	uint64_t writes;
	uint64_t pat_writes;
	uint64_t faults;
	uint64_t roles;
	uint64_t remakes;
	uint64_t cuts;
};

/**
 * struct vmm_mt - a machine's memory types.
 * @vmm: machine.
 * @wish: what the user asked for. @mode: what is at work.
 * @why: one sentence on why @mode is not @wish, or what stands in its way now; "" if nothing.
 * @vendor: of the host's processor. @kernel: its release. @nested: EPT or NPT is on.
 * @module: what the module says of itself; abi is 0 without one.
 * @coherent: DMA of all assigned devices is coherent, or there is none.
 * @cpu: each CPU's registers.
 * @differ: CPUs that take part have different registers; @track then is what they last agreed on.
 * @track: the machine's state. @applied: role that the leaves are made for.
 * @pending: the loop was asked to make leaves anew; @apply_fd brings it the word.
 * @pat_refused: a shadow PAT is due and some page forbids it.
 * @nr_areas: entries of @area.
 * @counts: counters.
 */
struct vmm_mt {
	struct vmm *vmm;
	enum vmm_mt_wish wish;
	enum mt_mode mode;
	char why[200];
	enum mt_vendor vendor;
	struct mt_kernel kernel;
	bool nested;
	struct kvm_memtype_info module;
	bool coherent;
	struct vmm_mt_cpu cpu[VMM_VCPUS_MAX];
	bool differ;
	struct mt_track track;
	struct mt_role applied;
	bool pending;
	int apply_fd;
	bool pat_refused;
	unsigned int nr_areas;
	struct vmm_mt_area *area;
	struct vmm_mt_counts counts;
};

#endif
