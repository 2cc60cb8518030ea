/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * A function as the host shows it before we take it: is it there, whose is it,
 * and who shares its IOMMU group. This is where most failed assignments can be
 * explained in words.
 */
#ifndef VF_FUNCTION_H
#define VF_FUNCTION_H

#include <stddef.h>

#include <bp/error.h>
#include <vf/bdf.h>
#include <vf/group.h>
#include <vf/sys.h>

/**
 * struct vf_function - one function that a VFIO driver holds.
 * @id: its name, parsed.
 * @bdf: its name, canonical.
 * @driver: driver it is bound to.
 * @group: IOMMU group number.
 * @cdev: N of its node /dev/vfio/devices/vfioN, or -1 without one.
 */
struct vf_function {
	struct vf_bdf id;
	char bdf[VF_BDF_LEN];
	char driver[VF_DRIVER_LEN];
	int group;
	int cdev;
};

/**
 * vf_function_find() - look a function up and see that it can be taken.
 * @host: the host.
 * @bdf: name; the domain may be left out.
 * @out: receives it.
 * @err: receives the reason of a failure.
 *
 * Return: 0; -EINVAL not a BDF, -ENODEV no such function, -ENOTCONN not bound to a
 * VFIO driver or without IOMMU group.
 */
int vf_function_find(const struct vf_host *host, const char *bdf, struct vf_function *out,
		     struct bp_error *err);

/**
 * vf_not_viable() - say which members keep a group from being used.
 * @host: the host. @fn: function whose group it is. @err: receives the sentence.
 * Return: -EPERM.
 */
int vf_not_viable(const struct vf_host *host, const struct vf_function *fn, struct bp_error *err);

/**
 * vf_in_use() - say who has the function or its group.
 * @host: the host. @fn: function. @err: receives the sentence.
 * Return: -EBUSY.
 */
int vf_in_use(const struct vf_host *host, const struct vf_function *fn, struct bp_error *err);

/**
 * vf_no_remapping() - say that the kernel wants interrupt remapping.
 * @module: whose parameter allow_unsafe_interrupts lifts it. @err: receives the sentence.
 * Return: -EPERM.
 */
int vf_no_remapping(const char *module, struct bp_error *err);

/**
 * vf_needs_token() - say that the kernel wants a VF token (vfio_pci_validate_vf_token()).
 * @fn: function. @err: receives the sentence.
 * Return: -EACCES.
 */
int vf_needs_token(const struct vf_function *fn, struct bp_error *err);

/**
 * vf_path() - path of a device node below the host's root.
 * @host: the host.
 * @out: receives it.
 * @len: room in @out.
 * @fmt: printf format of the path, without a leading slash.
 *
 * Return: 0 or -ENAMETOOLONG.
 */
int vf_path(const struct vf_host *host, char *out, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
