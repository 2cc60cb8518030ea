/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * A function's BARs: where they are, how they may be mapped, and which of their
 * pages a user may have.
 *
 * Sizes come from sysfs and not from configuration space, because the BARs of a VF
 * read as zero there: the PF's SR-IOV capability places them.
 */
#ifndef VF_BAR_H
#define VF_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vf/bdf.h>
#include <vf/config.h>
#include <vf/sys.h>

#define VF_BAR_COUNT 6
#define VF_BAR_AREAS 3

/**
 * struct vf_bar - one BAR.
 * @size: bytes, 0 for none.
 * @address: where the host placed it; 0 when it is not placed.
 * @io: I/O ports; otherwise memory.
 * @is_64bit: takes two BARs' places.
 * @prefetchable: reads have no side effects and writes may be merged.
 * @nr_areas: parts that vfio-pci lets be mapped.
 * @areas: offset and size of each, whole pages around the MSI-X table, ascending.
 */
struct vf_bar {
	uint64_t size;
	uint64_t address;
	bool io;
	bool is_64bit;
	bool prefetchable;
	unsigned int nr_areas;
	struct {
		uint64_t offset;
		uint64_t size;
	} areas[VF_BAR_AREAS];
};

/**
 * vf_bars_read() - the six BARs of a function.
 * @host: the host.
 * @bdf: function.
 * @msix: its MSI-X capability, or NULL when it has none or nobody knows.
 * @out: receives them; those that do not exist have size 0.
 *
 * Areas follow vfio_pci_probe_mmaps() in drivers/vfio/pci/vfio_pci_core.c: memory only;
 * a BAR below a page only where it begins a page. The page or pages of the MSI-X
 * table are left out: newer kernels let them be mapped, but whoever writes the table
 * itself escapes the kernel's interrupt set-up.
 *
 * Return: 0, -EBADMSG when the attribute "resource" makes no sense, or the errno of reading it.
 */
int vf_bars_read(const struct vf_host *host, const struct vf_bdf *bdf, const struct vf_msix *msix,
		 struct vf_bar out[VF_BAR_COUNT]);

#endif
