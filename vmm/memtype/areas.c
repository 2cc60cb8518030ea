// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of BARs that the guest reaches without an exit, cut where their type changes.
 *
 * A plan is made first, for all areas, without changing anything: it tells whether leaves
 * have to be made anew at all, which needs all VCPUs to stand still.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>
#include "vmm/core.h"
#include "vmm/memtype/hostmtrr.h"
#include "vmm/memtype/state.h"
#include "vmm/ram.h"

/* Pieces of a scattered map may be smaller than what becomes one cut. */
#define STEPS_MAX (4 * VMM_MT_CUTS_MAX)

static struct mt_leaf_want want(const struct vmm_mt *mt, const struct vmm_mt_area *a,
				enum mt_type mtrr)
{
	struct mt_leaf_case c = {
		.mode = mt->mode,
		.vendor = mt->vendor,
		.backing = MT_BAR,
		.coherent = mt->coherent,
		.guest_mtrr = mtrr,
		.host_mtrr = a->host_mtrr,
	};
	struct mt_leaf_want w = mt_policy_leaf(&c);

	/* WC can be had, or the mode would be another one. */
	if (!w.stock && !(mt->module.types & 1u << w.type))
		w.stock = true;
	return w;
}

/* False when there are too many cuts. */
static bool cut(const struct vmm_mt *mt, struct vmm_mt_area *a)
{
	uint64_t at = a->gpa, last = a->gpa + a->size - 1;
	unsigned int nr = 0;

	for (unsigned int step = 0; step < STEPS_MAX; step++) {
		struct vmm_mt_cut *c = nr ? &a->due[nr - 1] : NULL;
		struct mt_range r;

		mt_map_next(mt_track_map(&mt->track), at, &r);
		if (r.last > last)
			r.last = last;
		if (!c || c->mtrr != r.type || c->undefined != r.undefined) {
			if (nr == VMM_MT_CUTS_MAX)
				return false;
			c = &a->due[nr++];
			*c = (struct vmm_mt_cut){
				.gpa = at,
				.mtrr = r.type,
				.undefined = r.undefined,
				.want = want(mt, a, r.type),
				.slot = -1,
			};
		}
		c->size += r.last + 1 - at;
		a->due_nr = nr;
		if (r.last == last)
			return true;
		at = r.last + 1;
	}
	return false;
}

static unsigned int ranges_of(const struct vmm_mt_cut *c, unsigned int nr)
{
	unsigned int ranges = 0;

	while (nr--)
		ranges += !c[nr].want.stock;
	return ranges;
}

/* In one piece and as KVM makes it. */
static void plan_whole(const struct vmm_mt *mt, struct vmm_mt_area *a)
{
	a->due_limited = true;
	a->due_nr = 1;
	a->due[0] = (struct vmm_mt_cut){
		.gpa = a->gpa,
		.size = a->size,
		.mtrr = MT_UC,
		.want = want(mt, a, MT_UC),
		.slot = -1,
	};
}

/* @room: ranges that the module still takes. Return: how many are used. */
static unsigned int plan_area(const struct vmm_mt *mt, struct vmm_mt_area *a, unsigned int room)
{
	a->due_limited = !cut(mt, a) || ranges_of(a->due, a->due_nr) > room;
	if (!a->due_limited)
		return ranges_of(a->due, a->due_nr);
	plan_whole(mt, a);
	if (!room)
		a->due[0].want.stock = true;
	return ranges_of(a->due, 1);
}

static bool due_split(const struct vmm_mt *mt)
{
	return mt->mode == MT_MODE_MODULE;
}

/* Whether the leaves that are there serve the cuts that are due. */
static bool leaves_serve(const struct vmm_mt *mt, const struct vmm_mt_area *a)
{
	if (a->split != due_split(mt))
		return false;
	if (!a->split)
		return true;
	if (a->nr != a->due_nr)
		return false;
	for (unsigned int i = 0; i < a->nr; i++) {
		const struct vmm_mt_cut *x = &a->cut[i], *y = &a->due[i];

		if (x->gpa != y->gpa || x->size != y->size || x->want.type != y->want.type ||
		    x->want.ipat != y->want.ipat || x->want.stock != y->want.stock)
			return false;
	}
	return true;
}

bool vmm_mt_areas_plan(struct vmm_mt *mt)
{
	unsigned int room = mt->module.ranges_max;
	bool stale = false;

	for (unsigned int i = 0; i < mt->nr_areas; i++) {
		struct vmm_mt_area *a = &mt->area[i];

		if (!a->used)
			continue;
		room -= plan_area(mt, a, room);
		stale |= !leaves_serve(mt, a);
	}
	return stale;
}

/* The due cuts become those that are; their slots are set by the caller. */
static void take_over(struct vmm_mt *mt, struct vmm_mt_area *a)
{
	struct vmm_mt_cut *was = a->cut;

	if (a->due_limited && due_split(mt) && !mt->limit_told) {
		mt->limit_told = true;
		bp_log_warn("%s BAR %u: the guest's MTRRs cut it into too many pieces; it stays as "
			    "KVM makes it",
			    a->place.device, a->place.bar);
	}
	a->cut = a->due;
	a->nr = a->due_nr;
	a->limited = a->due_limited;
	a->split = due_split(mt);
	a->due = was;
	a->due_nr = 0;
}

/* The same, with the slots that the leaves of those before are in. */
static void renew(struct vmm_mt *mt, struct vmm_mt_area *a)
{
	for (unsigned int n = 0; n < a->due_nr; n++)
		a->due[n].slot = a->cut[a->split ? n : 0].slot;
	take_over(mt, a);
}

void vmm_mt_areas_adopt(struct vmm_mt *mt)
{
	for (unsigned int i = 0; i < mt->nr_areas; i++) {
		struct vmm_mt_area *a = &mt->area[i];

		if (!a->used)
			continue;
		renew(mt, a);
	}
}

static void drop_slots(struct vmm_mt *mt, struct vmm_mt_area *a)
{
	for (unsigned int n = 0; n < a->nr; n++) {
		if (a->cut[n].slot >= 0 && (!n || a->cut[n].slot != a->cut[n - 1].slot))
			vmm_slot_remove(mt->vmm->ram, a->cut[n].slot);
	}
	for (unsigned int n = 0; n < a->nr; n++)
		a->cut[n].slot = -1;
}

static int make_slots(struct vmm_mt *mt, struct vmm_mt_area *a)
{
	int slot = -1;

	for (unsigned int n = 0; n < a->nr; n++) {
		struct vmm_mt_cut *c = &a->cut[n];

		if (!n || a->split)
			slot = vmm_slot_add(mt->vmm->ram, c->gpa, a->split ? c->size : a->size,
					    (char *)a->hva + (c->gpa - a->gpa));
		if (slot < 0) {
			drop_slots(mt, a);
			return slot;
		}
		c->slot = slot;
	}
	return 0;
}

/* Slots for the cuts; for the area as a whole where that many cannot be had. */
static int make_slots_somehow(struct vmm_mt *mt, struct vmm_mt_area *a)
{
	int ret = make_slots(mt, a);

	if (!ret || a->nr == 1 || !a->split)
		return ret;
	plan_whole(mt, a);
	take_over(mt, a);
	/* Whether or not the module lets go of the ranges: this area asks for none. */
	vmm_mt_module_sync(mt);
	return make_slots(mt, a);
}

/* Areas whose leaves do not serve lose them; the due cuts become those that are. */
static void shed(struct vmm_mt *mt, bool all)
{
	for (unsigned int i = 0; i < mt->nr_areas; i++) {
		struct vmm_mt_area *a = &mt->area[i];

		if (!a->used)
			continue;
		if (all || a->bare || !leaves_serve(mt, a)) {
			drop_slots(mt, a);
			a->bare = true;
		}
		renew(mt, a);
	}
}

int vmm_mt_areas_remake(struct vmm_mt *mt, bool all)
{
	int ret = 0;

	mt->counts.remakes++;
	vmm_mt_areas_plan(mt);
	shed(mt, all);
	/* Before the slots: no leaf is made that the module does not know of. */
	if (vmm_mt_module_sync(mt)) {
		vmm_mt_areas_plan(mt);
		shed(mt, false);
	}
	for (unsigned int i = 0; i < mt->nr_areas; i++) {
		struct vmm_mt_area *a = &mt->area[i];
		int err;

		if (!a->used || !a->bare)
			continue;
		a->bare = false;
		err = make_slots_somehow(mt, a);
		mt->counts.cuts += a->nr;
		if (err)
			ret = err;
	}
	return ret;
}

/* An entry that is free, with room for cuts. Return: its number, or -ENOMEM. */
static int new_area(struct vmm_mt *mt)
{
	unsigned int n;
	struct vmm_mt_area *a;

	for (n = 0; n < mt->nr_areas && mt->area[n].used; n++)
		;
	if (n == mt->nr_areas) {
		a = reallocarray(mt->area, n + 1, sizeof(*a));
		if (!a)
			return -ENOMEM;
		mt->area = a;
		memset(&a[n], 0, sizeof(*a));
		mt->nr_areas++;
	}
	a = &mt->area[n];
	if (!a->cut)
		a->cut = calloc(VMM_MT_CUTS_MAX, sizeof(*a->cut));
	if (!a->due)
		a->due = calloc(VMM_MT_CUTS_MAX, sizeof(*a->due));
	return a->cut && a->due && !vmm_mt_module_room(mt) ? (int)n : -ENOMEM;
}

/* Ranges that the module takes beside those that are needed now. */
static unsigned int room_now(const struct vmm_mt *mt)
{
	unsigned int used = 0;

	for (unsigned int i = 0; i < mt->nr_areas; i++)
		if (mt->area[i].used)
			used += ranges_of(mt->area[i].cut, mt->area[i].nr);
	return used < mt->module.ranges_max ? mt->module.ranges_max - used : 0;
}

/* What follows for the other areas and for the CPUs. */
static void areas_changed(struct vmm_mt *mt)
{
	if (vmm_mt_areas_plan(mt) || vmm_mt_pat_stale(mt))
		vmm_mt_request(mt);
}

int vmm_mt_area_add(struct vmm_mt *mt, const struct vmm_mt_place *place, uint64_t gpa,
		    uint64_t size, void *hva)
{
	struct vmm_mt_area *a;
	unsigned int room;
	int n, ret;

	if (!size || (gpa | size | (uintptr_t)hva) & 4095 || gpa + size < gpa)
		return -EINVAL;
	n = new_area(mt);
	if (n < 0)
		return n;
	room = room_now(mt);
	a = &mt->area[n];
	a->used = true;
	a->place = *place;
	a->gpa = gpa;
	a->size = size;
	a->hva = hva;
	a->nr = 0;
	a->limited = false;
	if (!vmm_mt_host_mtrr(&mt->host, place->device, place->bar, &a->host_mtrr))
		a->host_mtrr = MT_UC;
	plan_area(mt, a, room);
	take_over(mt, a);
	if (vmm_mt_module_sync(mt)) {
		plan_area(mt, a, 0);
		take_over(mt, a);
	}
	ret = make_slots_somehow(mt, a);
	if (ret) {
		vmm_mt_area_remove(mt, n);
		return ret;
	}
	mt->bar_seen = true;
	areas_changed(mt);
	return n;
}

void vmm_mt_area_remove(struct vmm_mt *mt, int area)
{
	struct vmm_mt_area *a;

	if (area < 0 || (unsigned int)area >= mt->nr_areas || !mt->area[area].used)
		return;
	a = &mt->area[area];
	drop_slots(mt, a);
	a->used = false;
	a->nr = 0;
	vmm_mt_module_sync(mt);
	areas_changed(mt);
}
