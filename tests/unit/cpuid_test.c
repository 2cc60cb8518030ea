// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kvm.h>
#include <string.h>

#include "suite.h"
#include "vmm/cpuid.h"

#define MAX 32

static struct kvm_cpuid2 *host, *guest;

static struct kvm_cpuid_entry2 *add(uint32_t leaf, uint32_t index, uint32_t eax, uint32_t ebx,
				    uint32_t ecx, uint32_t edx)
{
	struct kvm_cpuid_entry2 *e = &host->entries[host->nent++];

	*e = (struct kvm_cpuid_entry2){ leaf, index, 0, eax, ebx, ecx, edx, { 0 } };
	return e;
}

static const struct kvm_cpuid_entry2 *leaf(uint32_t function, uint32_t index)
{
	const struct kvm_cpuid_entry2 *found = NULL;

	for (uint32_t i = 0; i < guest->nent; i++) {
		if (guest->entries[i].function != function || guest->entries[i].index != index)
			continue;
		/* KVM takes the first of two, so a second one would be a lie. */
		ck_assert_ptr_null(found);
		found = &guest->entries[i];
	}
	ck_assert_ptr_nonnull(found);
	return found;
}

static void start(const char *vendor)
{
	uint32_t v[3];

	memcpy(v, vendor, 12);
	free(host);
	host = calloc(1, sizeof(*host) + MAX * sizeof(host->entries[0]));
	/* EBX, EDX, ECX spell the name. */
	add(0, 0, 0x1f, v[0], v[2], v[1]);
	add(1, 0, 0x800f12, 0x05100800, 0xffffffff, 0xffffffff & ~(1u << 12 | 1u << 16));
	add(0xb, 0, 0, 0, 0, 5);
	add(0xb, 1, 3, 8, 0x201, 5);
	add(0x1f, 0, 0, 0, 0, 5);
	add(0x40000000, 0, 0x40000001, 0x4b4d564b, 0x564b4d56, 0x4d);
	add(0x80000000, 0, 0x8000001f, 0, 0, 0);
	add(0x80000001, 0, 0, 0, 0xffffffff, 0xffffffff);
	add(0x80000008, 0, 0x00003028, 0x1234, 0x7003, 0);
	add(0x8000000a, 0, 1, 8, 0, 0xff);
	add(0x8000001e, 0, 5, 0x0102, 0x0101, 0);
	add(0x8000001f, 0, 1, 51, 0, 0);
}

static void build(unsigned int id, unsigned int cpus)
{
	free(guest);
	guest = NULL;
	ck_assert_int_eq(vmm_cpuid_build(host, id, cpus, true, &guest), 0);
}

START_TEST(no_virtualization_inside)
{
	start("AuthenticAMD");
	build(0, 1);
	ck_assert_uint_eq(leaf(1, 0)->ecx >> 5 & 1, 0);
	ck_assert_uint_eq(leaf(0x80000001, 0)->ecx >> 2 & 1, 0);
	ck_assert_uint_eq(leaf(0x8000000a, 0)->eax, 0);
	ck_assert_uint_eq(leaf(0x8000000a, 0)->edx, 0);
	ck_assert_uint_eq(leaf(0x8000001f, 0)->eax, 0);
}
END_TEST

START_TEST(what_a_guest_of_kvm_finds)
{
	start("AuthenticAMD");
	build(0, 1);
	ck_assert_uint_eq(leaf(1, 0)->ecx >> 31, 1);
	ck_assert_uint_eq(leaf(1, 0)->ecx >> 24 & 1, 1);
	ck_assert_uint_eq(leaf(1, 0)->ecx >> 27 & 1, 0);
	ck_assert_uint_eq(leaf(1, 0)->ecx >> 21 & 1, 1);
	ck_assert_uint_eq(leaf(1, 0)->edx >> 12 & 1, 1);
	ck_assert_uint_eq(leaf(1, 0)->edx >> 16 & 1, 1);
	ck_assert_uint_eq(leaf(0x40000000, 0)->ebx, 0x4b4d564b);
}
END_TEST

START_TEST(one_cpu_is_alone)
{
	start("AuthenticAMD");
	build(0, 1);
	ck_assert_uint_eq(leaf(1, 0)->ebx, 0x00010800);
	ck_assert_uint_eq(leaf(1, 0)->edx >> 28 & 1, 0);
	ck_assert_uint_eq(leaf(0x80000001, 0)->ecx >> 1 & 1, 0);
	ck_assert_uint_eq(leaf(0x80000008, 0)->ecx, 0);
	ck_assert_uint_eq(leaf(0xb, 1)->ebx, 1);
	ck_assert_uint_eq(leaf(0xb, 1)->eax, 0);
}
END_TEST

/* Every leaf that counts or numbers processors says the same. */
START_TEST(amd_topology_agrees)
{
	static const struct {
		unsigned int cpus, bits;
	} t[] = { { 2, 1 }, { 3, 2 }, { 4, 2 }, { 5, 3 }, { 64, 6 } };

	start("AuthenticAMD");
	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		unsigned int id = t[i].cpus - 1;

		build(id, t[i].cpus);
		ck_assert_uint_eq(leaf(1, 0)->ebx >> 24, id);
		ck_assert_uint_eq(leaf(1, 0)->ebx >> 16 & 0xff, 1u << t[i].bits);
		ck_assert_uint_eq(leaf(1, 0)->edx >> 28 & 1, 1);
		ck_assert_uint_eq(leaf(0x80000001, 0)->ecx >> 1 & 1, 1);
		ck_assert_uint_eq(leaf(0x80000008, 0)->ecx & 0xff, t[i].cpus - 1);
		ck_assert_uint_eq(leaf(0x80000008, 0)->ecx >> 12 & 0xf, t[i].bits);
		ck_assert_uint_eq(leaf(0x80000008, 0)->ebx, 0x1234);
		ck_assert_uint_eq(leaf(0x8000001e, 0)->eax, id);
		ck_assert_uint_eq(leaf(0x8000001e, 0)->ebx, id);
		ck_assert_uint_eq(leaf(0x8000001e, 0)->ecx, 0);
		ck_assert_uint_eq(leaf(0xb, 0)->eax, 0);
		ck_assert_uint_eq(leaf(0xb, 0)->ecx, 0x100);
		ck_assert_uint_eq(leaf(0xb, 1)->eax, t[i].bits);
		ck_assert_uint_eq(leaf(0xb, 1)->ebx, t[i].cpus);
		ck_assert_uint_eq(leaf(0xb, 1)->ecx, 0x201);
		ck_assert_uint_eq(leaf(0xb, 2)->ecx, 2);
		for (uint32_t n = 0; n < 3; n++) {
			ck_assert_uint_eq(leaf(0xb, n)->edx, id);
			ck_assert_uint_eq(leaf(0xb, n)->flags, KVM_CPUID_FLAG_SIGNIFCANT_INDEX);
		}
	}
}
END_TEST

START_TEST(intel_caches_are_shared)
{
	start("GenuineIntel");
	/* Level 1 data, level 3, end; each says that 8 threads share it and 8 cores exist. */
	add(4, 0, 7u << 26 | 7u << 14 | 1u << 5 | 1, 0, 0, 0);
	add(4, 1, 7u << 26 | 7u << 14 | 3u << 5 | 3, 0, 0, 0);
	add(4, 2, 0, 0, 0, 0);
	build(1, 2);
	ck_assert_uint_eq(leaf(4, 0)->eax, 1u << 26 | 1u << 5 | 1);
	ck_assert_uint_eq(leaf(4, 1)->eax, 1u << 26 | 1u << 14 | 3u << 5 | 3);
	ck_assert_uint_eq(leaf(4, 2)->eax, 0);
	/* Reserved on Intel. */
	ck_assert_uint_eq(leaf(0x80000008, 0)->ecx, 0x7003);
	ck_assert_uint_eq(leaf(0x80000001, 0)->ecx >> 1 & 1, 0);
}
END_TEST

START_TEST(old_processor_without_topology_leaf)
{
	start("AuthenticAMD");
	host->entries[0].eax = 7;
	build(1, 2);
	for (uint32_t i = 0; i < guest->nent; i++)
		ck_assert_uint_ne(guest->entries[i].function, 0xb);
}
END_TEST

START_TEST(address_width)
{
	start("AuthenticAMD");
	ck_assert_uint_eq(vmm_cpuid_maxphyaddr(host), 40);
	/* 52 bits, of which nested paging translates 48. */
	host->entries[8].eax = 0x00303034;
	ck_assert_uint_eq(vmm_cpuid_maxphyaddr(host), 48);
	host->entries[8].eax = 0x00003034;
	ck_assert_uint_eq(vmm_cpuid_maxphyaddr(host), 52);
	host->entries[8].eax = 0xff;
	ck_assert_uint_eq(vmm_cpuid_maxphyaddr(host), 52);
	host->entries[8].function = 0x80000009;
	ck_assert_uint_eq(vmm_cpuid_maxphyaddr(host), 36);
}
END_TEST

SUITE("cpuid", no_virtualization_inside, what_a_guest_of_kvm_finds, one_cpu_is_alone,
      amd_topology_agrees, intel_caches_are_shared, old_processor_without_topology_leaf,
      address_width)
