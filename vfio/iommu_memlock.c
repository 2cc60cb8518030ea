// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
/*
 * Whether memory may be pinned. The kernel finds out page by page while it
 * maps, which for a large guest takes seconds and then fails; asking first
 * costs two small files. (iommufd counts what all processes of a user have pinned
 * together; what the others have cannot be seen, so there a pass is no promise.)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <vf/sysfs.h>

#include "backend.h"

#define CAP_IPC_LOCK_BIT 14 /* include/uapi/linux/capability.h */

/* The text after "NAME" at the start of a line. */
static const char *field(const char *text, const char *name)
{
	size_t len = strlen(name);

	while (text) {
		if (strncmp(text, name, len) == 0)
			return text + len;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

int vf_iommu_check_memlock(struct vf_iommu *iommu, uint64_t bytes, struct bp_error *err)
{
	uint64_t caps = 0, locked = 0, limit;
	char text[8192];
	const char *at;

	if (vf_sysfs_read(&iommu->host, text, sizeof(text), "proc/self/status") < 0)
		return 0; /* nothing known: the mapping itself will tell */
	at = field(text, "CapEff:");
	if (at && sscanf(at, " %" SCNx64, &caps) == 1 && (caps >> CAP_IPC_LOCK_BIT & 1))
		return 0;
	/* kB already locked; they count against the same limit (vfio_lock_acct()). */
	at = field(text, "VmLck:");
	if (at && sscanf(at, " %" SCNu64, &locked) == 1)
		locked = locked < UINT64_MAX >> 10 ? locked << 10 : UINT64_MAX;

	if (vf_sysfs_read(&iommu->host, text, sizeof(text), "proc/self/limits") < 0)
		return 0;
	at = field(text, "Max locked memory");
	if (!at || sscanf(at, " %" SCNu64, &limit) != 1) /* "unlimited" */
		return 0;
	if (locked <= limit && bytes <= limit - locked)
		return 0;
	bp_error_set(err, -ENOMEM, NULL,
		     "%" PRIu64 " KiB have to be locked for DMA, but this process may lock "
		     "%" PRIu64 " KiB (RLIMIT_MEMLOCK) and has locked %" PRIu64 " KiB",
		     bytes >> 10, limit >> 10, locked >> 10);
	bp_error_fix(err,
		     "run with 'ulimit -l unlimited' (systemd: LimitMEMLOCK=infinity), at least "
		     "%" PRIu64 " KiB, or with CAP_IPC_LOCK",
		     (bytes >> 10) + (locked >> 10) + 1);
	return -ENOMEM;
}
