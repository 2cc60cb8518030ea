/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bochs's trace of memory accesses: lines as
 *   [CPU0 WR]: LIN 0x0000000100000000 PHY 0x000002000000 (len=8, WC): 0x5EED0000 0x00000001
 *   [CPU0 RD]: PHY 0x000000204000 (len=8, UC): 0x00000000 0x02000077	; EPT PTE
 */
#ifndef LAB_BOCHS_TRACE_H
#define LAB_BOCHS_TRACE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TRACE_TAG 0x5eedu /* upper 16 bits of the values that a test stores */

/**
 * struct trace_store - a store of 8 bytes.
 * @linear: linear address.
 * @phys: physical address.
 * @value: what was stored.
 * @type: memory type as Bochs sees it, by name.
 */
struct trace_store {
	uint64_t linear, phys, value;
	char type[8];
};

/**
 * trace_is_store() - whether a line is a store of a test.
 * @line: line of the trace.
 * @s: receives it.
 *
 * Return: true for a write of 8 bytes whose value has TRACE_TAG.
 */
static inline bool trace_is_store(const char *line, struct trace_store *s)
{
	uint64_t high, low;
	int n = sscanf(line,
		       "[CPU0 WR]: LIN %" SCNx64 " PHY %" SCNx64 " (len=8, %7[^)]): %" SCNx64
		       " %" SCNx64,
		       &s->linear, &s->phys, s->type, &high, &low);

	s->value = high << 32 | low;
	return n == 5 && high >> 16 == TRACE_TAG;
}

/**
 * trace_next_store() - the next such line.
 * @f: trace.
 * @s: receives the store.
 *
 * Return: false at the end.
 */
static inline bool trace_next_store(FILE *f, struct trace_store *s)
{
	char line[512];

	while (fgets(line, sizeof(line), f))
		if (trace_is_store(line, s))
			return true;
	return false;
}

#endif
