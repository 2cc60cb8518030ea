// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random MSR programs, good and bad writes mixed, on the library and on the slow
 * reference: same verdicts, same values read back, same type at every address that
 * could matter, from the registers and from the map.
 */
#include <errno.h>

#include <mt/map.h>
#include "suite.h"
#include "tests/fuzz/mt_reference.h"

#ifdef __SANITIZE_ADDRESS__
#define PROGRAMS 30000
#else
#define PROGRAMS 150000
#endif

static uint64_t state;

/* xorshift64*: the same programs each time. */
static uint64_t rnd(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

static uint32_t some_msr(void)
{
	static const uint32_t others[] = { 0x250, 0x258, 0x259, 0x268, 0x26b, 0x26f, 0x277, 0x2ff,
					   0xfe,  0x210, 0x251, 0x1f2, 0x26e, 0x2ff, 0x2ff };

	return rnd() % 3 ? 0x200 + rnd() % 16 : others[rnd() % (sizeof(others) / 4)];
}

static uint64_t types(void)
{
	static const uint8_t good[] = { 0, 1, 4, 5, 6 };
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | good[rnd() % 5];
	return v;
}

static uint64_t some_value(uint32_t msr, int width)
{
	static const uint8_t good[] = { 0, 1, 4, 5, 6 };
	uint64_t reach = (1ull << width) - 1;
	uint64_t size = 0x1000ull << rnd() % (width - 12);
	uint64_t v;

	if (rnd() % 12 == 0)
		return rnd() & rnd(); /* mostly refused */
	if (msr == 0x2ff)
		return good[rnd() % 5] | (rnd() % 8 ? 0x800 : 0) | (rnd() % 2 ? 0x400 : 0);
	if (msr >= 0x250)
		return types();
	if (msr % 2) {
		v = ~(size - 1) & reach;
		if (rnd() % 4 == 0)
			v &= rnd() | (reach ^ reach >> rnd() % 8); /* holes */
		return (v & ~0xfffull) | (rnd() % 6 ? 0x800 : 0);
	}
	/* Close together, so that ranges overlap. */
	v = rnd() % 2 ? rnd() & reach & ~(size - 1) : rnd() % 8 * (size & reach);
	return (v & reach & ~0xfffull) | good[rnd() % 5];
}

/* ck_assert() reports its place to the parent each time, which here would be all the time spent. */
#define MUST(cond, ...)                            \
	do {                                       \
		if (!(cond))                       \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)

static void same_at(const struct mt_mtrr *m, const struct mt_map *map, const struct ref *r,
		    uint64_t addr)
{
	struct mt_range_type direct = mt_mtrr_type(m, addr), mapped = mt_map_type(map, addr);
	bool undefined;
	int type = ref_type(r, addr, &undefined);

	MUST((int)direct.type == type && direct.undefined == undefined,
	     "%#lx: registers %d%s, reference %d%s", addr, direct.type, direct.undefined ? "?" : "",
	     type, undefined ? "?" : "");
	MUST((int)mapped.type == type && mapped.undefined == undefined,
	     "%#lx: map %d%s, reference %d%s", addr, mapped.type, mapped.undefined ? "?" : "", type,
	     undefined ? "?" : "");
}

static void compare_types(const struct mt_mtrr *m, const struct mt_map *map, const struct ref *r)
{
	struct mt_range range;

	for (uint32_t i = rnd() % 8; i < map->count; i += 1 + rnd() % 8) {
		same_at(m, map, r, map->entries[i].start);
		same_at(m, map, r, map->entries[i].start - 1);
	}
	for (int i = 0; i < 8; i++) {
		same_at(m, map, r, r->var[i].base);
		same_at(m, map, r, r->var[i].base | (~r->var[i].mask & rnd()));
		same_at(m, map, r, r->var[i].base ^ 1ull << (12 + rnd() % 44));
	}
	for (int i = 0; i < 8; i++)
		same_at(m, map, r, rnd() >> rnd() % 48);
	/* A piece of a walk has one type at its ends and inside. */
	mt_map_next(map, rnd() >> (12 + rnd() % 30), &range);
	for (int i = 0; i < 4; i++) {
		uint64_t addr = i == 0	 ? range.start
				: i == 1 ? range.last
					 : range.start + rnd() % ((range.last - range.start) | 1);
		bool undefined;

		MUST((int)range.type == ref_type(r, addr, &undefined) &&
			     range.undefined == undefined,
		     "%#lx lies in a piece of another type", addr);
	}
}

static void program(unsigned int writes)
{
	static struct mt_map map;
	int width = 32 + (int)(rnd() % 21);
	struct mt_mtrr m;
	struct ref r;

	ck_assert_int_eq(mt_mtrr_init(&m, (unsigned int)width), 0);
	ref_reset(&r, width);
	for (unsigned int i = 0; i < writes; i++) {
		uint32_t msr = i ? some_msr() : 0x2ff;
		uint64_t v = some_value(msr, width), got = 0, want = 0;
		int ret = mt_wrmsr(&m, msr, v);
		enum ref_verdict verdict = ref_wrmsr(&r, msr, v);

		MUST(ret == (verdict == REF_OK	 ? 0
			     : verdict == REF_GP ? -EINVAL
						 : -ENOENT),
		     "WRMSR %#x, %#lx (width %d): library %d, reference %d", msr, v, width, ret,
		     verdict);
		MUST((ref_rdmsr(&r, msr, &want) == REF_NOT_MINE) == (mt_rdmsr(&m, msr, &got) != 0),
		     "RDMSR %#x is known to one alone", msr);
		MUST(verdict == REF_NOT_MINE || got == want, "RDMSR %#x: %#lx and %#lx", msr, got,
		     want);
	}
	mt_map_build(&map, &m);
	ck_assert_uint_le(map.count, MT_MAP_RANGES);
	compare_types(&m, &map, &r);
}

START_TEST(random_programs_agree_with_the_manual)
{
	state = 0x9e3779b97f4a7c15ull;
	for (int i = 0; i < PROGRAMS; i++)
		program(8 + i % 24);
}
END_TEST

START_TEST(more_random_programs_agree_with_the_manual)
{
	state = 0xd1b54a32d192ed03ull;
	for (int i = 0; i < PROGRAMS; i++)
		program(8 + i % 24);
}
END_TEST

SUITE("mt_differential", random_programs_agree_with_the_manual,
      more_random_programs_agree_with_the_manual)
