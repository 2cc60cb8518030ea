/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Virtual machines that have, or had, ranges. The module keeps none of them alive: an entry
 * goes with its machine.
 */
#ifndef KM_VM_H
#define KM_VM_H

#include <linux/atomic.h>
#include <linux/kvm_host.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include "host.h"

/**
 * struct km_ranges - a set of ranges; never changed once it is published.
 * @rcu: frees it after its readers.
 * @nr: entries of @r.
 * @r: in order, disjoint, valid.
 */
struct km_ranges {
	struct rcu_head rcu;
	uint32_t nr;
	struct kvm_memtype_range r[];
};

/**
 * struct km_vm - a machine.
 * @node: in the table.
 * @rcu: frees it after its readers.
 * @kvm: whose entry it is.
 * @dev: how KVM tells that the machine goes.
 * @lock: serializes those that set ranges.
 * @ranges: current set, or NULL.
 * @leaves: counters, as in struct kvm_memtype_stats.
 * @hits: as there.
 * @straddled: as there.
 * @zaps: as there.
 */
struct km_vm {
	struct hlist_node node;
	struct rcu_head rcu;
	struct kvm *kvm;
	struct kvm_device dev;
	struct mutex lock;
	struct km_ranges __rcu *ranges;
	atomic64_t leaves;
	atomic64_t hits;
	atomic64_t straddled;
	atomic64_t zaps;
};

/**
 * km_vm_find() - entry of a machine, for the probe.
 * @kvm: machine.
 *
 * The caller is in an RCU read section.
 *
 * Return: the entry, or NULL.
 */
struct km_vm *km_vm_find(const struct kvm *kvm);

/**
 * km_vm_set() - replace the ranges of a machine and drop the leaves that changed.
 * @host: what was found at load.
 * @kvm: machine, which the caller keeps alive.
 * @new: ranges, which the table owns from here on, also on failure; NULL for none.
 *
 * Return: 0, or -ENOMEM.
 */
int km_vm_set(const struct km_host *host, struct kvm *kvm, struct km_ranges *new);

/**
 * km_vm_stats() - counters of a machine.
 * @kvm: machine, which the caller keeps alive.
 * @stats: receives all but vm_fd and missed; zeros for a machine that had no ranges.
 */
void km_vm_stats(struct kvm *kvm, struct kvm_memtype_stats *stats);

/**
 * km_vm_drop_all() - take all ranges of all machines away, and the leaves with them.
 * @host: what was found at load.
 *
 * For unloading: nobody may call km_vm_set() any more. When it returns, the probe finds no
 * machine and KVM calls nothing of this module.
 */
void km_vm_drop_all(const struct km_host *host);

#endif
