// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
/* kvm-memtype: /dev/kvm-memtype, as kvm_memtype.h describes it. */
#include <linux/file.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "host.h"
#include "probe.h"
#include "vm.h"

static struct km_host host;

static long get_info(void __user *arg)
{
	const struct kvm_memtype_info info = {
		.abi = KVM_MEMTYPE_ABI,
		.vendor = host.vendor,
		.flags = host.nested ? KVM_MEMTYPE_NESTED : 0,
		.types = host.types,
		.host_pat = host.pat,
		.ranges_max = KM_RANGES_MAX,
	};

	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

/* A file that is a machine, held; its struct kvm lives as long. */
static struct file *vm_file(int fd)
{
	struct file *file = fget(fd);

	if (file && !km_host_is_vm(&host, file)) {
		fput(file);
		file = NULL;
	}
	return file;
}

/* Ranges from userspace, checked; NULL for none. */
static struct km_ranges *copy_ranges(const struct kvm_memtype_set *set)
{
	struct km_ranges *ranges;
	int err;

	if (!set->nr)
		return NULL;
	if (set->nr > KM_RANGES_MAX)
		return ERR_PTR(-E2BIG);
	ranges = kmalloc(struct_size(ranges, r, set->nr), GFP_KERNEL_ACCOUNT);
	if (!ranges)
		return ERR_PTR(-ENOMEM);
	ranges->nr = set->nr;
	err = -EFAULT;
	if (copy_from_user(ranges->r, u64_to_user_ptr(set->ranges),
			   set->nr * sizeof(*ranges->r)))
		goto free;
	err = km_ranges_check(ranges->r, ranges->nr, host.format, host.types);
	if (err)
		goto free;
	return ranges;

free:
	kfree(ranges);
	return ERR_PTR(err);
}

static long set_ranges(const void __user *arg)
{
	struct kvm_memtype_set set;
	struct km_ranges *ranges;
	struct file *file;
	long err;

	if (copy_from_user(&set, arg, sizeof(set)))
		return -EFAULT;
	file = vm_file(set.vm_fd);
	if (!file)
		return -EBADF;
	ranges = copy_ranges(&set);
	err = PTR_ERR_OR_ZERO(ranges);
	if (!err && ranges && !km_probe_alive()) {
		kfree(ranges);
		err = -EIO;
	}
	if (!err)
		err = km_vm_set(&host, file->private_data, ranges);
	fput(file);
	return err;
}

static long get_stats(void __user *arg)
{
	struct kvm_memtype_stats stats;
	struct file *file;

	if (copy_from_user(&stats, arg, sizeof(stats)))
		return -EFAULT;
	file = vm_file(stats.vm_fd);
	if (!file)
		return -EBADF;
	km_vm_stats(file->private_data, &stats);
	km_probe_alive();
	stats.missed = km_probe_missed();
	fput(file);
	return copy_to_user(arg, &stats, sizeof(stats)) ? -EFAULT : 0;
}

static long on_ioctl(struct file *file, unsigned int request, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (request) {
	case KVM_MEMTYPE_GET_INFO:
		return get_info(user);
	case KVM_MEMTYPE_SET_RANGES:
		return set_ranges(user);
	case KVM_MEMTYPE_GET_STATS:
		return get_stats(user);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = on_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kvm-memtype",
	.fops = &fops,
	.mode = 0600,
};

static int __init km_init(void)
{
	int err = km_host_find(&host);

	if (err)
		return err;
	err = km_probe_start(&host);
	if (err)
		goto drop;
	err = misc_register(&device);
	if (err) {
		pr_err("cannot make /dev/kvm-memtype (error %d)\n", err);
		goto stop;
	}
	pr_info("%s%s, host PAT %016llx\n", host.vendor == KVM_MEMTYPE_SVM ? "SVM" : "VMX",
		host.nested ? "" : " with shadow paging", host.pat);
	return 0;

stop:
	km_probe_stop();
drop:
	km_host_drop(&host);
	return err;
}

/* In an order that leaves no leaf of ours: no more ranges, no more leaves, no more probe. */
static void __exit km_exit(void)
{
	misc_deregister(&device);
	km_vm_drop_all(&host);
	km_probe_stop();
	km_host_drop(&host);
}

module_init(km_init);
module_exit(km_exit);

MODULE_DESCRIPTION("Memory types of KVM's nested leaves, by range and machine");
MODULE_VERSION(KM_VERSION);
MODULE_LICENSE("GPL");
