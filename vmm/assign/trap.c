// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses that exit: the MSI-X table and pending bits are emulated, other registers in
 * the same pages are the hardware's.
 */
#include <string.h>

#include <linux/pci_regs.h>

#include "vmm/assign/state.h"

/* Largest aligned access at @off that takes no more than @len bytes. */
static unsigned int chunk(uint64_t off, unsigned int len)
{
	unsigned int n = 8;

	while (n > len || (off & (n - 1)))
		n /= 2;
	return n;
}

static bool within(uint64_t off, uint64_t start, uint64_t size)
{
	return off >= start && off - start < size;
}

static void hardware(struct vmm_assign *a, unsigned int bar, uint64_t off, uint8_t *data,
		     unsigned int len, bool write)
{
	int ret;

	if (write) {
		vf_device_write(a->dev, VF_REGION_BAR(bar), off, data, len);
		return;
	}
	ret = vf_device_read(a->dev, VF_REGION_BAR(bar), off, data, len);
	/* What cannot be read reads as ones, as an aborted transaction would. */
	if (ret)
		memset(data, 0xff, len);
}

static void part(struct vmm_assign *a, unsigned int bar, uint64_t off, uint8_t *data,
		 unsigned int len, bool write)
{
	const struct vmm_chain *c = &a->chain;

	if (c->msix_nr && bar == c->msix_bar &&
	    within(off, c->msix_table, (uint64_t)c->msix_nr * PCI_MSIX_ENTRY_SIZE)) {
		if (write)
			vmm_msix_table_write(&a->msix, off - c->msix_table, data, len);
		else
			vmm_msix_table_read(&a->msix, off - c->msix_table, data, len);
	} else if (c->msix_nr && bar == c->pba_bar &&
		   within(off, c->msix_pba, vmm_msix_pba_size(c->msix_nr))) {
		if (!write)
			vmm_msix_pba_read(&a->msix, off - c->msix_pba, data, len);
	} else {
		hardware(a, bar, off, data, len, write);
	}
}

void vmm_assign_trap(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_piece_state *p = priv;
	struct vmm_assign *a = p->assign;
	uint64_t off = p->offset + offset;
	uint8_t *byte = data;

	if (write)
		a->bar[p->bar].writes++;
	else
		a->bar[p->bar].reads++;
	/* Table and array begin and end on quadwords, so no aligned part straddles them. */
	while (len) {
		unsigned int n = chunk(off, len);

		part(a, p->bar, off, byte, n, write);
		off += n;
		byte += n;
		len -= n;
	}
}
