// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <string.h>

#include <vf/config.h>

#define CFG_STATUS	0x06
#define STATUS_CAP_LIST 0x10
#define CFG_HEADER_TYPE 0x0e
#define CFG_CAP_PTR	0x34
#define CFG_CB_CAP_PTR	0x14 /* CardBus bridges keep it elsewhere */
#define HEADER_CARDBUS	2
#define CFG_EXT_START	0x100u

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) | (uint32_t)get16(p + 2) << 16;
}

/* Marks a dword as visited. Return: whether it was already. */
static bool visit(uint32_t *seen, unsigned int offset)
{
	uint32_t bit = 1u << (offset / 4 % 32);
	uint32_t *word = &seen[offset / 4 / 32];
	bool before = *word & bit;

	*word |= bit;
	return before;
}

static void add(struct vf_caps *out, uint16_t id, uint8_t version, bool extended,
		unsigned int offset)
{
	out->cap[out->count++] = (struct vf_cap){
		.id = id, .version = version, .extended = extended, .offset = (uint16_t)offset,
	};
}

static void walk_std(const uint8_t *cfg, size_t len, struct vf_caps *out, uint32_t *seen)
{
	unsigned int at, where = CFG_CAP_PTR;

	if (len < 64 || !(get16(cfg + CFG_STATUS) & STATUS_CAP_LIST))
		return;
	if (len > VF_CFG_STD_SIZE)
		len = VF_CFG_STD_SIZE;
	if ((cfg[CFG_HEADER_TYPE] & 0x7f) == HEADER_CARDBUS)
		where = CFG_CB_CAP_PTR;
	/* The two low bits are reserved and must be masked (PCI 3.0, section 6.7). */
	for (at = cfg[where] & ~3u; at; at = cfg[at + 1] & ~3u) {
		if (at < 64 || visit(seen, at)) {
			out->broken = true;
			return;
		}
		if (at + 2 > len)
			return;
		if (cfg[at] == 0xff) {
			out->broken = true;
			return;
		}
		add(out, cfg[at], 0, false, at);
	}
}

static void walk_ext(const uint8_t *cfg, size_t len, struct vf_caps *out, uint32_t *seen)
{
	unsigned int at = CFG_EXT_START;

	while (at) {
		uint32_t head;

		if (at < CFG_EXT_START || visit(seen, at)) {
			out->broken = true;
			return;
		}
		if (at + 4 > len)
			return;
		head = get32(cfg + at);
		/* A function without extended capabilities has zeros, or all ones, at 0x100. */
		if (!head || head == 0xffffffff) {
			out->broken |= at != CFG_EXT_START;
			return;
		}
		/* ID 0 is a place that was given up; its pointer still leads on. */
		if (head & 0xffff)
			add(out, head & 0xffff, head >> 16 & 0xf, true, at);
		at = head >> 20 & 0xffc;
	}
}

void vf_config_caps(const uint8_t *cfg, size_t len, struct vf_caps *out)
{
	uint32_t seen[VF_CFG_SIZE / 4 / 32] = { 0 };

	out->count = 0;
	out->broken = false;
	if (len > VF_CFG_SIZE)
		len = VF_CFG_SIZE;
	/*
	 * All ones: nobody answered. The IDs alone do not tell, since those of a VF always read
	 * so (SR-IOV 1.1, sections 3.4.1.1 and 3.4.1.2); no status register does.
	 */
	if (len < 8 || get32(cfg + 4) == 0xffffffff)
		return;
	walk_std(cfg, len, out, seen);
	walk_ext(cfg, len, out, seen);
}

unsigned int vf_config_find(const struct vf_caps *caps, bool extended, uint16_t id)
{
	for (size_t i = 0; i < caps->count; i++)
		if (caps->cap[i].extended == extended && caps->cap[i].id == id)
			return caps->cap[i].offset;
	return 0;
}

static const char *const std_names[] = {
	[0x01] = "Power Management", [0x02] = "AGP", [0x03] = "VPD", [0x04] = "Slot ID",
	[0x05] = "MSI", [0x06] = "CompactPCI hot swap", [0x07] = "PCI-X",
	[0x08] = "HyperTransport", [0x09] = "Vendor Specific", [0x0a] = "Debug Port",
	[0x0b] = "CompactPCI resources", [0x0c] = "Hot-Plug", [0x0d] = "Bridge Subsystem ID",
	[0x0e] = "AGP 8x", [0x0f] = "Secure Device", [0x10] = "PCI Express", [0x11] = "MSI-X",
	[0x12] = "SATA", [0x13] = "Advanced Features", [0x14] = "Enhanced Allocation",
};

static const char *const ext_names[] = {
	[0x01] = "AER", [0x02] = "Virtual Channel", [0x03] = "Device Serial Number",
	[0x04] = "Power Budgeting", [0x05] = "Root Complex Link",
	[0x06] = "Root Complex Link Control", [0x07] = "Root Complex Event Collector",
	[0x08] = "Multi-Function Virtual Channel", [0x09] = "Virtual Channel (MFVC)",
	[0x0a] = "Root Complex Header", [0x0b] = "Vendor Specific", [0x0c] = "Configuration Access",
	[0x0d] = "ACS", [0x0e] = "ARI", [0x0f] = "ATS", [0x10] = "SR-IOV", [0x11] = "MR-IOV",
	[0x12] = "Multicast", [0x13] = "Page Request", [0x14] = "AMD reserved",
	[0x15] = "Resizable BAR", [0x16] = "Dynamic Power Allocation",
	[0x17] = "TPH Requester", [0x18] = "LTR", [0x19] = "Secondary PCI Express", [0x1a] = "PMUX",
	[0x1b] = "PASID", [0x1c] = "LN Requester", [0x1d] = "DPC", [0x1e] = "L1 PM Substates",
	[0x1f] = "Precision Time Measurement", [0x20] = "M-PCIe", [0x21] = "FRS Queueing",
	[0x22] = "Readiness Time", [0x23] = "Designated Vendor Specific",
	[0x24] = "VF Resizable BAR", [0x25] = "Data Link Feature", [0x26] = "Physical Layer 16 GT/s",
	[0x27] = "Lane Margining", [0x28] = "Hierarchy ID", [0x29] = "Native PCIe Enclosure",
	[0x2a] = "Physical Layer 32 GT/s", [0x2b] = "Alternate Protocol",
	[0x2c] = "System Firmware Intermediary", [0x2d] = "Shadow Functions",
	[0x2e] = "Data Object Exchange",
};

const char *vf_cap_name(const struct vf_cap *cap)
{
	if (cap->extended)
		return cap->id < sizeof(ext_names) / sizeof(*ext_names) ? ext_names[cap->id] : NULL;
	return cap->id < sizeof(std_names) / sizeof(*std_names) ? std_names[cap->id] : NULL;
}

/* Bytes of a capability, all of them known. */
static int body(const uint8_t *cfg, size_t len, const struct vf_caps *caps, bool extended,
		uint16_t id, size_t need, const uint8_t **out)
{
	unsigned int at = vf_config_find(caps, extended, id);

	if (!at)
		return -ENOENT;
	if (at + need > len || at + need > (extended ? VF_CFG_SIZE : VF_CFG_STD_SIZE))
		return -EBADMSG;
	*out = cfg + at;
	return 0;
}

int vf_config_msix(const uint8_t *cfg, size_t len, const struct vf_caps *caps, struct vf_msix *out)
{
	uint32_t table, pba;
	const uint8_t *c;
	uint16_t control;
	int ret = body(cfg, len, caps, false, VF_CAP_MSIX, 12, &c);

	if (ret)
		return ret;
	control = get16(c + 2);
	table = get32(c + 4);
	pba = get32(c + 8);
	if ((table & 7) > 5 || (pba & 7) > 5)
		return -EBADMSG;
	*out = (struct vf_msix){
		.vectors = (uint16_t)((control & 0x7ff) + 1),
		.table_bar = table & 7,
		.table_offset = table & ~7u,
		.pba_bar = pba & 7,
		.pba_offset = pba & ~7u,
		.enabled = control & 0x8000,
		.masked = control & 0x4000,
	};
	return 0;
}

int vf_config_msi(const uint8_t *cfg, size_t len, const struct vf_caps *caps, struct vf_msi *out)
{
	const uint8_t *c;
	uint16_t control;
	int ret = body(cfg, len, caps, false, VF_CAP_MSI, 10, &c);

	if (ret)
		return ret;
	control = get16(c + 2);
	if ((control >> 1 & 7) > 5)
		return -EBADMSG;
	*out = (struct vf_msi){
		.vectors = (uint8_t)(1u << (control >> 1 & 7)),
		.is_64bit = control & 0x80,
		.maskable = control & 0x100,
		.enabled = control & 1,
	};
	return 0;
}

int vf_config_pcie(const uint8_t *cfg, size_t len, const struct vf_caps *caps, struct vf_pcie *out)
{
	const uint8_t *c;
	int ret = body(cfg, len, caps, false, VF_CAP_PCIE, 12, &c);

	if (ret)
		return ret;
	*out = (struct vf_pcie){
		.type = c[2] >> 4,
		.flr = get32(c + 4) & 1u << 28,
		.no_snoop = get16(c + 8) & 1u << 11,
	};
	return 0;
}

bool vf_config_has_flr(const uint8_t *cfg, size_t len, const struct vf_caps *caps)
{
	struct vf_pcie pcie;
	const uint8_t *c;

	if (!vf_config_pcie(cfg, len, caps, &pcie) && pcie.flr)
		return true;
	/* Advanced Features: both transactions pending and FLR must be there (ECN 2006). */
	return !body(cfg, len, caps, false, VF_CAP_AF, 6, &c) && (c[3] & 3) == 3;
}

int vf_config_sriov(const uint8_t *cfg, size_t len, const struct vf_caps *caps,
		    struct vf_sriov *out)
{
	const uint8_t *c;
	int ret = body(cfg, len, caps, true, VF_EXT_CAP_SRIOV, 0x40, &c);

	if (ret)
		return ret;
	*out = (struct vf_sriov){
		.initial = get16(c + 0x0c),
		.total = get16(c + 0x0e),
		.num = get16(c + 0x10),
		.offset = get16(c + 0x14),
		.stride = get16(c + 0x16),
		.vf_device_id = get16(c + 0x1a),
		.enabled = c[8] & 0x01,
		.ari = c[8] & 0x10,
	};
	return 0;
}
