/* SPDX-License-Identifier: GPL-2.0-only */
/* KVM's own statistics, through the descriptors of KVM_GET_STATS_FD. */
#ifndef VMM_KVMSTATS_H
#define VMM_KVMSTATS_H

#include <stddef.h>
#include <stdint.h>

/** struct vmm_kvmstat - one value; @name as KVM spells it. */
struct vmm_kvmstat {
	char name[64];
	uint64_t value;
};

/**
 * vmm_kvmstats_open() - a descriptor to read the statistics of a VM or VCPU from.
 * @fd: VM or VCPU. A VCPU's ioctls wait while it runs the guest, so this is for the time
 *      before it does; reading does not wait.
 *
 * Return: descriptor, -ENOTTY where the kernel has none (before 5.14), or another
 * negative errno.
 */
int vmm_kvmstats_open(int fd);

/**
 * vmm_kvmstats_add() - add the single-valued statistics of a VM or VCPU to a list.
 * @stats_fd: from vmm_kvmstats_open().
 * @stats: list; to a name that is there already the value is added, or the larger kept (peaks).
 * @nr: entries in use, updated.
 * @max: room.
 *
 * Return: 0, or a negative errno.
 */
int vmm_kvmstats_add(int stats_fd, struct vmm_kvmstat *stats, size_t *nr, size_t max);

/**
 * vmm_kvmstats_parse() - the same from bytes, as Documentation/virt/kvm/api.rst 4.134 lays them out.
 * @data: what the descriptor gave, from offset 0.
 * @len: bytes.
 * @stats: list. @nr: entries in use. @max: room.
 *
 * Return: 0, or -EPROTO when an offset leads out of @data.
 */
int vmm_kvmstats_parse(const uint8_t *data, size_t len, struct vmm_kvmstat *stats, size_t *nr,
		       size_t max);

#endif
