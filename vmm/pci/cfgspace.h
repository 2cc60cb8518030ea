/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A configuration space as bytes with rules: what a guest may change, what it
 * clears by writing ones, what it finds after a reset. Pure data; knows no device.
 */
#ifndef VMM_CFGSPACE_H
#define VMM_CFGSPACE_H

#include <stdbool.h>
#include <stdint.h>

#define VMM_CFG_SIZE	 256u
#define VMM_CFG_EXT_SIZE 4096u

/**
 * struct vmm_cfgspace - configuration space of one function.
 * @size: 256, or 4096 with extended capabilities.
 * @data: content as the guest sees it.
 * @wmask: bits that a write replaces.
 * @w1c: bits that writing a one clears.
 * @initial: content after reset, taken by vmm_cfg_seal().
 */
struct vmm_cfgspace {
	unsigned int size;
	uint8_t data[VMM_CFG_EXT_SIZE];
	uint8_t wmask[VMM_CFG_EXT_SIZE];
	uint8_t w1c[VMM_CFG_EXT_SIZE];
	uint8_t initial[VMM_CFG_EXT_SIZE];
};

/** vmm_cfg_init() - all zero, nothing writable. @cfg: space. @size: 256 or 4096. */
void vmm_cfg_init(struct vmm_cfgspace *cfg, unsigned int size);

/** vmm_cfg_seal() - remember the content as the one after reset. @cfg: space. */
void vmm_cfg_seal(struct vmm_cfgspace *cfg);

/** vmm_cfg_reset() - back to the sealed content. @cfg: space. */
void vmm_cfg_reset(struct vmm_cfgspace *cfg);

/**
 * vmm_cfg_read() - what the guest reads.
 * @cfg: space. @off: byte offset. @len: 1, 2 or 4; beyond the end reads as ones.
 *
 * Return: value.
 */
uint32_t vmm_cfg_read(const struct vmm_cfgspace *cfg, unsigned int off, unsigned int len);

/** vmm_cfg_write() - apply a guest's write through the masks. @cfg: space. @off: offset. @len: 1, 2 or 4. @value: value. */
void vmm_cfg_write(struct vmm_cfgspace *cfg, unsigned int off, unsigned int len, uint32_t value);

/** vmm_cfg_get16() - little-endian 16 bits. @cfg: space. @off: offset. Return: value. */
uint16_t vmm_cfg_get16(const struct vmm_cfgspace *cfg, unsigned int off);

/** vmm_cfg_get32() - little-endian 32 bits. @cfg: space. @off: offset. Return: value. */
uint32_t vmm_cfg_get32(const struct vmm_cfgspace *cfg, unsigned int off);

/** vmm_cfg_set16() - store without masks. @cfg: space. @off: offset. @value: value. */
void vmm_cfg_set16(struct vmm_cfgspace *cfg, unsigned int off, uint16_t value);

/** vmm_cfg_set32() - store without masks. @cfg: space. @off: offset. @value: value. */
void vmm_cfg_set32(struct vmm_cfgspace *cfg, unsigned int off, uint32_t value);

/**
 * vmm_cfg_find_cap() - find a capability in the first 256 bytes.
 * @cfg: space. @id: capability ID (PCI_CAP_ID_*).
 *
 * Follows the list for at most as many steps as fit, so that a loop ends.
 *
 * Return: offset, or 0.
 */
unsigned int vmm_cfg_find_cap(const struct vmm_cfgspace *cfg, uint8_t id);

/** vmm_cfg_find_ext_cap() - find an extended capability. @cfg: space. @id: PCI_EXT_CAP_ID_*. Return: offset, or 0. */
unsigned int vmm_cfg_find_ext_cap(const struct vmm_cfgspace *cfg, uint16_t id);

#endif
