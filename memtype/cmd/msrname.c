// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <bp/cli.h>
#include <mt/host.h>

#include "msrname.h"

static const struct {
	const char *name;
	uint32_t msr;
} names[] = {
	{ "MTRRCAP", MT_MSR_MTRRCAP },
	{ "DEF_TYPE", MT_MSR_DEF_TYPE },
	{ "PAT", MT_MSR_PAT },
	{ "FIX64K_00000", MT_MSR_FIX64K_00000 },
	{ "FIX16K_80000", MT_MSR_FIX16K_80000 },
	{ "FIX16K_A0000", MT_MSR_FIX16K_A0000 },
	{ "FIX4K_C0000", 0x268 },
	{ "FIX4K_C8000", 0x269 },
	{ "FIX4K_D0000", 0x26a },
	{ "FIX4K_D8000", 0x26b },
	{ "FIX4K_E0000", 0x26c },
	{ "FIX4K_E8000", 0x26d },
	{ "FIX4K_F0000", 0x26e },
	{ "FIX4K_F8000", 0x26f },
	{ "SYSCFG", MT_MSR_SYSCFG },
	{ "TOP_MEM", MT_MSR_TOP_MEM },
	{ "TOP_MEM2", MT_MSR_TOP_MEM2 },
	{ "IORR_BASE0", MT_MSR_IORR_BASE(0) },
	{ "IORR_MASK0", MT_MSR_IORR_MASK(0) },
	{ "IORR_BASE1", MT_MSR_IORR_BASE(1) },
	{ "IORR_MASK1", MT_MSR_IORR_MASK(1) },
};

#define NAMES (sizeof(names) / sizeof(*names))

const char *mt_msr_name(uint32_t msr, char *buf, size_t size)
{
	if (msr >= MT_MSR_PHYSBASE(0) && msr < MT_MSR_PHYSBASE(MT_VARIABLE_MAX)) {
		snprintf(buf, size, "%s%u", msr & 1 ? "PHYSMASK" : "PHYSBASE", (msr - 0x200) / 2);
		return buf;
	}
	for (size_t i = 0; i < NAMES; i++) {
		if (names[i].msr == msr) {
			snprintf(buf, size, "%s", names[i].name);
			return buf;
		}
	}
	snprintf(buf, size, "%#" PRIx32, msr);
	return buf;
}

static int parse_variable(const char *text, uint32_t *msr)
{
	bool mask = !strncmp(text, "PHYSMASK", 8);
	uint64_t n;

	if ((!mask && strncmp(text, "PHYSBASE", 8) != 0) ||
	    bp_parse_u64(text + 8, 0, MT_VARIABLE_MAX - 1, &n))
		return -EINVAL;
	*msr = mask ? MT_MSR_PHYSMASK((uint32_t)n) : MT_MSR_PHYSBASE((uint32_t)n);
	return 0;
}

int mt_msr_parse(const char *text, size_t len, uint32_t *msr)
{
	uint64_t n;
	char name[24];

	if (len >= sizeof(name))
		return -EINVAL;
	memcpy(name, text, len);
	name[len] = '\0';
	for (size_t i = 0; i < NAMES; i++) {
		if (!strcmp(names[i].name, name)) {
			*msr = names[i].msr;
			return 0;
		}
	}
	if (!parse_variable(name, msr))
		return 0;
	if (bp_parse_u64(name, 0, UINT32_MAX, &n))
		return -EINVAL;
	*msr = (uint32_t)n;
	return 0;
}
