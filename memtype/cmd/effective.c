// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>

#include <bp/log.h>
#include <mt/words.h>

#include "cmd.h"

enum {
	VENDOR,
	MTRR,
	PAT,
	NESTED,
	IPAT,
	HOST_MTRR,
	END
};

/* What the command line says; the types that were not given have their defaults. */
struct question {
	enum mt_vendor vendor;
	enum mt_type mtrr, pat, nested, host_mtrr;
	bool has_mtrr, has_nested, ipat, host_assumed;
};

static int read_question(struct bp_cli *cli, const char *command, const struct mt_opt *o,
			 struct question *q)
{
	static const char *const needed[] = { "vendor", "pat", NULL };
	static const char *const needed_bare[] = { "mtrr", NULL };
	unsigned int vendor;

	*q = (struct question){ .has_mtrr = o[MTRR].value,
				.has_nested = o[NESTED].value,
				.ipat = o[IPAT].value,
				.host_mtrr = MT_UC };
	if (mt_opts_need(cli, command, o, needed) ||
	    (!q->has_nested && mt_opts_need(cli, command, o, needed_bare)) ||
	    mt_opt_word(cli, command, &o[VENDOR], mt_vendor_words, &vendor) ||
	    (q->has_mtrr && mt_opt_type(cli, command, &o[MTRR], false, &q->mtrr)) ||
	    mt_opt_type(cli, command, &o[PAT], true, &q->pat))
		return -EINVAL;
	q->vendor = (enum mt_vendor)vendor;
	if (!q->has_nested && (q->ipat || o[HOST_MTRR].value)) {
		bp_cli_usage(cli, command, "--%s goes with --nested",
			     q->ipat ? "ipat" : "host-mtrr");
		return -EINVAL;
	}
	if (q->ipat && q->vendor == MT_AMD) {
		bp_cli_usage(cli, command, "AMD's nested leaves have no IPAT");
		return -EINVAL;
	}
	if (q->has_nested && mt_opt_type(cli, command, &o[NESTED], q->vendor == MT_AMD, &q->nested))
		return -EINVAL;
	if (o[HOST_MTRR].value)
		return mt_opt_type(cli, command, &o[HOST_MTRR], false, &q->host_mtrr);
	q->host_assumed = q->has_nested && q->vendor == MT_AMD;
	return 0;
}

static int answer(const struct question *q, struct mt_effective *e)
{
	if (!q->has_nested)
		return mt_combine(q->vendor, q->mtrr, q->pat, e);
	if (q->vendor == MT_INTEL)
		return mt_combine_ept(q->nested, q->ipat, q->pat, false, e);
	return mt_combine_npt(q->pat, q->nested, q->host_mtrr, false, false, e);
}

int mt_cmd_effective(struct bp_cli *cli, int argc, char **argv)
{
	struct mt_opt opts[] = {
		[VENDOR] = { "vendor", false, NULL }, [MTRR] = { "mtrr", false, NULL },
		[PAT] = { "pat", false, NULL },	      [NESTED] = { "nested", false, NULL },
		[IPAT] = { "ipat", true, NULL },      [HOST_MTRR] = { "host-mtrr", false, NULL },
		[END] = { NULL, false, NULL },
	};
	int rest = mt_opts_parse(cli, opts, argc, argv), ret;
	struct mt_effective e;
	struct question q;
	struct bp_print *p;
	char notes[512], note[640];
	const char *text;

	if (rest < 0)
		return BP_EXIT_USAGE;
	if (rest > 0)
		return bp_cli_usage(cli, argv[0], "unexpected argument '%s'", argv[1]);
	if (read_question(cli, argv[0], opts, &q))
		return BP_EXIT_USAGE;
	ret = answer(&q, &e);
	if (ret)
		return bp_log_report(NULL, ret, "combining the types");

	text = mt_note_text(e.notes, notes, sizeof(notes));
	if (q.host_assumed) {
		snprintf(note, sizeof(note), "%s%shost MTRR UC assumed, as for a BAR",
			 text ? text : "", text ? "; " : "");
		text = note;
	}
	p = bp_print_new(stdout, cli->mode);
	if (!p)
		return bp_log_report(NULL, -ENOMEM, "printing");
	bp_print_object(p, NULL);
	bp_print_str(p, "type", "%s", mt_type_name(e.type));
	bp_print_str(p, "note", " (%s)", text);
	bp_print_text(p, "\n");
	bp_print_object_end(p);
	ret = bp_print_free(p);
	return ret ? bp_log_report(NULL, ret, "writing the type") : BP_EXIT_OK;
}
