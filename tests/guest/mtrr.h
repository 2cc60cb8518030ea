/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory type range registers, in the two ways that a program has: /proc/mtrr, where the
 * kernel chooses a register and sets it on all CPUs, and the registers of one CPU.
 */
#ifndef BP_TESTS_GUEST_MTRR_H
#define BP_TESTS_GUEST_MTRR_H

#include <stddef.h>
#include <stdint.h>

/** mtrr_type - encoding of "uc", "wc", "wt", "wp" or "wb". Return: 0, or -EINVAL. */
int mtrr_type(const char *name, unsigned int *type);

/** mtrr_add - a range, as an administrator writes it to /proc/mtrr. Return: 0 or a negative errno. */
int mtrr_add(uint64_t base, uint64_t size, const char *type);

/** mtrr_del - disable the register with that range. Return: 0; -ENOENT: none has it; or another. */
int mtrr_del(uint64_t base, uint64_t size);

/** mtrr_text - /proc/mtrr. Return: 0 or a negative errno; @text is "" then. */
int mtrr_text(char *text, size_t size);

/** msr_write - WRMSR on one CPU through /dev/cpu/N/msr. Return: 0; -EIO: #GP; or another. */
int msr_write(unsigned int cpu, uint32_t msr, uint64_t value);

/** mtrr_set_on - a variable range in one register of one CPU alone. Return: 0 or a negative errno. */
int mtrr_set_on(unsigned int cpu, unsigned int reg, uint64_t base, uint64_t size, unsigned int type);

/** mtrr_clear_on - the opposite: both registers of the pair 0. */
int mtrr_clear_on(unsigned int cpu, unsigned int reg);

#endif
