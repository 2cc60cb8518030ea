// SPDX-License-Identifier: GPL-2.0-only
/*
 * What resolving memory types costs. tests/bench/memtype runs this plainly, for
 * times, and under callgrind, for instructions: there only the function named by
 * --toggle-collect counts, so each measured loop has one of its own.
 *
 *   memtype_cost build|lookup|scan|role FULL|FIRMWARE COUNT -> nanoseconds each
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mt/firmware.h>
#include <mt/map.h>
#include <mt/role.h>

#define ADDRESSES 1024

void measured_build(unsigned long count);
void measured_lookup(unsigned long count);
void measured_scan(unsigned long count);
void measured_role(unsigned long count);

static struct mt_mtrr regs;
static struct mt_map map;
static struct mt_track track;
static uint64_t addresses[ADDRESSES];
static volatile unsigned int sink;

/* All 88 fixed and 8 variable ranges, no two neighbours alike. */
static int fill_full(void)
{
	int ret = mt_mtrr_init(&regs, 40);

	for (unsigned int i = 0; i < MT_FIXED_REGISTERS; i++)
		ret |= mt_wrmsr(&regs, mt_fixed_msr(i), 0x0600060006000600);
	for (unsigned int i = 0; i < MT_VARIABLE_RANGES; i++) {
		ret |= mt_wrmsr(&regs, MT_MSR_PHYSBASE(i),
				(0x100000000 + i * 0x20000000ull) | (i & 1 ? MT_WC : MT_UC));
		ret |= mt_wrmsr(&regs, MT_MSR_PHYSMASK(i), 0xfff0000000 | MT_PHYSMASK_VALID);
	}
	return ret | mt_wrmsr(&regs, MT_MSR_DEF_TYPE, 0xc06);
}

static int fill_firmware(void)
{
	struct mt_msr msrs[MT_FIRMWARE_MSRS];
	int ret = mt_mtrr_init(&regs, 40);

	ret |= mt_firmware_state(0xc0000000, 40, msrs);
	for (unsigned int i = 0; i < MT_FIRMWARE_MSRS; i++)
		ret |= mt_wrmsr(&regs, msrs[i].index, msrs[i].value);
	return ret;
}

__attribute__((noinline)) void measured_build(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		mt_map_build(&map, &regs);
}

__attribute__((noinline)) void measured_lookup(unsigned long count)
{
	unsigned int sum = 0;

	for (unsigned long i = 0; i < count; i++)
		sum += mt_map_type(&map, addresses[i % ADDRESSES]).type;
	sink = sum;
}

__attribute__((noinline)) void measured_scan(unsigned long count)
{
	unsigned int sum = 0;

	for (unsigned long i = 0; i < count; i++)
		sum += mt_mtrr_type(&regs, addresses[i % ADDRESSES]).type;
	sink = sum;
}

/* A guest that writes one register with what it holds: a whole update for nothing. */
__attribute__((noinline)) void measured_role(unsigned long count)
{
	unsigned int sum = 0;

	for (unsigned long i = 0; i < count; i++)
		sum += mt_track_update(&track, &regs, false);
	sink = sum;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned long count);
	} loops[] = { { "build", measured_build },
		      { "lookup", measured_lookup },
		      { "scan", measured_scan },
		      { "role", measured_role } };
	unsigned long count = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	uint64_t state = 88172645463325252ull;
	double start;
	bool full;

	full = count && !strcmp(argv[2], "full");
	if (!count || (!full && strcmp(argv[2], "firmware") != 0)) {
		fprintf(stderr, "usage: memtype_cost build|lookup|scan|role full|firmware COUNT\n");
		return 2;
	}
	if (full ? fill_full() : fill_firmware()) {
		fprintf(stderr, "memtype_cost: the registers refuse their values\n");
		return 1;
	}
	mt_map_build(&map, &regs);
	mt_track_init(&track, &regs, false);
	for (int i = 0; i < ADDRESSES; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		/* One in four below 1 MiB, the rest where the variable ranges are. */
		addresses[i] = i % 4 ? state % 0x280000000 : state % 0x100000;
	}
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		if (strcmp(loops[i].name, argv[1]) != 0)
			continue;
		start = seconds();
		loops[i].run(count);
		printf("%.1f\n", (seconds() - start) * 1e9 / (double)count);
		return 0;
	}
	return 2;
}
