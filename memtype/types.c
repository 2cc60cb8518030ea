// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include <mt/types.h>

static const char *const names[] = {
	[MT_UC] = "UC", [MT_WC] = "WC",	       [MT_WT] = "WT", [MT_WP] = "WP",
	[MT_WB] = "WB", [MT_UC_MINUS] = "UC-", [MT_CD] = "CD", [MT_WC_PLUS] = "WC+",
};

#define NAMES (sizeof(names) / sizeof(*names))

const char *mt_type_name(enum mt_type type)
{
	return (unsigned int)type < NAMES && names[type] ? names[type] : "?";
}

/* strcmp() would be the one thing asked of a C library. */
static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

int mt_type_parse(const char *name, enum mt_type *out)
{
	for (unsigned int t = 0; t <= MT_UC_MINUS; t++) {
		if (names[t] && same(names[t], name)) {
			*out = (enum mt_type)t;
			return 0;
		}
	}
	return -EINVAL;
}

bool mt_type_in_mtrr(unsigned int encoding)
{
	return encoding == MT_UC || encoding == MT_WC || encoding == MT_WT || encoding == MT_WP ||
	       encoding == MT_WB;
}

bool mt_type_in_pat(unsigned int encoding)
{
	return mt_type_in_mtrr(encoding) || encoding == MT_UC_MINUS;
}
