/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of a VCPU: what it has at power-on, remembered so that a reset puts
 * exactly that back, and what the Linux boot protocol wants on top.
 */
#ifndef VMM_VCPU_STATE_H
#define VMM_VCPU_STATE_H

#include <stdint.h>

#include <bp/error.h>
#include "vmm/boot/boot.h"

struct kvm_cpuid2;
struct vmm_vcpu_state;

/**
 * vmm_vcpu_setup() - CPUID and local APIC pins of a new VCPU.
 * @fd: VCPU.
 * @cpuid: from vmm_cpuid_build().
 * @err: receives the reason of a failure.
 *
 * Return: 0, or a negative errno.
 */
int vmm_vcpu_setup(int fd, const struct kvm_cpuid2 *cpuid, struct bp_error *err);

/**
 * vmm_vcpu_state_save() - remember the state of a VCPU.
 * @kvm_fd: /dev/kvm, which knows the list of MSRs.
 * @fd: VCPU.
 * @out: receives the state; free() it.
 *
 * MSRs that cannot be read, MTRRs and PAT (vmm_mt_power_on()), the time stamp counter, which is to go on, and those of the
 * Hyper-V interface, which the guest does not see, are left out.
 *
 * Return: 0, or a negative errno.
 */
int vmm_vcpu_state_save(int kvm_fd, int fd, struct vmm_vcpu_state **out);

/** vmm_vcpu_state_restore() - put it back. @fd: VCPU. @state: state. Return: 0 or a negative errno. */
int vmm_vcpu_state_restore(int fd, const struct vmm_vcpu_state *state);

/**
 * vmm_vcpu_enter() - registers for the kernel's entry point.
 * @fd: VCPU in power-on state.
 * @entry: where and how (Documentation/arch/x86/boot.rst, "32-bit" and "64-bit boot protocol").
 *
 * Return: 0, or a negative errno.
 */
int vmm_vcpu_enter(int fd, const struct vmm_entry *entry);

#endif
