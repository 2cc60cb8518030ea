// SPDX-License-Identifier: GPL-2.0-only
/*
 * libmemtype against Bochs run natively, a processor model that nobody here wrote: random
 * MTRR programs, what WRMSR refuses, what RDMSR gives back, and the memory type that each
 * store has.
 *
 *   oracle disk SEED PROGRAM          the disk for native.c, to standard output
 *   oracle check SEED OUTPUT TRACE    judge what it printed and what Bochs traced
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mt/combine.h>
#include <mt/map.h>
#include <mt/pat.h>

#include "native.h"
#include "trace.h"

#define WIDTH	 40 /* of every processor of Bochs; native.c says what CPUID says */
#define PROGRAMS 500
#define STORES	 24
#define REFUSALS 1024 /* values for each register */
#define GROUP	 128 /* of them in one operation */
#define TAG	 0x5eed000000000000ull

struct list {
	uint64_t words[NATIVE_WORDS_MAX];
	uint32_t len;
	uint64_t state; /* of the random numbers */
	uint64_t tag;
};

static struct list list;

static const uint8_t types[] = { MT_UC, MT_WC, MT_WT, MT_WP, MT_WB };

/* xorshift64*: the same list each time for the same seed. */
static uint64_t rnd(void)
{
	list.state ^= list.state >> 12;
	list.state ^= list.state << 25;
	list.state ^= list.state >> 27;
	return list.state * 0x2545f4914f6cdd1dull;
}

static void put(uint64_t word)
{
	if (list.len == NATIVE_WORDS_MAX - 2) {
		fputs("oracle: the list is full\n", stderr);
		exit(1);
	}
	list.words[list.len++] = word;
}

static void put_op(enum native_kind kind, uint32_t n)
{
	put(kind | (uint64_t)n << 8);
}

static void put_write(uint32_t msr, uint64_t value)
{
	put(msr);
	put(value);
}

static uint64_t pte(uint64_t page, unsigned int index)
{
	return mt_pte_with_index(page | 3, MT_4K, index);
}

/* --- all pairs -------------------------------------------------------------------------- */

#define WINDOW(w) (0x2000000ull + 0x200000ull * (w))

static void put_matrix(void)
{
	static const uint64_t pat = 0x0607000105040600ull;
	const uint64_t reach = (1ull << WIDTH) - 1;

	put_op(NATIVE_WRITES, 18);
	put_write(MT_MSR_DEF_TYPE, MT_DEF_TYPE_E | MT_WB);
	put_write(MT_MSR_PAT, pat);
	for (unsigned int i = 0; i < MT_VARIABLE_RANGES; i++) {
		uint64_t base = i < sizeof(types) ? WINDOW(i) | types[i] : 0;

		put_write(MT_MSR_PHYSBASE(i), base);
		put_write(MT_MSR_PHYSMASK(i),
			  base ? (~0x1fffffull & reach) | MT_PHYSMASK_VALID : 0);
	}
	for (int on = 1; on >= 0; on--) {
		put_op(NATIVE_CACHES, (uint32_t)on);
		put_op(NATIVE_STORES, 8 * sizeof(types));
		for (unsigned int w = 0; w < sizeof(types); w++) {
			for (unsigned int index = 0; index < 8; index++) {
				put(pte(WINDOW(w) + 0x1000ull * index, index));
				put(TAG | list.tag++);
			}
		}
	}
	put_op(NATIVE_CACHES, 1);
}

/* --- random programs -------------------------------------------------------------------- */

static uint64_t eight_types(void)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | types[rnd() % sizeof(types)];
	return v;
}

static uint64_t some_pat(void)
{
	uint64_t v = eight_types();

	for (int i = 0; i < 8; i++)
		if (rnd() % 6 == 0)
			v = mt_pat_replace(v, (unsigned int)i, MT_UC_MINUS);
	return v;
}

/* A legal value, ranges near each other so that they overlap. */
static uint64_t some_value(uint32_t msr, uint64_t near)
{
	const uint64_t reach = (1ull << WIDTH) - 1;
	uint64_t size = 0x1000ull << rnd() % (WIDTH - 11), v;

	if (msr == MT_MSR_PAT)
		return some_pat();
	if (msr == MT_MSR_DEF_TYPE)
		return types[rnd() % sizeof(types)] | (rnd() % 8 ? MT_DEF_TYPE_E : 0) |
		       (rnd() % 2 ? MT_DEF_TYPE_FE : 0);
	if (msr >= MT_MSR_FIX64K_00000)
		return eight_types();
	if (msr % 2) {
		v = ~(size - 1) & reach;
		if (rnd() % 4 == 0)
			v &= rnd() | (reach ^ reach >> rnd() % 8); /* holes */
		return (v & ~0xfffull) | (rnd() % 8 ? MT_PHYSMASK_VALID : 0);
	}
	switch (rnd() % 4) {
	case 0:
		v = rnd();
		break;
	case 1:
		v = ~0ull - rnd() % 16 * 0x1000; /* the end of what MAXPHYADDR allows */
		break;
	default:
		v = near ^ (rnd() % 4 * size);
	}
	return (v & reach & ~0xfffull) | types[rnd() % sizeof(types)];
}

static uint64_t some_page(const uint64_t *base, const uint64_t *mask)
{
	const uint64_t reach = (1ull << WIDTH) - 1;
	unsigned int i = rnd() % MT_VARIABLE_RANGES;
	uint64_t in = (base[i] & mask[i]) | (~mask[i] & rnd()), page;

	switch (rnd() % 8) {
	case 0:
	case 1:
		page = rnd() % MT_FIXED_END;
		break;
	case 2:
		page = rnd() >> rnd() % 40;
		break;
	case 3:
		page = (base[i] & mask[i]) - 0x1000; /* one page before it */
		break;
	case 4:
		page = ((base[i] & mask[i]) | ~mask[i]) + 0x1000; /* one page behind it */
		break;
	default:
		page = in;
	}
	return page & reach & ~0xfffull;
}

static void put_program(void)
{
	uint64_t base[MT_VARIABLE_RANGES], mask[MT_VARIABLE_RANGES];
	uint64_t near = rnd() >> (64 - WIDTH + rnd() % 24);

	put_op(NATIVE_WRITES, 2 + MT_FIXED_REGISTERS + 2 * MT_VARIABLE_RANGES);
	put_write(MT_MSR_DEF_TYPE, some_value(MT_MSR_DEF_TYPE, near));
	put_write(MT_MSR_PAT, some_value(MT_MSR_PAT, near));
	for (unsigned int i = 0; i < MT_FIXED_REGISTERS; i++)
		put_write(mt_fixed_msr(i), eight_types());
	for (unsigned int i = 0; i < MT_VARIABLE_RANGES; i++) {
		base[i] = some_value(MT_MSR_PHYSBASE(i), near);
		mask[i] = some_value(MT_MSR_PHYSMASK(i), near);
		put_write(MT_MSR_PHYSBASE(i), base[i]);
		put_write(MT_MSR_PHYSMASK(i), mask[i]);
	}
	put_op(NATIVE_STORES, STORES);
	for (int i = 0; i < STORES; i++) {
		uint64_t page;

		do
			page = some_page(base, mask);
		while (!native_page_is_free(page));
		put(pte(page, rnd() % 8));
		put(TAG | list.tag++);
	}
}

/* --- what is refused -------------------------------------------------------------------- */

static uint64_t doubtful_value(uint32_t msr)
{
	uint64_t v = some_value(msr, rnd());
	unsigned int byte = rnd() % 8 * 8;

	switch (rnd() % 6) {
	case 0:
		return v;
	case 1:
		return rnd() & rnd() & rnd();
	case 2:
		return (v & ~(0xffull << byte)) | (rnd() % 10) << byte; /* reserved types, too */
	case 3:
		return v ^ 1ull << (WIDTH - 2 + rnd() % 4);
	default:
		return v ^ 1ull << rnd() % 64;
	}
}

static void put_refusals(uint32_t msr)
{
	for (int i = 0; i < REFUSALS; i++) {
		if (i % GROUP == 0)
			put_op(NATIVE_WRITES, GROUP);
		put_write(msr, doubtful_value(msr));
	}
}

static void make_list(uint64_t seed)
{
	list.state = seed ? seed : 1;
	put_matrix();
	for (int i = 0; i < PROGRAMS; i++)
		put_program();
	put_refusals(MT_MSR_MTRRCAP);
	put_refusals(MT_MSR_PAT);
	put_refusals(MT_MSR_DEF_TYPE);
	for (unsigned int i = 0; i < MT_FIXED_REGISTERS; i++)
		put_refusals(mt_fixed_msr(i));
	for (unsigned int i = 0; i < 2 * MT_VARIABLE_RANGES; i++)
		put_refusals(MT_MSR_PHYSBASE(0) + i);
	put_op(NATIVE_END, 0);
}

static int write_disk(const char *program)
{
	static uint8_t head[NATIVE_SECTOR * 512], zeros[16 * 63 * 512];
	uint64_t first[2] = { NATIVE_MAGIC, list.len };
	size_t bytes = sizeof(head) + sizeof(first) + list.len * 8ull;
	FILE *f = fopen(program, "rb");

	if (!f || !fread(head, 1, sizeof(head), f)) {
		fprintf(stderr, "oracle: %s: %s\n", program, strerror(errno));
		return 1;
	}
	fclose(f);
	fwrite(head, 1, sizeof(head), stdout);
	fwrite(first, 1, sizeof(first), stdout);
	fwrite(list.words, 8, list.len, stdout);
	/* Bochs wants whole cylinders. */
	fwrite(zeros, 1, sizeof(zeros) - bytes % sizeof(zeros), stdout);
	return ferror(stdout) || fclose(stdout);
}

/* --- judging ---------------------------------------------------------------------------- */

struct verdict {
	FILE *output, *trace;
	const char *trace_name;
	struct mt_mtrr regs;
	struct mt_map map;
	bool caches;
	unsigned long writes, refused, stores, masked, undefined, cd, wrong;
	bool seen[MT_WB + 1][MT_UC_MINUS + 1];
};

static void wrong(struct verdict *v, const char *what)
{
	if (++v->wrong <= 20)
		printf("    %s\n", what);
}

static void judge_writes(struct verdict *v, const uint64_t *op, uint32_t n)
{
	char line[NATIVE_STORES_MAX + 64], bits[NATIVE_STORES_MAX + 1], text[160];
	uint64_t want = 0, got;

	if (!fgets(line, sizeof(line), v->output) ||
	    sscanf(line, "w %512s %" SCNx64, bits, &got) != 2 || strlen(bits) != n) {
		wrong(v, "the output ends too early");
		return;
	}
	for (uint32_t i = 0; i < n; i++, op += 2) {
		uint32_t msr = (uint32_t)op[0];
		enum mt_gp fault = mt_wrmsr_fault(&v->regs, msr, op[1]);
		uint64_t value = 0;

		v->writes++;
		v->refused += bits[i] == '1';
		if ((fault != MT_GP_NONE) != (bits[i] == '1')) {
			snprintf(text, sizeof(text),
				 "WRMSR %#x, %#" PRIx64 ": Bochs %s, libmemtype %s", msr, op[1],
				 bits[i] == '1' ? "#GP" : "fine",
				 fault != MT_GP_NONE ? "#GP" : "fine");
			wrong(v, text);
		}
		if ((mt_wrmsr(&v->regs, msr, op[1]) == 0) != (fault == MT_GP_NONE))
			wrong(v, "mt_wrmsr() and mt_wrmsr_fault() disagree");
		if (mt_rdmsr(&v->regs, msr, &value))
			wrong(v, "mt_rdmsr() does not know a register");
		want = native_mix(want, value);
	}
	if (want != got) {
		snprintf(text, sizeof(text),
			 "RDMSR after the writes of MSR %#x ... %#x gives other values",
			 (unsigned int)op[-2 * (int)n], (unsigned int)op[-2]);
		wrong(v, text);
	}
	mt_map_build(&v->map, &v->regs);
}

/* What Bochs prints where it is known to differ from the manual; everything else as it is. */
static enum mt_type as_bochs(enum mt_type mtrr, enum mt_type pat, enum mt_type type, bool *masked)
{
	*masked = true;
	if (mtrr == MT_WT && pat == MT_WP)
		return MT_WT;
	if (mtrr == MT_WP && pat == MT_UC_MINUS)
		return MT_UC;
	*masked = false;
	return type;
}

static void judge_store(struct verdict *v, uint64_t entry, uint64_t tag)
{
	uint64_t page = entry & ~0xfffull & ((1ull << WIDTH) - 1);
	struct mt_range_type range = mt_mtrr_type(&v->regs, page);
	struct mt_range_type mapped = mt_map_type(&v->map, page);
	enum mt_type pat = mt_pat_entry(v->regs.pat, mt_pte_index(entry, MT_4K));
	enum mt_type mtrr = range.type, want;
	struct mt_effective effective;
	struct trace_store store;
	char text[200];
	bool masked = false;

	v->stores++;
	if (range.type != mapped.type || range.undefined != mapped.undefined)
		wrong(v, "map and registers give different types");
	if (!trace_next_store(v->trace, &store) || store.value != tag || store.phys != page) {
		wrong(v, "the trace has another store, or none");
		return;
	}
	if (range.undefined) {
		/* The manuals do not say; Bochs takes it for WB. */
		v->undefined++;
		mtrr = MT_WB;
	}
	if (mt_combine_intel(mtrr, pat, &effective)) {
		wrong(v, "libmemtype takes no such pair");
		return;
	}
	want = effective.type;
	if (!v->caches) {
		v->cd++;
		want = MT_UC;
	} else {
		want = as_bochs(mtrr, pat, want, &masked);
		v->masked += masked;
		if (!masked && !range.undefined)
			v->seen[mtrr][pat] = true;
	}
	if (strcmp(store.type, mt_type_name(want))) {
		snprintf(text, sizeof(text),
			 "store %" PRIx64 " to %#" PRIx64
			 ", MTRR %s%s, PAT %s: Bochs %s, libmemtype %s",
			 tag, page, mt_type_name(range.type), range.undefined ? " (undefined)" : "",
			 mt_type_name(pat), store.type, mt_type_name(want));
		wrong(v, text);
	}
}

/* A check that looks at nothing must not pass. */
static void judge_coverage(struct verdict *v)
{
	struct trace_store store;
	char text[160];

	for (size_t m = 0; m < sizeof(types); m++) {
		for (unsigned int p = 0; p <= MT_UC_MINUS; p++) {
			bool masked;

			as_bochs(types[m], p, MT_UC, &masked);
			if (!mt_type_in_pat(p) || masked || v->seen[types[m]][p])
				continue;
			snprintf(text, sizeof(text), "no store had MTRR %s and PAT %s",
				 mt_type_name(types[m]), mt_type_name(p));
			wrong(v, text);
		}
	}
	if (!v->undefined || !v->masked || !v->cd || !v->refused)
		wrong(v, "a kind of case never came up");
	if (trace_next_store(v->trace, &store))
		wrong(v, "the trace has more stores");
}

static int judge(const char *output, const char *trace)
{
	static struct verdict v = { .caches = true };
	unsigned int width = 0;

	v.output = fopen(output, "r");
	v.trace = fopen(trace, "r");
	if (!v.output || !v.trace) {
		fprintf(stderr, "oracle: %s: %s\n", v.output ? trace : output, strerror(errno));
		return 1;
	}
	if (fscanf(v.output, "width %u\n", &width) != 1 || width != WIDTH) {
		printf("    the address width is %u, not %u\n", width, WIDTH);
		return 1;
	}
	if (mt_mtrr_init(&v.regs, WIDTH))
		return 1;
	for (uint32_t at = 0; at < list.len;) {
		enum native_kind kind = list.words[at] & 0xff;
		uint32_t n = (uint32_t)(list.words[at] >> 8);

		at++;
		if (kind == NATIVE_CACHES) {
			v.caches = n;
		} else if (kind == NATIVE_WRITES) {
			judge_writes(&v, list.words + at, n);
			at += 2 * n;
		} else if (kind == NATIVE_STORES) {
			for (uint32_t i = 0; i < n; i++, at += 2)
				judge_store(&v, list.words[at], list.words[at + 1]);
		}
	}
	judge_coverage(&v);
	printf("%lu stores (%lu in cells that Bochs has wrong, %lu in overlaps that the manual "
	       "leaves undefined, "
	       "%lu with CR0.CD), %lu writes (%lu refused), %lu differences\n",
	       v.stores, v.masked, v.undefined, v.cd, v.writes, v.refused, v.wrong);
	return v.wrong != 0;
}

int main(int argc, char **argv)
{
	char *end;

	if (argc >= 3) {
		make_list(strtoull(argv[2], &end, 0));
		if (!*end && argc == 4 && !strcmp(argv[1], "disk"))
			return write_disk(argv[3]);
		if (!*end && argc == 5 && !strcmp(argv[1], "check"))
			return judge(argv[3], argv[4]);
	}
	fputs("Usage: oracle disk SEED PROGRAM | oracle check SEED OUTPUT TRACE\n", stderr);
	return 2;
}
