/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Reading PCI configuration space from bytes: which capabilities are there and
 * what the ones that matter for assignment say. Pure look-ups in a buffer that
 * may be shorter than the space (64 bytes without privilege, 256 without
 * extended space) and may hold anything at all: loops, pointers into the
 * header, all ones of a device that fell off the bus.
 *
 * Layouts: PCI Local Bus 3.0 section 6, PCI Express Base 5.0 section 7.
 */
#ifndef VF_CONFIG_H
#define VF_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VF_CFG_SIZE	4096u
#define VF_CFG_STD_SIZE 256u

/* Capabilities in the first 256 bytes that are asked for by name below. */
#define VF_CAP_MSI  0x05
#define VF_CAP_PCIE 0x10
#define VF_CAP_MSIX 0x11
#define VF_CAP_AF   0x13

/* Extended capabilities. */
#define VF_EXT_CAP_ARI	 0x000e
#define VF_EXT_CAP_ATS	 0x000f
#define VF_EXT_CAP_SRIOV 0x0010

/* More do not fit: each takes at least 4 bytes. */
#define VF_CAPS_MAX ((VF_CFG_STD_SIZE - 64) / 4 + (VF_CFG_SIZE - 256) / 4)

/**
 * struct vf_cap - one capability.
 * @id: capability or extended capability ID.
 * @version: of an extended capability, 0 otherwise.
 * @extended: from the list that starts at 0x100.
 * @offset: bytes from the start of configuration space.
 */
struct vf_cap {
	uint16_t id;
	uint8_t version;
	bool extended;
	uint16_t offset;
};

/**
 * struct vf_caps - what the two lists hold, in their order, ordinary ones first.
 * @count: how many.
 * @broken: a list ended in a loop or a pointer to where no capability can be; what was
 *          found before that is listed.
 * @cap: the capabilities.
 */
struct vf_caps {
	size_t count;
	bool broken;
	struct vf_cap cap[VF_CAPS_MAX];
};

/**
 * vf_config_caps() - walk both capability lists.
 * @cfg: configuration space from offset 0.
 * @len: bytes of it that are known; a list that leads beyond just ends there.
 * @out: receives the capabilities.
 *
 * Every offset is visited once, so the walk ends whatever the pointers say.
 */
void vf_config_caps(const uint8_t *cfg, size_t len, struct vf_caps *out);

/**
 * vf_config_find() - one capability.
 * @caps: from vf_config_caps().
 * @extended: which list.
 * @id: wanted.
 *
 * Return: its offset, or 0 when it is not there.
 */
unsigned int vf_config_find(const struct vf_caps *caps, bool extended, uint16_t id);

/**
 * vf_cap_name() - what the field calls a capability.
 * @cap: capability.
 *
 * Return: a constant string such as "MSI-X" or "SR-IOV", or NULL for an unknown ID.
 */
const char *vf_cap_name(const struct vf_cap *cap);

/**
 * struct vf_msix - the MSI-X capability.
 * @vectors: entries of the table, 1 to 2048, of 16 bytes each.
 * @table_bar: BAR that holds the table.
 * @table_offset: bytes from that BAR's start.
 * @pba_bar: BAR that holds the pending bits.
 * @pba_offset: bytes from that BAR's start.
 * @enabled: MSI-X is on.
 * @masked: all vectors are masked.
 */
struct vf_msix {
	uint16_t vectors;
	uint8_t table_bar;
	uint32_t table_offset;
	uint8_t pba_bar;
	uint32_t pba_offset;
	bool enabled;
	bool masked;
};

/**
 * vf_config_msix() - the MSI-X capability.
 * @cfg: configuration space. @len: known bytes. @caps: from vf_config_caps().
 * @out: written only on success.
 *
 * Return: 0, -ENOENT without one, -EBADMSG when it names a BAR above 5 or is cut off.
 */
int vf_config_msix(const uint8_t *cfg, size_t len, const struct vf_caps *caps,
		   struct vf_msix *out);

/**
 * struct vf_msi - the MSI capability.
 * @vectors: asked for, 1 to 32.
 * @is_64bit: address has 64 bits.
 * @maskable: vectors can be masked one by one.
 * @enabled: MSI is on.
 */
struct vf_msi {
	uint8_t vectors;
	bool is_64bit;
	bool maskable;
	bool enabled;
};

/** vf_config_msi() - the MSI capability; parameters and result as vf_config_msix(). */
int vf_config_msi(const uint8_t *cfg, size_t len, const struct vf_caps *caps, struct vf_msi *out);

/**
 * struct vf_pcie - the PCI Express capability.
 * @type: device/port type, bits 7:4 of its capabilities register (0 is an endpoint,
 *        9 an endpoint integrated into the root complex).
 * @flr: function level reset.
 * @no_snoop: the function may send requests that do not snoop the caches (Device Control
 *            bit 11; reads as 0 where the device cannot).
 */
struct vf_pcie {
	uint8_t type;
	bool flr;
	bool no_snoop;
};

/** vf_config_pcie() - the PCI Express capability; parameters and result as vf_config_msix(). */
int vf_config_pcie(const uint8_t *cfg, size_t len, const struct vf_caps *caps,
		   struct vf_pcie *out);

/**
 * vf_config_has_flr() - function level reset by PCI Express or Advanced Features.
 * @cfg: configuration space. @len: known bytes. @caps: from vf_config_caps().
 *
 * Return: true when one of them says so.
 */
bool vf_config_has_flr(const uint8_t *cfg, size_t len, const struct vf_caps *caps);

/**
 * struct vf_sriov - the SR-IOV capability of a PF.
 * @total: VFs that the device can have.
 * @initial: VFs that it offers now.
 * @num: VFs that exist.
 * @offset: routing ID of VF 0 minus that of the PF.
 * @stride: distance between routing IDs of VFs.
 * @vf_device_id: device ID of the VFs.
 * @enabled: VF Enable.
 * @ari: ARI Capable Hierarchy.
 */
struct vf_sriov {
	uint16_t total;
	uint16_t initial;
	uint16_t num;
	uint16_t offset;
	uint16_t stride;
	uint16_t vf_device_id;
	bool enabled;
	bool ari;
};

/** vf_config_sriov() - the SR-IOV capability; parameters and result as vf_config_msix(). */
int vf_config_sriov(const uint8_t *cfg, size_t len, const struct vf_caps *caps,
		    struct vf_sriov *out);

#endif
