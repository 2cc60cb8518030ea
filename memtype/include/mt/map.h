/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * MTRRs resolved into an ordered map: address range -> type.
 *
 * The registers of one processor describe at most a few dozen stretches, with
 * one exception: a mask with holes (legal, discouraged) repeats its range over
 * and over, up to 2^40 times. Such a repetition cannot be listed in bounded
 * memory, and cutting it off would be a lie. So the map lists exactly what lies
 * outside the block of addresses within which such a mask repeats, and marks
 * the block itself as scattered: a look-up there goes on to the registers, which is
 * as exact and takes at most one step for each of them. Walks over the map
 * (mt_map_next()) work out each piece of a scattered block when it is asked for.
 *
 * No allocation: a map is a plain object of about 2.5 KiB, too large for a kernel
 * stack.
 */
#ifndef MT_MAP_H
#define MT_MAP_H

#include <mt/mtrr.h>

/*
 * Boundaries: 88 fixed ranges and the end of the last, two for each variable
 * range, 4 GiB and the end of the AMD stretch above it.
 */
#define MT_MAP_RANGES (MT_FIXED_RANGES + 1 + 2 * MT_VARIABLE_MAX + 2)

/**
 * struct mt_range - a stretch of addresses of one type.
 * @start: first byte, a multiple of 4 KiB.
 * @last: last byte, so that the end of the address space has a name.
 * @type: UC, WC, WT, WP or WB.
 * @undefined: overlap that the manuals leave undefined; @type is the most uncached
 *             of the types that take part.
 */
struct mt_range {
	uint64_t start;
	uint64_t last;
	enum mt_type type;
	bool undefined;
};

/** struct mt_map_entry - private: a stretch ends where the next one starts. */
struct mt_map_entry {
	uint64_t start;
	uint8_t type;
	uint8_t undefined;
	uint8_t scattered;
};

/**
 * struct mt_map - the whole 64-bit address space; fill it with mt_map_build().
 * @count: number of entries in use; at least 1.
 * @entries: ordered by start; the first starts at 0.
 * @regs: copy of the registers, consulted inside scattered blocks.
 */
struct mt_map {
	uint32_t count;
	struct mt_map_entry entries[MT_MAP_RANGES];
	struct mt_mtrr regs;
};

/**
 * mt_map_build() - resolve registers.
 * @map: receives the map; what it held does not matter.
 * @m: registers, copied.
 *
 * Rules and their sources as for mt_mtrr_type(). Takes a few microseconds with
 * every range in use.
 */
void mt_map_build(struct mt_map *map, const struct mt_mtrr *m);

/**
 * mt_map_type() - type of an address: a binary search.
 * @map: map.
 * @addr: any address.
 *
 * Return: what mt_mtrr_type() returns for the registers that the map was built from.
 */
struct mt_range_type mt_map_type(const struct mt_map *map, uint64_t addr);

/**
 * mt_map_next() - the range of one type around an address.
 * @map: map.
 * @addr: any address; a walk starts at 0 and goes on at @out->last + 1 until @out->last
 *        is ~0.
 * @out: receives a range that holds @addr and has one type throughout. Inside a
 *       scattered block it starts at @addr.
 *
 * Bounded work: at the edge of a scattered block, and after a fixed number of pieces
 * inside one, a range ends although its neighbour may be of the same type.
 */
void mt_map_next(const struct mt_map *map, uint64_t addr, struct mt_range *out);

/**
 * mt_map_stretch() - the same with neighbours of one type joined, for those who list a map.
 * @map: map.
 * @addr: where the range is to start.
 * @limit: last address of interest, not below @addr; the range does not go beyond.
 * @steps: how many pieces may be looked at, counted down. A mask with holes may repeat
 *         without any effect, and then joining is what never ends; 65536 serves all others.
 * @out: receives the range from @addr on.
 *
 * Return: false when @steps ran out before the range ended.
 */
bool mt_map_stretch(const struct mt_map *map, uint64_t addr, uint64_t limit, uint32_t *steps,
		    struct mt_range *out);

/**
 * mt_map_uniform() - whether one page, or any stretch, has one type throughout.
 * @map: map.
 * @start: first byte.
 * @last: last byte, not below @start.
 * @type: receives the type when there is one.
 *
 * A large page over different types is undefined (APM vol. 2 7.7.5) or to be avoided
 * (Intel SDM vol. 3 "Large Page Size Considerations"). Inside scattered blocks the
 * answer may be false for a stretch whose many pieces happen to agree.
 *
 * Return: true when every byte has *@type.
 */
bool mt_map_uniform(const struct mt_map *map, uint64_t start, uint64_t last, enum mt_type *type);

/**
 * mt_map_diff() - where two maps differ.
 * @a: map.
 * @b: map.
 * @addr: where to start looking.
 * @start: receives the first byte, at or after @addr, of a stretch in which they differ.
 * @last: receives its last byte. A walk goes on behind it, and takes no more steps
 *        than both maps have entries.
 *
 * A difference in @undefined alone does not count: the type is the same. A scattered block
 * counts as a whole, and as different unless both maps have it from equal registers.
 *
 * Return: true when there is such a stretch.
 */
bool mt_map_diff(const struct mt_map *a, const struct mt_map *b, uint64_t addr, uint64_t *start,
		 uint64_t *last);

/**
 * mt_map_equal() - whether two maps give each address the same type.
 * @a: map.
 * @b: map.
 *
 * Return: true only if they do; with scattered blocks false may be a false alarm, see
 * mt_map_diff().
 */
bool mt_map_equal(const struct mt_map *a, const struct mt_map *b);

#endif
