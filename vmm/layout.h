/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where things are in the guest's physical address space and on its I/O ports.
 * One place, because ACPI and MP tables, the devices, and the memory-type state
 * must all tell the guest the same.
 */
#ifndef VMM_LAYOUT_H
#define VMM_LAYOUT_H

/* RAM below 4 GiB ends here at the latest; the 32-bit PCI hole starts here. */
#define VMM_LOW_RAM_END	  0xc0000000ull
#define VMM_MMIO32_BASE	  0xc0000000ull /* window for 32-bit BARs */
#define VMM_MMIO32_END	  0xe0000000ull /* first byte after it */
#define VMM_ECAM_BASE	  0xe0000000ull /* room for buses 0 to 255; only bus 0 exists, and MCFG says so */
#define VMM_ECAM_SIZE	  0x10000000ull
#define VMM_IOAPIC_BASE	  0xfec00000ull
#define VMM_LAPIC_BASE	  0xfee00000ull
#define VMM_IDENTITY_MAP  0xfffbc000ull /* one page, VMX real mode */
#define VMM_TSS		  0xfffbd000ull /* three pages, VMX real mode */
#define VMM_HIGH_RAM_BASE 0x100000000ull

/*
 * AMD's HyperTransport range: the IOMMU refuses DMA there, and the kernel
 * reserves it in every group (drivers/iommu/amd, HT_RANGE_START/END).
 */
#define VMM_HT_HOLE_START 0xfd00000000ull
#define VMM_HT_HOLE_END	  0x10000000000ull

/* Real-mode memory, as a BIOS would have used it. */
#define VMM_EBDA      0x9fc00ull /* extended BIOS data area: RSDP and MP pointer may be here */
#define VMM_EBDA_SIZE 0x400ull
#define VMM_MPTABLE   0xf0000ull /* MP floating pointer and table, below the RSDP */
#define VMM_RSDP      0xf4000ull /* in the range that is scanned, 16-byte aligned */
#define VMM_ACPI      0xf4100ull /* the other ACPI tables, up to 1 MiB */
#define VMM_ACPI_END  0x100000ull

/* I/O ports. */
#define VMM_PORT_RTC	  0x70
#define VMM_PORT_I8042	  0x60 /* data; command and status at 0x64 */
#define VMM_PORT_COM1	  0x3f8
#define VMM_PORT_PM1_EVT  0x600 /* status 16 bits, enable 16 bits */
#define VMM_PORT_PM1_CNT  0x604 /* 16 bits */
#define VMM_PORT_PM_TMR	  0x608 /* 32 bits, 3.579545 MHz */
#define VMM_PORT_GPE0	  0x60c /* status 16 bits, enable 16 bits */
#define VMM_PORT_EJECT	  0x610 /* PCI ejection: read pending slots (32 bits), write slot bit */
#define VMM_PORT_RESET	  0xcf9 /* reset control register, inside configuration mechanism 1 */
#define VMM_PORT_PCI_ADDR 0xcf8
#define VMM_PORT_PCI_DATA 0xcfc
#define VMM_PIO_PCI_BASE  0xc000 /* window for I/O BARs */
#define VMM_PIO_PCI_END	  0x10000

/* Interrupts: ISA lines go to the PICs and the I/O APIC under the same number. */
#define VMM_IRQ_COM1	4
#define VMM_IRQ_RTC	8
#define VMM_IRQ_SCI	9
#define VMM_IOAPIC_PINS 24

#endif
