// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bp/cli.h>
#include <bp/error.h>
#include "suite.h"

static char ran[64];

static int run_list(struct bp_cli *cli, int argc, char **argv)
{
	snprintf(ran, sizeof(ran), "list %d %d %s %s", argc, cli->mode, cli->root,
		 argc > 1 ? argv[1] : "-");
	return 1;
}

static int run_link(struct bp_cli *cli, int argc, char **argv)
{
	(void)cli;
	(void)argc;
	snprintf(ran, sizeof(ran), "%s", argv[0]);
	return 0;
}

static const struct bp_command commands[] = {
	{ "list", "", "show all", NULL, run_list },
	{ "link", "", "link one", NULL, run_link },
	{ NULL, NULL, NULL, NULL, NULL },
};

static int call(const char *line)
{
	static char copy[128];
	char *argv[16] = { "tool" };
	struct bp_cli cli = {
		.prog = "tool", .summary = "a tool", .commands = commands, .with_root = true
	};
	int argc = 1;

	ran[0] = '\0';
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	return bp_cli_main(&cli, argc, argv);
}

START_TEST(a_command_gets_its_arguments_and_options)
{
	ck_assert_int_eq(call("-j --root /tree list a"), 1);
	ck_assert_str_eq(ran, "list 2 1 /tree a");
	ck_assert_int_eq(call("-p list"), 1);
	ck_assert_str_eq(ran, "list 1 2 / -");
}
END_TEST

START_TEST(abbreviations_work_when_they_mean_one_command)
{
	ck_assert_int_eq(call("lis"), 1);
	ck_assert_int_eq(strncmp(ran, "list", 4), 0);
	ck_assert_int_eq(call("li"), BP_EXIT_USAGE);
	ck_assert_str_eq(ran, "");
}
END_TEST

START_TEST(mistakes_are_usage_errors)
{
	ck_assert_int_eq(call(""), BP_EXIT_USAGE);
	ck_assert_int_eq(call("frobnicate"), BP_EXIT_USAGE);
	ck_assert_int_eq(call("--frobnicate list"), BP_EXIT_USAGE);
	ck_assert_int_eq(call("--root"), BP_EXIT_USAGE);
	ck_assert_int_eq(call("help frobnicate"), BP_EXIT_USAGE);
}
END_TEST

START_TEST(help_never_runs_the_command)
{
	ck_assert_int_eq(call("help"), 0);
	ck_assert_int_eq(call("list --help"), 0);
	ck_assert_int_eq(call("list help"), 0);
	ck_assert_int_eq(call("help list"), 0);
	ck_assert_str_eq(ran, "");
	ck_assert_int_eq(call("list -- --help"), 1);
	ck_assert_str_ne(ran, "");
}
END_TEST

START_TEST(numbers_are_whole_and_in_range)
{
	uint64_t v;

	ck_assert_int_eq(bp_parse_u64("0x1f", 0, 31, &v), 0);
	ck_assert_uint_eq(v, 31);
	ck_assert_int_eq(bp_parse_u64("32", 0, 31, &v), -ERANGE);
	ck_assert_int_eq(bp_parse_u64("-1", 0, 31, &v), -EINVAL);
	ck_assert_int_eq(bp_parse_u64(" 1", 0, 31, &v), -EINVAL);
	ck_assert_int_eq(bp_parse_u64("1x", 0, 31, &v), -EINVAL);
	ck_assert_int_eq(bp_parse_u64("0x", 0, 31, &v), -EINVAL);
	ck_assert_int_eq(bp_parse_u64("", 0, 31, &v), -EINVAL);
	ck_assert_int_eq(bp_parse_u64("99999999999999999999", 0, UINT64_MAX, &v), -ERANGE);
}
END_TEST

START_TEST(sizes_have_suffixes_and_do_not_wrap)
{
	uint64_t v;

	ck_assert_int_eq(bp_parse_size("512M", &v), 0);
	ck_assert_uint_eq(v, 512ull << 20);
	ck_assert_int_eq(bp_parse_size("1g", &v), 0);
	ck_assert_uint_eq(v, 1ull << 30);
	ck_assert_int_eq(bp_parse_size("7", &v), 0);
	ck_assert_uint_eq(v, 7);
	ck_assert_int_eq(bp_parse_size("16777215T", &v), 0);
	ck_assert_int_eq(bp_parse_size("16777216T", &v), -ERANGE);
	ck_assert_int_eq(bp_parse_size("1MB", &v), -EINVAL);
	ck_assert_int_eq(bp_parse_size("M", &v), -EINVAL);
}
END_TEST

START_TEST(the_innermost_reason_stays)
{
	struct bp_error err = { 0 };

	ck_assert_int_eq(bp_error_set(&err, -EBUSY, "wait", "first %d", 1), -EBUSY);
	ck_assert_int_eq(bp_error_set(&err, -EIO, NULL, "second"), -EIO);
	ck_assert_int_eq(err.code, -EBUSY);
	ck_assert_str_eq(err.what, "first 1");
	ck_assert_str_eq(err.fix, "wait");
	bp_error_fix(&err, "do %s", "this");
	ck_assert_str_eq(err.fix, "do this");
	bp_error_clear(&err);
	ck_assert_int_eq(err.code, 0);
	ck_assert_int_eq(bp_error_set(NULL, -EIO, NULL, "nobody listens"), -EIO);
}
END_TEST

/* What a program says in @line, with standard error or output put into a file for a while. */
static int call_to(FILE *f, int fd, const char *line)
{
	int kept = dup(fd), status;

	fflush(NULL);
	ck_assert_int_eq(dup2(fileno(f), fd), fd);
	status = call(line);
	fflush(stderr);
	ck_assert_int_eq(dup2(kept, fd), fd);
	close(kept);
	return status;
}

START_TEST(an_ambiguous_word_is_said_to_be_so)
{
	static const char *const lines[] = { "li", "help li", "" };
	char text[256] = "";

	for (int i = 0; *lines[i]; i++) {
		FILE *f = tmpfile();

		ck_assert_int_eq(call_to(f, STDERR_FILENO, lines[i]), BP_EXIT_USAGE);
		rewind(f);
		ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
		ck_assert_str_eq(text, "tool: 'li' could mean several commands; see 'tool help'\n");
		fclose(f);
	}
}
END_TEST

START_TEST(help_that_nobody_got_is_a_failure)
{
	static const char *const lines[] = { "help", "-h", "-V", "help list", "list --help", "" };

	for (int i = 0; *lines[i]; i++) {
		FILE *full = fopen("/dev/full", "w");

		ck_assert_ptr_nonnull(full);
		ck_assert_int_eq(call_to(full, STDOUT_FILENO, lines[i]), BP_EXIT_FAIL);
		clearerr(stdout);
		fclose(full);
	}
}
END_TEST

SUITE("cli", a_command_gets_its_arguments_and_options,
      abbreviations_work_when_they_mean_one_command, mistakes_are_usage_errors,
      help_never_runs_the_command, numbers_are_whole_and_in_range,
      sizes_have_suffixes_and_do_not_wrap, the_innermost_reason_stays,
      an_ambiguous_word_is_said_to_be_so, help_that_nobody_got_is_a_failure)
