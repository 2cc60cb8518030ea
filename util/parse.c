// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include <bp/cli.h>

/* strtoull() takes signs, blanks and empty strings; a user's number is none of these. */
static int digits(const char *text, char **end, uint64_t *out)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;

	if (!isdigit((unsigned char)text[0]) ||
	    (base == 16 && !isxdigit((unsigned char)text[2])))
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, end, base);
	return errno ? -errno : 0;
}

int bp_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;
	uint64_t v;
	int ret = digits(text, &end, &v);

	if (ret)
		return ret;
	if (*end)
		return -EINVAL;
	if (v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

int bp_parse_size(const char *text, uint64_t *out)
{
	static const char suffixes[] = "KMGT";
	unsigned int shift = 0;
	char *end;
	uint64_t v;
	int ret = digits(text, &end, &v);

	if (ret)
		return ret;
	if (*end) {
		int c = toupper((unsigned char)*end);

		for (unsigned int i = 0; suffixes[i]; i++)
			if (suffixes[i] == c)
				shift = 10 * (i + 1);
		if (!shift || end[1])
			return -EINVAL;
	}
	if (shift && v >> (64 - shift))
		return -ERANGE;
	*out = v << shift;
	return 0;
}
