/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What waits to be written to a descriptor that must never hold the guest up: a bounded
 * ring that loses its oldest bytes rather than wait.
 */
#ifndef VMM_TXRING_H
#define VMM_TXRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VMM_TXRING_SIZE 65536u

/**
 * struct vmm_txring - bytes on their way out.
 * @fd: descriptor, blocking or not; -1 drops everything.
 * @head: next byte to write out, as a running count.
 * @tail: next free place, as a running count.
 * @dropped: bytes lost because the reader was too slow or gone.
 * @buf: content.
 */
struct vmm_txring {
	int fd;
	size_t head;
	size_t tail;
	uint64_t dropped;
	uint8_t buf[VMM_TXRING_SIZE];
};

/** vmm_txring_put() - add one byte; a full ring loses its oldest. @ring: ring. @byte: byte. */
void vmm_txring_put(struct vmm_txring *ring, uint8_t byte);

/** vmm_txring_fill() - bytes that wait. @ring: ring. Return: 0 to VMM_TXRING_SIZE. */
size_t vmm_txring_fill(const struct vmm_txring *ring);

/**
 * vmm_txring_write() - write out as much as goes without waiting.
 * @ring: ring.
 *
 * The descriptor may be in blocking mode (a pipe that others share): it is asked with
 * poll(2) first and given at most PIPE_BUF bytes at a time, which a pipe that polls as
 * writable takes whole (pipe(7)). A terminal may take less and wait for room for the rest,
 * so its descriptor should not block. A reader that is gone (EPIPE, EIO and the like)
 * costs the bytes that wait; later ones are tried anew. SIGPIPE does not get through.
 *
 * Return: true when nothing waits any more.
 */
bool vmm_txring_write(struct vmm_txring *ring);

/**
 * vmm_txring_drain() - write out everything, waiting for a slow reader.
 * @ring: ring.
 * @patience_ms: give up after this long without progress.
 */
void vmm_txring_drain(struct vmm_txring *ring, int patience_ms);

#endif
