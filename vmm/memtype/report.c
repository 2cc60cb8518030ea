// SPDX-License-Identifier: GPL-2.0-only
/* `ctl memtype`: what is gathered, the modes, the registers and the map. */
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bp/print.h>
#include <mt/words.h>
#include "vmm/memtype/report.h"

/* Tables of a guest with 16 GiB in 4 KiB pages; tens of milliseconds, with all CPUs held. */
#define WALK_ENTRIES  (8u << 20)
#define WALK_MAPPINGS 2048u
#define MAP_SHOWN     512u
#define MAP_STEPS     65536u

static int by_address(const void *a, const void *b)
{
	const struct vmm_mt_stretch *x = a, *y = b;

	return x->cut->gpa < y->cut->gpa ? -1 : x->cut->gpa > y->cut->gpa;
}

static bool gather(struct vmm_mt_report_state *r)
{
	const struct vmm_mt *mt = r->mt;
	unsigned int room = 0;

	for (unsigned int i = 0; i < mt->nr_areas; i++)
		room += mt->area[i].used ? mt->area[i].nr : 0;
	r->stretch = calloc(room ? room : 1, sizeof(*r->stretch));
	r->target = calloc(room ? room : 1, sizeof(*r->target));
	if (!r->stretch || !r->target)
		return false;
	for (unsigned int i = 0; i < mt->nr_areas; i++) {
		const struct vmm_mt_area *a = &mt->area[i];

		for (unsigned int n = 0; a->used && n < a->nr; n++)
			r->stretch[r->nr++] = (struct vmm_mt_stretch){ a, &a->cut[n] };
	}
	qsort(r->stretch, r->nr, sizeof(*r->stretch), by_address);
	for (unsigned int i = 0; i < r->nr; i++) {
		const struct vmm_mt_cut *c = r->stretch[i].cut;

		r->target[i] = (struct vmm_walk_target){ c->gpa, c->gpa + c->size - 1 };
	}
	return true;
}

static bool read_guest(void *priv, uint64_t gpa, void *buf, size_t len)
{
	const struct vmm_mt *mt = priv;
	const void *at = vmm_ram_at(mt->vmm->ram, gpa, len);

	if (at)
		memcpy(buf, at, len);
	return at;
}

/* A CPU that waits to be started translates nothing. */
static bool cpu_runs(const struct vmm_mt *mt, unsigned int cpu)
{
	struct kvm_mp_state state;

	if (mt->cpu[cpu].fd < 0)
		return false;
	return mt->host.sys->ioctl(mt->cpu[cpu].fd, KVM_GET_MP_STATE, &state) ||
	       (state.mp_state != KVM_MP_STATE_UNINITIALIZED &&
		state.mp_state != KVM_MP_STATE_INIT_RECEIVED &&
		state.mp_state != KVM_MP_STATE_SIPI_RECEIVED);
}

static void walk(struct vmm_mt_report_state *r)
{
	const struct vmm_mt *mt = r->mt;
	const struct vmm_walk_task task = {
		.read = read_guest,
		.priv = r->mt,
		.target = r->target,
		.nr_targets = r->nr,
		.entries = WALK_ENTRIES,
		.mappings = WALK_MAPPINGS,
	};

	if (!r->nr)
		return;
	if (vmm_walk_new(&task, &r->walk)) {
		r->truncated = true;
		return;
	}
	for (unsigned int cpu = 0; cpu < mt->vmm->config->cpus; cpu++) {
		struct kvm_sregs s;

		if (!cpu_runs(mt, cpu))
			continue;
		if (mt->host.sys->ioctl(mt->cpu[cpu].fd, KVM_GET_SREGS, &s))
			r->truncated = true;
		else
			vmm_walk_cpu(r->walk, cpu,
				     &(struct vmm_walk_regs){ s.cr0, s.cr3, s.cr4, s.efer });
	}
	r->found = vmm_walk_found(r->walk, &r->nr_found);
	r->truncated |= vmm_walk_truncated(r->walk);
}

/* It may have been unloaded at any time, and perhaps loaded again: leaves then are KVM's own. */
static void ask_module(struct vmm_mt_report_state *r)
{
	const struct vmm_mt *mt = r->mt;
	struct kvm_memtype_info info;

	if (mt->mode != MT_MODE_MODULE)
		return;
	r->lost = vmm_mt_module_info(mt, &info);
	if (r->lost || !mt->nr_ranges)
		return;
	r->lost = vmm_mt_module_stats(mt, &r->counts) || r->counts.nr != mt->nr_ranges;
}

static const char *wish_name(enum vmm_mt_wish wish)
{
	static const char *const names[] = {
		[VMM_MT_AUTO] = "auto", [VMM_MT_MODULE] = "module",	  [VMM_MT_PAT] = "pat",
		[VMM_MT_OFF] = "off",	[VMM_MT_PAT_FORCE] = "pat,force",
	};

	return names[wish];
}

static void print_types(struct bp_print *p, const char *key, uint64_t pat)
{
	bp_print_hex(p, key, NULL, 16, pat);
	for (unsigned int i = 0; i < MT_PAT_ENTRIES; i++)
		bp_print_text(p, " %s", mt_type_name(mt_pat_entry(pat, i)));
}

static void print_module(const struct vmm_mt_report_state *r)
{
	const struct kvm_memtype_info *m = &r->mt->module;
	struct bp_print *p = r->p;

	if (!m->abi) {
		bp_print_null(p, "module", NULL);
		return;
	}
	bp_print_object(p, "module");
	bp_print_text(p, "kvm-memtype.ko: types");
	bp_print_u64(p, "abi", NULL, m->abi);
	bp_print_bool(p, "nested", NULL, m->flags & KVM_MEMTYPE_NESTED);
	bp_print_array(p, "types");
	for (unsigned int t = 0; t < MT_UC_MINUS; t++)
		if (m->types & 1u << t)
			bp_print_str(p, NULL, " %s", mt_type_name((enum mt_type)t));
	bp_print_array_end(p);
	bp_print_u64(p, "ranges_max", "; %lu ranges; host's PAT", m->ranges_max);
	print_types(p, "host_pat", m->host_pat);
	bp_print_text(p, "\n");
	bp_print_bool(p, "lost", NULL, r->lost);
	bp_print_u64(p, "straddled", NULL, r->counts.straddled);
	bp_print_u64(p, "missed", NULL, r->counts.missed);
	if (r->counts.straddled || r->counts.missed)
		bp_print_text(p,
			      "  some leaves are not what is said below: %llu went by unseen, "
			      "%llu reach out of their range\n",
			      r->counts.missed, r->counts.straddled);
	bp_print_object_end(p);
}

static void print_head(const struct vmm_mt_report_state *r)
{
	const struct vmm_mt *mt = r->mt;
	const char *why = r->lost ? "kvm-memtype.ko was unloaded: leaves are as KVM makes them"
				  : mt->why;
	struct bp_print *p = r->p;
	char kernel[32];

	snprintf(kernel, sizeof(kernel), "%u.%u.%u", mt->kernel.major, mt->kernel.minor,
		 mt->kernel.patch);
	bp_print_str(p, "wish", "asked for: %s", wish_name(mt->wish));
	bp_print_str(p, "mode", "; at work: %s", vmm_mt_mode(mt));
	bp_print_str(p, "why", why[0] ? " (%s)" : NULL, why);
	bp_print_text(p, "\nhost:");
	bp_print_str(p, "vendor", " %s", mt->vendor == MT_AMD ? "amd" : "intel");
	bp_print_str(p, "kernel", ", Linux %s", kernel);
	bp_print_bool(p, "nested", NULL, mt->nested);
	bp_print_text(p, ", %s",
		      mt->nested ? mt->vendor == MT_AMD ? "NPT" : "EPT" : "shadow paging");
	bp_print_bool(p, "coherent", NULL, mt->coherent);
	bp_print_text(p, ", DMA %s\n", mt->coherent ? "coherent" : "not coherent");
	print_module(r);
}

/* Registers that differ between CPUs that take part; up to MTRRs that are off. */
static void print_differences(const struct vmm_mt *mt, struct bp_print *p)
{
	const unsigned int cpus = mt->vmm->config->cpus;
	const struct mt_mtrr *first = NULL;
	char buf[MT_MSR_NAME];
	bool any = false;

	bp_print_array(p, "registers_that_differ");
	for (unsigned int i = 0; i < cpus && !first; i++)
		first = mt->cpu[i].seen ? &mt->cpu[i].regs : NULL;
	for (uint32_t msr = 0; first && msr <= MT_MSR_DEF_TYPE; msr++) {
		uint64_t want, value;
		bool same = true;

		if (mt_rdmsr(first, msr, &want))
			continue;
		for (unsigned int i = 0; i < cpus && same; i++)
			same = !mt->cpu[i].seen || mt_rdmsr(&mt->cpu[i].regs, msr, &value) ||
			       value == want;
		if (same)
			continue;
		bp_print_text(p, "%s", any ? "," : "the CPUs differ in");
		bp_print_str(p, NULL, " %s", mt_msr_name(msr, buf, sizeof(buf)));
		any = true;
	}
	bp_print_array_end(p);
	bp_print_text(p, "%s", any ? "\n" : "");
	bp_print_bool(p, "cpus_differ", NULL, mt->differ);
	if (mt->differ)
		bp_print_text(p, "  so types are by the state that all CPUs last agreed on\n");
}

static void print_cpus(const struct vmm_mt *mt, struct bp_print *p)
{
	bp_print_array(p, "cpus");
	for (unsigned int i = 0; i < mt->vmm->config->cpus; i++) {
		const struct vmm_mt_cpu *c = &mt->cpu[i];

		bp_print_object(p, NULL);
		bp_print_u64(p, "cpu", "CPU %lu:", i);
		bp_print_bool(p, "seen", NULL, c->seen);
		bp_print_hex(p, "def_type", " DEF_TYPE %s, PAT", 1, c->regs.def_type);
		print_types(p, "pat", c->regs.pat);
		if (c->hw_pat == c->regs.pat) {
			bp_print_hex(p, "hw_pat", NULL, 16, c->hw_pat);
		} else {
			bp_print_text(p, ", loaded is");
			print_types(p, "hw_pat", c->hw_pat);
		}
		bp_print_text(p, "%s\n", c->seen ? "" : " (as firmware left them)");
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	print_differences(mt, p);
}

static void print_range(struct bp_print *p, const struct mt_range *range)
{
	bp_print_object(p, NULL);
	bp_print_hex(p, "start", "  %s", 1, range->start);
	bp_print_hex(p, "end", "-%s", 1, range->last);
	bp_print_str(p, "type", " %s", mt_type_name(range->type));
	bp_print_bool(p, "undefined", NULL, range->undefined);
	bp_print_text(p, "%s\n",
		      range->undefined ? " (overlap that the manuals leave undefined)" : "");
	bp_print_object_end(p);
}

static void print_map(struct vmm_mt_report_state *r)
{
	const struct vmm_mt *mt = r->mt;
	const struct mt_role role = mt->track.role;
	const uint64_t end = (1ull << mt->vmm->maxphyaddr) - 1;
	struct mt_range range = { .last = end, .type = MT_UC };
	struct bp_print *p = r->p;
	uint32_t steps = MAP_STEPS;
	bool whole = true;

	bp_print_object(p, "role");
	bp_print_bool(p, "enabled", "MTRRs: enabled %s", role.flags & MT_ROLE_E);
	bp_print_bool(p, "fixed", ", fixed ranges enabled %s", role.flags & MT_ROLE_FE);
	bp_print_u64(p, "generation", ", generation %lu\n", role.generation);
	bp_print_object_end(p);
	bp_print_array(p, "map");
	if (!mt_role_settled(role))
		print_range(p, &range);
	for (unsigned int n = 0; mt_role_settled(role); n++) {
		if (n == MAP_SHOWN || !whole) {
			bp_print_text(r->p, "  and so on: a mask with holes repeats its range\n");
			r->truncated = true;
			break;
		}
		whole = mt_map_stretch(mt_track_map(&mt->track), n ? range.last + 1 : 0, end,
				       &steps, &range);
		print_range(p, &range);
		if (range.last == end)
			break;
	}
	bp_print_array_end(p);
}

void vmm_mt_report(struct vmm_mt *mt, struct bp_print *p)
{
	struct vmm_mt_report_state r = { .mt = mt, .p = p };

	vmm_mt_refresh(mt);
	if (gather(&r))
		walk(&r);
	else
		r.truncated = true;
	ask_module(&r);
	print_head(&r);
	print_cpus(mt, p);
	print_map(&r);
	vmm_mt_report_bars(&r);
	bp_print_bool(p, "truncated", NULL, r.truncated);
	if (r.truncated)
		bp_print_text(p, "something is missing above: a limit was reached\n");
	vmm_walk_free(r.walk);
	free(r.stretch);
	free(r.target);
}
