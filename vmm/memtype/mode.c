// SPDX-License-Identifier: GPL-2.0-only
/* What the host is, what the user wants, and which mode follows. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bp/log.h>
#include <mt/firmware.h>
#include <vf/iommu.h>
#include <vf/sysfs.h>
#include "vmm/layout.h"
#include "vmm/memtype/state.h"

#define CPUINFO_MAX (16u << 20)

static void read_kernel(struct vmm_mt *mt)
{
	char text[128];
	unsigned int major = 0, minor = 0, patch = 0;

	if (vf_sysfs_read(&mt->host, text, sizeof(text), "proc/sys/kernel/osrelease") > 0)
		sscanf(text, "%u.%u.%u", &major, &minor, &patch);
	mt->kernel = (struct mt_kernel){ (uint16_t)major, (uint16_t)minor, (uint16_t)patch };
}

static void read_processor(struct vmm_mt *mt)
{
	char *text = NULL, *id, yes[8] = "";

	mt->vendor = MT_INTEL;
	if (!vf_sysfs_read_all(&mt->host, CPUINFO_MAX, &text, "proc/cpuinfo")) {
		id = strstr(text, "vendor_id");
		/* Hygon's are AMD's design; Centaur's and Zhaoxin's have VMX. */
		if (id && (!strncmp(id + strcspn(id, ":\n"), ": AuthenticAMD", 14) ||
			   !strncmp(id + strcspn(id, ":\n"), ": HygonGenuine", 14)))
			mt->vendor = MT_AMD;
	}
	free(text);
	/* Where it is not told it is on, as on any processor of the last fifteen years. */
	mt->nested = vf_sysfs_read(&mt->host, yes, sizeof(yes), "sys/module/%s",
				   mt->vendor == MT_AMD ? "kvm_amd/parameters/npt"
							: "kvm_intel/parameters/ept") <= 0 ||
		     yes[0] == 'Y' || yes[0] == '1';
}

/* On failure mt->why says what stands in the way of the module. */
static int ask_module(struct vmm_mt *mt)
{
	const char *why = NULL;
	int ret = vmm_mt_module_info(mt, &mt->module);

	if (!ret && (!(mt->module.types & 1u << MT_WC) || !mt->module.ranges_max)) {
		why = "kvm-memtype.ko cannot make leaves WC on this host";
		ret = -EOPNOTSUPP;
	} else if (ret == -ENOENT || ret == -ENXIO) {
		ret = -ENODEV;
	}
	if (ret == -ENODEV)
		why = "kvm-memtype.ko is not loaded";
	else if (ret == -EPROTO)
		why = "the kvm-memtype.ko that is loaded is of another version";
	if (why)
		snprintf(mt->why, sizeof(mt->why), "%s", why);
	else if (ret)
		snprintf(mt->why, sizeof(mt->why), "%s cannot be asked: %s", KVM_MEMTYPE_DEVICE,
			 strerror(-ret));
	else
		mt->nested = mt->module.flags & KVM_MEMTYPE_NESTED;
	return ret;
}

static int decide(struct vmm_mt *mt, struct bp_error *err)
{
	bool pat = mt->wish == VMM_MT_PAT || mt->wish == VMM_MT_PAT_FORCE;
	const char *fix = "use --memtype auto";
	int ret = vmm_mt_intercept(mt);

	if (ret && ret != -EOPNOTSUPP)
		return bp_error_set(err, ret, NULL,
				    "KVM does not hand over accesses to MTRRs and PAT: %s",
				    strerror(-ret));
	mt->intercept = !ret;
	if (mt->wish == VMM_MT_OFF)
		return 0;
	if (ret) {
		snprintf(mt->why, sizeof(mt->why),
			 "this host's KVM lacks KVM_CAP_X86_USER_SPACE_MSR or "
			 "KVM_CAP_X86_MSR_FILTER");
	} else if (!pat) {
		ret = ask_module(mt);
		fix = "load it with 'modprobe kvm-memtype', or use --memtype auto";
	} else if (!mt->nested) {
		/* A shadow page has the type that KVM gives it, whatever the PAT. */
		ret = -EOPNOTSUPP;
		snprintf(mt->why, sizeof(mt->why), "KVM runs without EPT or NPT here");
	}
	if (!ret)
		mt->mode = pat ? MT_MODE_PAT : MT_MODE_MODULE;
	else if (mt->wish != VMM_MT_AUTO)
		return bp_error_set(err, ret, fix, "memory types cannot be had as asked for: %s",
				    mt->why);
	return 0;
}

static int firmware_track(struct vmm_mt *mt)
{
	struct mt_msr state[MT_FIRMWARE_MSRS];
	struct mt_mtrr regs;
	int ret = mt_mtrr_init(&regs, mt->vmm->maxphyaddr);

	if (!ret)
		ret = mt_firmware_state(VMM_LOW_RAM_END, mt->vmm->maxphyaddr, state);
	for (unsigned int i = 0; i < MT_FIRMWARE_MSRS && !ret; i++)
		ret = mt_wrmsr(&regs, state[i].index, state[i].value);
	if (ret)
		return ret;
	mt_track_init(&mt->track, &regs, false);
	mt->applied = mt->track.role;
	for (unsigned int i = 0; i < VMM_VCPUS_MAX; i++) {
		mt->cpu[i].regs = regs;
		mt->cpu[i].hw_pat = regs.pat;
		mt->cpu[i].fd = -1;
	}
	return 0;
}

int vmm_mt_new_on(struct vmm *vmm, const struct vf_host *host, struct vmm_mt **out,
		  struct bp_error *err)
{
	struct vmm_mt *mt = calloc(1, sizeof(*mt));
	int ret;

	if (!mt)
		return -ENOMEM;
	mt->vmm = vmm;
	mt->host = *host;
	mt->wish = vmm->config->memtype;
	mt->mode = MT_MODE_OFF;
	mt->coherent = !vmm->iommu || vf_iommu_coherent(vmm->iommu);
	mt->apply_fd = -1;
	read_kernel(mt);
	read_processor(mt);
	ret = firmware_track(mt);
	if (!ret)
		ret = decide(mt, err);
	if (ret)
		goto fail;
	mt->apply_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = mt->apply_fd < 0 ? -errno : vmm_loop_watch(vmm->loop, mt->apply_fd, vmm_mt_apply, mt);
	if (!ret)
		ret = vmm_timer_new(vmm->loop, vmm_mt_laggards_look, mt, &mt->laggards);
	if (ret)
		goto fail;
	bp_log_info("memory types: mode %s%s%s", vmm_mt_mode(mt), mt->why[0] ? ", " : "", mt->why);
	*out = mt;
	return 0;
fail:
	vmm_mt_free(mt);
	return ret;
}

int vmm_mt_new(struct vmm *vmm, struct vmm_mt **out, struct bp_error *err)
{
	const struct vf_host host = { "/", vf_sys_libc() };

	return vmm_mt_new_on(vmm, &host, out, err);
}

void vmm_mt_free(struct vmm_mt *mt)
{
	if (!mt)
		return;
	vmm_timer_free(mt->laggards);
	if (mt->apply_fd >= 0) {
		vmm_loop_unwatch(mt->vmm->loop, mt->apply_fd);
		close(mt->apply_fd);
	}
	for (unsigned int i = 0; i < mt->nr_areas; i++) {
		free(mt->area[i].cut);
		free(mt->area[i].due);
	}
	free(mt->area);
	free(mt->ranges);
	free(mt->ranges_due);
	free(mt);
}

void vmm_mt_fall(struct vmm_mt *mt, const char *why, ...)
{
	va_list ap;

	mt->mode = MT_MODE_OFF;
	va_start(ap, why);
	vsnprintf(mt->why, sizeof(mt->why), why, ap);
	va_end(ap);
	bp_log_warn("memory types are as KVM makes them from now on: %s", mt->why);
}

const char *vmm_mt_mode(const struct vmm_mt *mt)
{
	switch (mt->mode) {
	case MT_MODE_MODULE:
		return "module";
	case MT_MODE_PAT:
		return "pat";
	case MT_MODE_OFF:
		break;
	}
	return "off";
}

const char *vmm_mt_why(const struct vmm_mt *mt)
{
	return mt->why;
}
