// SPDX-License-Identifier: GPL-2.0-only
#include <vf/names.h>
#include <vf/pci.h>

#include "faketree.h"
#include "suite.h"

static struct faketree t;

#define DEV "sys/devices/pci0000:00/"

static void nic(void)
{
	ft_new(&t);
	ft_system(&t);
	ft_add(&t, &(struct ft_pci){ "0000:00:13.2", 0x8086, 0x10ca, 0x020000, "vfio-pci", 9, 0, 0 });
	ft_add(&t, &(struct ft_pci){ "0000:00:03.0", 0x8086, 0x10c9, 0x020000, "igb", 1, 0, 7 });
	ft_add(&t, &(struct ft_pci){ "0000:00:13.0", 0x8086, 0x10ca, 0x020000, NULL, 8, 0, 0 });
	ft_vf(&t, "0000:00:03.0", 0, "0000:00:13.0");
	ft_vf(&t, "0000:00:03.0", 1, "0000:00:13.2");
	ft_file(&t, "2\n", DEV "0000:00:03.0/sriov_numvfs");
	ft_link(&t, "../../../0000:00:03.0", DEV "0000:00:03.0/net/eth0/device");
	ft_link(&t, "../../devices/pci0000:00/0000:00:03.0/net/eth0", "sys/class/net/eth0");
	ft_file(&t, "1", "sys/devices/virtual/net/lo/ifindex");
	ft_link(&t, "../../devices/virtual/net/lo", "sys/class/net/lo");
}

START_TEST(roles)
{
	struct vf_pci *all;
	size_t n;

	nic();
	ft_dir(&t, "sys/bus/pci/devices/what-is-this");
	ft_file(&t, "1\n", DEV "0000:00:13.2/numa_node");
	ft_file(&t, "vfio-pci\n", DEV "0000:00:13.2/driver_override");
	ck_assert_int_eq(vf_pci_list(&t.host, &all, &n, NULL), 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_int_eq(all[0].role, VF_ROLE_PF);
	ck_assert_uint_eq(all[0].total_vfs, 7);
	ck_assert_uint_eq(all[0].num_vfs, 2);
	ck_assert_str_eq(all[0].driver, "igb");
	ck_assert_str_eq(all[0].driver_override, "");
	ck_assert_int_eq(all[0].iommu_group, 1);
	ck_assert_int_eq(all[0].numa_node, -1);
	ck_assert_int_eq(all[0].vf_index, -1);
	ck_assert_int_eq(all[1].role, VF_ROLE_VF);
	ck_assert_int_eq(all[1].vf_index, 0);
	ck_assert_str_eq(all[1].driver, "");
	ck_assert_int_eq(vf_bdf_cmp(&all[1].pf, &all[0].bdf), 0);
	ck_assert_int_eq(all[2].vf_index, 1);
	ck_assert_int_eq(all[2].numa_node, 1);
	ck_assert_str_eq(all[2].driver_override, "vfio-pci");
	ck_assert_uint_eq(all[2].device_id, 0x10ca);
	free(all);
	ft_free(&t);
}
END_TEST

/* The index comes from the link, whether offset and stride are missing, wrong or absurd. */
START_TEST(index_without_offset)
{
	static const char *const offsets[] = { NULL, "126\n", "0\n", "junk\n", "99999999\n" };
	struct vf_bdf b = { 0, 0, 0x13, 2 };
	struct vf_pci f;

	nic();
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		ft_unlink(&t, DEV "0000:00:03.0/sriov_offset");
		if (offsets[i])
			ft_file(&t, offsets[i], DEV "0000:00:03.0/sriov_offset");
		ck_assert_int_eq(vf_pci_read(&t.host, &b, &f, NULL), 0);
		ck_assert_int_eq(f.vf_index, 1);
	}
	/* A PF that does not know its VF. */
	ft_unlink(&t, DEV "0000:00:03.0/virtfn1");
	ck_assert_int_eq(vf_pci_read(&t.host, &b, &f, NULL), 0);
	ck_assert_int_eq(f.vf_index, -1);
	ft_free(&t);
}
END_TEST

START_TEST(found_by_name_or_interface)
{
	struct bp_error err = { 0 };
	struct vf_pci f;

	nic();
	ck_assert_int_eq(vf_pci_find(&t.host, "00:13.0", &f, &err), 0);
	ck_assert_int_eq(f.role, VF_ROLE_VF);
	ck_assert_int_eq(vf_pci_find(&t.host, "eth0", &f, &err), 0);
	ck_assert_int_eq(f.role, VF_ROLE_PF);
	ck_assert_int_eq(vf_pci_find(&t.host, "lo", &f, &err), -ENODEV);
	ck_assert_str_eq(err.what, "interface 'lo' is not that of a PCI function");
	bp_error_clear(&err);
	ck_assert_int_eq(vf_pci_find(&t.host, "../../x", &f, &err), -EINVAL);
	ck_assert_str_eq(err.fix, "write it as 0000:01:00.1 or 01:00.1");
	bp_error_clear(&err);
	ck_assert_int_eq(vf_pci_find(&t.host, "77:00.0", &f, &err), -ENODEV);
	ck_assert_str_eq(err.what, "there is no PCI function 0000:77:00.0");
	ft_free(&t);
}
END_TEST

START_TEST(nonsense_in_attributes)
{
	struct vf_bdf b = { 0, 0, 3, 0 };
	struct bp_error err = { 0 };
	struct vf_pci f;

	nic();
	ft_file(&t, "0x18086\n", DEV "0000:00:03.0/vendor");
	ck_assert_int_eq(vf_pci_read(&t.host, &b, &f, &err), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(err.what, "0000:00:03.0: cannot read its attribute 'vendor'"));
	ft_file(&t, "0x8086\n", DEV "0000:00:03.0/vendor");
	ft_file(&t, "70000\n", DEV "0000:00:03.0/sriov_totalvfs");
	ck_assert_int_eq(vf_pci_read(&t.host, &b, &f, NULL), -EBADMSG);
	ft_file(&t, "7\n", DEV "0000:00:03.0/sriov_totalvfs");
	ft_file(&t, "99999999999999999999\n", DEV "0000:00:03.0/numa_node");
	ck_assert_int_eq(vf_pci_read(&t.host, &b, &f, NULL), 0);
	ck_assert_int_eq(f.numa_node, -1);
	ft_link(&t, "../nonsense", DEV "0000:00:13.0/physfn");
	b.dev = 0x13;
	ck_assert_int_eq(vf_pci_read(&t.host, &b, &f, NULL), -EBADMSG);
	ft_free(&t);
}
END_TEST

START_TEST(no_sysfs)
{
	struct bp_error err = { 0 };
	struct vf_pci *all;
	size_t n;

	ft_new(&t);
	ck_assert_int_eq(vf_pci_list(&t.host, &all, &n, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.what, t.root));
	ft_free(&t);
}
END_TEST

START_TEST(vfs_of_a_pf)
{
	struct vf_bdf pf = { 0, 0, 3, 0 }, *vfs;
	size_t n;

	nic();
	ck_assert_int_eq(vf_pci_vfs(&t.host, &pf, &vfs, &n), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(vfs[1].fn, 2);
	free(vfs);
	ft_link(&t, "../junk", DEV "0000:00:03.0/virtfn2");
	ck_assert_int_eq(vf_pci_vfs(&t.host, &pf, &vfs, &n), -EBADMSG);
	ft_free(&t);
}
END_TEST

START_TEST(vendors_names)
{
	struct vf_ids *ids = vf_ids_open();
	char buf[128], small[8];

	ck_assert_ptr_nonnull(ids);
	ck_assert_str_eq(vf_ids_name(ids, 0x8086, 0x10ca, buf, sizeof(buf)),
			 "Intel Corporation 82576 Virtual Function");
	ck_assert_str_eq(vf_ids_name(ids, 0x8086, 0x0000, buf, sizeof(buf)),
			 "Intel Corporation device 0000");
	ck_assert_str_eq(vf_ids_name(ids, 0xfff0, 0x1234, buf, sizeof(buf)), "fff0:1234");
	ck_assert_str_eq(vf_ids_name(ids, 0x8086, 0x10ca, small, sizeof(small)), "Intel C");
	vf_ids_close(ids);
	vf_ids_close(NULL);
}
END_TEST

SUITE("PCI functions", roles, index_without_offset, found_by_name_or_interface, nonsense_in_attributes,
      no_sysfs, vfs_of_a_pf, vendors_names)
