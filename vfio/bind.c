// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vf/bind.h>
#include <vf/pci.h>
#include <vf/sysfs.h>
#include <vf/usage.h>

#include "bindrec.h"

/* Said when a write fails for want of privilege. */
static const char *root_fix(int ret)
{
	return ret == -EACCES || ret == -EPERM ? "run this as root" : NULL;
}

static bool named(const struct vf_bdf *bdfs, size_t count, const struct vf_bdf *one)
{
	for (size_t i = 0; i < count; i++)
		if (!vf_bdf_cmp(&bdfs[i], one))
			return true;
	return false;
}

#define SLOT_FIX " or use a slot with a group of its own"

/* Members of the group that stay on drivers of the host although everything named is taken. */
static int check_group(struct vf_admin *a, const struct vf_pci *f, const struct vf_bdf *bdfs,
		       size_t count, struct bp_error *err)
{
	char name[VF_BDF_LEN], member[VF_BDF_LEN], others[256], fix[400];
	struct vf_group *group;
	bool whole = true;
	size_t len;
	int ret;

	vf_bdf_format(&f->bdf, name);
	if (f->iommu_group < 0)
		return bp_error_set(err, -ENOENT,
				    "turn on AMD-Vi (IOMMU) or VT-d in the firmware set-up, and boot with intel_iommu=on on Intel",
				    "%s has no IOMMU group, so nothing would contain its DMA", name);
	ret = vf_group_read(a->host, f->iommu_group, &group, err);
	if (ret)
		return ret;
	len = (size_t)snprintf(fix, sizeof(fix), "name the whole group (vfctl bind %s", name);
	for (size_t i = 0; i < group->count; i++) {
		struct vf_group_member *m = &group->members[i];
		bool asked = named(bdfs, count, &m->bdf);

		if (asked)
			m->state = VF_MEMBER_VFIO;
		if ((!asked && m->state != VF_MEMBER_HOST) || !vf_bdf_cmp(&m->bdf, &f->bdf))
			continue;
		vf_bdf_format(&m->bdf, member);
		whole = whole && len + 1 + strlen(member) + sizeof(SLOT_FIX) < sizeof(fix);
		if (whole)
			len += (size_t)snprintf(fix + len, sizeof(fix) - len, " %s", member);
	}
	if (whole)
		snprintf(fix + len, sizeof(fix) - len, ")" SLOT_FIX);
	else
		snprintf(fix, sizeof(fix),
			 "name the whole group, which 'vfctl show %s' lists," SLOT_FIX, name);
	if (vf_group_describe(group, VF_MEMBER_HOST, others, sizeof(others)))
		ret = bp_error_set(err, -EPERM, fix,
				   "binding %s would leave IOMMU group %d not viable: %s on drivers of the host",
				   name, group->number, others);
	vf_group_free(group);
	return ret;
}

static bool is_bridge(struct vf_admin *a, const char *name)
{
	uint8_t header[64];

	return vf_sysfs_read_bytes(a->host, header, sizeof(header), "sys/bus/pci/devices/%s/config",
				   name) > 0x0e &&
	       (header[0x0e] & 0x7f);
}

/* Whether a function may be taken at all. */
static int check_one(struct vf_admin *a, const struct vf_pci *f, const struct vf_bdf *bdfs,
		     size_t count, struct bp_error *err)
{
	char name[VF_BDF_LEN], why[400];
	int ret;

	vf_bdf_format(&f->bdf, name);
	if (is_bridge(a, name))
		return bp_error_set(err, -EINVAL, "name the functions behind it",
				    "%s is a bridge, which vfio-pci does not take", name);
	if (f->num_vfs) {
		bp_error_set(err, -EBUSY, NULL, "%s is a PF with %u VFs, which would go with it",
			     name, f->num_vfs);
		bp_error_fix(err, "bind its VFs, or run 'vfctl destroy %s' first", name);
		return -EBUSY;
	}
	ret = vf_usage(a->host, &f->bdf, why, sizeof(why), err);
	if (ret < 0)
		return ret;
	if (ret)
		return bp_error_set(err, -EBUSY, "choose a function that the host does not need",
				    "%s %s", name, why);
	return check_group(a, f, bdfs, count, err);
}

static int need_vfio(struct vf_admin *a, struct bp_error *err)
{
	int ret;

	if (vf_sysfs_exists(a->host, "sys/bus/pci/drivers/vfio-pci"))
		return 0;
	ret = a->ops->load_module(a, "vfio-pci");
	if (!ret && a->live && !vf_sysfs_exists(a->host, "sys/bus/pci/drivers/vfio-pci"))
		ret = -ENOENT;
	if (!ret)
		return 0;
	return bp_error_set(err, ret,
			    ret == -ENOENT ? "use a kernel with CONFIG_VFIO_PCI" : root_fix(ret),
			    "the module vfio-pci cannot be loaded: %s", strerror(-ret));
}

/* The steps of one bind; whatever they leave, the record tells how to undo. */
static int bind_one(struct vf_admin *a, const struct vf_pci *f, struct vf_bind_result *r,
		    struct bp_error *err)
{
	char name[VF_BDF_LEN];
	int ret;

	vf_bdf_format(&f->bdf, name);
	ret = vf_bindrec_take(a, f, err);
	if (ret)
		return ret;
	ret = vf_admin_write(a, VFIO_DRIVER, "sys/bus/pci/devices/%s/driver_override", name);
	if (ret)
		return bp_error_set(err, ret, root_fix(ret), "%s: cannot set driver_override: %s",
				    name, strerror(-ret));
	r->changed = true;
	if (*f->driver) {
		ret = vf_admin_write(a, name, "sys/bus/pci/devices/%s/driver/unbind", name);
		if (ret)
			return bp_error_set(err, ret, root_fix(ret), "%s: cannot unbind it from %s: %s",
					    name, f->driver, strerror(-ret));
	}
	ret = vf_admin_write(a, name, "sys/bus/pci/drivers_probe");
	if (!a->live) {
		snprintf(r->to, sizeof(r->to), "%s", VFIO_DRIVER);
		return ret ? bp_error_set(err, ret, root_fix(ret), "%s: cannot write drivers_probe: %s",
					  name, strerror(-ret)) : 0;
	}
	/* What the probe made of it shows in the link, whatever the write returned. */
	if (!vf_sysfs_link_name(a->host, r->to, sizeof(r->to), "sys/bus/pci/devices/%s/driver",
				name) && !strcmp(r->to, VFIO_DRIVER))
		return 0;
	return bp_error_set(err, ret ? ret : -EIO, "the kernel log (dmesg) says why",
			    "vfio-pci did not take %s%s%s", name, ret ? ": " : "",
			    ret ? strerror(-ret) : "");
}

/* Nothing that was asked for twice is done twice. */
static bool repeated(const struct vf_bdf *bdfs, size_t i)
{
	return named(bdfs, i, &bdfs[i]);
}

static bool already(struct vf_admin *a, const struct vf_pci *f)
{
	if (vf_driver_is_vfio(f->driver))
		return true;
	/* Without a kernel the driver's link never changes; the override does. */
	return !a->live && !strcmp(f->driver_override, VFIO_DRIVER) && vf_bindrec_have(a, &f->bdf);
}

static void undo(struct vf_admin *a, const struct vf_bind_result *done, size_t count,
		 struct bp_error *err)
{
	struct bp_error again;
	struct vf_bind_result r;
	char text[sizeof(again.fix)];

	while (count--) {
		if (!done[count].changed)
			continue;
		bp_error_clear(&again);
		if (!vf_bindrec_undo(a, &done[count].bdf, &r, &again) || !err)
			continue;
		snprintf(text, sizeof(text), "%.200s%s%.200s; then run 'vfctl restore --all'",
			 err->fix, *err->fix ? "; " : "", again.what);
		bp_error_fix(err, "%s", text);
	}
}

int vf_bind(struct vf_admin *a, const struct vf_bdf *bdfs, size_t count,
	    struct vf_bind_result *out, struct bp_error *err)
{
	struct vf_pci *all = calloc(count + 1, sizeof(*all));
	bool needed = false;
	int lock = -1, ret;

	if (!all)
		return -ENOMEM;
	ret = lock = vf_admin_lock(a, err);
	if (ret < 0)
		goto out;
	for (size_t i = 0; i < count; i++) {
		struct vf_bind_result *r = &out[i];

		*r = (struct vf_bind_result){ .bdf = bdfs[i] };
		ret = vf_pci_read(a->host, &bdfs[i], &all[i], err);
		if (ret)
			goto out;
		snprintf(r->from, sizeof(r->from), "%s", all[i].driver);
		if (already(a, &all[i])) {
			r->note = VF_NOTE_ALREADY;
			snprintf(r->to, sizeof(r->to), "%s",
				 a->live ? all[i].driver : all[i].driver_override);
			continue;
		}
		ret = check_one(a, &all[i], bdfs, count, err);
		if (ret)
			goto out;
		needed = true;
	}
	ret = needed ? need_vfio(a, err) : 0;
	for (size_t i = 0; i < count && !ret; i++) {
		if (out[i].note == VF_NOTE_ALREADY)
			continue;
		if (repeated(bdfs, i)) {
			out[i].note = VF_NOTE_ALREADY;
			snprintf(out[i].to, sizeof(out[i].to), "%s", VFIO_DRIVER);
			continue;
		}
		ret = bind_one(a, &all[i], &out[i], err);
		if (ret) {
			/* The record alone is a change to undo. */
			out[i].changed = vf_bindrec_have(a, &bdfs[i]);
			undo(a, out, i + 1, err);
		}
	}
out:
	if (lock >= 0)
		close(lock);
	free(all);
	return ret;
}

int vf_restore(struct vf_admin *a, const struct vf_bdf *bdf, struct vf_bind_result *out,
	       struct bp_error *err)
{
	int lock = vf_admin_lock(a, err);
	int ret = lock;

	if (lock < 0)
		return ret;
	ret = vf_bindrec_undo(a, bdf, out, err);
	close(lock);
	return ret;
}
