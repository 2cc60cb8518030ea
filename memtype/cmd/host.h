/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * What `memtype host` knows of a machine: read first, then judged, then shown.
 */
#ifndef MEMTYPE_HOST_H
#define MEMTYPE_HOST_H

#include <bp/error.h>
#include <bp/print.h>
#include <mt/host.h>
#include <mt/map.h>

/** struct host_cpu - one processor. @id: its number. @regs: its registers. */
struct host_cpu {
	unsigned int id;
	struct mt_host regs;
};

/** struct host_span - a stretch of physical addresses and what is said of it. */
struct host_span {
	uint64_t start;
	uint64_t last;
	char type[16];
};

/** struct host_bar - a memory BAR. @bdf: function. @index: 0 to 5; VF BARs from 7 on. */
struct host_bar {
	char bdf[16];
	unsigned int index;
	bool prefetchable;
	uint64_t start;
	uint64_t last;
};

/**
 * struct host - a machine.
 * @vendor: whose processors.
 * @maxphyaddr: physical address width.
 * @cpus: processors whose registers could be read.
 * @cpu_count: how many.
 * @no_msr: why there are none, "" otherwise.
 * @proc_mtrr: /proc/mtrr.
 * @proc_mtrr_count: how many lines.
 * @memtype: the kernel's pat_memtype_list.
 * @memtype_count: how many entries.
 * @bars: memory BARs, in the order of their functions.
 * @bar_count: how many.
 */
struct host {
	enum mt_vendor vendor;
	unsigned int maxphyaddr;
	struct host_cpu *cpus;
	size_t cpu_count;
	char no_msr[256];
	struct host_span *proc_mtrr;
	size_t proc_mtrr_count;
	struct host_span *memtype;
	size_t memtype_count;
	struct host_bar *bars;
	size_t bar_count;
};

/**
 * host_read() - read everything.
 * @h: receives it; free with host_free(), also after an error.
 * @root: directory in the place of /. Below it a regular file in the place of an msr
 *        device holds lines "INDEX VALUE", as a byte per address cannot.
 * @err: why not.
 *
 * A machine whose MSRs cannot be read is no error as long as /proc/mtrr can be.
 *
 * Return: 0 or a negative errno.
 */
int host_read(struct host *h, const char *root, struct bp_error *err);

/**
 * host_read_bars() - the BAR part of host_read().
 * @h: machine.
 * @root: as above.
 * @err: why not.
 *
 * Return: 0 or a negative errno.
 */
int host_read_bars(struct host *h, const char *root, struct bp_error *err);

/** host_free() - release what host_read() took. @h: machine. */
void host_free(struct host *h);

/**
 * host_open() - open a file below the root.
 * @root: root directory.
 * @path: absolute path on the machine.
 *
 * Return: stream, or NULL with errno set.
 */
FILE *host_open(const char *root, const char *path);

/**
 * host_grow() - room for one more element.
 * @array: array, or NULL.
 * @count: elements in it.
 * @size: of an element.
 *
 * Return: the array, moved perhaps; NULL when memory is short (the old one stays valid).
 */
void *host_grow(void *array, size_t count, size_t size);

/**
 * host_registers() - the registers that speak for the machine.
 * @h: machine.
 * @out: receives those of the first processor; or, where no MSR can be read, what
 *       /proc/mtrr lists with the default type taken as UC.
 *
 * Return: true when they come from a processor.
 */
bool host_registers(const struct host *h, struct mt_host *out);

/**
 * host_judge() - print "problems".
 * @p: printer, inside an object.
 * @h: machine.
 * @map: map of host_registers().
 *
 * Return: number of problems.
 */
unsigned int host_judge(struct bp_print *p, const struct host *h, const struct mt_map *map);

#endif
