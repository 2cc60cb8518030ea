// SPDX-License-Identifier: GPL-2.0-only
#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

static const char usage[] =
	"Usage: mtrr-oracle linux SEED COUNT\n"
	"       mtrr-oracle msr SEED COUNT SHOW\n"
	"Compare libmemtype with the running kernel's look-up of MTRR types (module\n"
	"mtrr_oracle), or with this processor's registers (module msr; it changes them).\n";

unsigned int physical_width(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(0x80000008, &eax, &ebx, &ecx, &edx) ? eax & 0xff : 36;
}

int main(int argc, char **argv)
{
	uint64_t seed, count;

	if (argc < 4) {
		fputs(usage, stderr);
		return 2;
	}
	seed = strtoull(argv[2], NULL, 0);
	count = strtoull(argv[3], NULL, 0);
	if (argc == 4 && !strcmp(argv[1], "linux"))
		return oracle_linux(seed, count);
	if (argc == 5 && !strcmp(argv[1], "msr"))
		return oracle_msr(seed, count, strtoull(argv[4], NULL, 0));
	fputs(usage, stderr);
	return 2;
}
