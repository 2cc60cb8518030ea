// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stream of bytes that can be made from any offset: word i is a bijective mix
 * of seed and i (the finalizer of SplitMix64), so a lost, doubled or displaced
 * byte shows as a difference.
 */
#include <string.h>

#include "guest.h"

uint64_t pattern_word(uint64_t seed, uint64_t index)
{
	uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* How many bytes, from @offset, lie in its word; at most @len. */
static size_t in_word(uint64_t offset, size_t len)
{
	size_t n = 8 - (size_t)(offset % 8);

	return n < len ? n : len;
}

void pattern_fill(uint64_t seed, uint64_t offset, void *buf, size_t len)
{
	unsigned char *p = buf;

	while (len) {
		uint64_t w = pattern_word(seed, offset / 8);
		size_t n = in_word(offset, len);

		memcpy(p, (unsigned char *)&w + offset % 8, n);
		p += n;
		offset += n;
		len -= n;
	}
}

uint64_t pattern_check(uint64_t seed, uint64_t offset, const void *buf, size_t len)
{
	const unsigned char *p = buf;
	uint64_t bad = 0;

	while (len) {
		uint64_t w = pattern_word(seed, offset / 8);
		const unsigned char *want = (unsigned char *)&w + offset % 8;
		size_t n = in_word(offset, len);

		if (memcmp(p, want, n))
			for (size_t i = 0; i < n; i++)
				bad += p[i] != want[i];
		p += n;
		offset += n;
		len -= n;
	}
	return bad;
}
