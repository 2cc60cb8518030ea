/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The firmware tables that tell the guest what it has: ACPI (RSDP, RSDT, XSDT, FADT,
 * FACS, MADT, MCFG, DSDT) and the older MP table. Pure functions from a description
 * to bytes; placing them in guest memory is the boot code's business.
 */
#ifndef VMM_ACPI_H
#define VMM_ACPI_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct vmm_platform - what the tables describe.
 * @cpus: number of CPUs; local APIC IDs are 0 to @cpus - 1.
 * @mmio64_base: 64-bit window; equal to @mmio64_end when there is none.
 * @mmio64_end: first byte after it.
 */
struct vmm_platform {
	unsigned int cpus;
	uint64_t mmio64_base;
	uint64_t mmio64_end;
};

/** struct vmm_blob - @size bytes that belong at guest physical address @gpa. */
struct vmm_blob {
	uint64_t gpa;
	size_t size;
	uint8_t *data;
};

/**
 * vmm_acpi_build() - all ACPI tables.
 * @platform: description.
 * @rsdp: receives the root pointer, for VMM_RSDP.
 * @tables: receives the rest as one piece, for VMM_ACPI; the FACS is 64-byte aligned in it.
 *
 * Return: 0, -EINVAL for an impossible description, -ENOSPC when they do not fit below
 * VMM_ACPI_END, -ENOMEM. The caller frees the data.
 */
int vmm_acpi_build(const struct vmm_platform *platform, struct vmm_blob *rsdp,
		   struct vmm_blob *tables);

/**
 * vmm_mptable_build() - MP floating pointer and configuration table (Intel MP 1.4).
 * @platform: description; only @cpus matters.
 * @out: receives both as one piece, for VMM_MPTABLE.
 *
 * Lists CPUs, ISA and PCI buses, the I/O APIC, every ISA source and every pin of every
 * PCI slot with the line that vmm_pci_intx_gsi() wires it to.
 *
 * Return: 0, or as vmm_acpi_build().
 */
int vmm_mptable_build(const struct vmm_platform *platform, struct vmm_blob *out);

#endif
