// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <vf/bar.h>
#include <vf/sysfs.h>

/* Flags in the third column (include/linux/ioport.h). */
#define RES_IO	     0x00000100u
#define RES_MEM	     0x00000200u
#define RES_PREFETCH 0x00002000u
#define RES_MEM_64   0x00100000u
#define RES_UNSET    0x20000000u

#define PAGE 4096u

static void add_area(struct vf_bar *b, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	b->areas[b->nr_areas].offset = start;
	b->areas[b->nr_areas].size = end - start;
	b->nr_areas++;
}

static void find_areas(struct vf_bar *b, int index, const struct vf_msix *msix)
{
	uint64_t first, last;

	if (b->io || !b->size)
		return;
	if (b->size < PAGE) {
		/* Only the kernel knows whether it can reserve the rest of that page. */
		if (!(b->address % PAGE) && !(msix && msix->table_bar == index))
			add_area(b, 0, b->size);
		return;
	}
	if (!msix || msix->table_bar != index || msix->table_offset >= b->size) {
		add_area(b, 0, b->size);
		return;
	}
	first = msix->table_offset & ~(uint64_t)(PAGE - 1);
	last = (uint64_t)msix->table_offset + UINT64_C(16) * msix->vectors;
	last = (last + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	add_area(b, 0, first);
	add_area(b, last, b->size);
}

static int parse_line(const char *line, struct vf_bar *b)
{
	uint64_t start, end, flags;

	if (sscanf(line, "0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64, &start, &end, &flags) != 3)
		return -EBADMSG;
	*b = (struct vf_bar){ 0 };
	if (!(flags & (RES_IO | RES_MEM)))
		return 0;
	if (end < start || end - start == UINT64_MAX)
		return -EBADMSG;
	b->size = end - start + 1;
	b->address = flags & RES_UNSET ? 0 : start;
	b->io = flags & RES_IO;
	b->is_64bit = flags & RES_MEM_64;
	b->prefetchable = flags & RES_PREFETCH;
	return 0;
}

int vf_bars_read(const struct vf_host *host, const struct vf_bdf *bdf, const struct vf_msix *msix,
		 struct vf_bar out[VF_BAR_COUNT])
{
	char name[VF_BDF_LEN], text[VF_ATTR_MAX], *line, *rest;
	int ret, i = 0;

	ret = vf_sysfs_read(host, text, sizeof(text), "sys/bus/pci/devices/%s/resource",
			    vf_bdf_format(bdf, name));
	if (ret < 0)
		return ret;
	for (line = strtok_r(text, "\n", &rest); line && i < VF_BAR_COUNT;
	     line = strtok_r(NULL, "\n", &rest), i++) {
		ret = parse_line(line, &out[i]);
		if (ret)
			return ret;
		find_areas(&out[i], i, msix);
	}
	return i == VF_BAR_COUNT ? 0 : -EBADMSG;
}
