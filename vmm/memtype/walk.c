// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <mt/pat.h>
#include "vmm/memtype/walk.h"

#define CR0_PG	     (1ull << 31)
#define CR4_PSE	     (1ull << 4)
#define CR4_PAE	     (1ull << 5)
#define CR4_LA57     (1ull << 12)
#define EFER_LMA     (1ull << 10)

#define PTE_P	     (1ull << 0)
#define PTE_PS	     (1ull << 7)

#define ADDRESS_MASK 0x000ffffffffff000ull
#define TABLE_BYTES  4096u
#define LEVELS_MAX   5u
#define NO_PAGING    0x100000000ull /* what a CPU reaches without paging */

/* A power of two; one that is displaced only costs a visit. */
#define BARREN_ENTRIES 65536u

/**
 * struct format - how tables are built.
 * @id: tells formats apart where tables are remembered.
 * @levels: tables on the way to a 4 KiB page.
 * @bits: address bits that one table resolves.
 * @top: entries of the first table.
 * @large: highest level at which an entry with PTE_PS is a page.
 * @root: bits of CR3 that are the first table's address.
 * @sign: the highest address bit, which those above repeat; 0 where none is.
 */
struct format {
	unsigned int id;
	unsigned int levels;
	unsigned int bits;
	unsigned int top;
	unsigned int large;
	uint64_t root;
	unsigned int sign;
};

static const struct format level5 = { 0, 5, 9, 512, 3, ADDRESS_MASK, 56 };
static const struct format level4 = { 1, 4, 9, 512, 3, ADDRESS_MASK, 47 };
static const struct format pae = { 2, 3, 9, 4, 2, 0xffffffe0, 0 };
static const struct format bits32_pse = { 3, 2, 10, 1024, 2, 0xfffff000, 0 };
static const struct format bits32 = { 4, 2, 10, 1024, 1, 0xfffff000, 0 };

struct vmm_walk {
	struct vmm_walk_task task;
	const struct format *format;
	unsigned int cpu;
	uint64_t left; /* entries */
	bool truncated;
	unsigned int nr;
	uint64_t barren[BARREN_ENTRIES];
	uint8_t table[LEVELS_MAX][TABLE_BYTES];
	struct vmm_walk_mapping found[];
};

int vmm_walk_new(const struct vmm_walk_task *task, struct vmm_walk **out)
{
	struct vmm_walk *w = calloc(1, sizeof(*w) + task->mappings * sizeof(w->found[0]));

	if (!w)
		return -ENOMEM;
	w->task = *task;
	w->left = task->entries;
	*out = w;
	return 0;
}

void vmm_walk_free(struct vmm_walk *w)
{
	free(w);
}

const struct vmm_walk_mapping *vmm_walk_found(const struct vmm_walk *w, unsigned int *nr)
{
	*nr = w->nr;
	return w->found;
}

bool vmm_walk_truncated(const struct vmm_walk *w)
{
	return w->truncated;
}

/* Whether a number of entries may still be looked at. */
static bool spend(struct vmm_walk *w, uint64_t entries)
{
	if (w->truncated || w->left < entries) {
		w->truncated = true;
		return false;
	}
	w->left -= entries;
	return true;
}

static void remember(struct vmm_walk *w, const struct vmm_walk_mapping *m)
{
	struct vmm_walk_mapping *prev = w->nr ? &w->found[w->nr - 1] : NULL;

	if (prev && prev->cpu == m->cpu && prev->target == m->target && prev->index == m->index &&
	    prev->page == m->page && prev->gva + prev->size == m->gva &&
	    prev->gpa + prev->size == m->gpa) {
		prev->size += m->size;
		return;
	}
	if (w->nr == w->task.mappings) {
		w->truncated = true;
		return;
	}
	w->found[w->nr++] = *m;
}

/* The first target that ends at or behind an address. */
static unsigned int first_target(const struct vmm_walk *w, uint64_t gpa)
{
	unsigned int low = 0, high = w->task.nr_targets;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (w->task.target[mid].last < gpa)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* A page, or all that is reached without paging. Return: whether any of it is of interest. */
static bool page_found(struct vmm_walk *w, const struct vmm_walk_mapping *whole)
{
	uint64_t last = whole->gpa + whole->size - 1;
	unsigned int t = first_target(w, whole->gpa);
	bool any = false;

	for (; t < w->task.nr_targets && w->task.target[t].start <= last; t++) {
		const struct vmm_walk_target *target = &w->task.target[t];
		uint64_t from = target->start > whole->gpa ? target->start : whole->gpa;
		uint64_t to = target->last < last ? target->last : last;
		struct vmm_walk_mapping m = *whole;

		if (!spend(w, 1))
			break;
		m.target = t;
		m.gva = whole->gva + (from - whole->gpa);
		m.gpa = from;
		m.size = to - from + 1;
		remember(w, &m);
		any = true;
	}
	return any;
}

static uint64_t entry_at(const struct vmm_walk *w, unsigned int level, unsigned int n)
{
	const uint8_t *table = w->table[level - 1];
	uint32_t narrow;
	uint64_t wide;

	if (w->format->bits == 9) {
		memcpy(&wide, table + n * sizeof(wide), sizeof(wide));
		return wide;
	}
	memcpy(&narrow, table + n * sizeof(narrow), sizeof(narrow));
	return narrow;
}

/* Address of the page that an entry maps. */
static uint64_t page_address(const struct vmm_walk *w, uint64_t entry, unsigned int level,
			     uint64_t size)
{
	/* PSE-36: bits 39:32 of a 4 MiB page are in bits 20:13 of its entry. */
	if (w->format->bits == 10 && level == 2)
		return (entry & 0xffc00000) | (entry >> 13 & 0xff) << 32;
	return entry & ADDRESS_MASK & ~(size - 1);
}

static uint64_t canonical(const struct vmm_walk *w, uint64_t gva)
{
	unsigned int sign = w->format->sign;

	return sign && gva >> sign & 1 ? gva | ~0ull << sign : gva;
}

static bool leaf(struct vmm_walk *w, uint64_t entry, unsigned int level, uint64_t gva,
		 uint64_t size)
{
	/* A 4 MiB page has its PAT bit where all large pages have it. */
	const struct vmm_walk_mapping whole = {
		.cpu = w->cpu,
		.gva = canonical(w, gva),
		.gpa = page_address(w, entry, level, size),
		.size = size,
		.pte = entry,
		.page = size,
		.index = mt_pte_index(entry, level == 1 ? MT_4K : MT_2M),
	};

	return page_found(w, &whole);
}

/* Where it is remembered that a table leads nowhere. Its address has five bits to spare. */
static uint64_t *barren_slot(struct vmm_walk *w, unsigned int level, uint64_t gpa, uint64_t *key)
{
	*key = gpa | (w->format->id * LEVELS_MAX + level);
	return &w->barren[*key * 0x9e3779b97f4a7c15ull >> 48 & (BARREN_ENTRIES - 1)];
}

/*
 * One table. It calls itself for those below, LEVELS_MAX deep at most, since each call is
 * for a lower level.
 *
 * Return: whether there is, or may be, anything of interest under it.
 */
static bool table_found(struct vmm_walk *w, unsigned int level, uint64_t gpa, uint64_t gva)
{
	const struct format *f = w->format;
	unsigned int entries = level == f->levels ? f->top : 1u << f->bits;
	unsigned int shift = 12 + f->bits * (level - 1);
	uint64_t key, *barren = barren_slot(w, level, gpa, &key);
	size_t bytes = (size_t)entries * (f->bits == 9 ? 8 : 4);
	bool any = false;

	if (*barren == key)
		return false;
	if (!spend(w, entries))
		return true;
	if (!w->task.read(w->task.priv, gpa, w->table[level - 1], bytes))
		return false;
	for (unsigned int n = 0; n < entries && !w->truncated; n++) {
		uint64_t entry = entry_at(w, level, n), at = gva | (uint64_t)n << shift;

		if (!(entry & PTE_P))
			continue;
		if (level == 1 || (level <= f->large && entry & PTE_PS))
			any |= leaf(w, entry, level, at, 1ull << shift);
		else
			any |= table_found(w, level - 1, entry & ADDRESS_MASK, at);
	}
	if (any || w->truncated)
		return true;
	*barren = key;
	return false;
}

static const struct format *format_of(const struct vmm_walk_regs *regs)
{
	if (regs->efer & EFER_LMA)
		return regs->cr4 & CR4_LA57 ? &level5 : &level4;
	if (regs->cr4 & CR4_PAE)
		return &pae;
	return regs->cr4 & CR4_PSE ? &bits32_pse : &bits32;
}

void vmm_walk_cpu(struct vmm_walk *w, unsigned int cpu, const struct vmm_walk_regs *regs)
{
	const struct vmm_walk_mapping all = { .cpu = cpu, .size = NO_PAGING };

	w->cpu = cpu;
	if (!(regs->cr0 & CR0_PG)) {
		page_found(w, &all);
		return;
	}
	w->format = format_of(regs);
	table_found(w, w->format->levels, regs->cr3 & w->format->root, 0);
}
