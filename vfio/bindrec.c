// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <vf/holder.h>
#include <vf/record.h>
#include <vf/sysfs.h>

#include "bindrec.h"

#define DEV "sys/bus/pci/devices/%s/"

/* What a function had: "" for no driver, no override, no module. */
struct bindrec {
	char driver[VF_DRIVER_LEN];
	char override[VF_DRIVER_LEN];
	char module[VF_DRIVER_LEN];
	char id[16];
};

/* A driver's or module's name may become part of a path. */
static bool plain_name(const char *s)
{
	return !strchr(s, '/') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

static int parse(char *text, struct bindrec *r)
{
	static const struct {
		const char *key;
		size_t offset, size;
	} fields[] = {
		{ "driver", offsetof(struct bindrec, driver), VF_DRIVER_LEN },
		{ "override", offsetof(struct bindrec, override), VF_DRIVER_LEN },
		{ "module", offsetof(struct bindrec, module), VF_DRIVER_LEN },
		{ "id", offsetof(struct bindrec, id), 16 },
	};
	unsigned int seen = 0;
	char *line, *rest;

	memset(r, 0, sizeof(*r));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *value = strchr(line, '=');

		if (!value)
			return -EBADMSG;
		*value++ = 0;
		for (unsigned int i = 0; i < 4; i++) {
			if (strcmp(line, fields[i].key) != 0)
				continue;
			if (strlen(value) >= fields[i].size)
				return -EBADMSG;
			memcpy((char *)r + fields[i].offset, value, strlen(value) + 1);
			seen |= 1u << i;
		}
	}
	if (seen != 0xf || !plain_name(r->driver) || !plain_name(r->module))
		return -EBADMSG;
	return 0;
}

static int load(struct vf_admin *a, const struct vf_bdf *bdf, struct bindrec *r)
{
	char text[VF_RECORD_MAX];
	int ret = vf_record_load(a->host, VF_RECORD_BIND, bdf, text);

	return ret ? ret : parse(text, r);
}

bool vf_bindrec_have(struct vf_admin *a, const struct vf_bdf *bdf)
{
	char text[VF_RECORD_MAX];

	return !vf_record_load(a->host, VF_RECORD_BIND, bdf, text);
}

static void id_of(const struct vf_pci *f, char id[16])
{
	snprintf(id, 16, "%04x:%04x", f->vendor_id, f->device_id);
}

int vf_bindrec_take(struct vf_admin *a, const struct vf_pci *f, struct bp_error *err)
{
	char text[VF_RECORD_MAX], module[VF_DRIVER_LEN] = "", id[16];
	struct bindrec old;

	id_of(f, id);
	/* Ours still: the override is set, or the function was left without a driver. */
	if ((!strcmp(f->driver_override, VFIO_DRIVER) || !*f->driver) && !load(a, &f->bdf, &old) &&
	    !strcmp(old.id, id))
		return 0;
	if (*f->driver && vf_sysfs_link_name(a->host, module, sizeof(module),
					     "sys/bus/pci/drivers/%s/module", f->driver))
		module[0] = 0;
	snprintf(text, sizeof(text), "driver=%s\noverride=%s\nmodule=%s\nid=%s\n", f->driver,
		 f->driver_override, module, id);
	return vf_record_save(a->host, VF_RECORD_BIND, &f->bdf, text, err);
}

static int set_override(struct vf_admin *a, const char *name, const char *driver,
			struct vf_bind_result *out, struct bp_error *err)
{
	/* An empty line takes the override away (driver_set_override()). */
	int ret = vf_admin_write(a, driver, DEV "driver_override", name);

	if (ret)
		return bp_error_set(err, ret, NULL, "%s: cannot set driver_override to '%s': %s", name,
				    driver, strerror(-ret));
	out->changed = true;
	return 0;
}

static int driver_now(struct vf_admin *a, const char *name, char *driver)
{
	int ret = vf_sysfs_link_name(a->host, driver, VF_DRIVER_LEN, DEV "driver", name);

	if (ret)
		driver[0] = 0;
	return ret == -ENOENT ? 0 : ret;
}

/* Take it from vfio-pci, unless somebody works with it: the kernel would wait for them. */
static int release(struct vf_admin *a, const struct vf_bdf *bdf, const char *name,
		   struct vf_bind_result *out, struct bp_error *err)
{
	char who[256];
	int ret;

	if (vf_holders_describe(a->host, bdf, who, sizeof(who)) > 0)
		return bp_error_set(err, -EBUSY, "stop that first", "%s is in use by %s", name, who);
	ret = vf_admin_write(a, name, DEV "driver/unbind", name);
	if (ret)
		return bp_error_set(err, ret, NULL, "%s: cannot unbind it from vfio-pci: %s", name,
				    strerror(-ret));
	out->changed = true;
	return 0;
}

/* Offer it to the driver it had. */
static int give_back(struct vf_admin *a, const char *name, const struct bindrec *r,
		     struct vf_bind_result *out, struct bp_error *err)
{
	int ret, probe;

	if (!vf_sysfs_exists(a->host, "sys/bus/pci/drivers/%s", r->driver)) {
		ret = a->ops->load_module(a, *r->module ? r->module : r->driver);
		if (ret)
			return bp_error_set(err, ret, "load it, then run this again",
					    "%s: its driver %s is no longer loaded: %s", name, r->driver,
					    strerror(-ret));
	}
	/*
	 * The override names the one driver wanted. It also lets a VF be probed whose PF has
	 * sriov_drivers_autoprobe at 0 (pci_device_can_probe()).
	 */
	ret = set_override(a, name, r->driver, out, err);
	if (ret)
		return ret;
	probe = vf_admin_write(a, name, "sys/bus/pci/drivers_probe");
	if (!a->live) {
		snprintf(out->to, sizeof(out->to), "%s", r->driver);
		return probe;
	}
	ret = driver_now(a, name, out->to);
	if (!ret && strcmp(out->to, r->driver) != 0)
		ret = probe ? probe : -EIO;
	if (ret)
		return bp_error_set(err, ret, "the kernel log (dmesg) says why; then run this again",
				    "%s: %s did not take it back%s%s", name, r->driver,
				    probe ? ": " : "", probe ? strerror(-probe) : "");
	return 0;
}

static int put_back(struct vf_admin *a, const struct vf_pci *f, const struct bindrec *r,
		    struct vf_bind_result *out, struct bp_error *err)
{
	bool ours = !strcmp(f->driver, VFIO_DRIVER);
	char name[VF_BDF_LEN], override[VF_DRIVER_LEN];
	int ret = 0, ret2;

	vf_bdf_format(&f->bdf, name);
	snprintf(out->to, sizeof(out->to), "%s", f->driver);
	if (ours) {
		/* With no driver to go to, the override must not draw it back here. */
		if (!*r->driver && strcmp(f->driver_override, r->override) != 0)
			ret = set_override(a, name, r->override, out, err);
		if (!ret)
			ret = release(a, &f->bdf, name, out, err);
		if (ret)
			return ret;
		out->to[0] = 0;
	}
	if (!*out->to && *r->driver)
		ret = give_back(a, name, r, out, err);
	else if (!ours && *r->driver && strcmp(f->driver, r->driver) != 0)
		out->note = VF_NOTE_OTHER;
	/* Also after a failure: the function must not stay tied to a driver that it cannot have. */
	if (vf_sysfs_read(a->host, override, sizeof(override), DEV "driver_override", name) < 0 ||
	    !strcmp(override, "(null)"))
		override[0] = 0;
	if ((!strcmp(override, VFIO_DRIVER) || !strcmp(override, r->driver)) &&
	    strcmp(override, r->override) != 0) {
		ret2 = set_override(a, name, r->override, out, err);
		ret = ret ? ret : ret2;
	}
	return ret;
}

static void set_drivers(struct vf_bind_result *out, const char *driver)
{
	snprintf(out->from, sizeof(out->from), "%s", driver);
	snprintf(out->to, sizeof(out->to), "%s", driver);
}

int vf_bindrec_undo(struct vf_admin *a, const struct vf_bdf *bdf, struct vf_bind_result *out,
		    struct bp_error *err)
{
	char name[VF_BDF_LEN], id[16];
	struct bindrec r;
	struct vf_pci f;
	int have, ret;

	*out = (struct vf_bind_result){ .bdf = *bdf };
	vf_bdf_format(bdf, name);
	have = load(a, bdf, &r);
	if (have && have != -ENOENT) {
		bp_error_set(err, have, NULL, "the record /run/bluepass/bind/%s cannot be used: %s",
			     name, strerror(-have));
		bp_error_fix(err, "see what it says, bind %s by hand, and remove it", name);
		return have;
	}
	ret = vf_pci_read(a->host, bdf, &f, have ? err : NULL);
	if (ret && (have || ret != -ENODEV))
		return bp_error_set(err, ret, NULL, "%s cannot be read: %s", name, strerror(-ret));
	if (have) {
		out->note = VF_NOTE_NO_RECORD;
		set_drivers(out, f.driver);
		return 0;
	}
	if (!ret) {
		set_drivers(out, f.driver);
		id_of(&f, id);
	}
	if (ret || strcmp(id, r.id) != 0) {
		out->note = VF_NOTE_GONE;
		out->changed = true;
		ret = 0;
	} else {
		ret = put_back(a, &f, &r, out, err);
	}
	if (ret)
		return ret;
	ret = vf_record_drop(a->host, VF_RECORD_BIND, bdf);
	if (ret)
		return bp_error_set(err, ret, NULL, "cannot remove /run/bluepass/bind/%s: %s", name,
				    strerror(-ret));
	out->changed = true;
	return 0;
}
