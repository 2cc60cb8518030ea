/* SPDX-License-Identifier: GPL-2.0-only */
/* /proc/mtrr: the variable ranges of this machine, as the kernel lists them. */
#ifndef BP_PROCMTRR_H
#define BP_PROCMTRR_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct bp_procmtrr - one line.
 * @start: first byte. @last: last byte.
 * @type: the kernel's word: uncachable, write-combining, write-through, write-protect,
 *        write-back.
 */
struct bp_procmtrr {
	uint64_t start;
	uint64_t last;
	char type[16];
};

/**
 * bp_procmtrr_line() - read one line.
 * @line: such as "reg00: base=0x080000000 ( 2048MB), size= 2048MB, count=1: uncachable".
 * @out: receives it.
 *
 * Source: mtrr_seq_show() in arch/x86/kernel/cpu/mtrr/if.c of Linux.
 *
 * Return: false for anything else.
 */
bool bp_procmtrr_line(const char *line, struct bp_procmtrr *out);

#endif
