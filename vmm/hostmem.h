/* SPDX-License-Identifier: GPL-2.0-only */
/* What the host has to give: memory and huge pages, and what this process takes of it. */
#ifndef VMM_HOSTMEM_H
#define VMM_HOSTMEM_H

#include <stdint.h>

#include <bp/error.h>

/**
 * vmm_hostmem_check() - whether the host can give this much memory.
 * @root: directory below which proc and sys are found; "/" for this host.
 * @bytes: wanted.
 * @page_size: 0 for ordinary pages, else the size of the huge pages to take it from.
 * @err: says how much there is, and how to get more.
 *
 * Ordinary memory is compared with MemAvailable and SwapFree of /proc/meminfo, huge
 * pages with those free and not promised to somebody else already.
 *
 * Return: 0, or -ENOMEM.
 */
int vmm_hostmem_check(const char *root, uint64_t bytes, uint64_t page_size, struct bp_error *err);

/**
 * vmm_hostmem_own() - memory of this process that is not the guest's RAM.
 *
 * RssAnon, RssFile and VmPTE of /proc/self/status; guest RAM is shared memory or huge
 * pages, which these leave out.
 *
 * Return: KiB, 0 when unknown.
 */
uint64_t vmm_hostmem_own(void);

#endif
