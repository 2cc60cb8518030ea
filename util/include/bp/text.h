/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text that somebody else chose: names of processes, mount points, attributes of
 * another host's tree. It may hold anything but NUL.
 */
#ifndef BP_TEXT_H
#define BP_TEXT_H

#include <stddef.h>

/**
 * bp_text_plain() - take out what a terminal would obey.
 * @s: text; each control character (below 0x20, or 0x7f) becomes '?'.
 * @keep: those that stay, such as line breaks of our own.
 */
void bp_text_plain(char *s, const char *keep);

/**
 * bp_text_utf8() - length of the character that a text starts with.
 * @s: text, not empty.
 *
 * Well-formed sequences are those of table 3-7 of the Unicode Standard: no overlong
 * forms, no surrogates, nothing beyond U+10FFFF.
 *
 * Return: 1 to 4 bytes, or 0 when it starts with no UTF-8 character.
 */
size_t bp_text_utf8(const char *s);

#endif
