// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include <vf/bar.h>
#include <vf/config.h>
#include <vf/connectx.h>
#include <vf/reset.h>
#include <vf/sysfs.h>

#include "vfctl.h"

/* What is read once and shown in several places. */
struct cfg {
	uint8_t bytes[VF_CFG_SIZE];
	size_t len;
	struct vf_caps caps;
	struct vf_msix msix;
	bool has_msix;
};

static void read_cfg(const struct vf_host *host, const struct vf_pci *f, struct cfg *c)
{
	char name[VF_BDF_LEN];
	int n;

	n = vf_sysfs_read_bytes(host, c->bytes, sizeof(c->bytes), "sys/bus/pci/devices/%s/config",
				vf_bdf_format(&f->bdf, name));
	c->len = n > 0 ? (size_t)n : 0;
	vf_config_caps(c->bytes, c->len, &c->caps);
	c->has_msix = !vf_config_msix(c->bytes, c->len, &c->caps, &c->msix);
}

static void size_text(uint64_t size, char *buf, size_t room)
{
	static const char units[] = "KMGT";
	int unit = -1;

	while (size && !(size % 1024) && unit < 3) {
		size /= 1024;
		unit++;
	}
	snprintf(buf, room, unit < 0 ? "%lu" : "%lu%c", (unsigned long)size,
		 unit < 0 ? 0 : units[unit]);
}

static void show_areas(struct bp_print *p, const struct vf_bar *b)
{
	bp_print_array(p, "mmap_areas");
	for (unsigned int i = 0; i < b->nr_areas; i++) {
		bp_print_object(p, NULL);
		bp_print_hex(p, "offset", i ? ", %s" : "; mmap %s", 1, b->areas[i].offset);
		bp_print_u64(p, "size", NULL, b->areas[i].size);
		bp_print_text(p, "+%#lx", (unsigned long)b->areas[i].size);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

static void show_bars(struct bp_print *p, const struct vf_bar *bars)
{
	char text[32];

	bp_print_array(p, "bars");
	for (int i = 0; i < VF_BAR_COUNT; i++) {
		const struct vf_bar *b = &bars[i];

		if (!b->size)
			continue;
		size_text(b->size, text, sizeof(text));
		bp_print_object(p, NULL);
		bp_print_u64(p, "index", "  bar %lu         ", (uint64_t)i);
		bp_print_u64(p, "size", NULL, b->size);
		bp_print_text(p, "%s", text);
		bp_print_hex(p, "address", " at %s", 1, b->address);
		bp_print_str(p, "type", " %s", b->io ? "io" : "memory");
		bp_print_bool(p, "64bit", NULL, b->is_64bit);
		bp_print_bool(p, "prefetchable", NULL, b->prefetchable);
		bp_print_text(p, "%s%s", b->io ? "" : b->is_64bit ? ", 64-bit" : ", 32-bit",
			      b->prefetchable ? ", prefetchable" : "");
		show_areas(p, b);
		bp_print_text(p, "\n");
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

static void show_msix(struct bp_print *p, const struct cfg *c)
{
	if (!c->has_msix) {
		bp_print_null(p, "msix", NULL);
		return;
	}
	bp_print_object(p, "msix");
	bp_print_u64(p, "vectors", "  msi-x         %lu vectors", c->msix.vectors);
	bp_print_bool(p, "enabled", NULL, c->msix.enabled);
	bp_print_bool(p, "masked", NULL, c->msix.masked);
	bp_print_text(p, ", %s", c->msix.enabled ? "on" : "off");
	bp_print_u64(p, "table_bar", "; table in bar %lu", c->msix.table_bar);
	bp_print_hex(p, "table_offset", " at %s", 1, c->msix.table_offset);
	bp_print_u64(p, "table_size", NULL, UINT64_C(16) * c->msix.vectors);
	bp_print_u64(p, "pba_bar", ", pending bits in bar %lu", c->msix.pba_bar);
	bp_print_hex(p, "pba_offset", " at %s\n", 1, c->msix.pba_offset);
	bp_print_object_end(p);
}

static void show_msi(struct bp_print *p, const struct cfg *c)
{
	struct vf_msi msi;

	if (vf_config_msi(c->bytes, c->len, &c->caps, &msi)) {
		bp_print_null(p, "msi", NULL);
		return;
	}
	bp_print_object(p, "msi");
	bp_print_u64(p, "vectors", "  msi           %lu vectors", msi.vectors);
	bp_print_bool(p, "enabled", NULL, msi.enabled);
	bp_print_text(p, ", %s", msi.enabled ? "on" : "off");
	bp_print_bool(p, "64bit", NULL, msi.is_64bit);
	bp_print_bool(p, "maskable", NULL, msi.maskable);
	bp_print_text(p, "%s%s\n", msi.is_64bit ? ", 64-bit" : "", msi.maskable ? ", maskable" : "");
	bp_print_object_end(p);
}

static void show_cap(struct bp_print *p, const struct vf_cap *cap)
{
	const char *name = vf_cap_name(cap);

	bp_print_object(p, NULL);
	bp_print_hex(p, "offset", "  capability    [%s] ", cap->extended ? 3 : 2, cap->offset);
	bp_print_hex(p, "id", NULL, cap->extended ? 4 : 2, cap->id);
	if (cap->extended)
		bp_print_u64(p, "version", NULL, cap->version);
	if (name)
		bp_print_str(p, "name", "%s", name);
	else
		bp_print_null(p, "name", NULL);
	if (!name)
		bp_print_text(p, "unknown, id %#x", cap->id);
	bp_print_text(p, "%s\n", cap->extended ? " (extended)" : "");
	bp_print_object_end(p);
}

static void show_caps(struct bp_print *p, const struct cfg *c)
{
	bp_print_u64(p, "config_bytes", NULL, c->len);
	bp_print_bool(p, "capabilities_broken", NULL, c->caps.broken);
	bp_print_array(p, "capabilities");
	for (size_t i = 0; i < c->caps.count; i++)
		if (!c->caps.cap[i].extended)
			show_cap(p, &c->caps.cap[i]);
	bp_print_array_end(p);
	bp_print_array(p, "extended_capabilities");
	for (size_t i = 0; i < c->caps.count; i++)
		if (c->caps.cap[i].extended)
			show_cap(p, &c->caps.cap[i]);
	bp_print_array_end(p);
	if (c->caps.broken)
		bp_print_text(p, "  capability    the list is broken after this\n");
	if (c->len <= 64)
		bp_print_text(p, "  capability    not visible: that needs root\n");
}

static void show_sriov(struct bp_print *p, const struct cfg *c)
{
	struct vf_sriov s;

	if (vf_config_sriov(c->bytes, c->len, &c->caps, &s)) {
		bp_print_null(p, "sriov", NULL);
		return;
	}
	bp_print_object(p, "sriov");
	bp_print_u64(p, "total_vfs", "  sr-iov        %lu VFs in hardware", s.total);
	bp_print_u64(p, "initial_vfs", NULL, s.initial);
	bp_print_u64(p, "offset", ", offset %lu", s.offset);
	bp_print_u64(p, "stride", ", stride %lu", s.stride);
	bp_print_hex(p, "vf_device_id", ", VF device %s\n", 4, s.vf_device_id);
	bp_print_bool(p, "enabled", NULL, s.enabled);
	bp_print_bool(p, "ari", NULL, s.ari);
	bp_print_object_end(p);
}

static void show_resets(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f,
			const struct cfg *c)
{
	char text[256], *word, *rest;
	size_t n = vf_reset_methods(host, &f->bdf, c->bytes, c->len, &c->caps, text, sizeof(text));

	bp_print_text(p, "  reset        %s", n ? "" : " none");
	bp_print_array(p, "reset_methods");
	for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		bp_print_str(p, NULL, " %s", word);
	bp_print_array_end(p);
	bp_print_text(p, "\n");
	if (c->caps.count)
		bp_print_bool(p, "flr", NULL, vf_config_has_flr(c->bytes, c->len, &c->caps));
	else
		bp_print_null(p, "flr", NULL);
}

static void show_snoop(struct bp_print *p, const struct cfg *c)
{
	struct vf_pcie pcie;

	if (vf_config_pcie(c->bytes, c->len, &c->caps, &pcie))
		bp_print_null(p, "no_snoop", NULL);
	else
		bp_print_bool(p, "no_snoop", "  no-snoop      may be sent: %s\n", pcie.no_snoop);
}

static void show_area(struct bp_print *p, const char *key, const char *title, unsigned int bar,
		      uint64_t offset, uint64_t size)
{
	char text[32];

	size_text(size, text, sizeof(text));
	bp_print_object(p, key);
	bp_print_u64(p, "bar", NULL, bar);
	bp_print_hex(p, "offset", NULL, 1, offset);
	bp_print_u64(p, "size", NULL, size);
	bp_print_text(p, "  %-13s bar %u at %#lx, %s\n", title, bar, (unsigned long)offset, text);
	bp_print_object_end(p);
}

static void show_connectx(struct bp_print *p, const struct vf_pci *f, const struct vf_bar *bars)
{
	struct vf_connectx cx;

	if (!vf_connectx_find(f, bars, &cx)) {
		bp_print_null(p, "connectx", NULL);
		return;
	}
	bp_print_object(p, "connectx");
	if (cx.known) {
		show_area(p, "uar", "uar", cx.bar, cx.uar_offset, cx.uar_size);
		show_area(p, "blueflame", "blueflame", cx.bar, cx.bf_offset, cx.bf_size);
	} else {
		bp_print_null(p, "uar", NULL);
		bp_print_null(p, "blueflame", "  blueflame     not known");
	}
	bp_print_str(p, "why", cx.known ? "                (%s)\n" : ": %s\n", cx.why);
	bp_print_object_end(p);
}

void vfctl_show_config(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f)
{
	struct vf_bar bars[VF_BAR_COUNT] = { 0 };
	struct cfg c = { 0 };

	read_cfg(host, f, &c);
	if (vf_bars_read(host, &f->bdf, c.has_msix ? &c.msix : NULL, bars)) {
		bp_print_null(p, "bars", "  bars          not known\n");
		memset(bars, 0, sizeof(bars));
	} else {
		show_bars(p, bars);
	}
	show_msix(p, &c);
	show_msi(p, &c);
	show_resets(p, host, f, &c);
	show_snoop(p, &c);
	show_sriov(p, &c);
	show_connectx(p, f, bars);
	show_caps(p, &c);
}
