// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "vmm/cpuid.h"

#define ENTRIES_FIRST 128
#define ENTRIES_LIMIT 4096

/* Leaf 1. */
#define ECX1_VMX	  (1u << 5)
#define ECX1_TSC_DEADLINE (1u << 24)
#define ECX1_OSXSAVE	  (1u << 27)
#define ECX1_HYPERVISOR	  (1u << 31)
#define EDX1_MTRR	  (1u << 12)
#define EDX1_PAT	  (1u << 16)
#define EDX1_HTT	  (1u << 28)
/* Leaf 0x80000001. */
#define ECX81_CMP_LEGACY (1u << 1)
#define ECX81_SVM	 (1u << 2)

#define LEVEL_SMT	 1u
#define LEVEL_CORE	 2u

static struct kvm_cpuid2 *list_new(uint32_t room)
{
	struct kvm_cpuid2 *list = calloc(1, sizeof(*list) + room * sizeof(list->entries[0]));

	if (list)
		list->nent = room;
	return list;
}

int vmm_cpuid_supported(int kvm_fd, struct kvm_cpuid2 **out)
{
	for (uint32_t room = ENTRIES_FIRST; room <= ENTRIES_LIMIT; room *= 2) {
		struct kvm_cpuid2 *list = list_new(room);
		int ret;

		if (!list)
			return -ENOMEM;
		if (!ioctl(kvm_fd, KVM_GET_SUPPORTED_CPUID, list)) {
			*out = list;
			return 0;
		}
		ret = -errno;
		free(list);
		if (ret != -E2BIG)
			return ret;
	}
	return -E2BIG;
}

static const struct kvm_cpuid_entry2 *find(const struct kvm_cpuid2 *list, uint32_t leaf)
{
	for (uint32_t i = 0; i < list->nent; i++)
		if (list->entries[i].function == leaf)
			return &list->entries[i];
	return NULL;
}

unsigned int vmm_cpuid_maxphyaddr(const struct kvm_cpuid2 *cpuid)
{
	const struct kvm_cpuid_entry2 *e = find(cpuid, 0x80000008);
	unsigned int bits, guest;

	if (!e)
		return 36;
	bits = e->eax & 0xff;
	guest = e->eax >> 16 & 0xff;
	if (guest && guest < bits)
		bits = guest;
	return bits < 32 ? 32 : bits > 52 ? 52 : bits;
}

/* Bits of an APIC ID that number @cpus processors. */
static unsigned int id_bits(unsigned int cpus)
{
	unsigned int bits = 0;

	while (1u << bits < cpus)
		bits++;
	return bits;
}

static bool is_amd(const struct kvm_cpuid2 *list)
{
	const struct kvm_cpuid_entry2 *e = find(list, 0);

	/* "AuthenticAMD" and "HygonGenuine". */
	return e && (e->ebx == 0x68747541 || e->ebx == 0x6f677948);
}

/* Caches: level 1 and 2 belong to a core, the rest to all. EAX[25:14] is the number sharing - 1. */
static void share_cache(struct kvm_cpuid_entry2 *e, unsigned int cpus)
{
	unsigned int level = e->eax >> 5 & 7;

	if (!(e->eax & 0x1f))
		return;
	e->eax &= ~(0xfffu << 14);
	if (level >= 3)
		e->eax |= ((1u << id_bits(cpus)) - 1) << 14;
}

static void edit(struct kvm_cpuid_entry2 *e, unsigned int id, unsigned int cpus, bool tsc_deadline,
		 bool amd)
{
	switch (e->function) {
	case 1:
		e->ebx = (e->ebx & 0x0000ffff) | id << 24 | (1u << id_bits(cpus)) << 16;
		e->ecx |= ECX1_HYPERVISOR;
		/* OSXSAVE mirrors CR4 and is KVM's to set. */
		e->ecx &= ~(ECX1_VMX | ECX1_OSXSAVE);
		if (tsc_deadline)
			e->ecx |= ECX1_TSC_DEADLINE;
		e->edx |= EDX1_MTRR | EDX1_PAT;
		e->edx &= ~EDX1_HTT;
		if (cpus > 1)
			e->edx |= EDX1_HTT;
		break;
	case 4:
		share_cache(e, cpus);
		e->eax &= ~(0x3fu << 26);
		if (e->eax & 0x1f)
			e->eax |= ((1u << id_bits(cpus)) - 1) << 26;
		break;
	case 0x80000001:
		e->ecx &= ~(ECX81_SVM | ECX81_CMP_LEGACY);
		if (amd && cpus > 1)
			e->ecx |= ECX81_CMP_LEGACY;
		break;
	case 0x80000008:
		if (amd)
			e->ecx = (e->ecx & ~0xf0ffu) | id_bits(cpus) << 12 | (cpus - 1);
		break;
	case 0x8000000a: /* SVM */
	case 0x80000026: /* the extended topology, which 0xb and 0x8000001e tell already */
	case 0x8000001f: /* memory encryption, which nothing here sets up */
		e->eax = e->ebx = e->ecx = e->edx = 0;
		break;
	case 0x8000001d:
		share_cache(e, cpus);
		break;
	case 0x8000001e: /* one thread a core, one node */
		e->eax = id;
		e->ebx = id & 0xff;
		e->ecx = 0;
		break;
	}
}

static void add_topology(struct kvm_cpuid2 *list, uint32_t leaf, unsigned int id, unsigned int cpus)
{
	const struct kvm_cpuid_entry2 level[] = {
		{ .eax = 0, .ebx = 1, .ecx = LEVEL_SMT << 8 | 0 },
		{ .eax = id_bits(cpus), .ebx = cpus, .ecx = LEVEL_CORE << 8 | 1 },
		{ .ecx = 2 },
	};

	for (uint32_t i = 0; i < sizeof(level) / sizeof(level[0]); i++) {
		struct kvm_cpuid_entry2 *e = &list->entries[list->nent++];

		*e = level[i];
		e->function = leaf;
		e->index = i;
		e->flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX;
		e->edx = id;
	}
}

int vmm_cpuid_build(const struct kvm_cpuid2 *supported, unsigned int id, unsigned int cpus,
		    bool tsc_deadline, struct kvm_cpuid2 **out)
{
	const struct kvm_cpuid_entry2 *zero = find(supported, 0);
	uint32_t last = zero ? zero->eax : 0;
	bool amd = is_amd(supported);
	struct kvm_cpuid2 *list;

	/* Room for what is copied and for the levels of two topology leaves. */
	list = list_new(supported->nent + 6);
	if (!list)
		return -ENOMEM;
	list->nent = 0;
	for (uint32_t i = 0; i < supported->nent; i++) {
		struct kvm_cpuid_entry2 e = supported->entries[i];

		/* KVM's answer holds the APIC ID of the CPU that asked. */
		if (e.function == 0xb || e.function == 0x1f)
			continue;
		edit(&e, id, cpus, tsc_deadline, amd);
		list->entries[list->nent++] = e;
	}
	if (last >= 0xb)
		add_topology(list, 0xb, id, cpus);
	if (last >= 0x1f && find(supported, 0x1f))
		add_topology(list, 0x1f, id, cpus);
	*out = list;
	return 0;
}
