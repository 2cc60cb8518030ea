// SPDX-License-Identifier: GPL-2.0-only
/* From a configuration to a machine that is ready to start, and back to nothing. */
#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <bp/log.h>
#include <vf/iommu.h>
#include "vmm/api.h"
#include "vmm/console.h"
#include "vmm/core.h"
#include "vmm/cpuid.h"
#include "vmm/dev/pm.h"
#include "vmm/hostmem.h"
#include "vmm/kvm.h"
#include "vmm/kvmstats.h"
#include "vmm/layout.h"
#include "vmm/life.h"
#include "vmm/memuse.h"
#include "vmm/pci/pci.h"

#define IOVA_RANGES_MAX 64

/* Devices between vf_device_open() and vmm_assign_add(), which takes them over. */
struct opened {
	unsigned int nr;
	struct vf_device *dev[VMM_VFS_MAX];
};

static uint64_t page_align(const struct vmm_config *c)
{
	return c->hugepage ? c->hugepage : 4096;
}

/* All that needs no device and changes nothing. */
static int check(struct vmm_core *core, struct bp_error *err)
{
	const struct vmm_config *c = core->vmm.config;
	struct vmm_ram_layout layout;
	int limit, ret;

	ret = vmm_image_open(c->kernel, &core->image, err);
	if (ret)
		return ret;
	core->vmm.kvm_fd = vmm_kvm_open(err);
	if (core->vmm.kvm_fd < 0)
		return core->vmm.kvm_fd;
	limit = ioctl(core->vmm.kvm_fd, KVM_CHECK_EXTENSION, KVM_CAP_MAX_VCPUS);
	if (limit > 0 && c->cpus > (unsigned int)limit)
		return bp_error_set(err, -ERANGE, "give the guest fewer CPUs",
				    "KVM takes %d CPUs and %u are wanted", limit, c->cpus);
	ret = vmm_cpuid_supported(core->vmm.kvm_fd, &core->cpuid);
	if (ret)
		return bp_error_set(err, ret, NULL, "KVM does not tell its CPUID: %s",
				    strerror(-ret));
	core->vmm.maxphyaddr = vmm_cpuid_maxphyaddr(core->cpuid);
	ret = vmm_ram_plan(c->mem, page_align(c), 0, core->vmm.maxphyaddr, NULL, 0, &layout, err);
	if (ret)
		return ret;
	ret = vmm_boot_check(core->image, c->initrd, c->append, layout.region[0].size, err);
	if (ret)
		return ret;
	return vmm_hostmem_check("/", c->mem, c->hugepage, err);
}

static int open_devices(struct vmm_core *core, struct opened *opened, struct bp_error *err)
{
	static const char host_root[] = "/";
	const struct vmm_config *c = core->vmm.config;
	int ret;

	if (!c->nr_vfs)
		return 0;
	core->host = (struct vf_host){ host_root, vf_sys_libc() };
	ret = vf_iommu_new(&core->host, c->backend, &core->vmm.iommu, err);
	for (unsigned int i = 0; i < c->nr_vfs && !ret; i++) {
		ret = vf_device_open(core->vmm.iommu, c->vfs[i], &opened->dev[i], err);
		if (!ret)
			opened->nr++;
	}
	if (ret)
		return ret;
	return vf_iommu_check_memlock(core->vmm.iommu, c->mem, err);
}

/* The layout that the devices allow. */
static int plan(struct vmm_core *core, const struct opened *opened, struct vmm_ram_layout *layout,
		struct bp_error *err)
{
	const struct vmm_config *c = core->vmm.config;
	struct vf_iova_range ranges[IOVA_RANGES_MAX];
	uint64_t bars = 0;
	int nr = 0;

	if (core->vmm.iommu) {
		nr = vf_iommu_ranges(core->vmm.iommu, ranges, IOVA_RANGES_MAX);
		if (nr <= 0)
			return bp_error_set(err, nr ? nr : -ENXIO, NULL,
					    "the IOMMU does not say which addresses it can map");
		/* What does not fit the list is only room that is not used. */
		if (nr > IOVA_RANGES_MAX)
			nr = IOVA_RANGES_MAX;
	}
	for (unsigned int i = 0; i < opened->nr; i++)
		bars += vmm_assign_bar_space(opened->dev[i]);
	return vmm_ram_plan(c->mem, page_align(c), bars, core->vmm.maxphyaddr, ranges, (size_t)nr,
			    layout, err);
}

/* KVM learns of each file once, although functions of one group share it. */
static int tell_kvm(struct vmm_core *core, const struct opened *opened, struct bp_error *err)
{
	int told[VMM_VFS_MAX], nr = 0;

	if (!opened->nr)
		return 0;
	core->vmm.vfio_fd = vmm_kvm_vfio_new(core->vmm.vm_fd);
	if (core->vmm.vfio_fd < 0)
		return bp_error_set(err, core->vmm.vfio_fd, NULL,
				    "this host's KVM has no VFIO device: %s",
				    strerror(-core->vmm.vfio_fd));
	for (unsigned int i = 0; i < opened->nr; i++) {
		int fd = vf_device_kvm_fd(opened->dev[i]), ret, n;

		for (n = 0; n < nr && told[n] != fd; n++)
			;
		if (fd < 0 || n < nr)
			continue;
		ret = vmm_kvm_vfio_add(core->vmm.vfio_fd, fd);
		if (ret)
			return bp_error_set(err, ret, NULL, "KVM does not take the device %s: %s",
					    vf_device_bdf(opened->dev[i]), strerror(-ret));
		told[nr++] = fd;
	}
	return 0;
}

static int make_memory(struct vmm_core *core, const struct vmm_ram_layout *layout,
		       struct bp_error *err)
{
	struct vmm *vmm = &core->vmm;
	int ret = vmm_ram_new(vmm->vm_fd, layout, vmm->config->hugepage, &vmm->ram, err);

	layout = ret ? NULL : vmm_ram_layout(vmm->ram);
	for (unsigned int i = 0; vmm->iommu && !ret && i < layout->nr; i++)
		ret = vf_iommu_map(vmm->iommu, layout->region[i].gpa, layout->region[i].hva,
				   layout->region[i].size, VF_MAP_READ | VF_MAP_WRITE, err);
	return ret;
}

static int make_bus(struct vmm_core *core, struct bp_error *err)
{
	struct vmm *vmm = &core->vmm;
	const struct vmm_ram_layout *l = vmm_ram_layout(vmm->ram);
	const struct vmm_pci_windows windows = {
		.io_base = VMM_PIO_PCI_BASE,
		.io_end = VMM_PIO_PCI_END,
		.mmio32_base = VMM_MMIO32_BASE,
		.mmio32_end = VMM_MMIO32_END,
		.mmio64_base = l->mmio64_base,
		.mmio64_end = l->mmio64_end,
	};

	core->platform = (struct vmm_platform){ vmm->config->cpus, l->mmio64_base, l->mmio64_end };
	return vmm_pci_new(vmm->pio, vmm->mmio, &windows, &vmm->pci, err);
}

static int assign(struct vmm_core *core, struct opened *opened, struct bp_error *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < opened->nr && !ret; i++) {
		struct vf_device *dev = opened->dev[i];

		opened->dev[i] = NULL;
		ret = vmm_assign_add(&core->vmm, dev, &core->assigned[core->nr_assigned], err);
		if (!ret)
			core->nr_assigned++;
	}
	return ret;
}

static void reset_control(void *priv, uint8_t value)
{
	vmm_pm_reset_register(priv, value);
}

static int make_platform(struct vmm_core *core, struct bp_error *err)
{
	struct vmm *vmm = &core->vmm;
	int ret = vmm_console_new(vmm, &core->console, err);

	if (!ret)
		ret = vmm_serial_new(vmm, vmm_console_out(core->console),
				     vmm_console_in(core->console), &core->serial);
	if (!ret)
		ret = vmm_rtc_new(vmm, &core->rtc);
	if (!ret)
		ret = vmm_i8042_new(vmm, &core->i8042);
	return ret;
}

static int make_vcpus(struct vmm_core *core, struct bp_error *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < core->vmm.config->cpus && !ret; i++) {
		ret = vmm_vcpu_new(&core->vmm, i, &core->vmm.vcpu[i], err);
		if (!ret)
			core->vmm.nr_vcpus++;
	}
	return ret ? ret : vmm_chips_save(core->vmm.vm_fd, &core->chips);
}

static void ignore(int sig)
{
	(void)sig;
}

/* What brings events from outside to the loop. */
static int make_loop(struct vmm_core *core)
{
	struct sigaction kick = { .sa_handler = ignore };
	struct vmm *vmm = &core->vmm;
	sigset_t set;
	int ret;

	ret = vmm_loop_new(&vmm->lock, &vmm->loop);
	if (ret)
		return ret;
	/* A handler that does nothing: the signal's arrival alone ends KVM_RUN. */
	sigaction(VMM_KICK_SIGNAL, &kick, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, &core->old_mask);
	core->masked = true;
	core->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	core->reset_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (core->signal_fd < 0 || core->reset_fd < 0)
		return -errno;
	ret = vmm_loop_watch(vmm->loop, core->signal_fd, vmm_life_signal, core);
	if (!ret)
		ret = vmm_loop_watch(vmm->loop, core->reset_fd, vmm_life_reset, core);
	return ret ? ret : vmm_memuse_new(vmm->loop, &core->memuse);
}

static int make_machine(struct vmm_core *core, struct opened *opened, struct bp_error *err)
{
	struct vmm *vmm = &core->vmm;
	struct vmm_ram_layout layout;
	int ret;

	ret = open_devices(core, opened, err);
	if (!ret)
		ret = plan(core, opened, &layout, err);
	if (ret)
		return ret;
	vmm->vm_fd = vmm_kvm_create(vmm->kvm_fd, err);
	if (vmm->vm_fd < 0)
		return vmm->vm_fd;
	core->stats_fd = vmm_kvmstats_open(vmm->vm_fd);
	ret = tell_kvm(core, opened, err);
	if (!ret)
		ret = make_memory(core, &layout, err);
	if (!ret)
		ret = make_loop(core);
	if (!ret)
		ret = vmm_mt_new(vmm, &vmm->mt, err);
	if (!ret)
		ret = make_vcpus(core, err);
	if (!ret)
		ret = vmm_irq_new(vmm->vm_fd, &vmm->irq);
	if (ret)
		return ret;
	vmm->pio = vmm_bus_new();
	vmm->mmio = vmm_bus_new();
	if (!vmm->pio || !vmm->mmio)
		return -ENOMEM;
	ret = make_bus(core, err);
	/* Before the devices, which may want to be ejected from the first moment on. */
	if (!ret)
		ret = vmm_pm_new(vmm, &vmm->pm);
	if (!ret)
		vmm_pci_on_reset_control(vmm->pci, reset_control, vmm->pm);
	if (!ret)
		ret = assign(core, opened, err);
	if (!ret && vmm->config->api)
		ret = vmm_api_new(core, vmm->config->api, &core->api, err);
	/* Last, since it changes the terminal. */
	return ret ? ret : make_platform(core, err);
}

int vmm_life_build(const struct vmm_config *config, struct vmm_core **out, struct bp_error *err)
{
	struct vmm_core *core = calloc(1, sizeof(*core));
	struct opened opened = { 0 };
	int ret;

	if (!core)
		return -ENOMEM;
	core->vmm.config = config;
	core->vmm.kvm_fd = core->vmm.vm_fd = core->vmm.vfio_fd = -1;
	core->reset_fd = core->signal_fd = core->stats_fd = -1;
	pthread_mutex_init(&core->vmm.lock, NULL);
	pthread_cond_init(&core->changed, NULL);
	ret = check(core, err);
	if (!ret)
		ret = make_machine(core, &opened, err);
	if (!ret) {
		*out = core;
		return 0;
	}
	bp_error_set(err, ret, NULL, "the machine cannot be built: %s", strerror(-ret));
	for (unsigned int i = 0; i < opened.nr; i++)
		vf_device_close(opened.dev[i]);
	vmm_life_free(core);
	return ret;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void vmm_life_free(struct vmm_core *core)
{
	struct vmm *vmm;

	if (!core)
		return;
	vmm = &core->vmm;
	vmm_life_stop(core);
	for (unsigned int i = 0; i < core->nr_assigned; i++)
		vmm_assign_remove(core->assigned[i]);
	vmm_i8042_free(core->i8042);
	vmm_rtc_free(core->rtc);
	vmm_serial_free(core->serial);
	vmm_console_free(core->console);
	vmm_pm_free(vmm->pm);
	vmm_pci_free(vmm->pci);
	vmm_bus_free(vmm->mmio);
	vmm_bus_free(vmm->pio);
	vmm_memuse_free(core->memuse);
	vmm_irq_free(vmm->irq);
	for (unsigned int i = 0; i < vmm->nr_vcpus; i++)
		vmm_vcpu_free(vmm->vcpu[i]);
	vmm->nr_vcpus = 0;
	vmm_mt_free(vmm->mt);
	/* The kernel unmaps guest memory for DMA when the address space goes. */
	close_fd(vmm->vfio_fd);
	vf_iommu_free(vmm->iommu);
	vmm_ram_free(vmm->ram);
	close_fd(core->stats_fd);
	close_fd(vmm->vm_fd);
	close_fd(vmm->kvm_fd);
	/* Whoever waits for the end may use the devices now: KVM and VFIO have let go of them. */
	vmm_api_end(core->api);
	vmm_api_free(core->api);
	vmm_loop_free(vmm->loop);
	close_fd(core->signal_fd);
	close_fd(core->reset_fd);
	vmm_image_free(core->image);
	free(core->chips);
	free(core->cpuid);
	if (core->masked)
		pthread_sigmask(SIG_SETMASK, &core->old_mask, NULL);
	pthread_cond_destroy(&core->changed);
	pthread_mutex_destroy(&vmm->lock);
	free(core);
}
