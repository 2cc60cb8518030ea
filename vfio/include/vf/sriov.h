/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Making and removing the VFs of a PF.
 */
#ifndef VF_SRIOV_H
#define VF_SRIOV_H

#include <stdbool.h>
#include <stdint.h>

#include <bp/error.h>
#include <vf/admin.h>
#include <vf/bdf.h>

#define VF_SRIOV_NO_PROBE (1u << 0) /* keep the host's drivers off the new VFs */

/**
 * vf_sriov_create() - make a PF have @n VFs.
 * @a: the means.
 * @pf: the PF.
 * @n: at least 1.
 * @flags: VF_SRIOV_NO_PROBE or 0.
 * @changed: receives whether anything was done; false when it has @n VFs already.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Writes sriov_numvfs and waits until the VFs are there. A number that is neither 0 nor @n
 * is left alone: it means that somebody uses VFs. With VF_SRIOV_NO_PROBE,
 * sriov_drivers_autoprobe is 0 meanwhile, recorded as VF_RECORD_AUTOPROBE; what a run left
 * that was killed there is put right first (drivers/pci/pci-sysfs.c, drivers/pci/iov.c).
 * Fewer VFs than asked for count as a failure and are removed again.
 *
 * Return: 0; -ENODEV no such function, -EINVAL not a PF, -ERANGE more than it can have,
 * -EBUSY another number exists, -ENOENT its driver cannot do it, -ENOMEM no room in the
 * address space, -EIO too few VFs came, or the errno of the write.
 */
int vf_sriov_create(struct vf_admin *a, const struct vf_bdf *pf, uint32_t n, unsigned int flags,
		    bool *changed, struct bp_error *err);

/**
 * vf_sriov_destroy() - remove all VFs of a PF.
 * @a: the means.
 * @pf: the PF.
 * @changed: receives whether there were any.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Refused while a VF is in use through VFIO or needed by the host (vf_usage()). The
 * records of bound VFs go with them.
 *
 * Return: 0; -ENODEV, -EINVAL as above, -EBUSY a VF is in use, or the errno of the write.
 */
int vf_sriov_destroy(struct vf_admin *a, const struct vf_bdf *pf, bool *changed,
		     struct bp_error *err);

/**
 * vf_sriov_heal() - put back an autoprobe setting that a killed run left behind.
 * @a: the means.
 * @pf: the PF.
 * @changed: receives whether there was one.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Takes the lock, so that a run which is at work is not disturbed.
 *
 * Return: 0, or a negative errno.
 */
int vf_sriov_heal(struct vf_admin *a, const struct vf_bdf *pf, bool *changed,
		  struct bp_error *err);

#endif
