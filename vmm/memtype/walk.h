/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a guest's page tables map given guest-physical addresses, and which PAT index each
 * mapping chooses: 4-level and 5-level, PAE, 32-bit with 4 MiB pages, and paging off.
 *
 * The tables belong to the guest, which may write anything into them. The work is bounded
 * by a number of entries for all CPUs together, the depth by the format, and tables that
 * point to each other end there. A table under which nothing was found is not visited
 * again, so that the kernel's half of many address spaces costs little.
 *
 * The tables are those in memory. A processor may still use what it has cached of them, and
 * with PAE the four entries that it read when CR3 was loaded.
 *
 * Reserved bits are not looked at: an entry at which a processor would fault because of
 * them is taken for a mapping.
 */
#ifndef VMM_MEMTYPE_WALK_H
#define VMM_MEMTYPE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct vmm_walk_regs - registers that say how a CPU translates addresses.
 * @cr0: CR0. @cr3: CR3. @cr4: CR4. @efer: EFER, with LMA.
 *
 * Format and root: Intel SDM vol. 3 "Paging Modes and Control Bits"; APM vol. 2 5.2 to 5.3.
 */
struct vmm_walk_regs {
	uint64_t cr0;
	uint64_t cr3;
	uint64_t cr4;
	uint64_t efer;
};

/** struct vmm_walk_target - a stretch of interest. @start: first byte, page aligned. @last: last byte. */
struct vmm_walk_target {
	uint64_t start;
	uint64_t last;
};

/**
 * struct vmm_walk_mapping - neighbouring pages of one size and PAT index, merged.
 * @cpu: whose tables.
 * @target: place in the array of targets.
 * @gva: guest-virtual address of the first byte, canonical.
 * @gpa: guest-physical address of the first byte. @size: bytes; all of it in the target.
 * @pte: entry that maps the first page; 0 with paging off.
 * @page: bytes that one entry maps; 0 with paging off.
 * @index: PAT index, 0 to 7; 0 with paging off, where no PAT is looked at.
 */
struct vmm_walk_mapping {
	unsigned int cpu;
	unsigned int target;
	uint64_t gva;
	uint64_t gpa;
	uint64_t size;
	uint64_t pte;
	uint64_t page;
	unsigned int index;
};

/**
 * vmm_walk_read_fn - read guest memory.
 * @priv: as given. @gpa: address. @buf: receives the bytes. @len: 32 or 4096.
 *
 * Return: false when any of it is no RAM; the walk goes on elsewhere.
 */
typedef bool (*vmm_walk_read_fn)(void *priv, uint64_t gpa, void *buf, size_t len);

/**
 * struct vmm_walk_task - what to look for, and how hard.
 * @read: guest memory. @priv: for @read.
 * @target: sorted and disjoint; must outlive the walk. @nr_targets: entries.
 * @entries: most entries of tables to look at.
 * @mappings: most mappings to remember.
 */
struct vmm_walk_task {
	vmm_walk_read_fn read;
	void *priv;
	const struct vmm_walk_target *target;
	unsigned int nr_targets;
	uint64_t entries;
	unsigned int mappings;
};

struct vmm_walk;

/** vmm_walk_new() - begin. @task: copied. @out: receives the walk. Return: 0 or -ENOMEM. */
int vmm_walk_new(const struct vmm_walk_task *task, struct vmm_walk **out);

/** vmm_walk_free() - forget what was found. @w: NULL is allowed. */
void vmm_walk_free(struct vmm_walk *w);

/**
 * vmm_walk_cpu() - follow one CPU's tables.
 * @w: walk.
 * @cpu: number, for the mappings.
 * @regs: its registers; neither it nor others may run meanwhile.
 */
void vmm_walk_cpu(struct vmm_walk *w, unsigned int cpu, const struct vmm_walk_regs *regs);

/** vmm_walk_found() - what was found, in order of CPU and address. @w: walk. @nr: receives the number. Return: mappings. */
const struct vmm_walk_mapping *vmm_walk_found(const struct vmm_walk *w, unsigned int *nr);

/** vmm_walk_truncated() - whether a limit ended it, so that more may be mapped. @w: walk. Return: so. */
bool vmm_walk_truncated(const struct vmm_walk *w);

#endif
