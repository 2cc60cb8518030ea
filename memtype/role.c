// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <mt/role.h>

struct mt_role mt_role_of(const struct mt_mtrr *m, bool cd, uint32_t generation)
{
	struct mt_role r = { 0, 0 };

	if (cd) {
		r.flags = MT_ROLE_CD;
	} else if (m->def_type & MT_DEF_TYPE_E) {
		r.flags = MT_ROLE_E | (m->def_type & MT_DEF_TYPE_FE ? MT_ROLE_FE : 0);
		r.generation = generation;
	}
	return r;
}

bool mt_role_equal(struct mt_role a, struct mt_role b)
{
	return a.flags == b.flags && a.generation == b.generation;
}

bool mt_role_settled(struct mt_role r)
{
	return !(r.flags & MT_ROLE_CD) && r.flags & MT_ROLE_E;
}

void mt_track_init(struct mt_track *t, const struct mt_mtrr *m, bool cd)
{
	t->generation = 1;
	t->live = 0;
	t->updates = 0;
	t->changes = 0;
	mt_map_build(&t->maps[0], m);
	t->role = mt_role_of(m, cd, t->generation);
}

bool mt_track_update(struct mt_track *t, const struct mt_mtrr *m, bool cd)
{
	struct mt_role now = mt_role_of(m, cd, t->generation);

	t->updates++;
	if (mt_role_settled(now)) {
		struct mt_map *spare = &t->maps[!t->live];

		mt_map_build(spare, m);
		if (!mt_map_equal(&t->maps[t->live], spare)) {
			t->live = !t->live;
			t->generation++;
			now.generation = t->generation;
		}
	}
	if (mt_role_equal(t->role, now))
		return false;
	t->role = now;
	t->changes++;
	return true;
}

const struct mt_map *mt_track_map(const struct mt_track *t)
{
	return &t->maps[t->live];
}

struct mt_range_type mt_track_type(const struct mt_track *t, uint64_t addr)
{
	if (!mt_role_settled(t->role))
		return (struct mt_range_type){ MT_UC, false };
	return mt_map_type(mt_track_map(t), addr);
}
