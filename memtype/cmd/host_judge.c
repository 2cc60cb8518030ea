// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <mt/pat.h>

#include "host.h"
#include "msrname.h"

struct problems {
	struct bp_print *p;
	unsigned int count;
};

static void problem(struct problems *l, const char *code, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void problem(struct problems *l, const char *code, const char *fix, const char *fmt, ...)
{
	char detail[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	bp_print_text(l->p, l->count ? "" : "Problems\n");
	bp_print_object(l->p, NULL);
	bp_print_str(l->p, "code", "  %s:", code);
	bp_print_str(l->p, "detail", " %s", detail);
	bp_print_str(l->p, "fix", "; %s\n", fix);
	bp_print_object_end(l->p);
	l->count++;
}

static uint64_t value_of(const struct mt_host *r, uint32_t msr)
{
	uint64_t v = 0;

	switch (msr) {
	case MT_MSR_SYSCFG:
		return r->syscfg;
	case MT_MSR_TOP_MEM:
		return r->top_mem;
	case MT_MSR_TOP_MEM2:
		return r->top_mem2;
	}
	mt_rdmsr(&r->mtrr, msr, &v);
	return v;
}

/* One problem for each register in which some processor differs from the first. */
static void judge_cpus(struct problems *l, const struct host *h)
{
	static const uint32_t others[] = { MT_MSR_SYSCFG, MT_MSR_TOP_MEM, MT_MSR_TOP_MEM2 };
	const size_t last = MT_MSR_DEF_TYPE + sizeof(others) / sizeof(*others);

	for (size_t n = MT_MSR_MTRRCAP; n <= last; n++) {
		uint32_t msr = n > MT_MSR_DEF_TYPE ? others[n - MT_MSR_DEF_TYPE - 1] : (uint32_t)n;
		char name[24];

		for (size_t i = 1; i < h->cpu_count; i++) {
			uint64_t first = value_of(&h->cpus[0].regs, msr);
			uint64_t other = value_of(&h->cpus[i].regs, msr);

			if (first == other)
				continue;
			problem(l, "cpus-differ",
				"all processors must agree: a firmware fault, or a driver that "
				"wrote "
				"one processor only",
				"%s is %#" PRIx64 " on CPU %u and %#" PRIx64 " on CPU %u",
				mt_msr_text(msr, name, sizeof(name)), first, h->cpus[0].id, other,
				h->cpus[i].id);
			break;
		}
	}
}

static void judge_overlaps(struct problems *l, const struct mt_map *map)
{
	uint64_t addr = 0;
	struct mt_range r;

	/* A mask with holes would repeat the same complaint. */
	for (unsigned int step = 0; step < 1024; step++) {
		mt_map_next(map, addr, &r);
		if (r.undefined) {
			problem(l, "overlap-undefined",
				"make the ranges disjoint, or one of them UC",
				"ranges of different types overlap at %#" PRIx64 "-%#" PRIx64
				": taken as %s",
				r.start, r.last, mt_type_name(r.type));
			return;
		}
		if (r.last == ~0ull)
			return;
		addr = r.last + 1;
	}
}

static const char *bar_name(const struct host_bar *b, char buf[24])
{
	snprintf(buf, 24, "%sBAR %u", b->index > 6 ? "VF " : "",
		 b->index > 6 ? b->index - 7 : b->index);
	return buf;
}

static void judge_bars(struct problems *l, const struct host *h, const struct mt_map *map)
{
	for (size_t i = 0; i < h->bar_count; i++) {
		const struct host_bar *b = &h->bars[i];
		enum mt_type type;
		char name[24];

		if (!mt_map_uniform(map, b->start & ~0xfffull, b->last | 0xfff, &type)) {
			problem(l, "bar-mixed", "let one range cover the whole BAR, or none",
				"%s %s (%#" PRIx64 "-%#" PRIx64 ") lies under more than one type",
				b->bdf, bar_name(b, name), b->start, b->last);
			continue;
		}
		if (type == MT_UC || type == MT_WC)
			continue;
		problem(l, "bar-cacheable",
			"the firmware should leave device addresses UC; see /proc/mtrr",
			"%s %s (%#" PRIx64 "-%#" PRIx64 ") lies under a %s range", b->bdf,
			bar_name(b, name), b->start, b->last, mt_type_name(type));
	}
}

/* AMD: types that may not stand with where accesses go, in the first MiB. */
static void judge_routes(struct problems *l, const struct mt_host *r)
{
	if (r->vendor != MT_AMD)
		return;
	for (unsigned int i = 0; i < MT_FIXED_RANGES; i++) {
		enum mt_route read, write;
		enum mt_type type;
		uint64_t start;
		uint32_t size;

		mt_fixed_range(i, &start, &size);
		type = mt_mtrr_type(&r->mtrr, start).type;
		if (mt_host_route(r, start, &read, &write) ||
		    mt_host_route_legal(read, write, type))
			continue;
		problem(l, "routing-reserved", "a firmware fault: RdMem, WrMem and type do not fit",
			"%#" PRIx64 "-%#" PRIx64 " is %s with reads to %s and writes to %s", start,
			start + size - 1, mt_type_name(type),
			read == MT_ROUTE_DRAM ? "DRAM" : "devices",
			write == MT_ROUTE_DRAM ? "DRAM" : "devices");
		return;
	}
}

unsigned int host_judge(struct bp_print *p, const struct host *h, const struct mt_map *map)
{
	struct problems l = { p, 0 };

	bp_print_array(p, "problems");
	judge_cpus(&l, h);
	if (h->cpu_count) {
		const struct mt_host *r = &h->cpus[0].regs;

		if (!(r->mtrr.def_type & MT_DEF_TYPE_E))
			problem(&l, "mtrr-disabled", "enable MTRRs in the firmware setup",
				"MTRRs are disabled: all memory is uncached");
		if (mt_pat_find(r->mtrr.pat, MT_WC) < 0)
			problem(&l, "pat-without-wc", "start Linux without 'nopat'",
				"no entry of the PAT is WC: no nested leaf of an AMD host can be "
				"WC");
		judge_routes(&l, r);
	}
	judge_overlaps(&l, map);
	judge_bars(&l, h, map);
	bp_print_array_end(p);
	return l.count;
}
