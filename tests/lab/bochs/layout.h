/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The disk that Bochs boots Linux from: image.c writes it, linux.c reads it.
 *
 *   sector 0           boot.S
 *   sectors 1 to 8     struct layout
 *   sectors 9 to 127   linux.c
 *   from sector 128    the kernel's ELF file, then the initramfs
 */
#ifndef LAB_BOCHS_LAYOUT_H
#define LAB_BOCHS_LAYOUT_H

#include <stdint.h>

#define LAYOUT_MAGIC   0x6c616274756f6c62ull
#define LAYOUT_SECTORS 8u
#define LAYOUT_PROGRAM 128u /* sectors before the kernel */

/**
 * struct layout - where things are.
 * @magic: LAYOUT_MAGIC, also in the file that image.c fills in.
 * @kernel_lba: first sector of the kernel.
 * @initrd_lba: first sector of the initramfs.
 * @initrd_bytes: its size.
 * @cmdline: kernel parameters, ended by a zero.
 */
struct layout {
	uint64_t magic;
	uint32_t kernel_lba;
	uint32_t initrd_lba;
	uint64_t initrd_bytes;
	char cmdline[LAYOUT_SECTORS * 512 - 24];
};

_Static_assert(sizeof(struct layout) == LAYOUT_SECTORS * 512, "whole sectors");

#endif
