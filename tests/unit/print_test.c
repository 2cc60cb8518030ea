// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bp/print.h>
#include "suite.h"

static char *shown;
static size_t shown_len;

/* Prints one document that uses every call, and returns it. */
static const char *document(enum bp_print_mode mode)
{
	FILE *f = open_memstream(&shown, &shown_len);
	struct bp_print *p = bp_print_new(f, mode);

	bp_print_array(p, NULL);
	bp_print_object(p, NULL);
	bp_print_str(p, "bdf", "%s", "0000:01:00.1");
	bp_print_u64(p, "vf_index", " index %lu", 3);
	bp_print_s64(p, "numa_node", " node %ld", -1);
	bp_print_hex(p, "vendor_id", " id %s", 4, 0x15b3);
	bp_print_bool(p, "flr", " flr %s", true);
	bp_print_f64(p, "us", " %.1f us", 3, 1.2346);
	bp_print_null(p, "driver", " no driver");
	bp_print_str(p, "name", NULL, "quote \" back \\ tab \t ctl \x01");
	bp_print_text(p, "\n");
	bp_print_array(p, "empty");
	bp_print_array_end(p);
	bp_print_object_end(p);
	bp_print_array_end(p);
	ck_assert_int_eq(bp_print_free(p), 0);
	fclose(f);
	return shown;
}

START_TEST(text_is_what_the_formats_say)
{
	ck_assert_str_eq(document(BP_PRINT_TEXT),
			 "0000:01:00.1 index 3 node -1 id 0x15b3 flr yes 1.2 us no driver\n");
	free(shown);
}
END_TEST

START_TEST(json_is_complete_and_quoted)
{
	ck_assert_str_eq(document(BP_PRINT_JSON),
			 "[{\"bdf\":\"0000:01:00.1\",\"vf_index\":3,\"numa_node\":-1,"
			 "\"vendor_id\":\"0x15b3\",\"flr\":true,\"us\":1.235,\"driver\":null,"
			 "\"name\":\"quote \\\" back \\\\ tab \\t ctl \\u0001\",\"empty\":[]}]\n");
	free(shown);
}
END_TEST

START_TEST(pretty_is_indented)
{
	const char *text = document(BP_PRINT_PRETTY);

	ck_assert_ptr_nonnull(strstr(text, "[\n    {\n        \"bdf\": \"0000:01:00.1\",\n"));
	ck_assert_ptr_nonnull(strstr(text, "\"empty\": []\n    }\n]\n"));
	free(shown);
}
END_TEST

START_TEST(open_levels_are_closed_at_the_end)
{
	FILE *f = open_memstream(&shown, &shown_len);
	struct bp_print *p = bp_print_new(f, BP_PRINT_JSON);

	bp_print_object(p, NULL);
	bp_print_array(p, "a");
	bp_print_u64(p, NULL, NULL, 1);
	bp_print_f64(p, NULL, NULL, 2, NAN);
	ck_assert_int_eq(bp_print_free(p), 0);
	fclose(f);
	ck_assert_str_eq(shown, "{\"a\":[1,null]}\n");
	free(shown);
}
END_TEST

START_TEST(a_full_disk_is_reported)
{
	FILE *f = fopen("/dev/full", "w");
	struct bp_print *p = bp_print_new(f, BP_PRINT_TEXT);

	bp_print_text(p, "lost");
	ck_assert_int_lt(bp_print_free(p), 0);
	fclose(f);
}
END_TEST

START_TEST(wrong_nesting_aborts)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct bp_print *p = bp_print_new(fopen("/dev/null", "w"), BP_PRINT_JSON);

		bp_print_object(p, NULL);
		bp_print_array_end(p);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

/* A process's name is cut after 15 bytes, wherever a character ends; and it may be anything. */
START_TEST(text_of_others)
{
	static const struct {
		const char *value, *json, *text;
	} cases[] = {
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "a\x1b[31m\nb\x7f", "a\\u001b[31m\\nb\\u007f", "a?[31m?b?" },
		{ "cut\xe2\x82", "cut\\ufffd\\ufffd", "cut\xe2\x82" },
		{ "\xfc", "\\ufffd", "\xfc" },
		{ "\xc0\xaf", "\\ufffd\\ufffd", "\xc0\xaf" },
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd", "\xed\xa0\x80" },
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd", "\xf4\x90\x80\x80" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (int json = 0; json < 2; json++) {
			FILE *f = open_memstream(&shown, &shown_len);
			struct bp_print *p = bp_print_new(f, json ? BP_PRINT_JSON : BP_PRINT_TEXT);
			char want[64];

			snprintf(want, sizeof(want), json ? "\"%s\"\n" : "<%s>",
				 json ? cases[i].json : cases[i].text);
			bp_print_str(p, NULL, "<%s>", cases[i].value);
			ck_assert_int_eq(bp_print_free(p), 0);
			fclose(f);
			ck_assert_str_eq(shown, want);
			free(shown);
		}
	}
}
END_TEST

START_TEST(words_keep_their_lines)
{
	FILE *f = open_memstream(&shown, &shown_len);
	struct bp_print *p = bp_print_new(f, BP_PRINT_TEXT);

	bp_print_text(p, "%s -> %s\n\tnext\n", "igb", "\x1b]0;x\x07");
	ck_assert_int_eq(bp_print_free(p), 0);
	fclose(f);
	ck_assert_str_eq(shown, "igb -> ?]0;x?\n\tnext\n");
	free(shown);
}
END_TEST

SUITE("print", text_is_what_the_formats_say, json_is_complete_and_quoted, pretty_is_indented,
      open_levels_are_closed_at_the_end, a_full_disk_is_reported, wrong_nesting_aborts,
      text_of_others, words_keep_their_lines)
