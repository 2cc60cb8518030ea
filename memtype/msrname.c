// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include <mt/host.h>
#include <mt/words.h>

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

static const char base[] = "PHYSBASE", mask[] = "PHYSMASK";

#define STEM (sizeof(base) - 1)

const char *mt_msr_name(uint32_t msr, char *buf, size_t size)
{
	if (msr >= MT_MSR_PHYSBASE(0) && msr < MT_MSR_PHYSBASE(MT_VARIABLE_MAX)) {
		unsigned int n = (msr - MT_MSR_PHYSBASE(0)) / 2;
		size_t at = STEM;

		if (size < MT_MSR_NAME)
			return NULL;
		for (size_t i = 0; i < STEM; i++)
			buf[i] = msr & 1 ? mask[i] : base[i];
		if (n > 9)
			buf[at++] = (char)('0' + n / 10);
		buf[at++] = (char)('0' + n % 10);
		buf[at] = '\0';
		return buf;
	}
	for (size_t i = 0; i < NAMES; i++)
		if (names[i].msr == msr)
			return names[i].name;
	return NULL;
}

/* strcmp() would be the one thing asked of a C library. */
static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

int mt_msr_find(const char *name, uint32_t *msr)
{
	char buf[MT_MSR_NAME];

	for (size_t i = 0; i < NAMES; i++) {
		if (same(names[i].name, name)) {
			*msr = names[i].msr;
			return 0;
		}
	}
	for (uint32_t m = MT_MSR_PHYSBASE(0); m < MT_MSR_PHYSBASE(MT_VARIABLE_MAX); m++) {
		if (same(mt_msr_name(m, buf, sizeof(buf)), name)) {
			*msr = m;
			return 0;
		}
	}
	return -ENOENT;
}
