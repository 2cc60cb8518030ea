/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * What vendors call their devices, from the PCI ID database of libpci.
 */
#ifndef VF_NAMES_H
#define VF_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct vf_ids;

/** vf_ids_open() - the database; read when first asked. Return: a handle, or NULL without memory. */
struct vf_ids *vf_ids_open(void);

/** vf_ids_close() - give the database back. @ids: NULL is allowed. */
void vf_ids_close(struct vf_ids *ids);

/**
 * vf_ids_name() - "Intel Corporation 82576 Virtual Function".
 * @ids: the database.
 * @vendor: vendor ID.
 * @device: device ID.
 * @buf: receives the name, or "Intel Corporation device 1234", or "8086:1234" when even
 *       the vendor is unknown.
 * @size: bytes of room; what does not fit is cut.
 *
 * Return: @buf.
 */
const char *vf_ids_name(struct vf_ids *ids, uint16_t vendor, uint16_t device, char *buf,
			size_t size);

#endif
