/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The memory-type state that firmware hands to an operating system.
 *
 * Linux up to 6.1 turns its PAT off when it finds MTRRs disabled
 * (arch/x86/kernel/cpu/mtrr/mtrr.c, mtrr_bp_init() calling pat_disable()), and
 * without PAT nothing in such a guest can write-combine. A monitor without
 * firmware must therefore leave what firmware would have left.
 */
#ifndef MT_FIRMWARE_H
#define MT_FIRMWARE_H

#include <mt/types.h>

/** struct mt_msr - value of one model-specific register. */
struct mt_msr {
	uint32_t index;
	uint64_t value;
};

/* DEF_TYPE, PAT, 11 fixed-range registers, 8 base and mask pairs. */
#define MT_FIRMWARE_MSRS (2 + 11 + 2 * MT_VARIABLE_RANGES)

/**
 * mt_firmware_state() - MTRRs and PAT as firmware leaves them.
 * @hole_start: where the 32-bit PCI hole begins (end of RAM below 4 GiB at the
 *              earliest), 1 MiB aligned, 0x80000000 to 0xfff00000.
 * @maxphyaddr: the guest's physical address width, 32 to 52 bits; masks are cut to it.
 * @out: receives all MT_FIRMWARE_MSRS registers, to be written to every CPU in
 *       this order: DEF_TYPE comes last, so no range is live half-written.
 *
 * Enabled, fixed ranges enabled, default WB, UC from @hole_start to 4 GiB in as
 * few variable ranges as the alignment rule allows (Intel SDM vol. 3 "MTRR base
 * and mask": size a power of two, base aligned to it), UC over VGA at
 * 0xa0000-0xbffff, everything else below 1 MiB WB. PAT is at its reset value;
 * the operating system programs it.
 *
 * Return: 0, or -EINVAL for arguments outside their ranges or a hole that would
 * need more than MT_VARIABLE_RANGES ranges.
 */
int mt_firmware_state(uint64_t hole_start, unsigned int maxphyaddr,
		      struct mt_msr out[MT_FIRMWARE_MSRS]);

/* Variable ranges that mt_firmware_wc_state() leaves to the operating system at least. */
#define MT_FIRMWARE_SPARE 3

/**
 * mt_firmware_wc_state() - the same, leaving room for write combining by MTRR.
 * @low_end: end of RAM below 4 GiB, 1 MiB aligned, 1 MiB to 0xfff00000.
 * @high_end: end of RAM above 4 GiB, 1 MiB aligned; 4 GiB when there is none.
 * @maxphyaddr: as above.
 * @out: as above.
 *
 * An overlap of UC and WC is UC (mt_mtrr_type()). So an operating system that asks for WC
 * by MTRR over a BAR inside a hole that mt_firmware_state() made UC gets UC, on bare
 * metal too. Here the default type is UC and variable ranges make RAM WB, the other
 * layout that firmware uses: a WC range over any BAR then means WC.
 *
 * Return: 0; -EINVAL for arguments outside their ranges; -ENOSPC when RAM of these sizes
 * needs so many ranges that fewer than MT_FIRMWARE_SPARE are left.
 */
int mt_firmware_wc_state(uint64_t low_end, uint64_t high_end, unsigned int maxphyaddr,
			 struct mt_msr out[MT_FIRMWARE_MSRS]);

#endif
