/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of the monitor itself, now and at most, sampled by the machine's loop. */
#ifndef VMM_MEMUSE_H
#define VMM_MEMUSE_H

#include <stdint.h>

struct vmm_loop;
struct vmm_memuse;

/** vmm_memuse_new() - sample from now on. @loop: loop. @out: receives it. Return: 0 or a negative errno. */
int vmm_memuse_new(struct vmm_loop *loop, struct vmm_memuse **out);

/** vmm_memuse_free() - stop. @use: NULL is allowed. */
void vmm_memuse_free(struct vmm_memuse *use);

/**
 * vmm_memuse_read() - take a sample and tell.
 * @use: sampler.
 * @now: receives KiB beyond guest RAM at this moment.
 * @peak: receives the most that any sample found.
 */
void vmm_memuse_read(struct vmm_memuse *use, uint64_t *now, uint64_t *peak);

#endif
