// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kvm.h>
#include <stdio.h>
#include <string.h>

#include "vmm/tally.h"
#include "vmm/vcpu.h"

void vmm_tally_add(struct vmm_tally *tally, const char *name, bool mmio)
{
	struct vmm_tally_line *l;

	if (!name)
		name = "unclaimed";
	for (unsigned int i = 0; i < tally->nr; i++) {
		l = &tally->line[i];
		if (l->mmio == mmio && !strncmp(l->name, name, sizeof(l->name) - 1)) {
			l->count++;
			return;
		}
	}
	if (tally->nr == VMM_TALLY_NAMES) {
		l = &tally->line[VMM_TALLY_NAMES - 1];
		snprintf(l->name, sizeof(l->name), "others");
		l->count++;
		return;
	}
	l = &tally->line[tally->nr++];
	snprintf(l->name, sizeof(l->name), "%s", name);
	l->mmio = mmio;
	l->count = 1;
}

static const char *const exit_names[VMM_EXIT_REASONS] = {
	[KVM_EXIT_UNKNOWN] = "unknown",
	[KVM_EXIT_EXCEPTION] = "exception",
	[KVM_EXIT_IO] = "io",
	[KVM_EXIT_HYPERCALL] = "hypercall",
	[KVM_EXIT_DEBUG] = "debug",
	[KVM_EXIT_HLT] = "hlt",
	[KVM_EXIT_MMIO] = "mmio",
	[KVM_EXIT_IRQ_WINDOW_OPEN] = "irq_window_open",
	[KVM_EXIT_SHUTDOWN] = "shutdown",
	[KVM_EXIT_FAIL_ENTRY] = "fail_entry",
	[KVM_EXIT_INTR] = "intr",
	[KVM_EXIT_SET_TPR] = "set_tpr",
	[KVM_EXIT_TPR_ACCESS] = "tpr_access",
	[KVM_EXIT_NMI] = "nmi",
	[KVM_EXIT_INTERNAL_ERROR] = "internal_error",
	[KVM_EXIT_SYSTEM_EVENT] = "system_event",
	[KVM_EXIT_IOAPIC_EOI] = "ioapic_eoi",
	[KVM_EXIT_HYPERV] = "hyperv",
	[KVM_EXIT_X86_RDMSR] = "rdmsr",
	[KVM_EXIT_X86_WRMSR] = "wrmsr",
	[KVM_EXIT_X86_BUS_LOCK] = "bus_lock",
	[KVM_EXIT_NOTIFY] = "notify",
};

const char *vmm_exit_name(unsigned int reason)
{
	return reason < VMM_EXIT_REASONS ? exit_names[reason] : NULL;
}
