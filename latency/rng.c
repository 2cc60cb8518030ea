// SPDX-License-Identifier: GPL-2.0-only
#include "latency/rng.h"

uint64_t lat_rng_next(struct lat_rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

uint64_t lat_rng_below(struct lat_rng *r, uint64_t n)
{
	/* Numbers of the last, incomplete stretch of n would favour small results. */
	uint64_t limit = -n % n, x;

	do {
		x = lat_rng_next(r);
	} while (x < limit);
	return x % n;
}

void lat_rng_shuffle(struct lat_rng *r, unsigned int *v, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		unsigned int j = (unsigned int)lat_rng_below(r, i + 1);

		if (j != i)
			v[i] = v[j];
		v[j] = i;
	}
}
