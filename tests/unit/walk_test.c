// SPDX-License-Identifier: GPL-2.0-only
/* Page tables of each format, made by hand, and some made with ill will. */
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "vmm/memtype/walk.h"

#define RAM_SIZE (8u << 20)
#define BAR	 0xd0000000ull
#define BAR_SIZE 0x400000ull
#define HIGH	 0x2300000000ull /* above 4 GiB */

#define P	 0x1ull
#define W	 0x2ull
#define PWT	 0x8ull
#define PCD	 0x10ull
#define PS	 0x80ull
#define PAT	 0x80ull /* of a 4 KiB entry */
#define PTL	 0x1000ull /* of a larger one */

#define PG	 0x80000001ull
#define PAE	 0x20ull
#define PSE	 0x10ull
#define LA57	 0x1000ull
#define LMA	 0x500ull

static uint8_t *ram;
static uint64_t next_table;
static unsigned int reads;
static const struct vmm_walk_mapping *found;
static unsigned int nr;
static bool truncated;
static struct vmm_walk *walk;

static const struct vmm_walk_target bar[] = { { BAR, BAR + BAR_SIZE - 1 } };

static bool read_ram(void *priv, uint64_t gpa, void *buf, size_t len)
{
	(void)priv;
	reads++;
	ck_assert(len == 4096 || len == 32);
	if (gpa >= RAM_SIZE || RAM_SIZE - gpa < len)
		return false;
	memcpy(buf, ram + gpa, len);
	return true;
}

static void setup(void)
{
	ram = calloc(1, RAM_SIZE);
	next_table = 0x1000;
	reads = 0;
}

static uint64_t table(void)
{
	uint64_t t = next_table;

	next_table += 0x1000;
	ck_assert(next_table <= RAM_SIZE);
	return t;
}

static void set8(uint64_t at, unsigned int n, uint64_t entry)
{
	memcpy(ram + at + 8ull * n, &entry, 8);
}

static void set4(uint64_t at, unsigned int n, uint32_t entry)
{
	memcpy(ram + at + 4ull * n, &entry, 4);
}

static struct vmm_walk_task task = {
	.read = read_ram,
	.target = bar,
	.nr_targets = 1,
	.entries = 1 << 22,
	.mappings = 64,
};

static void again(unsigned int cpu, uint64_t cr3, uint64_t cr4, uint64_t efer)
{
	const struct vmm_walk_regs regs = { .cr0 = PG, .cr3 = cr3, .cr4 = cr4, .efer = efer };

	vmm_walk_cpu(walk, cpu, &regs);
	found = vmm_walk_found(walk, &nr);
	truncated = vmm_walk_truncated(walk);
}

static void begin(void)
{
	vmm_walk_free(walk);
	ck_assert_int_eq(vmm_walk_new(&task, &walk), 0);
}

static void follow(uint64_t cr3, uint64_t cr4, uint64_t efer)
{
	begin();
	again(0, cr3, cr4, efer);
}

static void is(unsigned int n, uint64_t gva, uint64_t gpa, uint64_t size, unsigned int index)
{
	ck_assert_uint_lt(n, nr);
	ck_assert_msg(found[n].gva == gva && found[n].gpa == gpa && found[n].size == size &&
			      found[n].index == index,
		      "mapping %u is %#lx -> %#lx, %#lx bytes, index %u", n, found[n].gva,
		      found[n].gpa, found[n].size, found[n].index);
}

/* Tables of a 4-level space down to one page table, at a gva of indexes a, b, c. */
static uint64_t chain4(uint64_t pml4, unsigned int a, unsigned int b, unsigned int c)
{
	uint64_t pdpt = table(), pd = table(), pt = table();

	set8(pml4, a, pdpt | P | W);
	set8(pdpt, b, pd | P | W);
	set8(pd, c, pt | P | W);
	return pt;
}

START_TEST(four_levels)
{
	uint64_t pml4, pt;

	setup();
	pml4 = table();
	pt = chain4(pml4, 0x1fe, 3, 5);
	/* Like ioremap(): UC-, PCD alone. Three neighbours, then one that is WC by Linux's PAT. */
	for (unsigned int i = 0; i < 3; i++)
		set8(pt, 16 + i, (BAR + 0x1000 * i) | P | W | PCD | 1ull << 63);
	set8(pt, 19, (BAR + 0x3000) | P | W | PWT);
	/* The same index but elsewhere, not present, and next to the BAR. */
	set8(pt, 21, (BAR + 0x10000) | P | W | PAT | PCD | PWT);
	set8(pt, 22, (BAR + 0x11000) | W | PAT | PCD | PWT);
	set8(pt, 23, (BAR - 0x1000) | P | W);
	set8(pt, 24, (BAR + BAR_SIZE) | P | W);
	follow(pml4 | 0xfff, PAE, LMA);
	ck_assert_uint_eq(nr, 3);
	is(0, 0xffffff00c0a10000, BAR, 0x3000, 2);
	ck_assert_uint_eq(found[0].pte, BAR | P | W | PCD | 1ull << 63);
	ck_assert_uint_eq(found[0].page, 0x1000);
	is(1, 0xffffff00c0a13000, BAR + 0x3000, 0x1000, 1);
	is(2, 0xffffff00c0a15000, BAR + 0x10000, 0x1000, 7);
	ck_assert(!truncated);
}
END_TEST

START_TEST(large_pages)
{
	uint64_t pml4, pdpt, pd;

	setup();
	pml4 = table();
	pdpt = table();
	pd = table();
	set8(pml4, 1, pdpt | P | W);
	set8(pdpt, 0, pd | P | W);
	/* 2 MiB: bit 7 is the size, bit 12 the PAT bit. */
	set8(pd, 1, BAR | P | W | PS | PCD);
	set8(pd, 2, (BAR + 0x200000) | P | W | PS | PCD);
	set8(pd, 3, BAR | P | W | PS | PTL | PWT);
	/* 1 GiB around the BAR: only the BAR is of interest. */
	set8(pdpt, 2, 0xc0000000 | P | W | PS);
	follow(pml4, PAE, LMA);
	ck_assert_uint_eq(nr, 3);
	is(0, 0x8000200000, BAR, 0x400000, 2);
	ck_assert_uint_eq(found[0].page, 0x200000);
	is(1, 0x8000600000, BAR, 0x200000, 5);
	is(2, 0x8000000000 + (2ull << 30) + 0x10000000, BAR, BAR_SIZE, 0);
	ck_assert_uint_eq(found[2].page, 1 << 30);
	/* An entry of the first table has no size bit. */
	set8(pml4, 9, BAR | P | W | PS);
	follow(pml4, PAE, LMA);
	ck_assert_uint_eq(nr, 3);
}
END_TEST

START_TEST(five_levels)
{
	uint64_t pml5, pml4, pt;

	setup();
	pml5 = table();
	pml4 = table();
	set8(pml5, 0x1ff, pml4 | P);
	pt = chain4(pml4, 0, 0, 1);
	set8(pt, 2, BAR | P | PCD);
	follow(pml5, PAE | LA57, LMA);
	ck_assert_uint_eq(nr, 1);
	is(0, 0xffff000000202000, BAR, 0x1000, 2);
	/* The same tables with a level less: other addresses, and the last level is a table. */
	follow(pml4, PAE, LMA);
	ck_assert_uint_eq(nr, 1);
	is(0, 0x202000, BAR, 0x1000, 2);
}
END_TEST

START_TEST(pae)
{
	uint64_t page = table(), pdpt, pd, pt;

	setup();
	pdpt = page + 0x20; /* aligned to 32 bytes only */
	pd = table();
	pt = table();
	set8(pdpt, 3, pd | P);
	/* The fifth entry belongs to somebody else. */
	set8(pdpt, 4, pd | P);
	set8(pd, 0, pt | P | W);
	set8(pd, 1, HIGH | P | W | PS | PWT);
	set8(pt, 0x1ff, BAR | P | W | PAT);
	{
		static const struct vmm_walk_target two[] = { { BAR, BAR + BAR_SIZE - 1 },
							      { HIGH, HIGH + 0xfffff } };

		task.target = two;
		task.nr_targets = 2;
		follow(pdpt, PAE, 0);
	}
	ck_assert_uint_eq(nr, 2);
	is(0, 0xc01ff000, BAR, 0x1000, 4);
	is(1, 0xc0200000, HIGH, 0x100000, 1);
	ck_assert_uint_eq(found[1].target, 1);
}
END_TEST

START_TEST(two_levels)
{
	static const struct vmm_walk_target two[] = { { BAR, BAR + BAR_SIZE - 1 },
						      { HIGH, HIGH + 0x3fffff } };
	uint64_t pd, pt;

	setup();
	pd = table();
	pt = table();
	set4(pd, 0x300, (uint32_t)(pt | P | W));
	set4(pt, 0x3ff, (uint32_t)(BAR | P | W | PCD | PWT));
	set4(pd, 0x301, (uint32_t)(BAR | P | W | PS | PTL));
	/* Bits 39:32 of the address are in bits 20:13. */
	set4(pd, 0x302, (uint32_t)(P | W | PS | PCD | 0x23u << 13));
	task.target = two;
	task.nr_targets = 2;
	follow(pd, PSE, 0);
	ck_assert_uint_eq(nr, 3);
	is(0, 0xc03ff000, BAR, 0x1000, 3);
	is(1, 0xc0400000, BAR, 0x400000, 4);
	is(2, 0xc0800000, HIGH, 0x400000, 2);
	ck_assert_uint_eq(found[2].target, 1);
	/* Without CR4.PSE the bit means nothing, and the BAR is no table. */
	follow(pd, 0, 0);
	ck_assert_uint_eq(nr, 1);
	is(0, 0xc03ff000, BAR, 0x1000, 3);
}
END_TEST

START_TEST(paging_off)
{
	static const struct vmm_walk_target two[] = { { BAR, BAR + BAR_SIZE - 1 },
						      { HIGH, HIGH + 0xfff } };
	const struct vmm_walk_regs regs = { .cr0 = 0x11, .cr3 = 0x123000, .cr4 = PAE };

	setup();
	task.target = two;
	task.nr_targets = 2;
	begin();
	vmm_walk_cpu(walk, 3, &regs);
	found = vmm_walk_found(walk, &nr);
	ck_assert_uint_eq(nr, 1);
	is(0, BAR, BAR, BAR_SIZE, 0);
	ck_assert_uint_eq(found[0].cpu, 3);
	ck_assert_uint_eq(found[0].page, 0);
	ck_assert_uint_eq(reads, 0);
}
END_TEST

/* A page over several targets, with a gap; and CPUs that share tables. */
START_TEST(targets_and_cpus)
{
	static const struct vmm_walk_target cuts[] = {
		{ BAR, BAR + 0xffff },
		{ BAR + 0x10000, BAR + 0x1ffff },
		{ BAR + 0x30000, BAR + 0x3ffff },
		{ BAR + 0x800000, BAR + 0x8fffff },
	};
	uint64_t pml4, pdpt, pd;

	setup();
	pml4 = table();
	pdpt = table();
	pd = table();
	set8(pml4, 0, pdpt | P);
	set8(pdpt, 0, pd | P);
	set8(pd, 7, BAR | P | PS);
	task.target = cuts;
	task.nr_targets = 4;
	follow(pml4, PAE, LMA);
	again(1, pml4, PAE, LMA);
	ck_assert_uint_eq(nr, 6);
	is(0, 0xe00000, BAR, 0x10000, 0);
	is(1, 0xe10000, BAR + 0x10000, 0x10000, 0);
	is(2, 0xe30000, BAR + 0x30000, 0x10000, 0);
	is(5, 0xe30000, BAR + 0x30000, 0x10000, 0);
	ck_assert_uint_eq(found[2].target, 2);
	ck_assert_uint_eq(found[3].target, 0);
	ck_assert_uint_eq(found[2].cpu, 0);
	ck_assert_uint_eq(found[3].cpu, 1);
	/* A CPU that uses the same memory as tables of another format. */
	again(2, pml4, PAE | LA57, LMA);
	ck_assert_uint_eq(nr, 10);
	is(9, 0x1d0800000, BAR + 0x800000, 0x100000, 0);
	ck_assert_uint_eq(found[9].page, 1 << 30);
	again(3, pml4, PAE, LMA);
	ck_assert_uint_eq(nr, 13);
}
END_TEST

/* The second CPU's tables share a large part that leads nowhere: it is not read again. */
START_TEST(shared_halves_are_read_once)
{
	uint64_t one, two;
	unsigned int first;

	setup();
	one = table();
	two = table();
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t pt = chain4(one, 256 + i, 0, 0), entry;

		set8(pt, 0, 0x100000 | P);
		memcpy(&entry, ram + one + 8ull * (256 + i), 8);
		set8(two, 256 + i, entry);
	}
	follow(one, PAE, LMA);
	first = reads;
	ck_assert_uint_ge(first, 301);
	again(1, two, PAE, LMA);
	/* But for tables that others displaced from memory. */
	ck_assert_uint_lt(reads - first, 12);
	ck_assert_uint_eq(nr, 0);
	ck_assert(!truncated);
}
END_TEST

/* Every entry of a table points to itself: 512^4 paths, and all of them short. */
START_TEST(loops_end)
{
	uint64_t t;

	setup();
	t = table();
	for (unsigned int i = 0; i < 512; i++)
		set8(t, i, t | P | W);
	follow(t, PAE, LMA);
	ck_assert_uint_eq(nr, 0);
	ck_assert_uint_lt(reads, 10);
	ck_assert(!truncated);
	follow(t, PAE | LA57, LMA);
	ck_assert_uint_lt(reads, 20);
	follow(t, PAE, 0);
	follow(t, PSE, 0);
	ck_assert(!truncated);
}
END_TEST

/* The same with something to find at the end of each path: the limits end it. */
START_TEST(work_is_bounded)
{
	uint64_t t, pml4, pt;

	setup();
	t = table();
	for (unsigned int i = 0; i < 511; i++)
		set8(t, i, t | P | W);
	set8(t, 511, BAR | P | PS);
	task.mappings = 1 << 20;
	follow(t, PAE, LMA);
	ck_assert(truncated);
	/* Each read is a table's worth of entries. */
	ck_assert_uint_le(reads, (1 << 22) / 512);
	/* A CPU after that costs nothing. */
	reads = 0;
	again(1, t, PAE, LMA);
	ck_assert_uint_eq(reads, 0);
	ck_assert(truncated);

	/* Pages that cannot be merged: as many as asked for, and a word about it. */
	pml4 = table();
	pt = chain4(pml4, 0, 0, 0);
	for (unsigned int i = 0; i < 512; i++)
		set8(pt, i, BAR | P);
	task.mappings = 10;
	follow(pml4, PAE, LMA);
	ck_assert_uint_eq(nr, 10);
	ck_assert(truncated);
	task.mappings = 512;
	follow(pml4, PAE, LMA);
	ck_assert_uint_eq(nr, 512);
	ck_assert(!truncated);
	/* Exactly enough entries, and one too few. */
	task.entries = 4 * 512 + 512;
	follow(pml4, PAE, LMA);
	ck_assert(!truncated);
	task.entries--;
	follow(pml4, PAE, LMA);
	ck_assert(truncated);
}
END_TEST

/* Tables that are no RAM, or lie at its end, and any bytes at all. */
START_TEST(hostile_tables)
{
	static const uint64_t roots[] = { 0, RAM_SIZE, RAM_SIZE - 0x1000, BAR, ~0ull, 1ull << 51 };
	static const uint64_t cr4s[] = { 0, PSE, PAE, PAE | PSE, PAE | LA57 };
	uint32_t seed = 7;

	setup();
	for (uint64_t at = 0; at < RAM_SIZE; at += 4) {
		seed = seed * 1664525 + 1013904223;
		/* Mostly present, often in RAM or the BAR. */
		set4(at, 0,
		     at % 8 && seed % 4 ? 0 : (seed & 0x7ff0ff) | (seed >> 31 ? 0xd0000001 : 1));
	}
	for (size_t r = 0; r < sizeof(roots) / sizeof(*roots); r++) {
		for (size_t c = 0; c < sizeof(cr4s) / sizeof(*cr4s); c++) {
			follow(roots[r], cr4s[c], 0);
			follow(roots[r], cr4s[c] | PAE, LMA);
			for (unsigned int i = 0; i < nr; i++) {
				ck_assert(found[i].gpa >= BAR);
				ck_assert(found[i].size <= BAR_SIZE);
				ck_assert(found[i].gpa + found[i].size <= BAR + BAR_SIZE);
			}
		}
	}
}
END_TEST

SUITE("walk", four_levels, large_pages, five_levels, pae, two_levels, paging_off, targets_and_cpus,
      shared_halves_are_read_once, loops_end, work_is_bounded, hostile_tables)
