/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Who has a device in use through VFIO. The kernel does not say; /proc does.
 */
#ifndef VF_HOLDER_H
#define VF_HOLDER_H

#include <stddef.h>
#include <sys/types.h>

#include <vf/bdf.h>
#include <vf/sys.h>

/** struct vf_holder - a process: @pid, and @name as in /proc/PID/comm, "" when unknown. */
struct vf_holder {
	pid_t pid;
	char name[32];
};

/**
 * vf_holders() - the processes that have a function's group or its own VFIO node open.
 * @host: the host; its proc is searched for links to /dev/vfio/GROUP and
 *        /dev/vfio/devices/vfioN.
 * @bdf: function.
 * @out: receives up to @max of them.
 * @max: room in @out.
 *
 * Processes that may not be looked into, and those of other PID namespaces, are missed.
 *
 * Return: how many there are, which may exceed @max; or a negative errno.
 */
int vf_holders(const struct vf_host *host, const struct vf_bdf *bdf, struct vf_holder *out,
	       size_t max);

/**
 * vf_holders_describe() - "bluepass (pid 4711), qemu (pid 12)", for an error.
 * @host: the host.
 * @bdf: function.
 * @buf: receives it, "" without a holder; "..." ends a list that is cut.
 * @size: bytes of room, at least 8.
 *
 * Return: as vf_holders().
 */
int vf_holders_describe(const struct vf_host *host, const struct vf_bdf *bdf, char *buf,
			size_t size);

#endif
