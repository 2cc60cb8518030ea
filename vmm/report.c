// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include <bp/print.h>
#include "vmm/core.h"
#include "vmm/kvmstats.h"
#include "vmm/layout.h"
#include "vmm/memuse.h"
#include "vmm/report.h"

#define KVMSTATS_MAX 192

static uint64_t uptime_ms(const struct vmm_core *core)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)((now.tv_sec - core->started.tv_sec) * 1000 +
			  (now.tv_nsec - core->started.tv_nsec) / 1000000);
}

const char *vmm_report_end(const struct vmm_core *core)
{
	switch (core->end) {
	case VMM_END_POWEROFF:
		return "poweroff";
	case VMM_END_STOPPED:
		return "stopped";
	case VMM_END_RECALLED:
		return "recalled";
	case VMM_END_CRASHED:
		return "crashed";
	case VMM_END_NONE:
		break;
	}
	return "running";
}

static void print_range(struct bp_print *p, const char *name, uint64_t start, uint64_t end)
{
	bp_print_object(p, name);
	bp_print_text(p, "  %-8s", name ? name : "ram");
	bp_print_hex(p, "start", "%s", 1, start);
	bp_print_hex(p, "end", " to %s\n", 1, end);
	bp_print_object_end(p);
}

static void print_layout(const struct vmm_core *core, struct bp_print *p)
{
	const struct vmm_ram_layout *l = vmm_ram_layout(core->vmm.ram);

	bp_print_object(p, "layout");
	bp_print_text(p, "layout:\n");
	bp_print_array(p, "ram");
	for (unsigned int i = 0; i < l->nr; i++)
		print_range(p, NULL, l->region[i].gpa, l->region[i].gpa + l->region[i].size);
	bp_print_array_end(p);
	print_range(p, "mmio32", VMM_MMIO32_BASE, VMM_MMIO32_END);
	if (l->mmio64_base < l->mmio64_end)
		print_range(p, "mmio64", l->mmio64_base, l->mmio64_end);
	else
		bp_print_null(p, "mmio64", NULL);
	bp_print_u64(p, "phys_bits", "  address width %lu bits\n", core->vmm.maxphyaddr);
	bp_print_object_end(p);
}

void vmm_report_status(struct vmm_core *core, struct bp_print *p)
{
	const struct vmm_config *c = core->vmm.config;

	bp_print_str(p, "state", "state: %s\n",
		     core->end	    ? vmm_report_end(core)
		     : core->paused ? "paused"
				    : "running");
	bp_print_u64(p, "uptime_ms", "uptime: %lu ms\n", uptime_ms(core));
	bp_print_u64(p, "resets", "resets: %lu\n", core->resets);
	bp_print_u64(p, "cpus", "cpus: %lu\n", c->cpus);
	bp_print_u64(p, "mem_bytes", NULL, c->mem);
	bp_print_text(p, "mem: %llu MiB", (unsigned long long)(c->mem >> 20));
	bp_print_u64(p, "hugepage_bytes", NULL, c->hugepage);
	if (c->hugepage)
		bp_print_text(p, " in huge pages of %llu MiB",
			      (unsigned long long)(c->hugepage >> 20));
	bp_print_text(p, "\n");
	bp_print_str(p, "kernel", "kernel: %s\n", c->kernel);
	bp_print_str(p, "initrd", "initrd: %s\n", c->initrd);
	bp_print_str(p, "append", "append: %s\n", c->append);
	bp_print_str(p, "entry", "entry: %s\n", core->entry.long_mode ? "64-bit" : "32-bit");
	print_layout(core, p);
	bp_print_object(p, "memtype");
	bp_print_str(p, "mode", "memory types: %s", vmm_mt_mode(core->vmm.mt));
	bp_print_str(p, "why", vmm_mt_why(core->vmm.mt)[0] ? ", because %s" : NULL,
		     vmm_mt_why(core->vmm.mt));
	bp_print_text(p, "\n");
	bp_print_object_end(p);
	bp_print_str(p, "backend", "backend: %s\n",
		     core->vmm.iommu ? vf_iommu_backend(core->vmm.iommu) : NULL);
	bp_print_array(p, "devices");
	for (unsigned int i = 0; i < core->nr_assigned; i++)
		vmm_assign_print(core->assigned[i], p);
	bp_print_array_end(p);
}

/* Exits of one VCPU, or of all with @only NULL. */
static void print_exits(const struct vmm_core *core, struct bp_print *p, const char *key,
			const struct vmm_vcpu *only)
{
	struct vmm_exit_counts sum = { 0 }, one;

	for (unsigned int i = 0; i < core->vmm.nr_vcpus; i++) {
		if (only && core->vmm.vcpu[i] != only)
			continue;
		vmm_vcpu_counts(core->vmm.vcpu[i], &one);
		for (unsigned int r = 0; r < VMM_EXIT_REASONS; r++)
			sum.by_reason[r] += one.by_reason[r];
	}
	bp_print_object(p, key);
	for (unsigned int r = 0; r < VMM_EXIT_REASONS; r++) {
		const char *name = vmm_exit_name(r);

		if (!sum.by_reason[r] || !name)
			continue;
		bp_print_text(p, "  %-16s", name);
		bp_print_u64(p, name, " %lu\n", sum.by_reason[r]);
	}
	bp_print_object_end(p);
}

static void print_accesses(const struct vmm_core *core, struct bp_print *p)
{
	bp_print_text(p, "accesses by what answered:\n");
	bp_print_array(p, "accesses");
	for (unsigned int i = 0; i < core->tally.nr; i++) {
		const struct vmm_tally_line *l = &core->tally.line[i];

		bp_print_object(p, NULL);
		bp_print_str(p, "name", "  %-24s", l->name);
		bp_print_str(p, "kind", " %-4s", l->mmio ? "mmio" : "pio");
		bp_print_u64(p, "count", " %lu\n", l->count);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

/* One list for the VM and the sum of its VCPUs; KVM gives them different names. */
static void print_kvm(const struct vmm_core *core, struct bp_print *p)
{
	struct vmm_kvmstat *stats = calloc(KVMSTATS_MAX, sizeof(*stats));
	size_t nr = 0;
	int ret = stats && core->stats_fd >= 0
			  ? vmm_kvmstats_add(core->stats_fd, stats, &nr, KVMSTATS_MAX)
			  : -1;

	for (unsigned int i = 0; i < core->vmm.nr_vcpus && !ret; i++)
		ret = vmm_kvmstats_add(vmm_vcpu_stats_fd(core->vmm.vcpu[i]), stats, &nr,
				       KVMSTATS_MAX);
	if (ret) {
		bp_print_null(p, "kvm", "kvm: this kernel does not tell\n");
	} else {
		bp_print_object(p, "kvm");
		bp_print_text(p, "kvm:\n");
		for (size_t i = 0; i < nr; i++) {
			/* Text leaves out the many that are 0. */
			if (stats[i].value || bp_print_is_json(p)) {
				bp_print_text(p, "  %-32s", stats[i].name);
				bp_print_u64(p, stats[i].name, " %lu\n", stats[i].value);
			}
		}
		bp_print_object_end(p);
	}
	free(stats);
}

void vmm_report_stats(struct vmm_core *core, struct bp_print *p)
{
	uint64_t now, peak;

	bp_print_u64(p, "uptime_ms", "uptime: %lu ms\n", uptime_ms(core));
	bp_print_u64(p, "resets", NULL, core->resets);
	bp_print_text(p, "exits to the monitor:\n");
	print_exits(core, p, "exits", NULL);
	bp_print_array(p, "exits_by_cpu");
	for (unsigned int i = 0; i < core->vmm.nr_vcpus && bp_print_is_json(p); i++)
		print_exits(core, p, NULL, core->vmm.vcpu[i]);
	bp_print_array_end(p);
	print_accesses(core, p);
	vmm_mt_stats(core->vmm.mt, p);
	print_kvm(core, p);
	vmm_memuse_read(core->memuse, &now, &peak);
	bp_print_u64(p, "vmm_extra_kib", "memory beyond the guest's: %lu KiB", now);
	bp_print_u64(p, "vmm_extra_peak_kib", ", at most %lu KiB\n", peak);
}
