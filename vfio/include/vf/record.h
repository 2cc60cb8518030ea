/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * What was changed on a host and has to be put back, one small file a function
 * in root/run/bluepass/KIND/. /run is empty after a boot, as is the kernel's own
 * memory of such changes. A record is written before the change that it
 * describes and dropped after the change is undone, so that a crash in between
 * can always be repaired.
 */
#ifndef VF_RECORD_H
#define VF_RECORD_H

#include <stddef.h>

#include <bp/error.h>
#include <vf/bdf.h>
#include <vf/sys.h>

#define VF_RECORD_BIND	    "bind"	/* driver and driver_override that a function had */
#define VF_RECORD_AUTOPROBE "autoprobe" /* a PF's sriov_drivers_autoprobe */

/* Room for a record's text and its NUL. */
#define VF_RECORD_MAX 512

/**
 * vf_record_save() - write a record, whole or not at all.
 * @host: the host.
 * @kind: VF_RECORD_*.
 * @bdf: function.
 * @text: shorter than VF_RECORD_MAX.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Written to another name, synced and renamed.
 *
 * Return: 0, or a negative errno.
 */
int vf_record_save(const struct vf_host *host, const char *kind, const struct vf_bdf *bdf,
		   const char *text, struct bp_error *err);

/**
 * vf_record_load() - read a record.
 * @host: the host. @kind: VF_RECORD_*. @bdf: function.
 * @buf: receives the text, VF_RECORD_MAX bytes of room.
 *
 * Return: 0, -ENOENT without one, or another negative errno.
 */
int vf_record_load(const struct vf_host *host, const char *kind, const struct vf_bdf *bdf,
		   char buf[VF_RECORD_MAX]);

/**
 * vf_record_drop() - forget a record.
 * @host: the host. @kind: VF_RECORD_*. @bdf: function.
 *
 * Return: 0 (also when there was none), or a negative errno.
 */
int vf_record_drop(const struct vf_host *host, const char *kind, const struct vf_bdf *bdf);

/**
 * vf_record_list() - the functions that have a record.
 * @host: the host. @kind: VF_RECORD_*.
 * @out: receives an array; free() it. NULL when there are none.
 * @count: receives how many.
 *
 * Return: 0, or a negative errno.
 */
int vf_record_list(const struct vf_host *host, const char *kind, struct vf_bdf **out,
		   size_t *count);

#endif
