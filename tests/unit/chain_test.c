// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration spaces as the guest sees them, from dumps that `lspci -xxxx` made.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/pci_regs.h>

#include "suite.h"
#include "vmm/assign/chain.h"

static uint8_t raw[4096];
static struct vmm_cfgspace cfg;
static struct vmm_chain chain;
static struct vmm_chain_opts opts;

static void load(const char *name)
{
	char path[256], line[256];
	unsigned int off, b[16];
	FILE *f;

	snprintf(path, sizeof(path), "%.*s/fixtures/config/%s.txt",
		 (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, name);
	f = fopen(path, "r");
	ck_assert_msg(f, "%s cannot be opened", path);
	memset(raw, 0, sizeof(raw));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%x: %x %x %x %x %x %x %x %x %x %x %x %x %x %x %x %x", &off, &b[0],
			   &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7], &b[8], &b[9], &b[10],
			   &b[11], &b[12], &b[13], &b[14], &b[15]) != 17)
			continue;
		for (unsigned int i = 0; i < 16; i++)
			raw[off + i] = (uint8_t)b[i];
	}
	fclose(f);
	/* A VF's own IDs read as ones; vfio-pci fills in those that belong to it. */
	if (raw[0] == 0xff)
		memcpy(raw, (uint8_t[]){ 0x86, 0x80, 0xca, 0x10 }, 4);
	opts = (struct vmm_chain_opts){ .msi_vectors = 32, .msix_vectors = 2048, .intx = true };
	for (unsigned int n = 0; n < 6; n++)
		opts.bar_size[n] = 0x4000;
}

static void build(void)
{
	struct bp_error err = { 0 };

	ck_assert_msg(!vmm_chain_build(raw, 4096, &opts, &cfg, &chain, &err), "%s", err.what);
}

/* Both lists as "a0:10 70:11 | 100:1". */
static const char *lists(void)
{
	static char text[512];
	unsigned int pos = cfg.data[PCI_CAPABILITY_LIST], len = 0, steps = 0;

	text[0] = 0;
	if (!(vmm_cfg_get16(&cfg, PCI_STATUS) & PCI_STATUS_CAP_LIST))
		pos = 0;
	for (; pos && steps < 64; pos = cfg.data[pos + 1], steps++)
		len += (unsigned int)snprintf(text + len, sizeof(text) - len, "%x:%x ", pos,
					      cfg.data[pos]);
	len += (unsigned int)snprintf(text + len, sizeof(text) - len, "|");
	for (pos = 0x100; pos && cfg.size == 4096 && steps < 64; steps++) {
		uint32_t header = vmm_cfg_get32(&cfg, pos);

		if (header)
			len += (unsigned int)snprintf(text + len, sizeof(text) - len, " %x:%x", pos,
						      PCI_EXT_CAP_ID(header));
		pos = PCI_EXT_CAP_NEXT(header);
	}
	return text;
}

START_TEST(igb_vf)
{
	load("igb-vf");
	build();
	/* ARI is gone, and nothing points to where it was. */
	ck_assert_str_eq(lists(), "a0:10 70:11 | 100:1");
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x150), 0);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0), 0x10ca8086);
	ck_assert_uint_eq(chain.msix_nr, 3);
	ck_assert_uint_eq(chain.msix_bar, 3);
	ck_assert_uint_eq(chain.msix_pba, 0x2000);
	ck_assert_uint_eq(chain.intx_pin, 0);
	/* Without a port above it is an integrated endpoint that can reset itself. */
	ck_assert_uint_eq((vmm_cfg_get16(&cfg, 0xa2) & PCI_EXP_FLAGS_TYPE) >> 4,
			  PCI_EXP_TYPE_RC_END);
	ck_assert(vmm_cfg_get32(&cfg, 0xa4) & PCI_EXP_DEVCAP_FLR);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0xa0 + PCI_EXP_LNKCAP), 0);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0xa0 + PCI_EXP_DEVCAP2), 0);
}
END_TEST

START_TEST(endpoint_below_a_port_becomes_an_integrated_one)
{
	load("igb-vf");
	/* As in a slot: type Endpoint, a link at 8 GT/s, all that version 2 can say. */
	raw[0xa2] = 0x02;
	memset(raw + 0xac, 0xff, 0x30);
	build();
	ck_assert_uint_eq(vmm_cfg_get16(&cfg, 0xa2), 0x0092);
	for (unsigned int off = 0xac; off < 0xc4; off += 4)
		ck_assert_uint_eq(vmm_cfg_get32(&cfg, off), 0);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0xa0 + PCI_EXP_DEVCAP2), 0x1f);
	for (unsigned int off = 0xa0 + PCI_EXP_LNKCAP2; off < 0xdc; off += 4)
		ck_assert_uint_eq(vmm_cfg_get32(&cfg, off), 0);
	/* A port is none. */
	raw[0xa2] = 0x42;
	build();
	ck_assert_uint_eq(chain.exp, 0);
}
END_TEST

START_TEST(igb_pf_hides_sriov)
{
	load("igb-pf");
	raw[0x43] |= 0xf8; /* PME from every state */
	raw[0x45] |= 0x81; /* enabled and signalled */
	build();
	ck_assert_uint_eq(vmm_cfg_get16(&cfg, 0x44), 0);
	ck_assert_str_eq(lists(), "40:1 50:5 70:11 a0:10 | 100:1");
	for (unsigned int off = 0x150; off < 0x1a0; off += 4)
		ck_assert_uint_eq(vmm_cfg_get32(&cfg, off), 0);
	/* MSI: 64-bit, with masks, one message; nothing else can be set. */
	ck_assert_uint_eq(vmm_cfg_get16(&cfg, 0x52), PCI_MSI_FLAGS_64BIT | PCI_MSI_FLAGS_MASKBIT);
	vmm_cfg_write(&cfg, 0x60, 4, 0xffffffff);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x60), 1);
	/* PME does not reach a guest. */
	ck_assert_uint_eq(vmm_cfg_get16(&cfg, 0x42) & PCI_PM_CAP_PME_MASK, 0);
	ck_assert_uint_eq(chain.intx_pin, 1);
}
END_TEST

START_TEST(nvme_vf_gets_a_null_capability)
{
	load("nvme-vf");
	build();
	/* ARI came first and was all there was. */
	ck_assert_str_eq(lists(), "40:11 80:10 60:1 |");
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x100), 0);
	ck_assert_uint_eq(chain.msix_bar, 0);
	ck_assert_uint_eq(chain.msix_table, 0x2000);
	ck_assert_uint_eq(chain.msix_nr, 1);
}
END_TEST

START_TEST(first_hidden_later_kept)
{
	load("igb-vf");
	memset(raw + 0x100, 0, 0x100);
	memcpy(raw + 0x100, (uint8_t[]){ 0x10, 0, 1, 0x15 }, 4); /* SR-IOV, next 0x150 */
	memcpy(raw + 0x150, (uint8_t[]){ 0x15, 0, 1, 0x18 }, 4); /* resizable BAR, next 0x180 */
	memcpy(raw + 0x180, (uint8_t[]){ 0x03, 0, 1, 0 }, 4);
	raw[0x184] = 0x77;
	raw[0x104] = 0x99;
	build();
	ck_assert_str_eq(lists(), "a0:10 70:11 | 100:0 180:3");
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x100), 0x18000000);
	ck_assert_uint_eq(cfg.data[0x104], 0);
	ck_assert_uint_eq(cfg.data[0x184], 0x77);
	ck_assert_uint_eq(vmm_cfg_find_ext_cap(&cfg, PCI_EXT_CAP_ID_DSN), 0x180);
}
END_TEST

START_TEST(e1000e_with_and_without_messages)
{
	load("e1000e");
	opts.bar_size[2] = 0; /* ports */
	build();
	ck_assert_str_eq(lists(), "c8:1 d0:5 e0:10 a0:11 | 100:1 140:3");
	ck_assert_uint_eq(chain.intx_pin, 1);
	opts.hide_msi = true;
	build();
	ck_assert_str_eq(lists(), "c8:1 e0:10 | 100:1 140:3");
	ck_assert_uint_eq(chain.msi, 0);
	ck_assert_uint_eq(chain.msix_nr, 0);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0xa0), 0);
}
END_TEST

START_TEST(interrupts_that_cannot_be_delivered_are_not_offered)
{
	load("igb-pf");
	opts.msix_vectors = 4;
	opts.msi_vectors = 0;
	opts.intx = false;
	build();
	ck_assert_uint_eq(chain.msix_nr, 4);
	ck_assert_uint_eq(vmm_cfg_get16(&cfg, 0x72) & PCI_MSIX_FLAGS_QSIZE, 3);
	ck_assert_uint_eq(chain.msi, 0);
	ck_assert_uint_eq(cfg.data[PCI_INTERRUPT_PIN], 0);
}
END_TEST

START_TEST(msix_outside_its_bar_is_not_offered)
{
	load("nvme-vf");
	opts.bar_size[0] = 0x2008;
	raw[0x49] = 0x10; /* pending bits at 0x1000 */
	build();
	ck_assert_uint_eq(chain.msix, 0);
	opts.bar_size[0] = 0x2010;
	build();
	ck_assert_uint_eq(chain.msix, 0x40);
	/* Table and pending bits on top of each other. */
	load("nvme-vf");
	raw[0x49] = 0x20;
	build();
	ck_assert_uint_eq(chain.msix, 0);
	/* A BAR that does not exist. */
	load("nvme-vf");
	raw[0x44] |= 7;
	build();
	ck_assert_uint_eq(chain.msix, 0);
	ck_assert_str_eq(lists(), "80:10 60:1 |");
}
END_TEST

START_TEST(what_a_guest_may_write)
{
	load("igb-vf");
	build();
	for (unsigned int off = 0; off < 4096; off += 4)
		vmm_cfg_write(&cfg, off, 4, 0xffffffff);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0), 0x10ca8086);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 8), 0x02000001);
	/* Links and IDs stay. */
	ck_assert_str_eq(lists(), "a0:10 70:11 | 100:1");
	ck_assert_uint_eq(vmm_cfg_get16(&cfg, 0x72), 0xc002);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x74), 0x00000003);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x78), 0x00002003);
	/* Bytes that belong to nothing. */
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x40), 0);
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x148), 0);
	/* Device control without phantom functions and auxiliary power. */
	ck_assert_uint_eq(vmm_cfg_get16(&cfg, 0xa8), 0xf9ff);
	/* Writes that reach hardware: status bits and AER only. */
	for (unsigned int off = 0; off < 4096; off++) {
		bool known = off == PCI_STATUS || off == PCI_STATUS + 1 || off / 2 == 0xaa / 2 ||
			     off / 2 == (0xa0 + PCI_EXP_DEVCTL2) / 2 ||
			     (off >= 0x104 && off < 0x148);

		ck_assert_msg(!chain.forward[off] || known, "byte %#x is forwarded", off);
	}
}
END_TEST

START_TEST(loops_overlaps_and_ends)
{
	load("igb-vf");
	/* Loop. */
	raw[0x71] = 0xa0;
	build();
	ck_assert_str_eq(lists(), "a0:10 70:11 | 100:1");
	/* One inside another, a vendor capability that runs off the end, a second MSI-X. */
	raw[0x71] = 0xa4;
	memcpy(raw + 0xa4, (uint8_t[]){ 0x09, 0xf8, 0x10 }, 3);
	memcpy(raw + 0xf8, (uint8_t[]){ 0x09, 0xfc, 0x20 }, 3);
	memcpy(raw + 0xfc, (uint8_t[]){ 0x11, 0x00 }, 2);
	build();
	ck_assert_str_eq(lists(), "a0:10 70:11 | 100:1");
	/* Links into the header. */
	raw[PCI_CAPABILITY_LIST] = 0x10;
	build();
	ck_assert_str_eq(lists(), "|");
	ck_assert_uint_eq(vmm_cfg_get16(&cfg, PCI_STATUS) & PCI_STATUS_CAP_LIST, 0);
	/* Without PCI Express nobody looks for extended capabilities. */
	ck_assert_uint_eq(cfg.size, 256);
}
END_TEST

START_TEST(extended_list_that_is_hostile)
{
	load("igb-vf");
	memset(raw + 0x100, 0, 0xf00);
	/* AER whose next is in its own body, then a loop, then a link to the last bytes. */
	memcpy(raw + 0x100, (uint8_t[]){ 0x01, 0, 2, 0x20 }, 4);
	memcpy(raw + 0x200, (uint8_t[]){ 0x0b, 0, 1, 0x30 }, 4);
	memcpy(raw + 0x204, (uint8_t[]){ 0x34, 0x12, 0x00, 0xff }, 4); /* 0xff0 bytes long */
	memcpy(raw + 0x300, (uint8_t[]){ 0x03, 0, 0xc1, 0xff }, 4);
	memcpy(raw + 0xffc, (uint8_t[]){ 0x03, 0, 1, 0x10 }, 4);
	build();
	ck_assert_str_eq(lists(), "a0:10 70:11 | 100:1 300:3");
	memset(raw + 0x100, 0xff, 0xf00);
	build();
	ck_assert_uint_eq(vmm_cfg_get32(&cfg, 0x100), 0);
}
END_TEST

START_TEST(random_bytes_do_no_harm)
{
	uint32_t x = 12345;

	load("igb-vf");
	for (unsigned int round = 0; round < 5000; round++) {
		size_t size = round & 1 ? 4096 : 256;

		for (unsigned int i = 0; i < sizeof(raw); i++) {
			x = x * 1664525 + 1013904223;
			/* Few distinct values, so that lists are found and collide. */
			raw[i] = (uint8_t)(x >> 24) & (round & 2 ? 0x7c : 0xff);
		}
		memset(raw, 0, PCI_STD_HEADER_SIZEOF);
		raw[PCI_STATUS] = PCI_STATUS_CAP_LIST;
		raw[PCI_CAPABILITY_LIST] = 0x40;
		raw[0x40] = PCI_CAP_ID_EXP;
		raw[0x42] = 1;
		ck_assert_int_eq(vmm_chain_build(raw, size, &opts, &cfg, &chain, NULL), 0);
		/* Every link leads to a capability that the guest may see, and the list ends. */
		ck_assert_uint_lt(strlen(lists()), 500);
	}
}
END_TEST

START_TEST(what_cannot_be_assigned)
{
	struct bp_error err = { 0 };

	load("igb-vf");
	raw[PCI_HEADER_TYPE] = 0x81;
	ck_assert_int_eq(vmm_chain_build(raw, 4096, &opts, &cfg, &chain, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.what, "bridge"));
	memset(raw, 0xff, sizeof(raw));
	ck_assert_int_eq(vmm_chain_build(raw, 4096, &opts, &cfg, &chain, NULL), -EIO);
	ck_assert_int_eq(vmm_chain_build(raw, 64, &opts, &cfg, &chain, NULL), -EIO);
}
END_TEST

START_TEST(reset_capability_of_conventional_devices)
{
	load("nvme-vf");
	memset(raw + 0x40, 0, 0xc0);
	memcpy(raw + 0x40, (uint8_t[]){ 0x13, 0x48, 6, 3, 0, 1 }, 6);
	memcpy(raw + 0x48, (uint8_t[]){ 0x09, 0, 8, 1, 2, 3, 4, 5 }, 8);
	build();
	ck_assert_str_eq(lists(), "40:13 48:9 |");
	ck_assert_uint_eq(chain.af, 0x40);
	vmm_cfg_write(&cfg, 0x44, 1, 0xff);
	ck_assert_uint_eq(cfg.data[0x44], 1);
	/* Vendor bytes go both ways, its length does not. */
	ck_assert_uint_eq(chain.forward[0x4a], 0);
	ck_assert_uint_eq(chain.live[0x4b], 0xff);
	ck_assert_uint_eq(chain.forward[0x4f], 0xff);
	ck_assert_uint_eq(chain.forward[0x50], 0);
}
END_TEST

SUITE("chain", igb_vf, endpoint_below_a_port_becomes_an_integrated_one, igb_pf_hides_sriov,
      nvme_vf_gets_a_null_capability, first_hidden_later_kept, e1000e_with_and_without_messages,
      interrupts_that_cannot_be_delivered_are_not_offered, msix_outside_its_bar_is_not_offered,
      what_a_guest_may_write, loops_overlaps_and_ends, extended_list_that_is_hostile,
      random_bytes_do_no_harm, what_cannot_be_assigned, reset_capability_of_conventional_devices)
