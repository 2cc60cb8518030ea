/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The record that a bind leaves, and how it is undone. Private to libvf.
 */
#ifndef VF_BINDREC_H
#define VF_BINDREC_H

#include <vf/bind.h>
#include <vf/pci.h>

#define VFIO_DRIVER "vfio-pci"

/**
 * vf_bindrec_take() - record what a function has now, before it is bound.
 * @a: the means.
 * @f: the function as it is.
 * @err: receives the reason of a failure.
 *
 * A record of an earlier bind that was never undone is kept, since it, and not the
 * present state, says what the host had.
 *
 * Return: 0, or a negative errno.
 */
int vf_bindrec_take(struct vf_admin *a, const struct vf_pci *f, struct bp_error *err);

/** vf_bindrec_have() - whether a function has a record. @a: the means. @bdf: function. Return: true if so. */
bool vf_bindrec_have(struct vf_admin *a, const struct vf_bdf *bdf);

/** vf_bindrec_undo() - vf_restore() without the lock; parameters and result as there. */
int vf_bindrec_undo(struct vf_admin *a, const struct vf_bdf *bdf, struct vf_bind_result *out,
		    struct bp_error *err);

#endif
