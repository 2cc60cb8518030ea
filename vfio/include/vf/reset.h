/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * How a function can be reset.
 */
#ifndef VF_RESET_H
#define VF_RESET_H

#include <stddef.h>
#include <stdint.h>

#include <vf/bdf.h>
#include <vf/config.h>
#include <vf/sys.h>

/**
 * vf_reset_methods() - the kernel's reset methods for a function, best first.
 * @host: the host.
 * @bdf: function.
 * @cfg: its configuration space. @len: known bytes. @caps: from vf_config_caps().
 * @buf: receives words separated by blanks, such as "flr bus", or "" for none.
 * @size: bytes of room.
 *
 * From reset_method (Linux 5.15 and later). Before that the kernel only says that there
 * is a way ("reset" exists); then "flr" if the function has it, and otherwise "other".
 *
 * Return: how many.
 */
size_t vf_reset_methods(const struct vf_host *host, const struct vf_bdf *bdf, const uint8_t *cfg,
			size_t len, const struct vf_caps *caps, char *buf, size_t size);

#endif
