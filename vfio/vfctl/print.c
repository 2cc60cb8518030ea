// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include <linux/if_link.h>

#include "vfctl.h"

void vfctl_print_bdf(struct bp_print *p, const char *key, const char *fmt,
		     const struct vf_bdf *bdf)
{
	char name[VF_BDF_LEN];

	bp_print_str(p, key, fmt, vf_bdf_format(bdf, name));
}

void vfctl_print_heading(struct bp_print *p)
{
	bp_print_text(p, "%-12s %-4s %-12s %-3s %-9s %-12s %-5s %-4s %-7s %s\n", "FUNCTION", "ROLE",
		      "PF", "VF", "ID", "DRIVER", "GROUP", "NUMA", "VFS", "NAME");
}

static void print_number(struct bp_print *p, const char *key, const char *fmt, int value,
			 const char *none)
{
	if (value < 0)
		bp_print_null(p, key, none);
	else
		bp_print_u64(p, key, fmt, (uint64_t)value);
}

static void print_vfs(struct bp_print *p, const struct vf_pci *f)
{
	char text[32];

	if (f->role != VF_ROLE_PF) {
		bp_print_null(p, "total_vfs", NULL);
		bp_print_null(p, "num_vfs", "-       ");
		return;
	}
	bp_print_u64(p, "total_vfs", NULL, f->total_vfs);
	bp_print_u64(p, "num_vfs", NULL, f->num_vfs);
	snprintf(text, sizeof(text), "%u/%u", f->num_vfs, f->total_vfs);
	bp_print_text(p, "%-7s ", text);
}

void vfctl_print_pci(struct bp_print *p, const struct vf_pci *f, struct vf_ids *ids)
{
	char name[512];

	bp_print_object(p, NULL);
	vfctl_print_bdf(p, "bdf", "%-12s ", &f->bdf);
	bp_print_str(p, "role", "%-4s ", vf_role_name(f->role));
	if (f->role == VF_ROLE_VF)
		vfctl_print_bdf(p, "pf", "%-12s ", &f->pf);
	else
		bp_print_null(p, "pf", "-            ");
	print_number(p, "vf_index", "%-3lu ", f->vf_index, "-   ");
	bp_print_hex(p, "vendor_id", NULL, 4, f->vendor_id);
	bp_print_hex(p, "device_id", NULL, 4, f->device_id);
	bp_print_text(p, "%04x:%04x ", f->vendor_id, f->device_id);
	if (*f->driver)
		bp_print_str(p, "driver", "%-12s ", f->driver);
	else
		bp_print_null(p, "driver", "-            ");
	print_number(p, "iommu_group", "%-5lu ", f->iommu_group, "-     ");
	print_number(p, "numa_node", "%-4lu ", f->numa_node, "-    ");
	print_vfs(p, f);
	bp_print_str(p, "name", "%s\n",
		     vf_ids_name(ids, f->vendor_id, f->device_id, name, sizeof(name)));
	bp_print_object_end(p);
}

static const char *link_state(uint32_t state)
{
	switch (state) {
	case IFLA_VF_LINK_STATE_AUTO:
		return "auto";
	case IFLA_VF_LINK_STATE_ENABLE:
		return "enable";
	case IFLA_VF_LINK_STATE_DISABLE:
		return "disable";
	}
	return "unknown";
}

static void print_mac(struct bp_print *p, const struct vf_attrs *a)
{
	char text[3 * VF_HWADDR_MAX];
	int len = 0;

	for (int i = 0; i < a->mac_len && i < VF_HWADDR_MAX; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%02x", i ? ":" : "",
				a->mac[i]);
	bp_print_str(p, "mac", " mac %s", text);
}

static void print_guid(struct bp_print *p, const char *key, const char *fmt, uint64_t guid)
{
	char text[3 * 8];
	int len = 0;

	for (int shift = 56; shift >= 0; shift -= 8)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%02x",
				shift < 56 ? ":" : "", (unsigned int)(guid >> shift & 0xff));
	bp_print_str(p, key, fmt, text);
}

static bool known(const struct vf_attrs *a, enum vf_attr attr)
{
	return a->known & 1u << attr;
}

static void print_known(struct bp_print *p, const struct vf_attrs *a)
{
	if (known(a, VF_ATTR_MAC))
		print_mac(p, a);
	if (known(a, VF_ATTR_VLAN)) {
		bp_print_u64(p, "vlan", " vlan %lu", a->vlan);
		bp_print_u64(p, "qos", a->vlan ? ":%lu" : NULL, a->qos);
		bp_print_str(p, "vlan_protocol", a->vlan ? ":%s" : NULL,
			     a->vlan_proto == 0x88a8 ? "802.1ad" : "802.1Q");
	}
	if (known(a, VF_ATTR_TRUST)) {
		bp_print_bool(p, "trust", NULL, a->trust);
		bp_print_text(p, " trust %s", a->trust ? "on" : "off");
	}
	if (known(a, VF_ATTR_SPOOFCHK)) {
		bp_print_bool(p, "spoofchk", NULL, a->spoofchk);
		bp_print_text(p, " spoofchk %s", a->spoofchk ? "on" : "off");
	}
	if (known(a, VF_ATTR_RATE)) {
		bool none = !a->min_rate && !a->max_rate;

		bp_print_u64(p, "min_rate", none ? NULL : " rate %lu", a->min_rate);
		bp_print_u64(p, "max_rate", none ? NULL : "-%lu Mbit/s", a->max_rate);
	}
	if (known(a, VF_ATTR_LINK_STATE))
		bp_print_str(p, "link_state", " link %s", link_state(a->link_state));
	if (known(a, VF_ATTR_GUID)) {
		print_guid(p, "node_guid", " node_guid %s", a->node_guid);
		print_guid(p, "port_guid", " port_guid %s", a->port_guid);
	}
}

void vfctl_print_attrs(struct bp_print *p, const char *key, const struct vf_attrs *attrs,
		       const char *ifname)
{
	if (!attrs) {
		bp_print_null(p, key, NULL);
		return;
	}
	bp_print_object(p, key);
	bp_print_str(p, "interface", *ifname ? "of %s:" : NULL, *ifname ? ifname : NULL);
	print_known(p, attrs);
	bp_print_object_end(p);
}

static const struct {
	const char *word;
	const char *text;
} notes[] = {
	[VF_NOTE_NONE] = { NULL, NULL },
	[VF_NOTE_ALREADY] = { "already", "was bound already" },
	[VF_NOTE_NO_RECORD] = { "no_record", "nothing is recorded for it, left as it is" },
	[VF_NOTE_GONE] = { "gone", "no longer exists, its record is dropped" },
	[VF_NOTE_OTHER] = { "other_driver", "somebody gave it this driver meanwhile, left as it is" },
};

void vfctl_print_bind(struct bp_print *p, const struct vf_bind_result *r)
{
	bp_print_object(p, NULL);
	vfctl_print_bdf(p, "bdf", "%s:", &r->bdf);
	bp_print_bool(p, "changed", NULL, r->changed);
	bp_print_str(p, "from", NULL, *r->from ? r->from : NULL);
	bp_print_str(p, "to", NULL, *r->to ? r->to : NULL);
	if (r->note != VF_NOTE_GONE)
		bp_print_text(p, r->changed ? " %s -> %s" : " %.0s%s", *r->from ? r->from : "none",
			      *r->to ? r->to : "no driver");
	bp_print_str(p, "note", NULL, notes[r->note].word);
	if (notes[r->note].text)
		bp_print_text(p, " (%s)", notes[r->note].text);
	bp_print_text(p, "\n");
	bp_print_object_end(p);
}
