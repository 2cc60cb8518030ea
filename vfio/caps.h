/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Answers of VFIO that carry a chain of capabilities behind a fixed part
 * (struct vfio_info_cap_header in linux/vfio.h). The kernel's numbers are
 * checked all the same: a bad offset must not make us read past the answer.
 */
#ifndef VF_CAPS_H
#define VF_CAPS_H

#include <stddef.h>
#include <stdint.h>

#include <vf/sys.h>

/**
 * vf_info_get() - make a call that answers with argsz, flags and perhaps a chain.
 * @sys: calls.
 * @fd: descriptor.
 * @request: call; its structure starts with a 32-bit argsz.
 * @fixed: what to send: the structure, argsz filled in by this function.
 * @size: bytes of the fixed structure.
 * @out: receives the whole answer, to be given to free().
 * @len: receives its length, at least @size.
 *
 * Asks again with more room when the kernel says in argsz that it has more.
 *
 * Return: 0, -EPROTO when the kernel keeps asking for more or for an absurd
 * amount, -ENOMEM, or the call's negative errno.
 */
int vf_info_get(const struct vf_sys *sys, int fd, unsigned long request, const void *fixed,
		size_t size, void **out, size_t *len);

/**
 * vf_caps_find() - one capability of a chain.
 * @info: answer.
 * @len: its length.
 * @first: offset of the first capability, 0 for an empty chain.
 * @fixed: length of the fixed part, which no capability may overlap.
 * @id: wanted.
 * @min: bytes that such a capability has at least.
 * @cap: receives its address.
 * @room: receives the bytes from there to the end of the answer.
 *
 * Return: 0, -ENOENT when it is not there, -EPROTO when the chain leaves the
 * answer or runs in circles.
 */
int vf_caps_find(const void *info, size_t len, uint32_t first, size_t fixed, uint16_t id,
		 size_t min, const void **cap, size_t *room);

#endif
