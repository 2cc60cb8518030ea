// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <vf/connectx.h>

#define UAR_BAR 2

/* Less cannot hold the 128 pages that mlx4 sets aside and one more (mlx4_init_uar_table()). */
#define UAR_MIN (1u << 20)

/* ConnectX, -2 and -3 have device IDs 0x1002 to 0x1007 and the 0x63xx and 0x67xx of old. */
static bool is_mlx4(uint16_t id)
{
	return (id >= 0x1002 && id <= 0x1007) || (id & 0xfb00) == 0x6300;
}

bool vf_connectx_find(const struct vf_pci *f, const struct vf_bar bars[VF_BAR_COUNT],
		      struct vf_connectx *out)
{
	const struct vf_bar *b = &bars[UAR_BAR];

	*out = (struct vf_connectx){ .bar = UAR_BAR };
	if (f->vendor_id != VF_VENDOR_MELLANOX || f->class_code >> 16 != 0x02)
		return false;
	if (!is_mlx4(f->device_id)) {
		out->why = "ConnectX-4 and later have BlueFlame registers inside the UAR pages that "
			   "the firmware hands out; only a driver can tell which";
		return true;
	}
	if (b->io || !b->size) {
		out->why = "BAR 2, where the UAR pages should be, is missing";
		return true;
	}
	if (b->size & (b->size - 1) || b->size < UINT64_C(2) * UAR_MIN) {
		out->why = "BAR 2 is too small to hold BlueFlame pages besides the UAR pages";
		return true;
	}
	out->known = true;
	out->uar_size = out->bf_offset = out->bf_size = b->size / 2;
	out->why = "the halves of BAR 2; whether the VF may use BlueFlame is up to its PF";
	return true;
}
