/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUID tells the guest: KVM's own answer, with a topology of one socket
 * and one thread a core, and without virtualization inside the guest.
 */
#ifndef VMM_CPUID_H
#define VMM_CPUID_H

#include <stdbool.h>
#include <stdint.h>

struct kvm_cpuid2;

/**
 * vmm_cpuid_supported() - ask KVM what it can offer (KVM_GET_SUPPORTED_CPUID).
 * @kvm_fd: /dev/kvm.
 * @out: receives the list; the caller frees it.
 *
 * The list's size is not known beforehand; the call is repeated with more room.
 *
 * Return: 0, or a negative errno.
 */
int vmm_cpuid_supported(int kvm_fd, struct kvm_cpuid2 **out);

/**
 * vmm_cpuid_build() - the list for one VCPU.
 * @supported: KVM's answer.
 * @id: the VCPU's local APIC ID.
 * @cpus: VCPUs in all; APIC IDs are 0 to @cpus - 1.
 * @tsc_deadline: whether KVM's local APIC has the TSC deadline timer, which
 *                KVM_GET_SUPPORTED_CPUID does not say on older kernels.
 * @out: receives the list; the caller frees it.
 *
 * Topology in leaves 1, 4, 0xb, 0x1f, 0x80000001, 0x80000008, 0x8000001d and
 * 0x8000001e (Intel SDM vol. 2 CPUID; AMD APM vol. 3 appendix E).
 *
 * Return: 0, or -ENOMEM.
 */
int vmm_cpuid_build(const struct kvm_cpuid2 *supported, unsigned int id, unsigned int cpus,
		    bool tsc_deadline, struct kvm_cpuid2 **out);

/**
 * vmm_cpuid_maxphyaddr() - guest physical address width.
 * @cpuid: KVM's answer.
 *
 * Leaf 0x80000008, the smaller of EAX[7:0] and, where it is not 0, EAX[23:16]
 * (GuestPhysAddrSize: what nested paging can translate); 36 without the leaf.
 *
 * Return: bits, 32 to 52.
 */
unsigned int vmm_cpuid_maxphyaddr(const struct kvm_cpuid2 *cpuid);

#endif
