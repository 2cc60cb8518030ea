// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <bp/cli.h>
#include <bp/log.h>

#ifndef BP_VERSION
#define BP_VERSION "unknown"
#endif

const char *bp_version(void)
{
	return BP_VERSION;
}

static void show_help(const struct bp_cli *cli, FILE *out)
{
	fprintf(out, "%s: %s\n\nUsage: %s [-j] [-p] [-v]%s COMMAND [ARGS]\n\nCommands:\n", cli->prog,
		cli->summary, cli->prog, cli->with_root ? " [--root DIR]" : "");
	for (const struct bp_command *c = cli->commands; c->name; c++)
		fprintf(out, "  %-9s %s\n", c->name, c->brief);
	fprintf(out, "  %-9s %s\n", "help", "this text; 'help COMMAND' for one command");
	fprintf(out, "\nOptions:\n"
		     "  -j, --json     print JSON\n"
		     "  -p, --pretty   print indented JSON\n"
		     "  -v, --verbose  say more; twice for debugging\n"
		     "  -V, --version  print the version\n"
		     "  -h, --help     this text\n");
	if (cli->with_root)
		fprintf(out, "      --root DIR read and write DIR/sys, DIR/proc, DIR/run, DIR/dev\n");
	fprintf(out, "\nExit status: 0 fine, 1 a problem was found or an operation failed, 2 usage.\n");
}

static void show_command(const struct bp_cli *cli, const struct bp_command *c, FILE *out)
{
	fprintf(out, "Usage: %s %s%s%s\n\n%s.\n", cli->prog, c->name, *c->args ? " " : "", c->args,
		c->brief);
	if (c->help)
		fprintf(out, "\n%s\n", c->help);
}

/* An exact name wins; otherwise an abbreviation must mean one command only. */
static const struct bp_command *find(const struct bp_cli *cli, const char *word, bool *ambiguous)
{
	const struct bp_command *found = NULL;
	size_t len = strlen(word);

	*ambiguous = false;
	for (const struct bp_command *c = cli->commands; c->name; c++) {
		if (!strcmp(c->name, word)) {
			*ambiguous = false;
			return c;
		}
		if (len && !strncmp(c->name, word, len)) {
			*ambiguous = found;
			found = c;
		}
	}
	return found;
}

int bp_cli_usage(struct bp_cli *cli, const char *command, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	bp_log_error("%s; see '%s %s%shelp'", text, cli->prog, command ? command : "",
		     command ? " --" : "");
	return BP_EXIT_USAGE;
}

/* The one command that a word means, or say why there is none. */
static int find_one(struct bp_cli *cli, const char *word, const struct bp_command **out)
{
	bool ambiguous;

	*out = find(cli, word, &ambiguous);
	if (!*out)
		return bp_cli_usage(cli, NULL, "there is no command '%s'", word);
	if (ambiguous)
		return bp_cli_usage(cli, NULL, "'%s' could mean several commands", word);
	return BP_EXIT_OK;
}

static int run_help(struct bp_cli *cli, int argc, char **argv)
{
	const struct bp_command *c;

	if (argc < 2) {
		show_help(cli, stdout);
		return BP_EXIT_OK;
	}
	if (find_one(cli, argv[1], &c))
		return BP_EXIT_USAGE;
	show_command(cli, c, stdout);
	return BP_EXIT_OK;
}

static int run_command(struct bp_cli *cli, int argc, char **argv)
{
	const struct bp_command *c;

	if (!strcmp(argv[0], "help"))
		return run_help(cli, argc, argv);
	if (find_one(cli, argv[0], &c))
		return BP_EXIT_USAGE;
	/* Help may be asked after the command as well; "--" ends options. */
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") ||
		    (i == 1 && argc == 2 && !strcmp(argv[i], "help"))) {
			show_command(cli, c, stdout);
			return BP_EXIT_OK;
		}
	}
	return c->run(cli, argc, argv);
}

static int run(struct bp_cli *cli, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		const char *a = argv[i];

		if (!strcmp(a, "-j") || !strcmp(a, "--json")) {
			if (cli->mode != BP_PRINT_PRETTY)
				cli->mode = BP_PRINT_JSON;
		} else if (!strcmp(a, "-p") || !strcmp(a, "-jp") || !strcmp(a, "-pj") ||
			   !strcmp(a, "--pretty")) {
			cli->mode = BP_PRINT_PRETTY;
		} else if (!strcmp(a, "-v") || !strcmp(a, "--verbose")) {
			bp_log_init(cli->prog, ++cli->verbosity);
		} else if (!strcmp(a, "-V") || !strcmp(a, "--version")) {
			printf("%s %s\n", cli->prog, BP_VERSION);
			return BP_EXIT_OK;
		} else if (!strcmp(a, "-h") || !strcmp(a, "--help")) {
			show_help(cli, stdout);
			return BP_EXIT_OK;
		} else if (cli->with_root && !strcmp(a, "--root")) {
			if (++i == argc)
				return bp_cli_usage(cli, NULL, "--root needs a directory");
			cli->root = argv[i];
		} else {
			return bp_cli_usage(cli, NULL, "unknown option '%s'", a);
		}
	}
	if (i == argc) {
		show_help(cli, stderr);
		return BP_EXIT_USAGE;
	}
	return run_command(cli, argc - i, argv + i);
}

int bp_cli_main(struct bp_cli *cli, int argc, char **argv)
{
	int status;

	cli->root = "/";
	bp_log_init(cli->prog, 0);
	status = run(cli, argc, argv);
	/* A command's printer has said so itself; help and version have none. */
	errno = 0;
	if (status == BP_EXIT_OK && (fflush(stdout) || ferror(stdout)))
		return bp_log_report(NULL, errno ? -errno : -EIO, "cannot write the output");
	return status;
}
