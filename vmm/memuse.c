// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "vmm/hostmem.h"
#include "vmm/loop.h"
#include "vmm/memuse.h"

#define INTERVAL_NS 500000000ull

struct vmm_memuse {
	struct vmm_timer *timer;
	uint64_t peak;
};

static uint64_t sample(struct vmm_memuse *use)
{
	uint64_t now = vmm_hostmem_own();

	if (now > use->peak)
		use->peak = now;
	return now;
}

static void tick(void *priv)
{
	struct vmm_memuse *use = priv;

	sample(use);
	vmm_timer_arm(use->timer, INTERVAL_NS);
}

int vmm_memuse_new(struct vmm_loop *loop, struct vmm_memuse **out)
{
	struct vmm_memuse *use = calloc(1, sizeof(*use));
	int ret;

	if (!use)
		return -ENOMEM;
	ret = vmm_timer_new(loop, tick, use, &use->timer);
	if (ret) {
		free(use);
		return ret;
	}
	vmm_timer_arm(use->timer, INTERVAL_NS);
	*out = use;
	return 0;
}

void vmm_memuse_free(struct vmm_memuse *use)
{
	if (!use)
		return;
	vmm_timer_free(use->timer);
	free(use);
}

void vmm_memuse_read(struct vmm_memuse *use, uint64_t *now, uint64_t *peak)
{
	*now = sample(use);
	*peak = use->peak;
}
