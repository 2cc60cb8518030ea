// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rebuilding the list of extended capabilities.
 *
 * Kept are those that say something about this function alone. SR-IOV and resizable BARs
 * would let the guest change address decoding behind the host's back, ARI and DPC speak
 * of a port that is not there, and ATS, PRI and PASID of an IOMMU that the guest has not.
 */
#include <string.h>

#include <linux/pci_regs.h>

#include "vmm/assign/rebuild.h"

#define AER_SIZE    0x48u
#define DSN_SIZE    12u
#define VSEC_HEADER 8u

static uint32_t raw32(const struct vmm_rebuild *rb, unsigned int off)
{
	uint32_t v = 0;

	for (unsigned int i = 0; i < 4; i++)
		v |= (uint32_t)rb->raw[off + i] << (8 * i);
	return v;
}

static bool keep(struct vmm_rebuild *rb, unsigned int pos, uint32_t header)
{
	unsigned int len;

	switch (PCI_EXT_CAP_ID(header)) {
	case PCI_EXT_CAP_ID_ERR:
		/* Older devices end before the TLP prefix log; what follows is not theirs. */
		len = AER_SIZE;
		if (PCI_EXT_CAP_NEXT(header) > pos && PCI_EXT_CAP_NEXT(header) - pos < len)
			len = PCI_EXT_CAP_NEXT(header) - pos;
		if (!vmm_rebuild_claim(rb, pos, len, VMM_CFG_EXT_SIZE))
			return false;
		vmm_rebuild_copy(rb, pos + 4, len - 4);
		vmm_rebuild_pass(rb, pos + 4, len - 4);
		return true;
	case PCI_EXT_CAP_ID_DSN:
		if (!vmm_rebuild_claim(rb, pos, DSN_SIZE, VMM_CFG_EXT_SIZE))
			return false;
		vmm_rebuild_copy(rb, pos + 4, DSN_SIZE - 4);
		return true;
	case PCI_EXT_CAP_ID_VNDR:
		if (pos > VMM_CFG_EXT_SIZE - VSEC_HEADER)
			return false;
		len = PCI_VNDR_HEADER_LEN(raw32(rb, pos + PCI_VNDR_HEADER));
		if (len < VSEC_HEADER || !vmm_rebuild_claim(rb, pos, len, VMM_CFG_EXT_SIZE))
			return false;
		vmm_rebuild_copy(rb, pos + 4, len - 4);
		vmm_rebuild_pass(rb, pos + VSEC_HEADER, len - VSEC_HEADER);
		return true;
	default:
		return false;
	}
}

static void set_next(struct vmm_rebuild *rb, unsigned int pos, unsigned int next)
{
	uint32_t header = vmm_cfg_get32(rb->cfg, pos);

	vmm_cfg_set32(rb->cfg, pos, (header & 0xfffff) | (uint32_t)next << 20);
}

void vmm_rebuild_ext(struct vmm_rebuild *rb)
{
	bool seen[VMM_CFG_EXT_SIZE] = { false };
	unsigned int pos = VMM_CFG_SIZE, last = VMM_CFG_SIZE;

	while (pos >= VMM_CFG_SIZE && pos <= VMM_CFG_EXT_SIZE - 4 && !seen[pos]) {
		uint32_t header = raw32(rb, pos);

		seen[pos] = true;
		if (!header || header == UINT32_MAX)
			return;
		if (keep(rb, pos, header)) {
			vmm_cfg_set32(rb->cfg, pos, header & 0xfffff);
			if (pos != VMM_CFG_SIZE)
				set_next(rb, last, pos);
			last = pos;
		} else if (pos == VMM_CFG_SIZE) {
			/* The null capability takes its four bytes: ID and version zero. */
			memset(rb->taken + pos, 1, 4);
		}
		pos = PCI_EXT_CAP_NEXT(header) & ~3u;
	}
}
