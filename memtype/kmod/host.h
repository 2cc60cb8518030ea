/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/* The KVM that the module finds: its vendor, its leaves, and the way to drop them. */
#ifndef KM_HOST_H
#define KM_HOST_H

#include <linux/fs.h>
#include <linux/kvm_host.h>

#include "rules.h"

/**
 * struct km_host - what was found; does not change while the module is loaded.
 * @kernel: family of the kernel.
 * @format: of the leaves.
 * @vendor: KVM_MEMTYPE_VMX or KVM_MEMTYPE_SVM.
 * @nested: EPT or NPT is in use.
 * @pat: IA32_PAT.
 * @types: types that leaves can have.
 * @module: kvm_amd or kvm_intel, held so that it cannot come back with other parameters.
 * @zap: kvm_zap_gfn_range().
 */
struct km_host {
	enum km_kernel kernel;
	enum km_format format;
	uint32_t vendor;
	bool nested;
	uint64_t pat;
	uint32_t types;
	struct module *module;
	void (*zap)(struct kvm *kvm, gfn_t start, gfn_t end);
};

/**
 * km_host_find() - look at the machine.
 * @host: receives what was found.
 *
 * Says in the kernel's log why not.
 *
 * Return: 0; -EOPNOTSUPP a kernel that is not known; -ENODEV no kvm_amd or kvm_intel is
 * loaded; -ENOENT a symbol is missing.
 */
int km_host_find(struct km_host *host);

/**
 * km_host_drop() - give back what km_host_find() took.
 * @host: what was found.
 */
void km_host_drop(struct km_host *host);

/**
 * km_host_is_vm() - whether a file is a virtual machine of KVM.
 * @host: what was found.
 * @file: any file.
 *
 * Return: so; file->private_data is its struct kvm then.
 */
bool km_host_is_vm(const struct km_host *host, struct file *file);

/**
 * km_host_zap() - drop the leaves of a range, so that they are made anew.
 * @host: what was found.
 * @kvm: machine, which the caller keeps alive.
 * @range: range.
 */
void km_host_zap(const struct km_host *host, struct kvm *kvm,
		 const struct kvm_memtype_range *range);

#endif
