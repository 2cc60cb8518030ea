// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "vfmsg.h"

/* The kernel's greatest errno (include/linux/err.h). */
#define ERRNO_MAX 4095

struct nlmsghdr *vf_msg_get(char *buf, unsigned int ifindex, unsigned int seq)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *info;

	nlh->nlmsg_type = RTM_GETLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	nlh->nlmsg_seq = seq;
	info = mnl_nlmsg_put_extra_header(nlh, sizeof(*info));
	info->ifi_index = (int)ifindex;
	/* Statistics of hundreds of VFs would overflow the nested attribute's 16-bit length. */
	mnl_attr_put_u32(nlh, IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
	return nlh;
}

static void put_vlan(struct nlmsghdr *nlh, unsigned int vf, const struct vf_attrs *to)
{
	struct ifla_vf_vlan plain = { .vf = vf, .vlan = to->vlan, .qos = to->qos };
	struct ifla_vf_vlan_info info = {
		.vf = vf, .vlan = to->vlan, .qos = to->qos, .vlan_proto = htons(to->vlan_proto),
	};
	struct nlattr *list;

	/* The old attribute means 802.1Q, and is the one that every driver has. */
	if (to->vlan_proto == 0x8100) {
		mnl_attr_put(nlh, IFLA_VF_VLAN, sizeof(plain), &plain);
		return;
	}
	list = mnl_attr_nest_start(nlh, IFLA_VF_VLAN_LIST);
	mnl_attr_put(nlh, IFLA_VF_VLAN_INFO, sizeof(info), &info);
	mnl_attr_nest_end(nlh, list);
}

static void put_attr(struct nlmsghdr *nlh, unsigned int vf, enum vf_attr attr,
		     const struct vf_attrs *to)
{
	struct ifla_vf_mac mac = { .vf = vf };
	struct ifla_vf_trust trust = { .vf = vf, .setting = to->trust };
	struct ifla_vf_spoofchk spoofchk = { .vf = vf, .setting = to->spoofchk };
	struct ifla_vf_rate rate = {
		.vf = vf, .min_tx_rate = to->min_rate, .max_tx_rate = to->max_rate,
	};
	struct ifla_vf_guid guid = { .vf = vf };

	switch (attr) {
	case VF_ATTR_MAC:
		memcpy(mac.mac, to->mac, sizeof(mac.mac));
		mnl_attr_put(nlh, IFLA_VF_MAC, sizeof(mac), &mac);
		break;
	case VF_ATTR_VLAN:
		put_vlan(nlh, vf, to);
		break;
	case VF_ATTR_TRUST:
		mnl_attr_put(nlh, IFLA_VF_TRUST, sizeof(trust), &trust);
		break;
	case VF_ATTR_SPOOFCHK:
		mnl_attr_put(nlh, IFLA_VF_SPOOFCHK, sizeof(spoofchk), &spoofchk);
		break;
	case VF_ATTR_RATE:
		mnl_attr_put(nlh, IFLA_VF_RATE, sizeof(rate), &rate);
		break;
	case VF_ATTR_GUID:
		guid.guid = to->node_guid;
		mnl_attr_put(nlh, IFLA_VF_IB_NODE_GUID, sizeof(guid), &guid);
		guid.guid = to->port_guid;
		mnl_attr_put(nlh, IFLA_VF_IB_PORT_GUID, sizeof(guid), &guid);
		break;
	case VF_ATTR_LINK_STATE:
	case VF_ATTR_COUNT:
		break;
	}
}

struct nlmsghdr *vf_msg_set(char *buf, unsigned int ifindex, unsigned int seq, unsigned int vf,
			    enum vf_attr attr, const struct vf_attrs *to)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nlattr *list, *one;
	struct ifinfomsg *info;

	nlh->nlmsg_type = RTM_SETLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	nlh->nlmsg_seq = seq;
	info = mnl_nlmsg_put_extra_header(nlh, sizeof(*info));
	info->ifi_index = (int)ifindex;
	list = mnl_attr_nest_start(nlh, IFLA_VFINFO_LIST);
	one = mnl_attr_nest_start(nlh, IFLA_VF_INFO);
	put_attr(nlh, vf, attr, to);
	mnl_attr_nest_end(nlh, one);
	mnl_attr_nest_end(nlh, list);
	return nlh;
}

/* A fixed structure inside an attribute, copied out because attributes are aligned to 4 only. */
#define TAKE(at, s) (mnl_attr_get_payload_len(at) >= sizeof(s) && \
		     (memcpy(&(s), mnl_attr_get_payload(at), sizeof(s)), true))

static void know(struct vf_attrs *out, enum vf_attr attr)
{
	out->known |= 1u << attr;
}

static void parse_vlan_list(const struct nlattr *list, struct vf_attrs *out)
{
	struct ifla_vf_vlan_info info;
	struct nlattr *at;

	mnl_attr_for_each_nested(at, list)
	{
		if (mnl_attr_get_type(at) != IFLA_VF_VLAN_INFO || !TAKE(at, info))
			continue;
		out->vlan = (uint16_t)info.vlan;
		out->qos = (uint8_t)info.qos;
		/* With VLAN 0 some drivers leave the protocol 0. */
		out->vlan_proto = ntohs(info.vlan_proto) ? ntohs(info.vlan_proto) : 0x8100;
		know(out, VF_ATTR_VLAN);
		return;
	}
}

static void parse_one(const struct nlattr *one, uint8_t mac_len, struct vf_attrs *out)
{
	struct ifla_vf_spoofchk spoofchk;
	struct ifla_vf_link_state state;
	struct ifla_vf_trust trust;
	struct ifla_vf_vlan vlan;
	struct ifla_vf_rate rate;
	struct ifla_vf_guid guid;
	struct ifla_vf_mac mac;
	struct nlattr *at;

	/* Settings that a driver lacks are reported as -1. */
	mnl_attr_for_each_nested(at, one)
	{
		switch (mnl_attr_get_type(at)) {
		case IFLA_VF_MAC:
			if (!TAKE(at, mac))
				break;
			memcpy(out->mac, mac.mac, sizeof(out->mac));
			out->mac_len = mac_len;
			know(out, VF_ATTR_MAC);
			break;
		case IFLA_VF_VLAN:
			if ((out->known & 1u << VF_ATTR_VLAN) || !TAKE(at, vlan))
				break;
			out->vlan = (uint16_t)vlan.vlan;
			out->qos = (uint8_t)vlan.qos;
			out->vlan_proto = 0x8100;
			know(out, VF_ATTR_VLAN);
			break;
		case IFLA_VF_VLAN_LIST:
			parse_vlan_list(at, out);
			break;
		case IFLA_VF_SPOOFCHK:
			if (!TAKE(at, spoofchk) || spoofchk.setting == UINT32_MAX)
				break;
			out->spoofchk = spoofchk.setting;
			know(out, VF_ATTR_SPOOFCHK);
			break;
		case IFLA_VF_TRUST:
			if (!TAKE(at, trust) || trust.setting == UINT32_MAX)
				break;
			out->trust = trust.setting;
			know(out, VF_ATTR_TRUST);
			break;
		case IFLA_VF_RATE:
			if (!TAKE(at, rate))
				break;
			out->min_rate = rate.min_tx_rate;
			out->max_rate = rate.max_tx_rate;
			know(out, VF_ATTR_RATE);
			break;
		case IFLA_VF_LINK_STATE:
			if (!TAKE(at, state))
				break;
			out->link_state = state.link_state;
			know(out, VF_ATTR_LINK_STATE);
			break;
		case IFLA_VF_IB_NODE_GUID:
			if (!TAKE(at, guid))
				break;
			out->node_guid = guid.guid;
			know(out, VF_ATTR_GUID);
			break;
		case IFLA_VF_IB_PORT_GUID:
			if (!TAKE(at, guid))
				break;
			out->port_guid = guid.guid;
			know(out, VF_ATTR_GUID);
			break;
		}
	}
}

/* Each attribute of a VF begins with its index; that of the address is always there. */
static bool is_vf(const struct nlattr *one, unsigned int vf)
{
	struct nlattr *at;
	uint32_t index;

	mnl_attr_for_each_nested(at, one)
		if (mnl_attr_get_type(at) == IFLA_VF_MAC)
			return TAKE(at, index) && index == vf;
	return false;
}

int vf_msg_parse(const struct nlmsghdr *nlh, unsigned int vf, struct vf_attrs *out)
{
	const struct nlattr *list = NULL;
	const struct ifinfomsg *info;
	uint8_t mac_len = 6;
	struct nlattr *at;

	if (nlh->nlmsg_type != RTM_NEWLINK || mnl_nlmsg_get_payload_len(nlh) < sizeof(*info))
		return -EBADMSG;
	info = mnl_nlmsg_get_payload(nlh);
	if (info->ifi_type == ARPHRD_INFINIBAND)
		mac_len = 20;
	mnl_attr_for_each(at, nlh, sizeof(*info))
		if (mnl_attr_get_type(at) == IFLA_VFINFO_LIST)
			list = at;
	if (!list)
		return -ENOENT;
	*out = (struct vf_attrs){ 0 };
	mnl_attr_for_each_nested(at, list)
	{
		if (mnl_attr_get_type(at) != IFLA_VF_INFO || !is_vf(at, vf))
			continue;
		parse_one(at, mac_len, out);
		return 0;
	}
	return -ENOENT;
}

int vf_msg_error(const struct nlmsghdr *nlh, char *text, size_t size)
{
	const struct nlmsgerr *e;
	size_t skip = sizeof(*e);
	struct nlattr *at;

	text[0] = 0;
	if (nlh->nlmsg_type != NLMSG_ERROR || mnl_nlmsg_get_payload_len(nlh) < sizeof(*e))
		return -EBADMSG;
	e = mnl_nlmsg_get_payload(nlh);
	if (e->error > 0 || e->error < -ERRNO_MAX)
		return -EBADMSG;
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return e->error;
	/* Unless it was capped, our own message is repeated between error and attributes. */
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED)) {
		if (e->msg.nlmsg_len < sizeof(e->msg) ||
		    e->msg.nlmsg_len > mnl_nlmsg_get_payload_len(nlh))
			return e->error;
		skip += e->msg.nlmsg_len - sizeof(e->msg);
	}
	if (MNL_ALIGN(skip) > mnl_nlmsg_get_payload_len(nlh))
		return e->error;
	mnl_attr_for_each(at, nlh, (unsigned int)skip)
		if (mnl_attr_get_type(at) == NLMSGERR_ATTR_MSG)
			snprintf(text, size, "%.*s", (int)mnl_attr_get_payload_len(at),
				 (const char *)mnl_attr_get_payload(at));
	return e->error;
}
