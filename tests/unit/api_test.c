// SPDX-License-Identifier: GPL-2.0-only
/* The control socket when the process runs out of descriptors, as its guest's vectors may do. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "suite.h"
#include "vmm/api.h"
#include "vmm/core.h"

static struct vmm_core core;
static struct sockaddr_un addr = { .sun_family = AF_UNIX };

static void *serve(void *arg)
{
	(void)arg;
	ck_assert_int_eq(vmm_loop_run(core.vmm.loop), 0);
	return NULL;
}

/* A connection and what it is told within a second. */
static const char *answer(int fd)
{
	static char text[256];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, 1000) != 1)
		return "nothing";
	n = recv(fd, text, sizeof(text) - 1, 0);
	text[n < 0 ? 0 : n] = 0;
	return text;
}

START_TEST(without_descriptors_a_client_is_turned_away)
{
	struct rlimit limit;
	struct bp_error err = { 0 };
	struct vmm_api *api;
	pthread_t thread;
	int first = socket(AF_UNIX, SOCK_STREAM, 0), second = socket(AF_UNIX, SOCK_STREAM, 0);
	int used;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "/tmp/bp-api-test-%d", getpid());
	pthread_mutex_init(&core.vmm.lock, NULL);
	ck_assert_int_eq(vmm_loop_new(&core.vmm.lock, &core.vmm.loop), 0);
	ck_assert_msg(!vmm_api_new(&core, addr.sun_path, &api, &err), "%s", err.what);
	ck_assert_int_eq(pthread_create(&thread, NULL, serve, NULL), 0);
	used = dup(0);
	close(used);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)used;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	/* Twice: what is needed for it must be there again afterwards. */
	ck_assert_int_eq(connect(first, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_ptr_nonnull(strstr(answer(first), "\"ok\":false"));
	ck_assert_int_eq(connect(second, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_ptr_nonnull(strstr(answer(second), "\"ok\":false"));
	vmm_loop_stop(core.vmm.loop);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	vmm_api_free(api);
	vmm_loop_free(core.vmm.loop);
	ck_assert_int_ne(access(addr.sun_path, F_OK), 0);
	close(first);
	close(second);
}
END_TEST

SUITE("api", without_descriptors_a_client_is_turned_away)
