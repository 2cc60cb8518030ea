// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <stdio.h>

#include "cmd.h"

static const struct {
	uint32_t note;
	const char *text;
} notes_text[] = {
	{ MT_NOTE_NO_SNOOP, "UC comes from the MTRR, or the EPT leaf: caches are not snooped" },
	{ MT_NOTE_SNOOP, "UC comes from the page table: caches are snooped" },
	{ MT_NOTE_ONCE_UNDEF, "undefined in older manuals, but all processors do this" },
	{ MT_NOTE_IMPL, "implementation-dependent while the PAT is at its reset value" },
	{ MT_NOTE_CD, "CD: uncached, copies found in caches are written back first" },
	{ MT_NOTE_WC_PLUS, "WC+: write-combined, caches are probed" },
	{ MT_NOTE_IPAT, "IPAT: the guest's PAT is ignored" },
	{ MT_NOTE_CACHE_OFF, "CR0.CD is set: nothing else counts" },
};

const char *mt_note_text(uint32_t notes, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(notes_text) / sizeof(*notes_text); i++) {
		int n;

		if (!(notes & notes_text[i].note) || used >= size)
			continue;
		n = snprintf(buf + used, size - used, "%s%s", used ? "; " : "", notes_text[i].text);
		used += n > 0 ? (size_t)n : 0;
	}
	return used ? buf : NULL;
}
