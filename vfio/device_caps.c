// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>

#include "caps.h"

/* 2048 sparse areas of 16 bytes would fit; no driver comes near. */
#define INFO_MAX (64u << 10)

int vf_info_get(const struct vf_sys *sys, int fd, unsigned long request, const void *fixed,
		size_t size, void **out, size_t *len)
{
	size_t room = size;
	int tries;

	/* The amount may grow between two calls, but not for ever. */
	for (tries = 0; tries < 4; tries++) {
		uint32_t argsz = (uint32_t)room;
		char *buf = calloc(1, room);

		if (!buf)
			return -ENOMEM;
		memcpy(buf, fixed, size);
		memcpy(buf, &argsz, sizeof(argsz));
		if (sys->ioctl(fd, request, buf) < 0) {
			int ret = -errno;

			free(buf);
			return ret;
		}
		memcpy(&argsz, buf, sizeof(argsz));
		if (argsz <= room) {
			*out = buf;
			*len = room;
			return 0;
		}
		free(buf);
		if (argsz > INFO_MAX)
			return -EPROTO;
		room = argsz;
	}
	return -EPROTO;
}

int vf_caps_find(const void *info, size_t len, uint32_t first, size_t fixed, uint16_t id,
		 size_t min, const void **cap, size_t *room)
{
	struct vfio_info_cap_header h;
	uint32_t at = first;
	size_t steps;

	/* Each capability has a header of its own, so a longer walk is a circle. */
	for (steps = len / sizeof(h); at; steps--) {
		if (!steps || at < fixed || at > len || len - at < sizeof(h))
			return -EPROTO;
		memcpy(&h, (const char *)info + at, sizeof(h));
		if (h.id == id) {
			if (len - at < min)
				return -EPROTO;
			*cap = (const char *)info + at;
			*room = len - at;
			return 0;
		}
		at = h.next;
	}
	return -ENOENT;
}
