/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine whose guest only writes MTRRs and has BARs: KVM, the module and the slots are
 * played here, and every call they get is noted. VCPUs are threads of the test, or none.
 */
#ifndef TESTS_MTVMM_BOARD_H
#define TESTS_MTVMM_BOARD_H

#include <errno.h>
#include <linux/kvm.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "fake_host.h"
#include "vmm/core.h"
#include "vmm/memtype/state.h"

#define KVM_FD	  900
#define VM_FD	  901
#define MODULE_FD 902
#define VCPU_FD	  910

#define BAR	  0x100000000ull /* in the 64-bit window: WB by default */
#define BAR_SIZE  0x10000ull
#define SLOTS_MAX 256

#define WINDOW	  ((char *)0x7f0000000000ull) /* where the BAR is in this process */

static struct kernel {
	bool no_filter; /* KVM without MSR filters */
	bool module; /* it is loaded */
	bool intel;
	int open_errno; /* of the module's device */
	int info_errno;
	int set_errno; /* of SET_RANGES with ranges, */
	int clear_errno; /* and of one without */
	int msr_refuse; /* KVM_SET_MSRS takes none when it holds this register */
	uint32_t abi;
	uint32_t types;
	uint32_t ranges_max;
	unsigned int opened; /* descriptors of the module's device that are open */
	unsigned int set_calls;
	unsigned int nr_ranges;
	struct kvm_memtype_range range[512];
	unsigned int set_msrs; /* registers that KVM was given */
	uint32_t mp_state[64];
	uint64_t rflags[64];
	uint64_t msr[64][0x400];
	struct kvm_msr_filter filter;
	bool filtered[0x400];
	struct kvm_enable_cap cap;
	/* Slots; each one that is made notes what the module had then. */
	struct {
		bool used;
		uint64_t gpa, size;
		void *hva;
		unsigned int type; /* by the module; 9 where it says nothing */
	} slot[SLOTS_MAX];
	unsigned int slots_made, slots_dropped;
	unsigned int slots_room; /* more than this many at a time cannot be had */
	void (*changed)(void); /* a slot comes or goes */
} kernel;

static struct vmm_core core;
static struct vmm_config config;
static struct vmm_mt *mt;
static struct bp_error err;

static inline int fake_open(const char *path, int flags)
{
	(void)flags;
	ck_assert_ptr_nonnull(strstr(path, "/dev/kvm-memtype"));
	errno = kernel.open_errno ? kernel.open_errno : ENOENT;
	if (kernel.open_errno || !kernel.module)
		return -1;
	kernel.opened++;
	return MODULE_FD;
}

static inline int fake_close(int fd)
{
	ck_assert_int_eq(fd, MODULE_FD);
	ck_assert_uint_gt(kernel.opened, 0);
	kernel.opened--;
	return 0;
}

static inline int ends(int code)
{
	errno = code;
	return code ? -1 : 0;
}

static inline int fake_set_msrs(int fd, const struct kvm_msrs *m)
{
	for (unsigned int i = 0; i < m->nmsrs; i++) {
		ck_assert_uint_lt(m->entries[i].index, 0x400);
		if ((int)m->entries[i].index == kernel.msr_refuse)
			return (int)i;
		kernel.msr[fd - VCPU_FD][m->entries[i].index] = m->entries[i].data;
		kernel.set_msrs++;
	}
	return (int)m->nmsrs;
}

static inline int fake_set_ranges(const struct kvm_memtype_set *set)
{
	const struct kvm_memtype_range *r = (const void *)(uintptr_t)set->ranges;

	kernel.set_calls++;
	ck_assert_int_eq(set->vm_fd, VM_FD);
	if (set->nr ? kernel.set_errno : kernel.clear_errno)
		return ends(set->nr ? kernel.set_errno : kernel.clear_errno);
	if (set->nr > kernel.ranges_max)
		return ends(E2BIG);
	for (unsigned int i = 0; i < set->nr; i++) {
		if (i && r[i].gpa < r[i - 1].gpa + r[i - 1].size)
			return ends(EINVAL);
		if (!r[i].size || (r[i].gpa | r[i].size) & 4095 ||
		    !(kernel.types & 1u << r[i].type))
			return ends(EINVAL);
		kernel.range[i] = r[i];
	}
	kernel.nr_ranges = set->nr;
	return 0;
}

static inline int fake_filter(const struct kvm_msr_filter *f)
{
	kernel.filter = *f;
	for (unsigned int i = 0; i < KVM_MSR_FILTER_MAX_RANGES; i++)
		for (unsigned int n = 0; n < f->ranges[i].nmsrs; n++)
			if (!(f->ranges[i].bitmap[n / 8] & 1 << n % 8))
				kernel.filtered[f->ranges[i].base + n] = true;
	return 0;
}

static inline int fake_ioctl(int fd, unsigned long request, void *arg)
{
	switch (request) {
	case KVM_CHECK_EXTENSION:
		ck_assert_int_eq(fd, KVM_FD);
		return !kernel.no_filter;
	case KVM_ENABLE_CAP:
		ck_assert_int_eq(fd, VM_FD);
		kernel.cap = *(struct kvm_enable_cap *)arg;
		return 0;
	case KVM_X86_SET_MSR_FILTER:
		ck_assert_int_eq(fd, VM_FD);
		return fake_filter(arg);
	case KVM_SET_MSRS:
		return fake_set_msrs(fd, arg);
	case KVM_GET_MSRS: {
		struct kvm_msrs *m = arg;

		m->entries[0].data = kernel.msr[fd - VCPU_FD][m->entries[0].index];
		return 1;
	}
	case KVM_GET_MP_STATE:
		((struct kvm_mp_state *)arg)->mp_state = kernel.mp_state[fd - VCPU_FD];
		return 0;
	case KVM_GET_REGS:
		((struct kvm_regs *)arg)->rflags = kernel.rflags[fd - VCPU_FD];
		return 0;
	case KVM_MEMTYPE_GET_INFO:
		ck_assert_int_eq(fd, MODULE_FD);
		*(struct kvm_memtype_info *)arg = (struct kvm_memtype_info){
			.abi = kernel.abi,
			.vendor = kernel.intel ? KVM_MEMTYPE_VMX : KVM_MEMTYPE_SVM,
			.flags = KVM_MEMTYPE_NESTED,
			.types = kernel.types,
			.ranges_max = kernel.ranges_max,
		};
		return ends(kernel.info_errno);
	case KVM_MEMTYPE_SET_RANGES:
		ck_assert_int_eq(fd, MODULE_FD);
		return fake_set_ranges(arg);
	default:
		return ends(ENOTTY);
	}
}

static const struct vf_sys sys = {
	.open = fake_open,
	.close = fake_close,
	.ioctl = fake_ioctl,
};

/* The module's type for the page; 9 when it has none. */
static inline unsigned int module_type(uint64_t gpa)
{
	for (unsigned int i = 0; i < kernel.nr_ranges; i++)
		if (gpa >= kernel.range[i].gpa && gpa - kernel.range[i].gpa < kernel.range[i].size)
			return kernel.range[i].type;
	return 9;
}

int vmm_slot_add(struct vmm_ram *ram, uint64_t gpa, uint64_t size, void *hva)
{
	unsigned int n = 0, used = 0;

	(void)ram;
	if (kernel.changed)
		kernel.changed();
	for (unsigned int i = 0; i < SLOTS_MAX; i++) {
		used += kernel.slot[i].used;
		if (kernel.slot[i].used && kernel.slot[i].gpa < gpa + size &&
		    gpa < kernel.slot[i].gpa + kernel.slot[i].size)
			return -EEXIST;
	}
	if (used >= kernel.slots_room)
		return -ENOSPC;
	while (kernel.slot[n].used)
		n++;
	kernel.slot[n].used = true;
	kernel.slot[n].gpa = gpa;
	kernel.slot[n].size = size;
	kernel.slot[n].hva = hva;
	/* A large leaf takes the type of its first page: the whole slot must have one. */
	kernel.slot[n].type = module_type(gpa);
	for (uint64_t at = gpa; at < gpa + size; at += 4096)
		ck_assert_uint_eq(module_type(at), kernel.slot[n].type);
	kernel.slots_made++;
	return (int)n;
}

void vmm_slot_remove(struct vmm_ram *ram, int slot)
{
	(void)ram;
	if (kernel.changed)
		kernel.changed();
	ck_assert(slot >= 0 && kernel.slot[slot].used);
	kernel.slot[slot].used = false;
	kernel.slots_dropped++;
}

/* Where the guest's access to a page ends: an offset into the BAR's mapping, or -1. */
static inline long reaches(uint64_t gpa)
{
	for (unsigned int i = 0; i < SLOTS_MAX; i++)
		if (kernel.slot[i].used && gpa >= kernel.slot[i].gpa &&
		    gpa - kernel.slot[i].gpa < kernel.slot[i].size)
			return (long)((char *)kernel.slot[i].hva + (gpa - kernel.slot[i].gpa) -
				      WINDOW);
	return -1;
}

/* The type of the leaf that is there, if the module gave it one; 9: KVM's own. */
static inline unsigned int leaf(uint64_t gpa)
{
	for (unsigned int i = 0; i < SLOTS_MAX; i++)
		if (kernel.slot[i].used && gpa >= kernel.slot[i].gpa &&
		    gpa - kernel.slot[i].gpa < kernel.slot[i].size)
			return kernel.slot[i].type;
	return 10;
}

static inline unsigned int slots(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SLOTS_MAX; i++)
		n += kernel.slot[i].used;
	return n;
}

static inline void host(void)
{
	fake_file("proc/sys/kernel/osrelease", "6.12.95-amd64\n");
	fake_file("proc/cpuinfo", kernel.intel ? "processor\t: 0\nvendor_id\t: GenuineIntel\n"
					       : "processor\t: 0\nvendor_id\t: AuthenticAMD\n");
	fake_file(kernel.intel ? "sys/module/kvm_intel/parameters/ept"
			       : "sys/module/kvm_amd/parameters/npt",
		  "Y\n");
}

/* A kernel to be changed before machine(). */
static inline void with_kernel(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.module = true;
	kernel.abi = KVM_MEMTYPE_ABI;
	kernel.types = 1u << MT_UC | 1u << MT_WC | 1u << MT_WT | 1u << MT_WP | 1u << MT_WB;
	kernel.ranges_max = 128;
	kernel.slots_room = SLOTS_MAX;
	memset(&core, 0, sizeof(core));
	bp_error_clear(&err);
	fake_root_make();
}

static inline int build(enum vmm_mt_wish wish, unsigned int cpus)
{
	const struct vf_host h = { fake_root, &sys };
	int ret;

	host();
	config = (struct vmm_config){ .cpus = cpus, .memtype = wish };
	core.vmm.config = &config;
	core.vmm.kvm_fd = KVM_FD;
	core.vmm.vm_fd = VM_FD;
	core.vmm.maxphyaddr = 40;
	pthread_mutex_init(&core.vmm.lock, NULL);
	pthread_cond_init(&core.changed, NULL);
	ck_assert_int_eq(vmm_loop_new(&core.vmm.lock, &core.vmm.loop), 0);
	ret = vmm_mt_new_on(&core.vmm, &h, &mt, &err);
	if (ret)
		mt = NULL;
	core.vmm.mt = mt;
	for (unsigned int i = 0; mt && i < cpus; i++)
		ck_assert_int_eq(vmm_mt_power_on(mt, i, VCPU_FD + (int)i), 0);
	return ret;
}

static inline void machine(enum vmm_mt_wish wish, unsigned int cpus)
{
	with_kernel();
	ck_assert_msg(!build(wish, cpus), "%s", err.what);
}

static inline void gone(void)
{
	vmm_mt_free(mt);
	vmm_loop_free(core.vmm.loop);
	pthread_cond_destroy(&core.changed);
	pthread_mutex_destroy(&core.vmm.lock);
	ck_assert_uint_eq(kernel.opened, 0);
	fake_root_remove();
}

static inline int add(unsigned int bar, uint64_t gpa, uint64_t size)
{
	const struct vmm_mt_place place = { "0000:01:10.1", bar, 0 };

	return vmm_mt_area_add(mt, &place, gpa, size, WINDOW);
}

static inline void wr(unsigned int cpu, uint32_t msr, uint64_t value)
{
	ck_assert_int_eq(vmm_mt_wrmsr(mt, cpu, msr, value), 0);
}

/* What the loop does when a VCPU has asked for new leaves. Return: whether one has. */
static inline bool loop_works(void)
{
	bool asked = mt->pending;

	/* As after vmm_hold_ask(): the VCPU that asked does not run. */
	ck_assert_uint_eq(core.holds, asked);
	vmm_mt_apply(mt, mt->apply_fd);
	ck_assert_uint_eq(core.holds, 0);
	ck_assert(!mt->pending);
	return asked;
}

#define MASK(size) ((~((size)-1) & 0xffffffffffull) | MT_PHYSMASK_VALID)

/* Ways of Linux: caches off (which does not come here), E off, write, E on. */
static inline void linux_set(unsigned int cpu, unsigned int reg, uint64_t base, uint64_t size,
			     enum mt_type type)
{
	wr(cpu, MT_MSR_DEF_TYPE, 0x406);
	wr(cpu, MT_MSR_PHYSBASE(reg), size ? base | type : 0);
	wr(cpu, MT_MSR_PHYSMASK(reg), size ? MASK(size) : 0);
	wr(cpu, MT_MSR_DEF_TYPE, 0xc06);
}

#endif
