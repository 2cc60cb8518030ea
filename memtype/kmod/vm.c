// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <linux/delay.h>
#include <linux/hashtable.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "vm.h"

static DEFINE_HASHTABLE(table, 6);
/* For those who change the table. Readers are in RCU read sections. */
static DEFINE_SPINLOCK(table_lock);

struct km_vm *km_vm_find(const struct kvm *kvm)
{
	struct km_vm *vm;

	hash_for_each_possible_rcu(table, vm, node, (unsigned long)kvm)
		if (vm->kvm == kvm)
			return vm;
	return NULL;
}

static void ranges_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct km_ranges, rcu));
}

/*
 * After its readers. Not by kfree_rcu(): that of 5.10 forgets to count what is larger than
 * a slab as freed (kfree_bulk()), and /proc/meminfo would show a leak that is none.
 */
static void ranges_drop(struct km_ranges *ranges)
{
	if (ranges)
		call_rcu(&ranges->rcu, ranges_free);
}

/* An entry that is in no table any more. */
static void vm_free(struct km_vm *vm)
{
	ranges_drop(rcu_dereference_protected(vm->ranges, true));
	kfree_rcu(vm, rcu);
}

/*
 * The machine goes: kvm_destroy_vm() drops the devices that userspace made for it, and our
 * entry, which is on that list, with them. That is certain where a probe on a function
 * of KVM is not: probes can be switched off, and then an entry would outlive its machine
 * and be found by the next one at the same address.
 *
 * Does not sleep: km_vm_drop_all() counts on it.
 */
static void dev_destroy(struct kvm_device *dev)
{
	struct km_vm *vm = container_of(dev, struct km_vm, dev);

	spin_lock(&table_lock);
	hash_del_rcu(&vm->node);
	spin_unlock(&table_lock);
	vm_free(vm);
}

static struct kvm_device_ops dev_ops = {
	.name = "kvm-memtype",
	.destroy = dev_destroy,
};

/* Entry of a machine that the caller keeps alive, and with it the entry. */
static struct km_vm *vm_of(struct kvm *kvm)
{
	struct km_vm *vm;

	rcu_read_lock();
	vm = km_vm_find(kvm);
	rcu_read_unlock();
	return vm;
}

/* The same, made if need be. kvm->lock keeps two callers from making two. */
static struct km_vm *vm_make(struct kvm *kvm)
{
	struct km_vm *vm;

	mutex_lock(&kvm->lock);
	vm = vm_of(kvm);
	if (vm)
		goto out;
	vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);
	if (!vm)
		goto out;
	vm->kvm = kvm;
	mutex_init(&vm->lock);
	vm->dev.ops = &dev_ops;
	vm->dev.kvm = kvm;
	list_add_rcu(&vm->dev.vm_node, &kvm->devices);
	spin_lock(&table_lock);
	hash_add_rcu(table, &vm->node, (unsigned long)kvm);
	spin_unlock(&table_lock);
out:
	mutex_unlock(&kvm->lock);
	return vm;
}

/* Drop the leaves of those ranges of one set that the other has not. */
static void zap_others(const struct km_host *host, struct km_vm *vm, const struct km_ranges *a,
		       const struct km_ranges *b)
{
	uint32_t i;

	for (i = 0; a && i < a->nr; i++) {
		if (b && km_ranges_has(b->r, b->nr, &a->r[i]))
			continue;
		km_host_zap(host, vm->kvm, &a->r[i]);
		atomic64_inc(&vm->zaps);
	}
}

/* Publish a set, drop what it changes, free the old one. */
static void vm_replace(const struct km_host *host, struct km_vm *vm, struct km_ranges *new)
{
	struct km_ranges *old;

	mutex_lock(&vm->lock);
	old = rcu_dereference_protected(vm->ranges, lockdep_is_held(&vm->lock));
	/* Before the zaps: see km_host_zap(). */
	rcu_assign_pointer(vm->ranges, new);
	zap_others(host, vm, old, new);
	zap_others(host, vm, new, old);
	mutex_unlock(&vm->lock);
	ranges_drop(old);
}

int km_vm_set(const struct km_host *host, struct kvm *kvm, struct km_ranges *new)
{
	struct km_vm *vm = new ? vm_make(kvm) : vm_of(kvm);

	if (vm)
		vm_replace(host, vm, new);
	else
		kfree(new);
	return vm || !new ? 0 : -ENOMEM;
}

void km_vm_stats(struct kvm *kvm, struct kvm_memtype_stats *stats)
{
	const struct km_ranges *ranges;
	struct km_vm *vm;

	stats->nr = 0;
	stats->leaves = stats->hits = stats->straddled = stats->zaps = 0;
	rcu_read_lock();
	vm = km_vm_find(kvm);
	if (vm) {
		ranges = rcu_dereference(vm->ranges);
		stats->nr = ranges ? ranges->nr : 0;
		stats->leaves = atomic64_read(&vm->leaves);
		stats->hits = atomic64_read(&vm->hits);
		stats->straddled = atomic64_read(&vm->straddled);
		stats->zaps = atomic64_read(&vm->zaps);
	}
	rcu_read_unlock();
}

static bool table_empty(void)
{
	bool empty;

	spin_lock(&table_lock);
	empty = hash_empty(table);
	spin_unlock(&table_lock);
	return empty;
}

/*
 * Any entry whose machine lives, with the machine held. An entry that is in the table
 * proves that its struct kvm still exists, as dev_destroy() takes it out before that is
 * freed; whether the machine still lives says its count.
 */
static struct km_vm *hold_any(void)
{
	struct km_vm *vm, *found = NULL;
	int bucket;

	spin_lock(&table_lock);
	hash_for_each(table, bucket, vm, node) {
		if (refcount_inc_not_zero(&vm->kvm->users_count)) {
			found = vm;
			break;
		}
	}
	spin_unlock(&table_lock);
	return found;
}

void km_vm_drop_all(const struct km_host *host)
{
	struct km_vm *vm;
	struct kvm *kvm;

	while (!table_empty()) {
		vm = hold_any();
		if (!vm) {
			/* Machines that are going right now call dev_destroy() soon. */
			msleep(1);
			continue;
		}
		kvm = vm->kvm;
		vm_replace(host, vm, NULL);
		mutex_lock(&kvm->lock);
		list_del_rcu(&vm->dev.vm_node);
		mutex_unlock(&kvm->lock);
		spin_lock(&table_lock);
		hash_del_rcu(&vm->node);
		spin_unlock(&table_lock);
		/* KVM walks its list of devices under RCU in 6.12. */
		vm_free(vm);
		kvm_put_kvm(kvm);
	}
	/*
	 * A dev_destroy() that emptied the table may still have a few instructions to go. It
	 * does not sleep, so it is done when each task has been scheduled of its own will.
	 */
	synchronize_rcu_tasks();
	/* And for ranges_free(). */
	rcu_barrier();
}
