// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <bp/procmtrr.h>

bool bp_procmtrr_line(const char *line, struct bp_procmtrr *out)
{
	const char *size = strstr(line, "size="), *colon = strrchr(line, ':');
	uint64_t base, count;
	char unit;

	if (sscanf(line, "reg%*u: base=%" SCNx64, &base) != 1 || !size || !colon ||
	    sscanf(size, "size= %" SCNu64 "%c", &count, &unit) != 2 ||
	    sscanf(colon, ": %15s", out->type) != 1)
		return false;
	if (!count || count > UINT64_MAX >> 30)
		return false;
	count <<= unit == 'K' ? 10 : 20;
	out->start = base;
	out->last = base + count - 1;
	return out->last >= base;
}
