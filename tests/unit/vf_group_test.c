// SPDX-License-Identifier: GPL-2.0-only
#include <vf/bar.h>
#include <vf/coherent.h>
#include <vf/connectx.h>
#include <vf/group.h>
#include <vf/holder.h>
#include <vf/link.h>
#include <vf/pci.h>
#include <vf/reset.h>

#include "faketree.h"
#include "suite.h"

static struct faketree t;

static struct vf_bdf bdf(const char *text)
{
	struct vf_bdf b;

	ck_assert_int_eq(vf_bdf_parse(text, &b), 0);
	return b;
}

/* The chipset's group of a Q35 machine, a bridge, and one function alone. */
static void chipset(void)
{
	ft_new(&t);
	ft_system(&t);
	ft_add(&t, &(struct ft_pci){ "0000:00:1f.2", 0x8086, 0x2922, 0x010601, "ahci", 7, 0x80, 0 });
	ft_add(&t, &(struct ft_pci){ "0000:00:1f.0", 0x8086, 0x2918, 0x060100, "lpc_ich", 7, 0x80, 0 });
	ft_add(&t, &(struct ft_pci){ "0000:00:1f.3", 0x8086, 0x2930, 0x0c0500, NULL, 7, 0x80, 0 });
	ft_add(&t, &(struct ft_pci){ "0000:00:1c.0", 0x8086, 0x244e, 0x060400, "pcieport", 7, 0x81, 0 });
	ft_add(&t, &(struct ft_pci){ "0000:00:03.0", 0x8086, 0x10d3, 0x020000, "e1000e", 3, 0, 0 });
}

START_TEST(members)
{
	struct vf_group *g;
	char text[256], small[48];

	chipset();
	ft_dir(&t, "sys/kernel/iommu_groups/7/devices/serial8250");
	ck_assert_int_eq(vf_group_of(&t.host, &(struct vf_bdf){ 0, 0, 0x1f, 2 }), 7);
	ck_assert_int_eq(vf_group_of(&t.host, &(struct vf_bdf){ 0, 0, 9, 0 }), -ENODEV);
	ck_assert_int_eq(vf_group_read(&t.host, 7, &g, NULL), 0);
	ck_assert_uint_eq(g->count, 4);
	ck_assert_uint_eq(g->strangers, 1);
	ck_assert_str_eq(g->type, "DMA");
	ck_assert(!vf_group_viable(g));
	ck_assert_int_eq(g->members[0].state, VF_MEMBER_BRIDGE);
	ck_assert_int_eq(g->members[1].state, VF_MEMBER_HOST);
	ck_assert_int_eq(g->members[3].state, VF_MEMBER_FREE);
	ck_assert_uint_eq(vf_group_describe(g, VF_MEMBER_HOST, text, sizeof(text)), 2);
	ck_assert_str_eq(text, "0000:00:1f.0 (lpc_ich), 0000:00:1f.2 (ahci)");
	ck_assert_uint_eq(vf_group_describe(g, -1, small, sizeof(small)), 4);
	ck_assert_str_eq(small, "0000:00:1c.0 (pcieport), ...");
	vf_group_free(g);
	/* As the kernel sees it: no driver and VFIO's drivers do not matter. */
	ft_driver(&t, "mlx5_vfio_pci");
	ft_driver(&t, "pci-stub");
	ft_bind(&t, "0000:00:1f.0", "mlx5_vfio_pci");
	ft_bind(&t, "0000:00:1f.2", "pci-stub");
	ck_assert_int_eq(vf_group_read(&t.host, 7, &g, NULL), 0);
	ck_assert(vf_group_viable(g));
	ck_assert_int_eq(g->members[1].state, VF_MEMBER_VFIO);
	vf_group_free(g);
	ck_assert_int_eq(vf_group_read(&t.host, 99, &g, NULL), -ENOENT);
	ft_free(&t);
}
END_TEST

START_TEST(no_group)
{
	ft_new(&t);
	ft_add(&t, &(struct ft_pci){ "0000:00:03.0", 0x8086, 0x10d3, 0x020000, NULL, -1, 0, 0 });
	ck_assert_int_eq(vf_group_of(&t.host, &(struct vf_bdf){ 0, 0, 3, 0 }), -ENOENT);
	ft_link(&t, "../../kernel/iommu_groups/seven", "sys/devices/pci0000:00/0000:00:03.0/iommu_group");
	ck_assert_int_eq(vf_group_of(&t.host, &(struct vf_bdf){ 0, 0, 3, 0 }), -EINVAL);
	ft_free(&t);
}
END_TEST

START_TEST(reserved_regions)
{
	struct vf_resv r[4];

	ft_new(&t);
	ft_file(&t, "0x00000000000a0000 0x00000000000bffff direct-relaxable\n"
		    "0x00000000fee00000 0x00000000feefffff msi\n"
		    "0x000000fd00000000 0x000000ffffffffff reserved\n"
		    "0xffff000000000000 0xffffffffffffffff brand-new\n"
		    "0x0000000000001000 0x0000000000001fff direct\n",
		"sys/kernel/iommu_groups/1/reserved_regions");
	/* One more than there is room for. */
	ck_assert_int_eq(vf_group_reserved(&t.host, 1, r, 4), 5);
	ck_assert_int_eq(r[0].type, VF_RESV_DIRECT_RELAXABLE);
	ck_assert_int_eq(r[1].type, VF_RESV_MSI);
	ck_assert_uint_eq(r[2].start, 0xfd00000000);
	ck_assert_uint_eq(r[2].last, 0xffffffffff);
	ck_assert_int_eq(r[3].type, VF_RESV_UNKNOWN);
	ck_assert_uint_eq(r[3].last, UINT64_MAX);
	ft_file(&t, "", "sys/kernel/iommu_groups/1/reserved_regions");
	ck_assert_int_eq(vf_group_reserved(&t.host, 1, r, 4), 0);
	ft_file(&t, "0x2000 0x1fff msi\n", "sys/kernel/iommu_groups/1/reserved_regions");
	ck_assert_int_eq(vf_group_reserved(&t.host, 1, r, 4), -EBADMSG);
	ft_file(&t, "0x1000 msi\n", "sys/kernel/iommu_groups/1/reserved_regions");
	ck_assert_int_eq(vf_group_reserved(&t.host, 1, r, 4), -EBADMSG);
	ck_assert_int_eq(vf_group_reserved(&t.host, 2, r, 4), -ENOENT);
	ft_free(&t);
}
END_TEST

START_TEST(holders)
{
	struct vf_bdf b = bdf("00:03.0");
	struct vf_holder h[4];
	char text[256];

	chipset();
	ft_file(&t, "qemu\n", "proc/12/comm");
	ft_link(&t, "/dev/vfio/3", "proc/12/fd/9");
	ft_file(&t, "other\n", "proc/13/comm");
	ft_link(&t, "/dev/vfio/33", "proc/13/fd/3");
	ft_link(&t, "/dev/vfio/3", "proc/notapid/fd/3");
	ck_assert_int_eq(vf_holders(&t.host, &b, h, 4), 1);
	ck_assert_int_eq(h[0].pid, 12);
	ck_assert_int_eq(vf_holders_describe(&t.host, &b, text, sizeof(text)), 1);
	ck_assert_str_eq(text, "qemu (pid 12)");
	/* A device node of its own, as with iommufd. */
	ft_dir(&t, "sys/bus/pci/devices/0000:00:03.0/vfio-dev/vfio0");
	ft_link(&t, "/dev/vfio/devices/vfio0", "proc/13/fd/4");
	ck_assert_int_eq(vf_holders(&t.host, &b, h, 4), 2);
	ck_assert_int_eq(vf_holders_describe(&t.host, &b, text, 24), 2);
	ck_assert_str_eq(text, "qemu (pid 12), ...");
	b = bdf("00:1f.2");
	ck_assert_int_eq(vf_holders(&t.host, &b, h, 4), 0);
	ft_free(&t);
}
END_TEST

#define NONE "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"

START_TEST(bars)
{
	struct vf_msix msix = { .vectors = 1, .table_bar = 0, .table_offset = 0x2000 };
	struct vf_bdf b = bdf("00:03.0");
	struct vf_bar bar[VF_BAR_COUNT];

	ft_new(&t);
	/* An NVMe VF's only BAR, a prefetchable one, ports, and 256 bytes that begin a page. */
	ft_file(&t, "0x00000000af040000 0x00000000af043fff 0x0000000000140204\n" NONE
		    "0x0000003000000000 0x00000030007fffff 0x000000000014220c\n" NONE
		    "0x000000000000c080 0x000000000000c09f 0x0000000000040101\n"
		    "0x00000000febcf000 0x00000000febcf0ff 0x0000000000040200\n" NONE,
		"sys/bus/pci/devices/0000:00:03.0/resource");
	ck_assert_int_eq(vf_bars_read(&t.host, &b, &msix, bar), 0);
	ck_assert_uint_eq(bar[0].size, 0x4000);
	ck_assert(bar[0].is_64bit && !bar[0].prefetchable && !bar[0].io);
	ck_assert_uint_eq(bar[0].nr_areas, 2);
	ck_assert_uint_eq(bar[0].areas[0].size, 0x2000);
	ck_assert_uint_eq(bar[0].areas[1].offset, 0x3000);
	ck_assert_uint_eq(bar[0].areas[1].size, 0x1000);
	ck_assert_uint_eq(bar[1].size, 0);
	ck_assert_uint_eq(bar[2].size, 8 << 20);
	ck_assert(bar[2].prefetchable);
	ck_assert_uint_eq(bar[2].nr_areas, 1);
	ck_assert(bar[4].io);
	ck_assert_uint_eq(bar[4].nr_areas, 0);
	ck_assert_uint_eq(bar[5].size, 256);
	ck_assert_uint_eq(bar[5].nr_areas, 1);
	/* 2048 vectors fill eight pages; the table of one vector at the end of a BAR, one. */
	msix.vectors = 2048;
	msix.table_bar = 2;
	msix.table_offset = 0x1000;
	ck_assert_int_eq(vf_bars_read(&t.host, &b, &msix, bar), 0);
	ck_assert_uint_eq(bar[0].nr_areas, 1);
	ck_assert_uint_eq(bar[2].areas[0].size, 0x1000);
	ck_assert_uint_eq(bar[2].areas[1].offset, 0x9000);
	msix.vectors = 1;
	msix.table_offset = (8 << 20) - 16;
	ck_assert_int_eq(vf_bars_read(&t.host, &b, &msix, bar), 0);
	ck_assert_uint_eq(bar[2].nr_areas, 1);
	ck_assert_uint_eq(bar[2].areas[0].size, (8 << 20) - 0x1000);
	ft_file(&t, "0x2000 0x1000 0x200\n" NONE NONE NONE NONE NONE,
		"sys/bus/pci/devices/0000:00:03.0/resource");
	ck_assert_int_eq(vf_bars_read(&t.host, &b, NULL, bar), -EBADMSG);
	ft_file(&t, NONE, "sys/bus/pci/devices/0000:00:03.0/resource");
	ck_assert_int_eq(vf_bars_read(&t.host, &b, NULL, bar), -EBADMSG);
	ft_free(&t);
}
END_TEST

START_TEST(connectx_areas)
{
	struct vf_pci f = { .vendor_id = 0x15b3, .device_id = 0x1004, .class_code = 0x028000 };
	struct vf_bar bar[VF_BAR_COUNT] = { [2] = { .size = 8 << 20 } };
	struct vf_connectx cx;

	ck_assert(vf_connectx_find(&f, bar, &cx));
	ck_assert(cx.known);
	ck_assert_uint_eq(cx.bar, 2);
	ck_assert_uint_eq(cx.uar_size, 4 << 20);
	ck_assert_uint_eq(cx.bf_offset, 4 << 20);
	ck_assert_uint_eq(cx.bf_size, 4 << 20);
	bar[2].size = 1 << 20;
	ck_assert(vf_connectx_find(&f, bar, &cx));
	ck_assert(!cx.known);
	ck_assert_ptr_nonnull(strstr(cx.why, "too small"));
	bar[2].size = 0;
	ck_assert(vf_connectx_find(&f, bar, &cx));
	ck_assert(!cx.known);
	f.device_id = 0x1018;
	bar[2].size = 8 << 20;
	ck_assert(vf_connectx_find(&f, bar, &cx));
	ck_assert(!cx.known);
	ck_assert_ptr_nonnull(strstr(cx.why, "ConnectX-4"));
	f.vendor_id = 0x8086;
	ck_assert(!vf_connectx_find(&f, bar, &cx));
	/* A switch of the same vendor. */
	f.vendor_id = 0x15b3;
	f.class_code = 0x060400;
	ck_assert(!vf_connectx_find(&f, bar, &cx));
}
END_TEST

START_TEST(coherency)
{
	struct vf_bdf b = bdf("00:03.0");
	struct vf_translation tr;

	chipset();
	vf_translation_read(&t.host, &b, &tr);
	ck_assert_int_eq(tr.coherent, -1);
	ck_assert_str_eq(tr.iommu, "");
	ft_file(&t, "4000f5\n", "sys/devices/virtual/iommu/dmar0/intel-iommu/ecap");
	ft_link(&t, "../../virtual/iommu/dmar0", "sys/devices/pci0000:00/0000:00:03.0/iommu");
	vf_translation_read(&t.host, &b, &tr);
	ck_assert_str_eq(tr.kind, "intel");
	ck_assert_str_eq(tr.iommu, "dmar0");
	ck_assert_int_eq(tr.coherent, 1);
	ft_file(&t, "400075\n", "sys/devices/virtual/iommu/dmar0/intel-iommu/ecap");
	vf_translation_read(&t.host, &b, &tr);
	ck_assert_int_eq(tr.coherent, 0);
	ft_dir(&t, "sys/devices/virtual/iommu/ivhd0/amd-iommu");
	ft_link(&t, "../../virtual/iommu/ivhd0", "sys/devices/pci0000:00/0000:00:03.0/iommu");
	vf_translation_read(&t.host, &b, &tr);
	ck_assert_str_eq(tr.kind, "amd");
	ck_assert_int_eq(tr.coherent, 1);
	ft_free(&t);
}
END_TEST

START_TEST(links_and_resets)
{
	struct vf_bdf b = bdf("00:03.0");
	struct vf_caps caps = { 0 };
	struct vf_link link;
	char text[64];

	chipset();
	vf_link_read(&t.host, &b, &link);
	ck_assert_str_eq(link.speed, "");
	ck_assert_uint_eq(link.width, 0);
	ft_file(&t, "8.0 GT/s PCIe\n", "sys/devices/pci0000:00/0000:00:03.0/current_link_speed");
	ft_file(&t, "Unknown\n", "sys/devices/pci0000:00/0000:00:03.0/max_link_speed");
	ft_file(&t, "8\n", "sys/devices/pci0000:00/0000:00:03.0/current_link_width");
	ft_file(&t, "255\n", "sys/devices/pci0000:00/0000:00:03.0/max_link_width");
	vf_link_read(&t.host, &b, &link);
	ck_assert_str_eq(link.speed, "8.0 GT/s PCIe");
	ck_assert_str_eq(link.max_speed, "");
	ck_assert_uint_eq(link.width, 8);
	ck_assert_uint_eq(link.max_width, 0);
	ck_assert_uint_eq(vf_reset_methods(&t.host, &b, NULL, 0, &caps, text, sizeof(text)), 0);
	ft_file(&t, "", "sys/devices/pci0000:00/0000:00:03.0/reset");
	ck_assert_uint_eq(vf_reset_methods(&t.host, &b, NULL, 0, &caps, text, sizeof(text)), 1);
	ck_assert_str_eq(text, "other");
	ft_file(&t, "flr bus\n", "sys/devices/pci0000:00/0000:00:03.0/reset_method");
	ck_assert_uint_eq(vf_reset_methods(&t.host, &b, NULL, 0, &caps, text, sizeof(text)), 2);
	ft_free(&t);
}
END_TEST

SUITE("groups and devices", members, no_group, reserved_regions, holders, bars, connectx_areas, coherency,
      links_and_resets)
