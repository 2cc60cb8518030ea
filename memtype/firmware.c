// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include <mt/firmware.h>

#define FOUR_GIB 0x100000000ull
#define ALL_UC	 0x0000000000000000ull
#define ALL_WB	 0x0606060606060606ull

/* PAT and the first MiB: RAM but for VGA. Returns how many registers that was. */
static unsigned int put_low(struct mt_msr *out)
{
	unsigned int n = 0;

	out[n++] = (struct mt_msr){ MT_MSR_PAT, MT_PAT_RESET };
	out[n++] = (struct mt_msr){ MT_MSR_FIX64K_00000, ALL_WB };
	out[n++] = (struct mt_msr){ MT_MSR_FIX16K_80000, ALL_WB };
	out[n++] = (struct mt_msr){ MT_MSR_FIX16K_A0000, ALL_UC };
	for (unsigned int i = 0; i < 8; i++)
		out[n++] = (struct mt_msr){ MT_MSR_FIX4K_C0000 + i, ALL_WB };
	return n;
}

static void put_range(struct mt_msr *vars, unsigned int range, uint64_t base, uint64_t size,
		      enum mt_type type, uint64_t reach)
{
	vars[2 * (size_t)range] = (struct mt_msr){ MT_MSR_PHYSBASE(range), size ? base | type : 0 };
	vars[2 * (size_t)range + 1] =
		(struct mt_msr){ MT_MSR_PHYSMASK(range),
				 size ? (~(size - 1) & reach) | MT_PHYSMASK_VALID : 0 };
}

/*
 * Cover [base, end) with ranges of one type, from the bottom up, each as large as
 * alignment and end allow. Returns the next free range, or one beyond the last.
 */
static unsigned int cover(struct mt_msr *vars, unsigned int range, uint64_t base, uint64_t end,
			  enum mt_type type, uint64_t reach)
{
	while (base < end) {
		uint64_t size = base & -base;

		while (!size || size > end - base)
			size = size ? size >> 1 : 1ull << 51;
		if (range == MT_VARIABLE_RANGES)
			return MT_VARIABLE_RANGES + 1;
		put_range(vars, range, base, size, type, reach);
		range++;
		base += size;
	}
	return range;
}

static void put_rest(struct mt_msr *out, unsigned int n, unsigned int range, uint64_t def_type)
{
	for (; range < MT_VARIABLE_RANGES; range++)
		put_range(&out[n], range, 0, 0, MT_UC, 0);
	out[n + 2 * MT_VARIABLE_RANGES] =
		(struct mt_msr){ MT_MSR_DEF_TYPE, MT_DEF_TYPE_E | MT_DEF_TYPE_FE | def_type };
}

int mt_firmware_state(uint64_t hole_start, unsigned int maxphyaddr,
		      struct mt_msr out[MT_FIRMWARE_MSRS])
{
	const uint64_t reach = (1ull << maxphyaddr) - 1;
	unsigned int n, range;

	if (maxphyaddr < 32 || maxphyaddr > 52 || hole_start < 0x80000000ull ||
	    hole_start > 0xfff00000ull || hole_start & 0xfffff)
		return -EINVAL;
	n = put_low(out);
	range = cover(&out[n], 0, hole_start, FOUR_GIB, MT_UC, reach);
	if (range > MT_VARIABLE_RANGES)
		return -EINVAL;
	put_rest(out, n, range, MT_WB);
	return 0;
}

int mt_firmware_wc_state(uint64_t low_end, uint64_t high_end, unsigned int maxphyaddr,
			 struct mt_msr out[MT_FIRMWARE_MSRS])
{
	const uint64_t reach = (1ull << maxphyaddr) - 1;
	unsigned int n, range;

	if (maxphyaddr < 32 || maxphyaddr > 52 || low_end < 0x100000 || low_end > 0xfff00000ull ||
	    high_end < FOUR_GIB || high_end > reach + 1 || (low_end | high_end) & 0xfffff)
		return -EINVAL;
	n = put_low(out);
	range = cover(&out[n], 0, 0, low_end, MT_WB, reach);
	if (range < MT_VARIABLE_RANGES)
		range = cover(&out[n], range, FOUR_GIB, high_end, MT_WB, reach);
	if (range > MT_VARIABLE_RANGES - MT_FIRMWARE_SPARE)
		return -ENOSPC;
	put_rest(out, n, range, MT_UC);
	return 0;
}
