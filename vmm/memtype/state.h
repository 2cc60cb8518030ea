/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest's memory types from inside; shared by the files of this directory only. */
#ifndef VMM_MEMTYPE_STATE_H
#define VMM_MEMTYPE_STATE_H

#include <mt/explain.h>
#include <mt/policy.h>
#include <mt/role.h>
#include <vf/sys.h>
#include "memtype/kmod/kvm_memtype.h"
#include "vmm/machine.h"
#include "vmm/memtype/memtype.h"

/*
 * Most cuts of one area. A guest may scatter its ranges over millions of pieces (mt/map.h);
 * neither KVM's slots nor the time that an apply takes are to be had for that.
 */
#define VMM_MT_CUTS_MAX 64

/**
 * struct vmm_mt_cut - a stretch of an area that has one type.
 * @gpa: first byte. @size: bytes.
 * @mtrr: type by the guest's MTRRs. @undefined: an overlap that the manuals leave undefined.
 * @want: the leaf by policy.
 * @slot: KVM's memory slot that it lies in, -1 while it has none. In mode module each cut has
 *        one of its own, so that no large leaf crosses an edge; otherwise all cuts of an area
 *        share one, since their leaves do not differ.
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
 * @place: which pages. @host_mtrr: type by the machine's own MTRRs, UC where it is not known.
 * @gpa: first byte. @size: bytes. @hva: this process's mapping.
 * @nr: cuts. @cut: in order and without gaps; room for VMM_MT_CUTS_MAX.
 * @limited: it would have too many; @cut then is one, stock, whose @mtrr says nothing.
 * @split: each cut has a slot of its own. @bare: its slots are taken away to be made anew.
 * @due_nr: cuts that are due. @due: they; room as for @cut. @due_limited: of these.
 */
struct vmm_mt_area {
	bool used;
	struct vmm_mt_place place;
	enum mt_type host_mtrr;
	uint64_t gpa;
	uint64_t size;
	void *hva;
	unsigned int nr;
	struct vmm_mt_cut *cut;
	bool limited;
	bool split;
	bool bare;
	unsigned int due_nr;
	struct vmm_mt_cut *due;
	bool due_limited;
};

/**
 * struct vmm_mt_cpu - one CPU's registers.
 * @regs: MTRRs and PAT as the guest sees them.
 * @hw_pat: PAT that is loaded.
 * @fd: VCPU.
 * @seen: it has accessed one of the registers since the reset, so it runs and counts. A CPU
 *        that waits for its SIPI has firmware's state and would differ from all others; one
 *        that was taken offline is left out by vmm_mt_laggards_look().
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
 * @host: the host; another one in tests.
 * @wish: what the user asked for. @mode: what is at work.
 * @why: one sentence on why @mode is not @wish, or what stands in its way now; "" if nothing.
 * @vendor: of the host's processor. @kernel: its release. @nested: EPT or NPT is on.
 * @module: what the module says of itself; abi is 0 without one.
 * @coherent: DMA of all assigned devices is coherent, or there is none.
 * @intercept: the guest's accesses come here. Otherwise KVM answers them and @cpu is what it
 *             was told at power-on, until vmm_mt_refresh().
 * @cpu: each CPU's registers.
 * @differ: CPUs that take part have different registers; @track then is what they last agreed on.
 * @laggards: looks for CPUs that differ because they are offline. @laggards_due: it will.
 * @track: the machine's state. @applied: role that the leaves are made for.
 * @pending: the loop was asked to make leaves anew; @apply_fd brings it the word.
 * @bar_seen: some BAR was mapped since power-on.
 * @pat_refused: a shadow PAT is due and some page forbids it. @pat_told: the log has it.
 * @nr_areas: entries of @area. @limit_told: the log has that one has too many cuts.
 * @nr_ranges: ranges that the module has. @ranges: they. @ranges_due: room to make them anew.
 * @ranges_room: entries of both.
 * @counts: counters.
 */
struct vmm_mt {
	struct vmm *vmm;
	struct vf_host host;
	enum vmm_mt_wish wish;
	enum mt_mode mode;
	char why[200];
	enum mt_vendor vendor;
	struct mt_kernel kernel;
	bool nested;
	struct kvm_memtype_info module;
	bool coherent;
	bool intercept;
	struct vmm_mt_cpu cpu[VMM_VCPUS_MAX];
	bool differ;
	struct vmm_timer *laggards;
	bool laggards_due;
	struct mt_track track;
	struct mt_role applied;
	bool pending;
	int apply_fd;
	bool bar_seen;
	bool pat_refused;
	bool pat_told;
	unsigned int nr_areas;
	struct vmm_mt_area *area;
	bool limit_told;
	unsigned int nr_ranges;
	unsigned int ranges_room;
	struct kvm_memtype_range *ranges;
	struct kvm_memtype_range *ranges_due;
	struct vmm_mt_counts counts;
};

/* mode.c */

/**
 * vmm_mt_new_on() - vmm_mt_new() on a given host.
 * @vmm: machine. @host: copied. @out: receives the state. @err: as there.
 *
 * Return: as there.
 */
int vmm_mt_new_on(struct vmm *vmm, const struct vf_host *host, struct vmm_mt **out,
		  struct bp_error *err);

/** vmm_mt_fall() - from now on leaves are as KVM makes them. @mt: state. @why: sentence for reports and the log. */
void vmm_mt_fall(struct vmm_mt *mt, const char *why, ...) __attribute__((format(printf, 2, 3)));

/* msr.c */

/** vmm_mt_intercept() - have the accesses brought here. @mt: state. Return: 0, -EOPNOTSUPP when KVM cannot, or another negative errno. */
int vmm_mt_intercept(struct vmm_mt *mt);

/** vmm_mt_load_pat() - load a PAT into a VCPU. @mt: state. @cpu: whose; not running. @pat: value. Return: 0 or a negative errno. */
int vmm_mt_load_pat(struct vmm_mt *mt, unsigned int cpu, uint64_t pat);

/**
 * vmm_mt_refresh() - where accesses do not come here: read the registers from KVM.
 * @mt: state; the machine's VCPUs are held.
 */
void vmm_mt_refresh(struct vmm_mt *mt);

/* track.c */

/** vmm_mt_same_ranges() - whether two CPUs' MTRRs mean the same. @a: registers. @b: registers. Return: so. */
bool vmm_mt_same_ranges(const struct mt_mtrr *a, const struct mt_mtrr *b);

/** vmm_mt_agree() - look at all CPUs' registers again and do what follows. @mt: state; the machine's lock is held. */
void vmm_mt_agree(struct vmm_mt *mt);

/* laggards.c */

/** vmm_mt_laggards_expect() - CPUs differ: look after a while whether they still do, and why. @mt: state. */
void vmm_mt_laggards_expect(struct vmm_mt *mt);

/** vmm_mt_laggards_look() - timer handler: CPUs that are offline do not count. @priv: state. */
void vmm_mt_laggards_look(void *priv);

/* areas.c */

/**
 * vmm_mt_areas_plan() - the cuts that are due everywhere.
 * @mt: state.
 *
 * Return: whether leaves have to be made anew for them.
 */
bool vmm_mt_areas_plan(struct vmm_mt *mt);

/** vmm_mt_areas_adopt() - take over due cuts for which no leaf has to be made anew. @mt: state. */
void vmm_mt_areas_adopt(struct vmm_mt *mt);

/**
 * vmm_mt_areas_remake() - take over all due cuts.
 * @mt: state; the machine's VCPUs are held.
 * @all: areas whose cuts are as before lose their leaves, too.
 *
 * Return: 0, or a negative errno when pages of a BAR had to be left unmapped.
 */
int vmm_mt_areas_remake(struct vmm_mt *mt, bool all);

/* apply.c */

/** vmm_mt_request() - stop all VCPUs before their next instruction, and make leaves anew. @mt: state; the machine's lock is held. */
void vmm_mt_request(struct vmm_mt *mt);

/** vmm_mt_apply() - loop handler of mt->apply_fd. @priv: state. @fd: eventfd. */
void vmm_mt_apply(void *priv, int fd);

/* pat.c */

/** vmm_mt_pat_due() - the PAT to load. @mt: state. @cpu: for which. Return: value. */
uint64_t vmm_mt_pat_due(struct vmm_mt *mt, unsigned int cpu);

/** vmm_mt_pat_stale() - whether some CPU runs with another PAT than is due. @mt: state. Return: so. */
bool vmm_mt_pat_stale(struct vmm_mt *mt);

/** vmm_mt_pat_load() - load what is due. @mt: state; the VCPUs are held. Return: 1 when any changed, 0, or a negative errno. */
int vmm_mt_pat_load(struct vmm_mt *mt);

/* module.c */

/**
 * vmm_mt_module_info() - ask the module what it can do.
 * @mt: state; its host counts. @out: receives the answer.
 *
 * Return: 0, -ENOENT, -ENXIO or -ENODEV without a module, -EPROTO for one that speaks
 * otherwise, or another negative errno.
 */
int vmm_mt_module_info(const struct vmm_mt *mt, struct kvm_memtype_info *out);

/** vmm_mt_module_stats() - the module's counters for this machine. @mt: state. @out: receives them. Return: 0 or a negative errno. */
int vmm_mt_module_stats(const struct vmm_mt *mt, struct kvm_memtype_stats *out);

/**
 * vmm_mt_module_sync() - give the module the ranges that the areas' cuts ask for.
 * @mt: state in mode module. Nothing is said when it has them already.
 *
 * When the module does not take them the mode falls to off and the module is told to
 * forget what it had.
 *
 * Return: 0, or -ENODEV after a fall.
 */
int vmm_mt_module_sync(struct vmm_mt *mt);

/** vmm_mt_module_room() - room for the ranges of all areas. @mt: state. Return: 0 or -ENOMEM. */
int vmm_mt_module_room(struct vmm_mt *mt);

#endif
