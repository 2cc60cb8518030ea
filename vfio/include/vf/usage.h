/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * What the host itself needs a PCI function for. Taking such a function away
 * would cut off the administrator or stop the machine.
 */
#ifndef VF_USAGE_H
#define VF_USAGE_H

#include <stddef.h>

#include <bp/error.h>
#include <vf/bdf.h>
#include <vf/sys.h>

/**
 * vf_usage() - whether mounted file systems, swap or the default route need a function.
 * @host: the host.
 * @bdf: function; a bridge is needed when something behind it is.
 * @why: receives "carries the root file system (nvme0n1p2)" or the like; "" when free.
 * @size: bytes of room.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Follows block devices through partitions, device mapper, MD and NVMe multipath, and
 * interfaces through bonds, bridges and VLANs. What other mount or network namespaces
 * use is seen only for those of this process and of process 1. Of an IPv4 multipath route
 * /proc/net/route names only the first hop.
 *
 * Return: 1 when it is needed, 0 when not, or a negative errno when the host's mounts
 * cannot be read, so that nobody takes silence for consent.
 */
int vf_usage(const struct vf_host *host, const struct vf_bdf *bdf, char *why, size_t size,
	     struct bp_error *err);

#endif
