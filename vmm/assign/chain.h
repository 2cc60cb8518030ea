/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a function's own configuration space to the one that the guest sees: which
 * capabilities stay, which registers are emulated and which reach the hardware. Pure.
 */
#ifndef VMM_ASSIGN_CHAIN_H
#define VMM_ASSIGN_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bp/error.h>
#include "vmm/pci/cfgspace.h"

/**
 * struct vmm_chain_opts - what the guest may see beyond what the bytes say.
 * @hide_msi: leave out MSI and MSI-X, so that the guest has to use INTx.
 * @msi_vectors: messages that can be delivered; 0 leaves the capability out.
 * @msix_vectors: the same for MSI-X.
 * @intx: INTx can be delivered; otherwise the interrupt pin reads 0.
 * @bar_size: bytes of each BAR, to check where the MSI-X table lies.
 */
struct vmm_chain_opts {
	bool hide_msi;
	unsigned int msi_vectors;
	unsigned int msix_vectors;
	bool intx;
	uint64_t bar_size[6];
};

/**
 * struct vmm_chain - what stands behind the rebuilt space.
 * @live: bits that are read from the hardware each time.
 * @forward: bytes whose writes go to the hardware.
 * @pm: offset of the power management capability, 0 for none; the others alike.
 * @msi: MSI. @msix: MSI-X. @exp: PCI Express. @af: Advanced Features.
 * @msix_bar: BAR of the MSI-X table. @msix_table: offset in it.
 * @pba_bar: BAR of the pending bits. @msix_pba: offset in it.
 * @msix_nr: entries of the table that the guest sees.
 * @msi_nr: messages of the MSI capability.
 * @intx_pin: 1 to 4, 0 without.
 */
struct vmm_chain {
	uint8_t live[VMM_CFG_EXT_SIZE];
	uint8_t forward[VMM_CFG_EXT_SIZE];
	unsigned int pm;
	unsigned int msi;
	unsigned int msix;
	unsigned int exp;
	unsigned int af;
	unsigned int msix_bar;
	uint64_t msix_table;
	unsigned int pba_bar;
	uint64_t msix_pba;
	unsigned int msix_nr;
	unsigned int msi_nr;
	unsigned int intx_pin;
};

/** vmm_msix_pba_size() - bytes of the pending bit array: a quadword for 64 vectors. @nr: vectors. Return: bytes. */
static inline uint64_t vmm_msix_pba_size(unsigned int nr)
{
	return (((uint64_t)nr + 63) / 64) * 8;
}

/**
 * vmm_chain_build() - rebuild a configuration space.
 * @raw: what the function shows.
 * @size: bytes of @raw: 256, or 4096 with extended capabilities.
 * @opts: see above.
 * @cfg: receives the guest's space, with write masks; BARs are left to the bus.
 * @out: receives the rest.
 * @err: says what is wrong with the function.
 *
 * Capabilities keep their offsets, since drivers and the hardware know them there; only
 * the links change. What is not known to be harmless is left out, its bytes read as zero.
 * Loops, capabilities that overlap and those that reach beyond the space end the walk or
 * are dropped. When the first extended capability is dropped, a null capability holds
 * its place at 0x100, because the list starts there (PCI Express Base 5.0, 7.6.2).
 *
 * The function looks like a Root Complex Integrated Endpoint: that is what the
 * specification calls an endpoint that sits on the root bus without a port above it
 * (1.3.2.3); an Endpoint's link registers would describe a link with no other end.
 * A VF loses nothing by it: its own link registers read zero (SR-IOV 1.1, 3.5).
 *
 * Return: 0, -ENOTSUP for a bridge, -EIO when nothing answers.
 */
int vmm_chain_build(const uint8_t *raw, size_t size, const struct vmm_chain_opts *opts,
		    struct vmm_cfgspace *cfg, struct vmm_chain *out, struct bp_error *err);

#endif
