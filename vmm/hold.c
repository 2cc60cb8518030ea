// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stopping VCPUs and letting them go on: for the user's pause, for a reset, and for
 * the end. All of it is state under the machine's lock and one condition.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "vmm/core.h"

static void kick_all(struct vmm_core *core)
{
	for (unsigned int i = 0; i < core->vmm.nr_vcpus; i++)
		vmm_vcpu_kick(core->vmm.vcpu[i]);
}

int vmm_hold(struct vmm_core *core)
{
	core->holds++;
	kick_all(core);
	while (core->parked < core->running && !core->end)
		pthread_cond_wait(&core->changed, &core->vmm.lock);
	return core->end ? -ECANCELED : 0;
}

void vmm_release(struct vmm_core *core)
{
	core->holds--;
	pthread_cond_broadcast(&core->changed);
}

bool vmm_park(struct vmm_core *core)
{
	if (core->holds && !core->end) {
		core->parked++;
		pthread_cond_broadcast(&core->changed);
		while (core->holds && !core->end)
			pthread_cond_wait(&core->changed, &core->vmm.lock);
		core->parked--;
	}
	return !core->end;
}

void vmm_end(struct vmm *vmm, enum vmm_end why)
{
	struct vmm_core *core = vmm_core(vmm);

	if (core->end || !why)
		return;
	core->end = why;
	pthread_cond_broadcast(&core->changed);
	kick_all(core);
	if (vmm->loop)
		vmm_loop_stop(vmm->loop);
}

void vmm_crash(struct vmm_core *core, const char *fmt, ...)
{
	va_list ap;

	if (core->end)
		return;
	va_start(ap, fmt);
	vsnprintf(core->crash, sizeof(core->crash), fmt, ap);
	va_end(ap);
	vmm_end(&core->vmm, VMM_END_CRASHED);
}

bool vmm_hold_ask(struct vmm_core *core, int fd)
{
	uint64_t one = 1;

	if (core->end)
		return false;
	/*
	 * The hold starts here, so that the VCPU which asked does not execute another
	 * instruction; waiting for the others is for the loop, since this may be a VCPU.
	 */
	core->holds++;
	kick_all(core);
	if (write(fd, &one, sizeof(one)) == sizeof(one))
		return true;
	vmm_crash(core, "what the guest asked for could not be started: %s", strerror(errno));
	return false;
}

void vmm_reset(struct vmm *vmm)
{
	struct vmm_core *core = vmm_core(vmm);

	if (!core->reset_wanted)
		core->reset_wanted = vmm_hold_ask(core, core->reset_fd);
}
