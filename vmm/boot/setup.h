/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pure half of booting: from the bytes of a bzImage's header to addresses and to
 * the zero page. Nothing here reads a file or touches guest memory.
 * Source of all rules: Documentation/arch/x86/boot.rst.
 */
#ifndef VMM_SETUP_H
#define VMM_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bp/error.h>
#include "vmm/boot/boot.h"

#define VMM_SETUP_FIRST 0x1f1u /* offset of the setup header, in the file and in the zero page */
#define VMM_SETUP_END	0x290u /* the zero page has other things from here on */
#define VMM_PARAMS_SIZE 4096u

/* Where the boot code puts its own things; all in the first 640 KiB. */
#define VMM_BOOT_ZERO_PAGE	  0x10000ull
#define VMM_BOOT_GDT		  0x11000ull
#define VMM_BOOT_PAGE_TABLES	  0x12000ull /* six pages */
#define VMM_BOOT_CMDLINE	  0x20000ull
#define VMM_BOOT_CMDLINE_MAX	  0x10000ull /* bytes with the NUL */

#define VMM_BOOT_PAGE_TABLES_SIZE 24576ul
#define VMM_BOOT_GDT_SIZE	  32u

/**
 * struct vmm_setup - what the header of a bzImage says.
 * @version: boot protocol, 0x020f for 2.15.
 * @setup_size: bytes of the real-mode part, which the kernel proper follows.
 * @payload_size: bytes of the kernel proper.
 * @relocatable: it runs wherever it is loaded, at @alignment.
 * @alignment: of the address it runs at.
 * @initrd_max: last byte that an initrd may use.
 * @cmdline_max: characters of a command line, without the NUL.
 * @entry64: it has the 64-bit entry point.
 * @pref_address: where it likes to run, 0 before protocol 2.10.
 * @init_size: memory it needs from there on before it looks at the memory map; 0 before 2.10.
 * @header: bytes VMM_SETUP_FIRST up to at most VMM_SETUP_END of the file.
 * @header_len: how many of them belong to the header.
 */
struct vmm_setup {
	uint16_t version;
	uint64_t setup_size;
	uint64_t payload_size;
	bool relocatable;
	uint32_t alignment;
	uint64_t initrd_max;
	uint32_t cmdline_max;
	bool entry64;
	uint64_t pref_address;
	uint64_t init_size;
	uint8_t header[VMM_SETUP_END - VMM_SETUP_FIRST];
	unsigned int header_len;
};

/**
 * vmm_setup_parse() - check and read a header.
 * @file: first bytes of the file.
 * @len: how many there are; 4096 are enough.
 * @file_size: size of the whole file.
 * @out: receives what it says.
 * @err: says what is wrong.
 *
 * Return: 0, or -ENOEXEC.
 */
int vmm_setup_parse(const uint8_t *file, size_t len, uint64_t file_size, struct vmm_setup *out,
		    struct bp_error *err);

/**
 * struct vmm_placement - where kernel and initrd go.
 * @load: start of the kernel proper.
 * @end: first byte after what it uses until it knows the memory map.
 * @initrd: start of the initrd, 0 without one.
 */
struct vmm_placement {
	uint64_t load;
	uint64_t end;
	uint64_t initrd;
};

/**
 * vmm_setup_place() - find room.
 * @setup: header.
 * @low_end: end of RAM below 4 GiB.
 * @initrd_size: bytes, 0 for none.
 * @out: receives the addresses.
 * @err: says what does not fit, and its limit.
 *
 * Return: 0, or -EFBIG.
 */
int vmm_setup_place(const struct vmm_setup *setup, uint64_t low_end, uint64_t initrd_size,
		    struct vmm_placement *out, struct bp_error *err);

/**
 * vmm_setup_params() - fill the zero page.
 * @setup: header.
 * @where: addresses.
 * @initrd_size: bytes, 0 for none.
 * @map: memory map.
 * @nr_map: its lines, at most VMM_E820_MAX.
 * @params: receives VMM_PARAMS_SIZE bytes.
 *
 * The command line is at VMM_BOOT_CMDLINE and the RSDP at VMM_RSDP, which kernels of
 * protocol 2.14 on are told.
 */
void vmm_setup_params(const struct vmm_setup *setup, const struct vmm_placement *where,
		      uint64_t initrd_size, const struct vmm_e820 *map, unsigned int nr_map,
		      uint8_t *params);

/**
 * vmm_setup_gdt() - the descriptors __BOOT_CS (0x10) and __BOOT_DS (0x18).
 * @long_mode: the code segment is a 64-bit one.
 * @gdt: receives VMM_BOOT_GDT_SIZE bytes.
 */
void vmm_setup_gdt(bool long_mode, uint8_t *gdt);

/**
 * vmm_setup_page_tables() - map the first 4 GiB to themselves in pages of 2 MiB.
 * @base: guest physical address of the tables.
 * @tables: receives VMM_BOOT_PAGE_TABLES_SIZE bytes; the top level comes first.
 */
void vmm_setup_page_tables(uint64_t base, uint8_t *tables);

#endif
