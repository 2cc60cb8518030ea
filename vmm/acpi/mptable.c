// SPDX-License-Identifier: GPL-2.0-only
/* Intel MultiProcessor Specification 1.4, chapter 4. */
#include <errno.h>

#include "vmm/acpi/acpi.h"
#include "vmm/acpi/bytes.h"
#include "vmm/layout.h"
#include "vmm/machine.h"
#include "vmm/pci/pci.h"

#define SPEC_REVISION	4 /* 1.4 */
#define FLOATING_SIZE	16
#define ROOM		(VMM_RSDP - VMM_MPTABLE)

#define HEADER_LENGTH	4
#define HEADER_CHECKSUM 7
#define HEADER_COUNT	34

#define ENTRY_CPU	0
#define ENTRY_BUS	1
#define ENTRY_IOAPIC	2
#define ENTRY_INTERRUPT 3
#define ENTRY_LOCAL	4

#define CPU_ENABLED	1
#define CPU_BOOT	2
#define CPU_SIGNATURE	0x600 /* family 6; the real values come from CPUID */
#define CPU_FEATURES	0x201 /* APIC and FPU */
#define LAPIC_VERSION	0x14
#define IOAPIC_VERSION	0x11

#define BUS_PCI		0
#define BUS_ISA		1

#define INT_VECTORED	0
#define INT_NMI		1
#define INT_EXTINT	3
#define INT_AS_BUS	0x00
#define INT_LEVEL_HIGH	0x0d
#define ALL_LAPICS	0xff

#define ISA_IRQS	16
#define IRQ_TIMER	0
#define IRQ_CASCADE	2
#define TIMER_PIN	2
#define SLOTS		32
#define PINS		4

struct mptable {
	struct vmm_bytes b;
	unsigned int entries;
	unsigned int ioapic;
};

static void cpu(struct mptable *t, unsigned int id)
{
	vmm_bytes_le(&t->b, ENTRY_CPU, 1);
	vmm_bytes_le(&t->b, id, 1);
	vmm_bytes_le(&t->b, LAPIC_VERSION, 1);
	vmm_bytes_le(&t->b, CPU_ENABLED | (id ? 0 : CPU_BOOT), 1);
	vmm_bytes_le(&t->b, CPU_SIGNATURE, 4);
	vmm_bytes_le(&t->b, CPU_FEATURES, 4);
	vmm_bytes_zero(&t->b, 8);
	t->entries++;
}

static void bus(struct mptable *t, uint8_t id, const char *type)
{
	vmm_bytes_le(&t->b, ENTRY_BUS, 1);
	vmm_bytes_le(&t->b, id, 1);
	vmm_bytes_put(&t->b, type, 6);
	t->entries++;
}

static void io_apic(struct mptable *t)
{
	vmm_bytes_le(&t->b, ENTRY_IOAPIC, 1);
	vmm_bytes_le(&t->b, t->ioapic, 1);
	vmm_bytes_le(&t->b, IOAPIC_VERSION, 1);
	vmm_bytes_le(&t->b, 1, 1); /* usable */
	vmm_bytes_le(&t->b, VMM_IOAPIC_BASE, 4);
	t->entries++;
}

static void assignment(struct mptable *t, uint8_t entry, uint8_t type, uint16_t flags,
		       uint8_t src_bus, uint8_t src_irq, uint8_t apic, uint8_t pin)
{
	vmm_bytes_le(&t->b, entry, 1);
	vmm_bytes_le(&t->b, type, 1);
	vmm_bytes_le(&t->b, flags, 2);
	vmm_bytes_le(&t->b, src_bus, 1);
	vmm_bytes_le(&t->b, src_irq, 1);
	vmm_bytes_le(&t->b, apic, 1);
	vmm_bytes_le(&t->b, pin, 1);
	t->entries++;
}

static unsigned int pci_lines(void)
{
	unsigned int slot, pin, mask = 0;

	for (slot = 0; slot < SLOTS; slot++)
		for (pin = 1; pin <= PINS; pin++)
			mask |= 1u << vmm_pci_intx_gsi(slot, pin);
	return mask;
}

static void interrupts(struct mptable *t)
{
	unsigned int irq, slot, pin, pci = pci_lines();

	/*
	 * A line that PCI slots share has no ISA source: a kernel would otherwise know the
	 * pin under two numbers. IRQ 2 is the second 8259's way into the first.
	 */
	for (irq = 0; irq < ISA_IRQS; irq++) {
		if (irq == IRQ_CASCADE || (pci & 1u << irq))
			continue;
		assignment(t, ENTRY_INTERRUPT, INT_VECTORED,
			   irq == VMM_IRQ_SCI ? INT_LEVEL_HIGH : INT_AS_BUS, BUS_ISA, irq,
			   t->ioapic, irq == IRQ_TIMER ? TIMER_PIN : irq);
	}
	for (slot = 0; slot < SLOTS; slot++)
		for (pin = 0; pin < PINS; pin++)
			assignment(t, ENTRY_INTERRUPT, INT_VECTORED, INT_LEVEL_HIGH, BUS_PCI,
				   slot << 2 | pin, t->ioapic, vmm_pci_intx_gsi(slot, pin + 1));
	assignment(t, ENTRY_LOCAL, INT_EXTINT, INT_AS_BUS, BUS_ISA, 0, ALL_LAPICS, 0);
	assignment(t, ENTRY_LOCAL, INT_NMI, INT_AS_BUS, BUS_ISA, 0, ALL_LAPICS, 1);
}

static void floating_pointer(struct vmm_bytes *b)
{
	vmm_bytes_put(b, "_MP_", 4);
	vmm_bytes_le(b, VMM_MPTABLE + FLOATING_SIZE, 4);
	vmm_bytes_le(b, FLOATING_SIZE / 16, 1);
	vmm_bytes_le(b, SPEC_REVISION, 1);
	vmm_bytes_le(b, 0, 1); /* checksum */
	/* No default configuration, and virtual wire mode rather than PIC mode. */
	vmm_bytes_zero(b, 5);
	vmm_bytes_checksum(b, 10, 0, FLOATING_SIZE);
}

static void header(struct vmm_bytes *b)
{
	vmm_bytes_put(b, "PCMP", 4);
	vmm_bytes_le(b, 0, 2); /* length */
	vmm_bytes_le(b, SPEC_REVISION, 1);
	vmm_bytes_le(b, 0, 1); /* checksum */
	vmm_bytes_put(b, "BLUEPASS", 8);
	vmm_bytes_put(b, "VM          ", 12);
	vmm_bytes_zero(b, 6); /* OEM table */
	vmm_bytes_le(b, 0, 2); /* entry count */
	vmm_bytes_le(b, VMM_LAPIC_BASE, 4);
	vmm_bytes_zero(b, 4); /* no extended entries */
}

int vmm_mptable_build(const struct vmm_platform *platform, struct vmm_blob *out)
{
	struct mptable t = { 0 };
	const size_t start = FLOATING_SIZE;
	unsigned int i;

	if (!platform->cpus || platform->cpus > VMM_VCPUS_MAX)
		return -EINVAL;
	/* APIC IDs are unique across CPUs and I/O APICs (3.6.6). */
	t.ioapic = platform->cpus;
	floating_pointer(&t.b);
	header(&t.b);
	/* Entries go in the order of their types (4.3). */
	for (i = 0; i < platform->cpus; i++)
		cpu(&t, i);
	bus(&t, BUS_PCI, "PCI   ");
	bus(&t, BUS_ISA, "ISA   ");
	io_apic(&t);
	interrupts(&t);
	vmm_bytes_set_le(&t.b, start + HEADER_LENGTH, t.b.len - start, 2);
	vmm_bytes_set_le(&t.b, start + HEADER_COUNT, t.entries, 2);
	vmm_bytes_checksum(&t.b, start + HEADER_CHECKSUM, start, t.b.len - start);
	if (!t.b.error && t.b.len > ROOM)
		t.b.error = -ENOSPC;
	if (t.b.error) {
		int ret = t.b.error;

		vmm_bytes_free(&t.b);
		return ret;
	}
	*out = (struct vmm_blob){ VMM_MPTABLE, t.b.len, t.b.data };
	return 0;
}
