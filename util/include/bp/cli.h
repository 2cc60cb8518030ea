/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TOOL [OPTIONS] COMMAND [ARGS], the grammar of iproute2: table-driven
 * dispatch, unambiguous abbreviations, help at each level, and the exit
 * statuses that scripts rely on.
 */
#ifndef BP_CLI_H
#define BP_CLI_H

#include <stdint.h>

#include <bp/print.h>

/* Exit statuses of every program here. */
#define BP_EXIT_OK    0 /* done, or nothing wrong found */
#define BP_EXIT_FAIL  1 /* a problem was found or an operation failed */
#define BP_EXIT_USAGE 2 /* the command line is wrong */

struct bp_cli;

/**
 * struct bp_command - one row of a program's command table.
 * @name: the word on the command line.
 * @args: synopsis of what follows, "" when nothing does.
 * @brief: one line for the list of commands.
 * @help: further lines shown by `TOOL COMMAND --help`, or NULL.
 * @run: does it; argv[0] is the command's name. Returns an exit status.
 */
struct bp_command {
	const char *name;
	const char *args;
	const char *brief;
	const char *help;
	int (*run)(struct bp_cli *cli, int argc, char **argv);
};

/**
 * struct bp_cli - a program as its user sees it.
 * @prog: name.
 * @summary: one line: what it is for.
 * @commands: table ending with a row whose name is NULL.
 * @with_root: whether --root DIR is understood.
 * @mode: set by -j and -p.
 * @verbosity: set by -v.
 * @root: set by --root; "/" otherwise.
 * @priv: the program's own.
 */
struct bp_cli {
	const char *prog;
	const char *summary;
	const struct bp_command *commands;
	bool with_root;
	enum bp_print_mode mode;
	int verbosity;
	const char *root;
	void *priv;
};

/**
 * bp_cli_main() - parse the common options, find the command, run it.
 * @cli: the program; mode, verbosity and root are filled in.
 * @argc: as given to main().
 * @argv: as given to main().
 *
 * Knows -j, -p, -v, -V, -h, --help, --root DIR and the command `help`.
 *
 * Return: exit status.
 */
int bp_cli_main(struct bp_cli *cli, int argc, char **argv);

/**
 * bp_cli_usage() - say what is wrong with a command line, and how it should look.
 * @cli: the program.
 * @command: name of the command, or NULL for the program itself.
 * @fmt: printf format of what is wrong.
 *
 * Return: BP_EXIT_USAGE.
 */
int bp_cli_usage(struct bp_cli *cli, const char *command, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** bp_version() - of this build, as `git describe` tells it. Return: text. */
const char *bp_version(void);

/**
 * bp_parse_size() - "64", "512M", "2G": a size in bytes.
 * @text: number with an optional suffix K, M, G or T (powers of 1024).
 * @out: bytes.
 *
 * Return: 0, -EINVAL for anything else, -ERANGE when it does not fit 64 bits.
 */
int bp_parse_size(const char *text, uint64_t *out);

/**
 * bp_parse_u64() - a whole number, decimal or with 0x.
 * @text: no sign, no trailing characters.
 * @min: least allowed value.
 * @max: greatest allowed value.
 * @out: the number.
 *
 * Return: 0, -EINVAL, or -ERANGE.
 */
int bp_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out);

#endif
