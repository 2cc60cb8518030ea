/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/kvm-memtype: memory types of nested leaves, by range and virtual machine.
 *
 * Every request names the machine by KVM's own descriptor, so that whoever may open the
 * device can only speak of machines that he holds. What was set belongs to the machine and
 * goes with it; an open descriptor of the device keeps nothing alive, and the module may
 * be unloaded at any time: leaves then are as KVM makes them.
 */
#ifndef KVM_MEMTYPE_H
#define KVM_MEMTYPE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KVM_MEMTYPE_DEVICE "/dev/kvm-memtype"
#define KVM_MEMTYPE_ABI	   1u

/* struct kvm_memtype_info.vendor */
#define KVM_MEMTYPE_VMX 1u
#define KVM_MEMTYPE_SVM 2u

/* struct kvm_memtype_info.flags */
#define KVM_MEMTYPE_NESTED (1u << 0) /* EPT or NPT is in use; otherwise leaves are shadow pages */

/**
 * struct kvm_memtype_info - what the module can do here.
 * @abi: KVM_MEMTYPE_ABI.
 * @vendor: KVM_MEMTYPE_VMX or KVM_MEMTYPE_SVM.
 * @flags: KVM_MEMTYPE_ bits.
 * @types: bit n is set when encoding n (0 UC, 1 WC, 4 WT, 5 WP, 6 WB) can be had. On SVM that
 *         is up to the host's PAT. On VMX without EPT it is none: a shadow leaf is read with
 *         the guest's own PAT there.
 * @host_pat: IA32_PAT of the host.
 * @ranges_max: most ranges of one machine.
 * @reserved: 0.
 */
struct kvm_memtype_info {
	__u32 abi;
	__u32 vendor;
	__u32 flags;
	__u32 types;
	__u64 host_pat;
	__u32 ranges_max;
	__u32 reserved;
};

/* struct kvm_memtype_range.flags */
#define KVM_MEMTYPE_IPAT (1u << 0) /* EPT: the guest's PAT is ignored; -EINVAL elsewhere */

/**
 * struct kvm_memtype_range - leaves in it get this type.
 * @gpa: first guest-physical address, page aligned.
 * @size: bytes, a multiple of the page size, not 0; must not wrap.
 * @type: encoding.
 * @flags: KVM_MEMTYPE_IPAT or 0.
 */
struct kvm_memtype_range {
	__u64 gpa;
	__u64 size;
	__u32 type;
	__u32 flags;
};

/**
 * struct kvm_memtype_set - all ranges of a machine; they replace those that were set before.
 * @vm_fd: from KVM_CREATE_VM.
 * @nr: entries of @ranges; 0 takes all away.
 * @ranges: address of struct kvm_memtype_range, in order and disjoint.
 *
 * When the call returns no leaf of an earlier type is left in a range that changed. A large
 * leaf that lies in more than one range, or only partly in one, stays as KVM makes it and is
 * counted: cut memory slots at the edges of ranges, and KVM makes none.
 *
 * Errors: -EBADF @vm_fd is no virtual machine; -EINVAL a range breaks a rule above or a
 * type cannot be had; -E2BIG too many; -EIO probes are switched off, so that leaves go by
 * unseen (sysctl kernel.ftrace_enabled, debugfs kprobes/enabled); -ENOMEM; -EFAULT.
 */
struct kvm_memtype_set {
	__s32 vm_fd;
	__u32 nr;
	__u64 ranges;
};

/**
 * struct kvm_memtype_stats - counters since the machine's first ranges.
 * @vm_fd: which machine (in).
 * @nr: ranges that are set.
 * @leaves: leaves that KVM made for the machine.
 * @hits: how many of them got a type.
 * @straddled: how many were left alone because they reach out of their range, or are large and
 *             would need an index above 3, whose bit KVM takes for an address bit there.
 * @zaps: how many times old leaves were dropped.
 * @missed: leaves of any machine that went by unseen, since the module was loaded, and how many
 *          times probes were found switched off; anything but 0 means that some type may
 *          be wrong.
 */
struct kvm_memtype_stats {
	__s32 vm_fd;
	__u32 nr;
	__u64 leaves;
	__u64 hits;
	__u64 straddled;
	__u64 zaps;
	__u64 missed;
};

#define KVM_MEMTYPE_GET_INFO   _IOR(0xb7, 0x00, struct kvm_memtype_info)
#define KVM_MEMTYPE_SET_RANGES _IOW(0xb7, 0x01, struct kvm_memtype_set)
#define KVM_MEMTYPE_GET_STATS  _IOWR(0xb7, 0x02, struct kvm_memtype_stats)

#endif
