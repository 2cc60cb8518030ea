// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration space as bytes with write masks (PCI Local Bus 3.0, chapter 6).
 */
#include "vmm/pci/cfgspace.h"

#include <string.h>

#include <linux/pci_regs.h>

void vmm_cfg_init(struct vmm_cfgspace *cfg, unsigned int size)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->size = size > VMM_CFG_SIZE ? VMM_CFG_EXT_SIZE : VMM_CFG_SIZE;
}

void vmm_cfg_seal(struct vmm_cfgspace *cfg)
{
	memcpy(cfg->initial, cfg->data, sizeof(cfg->initial));
}

void vmm_cfg_reset(struct vmm_cfgspace *cfg)
{
	memcpy(cfg->data, cfg->initial, sizeof(cfg->data));
}

static bool inside(const struct vmm_cfgspace *cfg, unsigned int off, unsigned int len)
{
	return off < cfg->size && len <= cfg->size - off;
}

uint32_t vmm_cfg_read(const struct vmm_cfgspace *cfg, unsigned int off, unsigned int len)
{
	uint32_t value = 0;

	if (len > 4)
		return UINT32_MAX;
	if (!inside(cfg, off, len))
		return len == 4 ? UINT32_MAX : (1u << (8 * len)) - 1;
	for (unsigned int i = 0; i < len; i++)
		value |= (uint32_t)cfg->data[off + i] << (8 * i);
	return value;
}

void vmm_cfg_write(struct vmm_cfgspace *cfg, unsigned int off, unsigned int len, uint32_t value)
{
	if (len > 4 || !inside(cfg, off, len))
		return;
	for (unsigned int i = 0; i < len; i++) {
		uint8_t in = (uint8_t)(value >> (8 * i));
		uint8_t *p = &cfg->data[off + i];
		uint8_t mask = cfg->wmask[off + i];

		*p = (uint8_t)((*p & ~mask) | (in & mask));
		*p &= (uint8_t) ~(in & cfg->w1c[off + i]);
	}
}

uint16_t vmm_cfg_get16(const struct vmm_cfgspace *cfg, unsigned int off)
{
	return (uint16_t)vmm_cfg_read(cfg, off, 2);
}

uint32_t vmm_cfg_get32(const struct vmm_cfgspace *cfg, unsigned int off)
{
	return vmm_cfg_read(cfg, off, 4);
}

static void store(struct vmm_cfgspace *cfg, unsigned int off, unsigned int len, uint32_t value)
{
	if (!inside(cfg, off, len))
		return;
	for (unsigned int i = 0; i < len; i++)
		cfg->data[off + i] = (uint8_t)(value >> (8 * i));
}

void vmm_cfg_set16(struct vmm_cfgspace *cfg, unsigned int off, uint16_t value)
{
	store(cfg, off, 2, value);
}

void vmm_cfg_set32(struct vmm_cfgspace *cfg, unsigned int off, uint32_t value)
{
	store(cfg, off, 4, value);
}

unsigned int vmm_cfg_find_cap(const struct vmm_cfgspace *cfg, uint8_t id)
{
	unsigned int pos;

	if (!(vmm_cfg_get16(cfg, PCI_STATUS) & PCI_STATUS_CAP_LIST))
		return 0;
	pos = cfg->data[PCI_CAPABILITY_LIST] & ~3u;
	/* A capability takes four bytes or more, so no honest list is longer than this. */
	for (unsigned int step = 0; step < (VMM_CFG_SIZE - PCI_STD_HEADER_SIZEOF) / 4; step++) {
		if (pos < PCI_STD_HEADER_SIZEOF)
			return 0;
		if (cfg->data[pos] == id)
			return pos;
		pos = cfg->data[pos + PCI_CAP_LIST_NEXT] & ~3u;
	}
	return 0;
}

unsigned int vmm_cfg_find_ext_cap(const struct vmm_cfgspace *cfg, uint16_t id)
{
	unsigned int pos = VMM_CFG_SIZE;

	if (cfg->size < VMM_CFG_EXT_SIZE)
		return 0;
	for (unsigned int step = 0; step < (VMM_CFG_EXT_SIZE - VMM_CFG_SIZE) / 8; step++) {
		uint32_t header = vmm_cfg_get32(cfg, pos);

		if (!header || header == UINT32_MAX)
			return 0;
		if (PCI_EXT_CAP_ID(header) == id)
			return pos;
		pos = PCI_EXT_CAP_NEXT(header);
		if (pos < VMM_CFG_SIZE)
			return 0;
	}
	return 0;
}
