// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/version.h>

#include "probe.h"
#include "vm.h"

/* Arguments of make_spte(), from 0; see enum km_kernel. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
enum { ARG_VCPU = 0, ARG_LEVEL = 2, ARG_GFN = 3, ARG_PFN = 4, ARG_OUT = 10 };
#else
enum { ARG_VCPU = 0, ARG_SP = 1, ARG_GFN = 4, ARG_PFN = 5, ARG_OUT = 10 };
#endif

/* What the entry handler keeps for the return handler. */
struct call {
	struct kvm *kvm;
	u64 *out;
	u64 gfn;
	u64 pfn;
	unsigned int level;
};

static const struct km_host *host;
static atomic64_t misread;
static atomic64_t silenced;

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)

static unsigned int level_of(struct pt_regs *regs)
{
	return (unsigned int)regs_get_kernel_argument(regs, ARG_LEVEL);
}

#else

/*
 * Start of struct kvm_mmu_page in arch/x86/kvm/mmu/mmu_internal.h, which is not among the
 * headers; 6.1 and 6.12 agree on it.
 */
struct shadow_page {
	struct list_head link;
	struct hlist_node hash_link;
	u8 flags[4];
	u32 role; /* union kvm_mmu_page_role: level is bits 3:0 */
	gfn_t gfn;
	u64 *spt;
};

/*
 * KVM writes the address of a shadow page into the struct page of its table, which is behind
 * level and gfn in this struct: when that fits, so does the layout up to there.
 */
static unsigned int level_of(struct pt_regs *regs)
{
	const struct shadow_page *sp = (void *)regs_get_kernel_argument(regs, ARG_SP);

	if (!virt_addr_valid(sp) || !virt_addr_valid(sp->spt) || !PAGE_ALIGNED(sp->spt) ||
	    page_private(virt_to_page(sp->spt)) != (unsigned long)sp)
		return 0;
	return sp->role & 0xf;
}

#endif

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct kvm_vcpu *vcpu = (void *)regs_get_kernel_argument(regs, ARG_VCPU);
	struct call *call = (struct call *)ri->data;
	const struct km_vm *vm;

	rcu_read_lock();
	vm = km_vm_find(vcpu->kvm);
	rcu_read_unlock();
	if (!vm)
		return 1;
	call->kvm = vcpu->kvm;
	call->out = (u64 *)regs_get_kernel_argument(regs, ARG_OUT);
	call->gfn = regs_get_kernel_argument(regs, ARG_GFN);
	call->pfn = regs_get_kernel_argument(regs, ARG_PFN);
	call->level = level_of(regs);
	return 0;
}
NOKPROBE_SYMBOL(on_entry);

static void retype(struct km_vm *vm, const struct km_ranges *ranges, const struct call *call)
{
	const struct km_leaf leaf = {
		.kernel = host->kernel,
		.spte = *call->out,
		.gfn = call->gfn,
		.pfn = call->pfn,
		.level = call->level,
	};
	const struct kvm_memtype_range *range;
	int level = km_leaf_level(&leaf);
	enum km_hit hit;
	u64 spte;

	if (level < 0) {
		atomic64_inc(&misread);
		return;
	}
	hit = km_ranges_find(ranges->r, ranges->nr, call->gfn << PAGE_SHIFT,
			     PAGE_SIZE << 9 * (level - 1), &range);
	if (hit == KM_INSIDE && !km_leaf_apply(leaf.spte, level, range, host->format, host->pat,
					       &spte)) {
		*call->out = spte;
		atomic64_inc(&vm->hits);
	} else if (hit != KM_OUTSIDE) {
		atomic64_inc(&vm->straddled);
	}
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct call *call = (struct call *)ri->data;
	const struct km_ranges *ranges;
	struct km_vm *vm;

	rcu_read_lock();
	vm = km_vm_find(call->kvm);
	if (!vm)
		goto out;
	atomic64_inc(&vm->leaves);
	ranges = rcu_dereference(vm->ranges);
	if (!ranges || !ranges->nr)
		goto out;
	/* All callers keep the entry in a variable: anything else is another make_spte(). */
	if (object_is_on_stack(call->out))
		retype(vm, ranges, call);
	else
		atomic64_inc(&misread);
out:
	rcu_read_unlock();
	return 0;
}
NOKPROBE_SYMBOL(on_return);

static struct kretprobe probe = {
	.kp.symbol_name = "kvm:make_spte",
	.entry_handler = on_entry,
	.handler = on_return,
	.data_size = sizeof(struct call),
};

/* Called to be seen by a probe, or not. */
static noinline void witness(void)
{
	barrier();
}

static DEFINE_MUTEX(witness_lock);
static bool witnessed;

static int on_witness(struct kprobe *kp, struct pt_regs *regs)
{
	WRITE_ONCE(witnessed, true);
	return 0;
}
NOKPROBE_SYMBOL(on_witness);

static struct kprobe witness_probe = {
	.addr = (kprobe_opcode_t *)witness,
	.pre_handler = on_witness,
};

bool km_probe_alive(void)
{
	bool seen;

	mutex_lock(&witness_lock);
	WRITE_ONCE(witnessed, false);
	witness();
	seen = READ_ONCE(witnessed);
	mutex_unlock(&witness_lock);
	if (!seen)
		atomic64_inc(&silenced);
	return seen;
}

/*
 * What kernel.ftrace_enabled says, where there is such a thing. Probes on function entries
 * are ftrace's, and to add or remove one while it is off upsets its books: 5.10 was
 * seen to warn in ftrace_shutdown() at the next change and to fail from then on.
 */
static bool ftrace_off(void)
{
	struct file *file = filp_open("/proc/sys/kernel/ftrace_enabled", O_RDONLY, 0);
	loff_t pos = 0;
	char c = '1';

	if (IS_ERR(file))
		return false;
	if (kernel_read(file, &c, 1, &pos) != 1)
		c = '1';
	filp_close(file, NULL);
	return c == '0';
}

static int say_off(void)
{
	pr_err("probes are switched off: sysctl kernel.ftrace_enabled, debugfs kprobes/enabled\n");
	return -ENOENT;
}

int km_probe_start(const struct km_host *found)
{
	int err;

	if (ftrace_off())
		return say_off();
	host = found;
	/* make_spte() runs under mmu_lock and does not sleep: one call for each processor. */
	probe.maxactive = max_t(int, 16, 2 * num_possible_cpus());
	err = register_kretprobe(&probe);
	if (err) {
		pr_err("make_spte() of kvm cannot be hooked (error %d)\n", err);
		return -ENOENT;
	}
	err = register_kprobe(&witness_probe);
	if (err) {
		pr_err("the module's own function cannot be hooked (error %d)\n", err);
		err = -ENOENT;
		goto stop;
	}
	if (km_probe_alive())
		return 0;
	err = say_off();
	unregister_kprobe(&witness_probe);
stop:
	unregister_kretprobe(&probe);
	return err;
}

void km_probe_stop(void)
{
	unregister_kprobe(&witness_probe);
	unregister_kretprobe(&probe);
}

uint64_t km_probe_missed(void)
{
	return probe.nmissed + probe.kp.nmissed + atomic64_read(&misread) +
	       atomic64_read(&silenced);
}
