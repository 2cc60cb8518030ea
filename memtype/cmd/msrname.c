// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <bp/cli.h>
#include <mt/words.h>

#include "msrname.h"

const char *mt_msr_text(uint32_t msr, char *buf, size_t size)
{
	const char *name = mt_msr_name(msr, buf, size);

	if (name)
		return name;
	snprintf(buf, size, "%#" PRIx32, msr);
	return buf;
}

int mt_msr_parse(const char *text, size_t len, uint32_t *msr)
{
	uint64_t n;
	char name[24];

	if (len >= sizeof(name))
		return -EINVAL;
	memcpy(name, text, len);
	name[len] = '\0';
	if (!mt_msr_find(name, msr))
		return 0;
	if (bp_parse_u64(name, 0, UINT32_MAX, &n))
		return -EINVAL;
	*msr = (uint32_t)n;
	return 0;
}
