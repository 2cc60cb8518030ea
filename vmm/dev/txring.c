// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "vmm/dev/txring.h"

#define MASK (VMM_TXRING_SIZE - 1)

size_t vmm_txring_fill(const struct vmm_txring *ring)
{
	return ring->tail - ring->head;
}

void vmm_txring_put(struct vmm_txring *ring, uint8_t byte)
{
	if (ring->fd < 0)
		return;
	if (vmm_txring_fill(ring) == VMM_TXRING_SIZE) {
		ring->head++;
		ring->dropped++;
	}
	ring->buf[ring->tail++ & MASK] = byte;
}

/*
 * write(2) without the signal that comes with EPIPE. A library does not change the
 * process's handlers, so the signal is blocked and collected in this thread only.
 */
static ssize_t write_quietly(int fd, const void *buf, size_t len)
{
	static const struct timespec at_once;
	sigset_t pipe, old, pending;
	ssize_t n;
	int err;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &old);
	n = write(fd, buf, len);
	err = errno;
	/* One that was pending before is not ours to take. */
	if (n < 0 && err == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = err;
	return n;
}

static bool writable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int n;

	do
		n = poll(&p, 1, timeout_ms);
	while (n < 0 && errno == EINTR && timeout_ms == 0);
	/* An error condition counts: write(2) then says which. */
	return n > 0 && p.revents;
}

bool vmm_txring_write(struct vmm_txring *ring)
{
	while (vmm_txring_fill(ring)) {
		size_t at = ring->head & MASK;
		size_t len = vmm_txring_fill(ring);
		ssize_t n;

		if (len > VMM_TXRING_SIZE - at)
			len = VMM_TXRING_SIZE - at;
		if (len > PIPE_BUF)
			len = PIPE_BUF;
		if (!writable(ring->fd, 0))
			return false;
		n = write_quietly(ring->fd, ring->buf + at, len);
		if (n >= 0) {
			ring->head += n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN)
			return false;
		ring->dropped += vmm_txring_fill(ring);
		ring->head = ring->tail;
	}
	return true;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void vmm_txring_drain(struct vmm_txring *ring, int patience_ms)
{
	int64_t deadline = now_ms() + patience_ms;
	size_t head = ring->head;

	while (!vmm_txring_write(ring)) {
		int64_t now = now_ms();

		if (ring->head != head) {
			head = ring->head;
			deadline = now + patience_ms;
		}
		if (now >= deadline)
			return;
		writable(ring->fd, deadline - now);
	}
}
