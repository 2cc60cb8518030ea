/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * When nested leaves must be made anew: only when something changed that they
 * depend on. That is one small value, the role, in the manner of KVM's
 * kvm_mmu_role; a guest that rewrites its MTRRs on every processor, each time
 * with what they held before, then costs nothing.
 */
#ifndef MT_ROLE_H
#define MT_ROLE_H

#include <mt/map.h>

#define MT_ROLE_CD (1u << 0) /* CR0.CD is set */
#define MT_ROLE_E  (1u << 1) /* MTRRs are enabled */
#define MT_ROLE_FE (1u << 2) /* fixed ranges are enabled */

/**
 * struct mt_role - what the type bits of nested leaves depend on.
 * @flags: MT_ROLE_ bits.
 * @generation: counts the different maps that were live.
 *
 * Normal form: with CD set or E clear nothing else matters and is zero.
 */
struct mt_role {
	uint32_t flags;
	uint32_t generation;
};

/**
 * mt_role_of() - role of one state.
 * @m: registers.
 * @cd: CR0.CD.
 * @generation: number of the map built from @m.
 *
 * Return: the role in its normal form.
 */
struct mt_role mt_role_of(const struct mt_mtrr *m, bool cd, uint32_t generation);

/** mt_role_equal() - whether leaves made for @a serve @b. @a: role. @b: role. Return: so. */
bool mt_role_equal(struct mt_role a, struct mt_role b);

/**
 * mt_role_settled() - whether the guest has finished changing its types.
 * @r: role.
 *
 * To change an MTRR the manuals ask for CR0.CD=1, then E=0, then the writes, and back
 * (Intel SDM vol. 3 "MTRR Considerations in MP Systems"; APM vol. 2 7.7.5). Leaves that
 * are re-made only for settled roles are made once for such a sequence, not four times.
 *
 * Return: true when CD is clear and E is set.
 */
bool mt_role_settled(struct mt_role r);

/**
 * struct mt_track - the role over time; one for each machine, about 5 KiB.
 * @role: current role.
 * @generation: number of the live map.
 * @live: which of @maps that is.
 * @maps: the last settled map and a spare.
 * @updates: calls of mt_track_update().
 * @changes: how many of them changed the role.
 */
struct mt_track {
	struct mt_role role;
	uint32_t generation;
	uint32_t live;
	struct mt_map maps[2];
	uint64_t updates;
	uint64_t changes;
};

/**
 * mt_track_init() - start with a state.
 * @t: tracker.
 * @m: registers.
 * @cd: CR0.CD.
 */
void mt_track_init(struct mt_track *t, const struct mt_mtrr *m, bool cd);

/**
 * mt_track_update() - tell the tracker what a guest has written.
 * @t: tracker.
 * @m: registers after the write.
 * @cd: CR0.CD.
 *
 * The generation moves only when the new map differs from the last settled one, so that a
 * role returns to its former value when the guest puts back what was there.
 *
 * Return: true when the role changed.
 */
bool mt_track_update(struct mt_track *t, const struct mt_mtrr *m, bool cd);

/**
 * mt_track_map() - the last settled map.
 * @t: tracker.
 *
 * Return: the map; it stays valid until the next mt_track_update(). It is the live one
 * only while mt_role_settled() says so of the role; otherwise everything is UC.
 */
const struct mt_map *mt_track_map(const struct mt_track *t);

/**
 * mt_track_type() - type of an address under the current role.
 * @t: tracker.
 * @addr: guest-physical address.
 *
 * Return: the type; UC while CD is set or E is clear.
 */
struct mt_range_type mt_track_type(const struct mt_track *t, uint64_t addr);

#endif
