// SPDX-License-Identifier: GPL-2.0-only
/* perfdiff's parts: running commands in turn, the file, and what the table says of it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "latency/perfdiff/session.h"
#include "latency/perfdiff/table.h"
#include "latency/rng.h"
#include "latency/stats.h"
#include "suite.h"

static struct lat_record rec, back;
static struct lat_table table;
static struct bp_error err;
static char dir[] = "/tmp/perfdiff-XXXXXX";
static char text[1 << 20];

/* ---- a kernel that a test plays: every counter says what it is told ---- */

static int refuse, opened;
static uint64_t says[3];

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		     unsigned long flags)
{
	ck_assert(attr->inherit && pid > 0 && cpu == -1 && flags);
	(void)group;
	errno = refuse ? refuse : ENOENT;
	return refuse || attr->type == PERF_TYPE_HW_CACHE ? -1 : 1000 + opened++;
}

static int fake_ioctl(int fd, unsigned long request, unsigned long arg)
{
	(void)fd, (void)request, (void)arg;
	return 0;
}

static ssize_t fake_read(int fd, void *buf, size_t size)
{
	(void)fd;
	memcpy(buf, says, size);
	return (ssize_t)size;
}

static int fake_close(int fd)
{
	ck_assert_int_ge(fd, 1000);
	opened--;
	return 0;
}

static const struct lat_perf_sys sys = { fake_open, fake_ioctl, fake_read, fake_close };

static struct lat_session session(unsigned int rounds)
{
	refuse = opened = 0;
	says[0] = 500;
	says[1] = says[2] = 1000;
	lat_record_free(&rec);
	bp_error_clear(&err);
	return (struct lat_session){ .rounds = rounds, .seed = 42, .sys = &sys };
}

static void command(const char *script, const char *name)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };

	ck_assert_int_eq(lat_record_config(&rec, argv, name), 0);
}

static size_t row(const char *name)
{
	for (size_t i = 0; i < rec.nr_rows; i++)
		if (!strcmp(rec.row[i].name, name))
			return i;
	ck_abort_msg("no row %s", name);
}

START_TEST(commands_take_turns_in_random_order)
{
	struct lat_session s = session(12);
	unsigned int first[3] = { 0 };
	FILE *f;
	char line[64];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	command("echo a ${#PERFDIFF_PADDING} >> log", "a");
	command("echo b ${#PERFDIFF_PADDING} >> log", "b");
	command("echo c ${#PERFDIFF_PADDING} >> log", "c");
	s.warmup = 1;
	ck_assert_int_eq(lat_session_run(&s, &rec, &err), 0);
	ck_assert_int_eq(opened, 0);
	f = fopen("log", "r");
	ck_assert_ptr_nonnull(f);
	/* 13 rounds of 3, of which the first is not kept. The file says what really ran when. */
	for (unsigned int i = 0; i < 39; i++) {
		unsigned int padding, round = i / 3, place = i % 3;
		const struct lat_run *run;
		char name;

		ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
		ck_assert_int_eq(sscanf(line, "%c %u", &name, &padding), 2);
		if (!round)
			continue;
		run = &rec.config[name - 'a'].run[round - 1];
		ck_assert_uint_eq(run->round, round - 1);
		ck_assert_uint_eq(run->place, place);
		ck_assert_uint_eq(run->padding, padding);
		first[name - 'a'] += !place;
	}
	ck_assert_ptr_null(fgets(line, sizeof(line), f));
	fclose(f);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(rec.config[i].nr, 12);
		ck_assert_uint_ge(first[i], 1);
		ck_assert_uint_le(first[i], 9);
	}
	ck_assert_uint_ne(rec.config[0].run[0].padding, rec.config[0].run[1].padding);
	unlink("log");
	ck_assert_int_eq(chdir("/"), 0);
	rmdir(dir);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_order_and_layout)
{
	struct lat_session s = session(6);
	unsigned int before[6][2];

	command(":", "a");
	command(":", "b");
	ck_assert_int_eq(lat_session_run(&s, &rec, &err), 0);
	for (int i = 0; i < 6; i++) {
		before[i][0] = rec.config[0].run[i].place;
		before[i][1] = rec.config[0].run[i].padding;
	}
	s = session(6);
	command(":", "a");
	command(":", "b");
	ck_assert_int_eq(lat_session_run(&s, &rec, &err), 0);
	for (int i = 0; i < 6; i++) {
		ck_assert_uint_eq(before[i][0], rec.config[0].run[i].place);
		ck_assert_uint_eq(before[i][1], rec.config[0].run[i].padding);
	}
}
END_TEST

START_TEST(values_are_those_of_the_counters)
{
	struct lat_session s = session(1);

	says[1] = 1000;
	says[2] = 250;
	command("sleep 0.03", "a");
	ck_assert_int_eq(lat_session_run(&s, &rec, &err), 0);
	ck_assert_double_eq(rec.config[0].run[0].value[row("cycles")], 2000);
	ck_assert_double_eq(rec.config[0].run[0].share[row("cycles")], 0.25);
	ck_assert_double_ge(rec.config[0].run[0].value[row("elapsed")], 30e6);
	ck_assert_double_lt(rec.config[0].run[0].value[row("user-time")], 30e6);
	ck_assert(isnan(rec.config[0].run[0].value[row("dTLB-load-misses")]));
	ck_assert_str_ne(rec.row[row("dTLB-load-misses")].missing, "");
	ck_assert_str_eq(rec.row[row("cycles")].missing, "");
	/* A machine without counters still has a clock. */
	s = session(1);
	refuse = ENOSYS;
	command(":", "a");
	ck_assert_int_eq(lat_session_run(&s, &rec, &err), 0);
	ck_assert_double_gt(rec.config[0].run[0].value[row("elapsed")], 0);
	ck_assert_ptr_nonnull(strstr(rec.row[row("page-faults")].missing, "cannot count"));
}
END_TEST

START_TEST(a_command_that_fails_ends_it_with_the_reason)
{
	struct lat_session s = session(3);
	char *none[] = { "/no/such/program", NULL };

	command("exit 7", "broken");
	ck_assert_int_eq(lat_session_run(&s, &rec, &err), -ECANCELED);
	ck_assert_str_eq(err.what, "'broken' ended with status 7 in round 1 of 3");
	s = session(3);
	command("kill -TERM $$", "killed");
	ck_assert_int_eq(lat_session_run(&s, &rec, &err), -ECANCELED);
	ck_assert_str_eq(err.what, "'killed' was ended by signal 15 in round 1 of 3");
	s = session(2);
	s.any_status = true;
	command("exit 7", "broken");
	ck_assert_int_eq(lat_session_run(&s, &rec, &err), 0);
	ck_assert_int_eq(rec.config[0].run[1].status, 7);
	s = session(1);
	ck_assert_int_eq(lat_record_config(&rec, none, NULL), 0);
	ck_assert_int_eq(lat_session_run(&s, &rec, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.what, "/no/such/program"));
	ck_assert_int_eq(opened, 0);
}
END_TEST

/* ---- the file ---- */

static void fill(unsigned int runs, double factor, uint64_t seed)
{
	struct lat_rng r = { seed };
	char *argv[] = { "/bin/x", "\"quoted\"", "\n", NULL };

	lat_record_free(&rec);
	lat_command_rows(&rec);
	rec.rounds = runs;
	rec.seed = UINT64_MAX;
	for (int c = 0; c < 2; c++) {
		ck_assert_int_eq(lat_record_config(&rec, argv, NULL), 0);
		for (unsigned int i = 0; i < runs; i++) {
			struct lat_run *run = lat_record_run(&rec.config[c]);

			ck_assert_ptr_nonnull(run);
			run->round = i;
			for (size_t k = 0; k < rec.nr_rows; k++) {
				/* 1 % of noise, and 2 % of drift that both share. */
				double noise =
					1 + 0.02 * ((double)lat_rng_below(&r, 1000) / 1000 - 0.5);

				run->value[k] =
					1e6 * (1 + 0.02 * i / runs) * noise * (c ? factor : 1);
				run->share[k] = 1;
			}
			run->value[3] = 0;
			run->value[rec.nr_rows - 1] = NAN;
		}
	}
	strcpy(rec.row[rec.nr_rows - 1].missing, "not here");
}

static size_t written(void)
{
	FILE *f = fmemopen(text, sizeof(text), "w");
	size_t n;

	ck_assert_int_eq(lat_record_write(&rec, f), 0);
	n = (size_t)ftell(f);
	fclose(f);
	return n;
}

START_TEST(what_is_written_is_read_again)
{
	size_t n;

	fill(20, 1.03, 1);
	n = written();
	lat_record_free(&back);
	ck_assert_msg(!lat_record_parse(&back, text, n, "f", &err), "%s", err.what);
	ck_assert_uint_eq(back.seed, UINT64_MAX);
	ck_assert_uint_eq(back.nr_rows, rec.nr_rows);
	ck_assert_uint_eq(back.nr_configs, 2);
	ck_assert_str_eq(back.config[0].name, "x \"quoted\" \n");
	ck_assert_str_eq(back.config[1].name, "x \"quoted\" \n#2");
	ck_assert_str_eq(back.config[0].argv[2], "\n");
	ck_assert_ptr_null(back.config[0].argv[3]);
	ck_assert_uint_eq(back.config[1].nr, 20);
	ck_assert_double_eq_tol(back.config[1].run[19].value[0], rec.config[1].run[19].value[0],
				0.001);
	ck_assert(isnan(back.config[0].run[0].value[back.nr_rows - 1]));
	ck_assert_str_eq(back.row[back.nr_rows - 1].missing, "not here");
}
END_TEST

START_TEST(a_file_that_is_cut_off_is_refused)
{
	size_t n;

	fill(2, 1, 1);
	n = written();
	while (text[n - 1] != '}')
		n--;
	for (size_t cut = 0; cut < n; cut++) {
		bp_error_clear(&err);
		lat_record_free(&back);
		ck_assert_int_eq(lat_record_parse(&back, text, cut, "f", &err), -EINVAL);
		ck_assert_uint_eq(back.nr_configs, 0);
	}
	ck_assert_ptr_nonnull(strstr(err.what, "'f' is no record of perfdiff"));
	ck_assert_int_eq(lat_record_parse(&back, text, n, "f", &err), 0);
}
END_TEST

START_TEST(a_file_with_wrong_bytes_does_no_harm)
{
	struct lat_rng r = { 8 };
	static char hurt[1 << 20];
	unsigned int refused = 0;
	size_t n;

	fill(2, 1, 1);
	n = written();
	for (int i = 0; i < 3000; i++) {
		memcpy(hurt, text, n);
		for (int k = 0; k < 3; k++)
			hurt[lat_rng_below(&r, n)] = "0129.e-{}[]\",:\\x"[lat_rng_below(&r, 16)];
		bp_error_clear(&err);
		lat_record_free(&back);
		if (lat_record_parse(&back, hurt, n, "f", &err)) {
			refused++;
			continue;
		}
		/* What is accepted can also be shown. */
		const char *name = "f";
		int ret = lat_table_make(&table, &back, &name, 1,
					 &(struct lat_table_opts){ .stat = LAT_MEAN }, &err);

		ck_assert(ret == 0 || ret == -ENODATA);
	}
	ck_assert_uint_ge(refused, 1000);
}
END_TEST

/* Replace the first @from, and see that the file is then refused for @why. */
static void hostile(const char *from, const char *to, const char *why)
{
	static char changed[1 << 20];
	char *at;

	fill(2, 1, 1);
	written();
	at = strstr(text, from);
	ck_assert_msg(at != NULL, "no %s", from);
	snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, to,
		 at + strlen(from));
	bp_error_clear(&err);
	ck_assert_msg(lat_record_parse(&back, changed, strlen(changed), "f", &err) < 0,
		      "%s accepted", to);
	ck_assert_msg(strstr(err.what, why) != NULL, "'%s' without '%s'", err.what, why);
	lat_record_free(&back);
}

START_TEST(each_number_and_length_is_checked)
{
	hostile("bluepass-perfdiff", "another", "schema");
	hostile("\"version\":1", "\"version\":2", "version 2");
	hostile("\"version\":1", "\"version\":0", "range");
	hostile("\"round\":0", "\"round\":-1", "range");
	hostile("\"round\":0", "\"round\":99999999999999999999", "range");
	hostile("\"round\":0", "\"round\":\"0\"", "no int \"round\"");
	hostile("\"place\":0", "\"place\":32", "range");
	hostile("\"status\":0", "\"status\":256", "range");
	hostile("\"padding\":0", "\"padding\":4294967296", "range");
	hostile("\"values\":[", "\"values\":[1,", "18 values, not 17");
	hostile("\"values\":[", "\"values\":[], \"more\":[", "0 values");
	hostile("\"shares\":[1.000000", "\"shares\":[1.5", "range");
	hostile("\"shares\":[1.000000", "\"shares\":[-0.5", "range");
	hostile("\"values\":[", "\"values\":[1e999, \"x\",", "values");
	hostile("elapsed", "user-time", "twice");
	hostile("elapsed", "elapsed-elapsed-elapsed-elapsed-elapsed-elapsed", "too long");
	hostile("elapsed", "elap\\u0000sed", "too long");
	hostile("\"counters\":[", "\"counters\":[], \"c\":[", "0 counters");
	hostile("\"configurations\":[", "\"configurations\":[], \"c\":[", "0 configurations");
	hostile("\"command\":[", "\"command\":[], \"c\":[", "a command of 0 words");
	hostile("\"command\":[", "\"command\":[7,", "no text");
	hostile("{\"schema\"", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[{\"schema\"", "nesting");
}
END_TEST

START_TEST(files_that_are_none)
{
	ck_assert_int_eq(lat_record_load(&back, "/no/such/file", &err), -ENOENT);
	bp_error_clear(&err);
	ck_assert_int_eq(lat_record_load(&back, "/dev/null", &err), -EINVAL);
	bp_error_clear(&err);
	ck_assert_int_eq(lat_record_load(&back, "/tmp", &err), -EINVAL);
	ck_assert_int_lt(lat_record_probe("/no/such/dir/f", &err), 0);
	ck_assert_int_lt(lat_record_save(&rec, "/no/such/dir/f", &err), 0);
}
END_TEST

/* ---- the table ---- */

static void make(const struct lat_record *r, size_t n)
{
	static const char *const name[] = { "dir/base.json", "other" };
	struct lat_table_opts o = { .stat = LAT_MEAN, .seed = 3 };

	ck_assert_msg(!lat_table_make(&table, r, name, n, &o, &err), "%s", err.what);
}

START_TEST(a_planted_3_percent_is_real)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		const struct lat_cell *c = &table.cell[0][1];

		fill(10, 1.03, seed);
		make(&rec, 1);
		ck_assert(c->compared && c->paired && c->diff.differs);
		ck_assert_double_gt(c->diff.change_low, 0.005);
		ck_assert_double_lt(c->diff.change_high, 0.06);
		/* A counter of zeros differs by nothing; one that is missing is not compared. */
		ck_assert(!table.cell[3][1].diff.differs);
		ck_assert(isnan(table.cell[3][1].diff.change));
		ck_assert(!table.cell[rec.nr_rows - 1][1].compared);
	}
}
END_TEST

START_TEST(equal_pairs_are_not)
{
	unsigned int real = 0, few = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		fill(10, 1, seed);
		rec.nr_rows = 1;
		make(&rec, 1);
		real += table.cell[0][1].diff.differs;
		few += table.cell[0][1].diff.hopeless;
	}
	/* At 99 % two of 200 are expected to be taken for real. */
	ck_assert_uint_le(real, 5);
	ck_assert_uint_eq(few, 0);
}
END_TEST

START_TEST(two_files_are_compared_as_independent)
{
	struct lat_record two[2];

	fill(12, 1, 1);
	two[0] = rec;
	memset(&rec, 0, sizeof(rec));
	fill(12, 1.10, 2);
	two[1] = rec;
	memset(&rec, 0, sizeof(rec));
	make(two, 2);
	ck_assert_uint_eq(table.nr_columns, 4);
	ck_assert_str_eq(table.column[0].label, "base:x \"quoted\" \n");
	ck_assert(table.cell[0][1].paired);
	ck_assert(!table.cell[0][3].paired);
	ck_assert(table.cell[0][3].diff.differs);
	ck_assert(!table.cell[0][2].diff.differs);
	/* Counted without the kernel there and with it here: not the same thing. */
	two[1].row[0].user_only = true;
	make(two, 2);
	ck_assert(!table.cell[0][3].compared);
	lat_record_free(&two[0]);
	lat_record_free(&two[1]);
}
END_TEST

START_TEST(text_and_json_of_a_table)
{
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct bp_print *p = bp_print_new(f, BP_PRINT_TEXT);

	fill(10, 1.03, 1);
	rec.config[1].run[2].status = 3;
	for (int i = 0; i < 10; i++)
		rec.config[1].run[i].share[6] = 0.5;
	make(&rec, 1);
	lat_table_print(p, &table);
	ck_assert_int_eq(bp_print_free(p), 0);
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "99 % interval"));
	ck_assert_ptr_nonnull(strstr(text, "1.009 ms"));
	ck_assert_ptr_nonnull(strstr(text, "yes"));
	ck_assert_ptr_nonnull(strstr(text, "counted 50 % of the time, and scaled"));
	ck_assert_ptr_nonnull(strstr(text, "missing: dTLB-store-misses (not here)"));
	ck_assert_ptr_nonnull(strstr(text, "1 of 10 runs of x"));
	ck_assert_ptr_null(strstr(text, "too few"));
	fill(3, 1.5, 1);
	make(&rec, 1);
	ck_assert(table.cell[0][1].diff.hopeless);
	f = fmemopen(text, sizeof(text), "w");
	p = bp_print_new(f, BP_PRINT_TEXT);
	lat_table_print(p, &table);
	bp_print_free(p);
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "too few runs to be sure"));
}
END_TEST

SUITE("lat_perfdiff", commands_take_turns_in_random_order,
      the_same_seed_gives_the_same_order_and_layout, values_are_those_of_the_counters,
      a_command_that_fails_ends_it_with_the_reason, what_is_written_is_read_again,
      a_file_that_is_cut_off_is_refused, a_file_with_wrong_bytes_does_no_harm,
      each_number_and_length_is_checked, files_that_are_none, a_planted_3_percent_is_real,
      equal_pairs_are_not, two_files_are_compared_as_independent, text_and_json_of_a_table)
