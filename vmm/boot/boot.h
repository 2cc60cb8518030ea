/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loading a Linux bzImage (Documentation/arch/x86/boot.rst): reads and checks the
 * image, places kernel, initrd, command line and zero page, says how to enter it.
 */
#ifndef VMM_BOOT_H
#define VMM_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bp/error.h>
#include "vmm/acpi/acpi.h"
#include "vmm/ram.h"

struct vmm_image;

/**
 * vmm_image_open() - read a kernel and check its header.
 * @path: bzImage.
 * @out: receives the image.
 * @err: says what is wrong with the file: not a kernel, boot protocol too old (before
 *       2.06), a zImage, cut off, an ELF vmlinux where a bzImage is wanted.
 *
 * Return: 0, -ENOEXEC for a file that is no usable kernel, or a negative errno.
 */
int vmm_image_open(const char *path, struct vmm_image **out, struct bp_error *err);

/** vmm_image_free() - close it. @image: NULL is allowed. */
void vmm_image_free(struct vmm_image *image);

/**
 * struct vmm_entry - how the first CPU starts.
 * @rip: guest physical address.
 * @zero_page: guest physical address of the boot parameters, for RSI.
 * @long_mode: 64-bit entry point with identity page tables at @page_tables; otherwise
 *             32-bit protected mode without paging.
 * @gdt: guest physical address of the GDT that the boot protocol asks for.
 * @page_tables: guest physical address of the top-level table.
 */
struct vmm_entry {
	uint64_t rip;
	uint64_t zero_page;
	bool long_mode;
	uint64_t gdt;
	uint64_t page_tables;
};

/**
 * struct vmm_e820 - one line of the memory map: @type 1 RAM, 2 reserved.
 */
struct vmm_e820 {
	uint64_t base;
	uint64_t size;
	uint32_t type;
};

#define VMM_E820_MAX 16

/**
 * vmm_e820_build() - the memory map of a layout.
 * @layout: RAM and windows.
 * @map: receives at most VMM_E820_MAX sorted, disjoint entries: RAM without the EBDA and
 *       the BIOS area, ECAM and the APIC pages reserved.
 *
 * Return: number of entries.
 */
unsigned int vmm_e820_build(const struct vmm_ram_layout *layout, struct vmm_e820 *map);

/**
 * vmm_boot_check() - whether a start can succeed, before there is a machine.
 * @image: kernel.
 * @initrd: path, or NULL.
 * @cmdline: kernel command line.
 * @low_end: end of RAM below 4 GiB.
 * @err: as for vmm_boot_load().
 *
 * Return: 0, or a negative errno.
 */
int vmm_boot_check(const struct vmm_image *image, const char *initrd, const char *cmdline,
		   uint64_t low_end, struct bp_error *err);

/**
 * vmm_boot_load() - fill guest memory for a start (or a restart).
 * @ram: guest memory.
 * @image: kernel.
 * @initrd: path, or NULL.
 * @cmdline: kernel command line.
 * @platform: for the firmware tables, which are placed as well.
 * @entry: receives how to enter.
 * @err: says what does not fit: kernel, initrd (and its limit), command line.
 *
 * The initrd goes as high as the header's initrd_addr_max and RAM allow. The 64-bit
 * entry is taken when the kernel offers it (xloadflags, protocol 2.12).
 *
 * Return: 0, or a negative errno.
 */
int vmm_boot_load(struct vmm_ram *ram, const struct vmm_image *image, const char *initrd,
		  const char *cmdline, const struct vmm_platform *platform, struct vmm_entry *entry,
		  struct bp_error *err);

#endif
