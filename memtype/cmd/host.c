// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>
#include <mt/pat.h>

#include "cmd.h"
#include "host.h"
#include "ranges.h"

static void print_variables(struct bp_print *p, const struct mt_mtrr *m)
{
	bp_print_array(p, "variable");
	for (unsigned int i = 0; i < m->vcnt; i++) {
		const struct mt_variable *v = &m->variable[i];

		bp_print_object(p, NULL);
		bp_print_u64(p, "index", NULL, i);
		bp_print_hex(p, "base", NULL, 1, v->base);
		bp_print_hex(p, "mask", NULL, 1, v->mask);
		bp_print_bool(p, "valid", NULL, v->mask & MT_PHYSMASK_VALID);
		bp_print_str(p, "type", NULL, mt_type_name((enum mt_type)(v->base & 0xff)));
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	bp_print_array(p, "fixed");
	for (unsigned int i = 0; i < MT_FIXED_REGISTERS; i++)
		bp_print_hex(p, NULL, NULL, 16, m->fixed[i]);
	bp_print_array_end(p);
}

static void print_cpus(struct bp_print *p, const struct host *h)
{
	bp_print_array(p, "cpus");
	for (size_t i = 0; bp_print_is_json(p) && i < h->cpu_count; i++) {
		const struct mt_host *r = &h->cpus[i].regs;

		bp_print_object(p, NULL);
		bp_print_u64(p, "cpu", NULL, h->cpus[i].id);
		bp_print_hex(p, "mtrrcap", NULL, 1, r->mtrr.cap);
		bp_print_hex(p, "def_type", NULL, 1, r->mtrr.def_type);
		mt_print_pat(p, r->mtrr.pat);
		print_variables(p, &r->mtrr);
		if (h->vendor == MT_AMD) {
			bp_print_hex(p, "syscfg", NULL, 1, r->syscfg);
			bp_print_hex(p, "top_mem", NULL, 1, r->top_mem);
			bp_print_hex(p, "top_mem2", NULL, 1, r->top_mem2);
		}
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

static void print_spans(struct bp_print *p, const char *key, const char *heading,
			const struct host_span *s, size_t count, bool text)
{
	bp_print_array(p, key);
	if (count && text)
		bp_print_text(p, "%s\n", heading);
	for (size_t i = 0; i < count && (text || bp_print_is_json(p)); i++) {
		bp_print_object(p, NULL);
		bp_print_hex(p, "start", "  %s", 13, s[i].start);
		bp_print_hex(p, "end", "-%s", 13, s[i].last);
		bp_print_str(p, "type", "  %s\n", s[i].type);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

static void print_bars(struct bp_print *p, const struct host *h, const struct mt_map *map)
{
	bp_print_array(p, "bars");
	if (h->bar_count)
		bp_print_text(p, "BARs\n");
	for (size_t i = 0; i < h->bar_count; i++) {
		const struct host_bar *b = &h->bars[i];
		bool vf = b->index > 6;
		enum mt_type type;
		bool one = mt_map_uniform(map, b->start & ~0xfffull, b->last | 0xfff, &type);

		bp_print_object(p, NULL);
		bp_print_str(p, "bdf", "  %s", b->bdf);
		bp_print_bool(p, "vf_bar", NULL, vf);
		bp_print_text(p, "%s", vf ? " VF" : "");
		bp_print_u64(p, "bar", " BAR %lu", vf ? b->index - 7 : b->index);
		bp_print_hex(p, "start", "  %s", 13, b->start);
		bp_print_hex(p, "end", "-%s", 13, b->last);
		bp_print_bool(p, "prefetchable", NULL, b->prefetchable);
		bp_print_str(p, "mtrr", "  %s\n", one ? mt_type_name(type) : "mixed");
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

static const struct host_span *span_at(const struct host_span *s, size_t count, uint64_t addr)
{
	for (size_t i = 0; i < count; i++)
		if (addr >= s[i].start && addr <= s[i].last)
			return &s[i];
	return NULL;
}

static void print_address(struct bp_print *p, const struct host *h, const struct mt_host *r,
			  const struct mt_map *map, uint64_t addr)
{
	static const enum mt_type pats[] = { MT_UC, MT_UC_MINUS, MT_WC, MT_WT, MT_WP, MT_WB };
	const struct host_span *m = span_at(h->memtype, h->memtype_count, addr);
	struct mt_range range;
	enum mt_route read, write;

	mt_map_next(map, addr, &range);
	bp_print_object(p, "address");
	bp_print_hex(p, "addr", "Address %s\n", 1, addr);
	bp_print_hex(p, "start", "  MTRR: %s", 13, range.start);
	bp_print_hex(p, "end", "-%s", 13, range.last);
	bp_print_str(p, "mtrr", " %s", mt_type_name(range.type));
	bp_print_bool(p, "undefined", NULL, range.undefined);
	bp_print_text(p, "%s\n", range.undefined ? " (undefined overlap)" : "");
	if (h->vendor == MT_AMD && h->cpu_count && !mt_host_route(r, addr, &read, &write)) {
		bp_print_str(p, "reads", "  reads go to %s",
			     read == MT_ROUTE_DRAM ? "dram" : "mmio");
		bp_print_str(p, "writes", ", writes to %s\n",
			     write == MT_ROUTE_DRAM ? "dram" : "mmio");
	}
	bp_print_str(p, "kernel", "  kernel's mapping: %s\n", m ? m->type : NULL);
	for (size_t i = 0; i < h->bar_count; i++) {
		if (addr < h->bars[i].start || addr > h->bars[i].last)
			continue;
		bp_print_str(p, "bdf", "  BAR of %s\n", h->bars[i].bdf);
		break;
	}
	bp_print_text(p, "  with PAT type");
	bp_print_object(p, "effective");
	for (size_t i = 0; i < sizeof(pats) / sizeof(*pats); i++) {
		struct mt_effective e;

		if (mt_combine(h->vendor, range.type, pats[i], &e))
			continue;
		bp_print_text(p, "%s %s: ", i ? "," : "", mt_type_name(pats[i]));
		bp_print_str(p, mt_type_name(pats[i]), "%s", mt_type_name(e.type));
	}
	bp_print_object_end(p);
	bp_print_text(p, "\n");
	bp_print_object_end(p);
}

static unsigned int print_host(struct bp_print *p, const struct host *h, const uint64_t *addr)
{
	static struct mt_map map;
	unsigned int problems;
	struct mt_host r;
	bool real = host_registers(h, &r);

	mt_map_build(&map, &r.mtrr);
	bp_print_object(p, NULL);
	bp_print_str(p, "vendor", "%s", h->vendor == MT_AMD ? "amd" : "intel");
	bp_print_u64(p, "maxphyaddr", ", MAXPHYADDR %lu", h->maxphyaddr);
	bp_print_text(p, ", %zu processors read\n", h->cpu_count);
	bp_print_str(p, "no_msr", "not all MSRs were read: %s\n", h->no_msr[0] ? h->no_msr : NULL);
	print_cpus(p, h);
	if (real)
		mt_print_pat(p, r.mtrr.pat);
	bp_print_bool(p, "default_known", NULL, real);
	bp_print_text(p, "MTRRs%s\n", real ? "" : " by /proc/mtrr (default type taken as UC)");
	mt_print_ranges(p, &map);
	print_spans(p, "proc_mtrr", "/proc/mtrr", h->proc_mtrr, h->proc_mtrr_count, false);
	print_spans(p, "pat_memtype_list", "Types that the kernel has mapped", h->memtype,
		    h->memtype_count, true);
	print_bars(p, h, &map);
	if (addr)
		print_address(p, h, &r, &map, *addr);
	problems = host_judge(p, h, &map);
	if (!problems)
		bp_print_text(p, "No problems found\n");
	bp_print_object_end(p);
	return problems;
}

int mt_cmd_host(struct bp_cli *cli, int argc, char **argv)
{
	struct mt_opt opts[] = { { NULL, false, NULL } };
	int rest = mt_opts_parse(cli, opts, argc, argv), ret;
	struct bp_error err = { 0 };
	unsigned int problems;
	struct bp_print *p;
	uint64_t addr = 0;
	struct host h;

	if (rest < 0)
		return BP_EXIT_USAGE;
	if (rest > 1)
		return bp_cli_usage(cli, argv[0], "one address at most");
	if (rest && bp_parse_u64(argv[1], 0, UINT64_MAX, &addr))
		return bp_cli_usage(cli, argv[0], "'%s' is no address, such as 0xfe000000",
				    argv[1]);
	ret = host_read(&h, cli->root, &err);
	if (ret) {
		host_free(&h);
		return bp_log_report(&err, ret, "reading the machine's memory types");
	}
	p = bp_print_new(stdout, cli->mode);
	if (!p) {
		host_free(&h);
		return bp_log_report(NULL, -ENOMEM, "printing");
	}
	problems = print_host(p, &h, rest ? &addr : NULL);
	host_free(&h);
	ret = bp_print_free(p);
	if (ret)
		return bp_log_report(NULL, ret, "writing what was found");
	return problems ? BP_EXIT_FAIL : BP_EXIT_OK;
}
