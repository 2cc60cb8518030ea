// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

const char *const mt_vendor_words[] = { "intel", "amd", NULL };

static struct mt_opt *find(struct mt_opt *opts, const char *name, size_t len)
{
	for (struct mt_opt *o = opts; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	return NULL;
}

int mt_opts_parse(struct bp_cli *cli, struct mt_opt *opts, int argc, char **argv)
{
	bool ended = false;
	int rest = 0;

	for (int i = 1; i < argc; i++) {
		const char *a = argv[i], *value = strchr(a, '=');
		struct mt_opt *o;

		if (ended || a[0] != '-' || !a[1]) {
			argv[++rest] = argv[i];
			continue;
		}
		if (!strcmp(a, "--")) {
			ended = true;
			continue;
		}
		o = strncmp(a, "--", 2)
			    ? NULL
			    : find(opts, a + 2, value ? (size_t)(value - a - 2) : strlen(a + 2));
		if (!o) {
			bp_cli_usage(cli, argv[0], "unknown option '%s'", a);
			return -EINVAL;
		}
		if (o->value) {
			bp_cli_usage(cli, argv[0], "--%s is given twice", o->name);
			return -EINVAL;
		}
		if (o->flag ? !!value : !value && i + 1 == argc) {
			bp_cli_usage(cli, argv[0], "--%s %s", o->name,
				     o->flag ? "takes no value" : "needs a value");
			return -EINVAL;
		}
		o->value = o->flag ? "" : value ? value + 1 : argv[++i];
	}
	return rest;
}

const struct mt_opt *mt_opt(const struct mt_opt *opts, const char *name)
{
	while (strcmp(opts->name, name) != 0)
		opts++;
	return opts;
}

int mt_opts_need(struct bp_cli *cli, const char *command, const struct mt_opt *opts,
		 const char *const *names)
{
	for (; *names; names++) {
		if (!mt_opt(opts, *names)->value) {
			bp_cli_usage(cli, command, "--%s is missing", *names);
			return -EINVAL;
		}
	}
	return 0;
}

int mt_opt_type(struct bp_cli *cli, const char *command, const struct mt_opt *opt, bool in_pat,
		enum mt_type *out)
{
	if (mt_type_parse(opt->value, out) || (!in_pat && *out == MT_UC_MINUS)) {
		bp_cli_usage(cli, command, "--%s takes one of UC%s WC WT WP WB, not '%s'",
			     opt->name, in_pat ? " UC-" : "", opt->value);
		return -EINVAL;
	}
	return 0;
}

int mt_opt_word(struct bp_cli *cli, const char *command, const struct mt_opt *opt,
		const char *const *words, unsigned int *out)
{
	char list[128] = "";

	for (unsigned int i = 0; words[i]; i++) {
		size_t used = strlen(list);

		if (!strcmp(words[i], opt->value)) {
			*out = i;
			return 0;
		}
		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", words[i]);
	}
	bp_cli_usage(cli, command, "--%s takes one of %s, not '%s'", opt->name, list, opt->value);
	return -EINVAL;
}
