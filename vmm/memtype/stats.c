// SPDX-License-Identifier: GPL-2.0-only
#include <bp/print.h>
#include "vmm/memtype/state.h"

static void print_module(const struct vmm_mt *mt, struct bp_print *p)
{
	struct kvm_memtype_stats s;

	if (mt->mode != MT_MODE_MODULE || vmm_mt_module_stats(mt, &s)) {
		bp_print_null(p, "module", NULL);
		return;
	}
	bp_print_object(p, "module");
	bp_print_u64(p, "ranges", "  kvm-memtype.ko: %lu ranges", s.nr);
	bp_print_u64(p, "leaves", ", %lu leaves", s.leaves);
	bp_print_u64(p, "hits", ", %lu of them typed", s.hits);
	bp_print_u64(p, "straddled", ", %lu across an edge", s.straddled);
	bp_print_u64(p, "zaps", ", %lu zaps", s.zaps);
	bp_print_u64(p, "missed", ", %lu missed\n", s.missed);
	bp_print_object_end(p);
}

void vmm_mt_stats(const struct vmm_mt *mt, struct bp_print *p)
{
	const struct vmm_mt_counts *c = &mt->counts;

	bp_print_object(p, "memtype");
	bp_print_text(p, "memory types:\n");
	bp_print_u64(p, "writes", "  MTRRs written %lu times", c->writes);
	bp_print_u64(p, "pat_writes", ", PAT %lu times", c->pat_writes);
	bp_print_u64(p, "faults", ", %lu accesses refused\n", c->faults);
	bp_print_u64(p, "roles", "  role changed %lu times", c->roles);
	bp_print_u64(p, "remakes", ", leaves made anew %lu times", c->remakes);
	bp_print_u64(p, "cuts", " in %lu stretches\n", c->cuts);
	print_module(mt, p);
	bp_print_object_end(p);
}
