// SPDX-License-Identifier: GPL-2.0-only
/*
 * BARs of an assigned function: direct pieces become areas of memory, the rest is on the bus.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include <bp/log.h>
#include "vmm/assign/state.h"

static uint64_t round_up_pow2(uint64_t v)
{
	uint64_t p = 1;

	while (p < v && p < 1ull << 62)
		p <<= 1;
	return p;
}

void vmm_assign_bars_describe(struct vf_device *dev, const uint8_t *raw, struct vmm_pci_bar *bar)
{
	memset(bar, 0, VMM_PCI_BARS * sizeof(*bar));
	for (unsigned int n = 0; n < VMM_PCI_BARS; n++) {
		const struct vf_region *region = vf_device_region(dev, VF_REGION_BAR(n));
		uint8_t type = raw[PCI_BASE_ADDRESS_0 + 4 * n];
		uint64_t least;

		if (!region->size)
			continue;
		bar[n].io = type & PCI_BASE_ADDRESS_SPACE_IO;
		least = bar[n].io ? 4 : 16;
		bar[n].size = round_up_pow2(region->size < least ? least : region->size);
		if (bar[n].io)
			continue;
		bar[n].prefetch = type & PCI_BASE_ADDRESS_MEM_PREFETCH;
		bar[n].is64 = (type & PCI_BASE_ADDRESS_MEM_TYPE_MASK) ==
				      PCI_BASE_ADDRESS_MEM_TYPE_64 &&
			      n + 1 < VMM_PCI_BARS;
		if (bar[n].is64)
			n++;
	}
}

uint64_t vmm_assign_bar_space(struct vf_device *dev)
{
	struct vmm_pci_bar bar[VMM_PCI_BARS];
	uint8_t raw[PCI_STD_HEADER_SIZEOF];
	uint64_t sum = 0, largest = 0;

	if (vf_device_read(dev, VF_REGION_CONFIG, 0, raw, sizeof(raw)))
		return 0;
	vmm_assign_bars_describe(dev, raw, bar);
	for (unsigned int n = 0; n < VMM_PCI_BARS; n++) {
		uint64_t size = bar[n].size < 4096 ? 4096 : bar[n].size;

		if (!bar[n].size || !bar[n].is64 || !bar[n].prefetch)
			continue;
		sum += size;
		if (size > largest)
			largest = size;
	}
	/* Behind another device's BARs the largest may have to skip up to its own size. */
	return sum + largest;
}

static unsigned int holes(const struct vmm_assign *a, unsigned int bar, struct vmm_hole *hole)
{
	const struct vmm_chain *c = &a->chain;
	unsigned int nr = 0;

	if (!c->msix_nr)
		return 0;
	if (c->msix_bar == bar)
		hole[nr++] = (struct vmm_hole){ c->msix_table,
						(uint64_t)c->msix_nr * PCI_MSIX_ENTRY_SIZE };
	if (c->pba_bar == bar)
		hole[nr++] = (struct vmm_hole){ c->msix_pba, vmm_msix_pba_size(c->msix_nr) };
	return nr;
}

static void open_piece(struct vmm_assign *a, struct vmm_piece_state *p, bool direct)
{
	int ret;

	if (!direct)
		return;
	ret = vf_device_map(a->dev, VF_REGION_BAR(p->bar), p->offset, p->size, &p->va);
	if (!ret)
		return;
	p->va = NULL;
	bp_log_warn("%s: %#" PRIx64 "-%#" PRIx64 " cannot be mapped (%s); each access exits",
		    a->bar[p->bar].name, p->offset, p->offset + p->size, strerror(-ret));
}

void vmm_assign_bars_open(struct vmm_assign *a)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (unsigned int n = 0; n < VMM_PCI_BARS; n++) {
		struct vmm_bar_state *bar = &a->bar[n];
		struct vmm_pages pages;
		struct vmm_hole hole[2];

		if (!a->pci.bar[n].size)
			continue;
		snprintf(bar->name, sizeof(bar->name), "%s BAR %u", a->name, n);
		if (a->pci.bar[n].io) {
			pages.nr = 1;
			pages.piece[0] = (struct vmm_piece){ 0, a->pci.bar[n].size, false };
		} else {
			vmm_pages_split(a->pci.bar[n].size, vf_device_region(a->dev, n), page, hole,
					holes(a, n, hole), &pages);
		}
		bar->nr = pages.nr;
		for (unsigned int i = 0; i < pages.nr; i++) {
			bar->piece[i] = (struct vmm_piece_state){
				.assign = a,
				.bar = n,
				.area = -1,
				.offset = pages.piece[i].offset,
				.size = pages.piece[i].size,
			};
			open_piece(a, &bar->piece[i], pages.piece[i].direct);
		}
	}
}

void vmm_assign_bars_close(struct vmm_assign *a)
{
	for (unsigned int n = 0; n < VMM_PCI_BARS; n++) {
		struct vmm_bar_state *bar = &a->bar[n];

		for (unsigned int i = 0; i < bar->nr; i++) {
			if (bar->piece[i].va)
				vf_device_unmap(a->dev, bar->piece[i].va, bar->piece[i].size);
			bar->piece[i].va = NULL;
		}
		bar->nr = 0;
	}
}

/*
 * Other devices reach this BAR at the guest's address. Not every kernel and not every
 * address allows it; without it such transfers fail, everything else works.
 */
static void peer_map(struct vmm_assign *a, struct vmm_piece_state *p, uint64_t gpa)
{
	int ret;

	if (!a->p2p)
		return;
	ret = vf_iommu_map(a->vmm->iommu, gpa, p->va, p->size, VF_MAP_READ | VF_MAP_WRITE, NULL);
	p->peer = !ret;
	if (!ret || a->peer_refused)
		return;
	a->peer_refused = true;
	bp_log_info("%s at %#" PRIx64 " is not reachable for other devices: %s",
		    a->bar[p->bar].name, gpa, strerror(-ret));
}

static void piece_unmap(struct vmm_assign *a, struct vmm_piece_state *p, uint64_t gpa, bool io)
{
	if (p->peer)
		vf_iommu_unmap(a->vmm->iommu, gpa, p->size);
	p->peer = false;
	if (p->area >= 0)
		vmm_mt_area_remove(a->vmm->mt, p->area);
	p->area = -1;
	if (p->trapped)
		vmm_bus_remove(io ? a->vmm->pio : a->vmm->mmio, gpa);
	p->trapped = false;
}

static int piece_map(struct vmm_assign *a, struct vmm_piece_state *p, uint64_t gpa, bool io)
{
	const struct vmm_mt_place place = { a->name, p->bar, p->offset };
	int ret;

	if (!p->va) {
		ret = vmm_bus_add(io ? a->vmm->pio : a->vmm->mmio, gpa, p->size, vmm_assign_trap, p,
				  a->bar[p->bar].name);
		p->trapped = !ret;
		return ret;
	}
	ret = vmm_mt_area_add(a->vmm->mt, &place, gpa, p->size, p->va);
	if (ret < 0)
		return ret;
	p->area = ret;
	peer_map(a, p, gpa);
	return 0;
}

int vmm_assign_bar_map(struct vmm_pci_dev *dev, unsigned int n)
{
	struct vmm_assign *a = vmm_assign_of(dev);
	struct vmm_bar_state *bar = &a->bar[n];

	for (unsigned int i = 0; i < bar->nr; i++) {
		struct vmm_piece_state *p = &bar->piece[i];
		int ret = piece_map(a, p, dev->bar[n].addr + p->offset, dev->bar[n].io);

		if (!ret)
			continue;
		bp_log_warn("%s stays unreachable at %#" PRIx64 ": %s", bar->name, dev->bar[n].addr,
			    strerror(-ret));
		while (i--)
			piece_unmap(a, &bar->piece[i], dev->bar[n].addr + bar->piece[i].offset,
				    dev->bar[n].io);
		return ret;
	}
	return 0;
}

void vmm_assign_bar_unmap(struct vmm_pci_dev *dev, unsigned int n)
{
	struct vmm_assign *a = vmm_assign_of(dev);
	struct vmm_bar_state *bar = &a->bar[n];

	for (unsigned int i = 0; i < bar->nr; i++)
		piece_unmap(a, &bar->piece[i], dev->bar[n].addr + bar->piece[i].offset,
			    dev->bar[n].io);
}
