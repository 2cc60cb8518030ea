/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Sets of I/O addresses: sorted, disjoint ranges with both ends included, so
 * that the last byte of a 64-bit space can be named.
 */
#ifndef VF_IOVA_H
#define VF_IOVA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vf/iommu.h>

/** struct vf_iova_list - @nr ranges in @r, with room for @max. All zero is the empty set. */
struct vf_iova_list {
	struct vf_iova_range *r;
	size_t nr;
	size_t max;
};

/** vf_iova_free() - empty a set. @list: the set. */
void vf_iova_free(struct vf_iova_list *list);

/**
 * vf_iova_add() - unite with a range; touching ranges become one.
 * @list: the set.
 * @start: first address.
 * @last: last address, not below @start.
 *
 * Return: 0, -EINVAL, or -ENOMEM with the set unchanged.
 */
int vf_iova_add(struct vf_iova_list *list, uint64_t start, uint64_t last);

/** vf_iova_cut() - take a range out; parameters and result as vf_iova_add(). */
int vf_iova_cut(struct vf_iova_list *list, uint64_t start, uint64_t last);

/**
 * vf_iova_holds() - whether every address of a range is in the set.
 * @list: the set. @start: first address. @last: last address.
 * Return: true if so.
 */
bool vf_iova_holds(const struct vf_iova_list *list, uint64_t start, uint64_t last);

#endif
