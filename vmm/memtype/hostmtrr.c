// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bp/procmtrr.h>
#include <mt/map.h>
#include <vf/sysfs.h>
#include "vmm/memtype/hostmtrr.h"

#define TEXT_MAX     65536u
#define RESOURCE_MEM 0x200u /* IORESOURCE_MEM, include/linux/ioport.h */
#define WIDTH	     MT_MAXPHYADDR_MAX
#define ADDRESSES    (((1ull << WIDTH) - 1) & ~0xfffull)

static bool type_of(const char *word, enum mt_type *type)
{
	static const struct {
		const char *word;
		enum mt_type type;
	} words[] = { { "uncachable", MT_UC },
		      { "write-combining", MT_WC },
		      { "write-through", MT_WT },
		      { "write-protect", MT_WP },
		      { "write-back", MT_WB } };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(words[i].word, word)) {
			*type = words[i].type;
			return true;
		}
	}
	return false;
}

/* Ranges of /proc/mtrr as registers. Return: how many, or -1 when one makes no sense. */
static int load(struct mt_mtrr *m, const char *text)
{
	unsigned int n = 0;

	mt_mtrr_init(m, WIDTH);
	m->vcnt = MT_VARIABLE_MAX;
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		struct bp_procmtrr r;
		enum mt_type type;
		char one[256];

		snprintf(one, sizeof(one), "%.*s", (int)len, line);
		line += len + (line[len] == '\n');
		if (!bp_procmtrr_line(one, &r))
			continue;
		if (n == MT_VARIABLE_MAX || !type_of(r.type, &type))
			return -1;
		m->variable[n++] = (struct mt_variable){
			.base = (r.start & ADDRESSES) | type,
			.mask = (~(r.last - r.start) & ADDRESSES) | MT_PHYSMASK_VALID,
		};
	}
	return (int)n;
}

/* Line @bar of "resource": first byte, last byte, flags. */
static bool bar_range(const struct vf_host *host, const char *bdf, unsigned int bar,
		      uint64_t *start, uint64_t *last)
{
	char *text = NULL, *line;
	uint64_t flags = 0;
	bool ok;

	if (vf_sysfs_read_all(host, TEXT_MAX, &text, "sys/bus/pci/devices/%s/resource", bdf))
		return false;
	line = text;
	while (bar-- && line) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	ok = line && sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64, start, last, &flags) == 3;
	free(text);
	return ok && flags & RESOURCE_MEM && *start && *last >= *start;
}

/* With a default type; the ranges alone decide when it does not matter which. */
static bool uniform(struct mt_mtrr *m, enum mt_type by_default, uint64_t start, uint64_t last,
		    enum mt_type *type)
{
	struct mt_map map;

	m->def_type = MT_DEF_TYPE_E | by_default;
	mt_map_build(&map, m);
	return mt_map_uniform(&map, start & ~0xfffull, last | 0xfff, type);
}

bool vmm_mt_host_mtrr(const struct vf_host *host, const char *bdf, unsigned int bar,
		      enum mt_type *type)
{
	uint64_t start, last;
	enum mt_type other;
	struct mt_mtrr m;
	char *text = NULL;
	int nr;

	if (!bar_range(host, bdf, bar, &start, &last) ||
	    vf_sysfs_read_all(host, TEXT_MAX, &text, "proc/mtrr"))
		return false;
	nr = load(&m, text);
	free(text);
	return nr > 0 && uniform(&m, MT_UC, start, last, type) &&
	       uniform(&m, MT_WB, start, last, &other) && *type == other;
}
