// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vf/vfattr.h>

static const char *const names[VF_ATTR_COUNT] = {
	[VF_ATTR_MAC] = "mac",		 [VF_ATTR_VLAN] = "vlan", [VF_ATTR_TRUST] = "trust",
	[VF_ATTR_SPOOFCHK] = "spoofchk", [VF_ATTR_RATE] = "rate", [VF_ATTR_GUID] = "guid",
	[VF_ATTR_LINK_STATE] = "link_state",
};

const char *vf_attr_name(enum vf_attr attr)
{
	return names[attr];
}

/* @count bytes as pairs of digits with a colon between each two. */
static int parse_bytes(const char *s, uint8_t *out, size_t count)
{
	for (size_t i = 0; i < count; i++, s += 3) {
		char pair[3] = { s[0], s[0] ? s[1] : 0, 0 };

		if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1]))
			return -EINVAL;
		if (s[2] != (i + 1 < count ? ':' : 0))
			return -EINVAL;
		out[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return 0;
}

/* A decimal number up to @max. Return: where it ends, or NULL. */
static const char *number(const char *s, unsigned long max, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return NULL;
	errno = 0;
	*out = strtoul(s, &end, 10);
	return errno || *out > max ? NULL : end;
}

static const char *parse_mac(const char *s, struct vf_attrs *out)
{
	if (parse_bytes(s, out->mac, 6))
		return "six pairs of hexadecimal digits, as in 02:00:00:00:00:01";
	if (out->mac[0] & 1)
		return "an address of one station: the first byte is even";
	out->mac_len = 6;
	return NULL;
}

static const char *parse_vlan(const char *s, struct vf_attrs *out)
{
	static const char form[] = "ID[:PRIORITY[:802.1Q|802.1ad]], ID 0 to 4095, priority 0 to 7";
	unsigned long id, qos = 0;

	out->vlan_proto = 0x8100;
	s = number(s, 4095, &id);
	if (s && *s == ':')
		s = number(s + 1, 7, &qos);
	if (!s)
		return form;
	if (!strcasecmp(s, ":802.1ad"))
		out->vlan_proto = 0x88a8;
	else if (*s && strcasecmp(s, ":802.1q") != 0)
		return form;
	out->vlan = (uint16_t)id;
	out->qos = (uint8_t)qos;
	return NULL;
}

static const char *parse_switch(const char *s, bool *out)
{
	*out = !strcmp(s, "on");
	return *out || !strcmp(s, "off") ? NULL : "on or off";
}

static const char *parse_rate(const char *s, struct vf_attrs *out)
{
	static const char form[] = "MAX or MIN-MAX in Mbit/s, 0 for no limit";
	unsigned long first, second;

	s = number(s, UINT32_MAX, &first);
	if (!s)
		return form;
	if (!*s) {
		out->max_rate = (uint32_t)first;
		return NULL;
	}
	s = *s == '-' ? number(s + 1, UINT32_MAX, &second) : NULL;
	if (!s || *s || (second && second < first))
		return form;
	out->min_rate = (uint32_t)first;
	out->max_rate = (uint32_t)second;
	return NULL;
}

static const char *parse_guid(const char *s, struct vf_attrs *out)
{
	uint8_t b[8];

	if (strlen(s) == 16 && strspn(s, "0123456789abcdefABCDEF") == 16) {
		out->node_guid = strtoull(s, NULL, 16);
	} else {
		if (parse_bytes(s, b, 8))
			return "eight pairs of hexadecimal digits, as in 00:11:22:33:44:55:66:77";
		out->node_guid = 0;
		for (int i = 0; i < 8; i++)
			out->node_guid = out->node_guid << 8 | b[i];
	}
	out->port_guid = out->node_guid;
	return NULL;
}

int vf_attr_parse(const char *name, const char *value, struct vf_attrs *out, struct bp_error *err)
{
	const char *want = NULL;
	int attr;

	for (attr = 0; attr < VF_ATTR_LINK_STATE; attr++)
		if (!strcmp(name, names[attr]))
			break;
	switch (attr) {
	case VF_ATTR_MAC:
		want = parse_mac(value, out);
		break;
	case VF_ATTR_VLAN:
		want = parse_vlan(value, out);
		break;
	case VF_ATTR_TRUST:
		want = parse_switch(value, &out->trust);
		break;
	case VF_ATTR_SPOOFCHK:
		want = parse_switch(value, &out->spoofchk);
		break;
	case VF_ATTR_RATE:
		want = parse_rate(value, out);
		break;
	case VF_ATTR_GUID:
		want = parse_guid(value, out);
		break;
	default:
		return bp_error_set(err, -EINVAL, NULL,
				    "there is no attribute '%.32s': it is mac, vlan, trust, spoofchk, rate or guid",
				    name);
	}
	if (want)
		return bp_error_set(err, -EINVAL, NULL, "'%.64s' is no %s: it is %s", value, name,
				    want);
	out->known |= 1u << attr;
	return attr;
}

bool vf_attr_equal(const struct vf_attrs *a, const struct vf_attrs *b, enum vf_attr attr)
{
	switch (attr) {
	case VF_ATTR_MAC:
		return !memcmp(a->mac, b->mac, 6);
	case VF_ATTR_VLAN:
		return a->vlan == b->vlan && a->qos == b->qos &&
		       (!a->vlan || a->vlan_proto == b->vlan_proto);
	case VF_ATTR_TRUST:
		return a->trust == b->trust;
	case VF_ATTR_SPOOFCHK:
		return a->spoofchk == b->spoofchk;
	case VF_ATTR_RATE:
		return a->min_rate == b->min_rate && a->max_rate == b->max_rate;
	case VF_ATTR_GUID:
		return a->node_guid == b->node_guid && a->port_guid == b->port_guid;
	case VF_ATTR_LINK_STATE:
		return a->link_state == b->link_state;
	case VF_ATTR_COUNT:
		break;
	}
	return false;
}
