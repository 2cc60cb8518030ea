/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The PCI Express link that a function's traffic goes over.
 */
#ifndef VF_LINK_H
#define VF_LINK_H

#include <vf/bdf.h>
#include <vf/sys.h>

/**
 * struct vf_link - speed and width, as sysfs words them.
 * @speed: "8.0 GT/s PCIe" or the like; "" when the kernel does not know.
 * @max_speed: what the function could do.
 * @width: lanes in use, 0 when the kernel does not know.
 * @max_width: lanes that the function has.
 */
struct vf_link {
	char speed[32];
	char max_speed[32];
	unsigned int width;
	unsigned int max_width;
};

/**
 * vf_link_read() - the link of a function.
 * @host: the host.
 * @bdf: function. A VF has no link registers of its own (SR-IOV 3.5): ask for its PF.
 * @out: receives it; unknown values ("Unknown", 0 and 255) are empty.
 */
void vf_link_read(const struct vf_host *host, const struct vf_bdf *bdf, struct vf_link *out);

#endif
