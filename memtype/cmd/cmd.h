/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Commands of `memtype`, and what they share: options by name, and the names of
 * things that a user types.
 */
#ifndef MEMTYPE_CMD_H
#define MEMTYPE_CMD_H

#include <bp/cli.h>
#include <mt/combine.h>

/**
 * struct mt_opt - one --NAME of a command.
 * @name: without the dashes.
 * @flag: takes no value.
 * @value: what the user gave; "" for a flag; NULL when it was not given.
 */
struct mt_opt {
	const char *name;
	bool flag;
	const char *value;
};

/**
 * mt_opts_parse() - take a command's options out of its arguments.
 * @cli: program, for messages.
 * @opts: options, ending with a NULL name; values are filled in.
 * @argc: as given to the command.
 * @argv: as given to the command; what is no option is moved to argv[1] and on.
 *
 * Both "--name value" and "--name=value" are understood; "--" ends options.
 *
 * Return: number of remaining arguments, or -EINVAL after a usage message.
 */
int mt_opts_parse(struct bp_cli *cli, struct mt_opt *opts, int argc, char **argv);

/**
 * mt_opt_type() - a memory type: UC UC- WC WT WP WB.
 * @cli: program, for messages.
 * @command: command, for messages.
 * @opt: option; must have been given.
 * @in_pat: whether UC- is allowed.
 * @out: receives it.
 *
 * Return: 0, or -EINVAL after a usage message.
 */
int mt_opt_type(struct bp_cli *cli, const char *command, const struct mt_opt *opt, bool in_pat,
		enum mt_type *out);

/**
 * mt_opt_word() - one of a few words.
 * @cli: program, for messages.
 * @command: command, for messages.
 * @opt: option; must have been given.
 * @words: words ending with NULL.
 * @out: receives the place of the word.
 *
 * Return: 0, or -EINVAL after a usage message.
 */
int mt_opt_word(struct bp_cli *cli, const char *command, const struct mt_opt *opt,
		const char *const *words, unsigned int *out);

/**
 * mt_opts_need() - complain about the first option that is needed and missing.
 * @cli: program, for messages.
 * @command: command, for messages.
 * @opts: options.
 * @names: names of the needed ones, ending with NULL.
 *
 * Return: 0, or -EINVAL after a usage message.
 */
int mt_opts_need(struct bp_cli *cli, const char *command, const struct mt_opt *opts,
		 const char *const *names);

/** mt_opt() - the option of a name. @opts: options. @name: one of theirs. Return: it. */
const struct mt_opt *mt_opt(const struct mt_opt *opts, const char *name);

/** mt_vendor_words - "intel", "amd": places are enum mt_vendor. */
extern const char *const mt_vendor_words[];

/* The commands: arguments and exit status as in struct bp_command. */
int mt_cmd_table(struct bp_cli *cli, int argc, char **argv);
int mt_cmd_effective(struct bp_cli *cli, int argc, char **argv);
int mt_cmd_explain(struct bp_cli *cli, int argc, char **argv);
int mt_cmd_decode(struct bp_cli *cli, int argc, char **argv);
int mt_cmd_host(struct bp_cli *cli, int argc, char **argv);
int mt_cmd_guest(struct bp_cli *cli, int argc, char **argv);

#endif
