/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * What a PF's driver lets an administrator say about its VFs: addresses, VLAN,
 * trust, spoof check, rates. Spoken over rtnetlink to the PF's interface
 * (RTM_GETLINK and RTM_SETLINK with IFLA_VFINFO_LIST, net/core/rtnetlink.c).
 *
 * mlx4 has no call for the GUIDs of VFs; there they are attributes below the PF's
 * infiniband device (drivers/infiniband/hw/mlx4/sysfs.c).
 */
#ifndef VF_VFATTR_H
#define VF_VFATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bp/error.h>
#include <vf/admin.h>
#include <vf/bdf.h>
#include <vf/sys.h>

#define VF_HWADDR_MAX 32

/** enum vf_attr - one of them. Values are bit numbers in struct vf_attrs' @known. */
enum vf_attr {
	VF_ATTR_MAC,
	VF_ATTR_VLAN,
	VF_ATTR_TRUST,
	VF_ATTR_SPOOFCHK,
	VF_ATTR_RATE,
	VF_ATTR_GUID,
	VF_ATTR_LINK_STATE, /* shown, never set here */
	VF_ATTR_COUNT,
};

/**
 * struct vf_attrs - attributes of one VF, or values to give it.
 * @known: bit (1 << enum vf_attr) for each that is filled in.
 * @mac: hardware address.
 * @mac_len: its length: 6, or 20 on InfiniBand.
 * @vlan: VLAN ID, 0 for none, at most 4095.
 * @qos: priority, 0 to 7.
 * @vlan_proto: 0x8100 (802.1Q) or 0x88a8 (802.1ad).
 * @trust: the VF may ask for what affects others (promiscuous mode, its own address).
 * @spoofchk: frames from another address than @mac are dropped.
 * @min_rate: guaranteed Mbit/s, 0 for none.
 * @max_rate: most Mbit/s, 0 for no limit.
 * @node_guid: InfiniBand node GUID.
 * @port_guid: InfiniBand port GUID.
 * @link_state: IFLA_VF_LINK_STATE_*.
 */
struct vf_attrs {
	unsigned int known;
	uint8_t mac[VF_HWADDR_MAX];
	uint8_t mac_len;
	uint16_t vlan;
	uint8_t qos;
	uint16_t vlan_proto;
	bool trust;
	bool spoofchk;
	uint32_t min_rate;
	uint32_t max_rate;
	uint64_t node_guid;
	uint64_t port_guid;
	uint32_t link_state;
};

/** vf_attr_name() - "mac", "vlan", ... @attr: which. Return: a constant string. */
const char *vf_attr_name(enum vf_attr attr);

/**
 * vf_attr_parse() - what a user writes.
 * @name: mac, vlan, trust, spoofchk, rate or guid.
 * @value: mac aa:bb:cc:dd:ee:ff, no multicast; vlan ID[:QOS[:802.1ad]]; trust and spoofchk
 *         on or off; rate MAX or MIN-MAX in Mbit/s; guid 00:11:22:33:44:55:66:77 or 16
 *         hexadecimal digits, used for node and port.
 * @out: receives the attribute; the others stay as they are. For "rate MAX" @min_rate
 *       is left as it is.
 * @err: receives what is wrong; may be NULL.
 *
 * Return: the attribute, or -EINVAL.
 */
int vf_attr_parse(const char *name, const char *value, struct vf_attrs *out,
		  struct bp_error *err);

/**
 * vf_attr_equal() - whether two VFs agree in one attribute.
 * @a: one. @b: the other. @attr: which; both must know it.
 * Return: true if so.
 */
bool vf_attr_equal(const struct vf_attrs *a, const struct vf_attrs *b, enum vf_attr attr);

/**
 * vf_attr_get() - the attributes of a VF, from its PF.
 * @host: the host. The kernel is asked only when this is the running one (root "/");
 *        of another, only what sysfs shows is found.
 * @pf: the PF.
 * @vf: index of the VF.
 * @ifname: receives the interface that answered, "" for none; IFNAMSIZ (16) bytes.
 * @out: receives them.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Return: 0; -ENODEV when no interface of the PF knows this VF, or an errno of netlink.
 */
int vf_attr_get(const struct vf_host *host, const struct vf_bdf *pf, unsigned int vf,
		char *ifname, struct vf_attrs *out, struct bp_error *err);

/**
 * vf_attr_set() - change one attribute of a VF.
 * @a: the means.
 * @pf: the PF.
 * @vf: index of the VF.
 * @attr: which.
 * @to: its value.
 * @changed: receives whether the VF had another one before.
 * @err: receives the reason of a failure, with the kernel's own words where it has any
 *       (NLMSGERR_ATTR_MSG).
 *
 * Return: 0; -ENODEV as vf_attr_get(), -EOPNOTSUPP when the driver has no such
 * attribute, -ENOTSUP for a host that is not the running one, -EIO when the driver
 * accepted the value and yet shows another, or an errno of netlink.
 */
int vf_attr_set(struct vf_admin *a, const struct vf_bdf *pf, unsigned int vf, enum vf_attr attr,
		const struct vf_attrs *to, bool *changed, struct bp_error *err);

#endif
