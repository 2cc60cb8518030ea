// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include <linux/pci_regs.h>

#include "suite.h"
#include "vmm/pci/cfgspace.h"

static struct vmm_cfgspace cfg;

START_TEST(write_changes_only_masked_bits)
{
	vmm_cfg_init(&cfg, 256);
	vmm_cfg_set32(&cfg, 0x10, 0xaaaaaaa8);
	cfg.wmask[0x11] = 0xf0;
	cfg.wmask[0x12] = 0xff;
	vmm_cfg_write(&cfg, 0x10, 4, 0x5555ffff);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x10), 0xaa55faa8);
	vmm_cfg_write(&cfg, 0x11, 2, 0x0011);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x10), 0xaa001aa8);
	vmm_cfg_write(&cfg, 0x12, 1, 0x42);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x10), 0xaa421aa8);
}
END_TEST

START_TEST(ones_clear_status_bits_and_zeros_do_not)
{
	vmm_cfg_init(&cfg, 256);
	vmm_cfg_set16(&cfg, PCI_STATUS, 0xf910);
	cfg.w1c[PCI_STATUS + 1] = 0xf9;
	vmm_cfg_write(&cfg, PCI_STATUS, 2, 0x4010);
	ck_assert_uint_eq(vmm_cfg_get16(&cfg, PCI_STATUS), 0xb910);
	vmm_cfg_write(&cfg, PCI_STATUS, 2, 0);
	ck_assert_uint_eq(vmm_cfg_get16(&cfg, PCI_STATUS), 0xb910);
}
END_TEST

START_TEST(beyond_the_end_reads_ones_and_drops_writes)
{
	vmm_cfg_init(&cfg, 256);
	memset(cfg.wmask, 0xff, sizeof(cfg.wmask));
	ck_assert_uint_eq(vmm_cfg_read(&cfg, 0x100, 4), 0xffffffff);
	ck_assert_uint_eq(vmm_cfg_read(&cfg, 0xfe, 4), 0xffffffff);
	ck_assert_uint_eq(vmm_cfg_read(&cfg, 0x100, 1), 0xff);
	ck_assert_uint_eq(vmm_cfg_read(&cfg, 0xfffffffe, 2), 0xffff);
	ck_assert_uint_eq(vmm_cfg_read(&cfg, 0, 8), 0xffffffff);
	vmm_cfg_write(&cfg, 0xfe, 4, 0);
	vmm_cfg_write(&cfg, 0x100, 4, 0x12345678);
	ck_assert_uint_eq(cfg.data[0x100], 0);
	vmm_cfg_init(&cfg, 4096);
	ck_assert_uint_eq(vmm_cfg_read(&cfg, 0xffc, 4), 0);
	ck_assert_uint_eq(vmm_cfg_read(&cfg, 0xffe, 4), 0xffffffff);
}
END_TEST

START_TEST(reset_brings_back_what_was_sealed)
{
	vmm_cfg_init(&cfg, 256);
	cfg.wmask[0x40] = 0xff;
	cfg.data[0x40] = 7;
	vmm_cfg_seal(&cfg);
	vmm_cfg_write(&cfg, 0x40, 1, 9);
	ck_assert_uint_eq(cfg.data[0x40], 9);
	vmm_cfg_reset(&cfg);
	ck_assert_uint_eq(cfg.data[0x40], 7);
	vmm_cfg_write(&cfg, 0x40, 1, 9);
	ck_assert_uint_eq(cfg.data[0x40], 9);
}
END_TEST

START_TEST(capabilities_are_found)
{
	vmm_cfg_init(&cfg, 256);
	cfg.data[PCI_CAPABILITY_LIST] = 0x43; /* low bits are reserved */
	memcpy(cfg.data + 0x40, (uint8_t[]){ 0x01, 0x50 }, 2);
	memcpy(cfg.data + 0x50, (uint8_t[]){ 0x11, 0xfc }, 2);
	memcpy(cfg.data + 0xfc, (uint8_t[]){ 0x10, 0x00 }, 2);
	ck_assert_uint_eq(vmm_cfg_find_cap(&cfg, 0x11), 0);
	vmm_cfg_set16(&cfg, PCI_STATUS, PCI_STATUS_CAP_LIST);
	ck_assert_uint_eq(vmm_cfg_find_cap(&cfg, 0x01), 0x40);
	ck_assert_uint_eq(vmm_cfg_find_cap(&cfg, 0x11), 0x50);
	ck_assert_uint_eq(vmm_cfg_find_cap(&cfg, 0x10), 0xfc);
	ck_assert_uint_eq(vmm_cfg_find_cap(&cfg, 0x05), 0);
}
END_TEST

START_TEST(loops_in_lists_end)
{
	vmm_cfg_init(&cfg, 4096);
	vmm_cfg_set16(&cfg, PCI_STATUS, PCI_STATUS_CAP_LIST);
	cfg.data[PCI_CAPABILITY_LIST] = 0x40;
	memcpy(cfg.data + 0x40, (uint8_t[]){ 0x01, 0x48 }, 2);
	memcpy(cfg.data + 0x48, (uint8_t[]){ 0x03, 0x40 }, 2);
	ck_assert_uint_eq(vmm_cfg_find_cap(&cfg, 0x11), 0);
	/* A link into the header is no capability. */
	cfg.data[0x49] = 0x10;
	cfg.data[0x10] = 0x11;
	ck_assert_uint_eq(vmm_cfg_find_cap(&cfg, 0x11), 0);

	vmm_cfg_set32(&cfg, 0x100, 0x20010001);
	vmm_cfg_set32(&cfg, 0x200, 0x10010003);
	ck_assert_uint_eq(vmm_cfg_find_ext_cap(&cfg, 0x10), 0);
	ck_assert_uint_eq(vmm_cfg_find_ext_cap(&cfg, 0x03), 0x200);
	vmm_cfg_set32(&cfg, 0x200, 0x04010003);
	vmm_cfg_set32(&cfg, 0x40, 0x00010010);
	ck_assert_uint_eq(vmm_cfg_find_ext_cap(&cfg, 0x10), 0);
	cfg.size = 256;
	ck_assert_uint_eq(vmm_cfg_find_ext_cap(&cfg, 0x01), 0);
}
END_TEST

SUITE("cfgspace", write_changes_only_masked_bits, ones_clear_status_bits_and_zeros_do_not,
      beyond_the_end_reads_ones_and_drops_writes, reset_brings_back_what_was_sealed,
      capabilities_are_found, loops_in_lists_end)
