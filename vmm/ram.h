/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guest memory: how much lies where, what backs it, and KVM's memory slots.
 */
#ifndef VMM_RAM_H
#define VMM_RAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bp/error.h>
#include <vf/iommu.h>

#define VMM_RAM_REGIONS_MAX 4

/** struct vmm_ram_region - RAM from @gpa, @size bytes; @hva is this process's view. */
struct vmm_ram_region {
	uint64_t gpa;
	uint64_t size;
	void *hva;
};

/**
 * struct vmm_ram_layout - the guest's address map, decided before anything is allocated.
 * @nr: regions in use.
 * @region: sorted, disjoint.
 * @mmio64_base: start of the 64-bit prefetchable PCI window, above all RAM, 1 GiB aligned.
 * @mmio64_end: first byte after it.
 */
struct vmm_ram_layout {
	unsigned int nr;
	struct vmm_ram_region region[VMM_RAM_REGIONS_MAX];
	uint64_t mmio64_base;
	uint64_t mmio64_end;
};

/**
 * vmm_ram_plan() - lay out RAM and the 64-bit window around what may not be used.
 * @size: bytes of RAM, a multiple of @align.
 * @align: page size of the backing, 4 KiB, 2 MiB or 1 GiB; region edges keep to it.
 * @mmio64_size: bytes that the assigned devices' 64-bit BARs need.
 * @maxphyaddr: guest physical address width in bits.
 * @usable: I/O address ranges that devices can reach (vf_iommu_ranges()), sorted; with
 *          @nr_usable 0 only AMD's HyperTransport hole is left out.
 * @nr_usable: entries of @usable.
 * @out: receives the layout; hva is NULL.
 * @err: receives the reason of a failure.
 *
 * Return: 0; -EINVAL for a size that is not aligned or is below 16 MiB, -ERANGE when the
 * address space cannot hold it, -ENXIO when low RAM itself is not reachable for DMA.
 */
int vmm_ram_plan(uint64_t size, uint64_t align, uint64_t mmio64_size, unsigned int maxphyaddr,
		 const struct vf_iova_range *usable, size_t nr_usable, struct vmm_ram_layout *out,
		 struct bp_error *err);

struct vmm_ram;

/**
 * vmm_ram_new() - allocate memory for a layout and give it to KVM.
 * @vm_fd: virtual machine.
 * @layout: from vmm_ram_plan().
 * @page_size: 0 for ordinary pages, 2 MiB or 1 GiB for huge ones (memfd with MFD_HUGETLB).
 * @out: receives the memory.
 * @err: says how many huge pages are free and how to reserve more.
 *
 * Return: 0, or a negative errno.
 */
int vmm_ram_new(int vm_fd, const struct vmm_ram_layout *layout, uint64_t page_size,
		struct vmm_ram **out, struct bp_error *err);

/** vmm_ram_free() - take the memory away. @ram: NULL is allowed. */
void vmm_ram_free(struct vmm_ram *ram);

/** vmm_ram_layout() - the layout with addresses filled in. @ram: memory. Return: constant. */
const struct vmm_ram_layout *vmm_ram_layout(const struct vmm_ram *ram);

/**
 * vmm_ram_at() - this process's address of guest memory.
 * @ram: memory.
 * @gpa: guest physical address.
 * @len: bytes, not 0, that must all lie in one region.
 *
 * Return: address, or NULL when any byte is not RAM.
 */
void *vmm_ram_at(const struct vmm_ram *ram, uint64_t gpa, uint64_t len);

/**
 * vmm_slot_add() - map host memory that is not RAM (a BAR) into the guest.
 * @ram: keeper of the slots.
 * @gpa: page aligned.
 * @size: bytes, a multiple of the page size.
 * @hva: page aligned.
 *
 * Return: slot number, or a negative errno (-EEXIST overlap, -ENOSPC no slot left).
 */
int vmm_slot_add(struct vmm_ram *ram, uint64_t gpa, uint64_t size, void *hva);

/** vmm_slot_remove() - unmap a slot from the guest. @ram: keeper. @slot: from vmm_slot_add(). */
void vmm_slot_remove(struct vmm_ram *ram, int slot);

#endif
