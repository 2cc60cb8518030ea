// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fixed tables, ACPI 4.0 (FADT revision 4): new enough for reset register and 64-bit
 * fields, old enough for the kernels of RHEL 6. ACPI 6.4, chapter 5 has the layouts.
 */
#include <errno.h>
#include <string.h>

#include "vmm/acpi/acpi.h"
#include "vmm/acpi/bytes.h"
#include "vmm/acpi/dsdt.h"
#include "vmm/layout.h"
#include "vmm/machine.h"

#define OEM_ID		"BLPASS"
#define OEM_TABLE_ID	"BLUEPASS"
#define CREATOR_ID	"BLUE"

#define HEADER_LENGTH	4 /* offset of the table's length */
#define HEADER_CHECKSUM 9
#define TABLE_ALIGN	16

#define FACS_SIZE	64
#define RSDP_SIZE	36
#define RSDP_V1_SIZE	20

/* FADT (5.2.9) */
#define SCI_LATENCY_NONE_C2 0xfff /* above 100 us: there is no C2 */
#define SCI_LATENCY_NONE_C3 0xfff /* above 1000 us: there is no C3 */
#define CMOS_CENTURY	    0x32
#define BOOT_LEGACY	    (1u << 0) /* devices on ISA: the serial port */
#define BOOT_8042	    (1u << 1)
#define BOOT_NO_VGA	    (1u << 2)
#define BOOT_NO_ASPM	    (1u << 4)
#define FADT_WBINVD	    (1u << 0)
#define FADT_PROC_C1	    (1u << 2)
#define FADT_NO_SLPBTN	    (1u << 5)
#define FADT_NO_RTC_WAKE    (1u << 6)
#define FADT_TMR_32BIT	    (1u << 8)
#define FADT_RESET_REG	    (1u << 10)
#define RESET_VALUE	    0x06
#define SPACE_IO	    1

/* MADT (5.2.12) */
#define MADT_PCAT      1 /* 8259s are there as well */
#define MADT_LAPIC     0
#define MADT_IOAPIC    1
#define MADT_OVERRIDE  2
#define MADT_LAPIC_NMI 4
#define LAPIC_ENABLED  1
#define INT_LEVEL_HIGH 0x0d
#define INT_AS_BUS     0x00

static size_t table_begin(struct vmm_bytes *b, const char *signature, uint8_t revision)
{
	size_t start;

	vmm_bytes_align(b, TABLE_ALIGN);
	start = b->len;
	vmm_bytes_put(b, signature, 4);
	vmm_bytes_le(b, 0, 4); /* length */
	vmm_bytes_le(b, revision, 1);
	vmm_bytes_le(b, 0, 1); /* checksum */
	vmm_bytes_put(b, OEM_ID, 6);
	vmm_bytes_put(b, OEM_TABLE_ID, 8);
	vmm_bytes_le(b, 1, 4);
	vmm_bytes_put(b, CREATOR_ID, 4);
	vmm_bytes_le(b, 1, 4);
	return start;
}

static void table_end(struct vmm_bytes *b, size_t start)
{
	vmm_bytes_set_le(b, start + HEADER_LENGTH, b->len - start, 4);
	vmm_bytes_checksum(b, start + HEADER_CHECKSUM, start, b->len - start);
}

static void facs(struct vmm_bytes *b)
{
	vmm_bytes_put(b, "FACS", 4);
	vmm_bytes_le(b, FACS_SIZE, 4);
	vmm_bytes_zero(b, 24); /* signature, waking vectors, global lock, flags */
	vmm_bytes_le(b, 2, 1); /* version */
	vmm_bytes_zero(b, FACS_SIZE - 33);
}

static int dsdt(struct vmm_bytes *b, const struct vmm_platform *platform, uint64_t *at)
{
	struct vmm_aml a = { 0 };
	size_t start;
	int ret;

	ret = vmm_dsdt_build(&a, platform);
	if (!ret) {
		/* Revision 2 and up: integers have 64 bits. */
		start = table_begin(b, "DSDT", 2);
		vmm_bytes_put(b, a.bytes.data, a.bytes.len);
		table_end(b, start);
		*at = VMM_ACPI + start;
	}
	vmm_bytes_free(&a.bytes);
	return ret;
}

/* Generic address of a port block, or an empty one; @access: 1 byte, 2 word, 3 doubleword. */
static void gas(struct vmm_bytes *b, uint16_t port, unsigned int bytes, uint8_t access)
{
	vmm_bytes_le(b, SPACE_IO, 1);
	vmm_bytes_le(b, 8ul * bytes, 1);
	vmm_bytes_le(b, 0, 1);
	vmm_bytes_le(b, access, 1);
	vmm_bytes_le(b, port, 8);
}

static void no_gas(struct vmm_bytes *b)
{
	vmm_bytes_zero(b, 12);
}

static uint64_t fadt(struct vmm_bytes *b, uint64_t facs_at, uint64_t dsdt_at)
{
	size_t start = table_begin(b, "FACP", 4);

	vmm_bytes_le(b, facs_at, 4);
	vmm_bytes_le(b, dsdt_at, 4);
	vmm_bytes_le(b, 0, 1);
	vmm_bytes_le(b, 0, 1); /* preferred profile: not said */
	vmm_bytes_le(b, VMM_IRQ_SCI, 2);
	/* No SMI command port: the machine is in ACPI mode from the start. */
	vmm_bytes_zero(b, 8);
	vmm_bytes_le(b, VMM_PORT_PM1_EVT, 4);
	vmm_bytes_le(b, 0, 4);
	vmm_bytes_le(b, VMM_PORT_PM1_CNT, 4);
	vmm_bytes_zero(b, 8); /* PM1b control, PM2 control */
	vmm_bytes_le(b, VMM_PORT_PM_TMR, 4);
	vmm_bytes_le(b, VMM_PORT_GPE0, 4);
	vmm_bytes_le(b, 0, 4);
	vmm_bytes_le(b, 4, 1); /* PM1 event, control, PM2, timer, GPE0: lengths */
	vmm_bytes_le(b, 2, 1);
	vmm_bytes_le(b, 0, 1);
	vmm_bytes_le(b, 4, 1);
	vmm_bytes_le(b, 4, 1);
	vmm_bytes_zero(b, 3); /* GPE1, C-state notification */
	vmm_bytes_le(b, SCI_LATENCY_NONE_C2, 2);
	vmm_bytes_le(b, SCI_LATENCY_NONE_C3, 2);
	vmm_bytes_zero(b, 8); /* cache flushing, duty cycle, RTC alarm registers */
	vmm_bytes_le(b, CMOS_CENTURY, 1);
	vmm_bytes_le(b, BOOT_LEGACY | BOOT_8042 | BOOT_NO_VGA | BOOT_NO_ASPM, 2);
	vmm_bytes_le(b, 0, 1);
	vmm_bytes_le(b,
		     FADT_WBINVD | FADT_PROC_C1 | FADT_NO_SLPBTN | FADT_NO_RTC_WAKE |
			     FADT_TMR_32BIT | FADT_RESET_REG,
		     4);
	gas(b, VMM_PORT_RESET, 1, 1);
	vmm_bytes_le(b, RESET_VALUE, 1);
	vmm_bytes_zero(b, 3);
	vmm_bytes_le(b, 0, 8); /* the FACS is below 4 GiB and named above */
	vmm_bytes_le(b, dsdt_at, 8);
	gas(b, VMM_PORT_PM1_EVT, 4, 2);
	no_gas(b);
	gas(b, VMM_PORT_PM1_CNT, 2, 2);
	no_gas(b);
	no_gas(b);
	gas(b, VMM_PORT_PM_TMR, 4, 3);
	gas(b, VMM_PORT_GPE0, 4, 1);
	no_gas(b);
	table_end(b, start);
	return VMM_ACPI + start;
}

static void override(struct vmm_bytes *b, uint8_t irq, uint32_t gsi, uint16_t flags)
{
	vmm_bytes_le(b, MADT_OVERRIDE, 1);
	vmm_bytes_le(b, 10, 1);
	vmm_bytes_le(b, 0, 1); /* ISA */
	vmm_bytes_le(b, irq, 1);
	vmm_bytes_le(b, gsi, 4);
	vmm_bytes_le(b, flags, 2);
}

static uint64_t madt(struct vmm_bytes *b, const struct vmm_platform *platform)
{
	static const uint8_t level[] = { 5, VMM_IRQ_SCI, 10, 11 };
	size_t start = table_begin(b, "APIC", 3);
	unsigned int i;

	vmm_bytes_le(b, VMM_LAPIC_BASE, 4);
	vmm_bytes_le(b, MADT_PCAT, 4);
	for (i = 0; i < platform->cpus; i++) {
		vmm_bytes_le(b, MADT_LAPIC, 1);
		vmm_bytes_le(b, 8, 1);
		vmm_bytes_le(b, i, 1); /* processor UID */
		vmm_bytes_le(b, i, 1); /* local APIC ID */
		vmm_bytes_le(b, LAPIC_ENABLED, 4);
	}
	vmm_bytes_le(b, MADT_IOAPIC, 1);
	vmm_bytes_le(b, 12, 1);
	vmm_bytes_le(b, platform->cpus, 1); /* next free ID, as in the MP table */
	vmm_bytes_le(b, 0, 1);
	vmm_bytes_le(b, VMM_IOAPIC_BASE, 4);
	vmm_bytes_le(b, 0, 4); /* first GSI */
	/* KVM wires the timer chip to pin 2, as PCs do. */
	override(b, 0, 2, INT_AS_BUS);
	for (i = 0; i < sizeof(level); i++)
		override(b, level[i], level[i], INT_LEVEL_HIGH);
	vmm_bytes_le(b, MADT_LAPIC_NMI, 1);
	vmm_bytes_le(b, 6, 1);
	vmm_bytes_le(b, 0xff, 1); /* all processors */
	vmm_bytes_le(b, INT_AS_BUS, 2);
	vmm_bytes_le(b, 1, 1); /* LINT1 */
	table_end(b, start);
	return VMM_ACPI + start;
}

/*
 * Bus 0 alone, because nothing here leads to another one. Linux looks at every slot of
 * every bus that this table promises, through the slow ports: 16384 exits for 256 buses.
 */
static uint64_t mcfg(struct vmm_bytes *b)
{
	size_t start = table_begin(b, "MCFG", 1);

	vmm_bytes_zero(b, 8);
	vmm_bytes_le(b, VMM_ECAM_BASE, 8);
	vmm_bytes_le(b, 0, 2); /* segment */
	vmm_bytes_le(b, 0, 1); /* first bus */
	vmm_bytes_le(b, 0, 1); /* last bus */
	vmm_bytes_zero(b, 4);
	table_end(b, start);
	return VMM_ACPI + start;
}

/* RSDT and XSDT are the same list with pointers of 4 and of 8 bytes. */
static uint64_t root(struct vmm_bytes *b, const char *signature, size_t width,
		     const uint64_t *table, size_t nr)
{
	size_t start = table_begin(b, signature, 1), i;

	for (i = 0; i < nr; i++)
		vmm_bytes_le(b, table[i], width);
	table_end(b, start);
	return VMM_ACPI + start;
}

static void rsdp_build(struct vmm_bytes *b, uint64_t rsdt_at, uint64_t xsdt_at)
{
	vmm_bytes_put(b, "RSD PTR ", 8);
	vmm_bytes_le(b, 0, 1); /* checksum of the first 20 bytes */
	vmm_bytes_put(b, OEM_ID, 6);
	vmm_bytes_le(b, 2, 1);
	vmm_bytes_le(b, rsdt_at, 4);
	vmm_bytes_le(b, RSDP_SIZE, 4);
	vmm_bytes_le(b, xsdt_at, 8);
	vmm_bytes_le(b, 0, 1); /* checksum of all */
	vmm_bytes_zero(b, 3);
	vmm_bytes_checksum(b, 8, 0, RSDP_V1_SIZE);
	vmm_bytes_checksum(b, 32, 0, RSDP_SIZE);
}

int vmm_acpi_build(const struct vmm_platform *platform, struct vmm_blob *rsdp,
		   struct vmm_blob *tables)
{
	struct vmm_bytes b = { 0 }, r = { 0 };
	uint64_t dsdt_at = 0, table[3], rsdt_at, xsdt_at;
	int ret;

	if (!platform->cpus || platform->cpus > VMM_VCPUS_MAX)
		return -EINVAL;
	facs(&b); /* first, because VMM_ACPI is 64-byte aligned as the FACS must be */
	ret = dsdt(&b, platform, &dsdt_at);
	if (ret)
		goto fail;
	table[0] = fadt(&b, VMM_ACPI, dsdt_at);
	table[1] = madt(&b, platform);
	table[2] = mcfg(&b);
	rsdt_at = root(&b, "RSDT", 4, table, 3);
	xsdt_at = root(&b, "XSDT", 8, table, 3);
	rsdp_build(&r, rsdt_at, xsdt_at);
	ret = b.error ? b.error : r.error;
	if (!ret && b.len > VMM_ACPI_END - VMM_ACPI)
		ret = -ENOSPC;
	if (ret)
		goto fail;
	*rsdp = (struct vmm_blob){ VMM_RSDP, r.len, r.data };
	*tables = (struct vmm_blob){ VMM_ACPI, b.len, b.data };
	return 0;
fail:
	vmm_bytes_free(&b);
	vmm_bytes_free(&r);
	return ret;
}
