// SPDX-License-Identifier: GPL-2.0-only
/* The MP table as a kernel without ACPI reads it (Intel MP specification 1.4, chapter 4). */
#include <errno.h>
#include <string.h>

#include "suite.h"
#include "vmm/acpi/acpi.h"
#include "vmm/layout.h"
#include "vmm/machine.h"
#include "vmm/pci/pci.h"

static const unsigned int cpu_counts[] = { 1, 2, 16, 64 };

static struct vmm_blob mp;

static uint32_t le(size_t at, size_t len)
{
	uint32_t value = 0;

	ck_assert_uint_le(at + len, mp.size);
	while (len--)
		value = value << 8 | mp.data[at + len];
	return value;
}

static uint8_t sum(size_t at, size_t len)
{
	uint8_t s = 0;

	ck_assert_uint_le(at + len, mp.size);
	while (len--)
		s += mp.data[at++];
	return s;
}

/* What was found, by source. */
struct found {
	unsigned int cpus, boot_cpus, ioapics, ioapic_id, extints, nmis;
	int pci_bus, isa_bus;
	int isa_pin[256], isa_flags[256];
	int pci_pin[256], pci_flags[256];
	bool apic_id[256];
};

static void parse(struct found *f)
{
	static const size_t size[] = { 20, 8, 8, 8, 8 };
	size_t at, table, end;
	unsigned int n, last = 0;

	memset(f, 0, sizeof(*f));
	memset(f->isa_pin, 0xff, sizeof(f->isa_pin));
	memset(f->pci_pin, 0xff, sizeof(f->pci_pin));
	f->pci_bus = f->isa_bus = -1;
	ck_assert_mem_eq(mp.data, "_MP_", 4);
	ck_assert_uint_eq(mp.data[8], 1);
	ck_assert_uint_eq(mp.data[9], 4);
	ck_assert_uint_eq(sum(0, 16), 0);
	ck_assert_uint_eq(mp.data[11], 0); /* no default configuration */
	table = le(4, 4) - mp.gpa;
	ck_assert_mem_eq(mp.data + table, "PCMP", 4);
	ck_assert_uint_eq(mp.data[table + 6], 4);
	end = table + le(table + 4, 2);
	ck_assert_uint_eq(end, mp.size);
	ck_assert_uint_eq(sum(table, end - table), 0);
	ck_assert_uint_eq(le(table + 36, 4), VMM_LAPIC_BASE);
	for (at = table + 44, n = 0; at < end; n++) {
		const uint8_t *e = mp.data + at;

		ck_assert_uint_le(e[0], 4);
		ck_assert_uint_ge(e[0], last);
		last = e[0];
		switch (e[0]) {
		case 0:
			ck_assert(!f->apic_id[e[1]]);
			f->apic_id[e[1]] = true;
			ck_assert_uint_eq(e[3] & 1, 1);
			f->cpus++;
			f->boot_cpus += e[3] >> 1 & 1;
			break;
		case 1:
			if (!memcmp(e + 2, "PCI   ", 6))
				f->pci_bus = e[1];
			else if (!memcmp(e + 2, "ISA   ", 6))
				f->isa_bus = e[1];
			else
				ck_abort_msg("bus of unknown kind");
			break;
		case 2:
			ck_assert(!f->apic_id[e[1]]);
			f->ioapic_id = e[1];
			ck_assert_uint_eq(e[3] & 1, 1);
			ck_assert_uint_eq(le(at + 4, 4), VMM_IOAPIC_BASE);
			f->ioapics++;
			break;
		case 3:
			ck_assert_uint_eq(e[1], 0);
			ck_assert_uint_eq(e[6], f->ioapic_id);
			ck_assert_uint_lt(e[7], VMM_IOAPIC_PINS);
			if (e[4] == f->isa_bus) {
				ck_assert_int_eq(f->isa_pin[e[5]], -1);
				f->isa_pin[e[5]] = e[7];
				f->isa_flags[e[5]] = le(at + 2, 2);
			} else {
				ck_assert_int_eq(e[4], f->pci_bus);
				ck_assert_int_eq(f->pci_pin[e[5]], -1);
				f->pci_pin[e[5]] = e[7];
				f->pci_flags[e[5]] = le(at + 2, 2);
			}
			break;
		case 4:
			ck_assert_uint_eq(e[6], 0xff);
			if (e[1] == 3 && e[7] == 0)
				f->extints++;
			if (e[1] == 1 && e[7] == 1)
				f->nmis++;
			break;
		}
		at += size[e[0]];
	}
	ck_assert_uint_eq(at, end);
	ck_assert_uint_eq(n, le(table + 34, 2));
}

START_TEST(table)
{
	const struct vmm_platform p = { .cpus = cpu_counts[_i] };
	struct found f;
	unsigned int i, slot, pin;

	ck_assert_int_eq(vmm_mptable_build(&p, &mp), 0);
	ck_assert_uint_eq(mp.gpa, VMM_MPTABLE);
	ck_assert_uint_le(mp.gpa + mp.size, VMM_RSDP);
	parse(&f);
	ck_assert_uint_eq(f.cpus, p.cpus);
	for (i = 0; i < p.cpus; i++)
		ck_assert(f.apic_id[i]);
	ck_assert_uint_eq(f.boot_cpus, 1);
	ck_assert_uint_eq(f.ioapics, 1);
	ck_assert_int_eq(f.pci_bus, 0);
	ck_assert_int_ge(f.isa_bus, 1);
	ck_assert_uint_eq(f.extints, 1);
	ck_assert_uint_eq(f.nmis, 1);
	for (i = 0; i < 16; i++) {
		if (i == 2 || i == 5 || i == 10 || i == 11) {
			/* the cascade, and the lines of PCI slots */
			ck_assert_int_eq(f.isa_pin[i], -1);
			continue;
		}
		ck_assert_int_eq(f.isa_pin[i], i ? i : 2);
		ck_assert_int_eq(f.isa_flags[i], i == VMM_IRQ_SCI ? 0x0d : 0);
	}
	for (slot = 0; slot < 32; slot++) {
		for (pin = 0; pin < 4; pin++) {
			ck_assert_int_eq(f.pci_pin[slot << 2 | pin],
					 (int)vmm_pci_intx_gsi(slot, pin + 1));
			ck_assert_int_eq(f.pci_flags[slot << 2 | pin], 0x0d);
		}
	}
	free(mp.data);
}
END_TEST

START_TEST(impossible_platforms)
{
	struct vmm_platform p = { .cpus = 0 };

	ck_assert_int_eq(vmm_mptable_build(&p, &mp), -EINVAL);
	p.cpus = VMM_VCPUS_MAX + 1;
	ck_assert_int_eq(vmm_mptable_build(&p, &mp), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mptable");
	TCase *tcase = tcase_create("mptable");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tcase, table, 0, sizeof(cpu_counts) / sizeof(cpu_counts[0]));
	tcase_add_test(tcase, impossible_platforms);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
