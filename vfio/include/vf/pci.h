/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * PCI functions as sysfs lists them: who is a physical and who a virtual
 * function of whom, and on which driver.
 */
#ifndef VF_PCI_H
#define VF_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bp/error.h>
#include <vf/bdf.h>
#include <vf/group.h>
#include <vf/sys.h>

/**
 * enum vf_role - part in SR-IOV.
 * @VF_ROLE_NONE: none, or not known (a VF whose PF is not visible).
 * @VF_ROLE_PF: physical function: has an SR-IOV capability that Linux can use.
 * @VF_ROLE_VF: virtual function.
 */
enum vf_role {
	VF_ROLE_NONE,
	VF_ROLE_PF,
	VF_ROLE_VF,
};

/**
 * struct vf_pci - one PCI function.
 * @bdf: name.
 * @role: part in SR-IOV.
 * @pf: its PF; meant only for @VF_ROLE_VF.
 * @vf_index: position among the PF's VFs from 0, as in virtfnN; -1 otherwise.
 * @vendor_id: vendor.
 * @device_id: device.
 * @sub_vendor_id: subsystem's vendor.
 * @sub_device_id: subsystem's device.
 * @class_code: base class in bits 23:16, subclass 15:8, programming interface 7:0.
 * @revision: revision.
 * @driver: driver it is bound to, "" without one.
 * @driver_override: the only driver it may be bound to, "" when any may.
 * @iommu_group: group number, -1 without one.
 * @numa_node: node, -1 when the platform does not say.
 * @total_vfs: most VFs the driver allows; meant only for @VF_ROLE_PF.
 * @num_vfs: VFs that exist; meant only for @VF_ROLE_PF.
 */
struct vf_pci {
	struct vf_bdf bdf;
	enum vf_role role;
	struct vf_bdf pf;
	int vf_index;
	uint16_t vendor_id;
	uint16_t device_id;
	uint16_t sub_vendor_id;
	uint16_t sub_device_id;
	uint32_t class_code;
	uint8_t revision;
	char driver[VF_DRIVER_LEN];
	char driver_override[VF_DRIVER_LEN];
	int iommu_group;
	int numa_node;
	uint32_t total_vfs;
	uint32_t num_vfs;
};

/** vf_role_name() - "pf", "vf" or "none". @role: role. Return: a constant string. */
const char *vf_role_name(enum vf_role role);

/**
 * vf_pci_read() - one function.
 * @host: the host.
 * @bdf: its name.
 * @out: receives it.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Return: 0; -ENODEV without such a function, -EBADMSG when its attributes make no
 * sense, or the errno of reading them.
 */
int vf_pci_read(const struct vf_host *host, const struct vf_bdf *bdf, struct vf_pci *out,
		struct bp_error *err);

/**
 * vf_pci_find() - one function by what a user calls it.
 * @host: the host.
 * @text: a BDF, or the name of a network interface that belongs to a PCI function.
 * @out: receives it.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Return: as vf_pci_read(); -EINVAL for what is neither.
 */
int vf_pci_find(const struct vf_host *host, const char *text, struct vf_pci *out,
		struct bp_error *err);

/**
 * vf_pci_list() - all functions, sorted by name.
 * @host: the host.
 * @out: receives an array; free() it.
 * @count: receives how many.
 * @err: receives the reason of a failure; may be NULL.
 *
 * A function that goes away while it is read is left out.
 *
 * Return: 0, or a negative errno.
 */
int vf_pci_list(const struct vf_host *host, struct vf_pci **out, size_t *count,
		struct bp_error *err);

/**
 * vf_pci_vfs() - the VFs of a PF, in the order of their index.
 * @host: the host.
 * @pf: the PF.
 * @out: receives an array; free() it. NULL when there are none.
 * @count: receives how many.
 *
 * Return: 0, or a negative errno; -EBADMSG when virtfnN does not name a function.
 */
int vf_pci_vfs(const struct vf_host *host, const struct vf_bdf *pf, struct vf_bdf **out,
	       size_t *count);

#endif
