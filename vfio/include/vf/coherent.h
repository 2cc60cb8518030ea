/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Whether a function's DMA always snoops the processors' caches. It decides
 * whether KVM lets a guest's own memory types count for RAM.
 */
#ifndef VF_COHERENT_H
#define VF_COHERENT_H

#include <stddef.h>

#include <vf/bdf.h>
#include <vf/sys.h>

/**
 * struct vf_translation - the IOMMU in front of a function.
 * @iommu: its name, such as "ivhd0" or "dmar1"; "" without one.
 * @kind: "amd", "intel" or "" for one that nobody here knows.
 * @coherent: 1 when it overrides no-snoop requests, 0 when it does not, -1 when unknown.
 * @why: where that comes from, a constant string.
 */
struct vf_translation {
	char iommu[32];
	const char *kind;
	int coherent;
	const char *why;
};

/**
 * vf_translation_read() - the IOMMU in front of a function.
 * @host: the host.
 * @bdf: function.
 * @out: receives it.
 *
 * AMD-Vi forces coherence always (amd_iommu_enforce_cache_coherency()); VT-d where its
 * extended capability register has Snoop Control, bit 7 (VT-d specification, section 11.4.3).
 * The kernel's own word for a device in use is vf_iommu_coherent().
 */
void vf_translation_read(const struct vf_host *host, const struct vf_bdf *bdf,
			 struct vf_translation *out);

#endif
