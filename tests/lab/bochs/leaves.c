// SPDX-License-Identifier: GPL-2.0-only
/*
 * Judges the trace of barvm.c's guest: for each store the leaf that the processor walked
 * to, the PAT index of the guest's own entry, and what the manual's rule makes of them.
 *
 * The type that Bochs prints for a nested store is not looked at: it leaves EPT's type and
 * NPT's index out of account. What it read, bit for bit, is what counts.
 *
 *   leaves vmx TRACE
 *   leaves svm TRACE HOST-PAT      the BAR being UC by the host's MTRRs
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mt/combine.h>
#include <mt/leaf.h>

#include "bar.h"
#include "trace.h"

struct entry {
	uint64_t value;
	enum mt_level level;
	bool read;
};

struct judge {
	bool svm;
	uint64_t host_pat;
	uint64_t guest_pat; /* what the processor had in its PAT when the trace began */
	struct entry leaf, guest;
	unsigned int stores, wrong;
	unsigned int in_phase[BAR_PHASES];
	unsigned int wc[BAR_PHASES]; /* leaves of type WC */
};

/* Source: Intel SDM vol. 3, EPT type and PAT type; AMD APM vol. 2 15.25.8 over an MTRR of UC. */
static bool combines(bool wc_leaf, enum mt_type pat)
{
	if (pat == MT_WC)
		return true;
	return wc_leaf && (pat == MT_UC_MINUS || pat == MT_WB);
}

__attribute__((format(printf, 3, 4))) static void wrong(struct judge *j, uint64_t value,
							const char *fmt, ...)
{
	unsigned int phase = (value >> 16) & 0xffff, store = value & 0xffff;
	va_list ap;

	if (++j->wrong > 20)
		return;
	printf("    phase %u, page %u, index %u: ", phase, bar_page(store), bar_index(store));
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* A paging entry that was read; which of the two levels of paging it belongs to. */
static bool read_entry(const struct judge *j, const char *line, struct entry *e, bool *nested)
{
	uint64_t phys, high, low;
	char type[9], name[16];

	if (sscanf(line,
		   "[CPU0 RD]: PHY %" SCNx64 " (len=8, %8[^)]): %" SCNx64 " %" SCNx64
		   " ; %15[^\r\n]",
		   &phys, type, &high, &low, name) != 5)
		return false;
	if (j->svm) {
		/* Bochs has no type for what it reads from the nested table. */
		*nested = !strcmp(type, "INVALID");
	} else {
		*nested = !strncmp(name, "EPT ", 4);
	}
	memmove(name, name + (strncmp(name, "EPT ", 4) ? 0 : 4), sizeof(name) - 4);
	e->value = high << 32 | low;
	e->level = !strcmp(name, "PTE") ? MT_4K : !strcmp(name, "PDE") ? MT_2M : MT_1G;
	e->read = !strcmp(name, "PTE") ||
		  ((e->value & 0x80) && (e->level == MT_2M || !strcmp(name, "PDPTE")));
	return true;
}

static void judge_bar(struct judge *j, const struct trace_store *s, const struct bar_phase *phase,
		      unsigned int page, enum mt_type pat)
{
	bool inside = (int)page >= phase->first && (int)page <= phase->last, ipat = false;
	struct mt_effective effective;
	enum mt_type leaf;
	int err;

	if (j->leaf.level != MT_4K)
		wrong(j, s->value, "the leaf is not one of 4 KiB");
	if (j->svm) {
		leaf = mt_npt_decode(j->leaf.value, j->leaf.level, j->host_pat);
		err = mt_combine_npt(pat, leaf, MT_UC, false, false, &effective);
		if (mt_pte_index(j->leaf.value, j->leaf.level) !=
		    (inside ? (unsigned int)mt_pat_find(j->host_pat, MT_WC) : 0))
			wrong(j, s->value, "index %u in the leaf",
			      mt_pte_index(j->leaf.value, j->leaf.level));
	} else {
		err = mt_ept_decode(j->leaf.value, &leaf, &ipat);
		if (!err)
			err = mt_combine_ept(leaf, ipat, pat, false, &effective);
		if (!err && (leaf != (inside ? MT_WC : MT_UC) || ipat))
			wrong(j, s->value, "the leaf is %s%s", mt_type_name(leaf),
			      ipat ? " with IPAT" : "");
	}
	if (err) {
		wrong(j, s->value, "the leaf %#" PRIx64 " has a reserved type", j->leaf.value);
		return;
	}
	j->wc[phase - bar_phases] += leaf == MT_WC;
	if ((effective.type == MT_WC) != combines(inside, pat) ||
	    (effective.type != MT_WC && effective.type != MT_UC))
		wrong(j, s->value, "the guest's %s becomes %s", mt_type_name(pat),
		      mt_type_name(effective.type));
	if ((s->phys & ~0xfffull) != BAR_HPA + 4096ull * page)
		wrong(j, s->value, "the store went to %#" PRIx64, s->phys);
}

/* RAM is as KVM makes it: WB, and on VMX whatever the guest says. */
static void judge_ram(struct judge *j, const struct trace_store *s)
{
	enum mt_type leaf;
	bool ipat;

	if (j->svm) {
		if (mt_pte_index(j->leaf.value, j->leaf.level))
			wrong(j, s->value, "index %u in a leaf of RAM",
			      mt_pte_index(j->leaf.value, j->leaf.level));
	} else if (mt_ept_decode(j->leaf.value, &leaf, &ipat) || leaf != MT_WB || !ipat) {
		wrong(j, s->value, "a leaf of RAM is %#" PRIx64, j->leaf.value);
	}
}

static void judge_store(struct judge *j, const struct trace_store *s)
{
	unsigned int phase = (s->value >> 16) & 0xffff, store = s->value & 0xffff;

	if (s->value != BAR_TAG(j->stores / BAR_STORES, j->stores % BAR_STORES) ||
	    phase >= BAR_PHASES) {
		wrong(j, s->value, "not the store that was to come");
		return;
	}
	j->stores++;
	j->in_phase[phase]++;
	if (s->linear != BAR_GVA + 4096ull * store)
		wrong(j, s->value, "the guest stored at %#" PRIx64, s->linear);
	if (!j->leaf.read || !j->guest.read) {
		wrong(j, s->value, "the store has no walk of its own");
		return;
	}
	if (j->guest_pat != BAR_GUEST_PAT)
		wrong(j, s->value, "the processor's PAT is %#" PRIx64, j->guest_pat);
	if (j->guest.level != MT_4K || mt_pte_index(j->guest.value, MT_4K) != bar_index(store) ||
	    (j->guest.value & 0xffffffffff000ull) != bar_gpa(store))
		wrong(j, s->value, "the guest's entry is %#" PRIx64, j->guest.value);
	if (bar_page(store) < BAR_PAGES)
		judge_bar(j, s, &bar_phases[phase], bar_page(store),
			  mt_pat_entry(j->guest_pat, bar_index(store)));
	else
		judge_ram(j, s);
}

static void judge_trace(struct judge *j, FILE *f)
{
	char line[512];

	while (fgets(line, sizeof(line), f)) {
		struct trace_store store;
		struct entry e;
		uint64_t pat;
		bool nested;

		if (sscanf(line, "pat = %" SCNx64, &pat) == 1)
			j->guest_pat = pat;
		if (read_entry(j, line, &e, &nested))
			*(nested ? &j->leaf : &j->guest) = e;
		if (!trace_is_store(line, &store))
			continue;
		judge_store(j, &store);
		/* So that the next one cannot live on this one's walk. */
		j->leaf.read = j->guest.read = false;
	}
}

int main(int argc, char **argv)
{
	struct judge j = { .svm = argc == 4 && !strcmp(argv[1], "svm") };
	unsigned int bad = 0, before;
	FILE *f;

	if (!j.svm && (argc != 3 || strcmp(argv[1], "vmx"))) {
		fputs("Usage: leaves vmx TRACE | leaves svm TRACE HOST-PAT\n", stderr);
		return 2;
	}
	if (j.svm)
		j.host_pat = strtoull(argv[3], NULL, 16);
	if (j.svm && (!mt_pat_valid(j.host_pat) || mt_pat_find(j.host_pat, MT_WC) < 0)) {
		fprintf(stderr, "leaves: %s is no PAT with WC in it\n", argv[3]);
		return 2;
	}
	f = fopen(argv[2], "r");
	if (!f) {
		fprintf(stderr, "leaves: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	judge_trace(&j, f);
	fclose(f);
	for (unsigned int i = 0; i < BAR_PHASES; i++) {
		unsigned int want =
			8u * (unsigned int)(bar_phases[i].last - bar_phases[i].first + 1);

		before = bad;
		bad += j.in_phase[i] != BAR_STORES || j.wc[i] != want;
		printf("    %s: %u stores, %u of %u leaves of the BAR are WC%s\n",
		       bar_phases[i].name, j.in_phase[i], j.wc[i], 8 * BAR_PAGES,
		       bad > before ? " -- wrong" : "");
	}
	if (j.wrong)
		printf("    %u differences\n", j.wrong);
	return bad || j.wrong;
}
