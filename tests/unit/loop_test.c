// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"
#include "vmm/loop.h"

static pthread_mutex_t lock;
static struct vmm_loop *loop;
static int fd[2];
static unsigned int calls[2];

static void start(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&lock, &attr);
	ck_assert_int_eq(vmm_loop_new(&lock, &loop), 0);
	for (int i = 0; i < 2; i++) {
		calls[i] = 0;
		fd[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	}
}

static void end(void)
{
	vmm_loop_free(loop);
	close(fd[0]);
	close(fd[1]);
}

static void ring(int n)
{
	uint64_t one = 1;

	ck_assert_int_eq(write(fd[n], &one, sizeof(one)), sizeof(one));
}

static void hear(void *priv, int from)
{
	uint64_t count;

	/* Held already, by this thread. */
	ck_assert_int_eq(pthread_mutex_lock(&lock), EDEADLK);
	ck_assert_int_eq(read(from, &count, sizeof(count)), sizeof(count));
	calls[*(int *)priv]++;
	vmm_loop_stop(loop);
}

static int first, second = 1;

START_TEST(handler_runs_with_the_lock)
{
	start();
	ck_assert_int_eq(vmm_loop_watch(loop, fd[0], hear, &first), 0);
	ck_assert_int_eq(vmm_loop_watch(loop, fd[1], hear, &second), 0);
	ring(1);
	ck_assert_int_eq(vmm_loop_run(loop), 0);
	ck_assert_uint_eq(calls[0], 0);
	ck_assert_uint_eq(calls[1], 1);
	ring(0);
	ck_assert_int_eq(vmm_loop_run(loop), 0);
	ck_assert_uint_eq(calls[0], 1);
	ck_assert_uint_eq(calls[1], 1);
	ck_assert_int_eq(pthread_mutex_lock(&lock), 0);
	pthread_mutex_unlock(&lock);
	end();
}
END_TEST

START_TEST(stop_before_run_counts)
{
	start();
	vmm_loop_stop(loop);
	vmm_loop_stop(loop);
	ck_assert_int_eq(vmm_loop_run(loop), 0);
	end();
}
END_TEST

static void drop_both(void *priv, int from)
{
	(void)from;
	calls[*(int *)priv]++;
	vmm_loop_unwatch(loop, fd[0]);
	vmm_loop_unwatch(loop, fd[1]);
	vmm_loop_stop(loop);
}

START_TEST(unwatch_inside_a_handler)
{
	start();
	vmm_loop_watch(loop, fd[0], drop_both, &first);
	vmm_loop_watch(loop, fd[1], drop_both, &second);
	ring(0);
	ring(1);
	ck_assert_int_eq(vmm_loop_run(loop), 0);
	/* Both were ready; whoever came first has dropped the other. */
	ck_assert_uint_eq(calls[0] + calls[1], 1);
	/* And again they may be watched. */
	ck_assert_int_eq(vmm_loop_watch(loop, fd[0], hear, &first), 0);
	ck_assert_int_eq(vmm_loop_run(loop), 0);
	ck_assert_uint_ge(calls[0], 1);
	end();
}
END_TEST

START_TEST(what_cannot_be_watched)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	start();
	ck_assert_int_eq(vmm_loop_watch(loop, file, hear, &first), -EPERM);
	ck_assert_int_eq(vmm_loop_watch(loop, fd[0], hear, &first), 0);
	ck_assert_int_eq(vmm_loop_watch(loop, fd[0], hear, &first), -EEXIST);
	vmm_loop_unwatch(loop, file);
	close(file);
	end();
}
END_TEST

static struct vmm_timer *timer;
static unsigned int ticks;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void tick(void *priv)
{
	(void)priv;
	if (++ticks == 3)
		vmm_loop_stop(loop);
	else
		vmm_timer_arm(timer, 5000000);
}

START_TEST(timer_fires_once_an_arming)
{
	uint64_t before;

	start();
	ticks = 0;
	ck_assert_int_eq(vmm_timer_new(loop, tick, NULL, &timer), 0);
	before = now();
	vmm_timer_arm(timer, 5000000);
	ck_assert_int_eq(vmm_loop_run(loop), 0);
	ck_assert_uint_eq(ticks, 3);
	ck_assert_uint_ge(now() - before, 15000000);
	vmm_timer_free(timer);
	end();
}
END_TEST

static void never(void *priv)
{
	(void)priv;
	ck_abort_msg("a stopped timer fired");
}

static void enough(void *priv)
{
	(void)priv;
	vmm_loop_stop(loop);
}

START_TEST(stopped_timer_stays_silent)
{
	struct vmm_timer *other;

	start();
	ck_assert_int_eq(vmm_timer_new(loop, never, NULL, &timer), 0);
	ck_assert_int_eq(vmm_timer_new(loop, enough, NULL, &other), 0);
	vmm_timer_arm(timer, 1);
	vmm_timer_arm(timer, 0);
	vmm_timer_arm(other, 20000000);
	ck_assert_int_eq(vmm_loop_run(loop), 0);
	vmm_timer_free(timer);
	vmm_timer_free(other);
	vmm_timer_free(NULL);
	end();
}
END_TEST

static void *other_thread(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	vmm_loop_watch(loop, fd[0], hear, &first);
	pthread_mutex_unlock(&lock);
	ring(0);
	return NULL;
}

START_TEST(watch_from_another_thread)
{
	pthread_t t;

	start();
	pthread_create(&t, NULL, other_thread, NULL);
	ck_assert_int_eq(vmm_loop_run(loop), 0);
	pthread_join(t, NULL);
	ck_assert_uint_eq(calls[0], 1);
	end();
}
END_TEST

SUITE("loop", handler_runs_with_the_lock, stop_before_run_counts, unwatch_inside_a_handler,
      what_cannot_be_watched, timer_fires_once_an_arming, stopped_timer_stays_silent,
      watch_from_another_thread)
