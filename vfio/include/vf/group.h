/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * IOMMU groups as sysfs shows them: the functions that no IOMMU can tell apart,
 * whether they may all be given away together, and the I/O addresses that the
 * platform keeps for itself.
 */
#ifndef VF_GROUP_H
#define VF_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bp/error.h>
#include <vf/bdf.h>
#include <vf/sys.h>

/* Room for a driver's name and its NUL; the kernel's own names are shorter by far. */
#define VF_DRIVER_LEN 64

/**
 * enum vf_member_state - what a member means for the group's viability.
 * @VF_MEMBER_FREE: no driver, or one that touches nothing (pci-stub).
 * @VF_MEMBER_VFIO: on a VFIO driver.
 * @VF_MEMBER_BRIDGE: not an endpoint; the kernel lets its driver be.
 * @VF_MEMBER_HOST: on a driver of the host: the group is not viable.
 */
enum vf_member_state {
	VF_MEMBER_FREE,
	VF_MEMBER_VFIO,
	VF_MEMBER_BRIDGE,
	VF_MEMBER_HOST,
};

/**
 * struct vf_group_member - one function of a group.
 * @bdf: its name.
 * @driver: driver it is bound to, "" without one.
 * @state: what that means.
 */
struct vf_group_member {
	struct vf_bdf bdf;
	char driver[VF_DRIVER_LEN];
	enum vf_member_state state;
};

/**
 * struct vf_group - one IOMMU group.
 * @number: as in /sys/kernel/iommu_groups and /dev/vfio.
 * @type: default domain: "DMA", "DMA-FQ", "identity"; "" when the kernel does not say.
 * @count: members that are PCI functions.
 * @strangers: members that are not (platform devices); they are not listed.
 * @members: sorted by name.
 */
struct vf_group {
	int number;
	char type[16];
	size_t count;
	size_t strangers;
	struct vf_group_member *members;
};

/**
 * vf_driver_is_vfio() - whether a driver's name is vfio-pci or one of its variants.
 * @driver: such as "vfio-pci", "mlx5_vfio_pci", "igb".
 *
 * Every variant driver carries the words in its name (drivers/vfio/pci/).
 *
 * Return: true if so.
 */
bool vf_driver_is_vfio(const char *driver);

/**
 * vf_group_of() - number of the group that a function is in.
 * @host: the host.
 * @bdf: function.
 *
 * Return: the number; -ENODEV without such a function, -ENOENT when it has no group
 * (no IOMMU, or it is off), -EINVAL when sysfs makes no sense.
 */
int vf_group_of(const struct vf_host *host, const struct vf_bdf *bdf);

/**
 * vf_group_read() - a group with its members and their drivers.
 * @host: the host.
 * @number: group number.
 * @out: receives it; give back with vf_group_free().
 * @err: receives the reason of a failure; may be NULL.
 *
 * Return: 0, -ENOENT without such a group, or another negative errno.
 */
int vf_group_read(const struct vf_host *host, int number, struct vf_group **out,
		  struct bp_error *err);

/** vf_group_free() - give back a group. @group: NULL is allowed. */
void vf_group_free(struct vf_group *group);

/**
 * vf_group_viable() - whether no member is on a driver of the host.
 * @group: the group.
 *
 * The rule of vfio_dev_viable() up to Linux 5.18 and of iommu_group_claim_dma_owner()
 * since 6.0: a member may have no driver, a VFIO driver, pci-stub, or be a bridge.
 *
 * Return: true if so.
 */
bool vf_group_viable(const struct vf_group *group);

/**
 * vf_group_describe() - the members in words, for an error.
 * @group: the group.
 * @state: only members of this state, or -1 for all.
 * @buf: receives "0000:00:1f.0 (lpc_ich), 0000:00:1f.2 (ahci)"; "..." ends a list that is cut.
 * @size: bytes of room, at least 8.
 *
 * Return: how many members were meant.
 */
size_t vf_group_describe(const struct vf_group *group, int state, char *buf, size_t size);

/**
 * enum vf_resv_type - what a reserved range is (include/linux/iommu.h).
 * @VF_RESV_DIRECT: mapped one to one, for firmware; a guest may not use it.
 * @VF_RESV_DIRECT_RELAXABLE: the same, but may be given up when a guest takes the device.
 * @VF_RESV_RESERVED: not translated, as AMD's HyperTransport hole.
 * @VF_RESV_MSI: where interrupts are written to.
 * @VF_RESV_SW_MSI: the same, placed by software.
 * @VF_RESV_UNKNOWN: a word nobody here knows; treat as @VF_RESV_RESERVED.
 */
enum vf_resv_type {
	VF_RESV_DIRECT,
	VF_RESV_DIRECT_RELAXABLE,
	VF_RESV_RESERVED,
	VF_RESV_MSI,
	VF_RESV_SW_MSI,
	VF_RESV_UNKNOWN,
};

/** struct vf_resv - I/O addresses @start to @last, both included, and why they are reserved. */
struct vf_resv {
	uint64_t start;
	uint64_t last;
	enum vf_resv_type type;
};

/** vf_resv_name() - the kernel's word for a type. @type: type. Return: a constant string. */
const char *vf_resv_name(enum vf_resv_type type);

/**
 * vf_group_reserved() - a group's reserved I/O addresses.
 * @host: the host.
 * @number: group number.
 * @out: receives up to @max of them, in the order of the file.
 * @max: room in @out.
 *
 * Return: how many there are, which may exceed @max; -EBADMSG for a line that is not
 * "START LAST TYPE" or a range that ends before it starts; or the errno of reading
 * /sys/kernel/iommu_groups/N/reserved_regions.
 */
int vf_group_reserved(const struct vf_host *host, int number, struct vf_resv *out, size_t max);

#endif
