// SPDX-License-Identifier: GPL-2.0-only
/* A machine's life once it is built: start, restart, end. */
#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <bp/log.h>
#include "vmm/api.h"
#include "vmm/core.h"
#include "vmm/dev/pm.h"
#include "vmm/kvm.h"
#include "vmm/life.h"
#include "vmm/pci/pci.h"

static int load(struct vmm_core *core, struct bp_error *err)
{
	const struct vmm_config *config = core->vmm.config;

	return vmm_boot_load(core->vmm.ram, core->image, config->initrd, config->append,
			     &core->platform, &core->entry, err);
}

/* Everything back to power-on; RAM keeps what is not loaded anew. */
static int restart(struct vmm_core *core, struct bp_error *err)
{
	struct vmm *vmm = &core->vmm;
	int ret;

	/* Devices first: nothing may write to memory while the kernel is loaded into it. */
	vmm_pci_reset(vmm->pci);
	vmm_pm_reset(vmm->pm);
	vmm_serial_reset(core->serial);
	vmm_rtc_reset(core->rtc);
	vmm_i8042_reset(core->i8042);
	ret = vmm_chips_restore(vmm->vm_fd, core->chips);
	if (ret)
		return bp_error_set(err, ret, NULL,
				    "KVM's interrupt controllers cannot be reset: %s",
				    strerror(-ret));
	ret = load(core, err);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < vmm->nr_vcpus; i++) {
		ret = vmm_vcpu_reset(vmm->vcpu[i], i ? NULL : &core->entry);
		if (ret)
			return bp_error_set(err, ret, NULL, "CPU %u cannot be reset: %s", i,
					    strerror(-ret));
	}
	return 0;
}

void vmm_life_reset(void *priv, int fd)
{
	struct vmm_core *core = priv;
	struct bp_error err = { 0 };
	uint64_t count;

	if (read(fd, &count, sizeof(count)) != sizeof(count) || !core->reset_wanted)
		return;
	if (!vmm_hold(core)) {
		bp_log_info("the guest restarts");
		if (restart(core, &err))
			vmm_crash(core, "the guest could not be restarted: %.200s", err.what);
		core->resets++;
	}
	core->reset_wanted = false;
	vmm_release(core);
	/* And the hold that vmm_reset() began. */
	vmm_release(core);
}

void vmm_life_signal(void *priv, int fd)
{
	struct vmm_core *core = priv;
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return;
	bp_log_warn("ended by signal %u (%s)", info.ssi_signo, strsignal((int)info.ssi_signo));
	vmm_end(&core->vmm, VMM_END_STOPPED);
}

int vmm_life_run(struct vmm_core *core, struct bp_error *err)
{
	struct vmm *vmm = &core->vmm;
	int ret = load(core, err);

	if (ret)
		return ret;
	clock_gettime(CLOCK_MONOTONIC, &core->started);
	pthread_mutex_lock(&vmm->lock);
	/* The others first: they wait for the first one's SIPI. */
	for (unsigned int i = vmm->nr_vcpus; i-- > 0 && !ret;)
		ret = vmm_vcpu_start(vmm->vcpu[i], i ? NULL : &core->entry);
	pthread_mutex_unlock(&vmm->lock);
	if (ret)
		return bp_error_set(err, ret, NULL, "the guest's CPUs cannot be started: %s",
				    strerror(-ret));
	ret = vmm_loop_run(vmm->loop);
	vmm_life_stop(core);
	if (ret)
		return bp_error_set(err, ret, NULL, "the event loop failed: %s", strerror(-ret));
	if (core->end == VMM_END_CRASHED) {
		for (unsigned int i = 0; i < vmm->nr_vcpus; i++)
			vmm_vcpu_dump(vmm->vcpu[i]);
		return bp_error_set(
			err, -EIO, NULL, "%s",
			core->crash[0] ? core->crash
				       : "the machine was stopped because of what was said before");
	}
	return 0;
}

void vmm_life_stop(struct vmm_core *core)
{
	struct vmm *vmm = &core->vmm;

	pthread_mutex_lock(&vmm->lock);
	vmm_end(vmm, VMM_END_STOPPED);
	pthread_mutex_unlock(&vmm->lock);
	/* Without the lock, which a VCPU needs to finish what it is at. */
	for (unsigned int i = 0; i < vmm->nr_vcpus; i++)
		vmm_vcpu_join(vmm->vcpu[i]);
}
