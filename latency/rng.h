/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers that come again with the same seed, so that a run or a resampling can be
 * repeated. Not for secrets.
 */
#ifndef LAT_RNG_H
#define LAT_RNG_H

#include <stddef.h>
#include <stdint.h>

/** struct lat_rng - generator. @state: the seed at first. */
struct lat_rng {
	uint64_t state;
};

/** lat_rng_next() - the next of the sequence (SplitMix64: Steele, Lea, Flood 2014). @r: generator.
 * Return: 64 random bits.
 */
uint64_t lat_rng_next(struct lat_rng *r);

/** lat_rng_below() - a number, each equally likely. @r: generator. @n: from 1 on. Return: 0 to n - 1. */
uint64_t lat_rng_below(struct lat_rng *r, uint64_t n);

/** lat_rng_shuffle() - put 0 to n - 1 into random order. @r: generator. @v: receives it. @n: how many. */
void lat_rng_shuffle(struct lat_rng *r, unsigned int *v, unsigned int n);

#endif
