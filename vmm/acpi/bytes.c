// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vmm/acpi/bytes.h"

/* No firmware table is anywhere near; keeps the arithmetic below free of overflow. */
#define BYTES_MAX (1u << 24)

uint8_t *vmm_bytes_insert(struct vmm_bytes *b, size_t at, size_t len)
{
	size_t room = b->room ? b->room : 256;
	uint8_t *data;

	if (b->error)
		return NULL;
	if (len > BYTES_MAX - b->len || at > b->len) {
		b->error = -EINVAL;
		return NULL;
	}
	while (room < b->len + len)
		room *= 2;
	if (room != b->room) {
		data = realloc(b->data, room);
		if (!data) {
			b->error = -ENOMEM;
			return NULL;
		}
		b->data = data;
		b->room = room;
	}
	memmove(b->data + at + len, b->data + at, b->len - at);
	memset(b->data + at, 0, len);
	b->len += len;
	return b->data + at;
}

void vmm_bytes_put(struct vmm_bytes *b, const void *data, size_t len)
{
	uint8_t *to = vmm_bytes_insert(b, b->len, len);

	if (to && len)
		memcpy(to, data, len);
}

void vmm_bytes_zero(struct vmm_bytes *b, size_t len)
{
	vmm_bytes_insert(b, b->len, len);
}

void vmm_bytes_set_le(struct vmm_bytes *b, size_t at, uint64_t value, size_t len)
{
	size_t i;

	if (b->error)
		return;
	if (len > sizeof(value) || at > b->len || len > b->len - at) {
		b->error = -EINVAL;
		return;
	}
	for (i = 0; i < len; i++)
		b->data[at + i] = value >> (8 * i);
}

void vmm_bytes_le(struct vmm_bytes *b, uint64_t value, size_t len)
{
	size_t at = b->len;

	if (vmm_bytes_insert(b, at, len))
		vmm_bytes_set_le(b, at, value, len);
}

void vmm_bytes_align(struct vmm_bytes *b, size_t to)
{
	vmm_bytes_zero(b, -b->len & (to - 1));
}

void vmm_bytes_checksum(struct vmm_bytes *b, size_t at, size_t start, size_t len)
{
	uint8_t sum = 0;
	size_t i;

	vmm_bytes_set_le(b, at, 0, 1);
	if (b->error)
		return;
	if (start > b->len || len > b->len - start) {
		b->error = -EINVAL;
		return;
	}
	for (i = 0; i < len; i++)
		sum += b->data[start + i];
	b->data[at] = -sum;
}

void vmm_bytes_free(struct vmm_bytes *b)
{
	free(b->data);
	*b = (struct vmm_bytes){ 0 };
}
