// SPDX-License-Identifier: GPL-2.0-only
/*
 * docs/memory-types.md and the manual page against the program: what they show is
 * what it says. Runs at the top of the tree, as all tests do.
 */
#include <stdbool.h>

#include "suite.h"
#include "mt_run.h"

#define DOC  "docs/memory-types.md"
#define PAGE "docs/man/memtype.8.scd"

static char *lines(FILE *f, char *line, size_t size)
{
	if (!fgets(line, (int)size, f))
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static FILE *opened(const char *path)
{
	FILE *f = fopen(path, "r");

	ck_assert_msg(f != NULL, "%s is not here; run from the top of the tree", path);
	return f;
}

START_TEST(each_example_shows_what_the_program_says)
{
	char line[4096], command[4096] = "", shown[65536] = "";
	FILE *f = opened(DOC);
	bool inside = false;
	int examples = 0;

	while (lines(f, line, sizeof(line))) {
		if (!strcmp(line, "```")) {
			inside = !inside;
			if (!inside && command[0]) {
				run_says(command, shown);
				examples++;
			}
			command[0] = shown[0] = '\0';
		} else if (inside && !strncmp(line, "$ ", 2)) {
			ck_assert_msg(!strncmp(line, "$ memtype ", 10), "odd example: %s", line);
			snprintf(command, sizeof(command), "%s", line + 2);
		} else if (inside) {
			size_t n = strlen(shown);

			snprintf(shown + n, sizeof(shown) - n, "%s\n", line);
		}
	}
	fclose(f);
	ck_assert_int_ge(examples, 10);
}
END_TEST

/* Cells of a table's line; returns how many. */
static int cells(char *line, char *cell[16])
{
	int n = 0;

	if (*line != '|')
		return 0;
	for (char *s = line + 1, *end; (end = strchr(s, '|')) && n < 16; s = end + 1) {
		*end = '\0';
		while (*s == ' ')
			s++;
		for (char *t = end - 1; t >= s && *t == ' '; t--)
			*t = '\0';
		cell[n++] = s;
	}
	return n;
}

static void check_cell(const char *vendor, const char *kernel, const char *condition, int column,
		       const char *want)
{
	/* P on BAR, M on BAR, P and M on coherent RAM, P and M on RAM that is not. */
	const char *mtrr = column % 2 ? "WC" : column ? "WB" : "UC";
	const char *flag = !strcmp(condition, "quirk disabled")	  ? "--pat-quirk-off"
			   : !strcmp(condition, "no EPT")	  ? "--shadow"
			   : !strcmp(condition, "not registered") ? "--unregistered"
								  : "";
	char command[512], says[16];

	ck_assert_msg(!*condition || *flag, "no such condition: '%s'", condition);
	if (!strcmp(want, "-"))
		return;
	snprintf(command, sizeof(command),
		 "memtype explain --vendor %s --kernel %s --backing %s --coherent %s "
		 "--guest-mtrr %s --guest-pat %s %s",
		 vendor, kernel, column < 2 ? "bar" : "ram", column < 4 ? "yes" : "no", mtrr,
		 column % 2 ? "UC-" : "WC", flag);
	run_status(command, 0);
	ck_assert_int_eq(sscanf(run_output, "%15s", says), 1);
	ck_assert_msg(!strcmp(says, want), "'%s' says %s, the table %s", command, says, want);
}

START_TEST(each_cell_of_the_release_table)
{
	char line[4096], *cell[16];
	FILE *f = opened(DOC);
	int rows = 0;

	while (lines(f, line, sizeof(line))) {
		int n = cells(line, cell), kernels = 0;

		if (n != 9 || (strcmp(cell[0], "intel") && strcmp(cell[0], "amd")))
			continue;
		/* Every release that the second column names. */
		for (char *s = cell[1]; *s;) {
			char kernel[16];
			size_t len = strspn(s, "0123456789.");

			if (!len) {
				s++;
				continue;
			}
			snprintf(kernel, sizeof(kernel), "%.*s", (int)len, s);
			s += len;
			for (int c = 0; c < 6; c++)
				check_cell(cell[0], kernel, cell[2], c, cell[c + 3]);
			kernels++;
		}
		ck_assert_int_ge(kernels, 1);
		rows++;
	}
	fclose(f);
	ck_assert_int_eq(rows, 11);
}
END_TEST

START_TEST(each_example_of_the_manual_page_runs)
{
	char line[4096];
	FILE *f = opened(PAGE);
	int examples = 0;

	while (lines(f, line, sizeof(line))) {
		if (strncmp(line, "\tmemtype ", 9))
			continue;
		run_status(line + 1, 0);
		ck_assert_int_gt(strlen(run_output), 0);
		examples++;
	}
	fclose(f);
	ck_assert_int_ge(examples, 6);
}
END_TEST

/* Nothing that a user can type is missing from the manual page, --help or the completion. */
START_TEST(every_option_is_documented)
{
	static const char *const places[] = { PAGE, "completions/memtype" };
	char options[4096], *rest = options, *word;
	int count = 0;

	run_status("for c in table effective explain decode host guest; do memtype $c --help; done | "
		   "grep -oE -- '--[a-z][a-z-]+' | sort -u | tr '\\n' ' '",
		   0);
	ck_assert_int_lt(strlen(run_output), sizeof(options));
	strcpy(options, run_output);
	while ((word = strsep(&rest, " ")) && *word) {
		for (size_t i = 0; i < 2; i++) {
			char command[256];

			snprintf(command, sizeof(command), "grep -qF -- '%s' %s", word, places[i]);
			ck_assert_msg(run(command) == 0, "%s does not know %s", places[i], word);
		}
		count++;
	}
	ck_assert_int_ge(count, 18);
}
END_TEST

SUITE("mt_docs", each_example_shows_what_the_program_says, each_cell_of_the_release_table,
      each_example_of_the_manual_page_runs, every_option_is_documented)
