/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The name of a PCI function: domain, bus, device, function.
 */
#ifndef VF_BDF_H
#define VF_BDF_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Room for the longest name and its NUL. Domains have 32 bits in Linux: those
 * behind VMD and Hyper-V start at 0x10000 (drivers/pci/controller/vmd.c).
 */
#define VF_BDF_LEN 18

/**
 * struct vf_bdf - one PCI function.
 * @domain: segment group.
 * @bus: 0 to 255.
 * @dev: 0 to 31.
 * @fn: 0 to 7.
 */
struct vf_bdf {
	uint32_t domain;
	uint8_t bus;
	uint8_t dev;
	uint8_t fn;
};

/**
 * vf_bdf_parse() - "0000:01:00.1" or "01:00.1".
 * @text: the name alone; upper and lower case digits, 4 to 8 of them in the domain,
 *        2 in bus and device, 1 in the function. Nothing else passes, so a parsed
 *        name never leads a sysfs path astray.
 * @out: written only on success; may be NULL to check a name.
 *
 * Return: 0, or -EINVAL.
 */
int vf_bdf_parse(const char *text, struct vf_bdf *out);

/**
 * vf_bdf_format() - the name as sysfs writes it.
 * @bdf: function.
 * @buf: receives it.
 *
 * Return: @buf.
 */
const char *vf_bdf_format(const struct vf_bdf *bdf, char buf[VF_BDF_LEN]);

/**
 * vf_bdf_cmp() - order by domain, bus, device, function.
 * @a: one function.
 * @b: another.
 *
 * Return: less than, equal to or greater than 0, as strcmp().
 */
int vf_bdf_cmp(const struct vf_bdf *a, const struct vf_bdf *b);

/**
 * vf_bdf_rid() - requester ID, what an IOMMU tells functions of a domain apart by.
 * @bdf: function.
 *
 * With ARI the device and function numbers are one 8-bit number; both readings
 * give the same 16 bits (PCIe base specification, section 2.2.6.2).
 *
 * Return: bus in bits 15:8, device in 7:3, function in 2:0.
 */
uint16_t vf_bdf_rid(const struct vf_bdf *bdf);

#endif
