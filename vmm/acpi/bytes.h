/* SPDX-License-Identifier: GPL-2.0-only */
/* A growing piece of memory for firmware tables, little-endian, with a sticky error. */
#ifndef VMM_BYTES_H
#define VMM_BYTES_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct vmm_bytes - what has been written so far; all zero to start with.
 * @data: content, freed by vmm_bytes_free().
 * @len: bytes in use.
 * @room: bytes allocated.
 * @error: 0, or the first failure; later calls then do nothing.
 */
struct vmm_bytes {
	uint8_t *data;
	size_t len;
	size_t room;
	int error;
};

/**
 * vmm_bytes_insert() - make room in the middle.
 * @b: bytes.
 * @at: where, at most @b->len.
 * @len: how many.
 *
 * Return: the new bytes, zeroed, valid until the next call; NULL after a failure.
 */
uint8_t *vmm_bytes_insert(struct vmm_bytes *b, size_t at, size_t len);

/** vmm_bytes_put() - append a copy. @b: bytes. @data: source. @len: how many. */
void vmm_bytes_put(struct vmm_bytes *b, const void *data, size_t len);

/** vmm_bytes_zero() - append zeros. @b: bytes. @len: how many. */
void vmm_bytes_zero(struct vmm_bytes *b, size_t len);

/** vmm_bytes_le() - append an integer. @b: bytes. @value: value. @len: 1 to 8 bytes of it. */
void vmm_bytes_le(struct vmm_bytes *b, uint64_t value, size_t len);

/** vmm_bytes_set_le() - overwrite an integer. @b: bytes. @at: offset. @value: value. @len: 1 to 8. */
void vmm_bytes_set_le(struct vmm_bytes *b, size_t at, uint64_t value, size_t len);

/** vmm_bytes_align() - append zeros up to a multiple. @b: bytes. @to: power of two. */
void vmm_bytes_align(struct vmm_bytes *b, size_t to);

/**
 * vmm_bytes_checksum() - store the byte that makes a range add up to zero.
 * @b: bytes.
 * @at: offset of the checksum, inside the range.
 * @start: offset of the range.
 * @len: its length.
 */
void vmm_bytes_checksum(struct vmm_bytes *b, size_t at, size_t start, size_t len);

/** vmm_bytes_free() - drop the content. @b: bytes. */
void vmm_bytes_free(struct vmm_bytes *b);

#endif
