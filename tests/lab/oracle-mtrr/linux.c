// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library and Linux are asked the same. Where Linux is known to answer another
 * question than the manuals, that is taken into account, and counted:
 *
 * - undefined overlaps: Linux says UC, the library the most uncached of the types that take
 *   part. Whenever the library says "undefined", Linux must say UC.
 * - MTRRs disabled: 6.1 answers "invalid" (0xff), 6.5 and later UC, as the manuals say.
 * - 6.5 and later answer from a map of ranges [base, base + size): masks with holes and
 *   bases that are not aligned are not what the processor makes of them. 6.1 compares
 *   masks like the processor, page by page, but takes ranges for such a map, too.
 * - 6.5 and later make the map below 1 MiB while they boot, and never again.
 * - A range of several types: Linux merges the types as if they overlapped. "uniform" is
 *   false on 6.1 also when equal types meet, and true on 6.5 and later when a type follows
 *   that the merge does not show (UC, then WB).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <mt/map.h>

#include "ask.h"
#include "oracle.h"
#include "program.h"

#define PAGE	4096ull
#define INVALID 0xff

struct counts {
	uint64_t programs, pages, ranges, mixed;
	uint64_t undefined, disabled, untidy, low, partial;
	uint64_t wrong;
};

struct compare {
	bool map; /* a kernel that answers from its map */
	struct counts n;
	struct program p;
	struct mt_map ours;
};

static void complain(struct compare *c, const struct oracle_question *q, const char *want)
{
	if (c->n.wrong++ >= 5)
		return;
	fprintf(stderr, "0x%llx-0x%llx: Linux says %s%s, the library %s; DEF_TYPE=0x%llx", q->start, q->end,
		q->type == INVALID ? "invalid" : mt_type_name(q->type), q->uniform ? "" : " (not uniform)",
		want, (unsigned long long)c->p.m.def_type);
	for (unsigned int i = 0; i < MT_VARIABLE_RANGES; i++)
		fprintf(stderr, " PHYSBASE%u=0x%llx PHYSMASK%u=0x%llx", i,
			(unsigned long long)c->p.m.variable[i].base, i,
			(unsigned long long)c->p.m.variable[i].mask);
	fputc('\n', stderr);
}

/*
 * Linux does not tell UC for an undefined overlap from UC that a range asked for, so what is
 * undefined is found here once more: types other than UC that differ, unless WT and WB.
 */
static bool is_undefined(const struct mt_mtrr *m, uint64_t page)
{
	bool type[MT_WB + 1] = { false };

	if (!(m->def_type & MT_DEF_TYPE_E) || (page < MT_FIXED_END && m->def_type & MT_DEF_TYPE_FE))
		return false;
	for (unsigned int i = 0; i < MT_VARIABLE_RANGES; i++) {
		uint64_t mask = m->variable[i].mask & ~(PAGE - 1);

		if (m->variable[i].mask & MT_PHYSMASK_VALID && (page & mask) == (m->variable[i].base & mask))
			type[m->variable[i].base & 7] = true;
	}
	return !type[MT_UC] && type[MT_WC] + type[MT_WP] + (type[MT_WT] || type[MT_WB]) > 1;
}

static void compare_page(struct compare *c, const struct oracle_question *q)
{
	struct mt_range_type direct = mt_mtrr_type(&c->p.m, q->start);
	struct mt_range_type mapped = mt_map_type(&c->ours, q->start);
	unsigned int want = direct.type;

	if (c->map && q->start < MT_FIXED_END) {
		c->n.low++;
		return;
	}
	if (c->map && (c->p.holes || c->p.unaligned)) {
		c->n.untidy++;
		return;
	}
	if (!(c->p.m.def_type & MT_DEF_TYPE_E)) {
		c->n.disabled++;
		want = c->map ? MT_UC : INVALID;
	} else if (direct.undefined) {
		c->n.undefined++;
		want = MT_UC;
	}
	c->n.pages++;
	if (direct.undefined != is_undefined(&c->p.m, q->start))
		complain(c, q, direct.undefined ? "undefined" : "not undefined");
	if (q->type != want || mapped.type != direct.type || mapped.undefined != direct.undefined)
		complain(c, q, mt_type_name(direct.type));
}

/* How Linux merges the types of a range's parts, as if they overlapped. */
static unsigned int merge(unsigned int a, unsigned int b)
{
	if (a == b)
		return a;
	if ((a == MT_WB && b == MT_WT) || (a == MT_WT && b == MT_WB))
		return MT_WT;
	return MT_UC;
}

static void compare_range(struct compare *c, const struct oracle_question *q)
{
	unsigned int type = INVALID, next;
	bool uniform = true, same = true, ours = true;
	enum mt_type all, first = MT_UC;
	struct mt_range range;

	if (!(c->p.m.def_type & MT_DEF_TYPE_E)) {
		c->n.disabled++;
		return;
	}
	for (range.last = q->start - 1; range.last < q->end - 1;) {
		mt_map_next(&c->ours, range.last + 1, &range);
		next = range.undefined ? MT_UC : range.type;
		if (type == INVALID) {
			type = next;
			first = range.type;
			continue;
		}
		ours = ours && range.type == first;
		same = same && type == next;
		/* What comes after counts only if the merge shows it. */
		uniform = uniform && merge(type, next) == type;
		type = merge(type, next);
	}
	c->n.ranges++;
	c->n.mixed += !same;
	if (q->type != type)
		complain(c, q, mt_type_name(type));
	else if (c->map && uniform != q->uniform)
		complain(c, q, uniform ? "uniform" : "not uniform");
	else if (!c->map && q->uniform && !same)
		complain(c, q, "not uniform");
	if (!same && q->uniform)
		c->n.partial++;
	if (ours != mt_map_uniform(&c->ours, q->start, q->end - 1, &all) || (ours && all != first))
		complain(c, q, "otherwise when asked for the whole range");
}

static unsigned int make_questions(struct rng *r, const struct program *p, struct oracle_question *q)
{
	uint64_t end = 1ull << p->m.maxphyaddr;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < p->nr_edges; i++) {
		for (int d = -1; d <= 1; d++) {
			uint64_t at = p->edges[i] + (uint64_t)d * PAGE;

			if (at < end)
				q[nr++] = (struct oracle_question){ .start = at, .end = at + PAGE };
		}
	}
	for (unsigned int i = 0; i < 32; i++) {
		uint64_t at = rng_below(r, i % 4 ? end : 2 * MT_FIXED_END) & ~(PAGE - 1);

		q[nr++] = (struct oracle_question){ .start = at, .end = at + PAGE };
	}
	return nr;
}

/*
 * Ranges from one edge, or a page beside it, to another. Not below 1 MiB, where 6.1 looks at
 * the first byte alone; not with untidy registers, where it goes on page by page for ever.
 */
static unsigned int make_ranges(struct rng *r, const struct program *p, struct oracle_question *q)
{
	uint64_t end = 1ull << p->m.maxphyaddr;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < 64 && !p->holes && !p->unaligned; i++) {
		uint64_t a = p->edges[rng_below(r, p->nr_edges)] + (rng_below(r, 3) - 1) * PAGE;
		uint64_t b = p->edges[rng_below(r, p->nr_edges)] + (rng_below(r, 3) - 1) * PAGE;

		if (a >= MT_FIXED_END && a < b && b <= end)
			q[nr++] = (struct oracle_question){ .start = a, .end = b };
	}
	return nr;
}

static int ask_linux(int fd, const struct mt_mtrr *m, struct oracle_question *q, unsigned int nr)
{
	struct oracle_ask ask = { .def_type = m->def_type, .questions = (uintptr_t)q, .nr = nr };

	for (unsigned int i = 0; i < ORACLE_VARS; i++) {
		ask.var[i].base = m->variable[i].base;
		ask.var[i].mask = m->variable[i].mask;
	}
	memcpy(ask.fixed, m->fixed, sizeof(ask.fixed));
	return ioctl(fd, ORACLE_ASK, &ask) ? -errno : 0;
}

static bool answers_from_map(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	return major > 6 || (major == 6 && minor >= 5);
}

int oracle_linux(uint64_t seed, uint64_t count)
{
	struct compare c = { .map = answers_from_map() };
	struct oracle_question q[ORACLE_ASK_MAX];
	struct rng r = { seed };
	unsigned int nr, pages;
	int fd, err = 0;

	fd = open(ORACLE_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror(ORACLE_DEVICE);
		return 1;
	}
	for (uint64_t i = 0; i < count && !err; i++) {
		err = program_make(&r, physical_width(), i % 2, &c.p);
		if (err) {
			fputs("the library refuses a legal program\n", stderr);
			break;
		}
		mt_map_build(&c.ours, &c.p.m);
		pages = make_questions(&r, &c.p, q);
		nr = pages + make_ranges(&r, &c.p, q + pages);
		err = ask_linux(fd, &c.p.m, q, nr);
		if (err)
			fprintf(stderr, ORACLE_DEVICE ": %s\n", strerror(-err));
		for (unsigned int j = 0; j < nr && !err; j++)
			j < pages ? compare_page(&c, &q[j]) : compare_range(&c, &q[j]);
		c.n.programs += !err;
	}
	close(fd);
	printf("{\"programs\":%llu,\"pages\":%llu,\"ranges\":%llu,\"mixed_ranges\":%llu,\"undefined\":%llu,"
	       "\"disabled\":%llu,\"skipped_untidy\":%llu,\"skipped_low\":%llu,\"linux_uniform_but_mixed\":%llu,"
	       "\"wrong\":%llu}\n",
	       (unsigned long long)c.n.programs, (unsigned long long)c.n.pages,
	       (unsigned long long)c.n.ranges, (unsigned long long)c.n.mixed,
	       (unsigned long long)c.n.undefined, (unsigned long long)c.n.disabled,
	       (unsigned long long)c.n.untidy, (unsigned long long)c.n.low, (unsigned long long)c.n.partial,
	       (unsigned long long)c.n.wrong);
	return err || c.n.wrong || c.n.programs != count ? 1 : 0;
}
