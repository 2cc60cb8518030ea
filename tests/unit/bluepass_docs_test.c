// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nothing that bluepass(1) takes is missing from its help, its manual page or its completion.
 * Runs at the top of the tree, as all tests do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static const char *const places[] = { "vmm/main.c", "docs/man/bluepass.1.scd",
				      "completions/bluepass" };

static char *contents(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 18);

	ck_assert_msg(f != NULL, "%s is not here; run from the top of the tree", path);
	ck_assert_uint_gt(fread(text, 1, (1 << 18) - 1, f), 0);
	fclose(f);
	return text;
}

static void known_everywhere(const char *word)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char *place = contents(places[i]);

		ck_assert_msg(strstr(place, word) != NULL, "%s does not know %s", places[i], word);
		free(place);
	}
}

/* Strings of the table that begins with @start in a source file. */
static void check_table(const char *source, const char *start, const char *prefix, int least)
{
	char *text = contents(source), *s = strstr(text, start), *end;
	int count = 0;

	ck_assert_msg(s != NULL, "%s has no %s", source, start);
	*strchr(s, ';') = '\0';
	for (; (s = strchr(s, '"')); s = end + 1) {
		end = strchr(s + 1, '"');
		*end = '\0';
		if (strncmp(s + 1, prefix, strlen(prefix)) != 0)
			continue;
		known_everywhere(s + 1);
		count++;
	}
	ck_assert_int_ge(count, least);
	free(text);
}

START_TEST(every_option_of_run)
{
	check_table("vmm/config.c", "} options[] = {", "--", 11);
	known_everywhere("--intx");
}
END_TEST

START_TEST(every_word_of_ctl)
{
	check_table("vmm/ctl.c", "words[] = {", "", 6);
}
END_TEST

START_TEST(every_kind_of_memtype)
{
	check_table("vmm/config.c", "[VMM_MT_AUTO] =", "", 5);
}
END_TEST

SUITE("bluepass_docs", every_option_of_run, every_word_of_ctl, every_kind_of_memtype)
