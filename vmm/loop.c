// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "vmm/loop.h"

/*
 * Between epoll_wait() and taking the lock another thread may have dropped the
 * watch, so epoll carries a number that is never used twice, not a pointer.
 */
struct watch {
	struct watch *next;
	uint64_t id;
	int fd;
	void (*fn)(void *priv, int fd);
	void *priv;
};

struct vmm_loop {
	pthread_mutex_t *lock;
	int epoll_fd;
	int stop_fd;
	uint64_t last_id;
	struct watch *watches;
};

#define STOP_ID 0

int vmm_loop_new(pthread_mutex_t *lock, struct vmm_loop **out)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = STOP_ID };
	struct vmm_loop *loop = calloc(1, sizeof(*loop));
	int ret;

	if (!loop)
		return -ENOMEM;
	loop->lock = lock;
	loop->stop_fd = -1;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		goto fail;
	loop->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop->stop_fd < 0)
		goto fail;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->stop_fd, &ev))
		goto fail;
	*out = loop;
	return 0;
fail:
	ret = -errno;
	vmm_loop_free(loop);
	return ret;
}

void vmm_loop_free(struct vmm_loop *loop)
{
	struct watch *w, *next;

	if (!loop)
		return;
	for (w = loop->watches; w; w = next) {
		next = w->next;
		free(w);
	}
	if (loop->stop_fd >= 0)
		close(loop->stop_fd);
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	free(loop);
}

int vmm_loop_watch(struct vmm_loop *loop, int fd, void (*fn)(void *priv, int fd), void *priv)
{
	struct watch *w = calloc(1, sizeof(*w));
	struct epoll_event ev = { .events = EPOLLIN };

	if (!w)
		return -ENOMEM;
	*w = (struct watch){ loop->watches, ++loop->last_id, fd, fn, priv };
	ev.data.u64 = w->id;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &ev)) {
		int ret = -errno;

		free(w);
		return ret;
	}
	loop->watches = w;
	return 0;
}

void vmm_loop_unwatch(struct vmm_loop *loop, int fd)
{
	for (struct watch **p = &loop->watches; *p; p = &(*p)->next) {
		struct watch *w = *p;

		if (w->fd != fd)
			continue;
		epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		*p = w->next;
		free(w);
		return;
	}
}

int vmm_loop_run(struct vmm_loop *loop)
{
	struct epoll_event ev;

	for (;;) {
		/* One at a time: a handler may drop a watch whose event would be next. */
		int n = epoll_wait(loop->epoll_fd, &ev, 1, -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n <= 0)
			continue;
		if (ev.data.u64 == STOP_ID) {
			uint64_t count;

			if (read(loop->stop_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
				return -errno;
			return 0;
		}
		pthread_mutex_lock(loop->lock);
		for (struct watch *w = loop->watches; w; w = w->next) {
			if (w->id == ev.data.u64) {
				w->fn(w->priv, w->fd);
				break;
			}
		}
		pthread_mutex_unlock(loop->lock);
	}
}

void vmm_loop_stop(struct vmm_loop *loop)
{
	uint64_t one = 1;
	ssize_t n;

	/* Fails only when the counter is full, and then the loop is awake already. */
	n = write(loop->stop_fd, &one, sizeof(one));
	(void)n;
}

struct vmm_timer {
	struct vmm_loop *loop;
	int fd;
	void (*fn)(void *priv);
	void *priv;
};

static void timer_fired(void *priv, int fd)
{
	struct vmm_timer *timer = priv;
	uint64_t count;

	/* EAGAIN: it was stopped or set anew after epoll had seen it expire. */
	if (read(fd, &count, sizeof(count)) == sizeof(count))
		timer->fn(timer->priv);
}

int vmm_timer_new(struct vmm_loop *loop, void (*fn)(void *priv), void *priv, struct vmm_timer **out)
{
	struct vmm_timer *timer = calloc(1, sizeof(*timer));
	int ret;

	if (!timer)
		return -ENOMEM;
	*timer = (struct vmm_timer){ loop, -1, fn, priv };
	timer->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret = timer->fd < 0 ? -errno : vmm_loop_watch(loop, timer->fd, timer_fired, timer);
	if (ret) {
		if (timer->fd >= 0)
			close(timer->fd);
		free(timer);
		return ret;
	}
	*out = timer;
	return 0;
}

void vmm_timer_arm(struct vmm_timer *timer, uint64_t ns)
{
	struct itimerspec spec = {
		.it_value = { .tv_sec = (time_t)(ns / 1000000000),
			      .tv_nsec = (long)(ns % 1000000000) },
	};

	timerfd_settime(timer->fd, 0, &spec, NULL);
}

void vmm_timer_free(struct vmm_timer *timer)
{
	if (!timer)
		return;
	vmm_loop_unwatch(timer->loop, timer->fd);
	close(timer->fd);
	free(timer);
}
