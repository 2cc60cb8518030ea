// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ctl.h"
#include "watch.h"

#define LOST_SECONDS 1
#define KICK_MS	     5

static void nothing(int sig)
{
	(void)sig;
}

static int judge(struct lat_watch *w, bool *done)
{
	switch (lat_ctl_look(w->ctl)) {
	case LAT_NEWS_GONE:
		return LAT_STOP_GONE;
	case LAT_NEWS_ERROR:
		return LAT_STOP_ERROR;
	case LAT_NEWS_STOP:
		return LAT_STOP_WANTED;
	case LAT_NEWS_DONE:
		*done = true;
		break;
	case LAT_NEWS_NONE:
		break;
	}
	return LAT_GO;
}

/* Wait for a reason to stop, or for the end (LAT_GO). */
static int watch(struct lat_watch *w)
{
	uint64_t seen = UINT64_MAX;
	long long deadline = lat_deadline(w->timeout);
	bool done = false;

	for (;;) {
		struct pollfd fds[1 + LAT_CTL_FDS] = { { w->quit, POLLIN, 0 } };
		unsigned int n = 1 + (w->ctl ? w->ctl->ops->fds(w->ctl, fds + 1) : 0);
		bool was_done = done;
		uint64_t now_at;
		int ret;

		poll(fds, n, lat_wait_ms(deadline));
		if (fds[0].revents)
			return LAT_GO;
		if (lat_interrupted())
			return LAT_STOP_USER;
		ret = w->ctl ? judge(w, &done) : LAT_GO;
		if (ret)
			return ret;
		if (done && !was_done) {
			seen = atomic_load_explicit(&w->progress, memory_order_relaxed);
			deadline = lat_deadline(LOST_SECONDS);
		}
		if (lat_now() < deadline)
			continue;
		now_at = atomic_load_explicit(&w->progress, memory_order_relaxed);
		if (now_at == seen)
			return done ? LAT_STOP_LOST : LAT_STOP_STALLED;
		seen = now_at;
		deadline = lat_deadline(done ? LOST_SECONDS : w->timeout);
	}
}

static void *run(void *arg)
{
	struct lat_watch *w = arg;
	struct pollfd quit = { w->quit, POLLIN, 0 };
	int stop = watch(w);

	if (!stop)
		return NULL;
	/* Release: what lat_ctl_look() read into the channel is there for the measuring thread,
	 * whose lat_watch_end() joins this one before it looks.
	 */
	atomic_store_explicit(&w->stop, stop, memory_order_release);
	/* A signal that comes just before a system call is lost on it: repeat. */
	do
		pthread_kill(w->measuring, SIGURG);
	while (!poll(&quit, 1, KICK_MS));
	return NULL;
}

int lat_watch_start(struct lat_watch *w, struct lat_ctl *ctl, double timeout)
{
	struct sigaction sa = { .sa_handler = nothing };
	sigset_t ours;
	int ret;

	memset(w, 0, sizeof(*w));
	w->ctl = ctl;
	w->timeout = timeout;
	w->measuring = pthread_self();
	w->quit = eventfd(0, EFD_CLOEXEC);
	if (w->quit < 0)
		return -errno;
	sigaction(SIGURG, &sa, NULL);
	ret = pthread_create(&w->thread, NULL, run, w);
	if (ret) {
		close(w->quit);
		return -ret;
	}
	/* The user's signals are for the thread that sleeps. */
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &ours, NULL);
	return 0;
}

void lat_watch_end(struct lat_watch *w)
{
	uint64_t one = 1;
	sigset_t ours;

	while (write(w->quit, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(w->thread, NULL);
	close(w->quit);
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}
