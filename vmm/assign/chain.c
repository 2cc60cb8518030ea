// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rebuilding the conventional header and its capability list. The extended list is in
 * extchain.c.
 */
#include "vmm/assign/chain.h"

#include <errno.h>
#include <string.h>

#include <linux/pci_regs.h>

#include "vmm/assign/rebuild.h"

static uint16_t raw16(const struct vmm_rebuild *rb, unsigned int off)
{
	/* A capability near the end may be cut off: its claim fails, but only after a look. */
	if (off + 2 > rb->size)
		return 0;
	return (uint16_t)(rb->raw[off] | rb->raw[off + 1] << 8);
}

static uint32_t raw32(const struct vmm_rebuild *rb, unsigned int off)
{
	return raw16(rb, off) | (uint32_t)raw16(rb, off + 2) << 16;
}

bool vmm_rebuild_claim(struct vmm_rebuild *rb, unsigned int off, unsigned int len, unsigned int end)
{
	if (off > end || len > end - off)
		return false;
	for (unsigned int i = 0; i < len; i++)
		if (rb->taken[off + i])
			return false;
	memset(rb->taken + off, 1, len);
	return true;
}

void vmm_rebuild_copy(struct vmm_rebuild *rb, unsigned int off, unsigned int len)
{
	memcpy(rb->cfg->data + off, rb->raw + off, len);
}

void vmm_rebuild_pass(struct vmm_rebuild *rb, unsigned int off, unsigned int len)
{
	memset(rb->cfg->wmask + off, 0xff, len);
	memset(rb->chain->live + off, 0xff, len);
	memset(rb->chain->forward + off, 0xff, len);
}

static void wmask16(struct vmm_rebuild *rb, unsigned int off, uint16_t mask)
{
	rb->cfg->wmask[off] = (uint8_t)mask;
	rb->cfg->wmask[off + 1] = (uint8_t)(mask >> 8);
}

static void live16(struct vmm_rebuild *rb, unsigned int off, uint16_t mask)
{
	rb->chain->live[off] = (uint8_t)mask;
	rb->chain->live[off + 1] = (uint8_t)(mask >> 8);
}

/*
 * Power management is emulated: with the hardware in D3hot the kernel takes the BARs'
 * pages away, and a guest that touches them would stop instead of reading ones. PME
 * does not reach the guest and is not offered.
 */
static bool keep_pm(struct vmm_rebuild *rb, unsigned int pos)
{
	if (rb->chain->pm || !vmm_rebuild_claim(rb, pos, PCI_PM_SIZEOF, VMM_CFG_SIZE))
		return false;
	vmm_cfg_set16(rb->cfg, pos + PCI_PM_PMC,
		      raw16(rb, pos + PCI_PM_PMC) & (uint16_t)~PCI_PM_CAP_PME_MASK);
	vmm_cfg_set16(rb->cfg, pos + PCI_PM_CTRL,
		      raw16(rb, pos + PCI_PM_CTRL) & PCI_PM_CTRL_NO_SOFT_RESET);
	wmask16(rb, pos + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
	rb->chain->pm = pos;
	return true;
}

static unsigned int log2_floor(unsigned int v)
{
	unsigned int n = 0;

	while (v >>= 1)
		n++;
	return n;
}

static bool keep_msi(struct vmm_rebuild *rb, unsigned int pos)
{
	uint16_t flags = raw16(rb, pos + PCI_MSI_FLAGS);
	bool wide = flags & PCI_MSI_FLAGS_64BIT;
	bool maskable = flags & PCI_MSI_FLAGS_MASKBIT;
	unsigned int mmc = (flags & PCI_MSI_FLAGS_QMASK) >> 1;
	unsigned int data = wide ? PCI_MSI_DATA_64 : PCI_MSI_DATA_32;
	unsigned int len = (wide ? 14 : 10) + (maskable ? 10 : 0);
	unsigned int limit = rb->opts->msi_vectors > 32 ? 32 : rb->opts->msi_vectors;

	if (rb->opts->hide_msi || !limit || rb->chain->msi || mmc > 5)
		return false;
	if (!vmm_rebuild_claim(rb, pos, len, VMM_CFG_SIZE))
		return false;
	if (mmc > log2_floor(limit))
		mmc = log2_floor(limit);
	vmm_cfg_set16(
		rb->cfg, pos + PCI_MSI_FLAGS,
		(uint16_t)((flags & (PCI_MSI_FLAGS_64BIT | PCI_MSI_FLAGS_MASKBIT)) | mmc << 1));
	wmask16(rb, pos + PCI_MSI_FLAGS, PCI_MSI_FLAGS_ENABLE | PCI_MSI_FLAGS_QSIZE);
	wmask16(rb, pos + PCI_MSI_ADDRESS_LO, 0xfffc);
	wmask16(rb, pos + PCI_MSI_ADDRESS_LO + 2, 0xffff);
	if (wide)
		memset(rb->cfg->wmask + pos + PCI_MSI_ADDRESS_HI, 0xff, 4);
	wmask16(rb, pos + data, 0xffff);
	if (maskable) {
		unsigned int mask = wide ? PCI_MSI_MASK_64 : PCI_MSI_MASK_32;
		uint32_t bits = (uint32_t)((1ull << (1u << mmc)) - 1);

		wmask16(rb, pos + mask, (uint16_t)bits);
		wmask16(rb, pos + mask + 2, (uint16_t)(bits >> 16));
	}
	rb->chain->msi = pos;
	rb->chain->msi_nr = 1u << mmc;
	return true;
}

static bool fits(const struct vmm_chain_opts *opts, unsigned int bar, uint64_t off, uint64_t len)
{
	return bar < 6 && off < opts->bar_size[bar] && len <= opts->bar_size[bar] - off;
}

static bool keep_msix(struct vmm_rebuild *rb, unsigned int pos)
{
	uint16_t flags = raw16(rb, pos + PCI_MSIX_FLAGS);
	uint32_t table = raw32(rb, pos + PCI_MSIX_TABLE);
	uint32_t pba = raw32(rb, pos + PCI_MSIX_PBA);
	unsigned int tbar = table & PCI_MSIX_TABLE_BIR, pbar = pba & PCI_MSIX_PBA_BIR;
	uint64_t toff = table & PCI_MSIX_TABLE_OFFSET, poff = pba & PCI_MSIX_PBA_OFFSET;
	unsigned int nr = (flags & PCI_MSIX_FLAGS_QSIZE) + 1u;
	uint64_t tlen, plen;

	if (rb->opts->hide_msi || !rb->opts->msix_vectors || rb->chain->msix)
		return false;
	if (nr > rb->opts->msix_vectors)
		nr = rb->opts->msix_vectors;
	tlen = (uint64_t)nr * PCI_MSIX_ENTRY_SIZE;
	plen = vmm_msix_pba_size(nr);
	if (!fits(rb->opts, tbar, toff, tlen) || !fits(rb->opts, pbar, poff, plen))
		return false;
	if (tbar == pbar && toff < poff + plen && poff < toff + tlen)
		return false;
	if (!vmm_rebuild_claim(rb, pos, PCI_CAP_MSIX_SIZEOF, VMM_CFG_SIZE))
		return false;
	vmm_cfg_set16(rb->cfg, pos + PCI_MSIX_FLAGS, (uint16_t)(nr - 1));
	wmask16(rb, pos + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	vmm_rebuild_copy(rb, pos + PCI_MSIX_TABLE, 8);
	rb->chain->msix = pos;
	rb->chain->msix_nr = nr;
	rb->chain->msix_bar = tbar;
	rb->chain->msix_table = toff;
	rb->chain->pba_bar = pbar;
	rb->chain->msix_pba = poff;
	return true;
}

/*
 * Device control bits that the guest decides. Payload size is kept for the guest to read
 * back only: the kernel never lets it reach the hardware, where it has to match the host's
 * topology. Phantom functions and auxiliary power are left alone.
 */
#define DEVCTL_WRITABLE                                                                           \
	(PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE | PCI_EXP_DEVCTL_URRE | \
	 PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_PAYLOAD | PCI_EXP_DEVCTL_EXT_TAG |              \
	 PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ)
#define DEVSTA_W1C \
	(PCI_EXP_DEVSTA_CED | PCI_EXP_DEVSTA_NFED | PCI_EXP_DEVSTA_FED | PCI_EXP_DEVSTA_URD)
/* Completion timeout ranges and disable: all else needs the host's root complex to agree. */
#define DEVCAP2_KEPT 0x0000001fu
#define DEVCTL2_WRITABLE                                                 \
	(PCI_EXP_DEVCTL2_COMP_TIMEOUT | PCI_EXP_DEVCTL2_COMP_TMOUT_DIS | \
	 PCI_EXP_DEVCTL2_IDO_REQ_EN | PCI_EXP_DEVCTL2_IDO_CMP_EN)
#define EXP_V1_RC_END_SIZE 12u
#define EXP_V2_SIZE	   60u

static bool keep_exp(struct vmm_rebuild *rb, unsigned int pos)
{
	uint16_t flags = raw16(rb, pos + PCI_EXP_FLAGS);
	unsigned int type = (flags & PCI_EXP_FLAGS_TYPE) >> 4;
	bool v2 = (flags & PCI_EXP_FLAGS_VERS) >= 2;
	uint16_t devctl2;

	if (rb->chain->exp || !(flags & PCI_EXP_FLAGS_VERS))
		return false;
	if (type != PCI_EXP_TYPE_ENDPOINT && type != PCI_EXP_TYPE_LEG_END &&
	    type != PCI_EXP_TYPE_RC_END)
		return false;
	if (!vmm_rebuild_claim(rb, pos, v2 ? EXP_V2_SIZE : EXP_V1_RC_END_SIZE, VMM_CFG_SIZE))
		return false;
	flags &= (uint16_t) ~(PCI_EXP_FLAGS_TYPE | PCI_EXP_FLAGS_SLOT);
	vmm_cfg_set16(rb->cfg, pos + PCI_EXP_FLAGS, (uint16_t)(flags | PCI_EXP_TYPE_RC_END << 4));
	vmm_cfg_set32(rb->cfg, pos + PCI_EXP_DEVCAP,
		      raw32(rb, pos + PCI_EXP_DEVCAP) &
			      ~(uint32_t)(PCI_EXP_DEVCAP_PHANTOM | PCI_EXP_DEVCAP_PWR_VAL |
					  PCI_EXP_DEVCAP_PWR_SCL));
	vmm_cfg_set16(rb->cfg, pos + PCI_EXP_DEVCTL,
		      raw16(rb, pos + PCI_EXP_DEVCTL) & DEVCTL_WRITABLE);
	wmask16(rb, pos + PCI_EXP_DEVCTL,
		DEVCTL_WRITABLE | (raw32(rb, pos + PCI_EXP_DEVCAP) & PCI_EXP_DEVCAP_FLR
					   ? PCI_EXP_DEVCTL_BCR_FLR
					   : 0));
	live16(rb, pos + PCI_EXP_DEVSTA, DEVSTA_W1C | PCI_EXP_DEVSTA_TRPND);
	wmask16(rb, pos + PCI_EXP_DEVSTA, DEVSTA_W1C);
	memset(rb->chain->forward + pos + PCI_EXP_DEVSTA, 0xff, 2);
	rb->chain->exp = pos;
	if (!v2)
		return true;
	devctl2 = raw16(rb, pos + PCI_EXP_DEVCTL2) & DEVCTL2_WRITABLE;
	vmm_cfg_set32(rb->cfg, pos + PCI_EXP_DEVCAP2,
		      raw32(rb, pos + PCI_EXP_DEVCAP2) & DEVCAP2_KEPT);
	vmm_cfg_set16(rb->cfg, pos + PCI_EXP_DEVCTL2, devctl2);
	wmask16(rb, pos + PCI_EXP_DEVCTL2, DEVCTL2_WRITABLE);
	memset(rb->chain->forward + pos + PCI_EXP_DEVCTL2, 0xff, 2);
	return true;
}

static bool keep_vpd(struct vmm_rebuild *rb, unsigned int pos)
{
	if (!vmm_rebuild_claim(rb, pos, PCI_CAP_VPD_SIZEOF, VMM_CFG_SIZE))
		return false;
	vmm_rebuild_pass(rb, pos + PCI_VPD_ADDR, 6);
	return true;
}

static bool keep_vendor(struct vmm_rebuild *rb, unsigned int pos)
{
	unsigned int len = rb->raw[pos + PCI_CAP_FLAGS];

	if (len < 3 || !vmm_rebuild_claim(rb, pos, len, VMM_CFG_SIZE))
		return false;
	vmm_rebuild_copy(rb, pos + PCI_CAP_FLAGS, 1);
	vmm_rebuild_copy(rb, pos + 3, len - 3);
	vmm_rebuild_pass(rb, pos + 3, len - 3);
	return true;
}

static bool keep_ssvid(struct vmm_rebuild *rb, unsigned int pos)
{
	if (!vmm_rebuild_claim(rb, pos, 8, VMM_CFG_SIZE))
		return false;
	vmm_rebuild_copy(rb, pos + 4, 4);
	return true;
}

static bool keep_af(struct vmm_rebuild *rb, unsigned int pos)
{
	if (rb->chain->af || !vmm_rebuild_claim(rb, pos, PCI_CAP_AF_SIZEOF, VMM_CFG_SIZE))
		return false;
	vmm_rebuild_copy(rb, pos + PCI_AF_LENGTH, 2);
	if (rb->raw[pos + PCI_AF_CAP] & PCI_AF_CAP_FLR)
		rb->cfg->wmask[pos + PCI_AF_CTRL] = PCI_AF_CTRL_FLR;
	rb->chain->live[pos + PCI_AF_STATUS] = PCI_AF_STATUS_TP;
	rb->chain->af = pos;
	return true;
}

static bool keep(struct vmm_rebuild *rb, unsigned int pos)
{
	switch (rb->raw[pos]) {
	case PCI_CAP_ID_PM:
		return keep_pm(rb, pos);
	case PCI_CAP_ID_VPD:
		return keep_vpd(rb, pos);
	case PCI_CAP_ID_MSI:
		return keep_msi(rb, pos);
	case PCI_CAP_ID_VNDR:
		return keep_vendor(rb, pos);
	case PCI_CAP_ID_SSVID:
		return keep_ssvid(rb, pos);
	case PCI_CAP_ID_EXP:
		return keep_exp(rb, pos);
	case PCI_CAP_ID_MSIX:
		return keep_msix(rb, pos);
	case PCI_CAP_ID_AF:
		return keep_af(rb, pos);
	default:
		/* Enhanced Allocation, for one, would fix addresses that the guest must move. */
		return false;
	}
}

static void rebuild_caps(struct vmm_rebuild *rb)
{
	unsigned int link = PCI_CAPABILITY_LIST, pos;
	bool seen[VMM_CFG_SIZE] = { false };

	if (!(raw16(rb, PCI_STATUS) & PCI_STATUS_CAP_LIST))
		return;
	pos = rb->raw[PCI_CAPABILITY_LIST] & ~3u;
	while (pos >= PCI_STD_HEADER_SIZEOF && !seen[pos]) {
		seen[pos] = true;
		if (keep(rb, pos)) {
			rb->cfg->data[pos] = rb->raw[pos];
			rb->cfg->data[link] = (uint8_t)pos;
			link = pos + PCI_CAP_LIST_NEXT;
		}
		pos = rb->raw[pos + PCI_CAP_LIST_NEXT] & ~3u;
	}
	if (link != PCI_CAPABILITY_LIST)
		vmm_cfg_set16(rb->cfg, PCI_STATUS, PCI_STATUS_CAP_LIST);
}

static void rebuild_header(struct vmm_rebuild *rb)
{
	struct vmm_cfgspace *cfg = rb->cfg;
	unsigned int pin = rb->raw[PCI_INTERRUPT_PIN];

	memset(rb->taken, 1, PCI_STD_HEADER_SIZEOF);
	vmm_rebuild_copy(rb, PCI_VENDOR_ID, 4);
	vmm_rebuild_copy(rb, PCI_CLASS_REVISION, 4);
	vmm_rebuild_copy(rb, PCI_CACHE_LINE_SIZE, 1);
	vmm_rebuild_copy(rb, PCI_SUBSYSTEM_VENDOR_ID, 4);
	vmm_rebuild_copy(rb, PCI_MIN_GNT, 2);
	cfg->wmask[PCI_CACHE_LINE_SIZE] = 0xff;
	wmask16(rb, PCI_COMMAND, PCI_COMMAND_PARITY | PCI_COMMAND_SERR);
	/* Everything but the capability bit is the hardware's; errors are cleared by ones. */
	live16(rb, PCI_STATUS, 0xf900 | PCI_STATUS_INTERRUPT);
	wmask16(rb, PCI_STATUS, 0xf900);
	memset(rb->chain->forward + PCI_STATUS, 0xff, 2);
	rb->chain->intx_pin = rb->opts->intx && pin <= 4 ? pin : 0;
	cfg->data[PCI_INTERRUPT_PIN] = (uint8_t)rb->chain->intx_pin;
}

int vmm_chain_build(const uint8_t *raw, size_t size, const struct vmm_chain_opts *opts,
		    struct vmm_cfgspace *cfg, struct vmm_chain *out, struct bp_error *err)
{
	struct vmm_rebuild rb = {
		.raw = raw, .size = size, .opts = opts, .cfg = cfg, .chain = out
	};

	memset(out, 0, sizeof(*out));
	if (size < VMM_CFG_SIZE || raw16(&rb, PCI_VENDOR_ID) == 0xffff)
		return bp_error_set(err, -EIO, "reset the device, or detach and rescan it",
				    "the device does not answer in configuration space");
	if ((raw[PCI_HEADER_TYPE] & 0x7f) != PCI_HEADER_TYPE_NORMAL)
		return bp_error_set(err, -ENOTSUP, NULL,
				    "the device is a bridge (header type %d), which cannot be "
				    "assigned",
				    raw[PCI_HEADER_TYPE] & 0x7f);
	vmm_cfg_init(cfg, size >= VMM_CFG_EXT_SIZE ? VMM_CFG_EXT_SIZE : VMM_CFG_SIZE);
	rebuild_header(&rb);
	rebuild_caps(&rb);
	/* Without PCI Express there is no extended space. */
	if (!out->exp)
		cfg->size = VMM_CFG_SIZE;
	if (cfg->size == VMM_CFG_EXT_SIZE)
		vmm_rebuild_ext(&rb);
	return 0;
}
