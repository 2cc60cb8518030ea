// SPDX-License-Identifier: GPL-2.0-only
/* Boot parameters, byte by byte, from synthetic images and from a real one where there is one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"
#include "vmm/boot/setup.h"
#include "vmm/layout.h"

#define MIB 0x100000ull

static uint8_t file[4096];
static uint64_t file_size;
static struct vmm_setup setup;
static struct vmm_placement where;
static struct bp_error err;

static void put(unsigned int off, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		file[off + i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get(const uint8_t *p, unsigned int off, unsigned int bytes)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++)
		v |= (uint64_t)p[off + i] << (8 * i);
	return v;
}

/* A header of protocol 2.06 as a kernel of 2007 has it: not relocatable, 8 MiB. */
static void old_kernel(void)
{
	memset(file, 0, sizeof(file));
	put(0x1f1, 7, 1);
	put(0x1f4, 8 * MIB / 16, 4);
	put(0x1fe, 0xaa55, 2);
	put(0x200, 0x3aeb, 2);
	memcpy(file + 0x202, "HdrS", 4);
	put(0x206, 0x0206, 2);
	put(0x211, 1, 1);
	put(0x214, 0x100000, 4);
	put(0x22c, 0x37ffffff, 4);
	put(0x230, 0x400000, 4);
	put(0x238, 255, 4);
	/* What is not this header's must not be taken for it. */
	put(0x236, 0xffff, 2);
	put(0x258, 0xffffffffffffffff, 8);
	put(0x260, 0xffffffff, 4);
	file_size = 8 * 512 + 8 * MIB;
	bp_error_clear(&err);
}

/* One of protocol 2.15, relocatable, with both entry points. */
static void new_kernel(void)
{
	old_kernel();
	put(0x200, 0x6aeb, 2);
	put(0x206, 0x020f, 2);
	put(0x22c, 0x7fffffff, 4);
	put(0x230, 0x200000, 4);
	put(0x234, 1, 1);
	put(0x236, 0x3f, 2);
	put(0x238, 2047, 4);
	put(0x258, 16 * MIB, 8);
	put(0x260, 64 * MIB, 4);
}

static int parse(void)
{
	bp_error_clear(&err);
	return vmm_setup_parse(file, sizeof(file), file_size, &setup, &err);
}

static int place(uint64_t low_end, uint64_t initrd)
{
	bp_error_clear(&err);
	return vmm_setup_place(&setup, low_end, initrd, &where, &err);
}

START_TEST(old_header)
{
	old_kernel();
	ck_assert_int_eq(parse(), 0);
	ck_assert_uint_eq(setup.version, 0x206);
	ck_assert_uint_eq(setup.setup_size, 4096);
	ck_assert_uint_eq(setup.payload_size, 8 * MIB);
	ck_assert(!setup.relocatable);
	ck_assert(!setup.entry64);
	ck_assert_uint_eq(setup.pref_address, 0);
	ck_assert_uint_eq(setup.init_size, 0);
	ck_assert_uint_eq(setup.cmdline_max, 255);
	ck_assert_uint_eq(setup.header_len, 0x23c - 0x1f1);
	ck_assert_int_eq(place(64 * MIB, 0), 0);
	ck_assert_uint_eq(where.load, MIB);
}
END_TEST

START_TEST(new_header)
{
	new_kernel();
	ck_assert_int_eq(parse(), 0);
	ck_assert(setup.entry64);
	ck_assert(setup.relocatable);
	ck_assert_uint_eq(setup.initrd_max, 0x7fffffff);
	ck_assert_int_eq(place(128 * MIB, 0), 0);
	ck_assert_uint_eq(where.load, 16 * MIB);
	ck_assert_uint_eq(where.end, 80 * MIB);
	/* A 32-bit kernel of today: all but XLF_KERNEL_64. */
	put(0x236, 0x3e, 2);
	ck_assert_int_eq(parse(), 0);
	ck_assert(!setup.entry64);
}
END_TEST

START_TEST(setup_sects_zero_means_four)
{
	old_kernel();
	put(0x1f1, 0, 1);
	ck_assert_int_eq(parse(), 0);
	ck_assert_uint_eq(setup.setup_size, 5 * 512);
}
END_TEST

START_TEST(relocatable_moves_when_it_must)
{
	new_kernel();
	/* 64 MiB from 16 MiB on do not fit into 72; from the first aligned address they do. */
	ck_assert_int_eq(parse(), 0);
	ck_assert_int_eq(place(72 * MIB, 0), 0);
	ck_assert_uint_eq(where.load, 2 * MIB);
	ck_assert_uint_eq(where.end, 66 * MIB);
	ck_assert_int_eq(place(65 * MIB, 0), -EFBIG);
	ck_assert_ptr_nonnull(strstr(err.what, "needs 65 MiB"));
	/* A preferred address that is not aligned is none. */
	put(0x258, 16 * MIB + 4096, 8);
	ck_assert_int_eq(parse(), 0);
	ck_assert_int_eq(place(256 * MIB, 0), 0);
	ck_assert_uint_eq(where.load, 2 * MIB);
}
END_TEST

START_TEST(not_relocatable_runs_elsewhere)
{
	new_kernel();
	put(0x234, 0, 1);
	ck_assert_int_eq(parse(), 0);
	ck_assert_int_eq(place(128 * MIB, 0), 0);
	ck_assert_uint_eq(where.load, MIB);
	ck_assert_uint_eq(where.end, 80 * MIB);
	ck_assert_int_eq(place(79 * MIB, 0), -EFBIG);
}
END_TEST

START_TEST(initrd_goes_to_the_top)
{
	new_kernel();
	ck_assert_int_eq(parse(), 0);
	ck_assert_int_eq(place(320 * MIB, 3 * MIB + 1), 0);
	ck_assert_uint_eq(where.initrd, 317 * MIB - 4096);
	/* Above initrd_addr_max there may be RAM that the kernel cannot use. */
	ck_assert_int_eq(place(3072 * MIB, 4 * MIB), 0);
	ck_assert_uint_eq(where.initrd, 2048 * MIB - 4 * MIB);
	old_kernel();
	ck_assert_int_eq(parse(), 0);
	ck_assert_int_eq(place(3072 * MIB, 4096), 0);
	ck_assert_uint_eq(where.initrd, 0x37fff000);
}
END_TEST

START_TEST(initrd_too_big)
{
	new_kernel();
	ck_assert_int_eq(parse(), 0);
	/* The kernel's end is at 80 MiB. */
	ck_assert_int_eq(place(128 * MIB, 48 * MIB), 0);
	ck_assert_uint_eq(where.initrd, 80 * MIB);
	ck_assert_int_eq(place(128 * MIB, 48 * MIB + 1), -EFBIG);
	ck_assert_ptr_nonnull(strstr(err.what, "49152 KiB are free"));
	ck_assert_ptr_nonnull(strstr(err.fix, "more memory"));
	ck_assert_int_eq(place(3072 * MIB, 2000 * MIB), -EFBIG);
	ck_assert_ptr_null(strstr(err.fix, "more memory"));
	ck_assert_int_eq(place(128 * MIB, UINT64_MAX), -EFBIG);
	/* A kernel that ends inside a page: the initrd starts at the next one. */
	old_kernel();
	put(0x1f4, 8 * MIB / 16 + 1, 4);
	file_size += 16;
	ck_assert_int_eq(parse(), 0);
	ck_assert_int_eq(place(16 * MIB, 7 * MIB - 4096), 0);
	ck_assert_uint_eq(where.initrd, 9 * MIB + 4096);
	ck_assert_int_eq(place(16 * MIB, 7 * MIB - 16), -EFBIG);
}
END_TEST

START_TEST(params_byte_by_byte)
{
	static const struct vmm_e820 map[] = {
		{ 0, 0x9fc00, 1 },
		{ 0x100000, 0x3ff00000, 1 },
		{ 0x123456789a000, 0x1000, 2 },
	};
	uint8_t page[VMM_PARAMS_SIZE], want[VMM_PARAMS_SIZE] = { 0 };

	new_kernel();
	put(0x250, 0x4141414141414141, 8);
	ck_assert_int_eq(parse(), 0);
	ck_assert_int_eq(place(1024 * MIB, 5000), 0);
	memset(page, 0xaa, sizeof(page));
	vmm_setup_params(&setup, &where, 5000, map, 3, page);

	/* The header as it is in the file, then what a loader changes of it. */
	memcpy(want + 0x1f1, file + 0x1f1, 0x26c - 0x1f1);
	memset(want + 0x250, 0, 8);
	want[0x1fa] = want[0x1fb] = 0xff;
	want[0x210] = 0xff;
	memcpy(want + 0x214, "\x00\x00\x00\x01", 4);
	memcpy(want + 0x218, "\x00\xe0\xff\x3f", 4);
	memcpy(want + 0x21c, "\x88\x13\x00\x00", 4);
	memcpy(want + 0x228, "\x00\x00\x02\x00", 4);
	memcpy(want + 0x070, "\x00\x40\x0f\x00\x00\x00\x00\x00", 8);
	want[0x1e8] = 3;
	memcpy(want + 0x2d0, "\0\0\0\0\0\0\0\0\x00\xfc\x09\0\0\0\0\0\1\0\0\0", 20);
	memcpy(want + 0x2e4, "\0\0\x10\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\1\0\0\0", 20);
	memcpy(want + 0x2f8, "\x00\xa0\x89\x67\x45\x23\x01\0\0\x10\0\0\0\0\0\0\2\0\0\0", 20);
	for (unsigned int i = 0; i < sizeof(page); i++)
		ck_assert_msg(page[i] == want[i], "byte %#x is %#x, not %#x", i, page[i], want[i]);
}
END_TEST

START_TEST(old_kernels_are_not_told_of_new_fields)
{
	static const struct vmm_e820 map[] = { { 0, 0x9fc00, 1 } };
	uint8_t page[VMM_PARAMS_SIZE];

	old_kernel();
	ck_assert_int_eq(parse(), 0);
	ck_assert_int_eq(place(64 * MIB, 0), 0);
	vmm_setup_params(&setup, &where, 0, map, 1, page);
	ck_assert_uint_eq(get(page, 0x70, 8), 0);
	ck_assert_uint_eq(get(page, 0x214, 4), MIB);
	ck_assert_uint_eq(get(page, 0x218, 4), 0);
	ck_assert_uint_eq(get(page, 0x21c, 4), 0);
	ck_assert_uint_eq(get(page, 0x202, 4), 0x53726448);
	/* The header ends at 0x23c. */
	for (unsigned int i = 0x23c; i < 0x2d0; i++)
		ck_assert_uint_eq(page[i], 0);
	put(0x206, 0x020d, 2);
	ck_assert_int_eq(parse(), 0);
	vmm_setup_params(&setup, &where, 0, map, 1, page);
	ck_assert_uint_eq(get(page, 0x70, 8), 0);
}
END_TEST

static void refused(const char *words)
{
	ck_assert_int_eq(parse(), -ENOEXEC);
	ck_assert_msg(strstr(err.what, words) != NULL, "'%s' is not in '%s'", words, err.what);
	ck_assert_uint_ne(err.fix[0], 0);
}

START_TEST(wrong_files)
{
	old_kernel();
	put(0x206, 0x0205, 2);
	refused("older than 2.06");
	old_kernel();
	put(0x211, 0, 1);
	refused("zImage");
	old_kernel();
	memcpy(file, "\177ELF", 4);
	refused("ELF");
	old_kernel();
	put(0x1fe, 0, 2);
	refused("not a Linux kernel");
	old_kernel();
	put(0x202, 0, 4);
	refused("not a Linux kernel");
	new_kernel();
	put(0x230, 0x300000, 4);
	refused("power of two");
	new_kernel();
	put(0x230, 0, 4);
	refused("power of two");
	old_kernel();
	put(0x201, 0x10, 1);
	refused("length");
	old_kernel();
	file_size = 4096;
	refused("cut off");
	old_kernel();
	file_size--;
	refused("cut off");
}
END_TEST

START_TEST(header_longer_than_its_place)
{
	new_kernel();
	put(0x201, 0xff, 1);
	ck_assert_int_eq(parse(), 0);
	ck_assert_uint_eq(setup.header_len, 0x290 - 0x1f1);
}
END_TEST

START_TEST(any_length)
{
	new_kernel();
	for (size_t len = 0; len <= 0x26c; len++) {
		uint8_t *exact = malloc(len ? len : 1);

		/* Of exactly this size, so that the address sanitizer sees a read too far. */
		memcpy(exact, file, len);
		ck_assert_int_eq(vmm_setup_parse(exact, len, len, &setup, &err), -ENOEXEC);
		ck_assert_int_eq(vmm_setup_parse(exact, len, file_size, &setup, &err),
				 len < 0x26c ? -ENOEXEC : 0);
		free(exact);
	}
}
END_TEST

/* Whatever the bytes are: either refused, or everything stays inside RAM. */
START_TEST(junk)
{
	uint32_t seed = 12345;
	unsigned int taken = 0;

	for (unsigned int round = 0; round < 20000; round++) {
		uint8_t page[VMM_PARAMS_SIZE];
		uint64_t low_end, initrd;

		new_kernel();
		for (unsigned int i = 0x1f1; i < 0x290; i++) {
			seed = seed * 1664525 + 1013904223;
			if (seed >> 24 < 10 && (i < 0x1fe || i > 0x205))
				file[i] = (uint8_t)(seed >> 16);
		}
		seed = seed * 1664525 + 1013904223;
		low_end = (16 + (seed >> 20) % 3056) * MIB;
		initrd = seed >> 9 & 1 ? seed >> 5 : 0;
		if (parse() || place(low_end, initrd))
			continue;
		taken++;
		ck_assert_uint_ge(where.load, MIB);
		ck_assert_uint_le(where.end, low_end);
		ck_assert_uint_le(where.load + setup.payload_size, where.end);
		ck_assert_uint_lt(setup.cmdline_max, VMM_BOOT_CMDLINE_MAX);
		if (initrd) {
			ck_assert_uint_ge(where.initrd, where.end);
			ck_assert_uint_le(where.initrd + initrd, low_end);
			ck_assert_uint_le(where.initrd + initrd - 1, setup.initrd_max);
		}
		vmm_setup_params(&setup, &where, initrd, NULL, 0, page);
	}
	ck_assert_uint_gt(taken, 1000);
}
END_TEST

START_TEST(descriptors)
{
	uint8_t gdt[VMM_BOOT_GDT_SIZE];

	vmm_setup_gdt(false, gdt);
	ck_assert_uint_eq(get(gdt, 0, 8), 0);
	ck_assert_uint_eq(get(gdt, 0x10, 8), 0x00cf9b000000ffff);
	ck_assert_uint_eq(get(gdt, 0x18, 8), 0x00cf93000000ffff);
	vmm_setup_gdt(true, gdt);
	/* L set, D clear. */
	ck_assert_uint_eq(get(gdt, 0x10, 8) >> 53 & 3, 1);
}
END_TEST

START_TEST(page_tables_map_4g_to_itself)
{
	static uint8_t t[VMM_BOOT_PAGE_TABLES_SIZE];
	const uint64_t base = VMM_BOOT_PAGE_TABLES;

	vmm_setup_page_tables(base, t);
	for (uint64_t va = 0; va < 5 * (1ull << 30); va += 0x1ff000) {
		uint64_t e = get(t, (va >> 39) * 8, 8);

		ck_assert_uint_eq(e & 0xfff, 3);
		e = get(t, (e & ~0xfffull) - base + (va >> 30) * 8, 8);
		if (va >> 32) {
			ck_assert_uint_eq(e, 0);
			continue;
		}
		ck_assert_uint_eq(e & 0xfff, 3);
		e = get(t, (e & ~0xfffull) - base + (va >> 21 & 511) * 8, 8);
		ck_assert_uint_eq(e, (va & ~0x1fffffull) | 0x83);
	}
}
END_TEST

/* A kernel that Debian built, where the cache has it. */
START_TEST(real_kernel)
{
	static const char *const paths[] = { "cache/kernels/6.1/vmlinuz",
					     "cache/kernels/6.12/vmlinuz",
					     "cache/kernels/5.10/vmlinuz" };

	for (unsigned int i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct vmm_image *image = NULL;
		struct stat st;
		int fd = open(paths[i], O_RDONLY);

		if (fd < 0)
			continue;
		ck_assert_int_eq(fstat(fd, &st), 0);
		ck_assert_int_eq(read(fd, file, sizeof(file)), sizeof(file));
		close(fd);
		file_size = (uint64_t)st.st_size;
		ck_assert_int_eq(parse(), 0);
		ck_assert_uint_ge(setup.version, 0x20f);
		ck_assert(setup.entry64);
		ck_assert(setup.relocatable);
		ck_assert_uint_eq(setup.cmdline_max, 2047);
		ck_assert_uint_ge(setup.init_size, setup.payload_size);
		ck_assert_int_eq(place(512 * MIB, 10 * MIB), 0);
		ck_assert_uint_eq(where.load, 16 * MIB);
		ck_assert_int_eq(vmm_image_open(paths[i], &image, &err), 0);
		ck_assert_int_eq(vmm_boot_check(image, NULL, "quiet", 512 * MIB, &err), 0);
		vmm_image_free(image);
	}
}
END_TEST

/* vmm_boot_check() on a file made of a header and nothing else. */
static const char *write_kernel(void)
{
	static char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/bp-setup-test.%d", getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, file, sizeof(file)), sizeof(file));
	ck_assert_int_eq(ftruncate(fd, (off_t)file_size), 0);
	close(fd);
	return path;
}

START_TEST(command_line_limit)
{
	struct vmm_image *image;
	char line[300];
	const char *path;

	old_kernel();
	path = write_kernel();
	ck_assert_int_eq(vmm_image_open(path, &image, &err), 0);
	memset(line, 'x', sizeof(line));
	line[255] = '\0';
	ck_assert_int_eq(vmm_boot_check(image, NULL, line, 64 * MIB, &err), 0);
	line[255] = 'x';
	line[256] = '\0';
	ck_assert_int_eq(vmm_boot_check(image, NULL, line, 64 * MIB, &err), -E2BIG);
	ck_assert_ptr_nonnull(strstr(err.what, "256 characters and this kernel takes 255"));
	bp_error_clear(&err);
	ck_assert_int_eq(vmm_boot_check(image, "/no/such/file", "", 64 * MIB, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.what, "/no/such/file"));
	bp_error_clear(&err);
	ck_assert_int_eq(vmm_boot_check(image, "/dev/null", "", 64 * MIB, &err), -EINVAL);
	vmm_image_free(image);
	unlink(path);
}
END_TEST

START_TEST(image_errors_name_the_file)
{
	struct vmm_image *image;

	bp_error_clear(&err);
	ck_assert_int_eq(vmm_image_open("/no/such/kernel", &image, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.what, "/no/such/kernel"));
	bp_error_clear(&err);
	ck_assert_int_eq(vmm_image_open("/etc/passwd", &image, &err), -ENOEXEC);
	ck_assert_ptr_nonnull(strstr(err.what, "/etc/passwd"));
	bp_error_clear(&err);
	ck_assert_int_eq(vmm_image_open("/tmp", &image, &err), -ENOEXEC);
}
END_TEST

SUITE("setup", old_header, new_header, setup_sects_zero_means_four, relocatable_moves_when_it_must,
      not_relocatable_runs_elsewhere, initrd_goes_to_the_top, initrd_too_big, params_byte_by_byte,
      old_kernels_are_not_told_of_new_fields, wrong_files, header_longer_than_its_place, any_length,
      junk, descriptors, page_tables_map_4g_to_itself, real_kernel, command_line_limit,
      image_errors_name_the_file)
