// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "vmm/memtype/memtype.h"
#include "vmm/vcpu_state.h"

#define MSR_TSC		 0x10u
#define MSR_MISC_ENABLE	 0x1a0u
#define MISC_FAST_STRING 1u
#define MSR_HYPERV_FIRST 0x40000000u
#define MSR_HYPERV_LAST	 0x400001ffu

#define LAPIC_LVT0	 0x350
#define LAPIC_LVT1	 0x360
#define LVT_EXTINT	 0x700u
#define LVT_NMI		 0x400u

#define CR0_PE		 (1ull << 0)
#define CR0_ET		 (1ull << 4)
#define CR0_PG		 (1ull << 31)
#define CR4_PAE		 (1ull << 5)
#define EFER_LME	 (1ull << 8)
#define EFER_LMA	 (1ull << 10)

/* What the boot protocol calls __BOOT_CS and __BOOT_DS. */
#define BOOT_CS	  0x10
#define BOOT_DS	  0x18
#define GDT_LIMIT (BOOT_DS + 7)

#define MSRS_MAX  1024

struct msr_list {
	struct kvm_msrs head;
	struct kvm_msr_entry entry[MSRS_MAX];
};

/* The pins as the MP specification's virtual wire mode has them: INTR from the PIC, and NMI. */
static int wire_lapic(int fd)
{
	struct kvm_lapic_state lapic;
	uint32_t lvt;

	if (ioctl(fd, KVM_GET_LAPIC, &lapic))
		return -errno;
	lvt = LVT_EXTINT;
	memcpy(lapic.regs + LAPIC_LVT0, &lvt, sizeof(lvt));
	lvt = LVT_NMI;
	memcpy(lapic.regs + LAPIC_LVT1, &lvt, sizeof(lvt));
	return ioctl(fd, KVM_SET_LAPIC, &lapic) ? -errno : 0;
}

/* Firmware turns fast strings on; the MSR is Intel's, and KVM may not have it for AMD guests. */
static void enable_fast_strings(int fd)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry[1];
	} m = { .head.nmsrs = 1, .entry[0].index = MSR_MISC_ENABLE };

	if (ioctl(fd, KVM_GET_MSRS, &m) != 1)
		return;
	m.entry[0].data |= MISC_FAST_STRING;
	ioctl(fd, KVM_SET_MSRS, &m);
}

int vmm_vcpu_setup(int fd, const struct kvm_cpuid2 *cpuid, struct bp_error *err)
{
	int ret;

	if (ioctl(fd, KVM_SET_CPUID2, cpuid))
		return bp_error_set(err, -errno, NULL, "KVM refuses the guest's CPUID: %s",
				    strerror(errno));
	enable_fast_strings(fd);
	ret = wire_lapic(fd);
	if (ret)
		return bp_error_set(err, ret, NULL, "KVM refuses the local APIC's state: %s",
				    strerror(-ret));
	return 0;
}

struct vmm_vcpu_state {
	struct kvm_regs regs;
	struct kvm_sregs sregs;
	struct kvm_xsave xsave;
	struct kvm_xcrs xcrs;
	struct kvm_debugregs debugregs;
	struct kvm_lapic_state lapic;
	struct kvm_vcpu_events events;
	struct kvm_mp_state mp;
	struct msr_list msrs;
};

static bool skipped(uint32_t index)
{
	/* MTRRs and PAT are vmm/memtype's. */
	return index == MSR_TSC || vmm_mt_owns(index) ||
	       (index >= MSR_HYPERV_FIRST && index <= MSR_HYPERV_LAST);
}

/*
 * KVM_GET_MSRS and KVM_SET_MSRS stop at the first one that they refuse. Drop it and
 * go on, so that the list holds what both take.
 */
static int filter_msrs(int fd, unsigned long request, struct msr_list *list)
{
	for (;;) {
		int n = ioctl(fd, request, list);

		if (n < 0)
			return -errno;
		if ((unsigned int)n >= list->head.nmsrs)
			return 0;
		list->head.nmsrs--;
		memmove(&list->entry[n], &list->entry[n + 1],
			(list->head.nmsrs - (unsigned int)n) * sizeof(list->entry[0]));
	}
}

static int save_msrs(int kvm_fd, int fd, struct msr_list *list)
{
	struct {
		struct kvm_msr_list head;
		uint32_t index[MSRS_MAX];
	} all = { .head.nmsrs = MSRS_MAX };
	int ret;

	if (ioctl(kvm_fd, KVM_GET_MSR_INDEX_LIST, &all))
		return -errno;
	list->head.nmsrs = 0;
	for (uint32_t i = 0; i < all.head.nmsrs && i < MSRS_MAX; i++)
		if (!skipped(all.index[i]))
			list->entry[list->head.nmsrs++].index = all.index[i];
	ret = filter_msrs(fd, KVM_GET_MSRS, list);
	return ret ? ret : filter_msrs(fd, KVM_SET_MSRS, list);
}

int vmm_vcpu_state_save(int kvm_fd, int fd, struct vmm_vcpu_state **out)
{
	struct vmm_vcpu_state *s = calloc(1, sizeof(*s));
	int ret = -ENOMEM;

	if (!s)
		return ret;
	ret = save_msrs(kvm_fd, fd, &s->msrs);
	if (ret)
		goto fail;
	if (ioctl(fd, KVM_GET_REGS, &s->regs) || ioctl(fd, KVM_GET_SREGS, &s->sregs) ||
	    ioctl(fd, KVM_GET_XSAVE, &s->xsave) || ioctl(fd, KVM_GET_DEBUGREGS, &s->debugregs) ||
	    ioctl(fd, KVM_GET_LAPIC, &s->lapic) || ioctl(fd, KVM_GET_VCPU_EVENTS, &s->events) ||
	    ioctl(fd, KVM_GET_MP_STATE, &s->mp)) {
		ret = -errno;
		goto fail;
	}
	/* Only where the processor has XSAVE. */
	if (ioctl(fd, KVM_GET_XCRS, &s->xcrs))
		s->xcrs.nr_xcrs = 0;
	*out = s;
	return 0;
fail:
	free(s);
	return ret;
}

/*
 * Each of them was taken when it was saved. Should KVM refuse one in the state that the
 * guest left behind, those after it are still written.
 */
static int restore_msrs(int fd, const struct msr_list *saved)
{
	struct msr_list *rest = malloc(sizeof(*rest));
	uint32_t at = 0;
	int ret = rest ? 0 : -ENOMEM;

	while (!ret && at < saved->head.nmsrs) {
		int n;

		rest->head.nmsrs = saved->head.nmsrs - at;
		memcpy(rest->entry, saved->entry + at, rest->head.nmsrs * sizeof(rest->entry[0]));
		n = ioctl(fd, KVM_SET_MSRS, rest);
		if (n < 0)
			ret = -errno;
		else
			at += (uint32_t)n + 1;
	}
	free(rest);
	return ret;
}

int vmm_vcpu_state_restore(int fd, const struct vmm_vcpu_state *s)
{
	int ret;

	/* The APIC base in SREGS decides how KVM reads the local APIC's state: it goes first. */
	if (ioctl(fd, KVM_SET_SREGS, &s->sregs) || ioctl(fd, KVM_SET_REGS, &s->regs))
		return -errno;
	if (s->xcrs.nr_xcrs && ioctl(fd, KVM_SET_XCRS, &s->xcrs))
		return -errno;
	if (ioctl(fd, KVM_SET_XSAVE, &s->xsave) || ioctl(fd, KVM_SET_DEBUGREGS, &s->debugregs))
		return -errno;
	ret = restore_msrs(fd, &s->msrs);
	if (ret)
		return ret;
	if (ioctl(fd, KVM_SET_LAPIC, &s->lapic) || ioctl(fd, KVM_SET_VCPU_EVENTS, &s->events) ||
	    ioctl(fd, KVM_SET_MP_STATE, &s->mp))
		return -errno;
	return 0;
}

static struct kvm_segment flat(uint16_t selector, uint8_t type, bool long_mode)
{
	return (struct kvm_segment){
		.base = 0,
		.limit = 0xffffffff,
		.selector = selector,
		.type = type,
		.present = 1,
		.db = !long_mode,
		.s = 1,
		.l = long_mode,
		.g = 1,
	};
}

int vmm_vcpu_enter(int fd, const struct vmm_entry *entry)
{
	struct kvm_regs regs = { .rip = entry->rip, .rsi = entry->zero_page, .rflags = 2 };
	struct kvm_sregs sregs;

	if (ioctl(fd, KVM_GET_SREGS, &sregs))
		return -errno;
	sregs.cs = flat(BOOT_CS, 0xb, entry->long_mode); /* code, execute and read */
	sregs.ds = flat(BOOT_DS, 0x3, false); /* data, read and write */
	sregs.es = sregs.fs = sregs.gs = sregs.ss = sregs.ds;
	sregs.gdt.base = entry->gdt;
	sregs.gdt.limit = GDT_LIMIT;
	sregs.idt.base = 0;
	sregs.idt.limit = 0;
	sregs.cr0 = CR0_PE | CR0_ET;
	sregs.cr4 = 0;
	sregs.efer = 0;
	if (entry->long_mode) {
		sregs.cr0 |= CR0_PG;
		sregs.cr3 = entry->page_tables;
		sregs.cr4 = CR4_PAE;
		sregs.efer = EFER_LME | EFER_LMA;
	}
	if (ioctl(fd, KVM_SET_SREGS, &sregs) || ioctl(fd, KVM_SET_REGS, &regs))
		return -errno;
	return 0;
}
