// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <linux/kallsyms.h>
#include <linux/kobject.h>
#include <linux/kprobes.h>
#include <linux/magic.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/version.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>

#include "host.h"

/*
 * The module of that name, held. It is found by its kobject, which is what keeps struct
 * module there between the look-up and try_module_get(): free_module() waits for it.
 */
static struct module *hold_module(const char *name)
{
	struct kobject *kobj = kset_find_obj(THIS_MODULE->mkobj.kobj.kset, name);
	struct module *mod;

	if (!kobj)
		return NULL;
	mod = container_of(kobj, struct module_kobject, kobj)->mod;
	if (mod && !try_module_get(mod))
		mod = NULL;
	kobject_put(kobj);
	return mod;
}

/* Value of a boolean parameter; 5.10 keeps npt in an int. */
static int flag_param(const struct module *mod, const char *name)
{
	unsigned int i;

	for (i = 0; i < mod->num_kp; i++) {
		const struct kernel_param *kp = &mod->kp[i];

		if (strcmp(kp->name, name))
			continue;
		if (kp->ops == &param_ops_bool)
			return *(bool *)kp->arg;
		if (kp->ops == &param_ops_int)
			return *(int *)kp->arg != 0;
	}
	return -ENOENT;
}

static int find_vendor(struct km_host *host)
{
	const char *name, *param;
	int on;

	if (boot_cpu_has(X86_FEATURE_SVM)) {
		host->vendor = KVM_MEMTYPE_SVM;
		name = "kvm_amd";
		param = "npt";
	} else if (boot_cpu_has(X86_FEATURE_VMX)) {
		host->vendor = KVM_MEMTYPE_VMX;
		name = "kvm_intel";
		param = "ept";
	} else {
		pr_err("this processor has neither SVM nor VMX\n");
		return -ENODEV;
	}
	host->module = hold_module(name);
	if (!host->module) {
		pr_err("%s is not loaded as a module; modprobe %s first\n", name, name);
		return -ENODEV;
	}
	on = flag_param(host->module, param);
	if (on < 0) {
		pr_err("%s has no parameter %s: its leaves are of an unknown format\n", name,
		       param);
		return on;
	}
	/* 5.10 leaves the parameter set on a processor that has no nested paging. */
	host->nested = on && (host->vendor == KVM_MEMTYPE_VMX || boot_cpu_has(X86_FEATURE_NPT));
	return 0;
}

/*
 * With EPT off KVM still loads the guest's PAT at VM entry, and a shadow leaf's index means
 * what the guest likes. On SVM without nested paging G_PAT is not used (APM vol. 2 15.25.2).
 */
static enum km_format format_of(const struct km_host *host)
{
	if (host->vendor == KVM_MEMTYPE_SVM)
		return KM_PAT;
	return host->nested ? KM_EPT : KM_NO_TYPE;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)

/* Exported, in all that matters: no address of a function without ENDBR is called. */
static int find_zap(struct km_host *host)
{
	extern void kvm_zap_gfn_range(struct kvm *kvm, gfn_t start, gfn_t end);

	host->zap = kvm_zap_gfn_range;
	return 0;
}

#else

/* A probe that is never armed tells the address of a function that is not exported. */
static int find_zap(struct km_host *host)
{
	struct kprobe kp = {
		.symbol_name = "kvm:kvm_zap_gfn_range",
		.flags = KPROBE_FLAG_DISABLED,
	};
	int err;

#ifdef CONFIG_X86_KERNEL_IBT
	if (cpu_feature_enabled(X86_FEATURE_IBT)) {
		pr_err("kvm_zap_gfn_range() is not exported and cannot be called with IBT on\n");
		return -EOPNOTSUPP;
	}
#endif
	err = register_kprobe(&kp);
	if (err) {
		pr_err("there is no kvm_zap_gfn_range() (error %d)\n", err);
		return -ENOENT;
	}
	host->zap = (void *)kp.addr;
	unregister_kprobe(&kp);
	return 0;
}

#endif

int km_host_find(struct km_host *host)
{
	int err;

	memset(host, 0, sizeof(*host));
	host->kernel = km_kernel_of(LINUX_VERSION_CODE);
	if (host->kernel == KM_UNKNOWN) {
		pr_err("not made for Linux %d.%d: make_spte() is not known there\n",
		       LINUX_VERSION_CODE >> 16, LINUX_VERSION_CODE >> 8 & 0xff);
		return -EOPNOTSUPP;
	}
	err = find_vendor(host);
	if (err)
		goto drop;
	err = find_zap(host);
	if (err)
		goto drop;
	rdmsrl(MSR_IA32_CR_PAT, host->pat);
	host->format = format_of(host);
	host->types = km_types(host->format, host->pat);
	if (!host->types)
		pr_warn("kvm_intel runs without EPT: no type can be set\n");
	return 0;

drop:
	km_host_drop(host);
	return err;
}

void km_host_drop(struct km_host *host)
{
	module_put(host->module);
	host->module = NULL;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)

bool km_host_is_vm(const struct km_host *host, struct file *file)
{
	return file_is_kvm(file);
}

#else

/*
 * No file_is_kvm() here. Only KVM makes anonymous inodes with operations that belong to the
 * vendor's module, and of those only one kind has this name (kvm_dev_ioctl_create_vm()).
 */
bool km_host_is_vm(const struct km_host *host, struct file *file)
{
	return file->f_op->owner == host->module &&
	       file_inode(file)->i_sb->s_magic == ANON_INODE_FS_MAGIC &&
	       !strcmp(file->f_path.dentry->d_name.name, "kvm-vm");
}

#endif

/*
 * Every caller in KVM holds kvm->srcu or kvm->slots_lock, as memory slots are walked;
 * kvm->mmu_lock is taken inside, for writing where it has such a side. That is what makes
 * a change of ranges complete: a leaf that was made by the old ranges got into its table
 * in a section of mmu_lock before this one, and is dropped here; later sections see the
 * ranges that were published before.
 */
void km_host_zap(const struct km_host *host, struct kvm *kvm,
		 const struct kvm_memtype_range *range)
{
	int idx = srcu_read_lock(&kvm->srcu);

	host->zap(kvm, range->gpa >> PAGE_SHIFT, (range->gpa + range->size) >> PAGE_SHIFT);
	srcu_read_unlock(&kvm->srcu, idx);
}
