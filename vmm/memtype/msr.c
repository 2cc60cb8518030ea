// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's accesses to MTRRs and PAT: KVM hands them over, libmemtype knows the rules, and
 * what is accepted goes back to KVM, which needs it: PAT is live there, and kernels up to 6.10
 * on VMX take types of RAM from the MTRRs when DMA is not coherent.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <string.h>

#include <mt/firmware.h>
#include "vmm/layout.h"
#include "vmm/memtype/state.h"

/* The registers by number; bit n of the first word stands for @base. */
static const struct {
	uint32_t base;
	uint32_t nr;
} owned[] = {
	{ MT_MSR_MTRRCAP, 1 },	    { MT_MSR_PHYSBASE(0), 2 * MT_VARIABLE_RANGES },
	{ MT_MSR_FIX64K_00000, 1 }, { MT_MSR_FIX16K_80000, 2 },
	{ MT_MSR_FIX4K_C0000, 8 },  { MT_MSR_PAT, 1 },
	{ MT_MSR_DEF_TYPE, 1 },
};

#define NR_OWNED (sizeof(owned) / sizeof(owned[0]))

bool vmm_mt_owns(uint32_t msr)
{
	for (unsigned int i = 0; i < NR_OWNED; i++)
		if (msr - owned[i].base < owned[i].nr)
			return true;
	return false;
}

int vmm_mt_intercept(struct vmm_mt *mt)
{
	const struct vf_sys *sys = mt->host.sys;
	struct kvm_enable_cap cap = {
		.cap = KVM_CAP_X86_USER_SPACE_MSR,
		.args[0] = KVM_MSR_EXIT_REASON_FILTER,
	};
	struct kvm_msr_filter filter = { .flags = KVM_MSR_FILTER_DEFAULT_ALLOW };
	/* A clear bit denies, and what is denied comes here. */
	uint8_t none[2 * MT_VARIABLE_RANGES / 8] = { 0 };

	if (sys->ioctl(mt->vmm->kvm_fd, KVM_CHECK_EXTENSION,
		       (void *)(uintptr_t)KVM_CAP_X86_USER_SPACE_MSR) <= 0 ||
	    sys->ioctl(mt->vmm->kvm_fd, KVM_CHECK_EXTENSION,
		       (void *)(uintptr_t)KVM_CAP_X86_MSR_FILTER) <= 0)
		return -EOPNOTSUPP;
	for (unsigned int i = 0; i < NR_OWNED; i++) {
		filter.ranges[i] = (struct kvm_msr_filter_range){
			.flags = KVM_MSR_FILTER_READ | KVM_MSR_FILTER_WRITE,
			.base = owned[i].base,
			.nmsrs = owned[i].nr,
			.bitmap = none,
		};
	}
	if (sys->ioctl(mt->vmm->vm_fd, KVM_ENABLE_CAP, &cap) ||
	    sys->ioctl(mt->vmm->vm_fd, KVM_X86_SET_MSR_FILTER, &filter))
		return -errno;
	return 0;
}

static int set_msr(struct vmm_mt *mt, unsigned int cpu, uint32_t msr, uint64_t value)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry[1];
	} m = { .head.nmsrs = 1, .entry[0] = { .index = msr, .data = value } };
	int n = mt->host.sys->ioctl(mt->cpu[cpu].fd, KVM_SET_MSRS, &m);

	if (n < 0)
		return -errno;
	/* The number of registers that were taken. */
	return n == 1 ? 0 : -EIO;
}

int vmm_mt_load_pat(struct vmm_mt *mt, unsigned int cpu, uint64_t pat)
{
	int ret = set_msr(mt, cpu, MT_MSR_PAT, pat);

	if (!ret)
		mt->cpu[cpu].hw_pat = pat;
	return ret;
}

static bool some_area(const struct vmm_mt *mt)
{
	for (unsigned int i = 0; i < mt->nr_areas; i++)
		if (mt->area[i].used)
			return true;
	return false;
}

int vmm_mt_power_on(struct vmm_mt *mt, unsigned int cpu, int vcpu_fd)
{
	struct vmm_mt_cpu *c = &mt->cpu[cpu];
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry[MT_FIRMWARE_MSRS];
	} msrs = { .head.nmsrs = MT_FIRMWARE_MSRS };
	struct mt_msr state[MT_FIRMWARE_MSRS];
	int n, ret = mt_firmware_state(VMM_LOW_RAM_END, mt->vmm->maxphyaddr, state);

	if (ret)
		return ret;
	c->fd = vcpu_fd;
	c->seen = false;
	mt->bar_seen = some_area(mt);
	mt_mtrr_init(&c->regs, mt->vmm->maxphyaddr);
	for (unsigned int i = 0; i < MT_FIRMWARE_MSRS; i++) {
		ret = mt_wrmsr(&c->regs, state[i].index, state[i].value);
		if (ret)
			return ret;
	}
	c->hw_pat = vmm_mt_pat_due(mt, cpu);
	for (unsigned int i = 0; i < MT_FIRMWARE_MSRS; i++) {
		msrs.entry[i].index = state[i].index;
		msrs.entry[i].data = state[i].index == MT_MSR_PAT ? c->hw_pat : state[i].value;
	}
	n = mt->host.sys->ioctl(vcpu_fd, KVM_SET_MSRS, &msrs);
	if (n < 0)
		return -errno;
	if (n != MT_FIRMWARE_MSRS)
		return -EIO;
	vmm_mt_agree(mt);
	return 0;
}

static void be_seen(struct vmm_mt *mt, unsigned int cpu)
{
	if (mt->cpu[cpu].seen)
		return;
	mt->cpu[cpu].seen = true;
	vmm_mt_agree(mt);
}

int vmm_mt_rdmsr(struct vmm_mt *mt, unsigned int cpu, uint32_t msr, uint64_t *value)
{
	int ret = mt_rdmsr(&mt->cpu[cpu].regs, msr, value);

	if (ret)
		mt->counts.faults++;
	else
		be_seen(mt, cpu);
	return ret;
}

static int write_pat(struct vmm_mt *mt, unsigned int cpu, uint64_t value)
{
	struct vmm_mt_cpu *c = &mt->cpu[cpu];
	uint64_t before = c->regs.pat;
	int ret;

	c->regs.pat = value;
	/* The guest flushes what is cached of the old one (Intel SDM vol. 3 "Programming the PAT"). */
	ret = vmm_mt_load_pat(mt, cpu, vmm_mt_pat_due(mt, cpu));
	if (ret)
		c->regs.pat = before;
	else
		mt->counts.pat_writes++;
	return ret;
}

int vmm_mt_wrmsr(struct vmm_mt *mt, unsigned int cpu, uint32_t msr, uint64_t value)
{
	struct vmm_mt_cpu *c = &mt->cpu[cpu];
	uint64_t before;
	int ret = 0;

	if (mt_rdmsr(&c->regs, msr, &before))
		ret = -ENOENT;
	else if (mt_wrmsr_fault(&c->regs, msr, value) != MT_GP_NONE)
		ret = -EINVAL;
	if (ret) {
		mt->counts.faults++;
		return ret;
	}
	if (msr == MT_MSR_PAT) {
		ret = write_pat(mt, cpu, value);
		if (!ret)
			be_seen(mt, cpu);
		return ret;
	}
	/* Older kernels drop leaves of RAM for each MTRR that they are given: not for nothing. */
	if (value != before)
		ret = set_msr(mt, cpu, msr, value);
	if (ret)
		return ret;
	mt_wrmsr(&c->regs, msr, value);
	c->seen = true;
	mt->counts.writes++;
	vmm_mt_agree(mt);
	return 0;
}

void vmm_mt_refresh(struct vmm_mt *mt)
{
	if (mt->intercept)
		return;
	for (unsigned int cpu = 0; cpu < mt->vmm->config->cpus; cpu++) {
		struct vmm_mt_cpu *c = &mt->cpu[cpu];

		for (unsigned int i = 0; i < NR_OWNED; i++) {
			for (uint32_t n = 0; n < owned[i].nr; n++) {
				struct {
					struct kvm_msrs head;
					struct kvm_msr_entry entry[1];
				} m = { .head.nmsrs = 1, .entry[0].index = owned[i].base + n };

				if (mt->host.sys->ioctl(c->fd, KVM_GET_MSRS, &m) == 1)
					mt_wrmsr(&c->regs, m.entry[0].index, m.entry[0].data);
			}
		}
		c->hw_pat = c->regs.pat;
		/* A CPU that still waits for its SIPI cannot be told from one that runs. */
		c->seen = true;
	}
	vmm_mt_agree(mt);
}
