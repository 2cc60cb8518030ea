// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vf/holder.h>
#include <vf/pci.h>
#include <vf/record.h>
#include <vf/sriov.h>
#include <vf/sysfs.h>
#include <vf/usage.h>

#define DEV "sys/bus/pci/devices/%s/"

/* VFs are there when the write returns; a device that is slow to answer may need longer. */
#define WAIT_MS	 5000u
#define WAIT_STEP 50u

static int read_pf(struct vf_admin *a, const struct vf_bdf *bdf, struct vf_pci *f, char *name,
		   struct bp_error *err)
{
	char pf[VF_BDF_LEN];
	int ret;

	vf_bdf_format(bdf, name);
	ret = vf_pci_read(a->host, bdf, f, err);
	if (ret)
		return ret;
	if (f->role == VF_ROLE_VF) {
		bp_error_set(err, -EINVAL, NULL, "%s is itself a VF", name);
		bp_error_fix(err, "name its PF, %s", vf_bdf_format(&f->pf, pf));
		return -EINVAL;
	}
	if (f->role == VF_ROLE_NONE)
		return bp_error_set(err, -EINVAL,
				    "if the device should have SR-IOV, turn it on in its firmware (ConnectX: mstconfig, SRIOV_EN and NUM_OF_VFS) and in the machine's set-up",
				    "%s is not a PF: the kernel sees no SR-IOV capability", name);
	return 0;
}

/* The kernel's errno in words (sriov_numvfs_store(), sriov_enable() and its callers). */
static int explain(int ret, const struct vf_pci *f, const char *name, uint32_t n,
		   struct bp_error *err)
{
	const char *fix = "the kernel log (dmesg) says more", *what = strerror(-ret);
	char text[200];

	switch (ret) {
	case -EACCES:
	case -EPERM:
		/* sysfs says EACCES; some drivers say EPERM for VFs that guests hold. */
		fix = ret == -EACCES ? "run this as root" : "see whether a guest has one of its VFs";
		break;
	case -EBUSY:
		what = "it is busy, or has VFs already";
		fix = "see 'vfctl show' for its VFs, and try again when nothing uses it";
		break;
	case -ERANGE:
		snprintf(text, sizeof(text), "its driver allows at most %u", f->total_vfs);
		what = text;
		fix = "ask for fewer";
		break;
	case -ENOENT:
	case -ENOSYS:
		snprintf(text, sizeof(text), "%s%s", *f->driver ? f->driver : "no driver",
			 *f->driver ? " cannot make VFs" : " is bound to it");
		what = text;
		fix = "bind the PF to the driver that makes its VFs";
		break;
	case -ENOMEM:
		what = "not enough MMIO resources: the SR-IOV BARs or the bus numbers found no room";
		fix = "turn on SR-IOV and Above 4G Decoding in the machine's set-up, or boot with pci=realloc";
		break;
	}
	return bp_error_set(err, ret, fix, "%s: cannot make %u VFs: %s", name, n, what);
}

static int set_numvfs(struct vf_admin *a, const char *name, uint32_t n)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, n);
	return vf_admin_write(a, text, DEV "sriov_numvfs", name);
}

static size_t count_vfs(struct vf_admin *a, const struct vf_bdf *pf)
{
	struct vf_bdf *vfs = NULL;
	size_t n = 0;

	if (vf_pci_vfs(a->host, pf, &vfs, &n))
		n = 0;
	free(vfs);
	return n;
}

static size_t wait_vfs(struct vf_admin *a, const struct vf_bdf *pf, size_t want)
{
	size_t n = count_vfs(a, pf);

	for (unsigned int ms = 0; n != want && ms < WAIT_MS; ms += WAIT_STEP) {
		a->ops->sleep_ms(a, WAIT_STEP);
		n = count_vfs(a, pf);
	}
	return n;
}

/* vf_sriov_heal() for whoever has the lock. */
static int heal(struct vf_admin *a, const struct vf_bdf *pf, bool *changed, struct bp_error *err)
{
	char name[VF_BDF_LEN], text[VF_RECORD_MAX];
	int ret = vf_record_load(a->host, VF_RECORD_AUTOPROBE, pf, text);

	*changed = false;
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	vf_bdf_format(pf, name);
	/* Only 1 is ever recorded, because only that is ever changed. */
	if (!strcmp(text, "1")) {
		ret = vf_admin_write(a, "1", DEV "sriov_drivers_autoprobe", name);
		if (ret && ret != -ENOENT)
			return bp_error_set(err, ret, "write 1 to it by hand",
					    "%s: cannot put sriov_drivers_autoprobe back to 1: %s",
					    name, strerror(-ret));
	}
	*changed = true;
	return vf_record_drop(a->host, VF_RECORD_AUTOPROBE, pf);
}

int vf_sriov_heal(struct vf_admin *a, const struct vf_bdf *pf, bool *changed, struct bp_error *err)
{
	int lock = vf_admin_lock(a, err);
	int ret = lock;

	*changed = false;
	if (lock < 0)
		return ret;
	ret = heal(a, pf, changed, err);
	close(lock);
	return ret;
}

static int stop_probing(struct vf_admin *a, const struct vf_bdf *pf, const char *name,
			struct bp_error *err)
{
	uint64_t now;
	int ret;

	ret = vf_sysfs_read_u64(a->host, &now, DEV "sriov_drivers_autoprobe", name);
	if (ret)
		return bp_error_set(err, ret, "leave out --no-probe",
				    "%s: cannot keep drivers off its VFs: sriov_drivers_autoprobe: %s",
				    name, strerror(-ret));
	if (!now)
		return 0;
	ret = vf_record_save(a->host, VF_RECORD_AUTOPROBE, pf, "1\n", err);
	if (ret)
		return ret;
	ret = vf_admin_write(a, "0", DEV "sriov_drivers_autoprobe", name);
	if (!ret)
		return 0;
	vf_record_drop(a->host, VF_RECORD_AUTOPROBE, pf);
	return bp_error_set(err, ret, ret == -EACCES ? "run this as root" : NULL,
			    "%s: cannot set sriov_drivers_autoprobe to 0: %s", name, strerror(-ret));
}

static int make(struct vf_admin *a, const struct vf_pci *f, const char *name, uint32_t n,
		struct bp_error *err)
{
	size_t came;
	int ret = set_numvfs(a, name, n);

	if (ret)
		return explain(ret, f, name, n, err);
	if (!a->live)
		return 0;
	came = wait_vfs(a, &f->bdf, n);
	if (came == n)
		return 0;
	ret = set_numvfs(a, name, 0);
	return bp_error_set(err, -EIO, "the kernel log (dmesg) says why",
			    "%s: asked for %u VFs, %zu came%s", name, n, came,
			    ret ? ", and they could not be removed" : "; they were removed again");
}

int vf_sriov_create(struct vf_admin *a, const struct vf_bdf *pf, uint32_t n, unsigned int flags,
		    bool *changed, struct bp_error *err)
{
	char name[VF_BDF_LEN];
	struct vf_pci f;
	bool healed;
	int lock, ret, ret2;

	*changed = false;
	ret = lock = vf_admin_lock(a, err);
	if (lock < 0)
		return ret;
	ret = read_pf(a, pf, &f, name, err);
	if (ret)
		goto out;
	ret = heal(a, pf, &healed, err);
	if (ret)
		goto out;
	*changed = healed;
	if (f.num_vfs && f.num_vfs == n)
		goto out;
	if (!n || n > f.total_vfs) {
		ret = bp_error_set(err, -ERANGE,
				   n ? "ask for fewer" : "'vfctl destroy' removes VFs",
				   "%s: cannot make %u VFs: its driver allows 1 to %u", name, n,
				   f.total_vfs);
		goto out;
	}
	if (f.num_vfs) {
		ret = bp_error_set(err, -EBUSY, NULL, "%s has %u VFs already, not %u", name,
				   f.num_vfs, n);
		bp_error_fix(err,
			     "the number can only be changed through 0, which takes them from whoever uses them: run 'vfctl destroy %s' first",
			     name);
		goto out;
	}
	if (flags & VF_SRIOV_NO_PROBE)
		ret = stop_probing(a, pf, name, err);
	if (ret)
		goto out;
	ret = make(a, &f, name, n, err);
	*changed |= !ret;
	ret2 = heal(a, pf, &healed, err);
	ret = ret ? ret : ret2;
out:
	close(lock);
	return ret;
}

static int vf_is_free(struct vf_admin *a, const char *pf, const struct vf_bdf *vf,
		      struct bp_error *err)
{
	char name[VF_BDF_LEN], text[400];
	int ret;

	vf_bdf_format(vf, name);
	if (vf_holders_describe(a->host, vf, text, sizeof(text)) > 0)
		return bp_error_set(err, -EBUSY, "stop that first",
				    "cannot remove the VFs of %s: %s is in use by %s", pf, name, text);
	ret = vf_usage(a->host, vf, text, sizeof(text), err);
	if (ret > 0)
		return bp_error_set(err, -EBUSY, "move that elsewhere first",
				    "cannot remove the VFs of %s: %s %s", pf, name, text);
	return ret;
}

int vf_sriov_destroy(struct vf_admin *a, const struct vf_bdf *pf, bool *changed,
		     struct bp_error *err)
{
	struct vf_bdf *vfs = NULL;
	char name[VF_BDF_LEN];
	struct vf_pci f;
	size_t n = 0;
	int lock, ret;

	*changed = false;
	ret = lock = vf_admin_lock(a, err);
	if (lock < 0)
		return ret;
	ret = read_pf(a, pf, &f, name, err);
	if (!ret)
		ret = heal(a, pf, changed, err);
	if (ret || !f.num_vfs)
		goto out;
	ret = vf_pci_vfs(a->host, pf, &vfs, &n);
	if (ret) {
		bp_error_set(err, ret, NULL, "%s: cannot list its VFs: %s", name, strerror(-ret));
		goto out;
	}
	for (size_t i = 0; i < n && !ret; i++)
		ret = vf_is_free(a, name, &vfs[i], err);
	if (ret)
		goto out;
	ret = set_numvfs(a, name, 0);
	if (ret) {
		bp_error_set(err, ret,
			     ret == -EACCES ? "run this as root" : "the kernel log (dmesg) says more",
			     "%s: cannot remove its VFs: %s", name, strerror(-ret));
		goto out;
	}
	if (a->live && wait_vfs(a, pf, 0)) {
		ret = bp_error_set(err, -EIO, "the kernel log (dmesg) says why",
				   "%s: its VFs did not go away", name);
		goto out;
	}
	*changed = true;
	/* Nothing is left to give back. */
	for (size_t i = 0; i < n; i++)
		vf_record_drop(a->host, VF_RECORD_BIND, &vfs[i]);
out:
	free(vfs);
	close(lock);
	return ret;
}
