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

int mt_firmware_state(uint64_t hole_start, unsigned int maxphyaddr,
		      struct mt_msr out[MT_FIRMWARE_MSRS])
{
	const uint64_t reach = (1ull << maxphyaddr) - 1;
	unsigned int n = 0, range = 0;

	if (maxphyaddr < 32 || maxphyaddr > 52 || hole_start < 0x80000000ull ||
	    hole_start > 0xfff00000ull || hole_start & 0xfffff)
		return -EINVAL;

	out[n++] = (struct mt_msr){ MT_MSR_PAT, MT_PAT_RESET };
	out[n++] = (struct mt_msr){ MT_MSR_FIX64K_00000, ALL_WB };
	out[n++] = (struct mt_msr){ MT_MSR_FIX16K_80000, ALL_WB };
	out[n++] = (struct mt_msr){ MT_MSR_FIX16K_A0000, ALL_UC };
	for (unsigned int i = 0; i < 8; i++)
		out[n++] = (struct mt_msr){ MT_MSR_FIX4K_C0000 + i, ALL_WB };

	/* From the bottom up, each range as large as its base is aligned; 4 GiB ends the last. */
	for (uint64_t base = hole_start; base < FOUR_GIB; range++) {
		uint64_t size = base & -base;

		if (range == MT_VARIABLE_RANGES)
			return -EINVAL;
		out[n++] = (struct mt_msr){ MT_MSR_PHYSBASE(range), base | MT_UC };
		out[n++] = (struct mt_msr){ MT_MSR_PHYSMASK(range),
					    (~(size - 1) & reach) | MT_PHYSMASK_VALID };
		base += size;
	}
	for (; range < MT_VARIABLE_RANGES; range++) {
		out[n++] = (struct mt_msr){ MT_MSR_PHYSBASE(range), 0 };
		out[n++] = (struct mt_msr){ MT_MSR_PHYSMASK(range), 0 };
	}
	out[n++] = (struct mt_msr){ MT_MSR_DEF_TYPE, MT_DEF_TYPE_E | MT_DEF_TYPE_FE | MT_WB };
	return 0;
}
