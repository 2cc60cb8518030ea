// SPDX-License-Identifier: GPL-2.0-only
/*
 * MTRRs and a BAR, step by step, so that the host can look at what came of each.
 *
 * "bp.steps" is a list of words, done in order:
 *
 *   map, map:wc            map the BAR through resourceN (UC-) or resourceN_wc; see bar.h
 *   add:TYPE:OFFSET:SIZE   a range by /proc/mtrr, OFFSET bytes into the BAR
 *   del:OFFSET:SIZE        take it away
 *   one:CPU:REG:TYPE:OFFSET:SIZE, clear:CPU:REG    one register pair of one CPU (module msr)
 *   msr:CPU:MSR:VALUE      one register of one CPU
 *   wait:NAME              an event NAME, then touch the BAR until a line comes on the console
 *   toggle:OFFSET:SIZE     from now on, and beside the steps that follow, ranges of SIZE in the
 *                          BAR come and go
 *   still                  until here
 *   net, blk               the workload
 *
 * After each a "step" line says what /proc/mtrr holds.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <termios.h>
#include <unistd.h>

#include "bar.h"
#include "mtrr.h"

#define PAT_LIST "/sys/kernel/debug/x86/pat_memtype_list"

struct toggler {
	struct bar *bar;
	pthread_t thread;
	atomic_bool stop;
	bool running;
	uint64_t offset, size;
	uint64_t rounds, changes;
	int err;
};

struct run {
	struct guest *g;
	struct bar bar;
	struct toggler t;
	int console;
};

/* Fields of a word, separated by colons. */
struct step {
	char text[128];
	char *field[8];
	unsigned int nr;
};

static int parse(const struct guest *g, const char *word, size_t len, struct step *s)
{
	char *save = NULL;

	if (len >= sizeof(s->text))
		goto wrong;
	memcpy(s->text, word, len);
	s->text[len] = 0;
	s->nr = 0;
	for (char *f = strtok_r(s->text, ":", &save); f; f = strtok_r(NULL, ":", &save)) {
		if (s->nr == 8)
			goto wrong;
		s->field[s->nr++] = f;
	}
	if (s->nr)
		return 0;
wrong:
	report_error(g, "steps: '%.*s' is no step", (int)len, word);
	return -EINVAL;
}

/* Field @i as a number; -EINVAL after an error line. */
static int number(const struct guest *g, const struct step *s, unsigned int i, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = i < s->nr ? strtoull(s->field[i], &end, 0) : 0;
	if (i < s->nr && !errno && !*end)
		return 0;
	report_error(g, "step %s: field %u is no number", s->field[0], i);
	return -EINVAL;
}

/* Lines of the list that speak of the BAR; the page table's types, as the guest's kernel has them. */
static void report_pat(struct report *r, const struct bar *b)
{
	FILE *f = fopen(PAT_LIST, "re");
	char line[256];

	if (!f)
		return;
	report_list(r, "pat");
	while (fgets(line, sizeof(line), f) && r->len < sizeof(r->text) / 2) {
		unsigned long long from, to;
		const char *range = strstr(line, "0x");

		/* "PAT: [mem 0xfee00000-0xfee01000] uncached-minus", before 5.10 and after. */
		if (!range || sscanf(range, "%llx-%llx", &from, &to) != 2)
			continue;
		if (to <= b->start || from >= b->start + b->size)
			continue;
		line[strcspn(line, "\n")] = 0;
		report_str(r, NULL, line);
	}
	report_list_end(r);
	fclose(f);
}

static void report_bar(struct report *r, const struct bar *b)
{
	report_str(r, "bdf", b->bdf);
	report_u64(r, "start", b->start);
	report_u64(r, "size", b->size);
	report_u64(r, "reads", b->reads);
	report_u64(r, "writes", b->writes);
	report_u64(r, "wrong", b->wrong);
}

/* Wait for a line, and keep every page of the BAR in use meanwhile. */
static int wait_for_word(struct run *run, const char *name)
{
	struct pollfd pfd = { .fd = run->console, .events = POLLIN };
	struct timespec start;
	struct report r;
	uint64_t limit;
	char key = 0;

	if (guest_u64(run->g, "timeout", 60, &limit))
		return -EINVAL;
	bar_touch(&run->bar);
	report_open(&r, name);
	report_u64(&r, "uptime_ms", uptime_ms());
	report_bar(&r, &run->bar);
	report_send(run->g, &r);
	clock_gettime(CLOCK_MONOTONIC, &start);
	while (key != '\n') {
		if (seconds_since(&start) > (double)limit) {
			report_error(run->g, "%s: no line came on the console", name);
			return -ETIMEDOUT;
		}
		if (poll(&pfd, 1, 20) > 0 && read(pfd.fd, &key, 1) != 1)
			return -EIO;
		bar_touch(&run->bar);
	}
	return 0;
}

/* Four changes of the map a round: a range, none, one of twice the size, none. */
static void *toggle(void *arg)
{
	struct toggler *t = arg;

	while (!t->err && !atomic_load(&t->stop)) {
		for (unsigned int i = 0; i < 2 && !t->err; i++) {
			uint64_t base = t->bar->start + t->offset, size = t->size << i;

			t->err = mtrr_add(base, size, "wc");
			bar_touch(t->bar);
			if (!t->err) {
				t->changes++;
				t->err = mtrr_del(base, size);
				t->changes += !t->err;
			}
			bar_touch(t->bar);
		}
		t->rounds++;
	}
	return NULL;
}

static int toggle_start(struct run *run, const struct step *s)
{
	struct toggler *t = &run->t;
	int err;

	if (t->running || number(run->g, s, 1, &t->offset) || number(run->g, s, 2, &t->size))
		return -EINVAL;
	t->bar = &run->bar;
	atomic_store(&t->stop, false);
	t->rounds = t->changes = 0;
	t->err = 0;
	err = pthread_create(&t->thread, NULL, toggle, t);
	t->running = !err;
	return -err;
}

static int toggle_stop(struct run *run)
{
	struct toggler *t = &run->t;
	struct report r;

	if (!t->running)
		return -EINVAL;
	atomic_store(&t->stop, true);
	pthread_join(t->thread, NULL);
	t->running = false;
	report_open(&r, "toggled");
	report_u64(&r, "rounds", t->rounds);
	report_u64(&r, "changes", t->changes);
	report_bar(&r, t->bar);
	report_bool(&r, "ok", !t->err);
	report_send(run->g, &r);
	return t->err;
}

static int do_add(struct run *run, const struct step *s)
{
	uint64_t offset, size;

	if (number(run->g, s, 2, &offset) || number(run->g, s, 3, &size))
		return -EINVAL;
	return mtrr_add(run->bar.start + offset, size, s->field[1]);
}

static int do_del(struct run *run, const struct step *s)
{
	uint64_t offset, size;

	if (number(run->g, s, 1, &offset) || number(run->g, s, 2, &size))
		return -EINVAL;
	return mtrr_del(run->bar.start + offset, size);
}

static int do_one(struct run *run, const struct step *s)
{
	uint64_t cpu, reg, offset, size;
	unsigned int type;

	if (number(run->g, s, 1, &cpu) || number(run->g, s, 2, &reg) || number(run->g, s, 4, &offset) ||
	    number(run->g, s, 5, &size) || mtrr_type(s->field[3], &type))
		return -EINVAL;
	return mtrr_set_on((unsigned int)cpu, (unsigned int)reg, run->bar.start + offset, size, type);
}

static int do_clear(struct run *run, const struct step *s)
{
	uint64_t cpu, reg;

	if (number(run->g, s, 1, &cpu) || number(run->g, s, 2, &reg))
		return -EINVAL;
	return mtrr_clear_on((unsigned int)cpu, (unsigned int)reg);
}

static int do_msr(struct run *run, const struct step *s)
{
	uint64_t cpu, msr, value;

	if (number(run->g, s, 1, &cpu) || number(run->g, s, 2, &msr) || number(run->g, s, 3, &value))
		return -EINVAL;
	return msr_write((unsigned int)cpu, (uint32_t)msr, value);
}

static int do_map(struct run *run, const struct step *s)
{
	return bar_map(run->g, &run->bar, s->nr > 1 && !strcmp(s->field[1], "wc"));
}

static int do_wait(struct run *run, const struct step *s)
{
	return s->nr == 2 ? wait_for_word(run, s->field[1]) : -EINVAL;
}

static int do_still(struct run *run, const struct step *s)
{
	(void)s;
	return toggle_stop(run);
}

static int do_work(struct run *run, const struct step *s)
{
	return guest_work(run->g, s->field[0]);
}

static int do_step(struct run *run, const struct step *s)
{
	static const struct {
		const char *name;
		int (*fn)(struct run *run, const struct step *s);
	} verbs[] = {
		{ "map", do_map },     { "add", do_add },     { "del", do_del },
		{ "one", do_one },     { "clear", do_clear }, { "msr", do_msr },
		{ "wait", do_wait },   { "toggle", toggle_start },
		{ "still", do_still }, { "net", do_work },    { "blk", do_work },
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].name, s->field[0]))
			return verbs[i].fn(run, s);
	return -EINVAL;
}

static void report_step(struct run *run, const char *word, size_t len, int err)
{
	char text[1500], name[128];
	struct report r;

	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	mtrr_text(text, sizeof(text));
	report_open(&r, "step");
	report_u64(&r, "uptime_ms", uptime_ms());
	report_str(&r, "step", name);
	report_bool(&r, "ok", !err);
	if (err)
		report_str(&r, "why", strerror(-err));
	report_str(&r, "mtrr", text);
	report_pat(&r, &run->bar);
	report_send(run->g, &r);
}

/* The console, without echo: what the host types is no part of what the guest says. */
static int open_console(const struct guest *g)
{
	int fd = g->init ? open("/dev/console", O_RDWR | O_NOCTTY | O_CLOEXEC) : STDIN_FILENO;
	struct termios t;

	if (fd >= 0 && !tcgetattr(fd, &t)) {
		t.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(fd, TCSANOW, &t);
	}
	return fd;
}

int steps_run(struct guest *g)
{
	struct run run = { .g = g };
	struct step s;
	int err;

	err = bar_find(g, &run.bar);
	if (err)
		return err;
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	run.console = open_console(g);
	for (const char *w = guest_str(g, "steps", ""); *w && !err; w += strspn(w, ",")) {
		size_t len = strcspn(w, ",");

		err = parse(g, w, len, &s);
		if (!err)
			err = do_step(&run, &s);
		report_step(&run, w, len, err);
		w += len;
	}
	if (run.t.running)
		toggle_stop(&run);
	bar_unmap(&run.bar);
	if (g->init && run.console >= 0)
		close(run.console);
	if (!err && run.bar.wrong) {
		report_error(g, "a register lost what was written %llu times", (unsigned long long)run.bar.wrong);
		err = -EIO;
	}
	return err;
}
