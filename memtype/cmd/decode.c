// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>
#include <mt/host.h>
#include <mt/map.h>

#include "cmd.h"
#include "msrname.h"
#include "ranges.h"

enum {
	MAXPHYADDR,
	HOST,
	END
};

struct write {
	uint32_t msr;
	uint64_t value;
	enum mt_gp fault;
	bool unknown;
};

static const char *const reasons[] = {
	[MT_GP_READ_ONLY] = "the register is read-only",
	[MT_GP_TYPE] = "a type field holds a reserved encoding",
	[MT_GP_RESERVED] = "a reserved bit is set",
	[MT_GP_WIDTH] = "an address bit at or above MAXPHYADDR is set",
};

static int parse_write(const char *arg, struct write *w)
{
	const char *eq = strchr(arg, '=');

	*w = (struct write){ 0 };
	if (!eq || mt_msr_parse(arg, (size_t)(eq - arg), &w->msr) ||
	    bp_parse_u64(eq + 1, 0, UINT64_MAX, &w->value))
		return -EINVAL;
	return 0;
}

/* Masks are written up to the width, so their highest bit tells it. */
static unsigned int width_of(const struct write *writes, int count)
{
	unsigned int width = 36;

	for (int i = 0; i < count; i++) {
		uint64_t v = writes[i].value;

		if (writes[i].msr < 0x200 || writes[i].msr >= MT_MSR_PHYSBASE(MT_VARIABLE_MAX))
			continue;
		while (width < MT_MAXPHYADDR_MAX && v >> width)
			width++;
	}
	return width;
}

static uint32_t cap_of(const struct write *writes, int count)
{
	for (int i = 0; i < count; i++)
		if (writes[i].msr == MT_MSR_MTRRCAP)
			return (uint32_t)writes[i].value;
	return MT_MTRRCAP_VALUE;
}

/* Carry the writes out; returns how many failed. */
static int apply(struct mt_host *h, bool host, struct write *writes, int count)
{
	int failed = 0;

	for (int i = 0; i < count; i++) {
		struct write *w = &writes[i];
		int ret = host ? mt_host_load(h, w->msr, w->value)
			       : mt_wrmsr(&h->mtrr, w->msr, w->value);

		w->unknown = ret == -ENOENT;
		if (ret == -EINVAL)
			w->fault = mt_wrmsr_fault(&h->mtrr, w->msr, w->value);
		failed += !!ret;
	}
	return failed;
}

static void print_faults(struct bp_print *p, const struct write *writes, int count)
{
	bp_print_array(p, "faults");
	for (int i = 0; i < count; i++) {
		const struct write *w = &writes[i];
		char name[24];

		if (w->fault == MT_GP_NONE && !w->unknown)
			continue;
		bp_print_object(p, NULL);
		bp_print_str(p, "msr", "%s", mt_msr_text(w->msr, name, sizeof(name)));
		bp_print_hex(p, "index", NULL, 1, w->msr);
		bp_print_hex(p, "value", " = %s", 1, w->value);
		bp_print_str(p, "reason", " raises #GP: %s\n",
			     w->unknown ? "it is no memory-type register of such a processor"
					: reasons[w->fault]);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

static void print_map(struct bp_print *p, const struct mt_host *h)
{
	/* Too large for comfort on a stack, and one is enough. */
	static struct mt_map map;
	const struct mt_mtrr *m = &h->mtrr;
	bool enabled = m->def_type & MT_DEF_TYPE_E;

	bp_print_bool(p, "enabled", NULL, enabled);
	bp_print_bool(p, "fixed_enabled", NULL, m->def_type & MT_DEF_TYPE_FE);
	bp_print_str(p, "default", NULL, mt_type_name((enum mt_type)(m->def_type & 0xff)));
	bp_print_u64(p, "maxphyaddr", NULL, m->maxphyaddr);
	if (enabled)
		bp_print_text(p, "MTRRs enabled, fixed ranges %s, default %s, MAXPHYADDR %u\n",
			      m->def_type & MT_DEF_TYPE_FE ? "enabled" : "disabled",
			      mt_type_name((enum mt_type)(m->def_type & 0xff)), m->maxphyaddr);
	else
		bp_print_text(p, "MTRRs disabled (DEF_TYPE.E is 0): UC everywhere, MAXPHYADDR %u\n",
			      m->maxphyaddr);
	mt_map_build(&map, m);
	mt_print_ranges(p, &map);
	mt_print_pat(p, m->pat);
}

static int decode(struct bp_cli *cli, const struct mt_opt *opts, struct write *writes, int count,
		  const char *command)
{
	unsigned int vendor = MT_INTEL;
	uint64_t width = width_of(writes, count);
	struct bp_print *p;
	struct mt_host h;
	int ret, failed;

	if (opts[MAXPHYADDR].value &&
	    bp_parse_u64(opts[MAXPHYADDR].value, MT_MAXPHYADDR_MIN, MT_MAXPHYADDR_MAX, &width))
		return bp_cli_usage(cli, command, "--maxphyaddr takes %d to %d, not '%s'",
				    MT_MAXPHYADDR_MIN, MT_MAXPHYADDR_MAX, opts[MAXPHYADDR].value);
	if (opts[HOST].value && mt_opt_word(cli, command, &opts[HOST], mt_vendor_words, &vendor))
		return BP_EXIT_USAGE;
	ret = mt_host_init(&h, (enum mt_vendor)vendor,
			   opts[HOST].value ? cap_of(writes, count) : MT_MTRRCAP_VALUE,
			   (unsigned int)width);
	if (ret == -E2BIG) {
		bp_log_error(
			"MTRRCAP says more than %d variable ranges, which no known processor has",
			MT_VARIABLE_MAX);
		return BP_EXIT_FAIL;
	}
	failed = apply(&h, opts[HOST].value, writes, count);
	p = bp_print_new(stdout, cli->mode);
	if (!p)
		return bp_log_report(NULL, -ENOMEM, "printing");
	bp_print_object(p, NULL);
	print_faults(p, writes, count);
	if (!failed)
		print_map(p, &h);
	bp_print_object_end(p);
	ret = bp_print_free(p);
	if (ret)
		return bp_log_report(NULL, ret, "writing the ranges");
	return failed ? BP_EXIT_FAIL : BP_EXIT_OK;
}

int mt_cmd_decode(struct bp_cli *cli, int argc, char **argv)
{
	struct mt_opt opts[] = { [MAXPHYADDR] = { "maxphyaddr", false, NULL },
				 [HOST] = { "host", false, NULL },
				 [END] = { NULL, false, NULL } };
	int count = mt_opts_parse(cli, opts, argc, argv), status;
	struct write *writes;

	if (count < 0)
		return BP_EXIT_USAGE;
	if (!count)
		return bp_cli_usage(cli, argv[0], "give at least one MSR=VALUE");
	writes = calloc((size_t)count, sizeof(*writes));
	if (!writes)
		return bp_log_report(NULL, -ENOMEM, "reading the values");
	for (int i = 0; i < count; i++) {
		if (parse_write(argv[i + 1], &writes[i])) {
			free(writes);
			return bp_cli_usage(
				cli, argv[0],
				"'%s' is not MSR=VALUE, such as 0x2ff=0xc06 or PAT=0x...",
				argv[i + 1]);
		}
	}
	status = decode(cli, opts, writes, count, argv[0]);
	free(writes);
	return status;
}
