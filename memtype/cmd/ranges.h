/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/* A map shown range by range. */
#ifndef MEMTYPE_RANGES_H
#define MEMTYPE_RANGES_H

#include <bp/print.h>
#include <mt/map.h>

/* Masks with holes can describe 2^40 ranges; nobody reads them. */
#define MT_RANGES_SHOWN 512

/**
 * mt_print_ranges() - "ranges" and "truncated" of a JSON object, or lines of text.
 * @p: printer, inside an object.
 * @map: map.
 *
 * Ends with the machine's address width. Neighbours of one type are joined.
 *
 * Return: number of ranges shown whose type the manuals leave undefined.
 */
unsigned int mt_print_ranges(struct bp_print *p, const struct mt_map *map);

/** mt_print_pat() - "pat" of a JSON object, or a line. @p: printer. @pat: IA32_PAT. */
void mt_print_pat(struct bp_print *p, uint64_t pat);

#endif
