/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One virtual CPU: its thread, its initial state, and the loop that answers exits.
 */
#ifndef VMM_VCPU_H
#define VMM_VCPU_H

#include <stdint.h>

#include <bp/error.h>
#include "vmm/boot/boot.h"

struct vmm;
struct vmm_vcpu;

#define VMM_EXIT_REASONS 64

/** struct vmm_exit_counts - exits that reached this process, by KVM_EXIT_* number. */
struct vmm_exit_counts {
	uint64_t by_reason[VMM_EXIT_REASONS];
};

/**
 * vmm_vcpu_new() - create a VCPU with CPUID, local APIC and memory-type state.
 * @vmm: machine.
 * @id: local APIC ID.
 * @out: receives it; no thread runs yet.
 * @err: receives the reason of a failure.
 *
 * MTRRs and PAT are as firmware leaves them (vmm_mt_power_on()) on every VCPU.
 *
 * Return: 0, or a negative errno.
 */
int vmm_vcpu_new(struct vmm *vmm, unsigned int id, struct vmm_vcpu **out, struct bp_error *err);

/**
 * vmm_vcpu_start() - start the thread.
 * @vcpu: VCPU.
 * @entry: where the first CPU begins; NULL for the others, which wait for INIT and SIPI.
 *
 * Return: 0, or a negative errno.
 */
int vmm_vcpu_start(struct vmm_vcpu *vcpu, const struct vmm_entry *entry);

/** vmm_vcpu_counts() - a copy of the counters, without stopping it. @vcpu: VCPU. @out: receives them. */
void vmm_vcpu_counts(const struct vmm_vcpu *vcpu, struct vmm_exit_counts *out);

/** vmm_vcpu_fd() - KVM's descriptor. @vcpu: VCPU. Return: descriptor. */
int vmm_vcpu_fd(const struct vmm_vcpu *vcpu);

/** vmm_vcpu_kick() - make it leave guest mode soon. @vcpu: VCPU. */
void vmm_vcpu_kick(struct vmm_vcpu *vcpu);

/** vmm_vcpu_free() - stop the thread and drop the VCPU. @vcpu: NULL is allowed. */
void vmm_vcpu_free(struct vmm_vcpu *vcpu);

#endif
