// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any sequence of MSR writes, on the library and on the slow reference: never a
 * reserved encoding accepted, never a difference, never a loop without end.
 * Each nine bytes are one operation: which register, which value.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <mt/map.h>
#include <mt/pat.h>
#include <mt/role.h>
#include "tests/fuzz/mt_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)                        \
	do {                              \
		if (!(cond))              \
			__builtin_trap(); \
	} while (0)

static struct mt_track track;
static struct mt_map map;

static uint32_t msr_of(uint8_t byte)
{
	static const uint32_t msrs[] = { 0xfe,	0x250, 0x258, 0x259, 0x268, 0x269, 0x26a, 0x26b,
					 0x26c, 0x26d, 0x26e, 0x26f, 0x277, 0x2ff, 0x210, 0x1f2 };

	return byte & 0x10 ? msrs[byte & 15] : 0x200 + (byte & 15);
}

/* Bit 5 of an operation: a value that is legal, so that programs get deep quickly. */
static uint64_t legal(uint32_t msr, uint64_t v, int width)
{
	static const uint8_t good[] = { 0, 1, 4, 5, 6 };
	uint64_t address = v & ((1ull << width) - 1) & ~0xfffull, types = 0;

	if (msr < 0x250)
		return msr & 1 ? address | (v & 0x800) : address | good[v % 5];
	if (msr == 0x2ff)
		return (v & 0xc00) | good[v % 5];
	for (int i = 0; i < 8; i++)
		types = types << 8 | good[(v >> 8 * i) % 5];
	return types;
}

static void check_at(const struct mt_mtrr *m, const struct ref *r, uint64_t addr)
{
	struct mt_range_type direct = mt_mtrr_type(m, addr), mapped = mt_map_type(&map, addr);
	bool undefined;
	int type = ref_type(r, addr, &undefined);

	MUST(mt_type_in_mtrr(direct.type));
	MUST((int)direct.type == type && direct.undefined == undefined);
	MUST((int)mapped.type == type && mapped.undefined == undefined);
}

static void check_walk(const struct ref *r)
{
	struct mt_range range;
	uint64_t addr = 0;

	/* Masks with holes make walks long: the first pieces, then on from the far side. */
	for (int i = 0; i < 64; i++) {
		bool undefined;

		mt_map_next(&map, addr, &range);
		MUST(range.start <= addr && range.last >= addr);
		MUST((int)range.type == ref_type(r, range.start, &undefined));
		MUST(range.undefined == undefined);
		MUST((int)range.type == ref_type(r, range.last, &undefined));
		MUST((int)range.type ==
		     ref_type(r, range.start + (range.last - range.start) / 2, &undefined));
		if (range.last == ~0ull)
			break;
		addr = i == 48 && range.last < 1ull << 51 ? 1ull << 51 : range.last + 1;
	}
}

static void check_map(const struct mt_mtrr *m, const struct ref *r, uint64_t any)
{
	mt_map_build(&map, m);
	MUST(map.count >= 1 && map.count <= MT_MAP_RANGES);
	for (uint32_t i = 0; i < map.count; i++) {
		MUST(!i || map.entries[i].start > map.entries[i - 1].start);
		check_at(m, r, map.entries[i].start);
		check_at(m, r, map.entries[i].start - 1);
	}
	for (int i = 0; i < 8; i++) {
		check_at(m, r, r->var[i].base);
		check_at(m, r, r->var[i].base | ~r->var[i].mask);
		check_at(m, r, any ^ r->var[i].base);
	}
	check_at(m, r, any);
	check_walk(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_mtrr m;
	struct ref r;
	uint64_t v = 0;
	int width;

	if (!size)
		return 0;
	width = 32 + data[0] % 21;
	MUST(mt_mtrr_init(&m, (unsigned int)width) == 0);
	ref_reset(&r, width);
	mt_track_init(&track, &m, false);
	for (size_t at = 1; at + 9 <= size && at < 576; at += 9) {
		uint32_t msr = msr_of(data[at]);
		enum ref_verdict verdict;
		uint64_t got, want;
		int ret;

		memcpy(&v, data + at + 1, sizeof(v));
		if (data[at] & 0x20)
			v = legal(msr, v, width);
		ret = mt_wrmsr(&m, msr, v);
		verdict = ref_wrmsr(&r, msr, v);
		MUST((ret == 0) == (verdict == REF_OK));
		MUST(mt_msr_known(&m, msr) == (verdict != REF_NOT_MINE));
		MUST((mt_wrmsr_fault(&m, msr, v) == MT_GP_NONE) == (verdict != REF_GP));
		if (verdict != REF_NOT_MINE) {
			MUST(mt_rdmsr(&m, msr, &got) == 0 && ref_rdmsr(&r, msr, &want) == REF_OK);
			MUST(got == want);
		}
		/* A role that did not change must stand for the same types. */
		if (!mt_track_update(&track, &m, data[at] & 0x80) && !(data[at] & 0x80)) {
			bool undefined;

			MUST((int)mt_track_type(&track, v).type == ref_type(&r, v, &undefined));
		}
	}
	MUST(mt_pat_valid(m.pat));
	check_map(&m, &r, v);
	return 0;
}
