// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iova.h"

void vf_iova_free(struct vf_iova_list *list)
{
	free(list->r);
	*list = (struct vf_iova_list){ 0 };
}

static int reserve(struct vf_iova_list *list, size_t nr)
{
	struct vf_iova_range *r;
	size_t max = list->max ? list->max : 8;

	while (max < nr)
		max *= 2;
	if (max == list->max)
		return 0;
	r = reallocarray(list->r, max, sizeof(*r));
	if (!r)
		return -ENOMEM;
	list->r = r;
	list->max = max;
	return 0;
}

/* Put @nr ranges of @with in the place of ranges @from to @to - 1. */
static int splice(struct vf_iova_list *list, size_t from, size_t to,
		  const struct vf_iova_range *with, size_t nr)
{
	int ret = reserve(list, list->nr + nr);

	if (ret)
		return ret;
	memmove(list->r + from + nr, list->r + to, (list->nr - to) * sizeof(*list->r));
	memcpy(list->r + from, with, nr * sizeof(*with));
	list->nr = list->nr - (to - from) + nr;
	return 0;
}

int vf_iova_add(struct vf_iova_list *list, uint64_t start, uint64_t last)
{
	struct vf_iova_range u = { start, last };
	size_t from = 0, to;

	if (last < start)
		return -EINVAL;
	/* "ends before start - 1", written so that it cannot wrap */
	while (from < list->nr && list->r[from].last < start && start - list->r[from].last > 1)
		from++;
	for (to = from; to < list->nr; to++) {
		if (list->r[to].start > last && list->r[to].start - last > 1)
			break;
		if (list->r[to].start < u.start)
			u.start = list->r[to].start;
		if (list->r[to].last > u.last)
			u.last = list->r[to].last;
	}
	return splice(list, from, to, &u, 1);
}

int vf_iova_cut(struct vf_iova_list *list, uint64_t start, uint64_t last)
{
	struct vf_iova_range rest[2];
	size_t from = 0, to, nr = 0;

	if (last < start)
		return -EINVAL;
	while (from < list->nr && list->r[from].last < start)
		from++;
	for (to = from; to < list->nr && list->r[to].start <= last; to++) {
		if (list->r[to].start < start)
			rest[nr++] = (struct vf_iova_range){ list->r[to].start, start - 1 };
		if (list->r[to].last > last)
			rest[nr++] = (struct vf_iova_range){ last + 1, list->r[to].last };
	}
	return splice(list, from, to, rest, nr);
}

bool vf_iova_holds(const struct vf_iova_list *list, uint64_t start, uint64_t last)
{
	size_t lo = 0, hi = list->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (list->r[mid].last < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return last >= start && lo < list->nr && list->r[lo].start <= start &&
	       last <= list->r[lo].last;
}
