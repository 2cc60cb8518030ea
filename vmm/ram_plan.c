// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "vmm/layout.h"
#include "vmm/ram.h"

#define MIB	(1ull << 20)
#define GIB	(1ull << 30)
#define RAM_MIN (16 * MIB)

/* Without assigned devices nothing limits DMA, but the same guest should fit with them. */
static const struct vf_iova_range around_ht[] = {
	{ 0, VMM_HT_HOLE_START - 1 },
	{ VMM_HT_HOLE_END, UINT64_MAX },
};

static bool reachable(const struct vf_iova_range *r, size_t nr, uint64_t start, uint64_t last)
{
	/* Two ranges may meet without a gap. */
	for (size_t i = 0; i < nr; i++) {
		if (r[i].start > start || r[i].last < start)
			continue;
		if (r[i].last >= last)
			return true;
		start = r[i].last + 1;
	}
	return false;
}

/* @align is a power of two; false when that leaves 64 bits. */
static bool round_up(uint64_t *v, uint64_t align)
{
	uint64_t up = (*v + align - 1) & ~(align - 1);

	if (up < *v)
		return false;
	*v = up;
	return true;
}

/*
 * The part of @r that lies in [@floor, @limit), its start aligned.
 * Return: whether anything is left; @end is exclusive.
 */
static bool cut(const struct vf_iova_range *r, uint64_t floor, uint64_t limit, uint64_t align,
		uint64_t *start, uint64_t *end)
{
	*start = r->start > floor ? r->start : floor;
	*end = r->last >= limit ? limit : r->last + 1;
	return round_up(start, align) && *start < *end;
}

static void add_region(struct vmm_ram_layout *l, uint64_t gpa, uint64_t size)
{
	struct vmm_ram_region *prev = l->nr ? &l->region[l->nr - 1] : NULL;

	if (prev && prev->gpa + prev->size == gpa)
		prev->size += size;
	else
		l->region[l->nr++] = (struct vmm_ram_region){ gpa, size, NULL };
}

static bool is_page_size(uint64_t align)
{
	return align == 4096 || align == 2 * MIB || align == GIB;
}

static int place_high_ram(uint64_t left, uint64_t align, uint64_t limit,
			  const struct vf_iova_range *r, size_t nr, struct vmm_ram_layout *out)
{
	for (size_t i = 0; i < nr && left; i++) {
		uint64_t start, end, size;

		if (!cut(&r[i], VMM_HIGH_RAM_BASE, limit, align, &start, &end))
			continue;
		size = (end - start) & ~(align - 1);
		if (size > left)
			size = left;
		if (!size)
			continue;
		if (out->nr == VMM_RAM_REGIONS_MAX)
			return -ERANGE;
		add_region(out, start, size);
		left -= size;
	}
	return left ? -ERANGE : 0;
}

static int place_window(uint64_t size, uint64_t limit, const struct vf_iova_range *r, size_t nr,
			struct vmm_ram_layout *out)
{
	const struct vmm_ram_region *top = &out->region[out->nr - 1];
	uint64_t floor = top->gpa + top->size;
	uint64_t align = GIB;

	if (floor < VMM_HIGH_RAM_BASE)
		floor = VMM_HIGH_RAM_BASE;
	/* No BAR is larger than all of them together, so this aligns the largest one. */
	while (align < size && align <= size / 2)
		align *= 2;
	if (!round_up(&size, GIB))
		return -ERANGE;
	for (size_t i = 0; i < nr; i++) {
		uint64_t start, end;

		if (!cut(&r[i], floor, limit, align, &start, &end) || end - start < size)
			continue;
		out->mmio64_base = start;
		out->mmio64_end = start + size;
		return 0;
	}
	return -ERANGE;
}

int vmm_ram_plan(uint64_t size, uint64_t align, uint64_t mmio64_size, unsigned int maxphyaddr,
		 const struct vf_iova_range *usable, size_t nr_usable, struct vmm_ram_layout *out,
		 struct bp_error *err)
{
	uint64_t limit, low;

	memset(out, 0, sizeof(*out));
	if (!is_page_size(align) || maxphyaddr < 32 || maxphyaddr > 63)
		return bp_error_set(
			err, -EINVAL, NULL,
			"no memory can be laid out in pages of %llu bytes and %u address bits",
			(unsigned long long)align, maxphyaddr);
	if (size < RAM_MIN)
		return bp_error_set(
			err, -EINVAL, "give a size such as 512M",
			"%llu bytes of memory are less than the 16 MiB that a guest needs",
			(unsigned long long)size);
	if (size & (align - 1))
		return bp_error_set(err, -EINVAL, "choose a multiple",
				    "memory of %llu MiB is no multiple of the page size, %llu KiB",
				    (unsigned long long)(size / MIB),
				    (unsigned long long)(align / 1024));
	if (!nr_usable) {
		usable = around_ht;
		nr_usable = sizeof(around_ht) / sizeof(around_ht[0]);
	}
	limit = 1ull << maxphyaddr;

	low = size < VMM_LOW_RAM_END ? size : VMM_LOW_RAM_END;
	if (!reachable(usable, nr_usable, 0, low - 1))
		return bp_error_set(
			err, -ENXIO,
			"see reserved_regions of the device's IOMMU group; a smaller --mem may "
			"avoid them",
			"the assigned devices cannot reach all memory below %#llx by DMA",
			(unsigned long long)low);
	add_region(out, 0, low);
	if (size > low && place_high_ram(size - low, align, limit, usable, nr_usable, out))
		return bp_error_set(err, -ERANGE, "give the guest less memory",
				    "%llu MiB of memory do not fit a physical address width of %u "
				    "bits around what devices cannot reach",
				    (unsigned long long)(size / MIB), maxphyaddr);
	if (mmio64_size) {
		if (place_window(mmio64_size, limit, usable, nr_usable, out))
			return bp_error_set(err, -ERANGE,
					    "give the guest less memory or fewer devices",
					    "%llu MiB of 64-bit BARs do not fit above %llu MiB of "
					    "memory in a physical address width of %u bits",
					    (unsigned long long)(mmio64_size / MIB),
					    (unsigned long long)(size / MIB), maxphyaddr);
	} else {
		/* An empty window; where it starts says nothing. */
		out->mmio64_base = out->mmio64_end = VMM_HIGH_RAM_BASE;
	}
	return 0;
}
