/* SPDX-License-Identifier: GPL-2.0-only */
/* Random contents of MTRRs: legal, and as unreasonable as the rules allow. */
#ifndef MTRR_ORACLE_PROGRAM_H
#define MTRR_ORACLE_PROGRAM_H

#include <mt/mtrr.h>

/** struct rng - a stream of numbers that depends on its seed alone. */
struct rng {
	uint64_t state;
};

/** rng_next - 64 random bits. */
uint64_t rng_next(struct rng *r);

/** rng_below - a number below @n. */
uint64_t rng_below(struct rng *r, uint64_t n);

/** rng_type - an encoding that an MTRR may hold. */
unsigned int rng_type(struct rng *r);

/**
 * struct program - registers, and what is peculiar about them.
 * @m: the registers.
 * @holes: some mask is not contiguous.
 * @unaligned: some base is not aligned to its mask.
 * @nr_edges, @edges: where types may change, page aligned; from one register or another.
 */
struct program {
	struct mt_mtrr m;
	bool holes;
	bool unaligned;
	unsigned int nr_edges;
	uint64_t edges[2 * MT_VARIABLE_RANGES + 8];
};

/**
 * program_make - the next random program
 * @maxphyaddr: width of the processor.
 * @tidy: masks contiguous and bases aligned, as Linux itself writes them.
 * Return: 0; -EINVAL when the library refuses what is legal.
 */
int program_make(struct rng *r, unsigned int maxphyaddr, bool tidy, struct program *p);

#endif
