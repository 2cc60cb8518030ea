// SPDX-License-Identifier: GPL-2.0-only
/* Parameters: from the kernel command line or from argv. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

int guest_add(struct guest *g, const char *key, const char *value)
{
	size_t i;
	char *k, *v;

	for (i = 0; i < g->count && strcmp(g->keys[i], key); i++)
		;
	if (i == sizeof(g->keys) / sizeof(g->keys[0]))
		return -E2BIG;
	k = strdup(key);
	v = strdup(value);
	if (!k || !v) {
		free(k);
		free(v);
		return -ENOMEM;
	}
	if (i < g->count) {
		free(g->keys[i]);
		free(g->values[i]);
	} else {
		g->count++;
	}
	g->keys[i] = k;
	g->values[i] = v;
	return 0;
}

const char *guest_str(const struct guest *g, const char *key, const char *other)
{
	for (size_t i = 0; i < g->count; i++)
		if (!strcmp(g->keys[i], key))
			return g->values[i];
	return other;
}

int guest_u64(const struct guest *g, const char *key, uint64_t other, uint64_t *value)
{
	const char *text = guest_str(g, key, NULL);
	unsigned int shift = 0;
	char *end;

	*value = other;
	if (!text)
		return 0;
	errno = 0;
	*value = strtoull(text, &end, 0);
	switch (*end) {
	case 'K': shift = 10; break;
	case 'M': shift = 20; break;
	case 'G': shift = 30; break;
	}
	if (shift)
		end++;
	if (errno || end == text || *end || *text == '-' || (*value << shift) >> shift != *value) {
		report_error(g, "%s=%s is not a number", key, text);
		return -EINVAL;
	}
	*value <<= shift;
	return 0;
}

int guest_parse_cmdline(struct guest *g, char *line)
{
	char *save = NULL;

	for (char *w = strtok_r(line, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
		char *eq = strchr(w, '=');
		int err;

		if (strncmp(w, "bp.", 3) || !eq)
			continue;
		*eq = 0;
		err = guest_add(g, w + 3, eq + 1);
		if (err)
			return err;
	}
	return 0;
}
