// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "vmm/boot/setup.h"
#include "vmm/layout.h"

/* Offsets in the file, and in the zero page from VMM_SETUP_FIRST on. */
#define HDR_SETUP_SECTS	     0x1f1
#define HDR_SYSSIZE	     0x1f4
#define HDR_VID_MODE	     0x1fa
#define HDR_BOOT_FLAG	     0x1fe
#define HDR_JUMP_LEN	     0x201
#define HDR_MAGIC	     0x202
#define HDR_VERSION	     0x206
#define HDR_TYPE_OF_LOADER   0x210
#define HDR_LOADFLAGS	     0x211
#define HDR_CODE32_START     0x214
#define HDR_RAMDISK_IMAGE    0x218
#define HDR_RAMDISK_SIZE     0x21c
#define HDR_CMD_LINE_PTR     0x228
#define HDR_INITRD_ADDR_MAX  0x22c
#define HDR_KERNEL_ALIGNMENT 0x230
#define HDR_RELOCATABLE	     0x234
#define HDR_XLOADFLAGS	     0x236
#define HDR_CMDLINE_SIZE     0x238
#define HDR_SETUP_DATA	     0x250
#define HDR_PREF_ADDRESS     0x258
#define HDR_INIT_SIZE	     0x260
#define HDR_LEAST	     0x23c /* a header of protocol 2.06 ends here */

/* Offsets in the zero page only (struct boot_params). */
#define PARAMS_ACPI_RSDP    0x070
#define PARAMS_E820_ENTRIES 0x1e8
#define PARAMS_E820_TABLE   0x2d0
#define E820_LINE	    20ul

#define LOADED_HIGH	    0x01
#define XLF_KERNEL_64	    0x01
#define LOADER_UNKNOWN	    0xff
#define VID_MODE_NORMAL	    0xffff
#define HIGH_LOAD	    0x100000ull /* where a bzImage goes unless it is relocatable */
#define INITRD_MAX_OLD	    0x37ffffffull

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, (uint16_t)v);
	put16(p + 2, (uint16_t)(v >> 16));
}

static void put64(uint8_t *p, uint64_t v)
{
	put32(p, (uint32_t)v);
	put32(p + 4, (uint32_t)(v >> 32));
}

static const char want[] = "give a bzImage, as /boot/vmlinuz-* is";

static int identify(const uint8_t *file, size_t len, struct bp_error *err)
{
	if (len >= 4 && !memcmp(file, "\177ELF", 4))
		return bp_error_set(err, -ENOEXEC, "give the bzImage that was made from it",
				    "this is an ELF file (a vmlinux?), not a bzImage");
	if (len < HDR_LEAST || get16(file + HDR_BOOT_FLAG) != 0xaa55 ||
	    memcmp(file + HDR_MAGIC, "HdrS", 4) != 0)
		return bp_error_set(err, -ENOEXEC, want, "this is not a Linux kernel image");
	if (get16(file + HDR_VERSION) < 0x0206)
		return bp_error_set(err, -ENOEXEC, "use Linux 2.6.22 or later",
				    "the kernel's boot protocol is %u.%02u, older than 2.06",
				    file[HDR_VERSION + 1], file[HDR_VERSION]);
	if (!(file[HDR_LOADFLAGS] & LOADED_HIGH))
		return bp_error_set(err, -ENOEXEC, want,
				    "this kernel is a zImage, which loads below 1 MiB");
	return 0;
}

int vmm_setup_parse(const uint8_t *file, size_t len, uint64_t file_size, struct vmm_setup *out,
		    struct bp_error *err)
{
	uint64_t sects, end, size;
	int ret = identify(file, len, err);

	memset(out, 0, sizeof(*out));
	if (ret)
		return ret;
	out->version = get16(file + HDR_VERSION);

	/* 0 means 4, for historical reasons. */
	sects = file[HDR_SETUP_SECTS] ? file[HDR_SETUP_SECTS] : 4;
	out->setup_size = (sects + 1) * 512;
	/* In paragraphs; what follows, as a signature, is not the kernel's. */
	size = (uint64_t)get32(file + HDR_SYSSIZE) * 16;
	if (file_size <= out->setup_size || size > file_size - out->setup_size)
		return bp_error_set(err, -ENOEXEC, "copy it again",
				    "the kernel image is cut off: it has %llu bytes and its header "
				    "speaks of %llu",
				    (unsigned long long)file_size,
				    (unsigned long long)out->setup_size + size);
	out->payload_size = size ? size : file_size - out->setup_size;

	/* The jump over the header tells where the header ends. */
	end = HDR_MAGIC + (uint64_t)file[HDR_JUMP_LEN];
	if (end > VMM_SETUP_END)
		end = VMM_SETUP_END;
	if (end < HDR_LEAST || end > len)
		return bp_error_set(err, -ENOEXEC, want,
				    "the kernel's setup header has no sane length");
	out->header_len = (unsigned int)(end - VMM_SETUP_FIRST);
	memcpy(out->header, file + VMM_SETUP_FIRST, out->header_len);

	out->alignment = get32(file + HDR_KERNEL_ALIGNMENT);
	out->relocatable = file[HDR_RELOCATABLE];
	if (out->relocatable && (!out->alignment || out->alignment & (out->alignment - 1)))
		return bp_error_set(
			err, -ENOEXEC, want,
			"the kernel asks for an alignment of %#x, which is no power of two",
			out->alignment);
	out->initrd_max = get32(file + HDR_INITRD_ADDR_MAX);
	if (!out->initrd_max)
		out->initrd_max = INITRD_MAX_OLD;
	out->cmdline_max = get32(file + HDR_CMDLINE_SIZE);
	if (!out->cmdline_max || out->cmdline_max > VMM_BOOT_CMDLINE_MAX - 1)
		out->cmdline_max = out->cmdline_max ? VMM_BOOT_CMDLINE_MAX - 1 : 255;
	if (out->version >= 0x020a && end >= HDR_INIT_SIZE + 4) {
		out->pref_address = get64(file + HDR_PREF_ADDRESS);
		out->init_size = get32(file + HDR_INIT_SIZE);
	}
	if (out->version >= 0x020c)
		out->entry64 = get16(file + HDR_XLOADFLAGS) & XLF_KERNEL_64;
	return 0;
}

static uint64_t align_up(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

/* Whether [@start, @start + @size) is RAM above the first MiB. */
static bool in_ram(uint64_t start, uint64_t size, uint64_t low_end)
{
	return start >= HIGH_LOAD && start < low_end && size <= low_end - start;
}

static int place_kernel(const struct vmm_setup *s, uint64_t low_end, struct vmm_placement *out,
			struct bp_error *err)
{
	uint64_t need = s->init_size > s->payload_size ? s->init_size : s->payload_size;
	uint64_t run;

	out->load = HIGH_LOAD;
	if (s->relocatable) {
		if (s->pref_address && s->pref_address % s->alignment == 0 &&
		    in_ram(s->pref_address, need, low_end))
			out->load = s->pref_address;
		else
			out->load = align_up(HIGH_LOAD, s->alignment);
	}
	/* One that is not relocatable moves itself to its preferred address. */
	run = !s->relocatable && s->pref_address ? s->pref_address : out->load;
	if (!in_ram(out->load, s->payload_size, low_end) || !in_ram(run, need, low_end))
		return bp_error_set(err, -EFBIG, "give the guest more memory",
				    "the kernel needs %llu MiB from %#llx on, and the guest's "
				    "memory ends at %#llx",
				    (unsigned long long)(need >> 20) + 1, (unsigned long long)run,
				    (unsigned long long)low_end);
	out->end = out->load + s->payload_size;
	if (run + need > out->end)
		out->end = run + need;
	return 0;
}

int vmm_setup_place(const struct vmm_setup *setup, uint64_t low_end, uint64_t initrd_size,
		    struct vmm_placement *out, struct bp_error *err)
{
	uint64_t top = low_end;
	int ret;

	memset(out, 0, sizeof(*out));
	ret = place_kernel(setup, low_end, out, err);
	if (ret || !initrd_size)
		return ret;
	if (top > setup->initrd_max + 1)
		top = setup->initrd_max + 1;
	top &= ~4095ull;
	if (top <= out->end || initrd_size > top - out->end ||
	    ((top - initrd_size) & ~4095ull) < out->end)
		return bp_error_set(
			err, -EFBIG,
			top < low_end ? "make the initrd smaller"
				      : "give the guest more memory or make the initrd smaller",
			"the initrd has %llu KiB and only %llu KiB are free between the kernel's "
			"end at %#llx and %#llx",
			(unsigned long long)(initrd_size + 1023) / 1024,
			(unsigned long long)(top > out->end ? top - out->end : 0) / 1024,
			(unsigned long long)out->end, (unsigned long long)top);
	out->initrd = (top - initrd_size) & ~4095ull;
	return 0;
}

void vmm_setup_params(const struct vmm_setup *setup, const struct vmm_placement *where,
		      uint64_t initrd_size, const struct vmm_e820 *map, unsigned int nr_map,
		      uint8_t *params)
{
	/* What is not the header must be 0, or the kernel takes it for rubbish and clears more. */
	memset(params, 0, VMM_PARAMS_SIZE);
	memcpy(params + VMM_SETUP_FIRST, setup->header, setup->header_len);
	params[HDR_TYPE_OF_LOADER] = LOADER_UNKNOWN;
	put16(params + HDR_VID_MODE, VID_MODE_NORMAL);
	put32(params + HDR_CODE32_START, (uint32_t)where->load);
	put32(params + HDR_RAMDISK_IMAGE, initrd_size ? (uint32_t)where->initrd : 0);
	put32(params + HDR_RAMDISK_SIZE, (uint32_t)initrd_size);
	put32(params + HDR_CMD_LINE_PTR, (uint32_t)VMM_BOOT_CMDLINE);
	/* A list of the file's making would be followed by the kernel. */
	if (setup->version >= 0x0209)
		put64(params + HDR_SETUP_DATA, 0);
	if (setup->version >= 0x020e)
		put64(params + PARAMS_ACPI_RSDP, VMM_RSDP);
	if (nr_map > VMM_E820_MAX)
		nr_map = VMM_E820_MAX;
	params[PARAMS_E820_ENTRIES] = (uint8_t)nr_map;
	for (unsigned int i = 0; i < nr_map; i++) {
		uint8_t *line = params + PARAMS_E820_TABLE + i * E820_LINE;

		put64(line, map[i].base);
		put64(line + 8, map[i].size);
		put32(line + 16, map[i].type);
	}
}

void vmm_setup_gdt(bool long_mode, uint8_t *gdt)
{
	/* Base 0, limit 4 GiB; present, ring 0, code or data, accessed. */
	memset(gdt, 0, VMM_BOOT_GDT_SIZE);
	put64(gdt + 0x10, long_mode ? 0x00af9b000000ffffull : 0x00cf9b000000ffffull);
	put64(gdt + 0x18, 0x00cf93000000ffffull);
}

void vmm_setup_page_tables(uint64_t base, uint8_t *tables)
{
	const uint64_t present_write = 0x3, large = 0x80;

	memset(tables, 0, VMM_BOOT_PAGE_TABLES_SIZE);
	put64(tables, (base + 4096) | present_write);
	for (uint64_t gib = 0; gib < 4; gib++) {
		uint8_t *directory = tables + (2 + gib) * 4096;

		put64(tables + 4096 + gib * 8, (base + (2 + gib) * 4096) | present_write);
		for (uint64_t i = 0; i < 512; i++)
			put64(directory + i * 8, gib << 30 | i << 21 | large | present_write);
	}
}
