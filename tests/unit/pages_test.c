// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "vmm/assign/pages.h"

static struct vmm_pages out;

/* Pieces as text: "d0+2000 t2000+1000". */
static const char *split(uint64_t bar, uint64_t size, const struct vf_area *area, unsigned int nr,
			 const struct vmm_hole *hole, unsigned int holes)
{
	static char text[1024];
	struct vf_region region = { .size = size, .nr_areas = nr };
	size_t len = 0;

	if (nr)
		memcpy(region.areas, area, nr * sizeof(*area));
	vmm_pages_split(bar, &region, 4096, hole, holes, &out);
	text[0] = 0;
	for (unsigned int i = 0; i < out.nr; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%c%lx+%lx", i ? " " : "",
					out.piece[i].direct ? 'd' : 't',
					(unsigned long)out.piece[i].offset,
					(unsigned long)out.piece[i].size);
	return text;
}

#define AREAS(...)                               \
	(const struct vf_area[]){ __VA_ARGS__ }, \
		sizeof((const struct vf_area[]){ __VA_ARGS__ }) / sizeof(struct vf_area)
#define HOLES(...)                                \
	(const struct vmm_hole[]){ __VA_ARGS__ }, \
		sizeof((const struct vmm_hole[]){ __VA_ARGS__ }) / sizeof(struct vmm_hole)
#define NO_HOLES NULL, 0

START_TEST(whole_bar_is_direct)
{
	ck_assert_str_eq(split(0x4000, 0x4000, AREAS({ 0, 0x4000 }), NO_HOLES), "d0+4000");
}
END_TEST

START_TEST(nothing_mappable_traps)
{
	ck_assert_str_eq(split(0x4000, 0x4000, NULL, 0, NO_HOLES), "t0+4000");
}
END_TEST

START_TEST(table_in_the_middle_of_registers)
{
	/* QEMU's NVMe VF: registers, table at 0x2000, pending bits at 0x3000. */
	ck_assert_str_eq(
		split(0x4000, 0x4000, AREAS({ 0, 0x4000 }), HOLES({ 0x2000, 0x10 }, { 0x3000, 8 })),
		"d0+2000 t2000+2000");
	/* Odd offsets and lengths take every page that they touch. */
	ck_assert_str_eq(split(0x10000, 0x10000, AREAS({ 0, 0x10000 }),
			       HOLES({ 0x4ff8, 0x1010 }, { 0x9ff8, 8 })),
			 "d0+4000 t4000+3000 d7000+2000 t9000+1000 da000+6000");
}
END_TEST

START_TEST(table_at_the_edges)
{
	ck_assert_str_eq(
		split(0x4000, 0x4000, AREAS({ 0, 0x4000 }), HOLES({ 0, 0x800 }, { 0x3f00, 0x100 })),
		"t0+1000 d1000+2000 t3000+1000");
}
END_TEST

START_TEST(sparse_areas_keep_to_whole_pages)
{
	ck_assert_str_eq(
		split(0x8000, 0x8000, AREAS({ 0x1800, 0x2000 }, { 0x5000, 0x1800 }), NO_HOLES),
		"t0+2000 d2000+1000 t3000+2000 d5000+1000 t6000+2000");
}
END_TEST

START_TEST(areas_out_of_order_and_overlapping)
{
	ck_assert_str_eq(split(0x8000, 0x8000,
			       AREAS({ 0x4000, 0x3000 }, { 0, 0x2000 }, { 0x1000, 0x2000 },
				     { 0x3000, 0x1000 }, { 0x4000, 0x1000 }),
			       NO_HOLES),
			 "d0+7000 t7000+1000");
}
END_TEST

START_TEST(hostile_areas_stay_inside)
{
	ck_assert_str_eq(split(0x4000, 0x4000,
			       AREAS({ UINT64_MAX - 0xfff, 0x2000 }, { 0x3000, UINT64_MAX },
				     { 0x8000, 0x1000 }, { 0x1000, 0 }),
			       NO_HOLES),
			 "t0+3000 d3000+1000");
	ck_assert_str_eq(split(0x4000, 0x4000, AREAS({ 0, UINT64_MAX }),
			       HOLES({ UINT64_MAX - 7, UINT64_MAX }, { 0x1000, UINT64_MAX })),
			 "d0+1000 t1000+3000");
}
END_TEST

START_TEST(bar_rounded_up_beyond_its_region)
{
	ck_assert_str_eq(split(0x4000, 0x3000, AREAS({ 0, 0x4000 }), NO_HOLES),
			 "d0+3000 t3000+1000");
}
END_TEST

START_TEST(less_than_a_page_traps)
{
	ck_assert_str_eq(split(0x100, 0x100, AREAS({ 0, 0x100 }), NO_HOLES), "t0+100");
	ck_assert_str_eq(split(0x1000, 0x800, AREAS({ 0, 0x800 }), NO_HOLES), "t0+1000");
}
END_TEST

START_TEST(most_pieces_that_can_be)
{
	struct vf_area area[VF_REGION_AREAS_MAX];
	struct vmm_hole hole[2] = { { 0x1000, 1 }, { 0x11000, 1 } };
	uint64_t at = 0, direct = 0;

	for (unsigned int i = 0; i < VF_REGION_AREAS_MAX; i++)
		area[i] = (struct vf_area){ 0x10000 * i, 0x8000 };
	split(0x100000, 0x100000, area, VF_REGION_AREAS_MAX, hole, 2);
	for (unsigned int i = 0; i < out.nr; i++) {
		ck_assert_uint_eq(out.piece[i].offset, at);
		at += out.piece[i].size;
		direct += out.piece[i].direct ? out.piece[i].size : 0;
	}
	ck_assert_uint_eq(at, 0x100000);
	ck_assert_uint_eq(direct, 16 * 0x8000 - 2 * 0x1000);
}
END_TEST

SUITE("pages", whole_bar_is_direct, nothing_mappable_traps, table_in_the_middle_of_registers,
      table_at_the_edges, sparse_areas_keep_to_whole_pages, areas_out_of_order_and_overlapping,
      hostile_areas_stay_inside, bar_rounded_up_beyond_its_region, less_than_a_page_traps,
      most_pieces_that_can_be)
