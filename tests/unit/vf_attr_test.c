// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <vf/vfattr.h>

#include "fakekernel.h"
#include "suite.h"
#include "vfio/vfmsg.h"

static char buf[8192] __attribute__((aligned(8)));

static struct vf_attrs parsed(const char *name, const char *value)
{
	struct vf_attrs a = { .min_rate = 5 };
	struct bp_error err = { 0 };

	ck_assert_msg(vf_attr_parse(name, value, &a, &err) >= 0, "%s %s: %s", name, value, err.what);
	return a;
}

START_TEST(values)
{
	struct vf_attrs a;

	a = parsed("mac", "02:00:00:00:00:Fe");
	ck_assert_uint_eq(a.mac[0], 2);
	ck_assert_uint_eq(a.mac[5], 0xfe);
	a = parsed("vlan", "100");
	ck_assert_uint_eq(a.vlan, 100);
	ck_assert_uint_eq(a.qos, 0);
	ck_assert_uint_eq(a.vlan_proto, 0x8100);
	a = parsed("vlan", "4095:7:802.1ad");
	ck_assert_uint_eq(a.qos, 7);
	ck_assert_uint_eq(a.vlan_proto, 0x88a8);
	ck_assert(parsed("trust", "on").trust);
	ck_assert(!parsed("spoofchk", "off").spoofchk);
	a = parsed("rate", "1000");
	ck_assert_uint_eq(a.max_rate, 1000);
	ck_assert_uint_eq(a.min_rate, 5);
	a = parsed("rate", "100-4294967295");
	ck_assert_uint_eq(a.min_rate, 100);
	ck_assert_uint_eq(a.max_rate, UINT32_MAX);
	a = parsed("rate", "100-0");
	ck_assert_uint_eq(a.max_rate, 0);
	a = parsed("guid", "00:11:22:33:44:55:66:f7");
	ck_assert_uint_eq(a.node_guid, 0x00112233445566f7);
	ck_assert_uint_eq(a.port_guid, 0x00112233445566f7);
	ck_assert_uint_eq(parsed("guid", "00112233445566F7").node_guid, 0x00112233445566f7);
}
END_TEST

START_TEST(no_values)
{
	static const char *const bad[][2] = {
		{ "mac", "" }, { "mac", "02:00:00:00:00" }, { "mac", "02:00:00:00:00:00:00" },
		{ "mac", "02:00:00:00:00:0g" }, { "mac", "01:00:00:00:00:00" }, { "mac", "ff:ff:ff:ff:ff:ff" },
		{ "mac", "020000000000" }, { "mac", "02-00-00-00-00-00" }, { "vlan", "4096" }, { "vlan", "-1" },
		{ "vlan", "1:8" }, { "vlan", "1:" }, { "vlan", "1:1:x" }, { "vlan", "1 " }, { "vlan", "0x10" },
		{ "trust", "yes" }, { "trust", "" }, { "spoofchk", "On" }, { "rate", "4294967296" },
		{ "rate", "10-5" }, { "rate", "10-" }, { "rate", "-10" }, { "rate", "1e3" }, { "rate", "1-2-3" },
		{ "guid", "0" }, { "guid", "00:11:22:33:44:55:66" }, { "guid", "00112233445566778" },
		{ "guid", "0x11223344556677" }, { "link_state", "1" }, { "MAC", "02:00:00:00:00:01" }, { "", "" },
	};
	struct vf_attrs a;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct bp_error err = { 0 };

		ck_assert_msg(vf_attr_parse(bad[i][0], bad[i][1], &a, &err) == -EINVAL, "%s '%s' passed",
			      bad[i][0], bad[i][1]);
		ck_assert_int_eq(err.code, -EINVAL);
	}
}
END_TEST

/* The attribute of a request for a VF, walked as the kernel does (do_setvfinfo()). */
static const struct nlattr *request(enum vf_attr attr, const struct vf_attrs *to, int type)
{
	struct nlmsghdr *nlh = vf_msg_set(buf, 5, 9, 3, attr, to);
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(nlh);
	struct nlattr *list, *one, *at;

	ck_assert_uint_le(nlh->nlmsg_len, VF_MSG_SIZE);
	ck_assert_uint_eq(nlh->nlmsg_type, RTM_SETLINK);
	ck_assert_uint_eq(nlh->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
	ck_assert_int_eq(info->ifi_index, 5);
	mnl_attr_for_each(list, nlh, sizeof(*info))
	{
		ck_assert_uint_eq(mnl_attr_get_type(list), IFLA_VFINFO_LIST);
		mnl_attr_for_each_nested(one, list)
		{
			ck_assert_uint_eq(mnl_attr_get_type(one), IFLA_VF_INFO);
			mnl_attr_for_each_nested(at, one)
				if (mnl_attr_get_type(at) == type)
					return at;
		}
	}
	ck_abort_msg("attribute %d is missing", type);
}

#define TAKE(s, at)                                                                                \
	do {                                                                                       \
		ck_assert_uint_eq(mnl_attr_get_payload_len(at), sizeof(s));                        \
		memcpy(&(s), mnl_attr_get_payload(at), sizeof(s));                                 \
		ck_assert_uint_eq((s).vf, 3);                                                      \
	} while (0)

START_TEST(requests)
{
	struct ifla_vf_vlan_info info;
	struct ifla_vf_trust trust;
	struct ifla_vf_vlan vlan;
	struct ifla_vf_rate rate;
	struct ifla_vf_guid guid;
	struct ifla_vf_mac mac;
	struct vf_attrs a;

	a = parsed("mac", "02:00:00:00:00:11");
	TAKE(mac, request(VF_ATTR_MAC, &a, IFLA_VF_MAC));
	ck_assert_uint_eq(mac.mac[5], 0x11);
	a = parsed("vlan", "100:3");
	TAKE(vlan, request(VF_ATTR_VLAN, &a, IFLA_VF_VLAN));
	ck_assert_uint_eq(vlan.vlan, 100);
	ck_assert_uint_eq(vlan.qos, 3);
	a = parsed("vlan", "100:3:802.1ad");
	TAKE(info, mnl_attr_get_payload(request(VF_ATTR_VLAN, &a, IFLA_VF_VLAN_LIST)));
	ck_assert_uint_eq(ntohs(info.vlan_proto), 0x88a8);
	a = parsed("trust", "on");
	TAKE(trust, request(VF_ATTR_TRUST, &a, IFLA_VF_TRUST));
	ck_assert_uint_eq(trust.setting, 1);
	a = parsed("rate", "10-20");
	TAKE(rate, request(VF_ATTR_RATE, &a, IFLA_VF_RATE));
	ck_assert_uint_eq(rate.min_tx_rate, 10);
	ck_assert_uint_eq(rate.max_tx_rate, 20);
	a = parsed("guid", "0011223344556677");
	TAKE(guid, request(VF_ATTR_GUID, &a, IFLA_VF_IB_NODE_GUID));
	ck_assert_uint_eq(guid.guid, 0x0011223344556677);
	TAKE(guid, request(VF_ATTR_GUID, &a, IFLA_VF_IB_PORT_GUID));
	ck_assert_uint_eq(guid.guid, 0x0011223344556677);
}
END_TEST

/* An interface with two VFs, as rtnl_fill_vfinfo() builds it. */
static struct nlmsghdr *answer(unsigned short type)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *info;
	struct nlattr *list, *one;

	nlh->nlmsg_type = RTM_NEWLINK;
	info = mnl_nlmsg_put_extra_header(nlh, sizeof(*info));
	info->ifi_type = type;
	mnl_attr_put_u32(nlh, IFLA_NUM_VF, 2);
	list = mnl_attr_nest_start(nlh, IFLA_VFINFO_LIST);
	for (uint32_t vf = 0; vf < 2; vf++) {
		struct ifla_vf_mac mac = { .vf = vf, .mac = { 2, 0, 0, 0, 0, (uint8_t)(0x10 + vf) } };
		struct ifla_vf_vlan vlan = { .vf = vf, .vlan = 100 * vf, .qos = 3 * vf };
		struct ifla_vf_rate rate = { .vf = vf, .max_tx_rate = 1000 * vf };
		struct ifla_vf_spoofchk spoofchk = { .vf = vf, .setting = vf };
		/* A driver without such a setting. */
		struct ifla_vf_trust trust = { .vf = vf, .setting = vf ? 1 : UINT32_MAX };
		struct ifla_vf_link_state state = { .vf = vf, .link_state = IFLA_VF_LINK_STATE_DISABLE };

		one = mnl_attr_nest_start(nlh, IFLA_VF_INFO);
		mnl_attr_put(nlh, IFLA_VF_MAC, sizeof(mac), &mac);
		mnl_attr_put(nlh, IFLA_VF_VLAN, sizeof(vlan), &vlan);
		mnl_attr_put(nlh, IFLA_VF_RATE, sizeof(rate), &rate);
		mnl_attr_put(nlh, IFLA_VF_SPOOFCHK, sizeof(spoofchk), &spoofchk);
		mnl_attr_put(nlh, IFLA_VF_TRUST, sizeof(trust), &trust);
		mnl_attr_put(nlh, IFLA_VF_LINK_STATE, sizeof(state), &state);
		mnl_attr_nest_end(nlh, one);
	}
	mnl_attr_nest_end(nlh, list);
	return nlh;
}

START_TEST(answers)
{
	struct nlmsghdr *nlh = answer(ARPHRD_ETHER);
	struct vf_attrs a;

	ck_assert_int_eq(vf_msg_parse(nlh, 1, &a), 0);
	ck_assert_uint_eq(a.mac[5], 0x11);
	ck_assert_uint_eq(a.mac_len, 6);
	ck_assert_uint_eq(a.vlan, 100);
	ck_assert_uint_eq(a.qos, 3);
	ck_assert_uint_eq(a.max_rate, 1000);
	ck_assert(a.spoofchk && a.trust);
	ck_assert_uint_eq(a.link_state, IFLA_VF_LINK_STATE_DISABLE);
	ck_assert(!(a.known & 1u << VF_ATTR_GUID));
	ck_assert_int_eq(vf_msg_parse(nlh, 0, &a), 0);
	ck_assert_uint_eq(a.mac[5], 0x10);
	ck_assert(!(a.known & 1u << VF_ATTR_TRUST));
	ck_assert(!a.spoofchk);
	ck_assert_int_eq(vf_msg_parse(nlh, 2, &a), -ENOENT);
	nlh = answer(ARPHRD_INFINIBAND);
	ck_assert_int_eq(vf_msg_parse(nlh, 0, &a), 0);
	ck_assert_uint_eq(a.mac_len, 20);
	/* An attribute that is shorter than it should be is not read. */
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_NEWLINK;
	ck_assert_int_eq(vf_msg_parse(nlh, 0, &a), -EBADMSG);
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	ck_assert_int_eq(vf_msg_parse(nlh, 0, &a), -ENOENT);
	nlh->nlmsg_type = RTM_NEWADDR;
	ck_assert_int_eq(vf_msg_parse(nlh, 0, &a), -EBADMSG);
}
END_TEST

START_TEST(short_attributes)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifla_vf_mac mac = { .vf = 0 };
	struct nlattr *list, *one;
	struct vf_attrs a;

	nlh->nlmsg_type = RTM_NEWLINK;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	list = mnl_attr_nest_start(nlh, IFLA_VFINFO_LIST);
	one = mnl_attr_nest_start(nlh, IFLA_VF_INFO);
	mnl_attr_put(nlh, IFLA_VF_MAC, sizeof(mac), &mac);
	mnl_attr_put(nlh, IFLA_VF_RATE, 4, &mac);
	mnl_attr_put(nlh, IFLA_VF_VLAN, 0, &mac);
	mnl_attr_nest_end(nlh, one);
	mnl_attr_nest_end(nlh, list);
	ck_assert_int_eq(vf_msg_parse(nlh, 0, &a), 0);
	ck_assert_uint_eq(a.known, 1u << VF_ATTR_MAC);
}
END_TEST

START_TEST(kernels_words)
{
	static const char words[] = "Invalid VF link state";
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nlmsgerr *e;
	char text[64];

	nlh->nlmsg_type = NLMSG_ERROR;
	e = mnl_nlmsg_put_extra_header(nlh, sizeof(*e));
	e->error = -EINVAL;
	e->msg.nlmsg_len = sizeof(e->msg);
	ck_assert_int_eq(vf_msg_error(nlh, text, sizeof(text)), -EINVAL);
	ck_assert_str_eq(text, "");
	nlh->nlmsg_flags = NLM_F_ACK_TLVS | NLM_F_CAPPED;
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, words);
	ck_assert_int_eq(vf_msg_error(nlh, text, sizeof(text)), -EINVAL);
	ck_assert_str_eq(text, words);
	/* A request that is repeated with a length beyond the answer. */
	nlh->nlmsg_flags = NLM_F_ACK_TLVS;
	e->msg.nlmsg_len = 1000000;
	ck_assert_int_eq(vf_msg_error(nlh, text, sizeof(text)), -EINVAL);
	ck_assert_str_eq(text, "");
	/* Numbers that are no errno; some could not even be negated. */
	e->error = 1;
	ck_assert_int_eq(vf_msg_error(nlh, text, sizeof(text)), -EBADMSG);
	e->error = INT32_MIN;
	ck_assert_int_eq(vf_msg_error(nlh, text, sizeof(text)), -EBADMSG);
	e->error = 0;
	ck_assert_int_eq(vf_msg_error(nlh, text, sizeof(text)), 0);
	nlh->nlmsg_type = RTM_NEWLINK;
	ck_assert_int_eq(vf_msg_error(nlh, text, sizeof(text)), -EBADMSG);
}
END_TEST

#define PF "0000:04:00.0"
#define GUIDS "sys/devices/pci0000:00/" PF "/infiniband/mlx4_0/iov/ports/1/admin_guids/"

static int write_nothing(struct vf_admin *a, const char *path, const char *data, size_t len)
{
	(void)a;
	(void)path;
	(void)data;
	(void)len;
	return 0;
}

static const struct vf_admin_ops deaf = { .write = write_nothing };

START_TEST(guids_of_mlx4)
{
	struct vf_attrs a = parsed("guid", "00:11:22:33:44:55:66:77"), now;
	struct vf_bdf pf = { 0, 4, 0, 0 };
	struct bp_error err = { 0 };
	struct fakekernel k;
	struct faketree t;
	char ifname[16];
	bool changed;

	ft_new(&t);
	ft_system(&t);
	ft_add(&t, &(struct ft_pci){ PF, 0x15b3, 0x1003, 0x020700, "mlx4_core", 1, 0, 8 });
	ft_file(&t, "0\n", GUIDS "1");
	ft_file(&t, "0\n", GUIDS "2");
	fk_init(&k, &t);
	ck_assert_int_eq(vf_attr_set(&k.admin, &pf, 1, VF_ATTR_GUID, &a, &changed, &err), 0);
	ck_assert(changed);
	ck_assert_str_eq(ft_text(&t, GUIDS "2"), "0x0011223344556677");
	ck_assert_str_eq(ft_text(&t, GUIDS "1"), "0");
	ck_assert_int_eq(vf_attr_set(&k.admin, &pf, 1, VF_ATTR_GUID, &a, &changed, &err), 0);
	ck_assert(!changed);
	ck_assert_int_eq(vf_attr_get(&t.host, &pf, 1, ifname, &now, NULL), 0);
	ck_assert_uint_eq(now.port_guid, 0x0011223344556677);
	k.fail_path = "admin_guids/1";
	k.fail_errno = EACCES;
	ck_assert_int_eq(vf_attr_set(&k.admin, &pf, 0, VF_ATTR_GUID, &a, &changed, &err), -EACCES);
	ck_assert_str_eq(err.fix, "run this as root");
	/* A driver that says yes and does nothing. */
	bp_error_clear(&err);
	k.admin.ops = &deaf;
	ck_assert_int_eq(vf_attr_set(&k.admin, &pf, 0, VF_ATTR_GUID, &a, &changed, &err), -EIO);
	ck_assert_ptr_nonnull(strstr(err.what, "accepted guid of VF 0, but shows another value"));
	ft_free(&t);
}
END_TEST

/* Netlink would change this machine, not the one whose tree it is. */
START_TEST(not_under_another_root)
{
	struct vf_attrs a = parsed("mac", "02:00:00:00:00:11");
	struct vf_bdf pf = { 0, 0, 3, 0 };
	struct bp_error err = { 0 };
	struct fakekernel k;
	struct faketree t;
	bool changed;

	ft_new(&t);
	ft_system(&t);
	ft_add(&t, &(struct ft_pci){ "0000:00:03.0", 0x8086, 0x10c9, 0x020000, "igb", 1, 0, 7 });
	fk_init(&k, &t);
	ck_assert_int_eq(vf_attr_set(&k.admin, &pf, 0, VF_ATTR_MAC, &a, &changed, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.what, "netlink reaches only the running kernel"));
	ck_assert_str_eq(err.fix, "leave out --root");
	ft_free(&t);
}
END_TEST

SUITE("VF attributes", values, no_values, requests, answers, short_attributes, kernels_words, guids_of_mlx4,
      not_under_another_root)
