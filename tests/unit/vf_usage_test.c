// SPDX-License-Identifier: GPL-2.0-only
#include <vf/usage.h>

#include "faketree.h"
#include "suite.h"

static struct faketree t;
static char why[400];

#define PCI "sys/devices/pci0000:00/"
#define SSD PCI "0000:00:1d.0/0000:02:00.0/nvme/nvme0/nvme0n1"

static int usage(const char *name)
{
	struct vf_bdf b;

	ck_assert_int_eq(vf_bdf_parse(name, &b), 0);
	return vf_usage(&t.host, &b, why, sizeof(why), NULL);
}

static void block(const char *number, const char *path, const char *name)
{
	char target[256];

	ft_dir(&t, "%s", path);
	snprintf(target, sizeof(target), "../../%s", path + 4);
	ft_link(&t, target, "sys/dev/block/%s", number);
	ft_link(&t, target, "sys/class/block/%s", name);
}

/* An NVMe SSD behind a root port, and two NICs. */
static void host(void)
{
	ft_new(&t);
	ft_system(&t);
	block("259:0", SSD, "nvme0n1");
	block("259:2", SSD "/nvme0n1p2", "nvme0n1p2");
	ft_dir(&t, PCI "0000:00:03.0/net/eth0");
	ft_link(&t, "../../devices/pci0000:00/0000:00:03.0/net/eth0", "sys/class/net/eth0");
	ft_dir(&t, PCI "0000:00:04.0/net/eth1");
	ft_link(&t, "../../devices/pci0000:00/0000:00:04.0/net/eth1", "sys/class/net/eth1");
}

START_TEST(nothing_needs_it)
{
	host();
	ck_assert_int_eq(usage("02:00.0"), 0);
	ck_assert_str_eq(why, "");
	ck_assert_int_eq(usage("00:03.0"), 0);
	ft_free(&t);
}
END_TEST

START_TEST(root_on_a_partition)
{
	host();
	ft_file(&t, "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n", "proc/self/mountinfo");
	ck_assert_int_eq(usage("02:00.0"), 1);
	ck_assert_str_eq(why, "carries the root file system (/dev/nvme0n1p2)");
	/* The bridge above it, too; but not a function whose name is only alike. */
	ck_assert_int_eq(usage("00:1d.0"), 1);
	ck_assert_int_eq(usage("00:1d.1"), 0);
	ck_assert_int_eq(usage("00:03.0"), 0);
	ft_free(&t);
}
END_TEST

/* Behind VMD a domain has five digits: 10000:02:00.0 is not 0000:02:00.0. */
START_TEST(long_domains)
{
	host();
	block("259:9", PCI "0000:00:0e.0/pci10000:00/10000:02:00.0/nvme/nvme1/nvme1n1", "nvme1n1");
	ft_file(&t, "22 1 259:9 / / rw - ext4 /dev/nvme1n1 rw\n", "proc/self/mountinfo");
	ck_assert_int_eq(usage("10000:02:00.0"), 1);
	ck_assert_int_eq(usage("0000:00:0e.0"), 1);
	ck_assert_int_eq(usage("0000:02:00.0"), 0);
	ft_free(&t);
}
END_TEST

START_TEST(stacked_devices)
{
	host();
	/* LVM on LUKS: dm-1 on dm-0 on the partition. */
	block("254:0", "sys/devices/virtual/block/dm-0", "dm-0");
	block("254:1", "sys/devices/virtual/block/dm-1", "dm-1");
	ft_link(&t, "/" SSD "/nvme0n1p2", "sys/devices/virtual/block/dm-0/slaves/nvme0n1p2");
	ft_link(&t, "../../dm-0", "sys/devices/virtual/block/dm-1/slaves/dm-0");
	ft_file(&t, "22 1 254:1 / /srv/data rw - xfs /dev/mapper/vg-data rw\n", "proc/self/mountinfo");
	ck_assert_int_eq(usage("02:00.0"), 1);
	ck_assert_str_eq(why, "carries the file system mounted at /srv/data (/dev/mapper/vg-data)");
	/* A device that is made of itself. */
	ft_unlink(&t, "sys/devices/virtual/block/dm-0/slaves/nvme0n1p2");
	ft_link(&t, "../../dm-1", "sys/devices/virtual/block/dm-0/slaves/dm-1");
	ck_assert_int_eq(usage("02:00.0"), 0);
	/* A partition of an MD array. */
	block("9:1", "sys/devices/virtual/block/md0/md0p1", "md0p1");
	ft_link(&t, "/" SSD, "sys/devices/virtual/block/md0/slaves/nvme0n1");
	ft_file(&t, "22 1 9:1 / /raid rw - xfs /dev/md0p1 rw\n", "proc/self/mountinfo");
	ck_assert_int_eq(usage("02:00.0"), 1);
	ft_free(&t);
}
END_TEST

START_TEST(nvme_multipath)
{
	host();
	block("259:5", "sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "nvme0n1");
	ft_link(&t, "/" PCI "0000:00:1d.0/0000:02:00.0/nvme/nvme0",
		"sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0");
	ft_file(&t, "22 1 259:5 / / rw - ext4 /dev/nvme0n1 rw\n", "proc/self/mountinfo");
	ck_assert_int_eq(usage("02:00.0"), 1);
	ck_assert_int_eq(usage("00:03.0"), 0);
	ft_free(&t);
}
END_TEST

START_TEST(btrfs_and_swap)
{
	host();
	/* The mount names a loop device; the volume also has the SSD. */
	block("7:0", "sys/devices/virtual/block/loop0", "loop0");
	ft_dir(&t, "sys/fs/btrfs/features");
	ft_dir(&t, "sys/fs/btrfs/a-b-c/devices/loop0");
	ft_dir(&t, "sys/fs/btrfs/a-b-c/devices/nvme0n1");
	ft_file(&t, "22 1 0:40 /sub /home rw - btrfs /dev/loop0 rw\n", "proc/self/mountinfo");
	ck_assert_int_eq(usage("02:00.0"), 1);
	ck_assert_ptr_nonnull(strstr(why, "/home"));
	ft_file(&t, "", "proc/self/mountinfo");
	ck_assert_int_eq(usage("02:00.0"), 0);
	ft_file(&t, "Filename Type Size Used Priority\n/dev/nvme0n1p2 partition 1 0 -2\n", "proc/swaps");
	ck_assert_int_eq(usage("02:00.0"), 1);
	ck_assert_str_eq(why, "carries swap space (/dev/nvme0n1p2)");
	ft_free(&t);
}
END_TEST

START_TEST(root_over_9p)
{
	host();
	ft_file(&t, "root9", PCI "0000:00:05.0/virtio3/mount_tag");
	ft_link(&t, "/" PCI "0000:00:05.0/virtio3", "sys/bus/virtio/drivers/9pnet_virtio/virtio3");
	ft_file(&t, "22 1 0:40 / / rw - 9p root9 rw\n", "proc/self/mountinfo");
	ck_assert_int_eq(usage("00:05.0"), 1);
	ck_assert_int_eq(usage("00:03.0"), 0);
	ft_free(&t);
}
END_TEST

/* Also what process 1 has mounted, when this one lives in another namespace. */
START_TEST(other_namespaces)
{
	host();
	ft_file(&t, "22 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw\n", "proc/1/mountinfo");
	ck_assert_int_eq(usage("02:00.0"), 1);
	ft_free(&t);
}
END_TEST

#define ROUTE_HEAD "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
#define ROUTE(i, dest, flags, mask) i "\t" dest "\t0102A8C0\t" flags "\t0\t0\t0\t" mask "\t0\t0\t0\n"

START_TEST(default_route)
{
	host();
	ft_file(&t, ROUTE_HEAD ROUTE("eth1", "0002A8C0", "0001", "00FFFFFF")
		    ROUTE("eth0", "00000000", "0003", "00000000"), "proc/self/net/route");
	ck_assert_int_eq(usage("00:03.0"), 1);
	ck_assert_str_eq(why, "carries the default route (eth0)");
	ck_assert_int_eq(usage("00:04.0"), 0);
	/* A half of the address space is not a default route; an unreachable one is none. */
	ft_file(&t, ROUTE_HEAD ROUTE("eth0", "00000000", "0003", "00000080")
		    ROUTE("eth0", "00000000", "0203", "00000000"), "proc/self/net/route");
	ck_assert_int_eq(usage("00:03.0"), 0);
	ft_free(&t);
}
END_TEST

#define ZEROS "00000000000000000000000000000000"

START_TEST(default_route_ipv6_over_a_bond)
{
	host();
	ft_dir(&t, "sys/devices/virtual/net/bond0");
	ft_dir(&t, "sys/devices/virtual/net/bond0.7");
	ft_link(&t, "../../devices/virtual/net/bond0", "sys/class/net/bond0");
	ft_link(&t, "../../devices/virtual/net/bond0.7", "sys/class/net/bond0.7");
	ft_link(&t, "../bond0", "sys/devices/virtual/net/bond0.7/lower_bond0");
	ft_link(&t, "/" PCI "0000:00:04.0/net/eth1", "sys/devices/virtual/net/bond0/lower_eth1");
	/* The kernel's own reject route on lo comes with every host. */
	ft_file(&t, ZEROS " 00 " ZEROS " 00 " ZEROS " ffffffff 00000001 00000000 00200200       lo\n"
		ZEROS " 00 " ZEROS " 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003 bond0.7\n",
		"proc/self/net/ipv6_route");
	ck_assert_int_eq(usage("00:04.0"), 1);
	ck_assert_str_eq(why, "carries the default route (bond0.7)");
	ck_assert_int_eq(usage("00:03.0"), 0);
	ft_free(&t);
}
END_TEST

START_TEST(nonsense)
{
	host();
	ft_file(&t, "\n - \nx\n22 1 259:2\n22 1 259:2 / / rw ext4 /dev/nvme0n1p2 rw\n99 1 0:1 / /x rw - none /dev/ rw\n"
		    "99 1 0:1 / /x rw - none /dev/.. rw\n", "proc/self/mountinfo");
	ft_file(&t, "eth0\n\n", "proc/self/net/route");
	ft_file(&t, "zz\n", "proc/self/net/ipv6_route");
	ft_file(&t, "/dev/../../etc\n", "proc/swaps");
	ck_assert_int_eq(usage("02:00.0"), 0);
	ck_assert_int_eq(usage("00:03.0"), 0);
	/* Sources that lead to a folder directly below the root, or to the root itself. */
	ft_dir(&t, "dev");
	ft_dir(&t, "etc");
	ck_assert_int_eq(usage("02:00.0"), 0);
	ft_free(&t);
}
END_TEST

SUITE("what the host needs", nothing_needs_it, root_on_a_partition, long_domains, stacked_devices, nvme_multipath,
      btrfs_and_swap, root_over_9p, other_namespaces, default_route, default_route_ipv6_over_a_bond, nonsense)
