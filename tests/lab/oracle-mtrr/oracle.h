/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MTRR_ORACLE_H
#define MTRR_ORACLE_H

#include <stdint.h>

/**
 * oracle_linux - libmemtype against mtrr_type_lookup() of the running kernel
 * @seed: of the programs. @count: how many.
 *
 * Prints one JSON object with what was compared and what could not be.
 * Return: exit status.
 */
int oracle_linux(uint64_t seed, uint64_t count);

/**
 * oracle_msr - libmemtype against this (virtual) processor, CPU 0
 * @seed: of the programs. @count: how many. @show: how many of them to print.
 *
 * Writes each program by WRMSR, legal and illegal values, reads it back, and compares
 * /proc/mtrr. Lines as tests/guest has them. What was there before is put back.
 * Return: exit status.
 */
int oracle_msr(uint64_t seed, uint64_t count, uint64_t show);

/** physical_width - MAXPHYADDR of this processor (CPUID 0x80000008). */
unsigned int physical_width(void);

#endif
