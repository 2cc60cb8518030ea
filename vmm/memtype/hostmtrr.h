/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine's own MTRR type of a BAR, which counts on AMD (APM vol. 2 15.25.8). */
#ifndef VMM_MEMTYPE_HOSTMTRR_H
#define VMM_MEMTYPE_HOSTMTRR_H

#include <stdbool.h>

#include <mt/types.h>
#include <vf/sys.h>

/**
 * vmm_mt_host_mtrr() - what the host's variable ranges say.
 * @host: host.
 * @bdf: function. @bar: number, 0 to 5.
 * @type: receives the type.
 *
 * /proc/mtrr does not tell the default type: where that would decide, nothing is known.
 *
 * Return: whether all of the BAR has one type, and which is known.
 */
bool vmm_mt_host_mtrr(const struct vf_host *host, const char *bdf, unsigned int bar,
		      enum mt_type *type);

#endif
