// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>

#include <vf/config.h>

#include "pcidump.h"
#include "suite.h"

static uint8_t cfg[VF_CFG_SIZE];
static struct vf_caps caps;

static size_t load(const char *name)
{
	size_t len = pcidump_read(name, cfg);

	vf_config_caps(cfg, len, &caps);
	return len;
}

/* "40 50 100": the offsets of what was found, in its order. */
static void offsets(const char *want)
{
	char got[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < caps.count; i++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%x", i ? " " : "",
				      caps.cap[i].offset);
	ck_assert_str_eq(got, want);
}

/* What `lspci -F` says of the same dumps. */
START_TEST(recorded)
{
	static const struct {
		const char *name;
		const char *offsets;
		bool flr;
		int vectors; /* 0: no MSI-X */
		unsigned int table_bar, table, pba_bar, pba;
	} cases[] = {
		{ "igb-pf", "40 50 70 a0 100 150 160", true, 10, 3, 0, 3, 0x2000 },
		{ "igb-vf", "a0 70 100 150", true, 3, 3, 0, 3, 0x2000 },
		{ "nvme-pf", "40 80 60 100 120", true, 4, 0, 0x2000, 0, 0x3000 },
		{ "nvme-vf", "40 80 60 100", true, 1, 0, 0x2000, 0, 0x3000 },
		{ "e1000e", "c8 d0 e0 a0 100 140", false, 5, 3, 0, 3, 0x2000 },
		{ "ich9-ahci", "80 a8", false, 0, 0, 0, 0, 0 },
		{ "connectx3-vf", "60 9c 100", true, 4, 2, 0x2000, 2, 0x3000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vf_msix msix;
		size_t len = load(cases[i].name);
		int ret = vf_config_msix(cfg, len, &caps, &msix);

		offsets(cases[i].offsets);
		ck_assert_msg(!caps.broken, "%s: broken", cases[i].name);
		ck_assert_msg(vf_config_has_flr(cfg, len, &caps) == cases[i].flr, "%s: FLR",
			      cases[i].name);
		ck_assert_int_eq(ret, cases[i].vectors ? 0 : -ENOENT);
		if (ret)
			continue;
		ck_assert_uint_eq(msix.vectors, cases[i].vectors);
		ck_assert_uint_eq(msix.table_bar, cases[i].table_bar);
		ck_assert_uint_eq(msix.table_offset, cases[i].table);
		ck_assert_uint_eq(msix.pba_bar, cases[i].pba_bar);
		ck_assert_uint_eq(msix.pba_offset, cases[i].pba);
	}
}
END_TEST

START_TEST(names)
{
	static const char *const want[] = { "Power Management", "MSI", "MSI-X", "PCI Express", "AER", "ARI", "SR-IOV" };
	struct vf_cap cap = { .id = 0xee };

	load("igb-pf");
	for (size_t i = 0; i < caps.count; i++)
		ck_assert_str_eq(vf_cap_name(&caps.cap[i]), want[i]);
	ck_assert_ptr_null(vf_cap_name(&cap));
	cap.extended = true;
	cap.id = 0xffff;
	ck_assert_ptr_null(vf_cap_name(&cap));
}
END_TEST

START_TEST(sriov_and_msi_of_a_pf)
{
	size_t len = load("igb-pf");
	struct vf_sriov s;
	struct vf_msi msi;
	struct vf_pcie pcie;

	ck_assert_int_eq(vf_config_sriov(cfg, len, &caps, &s), 0);
	ck_assert_uint_eq(s.total, 8);
	ck_assert_uint_eq(s.offset, 128);
	ck_assert_uint_eq(s.stride, 2);
	ck_assert_uint_eq(s.vf_device_id, 0x10ca);
	ck_assert_int_eq(vf_config_msi(cfg, len, &caps, &msi), 0);
	ck_assert_uint_eq(msi.vectors, 1);
	ck_assert(msi.is_64bit && msi.maskable && !msi.enabled);
	ck_assert_int_eq(vf_config_pcie(cfg, len, &caps, &pcie), 0);
	ck_assert_uint_eq(pcie.type, 9);
	len = load("igb-vf");
	ck_assert_int_eq(vf_config_sriov(cfg, len, &caps, &s), -ENOENT);
	ck_assert_int_eq(vf_config_msi(cfg, len, &caps, &msi), -ENOENT);
}
END_TEST

/* What an unprivileged reader gets, and what a machine without extended space has. */
START_TEST(cut_short)
{
	struct vf_msix msix;

	load("igb-pf");
	vf_config_caps(cfg, 64, &caps);
	ck_assert_uint_eq(caps.count, 0);
	ck_assert(!caps.broken);
	vf_config_caps(cfg, 256, &caps);
	offsets("40 50 70 a0");
	/* The MSI-X capability begins inside, but ends outside. */
	vf_config_caps(cfg, 0x74, &caps);
	offsets("40 50 70");
	ck_assert_int_eq(vf_config_msix(cfg, 0x74, &caps, &msix), -EBADMSG);
	for (size_t len = 0; len < 64; len++) {
		vf_config_caps(cfg, len, &caps);
		ck_assert_uint_eq(caps.count, 0);
	}
}
END_TEST

START_TEST(gone)
{
	memset(cfg, 0xff, sizeof(cfg));
	vf_config_caps(cfg, sizeof(cfg), &caps);
	ck_assert_uint_eq(caps.count, 0);
}
END_TEST

static void blank(uint8_t first)
{
	memset(cfg, 0, sizeof(cfg));
	cfg[0] = 0x86;
	cfg[1] = 0x80;
	cfg[6] = 0x10;
	cfg[0x34] = first;
}

START_TEST(loops_and_bad_pointers)
{
	/* 0x40 -> 0x50 -> 0x40 */
	blank(0x40);
	cfg[0x40] = 0x01;
	cfg[0x41] = 0x50;
	cfg[0x50] = 0x05;
	cfg[0x51] = 0x40;
	vf_config_caps(cfg, 256, &caps);
	offsets("40 50");
	ck_assert(caps.broken);
	/* To itself. */
	cfg[0x51] = 0x50;
	vf_config_caps(cfg, 256, &caps);
	offsets("40 50");
	ck_assert(caps.broken);
	/* Into the header. */
	cfg[0x51] = 0x10;
	vf_config_caps(cfg, 256, &caps);
	offsets("40 50");
	ck_assert(caps.broken);
	/* The low bits of a pointer are reserved. */
	cfg[0x51] = 0x63;
	cfg[0x60] = 0x11;
	vf_config_caps(cfg, 256, &caps);
	offsets("40 50 60");
	ck_assert(!caps.broken);
	/* At the last place: the pointer is there, the body is not. */
	cfg[0x61] = 0xfc;
	cfg[0xfc] = 0x11;
	vf_config_caps(cfg, 256, &caps);
	offsets("40 50 60 fc");
	/* No list without the status bit. */
	cfg[6] = 0;
	vf_config_caps(cfg, 256, &caps);
	ck_assert_uint_eq(caps.count, 0);
}
END_TEST

static void put32(unsigned int at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		cfg[at + (unsigned int)i] = (uint8_t)(v >> 8 * i);
}

START_TEST(extended_loops_and_bad_pointers)
{
	blank(0);
	put32(0x100, 0x20010001);
	put32(0x200, 0x1001000e);
	vf_config_caps(cfg, sizeof(cfg), &caps);
	offsets("100 200");
	ck_assert(caps.broken);
	/* Into the ordinary space. */
	put32(0x200, 0x0401000e);
	vf_config_caps(cfg, sizeof(cfg), &caps);
	offsets("100 200");
	ck_assert(caps.broken);
	/* A place that was given up leads on. */
	put32(0x100, 0x20000000);
	put32(0x200, 0x0001000e);
	vf_config_caps(cfg, sizeof(cfg), &caps);
	offsets("200");
	ck_assert(!caps.broken);
	/* SR-IOV at the end of space: its body does not fit. */
	put32(0x200, 0xffc1000e);
	put32(0xffc, 0x00010010);
	vf_config_caps(cfg, sizeof(cfg), &caps);
	offsets("200 ffc");
	{
		struct vf_sriov s;

		ck_assert_int_eq(vf_config_sriov(cfg, sizeof(cfg), &caps, &s), -EBADMSG);
	}
	put32(0x100, 0xffffffff);
	vf_config_caps(cfg, sizeof(cfg), &caps);
	ck_assert_uint_eq(caps.count, 0);
	ck_assert(!caps.broken);
}
END_TEST

/* Each dword of the space a capability, in both lists: the most there can be. */
START_TEST(longest_lists)
{
	blank(0x40);
	for (unsigned int at = 0x40; at < 0x100; at += 4) {
		cfg[at] = 0x09;
		cfg[at + 1] = (uint8_t)(at + 4 < 0x100 ? at + 4 : 0);
	}
	for (unsigned int at = 0x100; at < 0x1000; at += 4)
		put32(at, (at + 4 < 0x1000 ? (at + 4) << 20 : 0) | 0x1000b);
	vf_config_caps(cfg, sizeof(cfg), &caps);
	ck_assert_uint_eq(caps.count, VF_CAPS_MAX);
	ck_assert(!caps.broken);
}
END_TEST

START_TEST(bad_bar_numbers)
{
	struct vf_msix msix = { .vectors = 9 };

	blank(0x40);
	cfg[0x40] = 0x11;
	cfg[0x42] = 0xff;
	cfg[0x43] = 0x07;
	put32(0x44, 0x2005);
	put32(0x48, 0x3000);
	vf_config_caps(cfg, 256, &caps);
	ck_assert_int_eq(vf_config_msix(cfg, 256, &caps, &msix), 0);
	ck_assert_uint_eq(msix.vectors, 2048);
	ck_assert_uint_eq(msix.table_bar, 5);
	put32(0x44, 0x2006);
	ck_assert_int_eq(vf_config_msix(cfg, 256, &caps, &msix), -EBADMSG);
	put32(0x44, 0x2000);
	put32(0x48, 0x3007);
	ck_assert_int_eq(vf_config_msix(cfg, 256, &caps, &msix), -EBADMSG);
	ck_assert_uint_eq(msix.vectors, 2048);
}
END_TEST

/* Junk of every kind: the walk ends, and what it reports lies inside. */
START_TEST(junk)
{
	uint32_t seed = 12345;

	for (int round = 0; round < 20000; round++) {
		size_t len = round % 3 ? sizeof(cfg) : (size_t)round % 4096;
		struct vf_msix msix;
		struct vf_msi msi;
		struct vf_sriov s;

		for (size_t i = 0; i < sizeof(cfg); i += 4) {
			seed = seed * 1664525 + 1013904223;
			put32((unsigned int)i, seed >> 8 & 0xff00 ? seed ^ seed >> 13 : 0);
		}
		cfg[6] |= 0x10;
		vf_config_caps(cfg, len, &caps);
		ck_assert_uint_le(caps.count, VF_CAPS_MAX);
		for (size_t i = 0; i < caps.count; i++) {
			ck_assert_uint_lt(caps.cap[i].offset, len);
			ck_assert_uint_ge(caps.cap[i].offset, caps.cap[i].extended ? 256 : 64);
			vf_cap_name(&caps.cap[i]);
		}
		if (!vf_config_msix(cfg, len, &caps, &msix))
			ck_assert_uint_le(msix.table_bar, 5);
		vf_config_msi(cfg, len, &caps, &msi);
		vf_config_sriov(cfg, len, &caps, &s);
		vf_config_has_flr(cfg, len, &caps);
	}
}
END_TEST

SUITE("configuration space", recorded, names, sriov_and_msi_of_a_pf, cut_short, gone,
      loops_and_bad_pointers, extended_loops_and_bad_pointers, longest_lists, bad_bar_numbers, junk)
