// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <string.h>

#include <bp/text.h>

void bp_text_plain(char *s, const char *keep)
{
	for (; *s; s++)
		if (((unsigned char)*s < 0x20 || *s == 0x7f) && !strchr(keep, *s))
			*s = '?';
}

static bool between(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

size_t bp_text_utf8(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned char low = 0x80, high = 0xbf;
	size_t len;

	if (u[0] < 0x80)
		return 1;
	if (between(u[0], 0xc2, 0xdf))
		len = 2;
	else if (between(u[0], 0xe0, 0xef))
		len = 3;
	else if (between(u[0], 0xf0, 0xf4))
		len = 4;
	else
		return 0;
	/* The second byte is what tells overlong forms, surrogates and too large numbers. */
	if (u[0] == 0xe0)
		low = 0xa0;
	else if (u[0] == 0xed)
		high = 0x9f;
	else if (u[0] == 0xf0)
		low = 0x90;
	else if (u[0] == 0xf4)
		high = 0x8f;
	if (!between(u[1], low, high))
		return 0;
	for (size_t i = 2; i < len; i++)
		if (!between(u[i], 0x80, 0xbf))
			return 0;
	return len;
}
