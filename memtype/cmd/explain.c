// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <bp/log.h>
#include <mt/explain.h>
#include <mt/words.h>

#include "cmd.h"

enum {
	VENDOR,
	KERNEL,
	BACKING,
	COHERENT,
	GUEST_MTRR,
	GUEST_PAT,
	MODULE,
	MODE,
	HOST_MTRR,
	PAT_INDEX,
	SHADOW,
	UNREGISTERED,
	PAT_QUIRK_OFF,
	GUEST_CD,
	CD_QUIRK_OFF,
	END,
};

static int parse_kernel(const char *text, struct mt_kernel *k)
{
	unsigned long part[3] = { 0, 0, 0 };
	char *end;
	int n = 0;

	for (const char *s = text;; s = end + 1) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		part[n] = strtoul(s, &end, 10);
		if (part[n++] > 65535)
			return -ERANGE;
		/* "6.1.0-57-amd64", as `uname -r` says it, will do. */
		if (n == 3 || *end != '.')
			break;
	}
	if (n < 2 || (*end && *end != '-' && *end != '+' && *end != '.'))
		return -EINVAL;
	*k = (struct mt_kernel){ (uint16_t)part[0], (uint16_t)part[1], (uint16_t)part[2] };
	return 0;
}

static int read_case(struct bp_cli *cli, const char *command, const struct mt_opt *o,
		     struct mt_case *c)
{
	static const char *const needed[] = { "vendor",	    "kernel",	 "backing", "coherent",
					      "guest-mtrr", "guest-pat", NULL };
	static const char *const backings[] = { "bar", "ram", NULL };
	static const char *const yes_no[] = { "no", "yes", NULL };
	static const char *const modes[] = { "off", "module", "pat", NULL };
	unsigned int vendor, backing, coherent, mode = MT_MODE_OFF;
	uint64_t index;

	if (mt_opts_need(cli, command, o, needed) ||
	    mt_opt_word(cli, command, &o[VENDOR], mt_vendor_words, &vendor) ||
	    mt_opt_word(cli, command, &o[BACKING], backings, &backing) ||
	    mt_opt_word(cli, command, &o[COHERENT], yes_no, &coherent) ||
	    mt_opt_type(cli, command, &o[GUEST_MTRR], false, &c->guest_mtrr) ||
	    mt_opt_type(cli, command, &o[GUEST_PAT], true, &c->guest_pat) ||
	    (o[MODE].value && mt_opt_word(cli, command, &o[MODE], modes, &mode)))
		return -EINVAL;
	if (parse_kernel(o[KERNEL].value, &c->kernel)) {
		bp_cli_usage(cli, command,
			     "--kernel takes a release such as 6.1 or 6.12.78, not '%s'",
			     o[KERNEL].value);
		return -EINVAL;
	}
	if (o[MODULE].value && o[MODE].value && mode != MT_MODE_MODULE) {
		bp_cli_usage(cli, command, "--module and --mode %s exclude each other",
			     o[MODE].value);
		return -EINVAL;
	}
	c->vendor = (enum mt_vendor)vendor;
	c->backing = (enum mt_backing)backing;
	c->coherent = coherent;
	c->mode = o[MODULE].value ? MT_MODE_MODULE : (enum mt_mode)mode;
	c->host_mtrr = c->backing == MT_BAR ? MT_UC : MT_WB;
	c->pat_index = -1;
	c->quirk_off = o[PAT_QUIRK_OFF].value;
	c->guest_cd = o[GUEST_CD].value;
	c->cd_quirk_off = o[CD_QUIRK_OFF].value;
	c->shadow = o[SHADOW].value;
	c->unregistered = o[UNREGISTERED].value;
	if (o[HOST_MTRR].value && mt_opt_type(cli, command, &o[HOST_MTRR], false, &c->host_mtrr))
		return -EINVAL;
	if (o[PAT_INDEX].value) {
		if (bp_parse_u64(o[PAT_INDEX].value, 0, 7, &index)) {
			bp_cli_usage(cli, command, "--pat-index takes 0 to 7, not '%s'",
				     o[PAT_INDEX].value);
			return -EINVAL;
		}
		c->pat_index = (int)index;
	}
	return 0;
}

static void print(struct bp_print *p, const struct mt_explanation *e)
{
	char text[256];

	bp_print_object(p, NULL);
	bp_print_str(p, "type", "%s", mt_type_name(e->effective.type));
	bp_print_str(p, "note", " (%s)", mt_note_text(e->effective.notes, text, sizeof(text)));
	bp_print_text(p, "\n");
	bp_print_str(p, "bare_metal", NULL, mt_type_name(e->bare_metal.type));
	bp_print_str(p, "leaf", NULL, mt_type_name(e->leaf));
	bp_print_bool(p, "ipat", NULL, e->ipat);
	bp_print_array(p, "steps");
	for (uint32_t i = 0; i < e->count; i++) {
		mt_step_text(&e->steps[i], text, sizeof(text));
		bp_print_object(p, NULL);
		bp_print_str(p, "code", NULL, mt_why_code(e->steps[i].why));
		bp_print_str(p, "text", "  %s\n", text);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	bp_print_object_end(p);
}

int mt_cmd_explain(struct bp_cli *cli, int argc, char **argv)
{
	struct mt_opt opts[] = {
		[VENDOR] = { "vendor", false, NULL },
		[KERNEL] = { "kernel", false, NULL },
		[BACKING] = { "backing", false, NULL },
		[COHERENT] = { "coherent", false, NULL },
		[GUEST_MTRR] = { "guest-mtrr", false, NULL },
		[GUEST_PAT] = { "guest-pat", false, NULL },
		[MODULE] = { "module", true, NULL },
		[MODE] = { "mode", false, NULL },
		[HOST_MTRR] = { "host-mtrr", false, NULL },
		[PAT_INDEX] = { "pat-index", false, NULL },
		[SHADOW] = { "shadow", true, NULL },
		[UNREGISTERED] = { "unregistered", true, NULL },
		[PAT_QUIRK_OFF] = { "pat-quirk-off", true, NULL },
		[GUEST_CD] = { "guest-cd", true, NULL },
		[CD_QUIRK_OFF] = { "cd-quirk-off", true, NULL },
		[END] = { NULL, false, NULL },
	};
	int rest = mt_opts_parse(cli, opts, argc, argv), ret;
	struct mt_explanation e;
	struct mt_case c = { 0 };
	struct bp_print *p;

	if (rest < 0)
		return BP_EXIT_USAGE;
	if (rest > 0)
		return bp_cli_usage(cli, argv[0], "unexpected argument '%s'", argv[1]);
	if (read_case(cli, argv[0], opts, &c))
		return BP_EXIT_USAGE;
	ret = mt_explain(&c, &e);
	if (ret == -ENODATA) {
		bp_log_error(
			"what Linux %s does in this case is not known; ask for 4.3 or later, or "
			"leave out %s",
			opts[KERNEL].value, c.guest_cd ? "--guest-cd" : "the guest MTRR type WP");
		return BP_EXIT_FAIL;
	}
	if (ret)
		return bp_log_report(NULL, ret, "explaining the case");
	p = bp_print_new(stdout, cli->mode);
	if (!p)
		return bp_log_report(NULL, -ENOMEM, "printing");
	print(p, &e);
	ret = bp_print_free(p);
	return ret ? bp_log_report(NULL, ret, "writing the explanation") : BP_EXIT_OK;
}
