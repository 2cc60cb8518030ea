/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Where a Mellanox ConnectX keeps its doorbells and its BlueFlame buffers.
 */
#ifndef VF_CONNECTX_H
#define VF_CONNECTX_H

#include <stdbool.h>
#include <stdint.h>

#include <vf/bar.h>
#include <vf/pci.h>

#define VF_VENDOR_MELLANOX 0x15b3

/**
 * struct vf_connectx - the two areas, as far as they follow from the BARs.
 * @known: the fields below mean something; otherwise @why says what they would need.
 * @bar: BAR that holds both.
 * @uar_offset: doorbell pages, one for each UAR.
 * @uar_size: bytes of them.
 * @bf_offset: BlueFlame pages, one for each UAR.
 * @bf_size: bytes of them.
 * @why: where the fields come from, or why there are none; a constant string.
 */
struct vf_connectx {
	bool known;
	unsigned int bar;
	uint64_t uar_offset;
	uint64_t uar_size;
	uint64_t bf_offset;
	uint64_t bf_size;
	const char *why;
};

/**
 * vf_connectx_find() - the areas of a ConnectX function.
 * @f: function.
 * @bars: its BARs.
 * @out: receives the areas.
 *
 * mlx4 maps BAR 2 as UAR pages followed by as many BlueFlame pages (map_bf_area() in
 * drivers/net/ethernet/mellanox/mlx4/main.c). The exact size is in the firmware's
 * QUERY_DEV_CAP; without a driver only the even split, which BlueFlame requires, is known.
 *
 * Return: whether this is a ConnectX at all.
 */
bool vf_connectx_find(const struct vf_pci *f, const struct vf_bar bars[VF_BAR_COUNT],
		      struct vf_connectx *out);

#endif
