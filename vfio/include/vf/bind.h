/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Taking functions from the host's drivers for vfio-pci, and giving them back.
 */
#ifndef VF_BIND_H
#define VF_BIND_H

#include <stdbool.h>
#include <stddef.h>

#include <bp/error.h>
#include <vf/admin.h>
#include <vf/bdf.h>
#include <vf/group.h>

/**
 * enum vf_bind_note - what there is to say about a function besides its drivers.
 * @VF_NOTE_NONE: nothing.
 * @VF_NOTE_ALREADY: was bound to a VFIO driver before.
 * @VF_NOTE_NO_RECORD: nothing was recorded for it, so nothing was done.
 * @VF_NOTE_GONE: the function, or the device that had this name, no longer exists; its
 *                record was dropped.
 * @VF_NOTE_OTHER: somebody else gave it another driver meanwhile; that was left alone.
 */
enum vf_bind_note {
	VF_NOTE_NONE,
	VF_NOTE_ALREADY,
	VF_NOTE_NO_RECORD,
	VF_NOTE_GONE,
	VF_NOTE_OTHER,
};

/**
 * struct vf_bind_result - what became of one function.
 * @bdf: function.
 * @changed: something on the host was changed.
 * @from: driver before, "" without one.
 * @to: driver now, "" without one.
 * @note: see enum vf_bind_note.
 */
struct vf_bind_result {
	struct vf_bdf bdf;
	bool changed;
	char from[VF_DRIVER_LEN];
	char to[VF_DRIVER_LEN];
	enum vf_bind_note note;
};

/**
 * vf_bind() - give functions to vfio-pci, all of them or none.
 * @a: the means.
 * @bdfs: functions.
 * @count: how many.
 * @out: receives one result for each.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Everything is checked before anything is changed. Then, for each function: what it had
 * is recorded (VF_RECORD_BIND), driver_override is set, the driver unbound, and the
 * function offered to its override (Documentation/ABI/testing/sysfs-bus-pci). When one
 * fails, those before it get back what they had.
 *
 * Return: 0; -ENODEV no such function, -EINVAL a bridge, -ENOENT no IOMMU group or no
 * vfio-pci, -EPERM a group that would not be viable, -EBUSY a function that the host
 * needs or a PF with VFs, -EIO when vfio-pci did not take it, or the errno of a write.
 */
int vf_bind(struct vf_admin *a, const struct vf_bdf *bdfs, size_t count,
	    struct vf_bind_result *out, struct bp_error *err);

/**
 * vf_restore() - give a function back what vf_bind() took from it.
 * @a: the means.
 * @bdf: function.
 * @out: receives the result.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Goes by the record and by what is found, wherever an earlier run stopped; only what
 * is still as vf_bind() left it is undone. The record is dropped when all is done, and
 * stays when something failed, so that this can be tried again.
 *
 * Return: 0; -ENODEV neither function nor record, -EBUSY in use through VFIO, -EBADMSG an
 * unreadable record, -EIO when the driver did not take it back, or the errno of a write.
 */
int vf_restore(struct vf_admin *a, const struct vf_bdf *bdf, struct vf_bind_result *out,
	       struct bp_error *err);

#endif
