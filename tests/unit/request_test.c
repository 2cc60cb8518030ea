// SPDX-License-Identifier: GPL-2.0-only
/* A client of the control socket, and machines of every kind at the other end. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <bp/request.h>
#include "suite.h"

static struct sockaddr_un addr = { .sun_family = AF_UNIX };
static struct bp_request req = { .command = "memtype", .seconds = 5 };
static struct bp_error err;
static char shown[4096];
static char asked[256];

/* What the other end does: says @answer @times, in pieces, or is silent; then hangs up or not. */
static struct {
	const char *answer;
	size_t piece;
	unsigned int times;
	bool stays;
	bool deaf;
	int fd;
} other;

static void listen_there(int backlog)
{
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/tmp/bp-request-test-%d", getpid());
	unlink(addr.sun_path);
	other.fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(other.fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(other.fd, backlog), 0);
	req.socket = addr.sun_path;
}

static void *machine(void *arg)
{
	int fd = accept(other.fd, NULL, NULL);
	size_t len = other.answer ? strlen(other.answer) : 0;
	sigset_t all;

	(void)arg;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	if (!other.deaf && read(fd, asked, sizeof(asked) - 1) < 0)
		asked[0] = '\0';
	for (unsigned int i = 0; i < other.times; i++) {
		for (size_t at = 0; at < len; at += other.piece) {
			size_t n = len - at < other.piece ? len - at : other.piece;

			if (send(fd, other.answer + at, n, MSG_NOSIGNAL) < 0)
				break;
			if (other.piece < 10)
				usleep(1000);
		}
	}
	if (other.stays)
		sleep(30);
	close(fd);
	return NULL;
}

/* Ask a machine that answers so; what is shown lands in @shown. */
static int ask(enum bp_print_mode mode)
{
	char *line = NULL;
	pthread_t thread;
	int ret;

	bp_error_clear(&err);
	memset(shown, 0, sizeof(shown));
	memset(asked, 0, sizeof(asked));
	req.text = mode == BP_PRINT_TEXT;
	listen_there(1);
	if (!other.piece)
		other.piece = 1 << 20;
	if (!other.times)
		other.times = 1;
	ck_assert_int_eq(pthread_create(&thread, NULL, machine, NULL), 0);
	ret = bp_request(&req, &line, &err);
	if (!ret) {
		FILE *f = fmemopen(shown, sizeof(shown) - 1, "w");

		ret = bp_reply_show(line, &req, f, mode, &err);
		fclose(f);
	}
	free(line);
	if (!other.stays)
		pthread_join(thread, NULL);
	close(other.fd);
	unlink(addr.sun_path);
	return ret;
}

START_TEST(answers_are_shown)
{
	other.answer = "{\"ok\":true,\"text\":\"one\\ntwo\\n\"}\n";
	ck_assert_int_eq(ask(BP_PRINT_TEXT), 0);
	ck_assert_str_eq(shown, "one\ntwo\n");
	ck_assert_str_eq(asked, "{\"command\":\"memtype\",\"format\":\"text\",\"force\":false}\n");
	/* The same bytes one by one. */
	other.piece = 1;
	ck_assert_int_eq(ask(BP_PRINT_TEXT), 0);
	ck_assert_str_eq(shown, "one\ntwo\n");
	other.piece = 0;
	other.answer = "{\"ok\":true,\"result\":{\"a\":[1,-2,18446744073709551615,0.5],"
		       "\"b\":{\"c\":null,\"d\":true,\"e\":\"x\\\"y\"}}}\n";
	ck_assert_int_eq(ask(BP_PRINT_JSON), 0);
	ck_assert_str_eq(shown, "{\"a\":[1,-2,18446744073709551615,0.500000],"
				"\"b\":{\"c\":null,\"d\":true,\"e\":\"x\\\"y\"}}\n");
	ck_assert_str_eq(asked, "{\"command\":\"memtype\",\"format\":\"json\",\"force\":false}\n");
	other.answer = "{\"ok\":true,\"result\":{\"a\":[]}}\n";
	ck_assert_int_eq(ask(BP_PRINT_PRETTY), 0);
	ck_assert_str_eq(shown, "{\n    \"a\": []\n}\n");
}
END_TEST

START_TEST(long_answers_and_endless_ones)
{
	size_t len = 3u << 20;
	char *text = malloc(len + 64), *line = NULL;
	pthread_t thread;

	strcpy(text, "{\"ok\":true,\"text\":\"");
	memset(text + strlen(text), 'x', len);
	strcpy(text + len, "\"}\n");
	other.answer = text;
	other.piece = 1 << 20;
	other.times = 1;
	listen_there(1);
	ck_assert_int_eq(pthread_create(&thread, NULL, machine, NULL), 0);
	ck_assert_int_eq(bp_request(&req, &line, &err), 0);
	ck_assert_uint_eq(strlen(line), len + 2);
	free(line);
	pthread_join(thread, NULL);
	close(other.fd);
	text[len] = '\0';
	other.times = 100;
	ck_assert_int_eq(ask(BP_PRINT_TEXT), -EMSGSIZE);
	ck_assert_ptr_nonnull(strstr(err.what, "does not come to an end"));
	free(text);
}
END_TEST

static void nothing(int signal)
{
	(void)signal;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One signal while the client waits: it must not end up in a read without a time limit. */
START_TEST(the_time_limit_holds_when_a_signal_comes)
{
	struct itimerval once = { .it_value.tv_usec = 200000 };
	struct sigaction sa = { .sa_handler = nothing };
	double start = seconds(), took;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &once, NULL);
	other.stays = true;
	req.seconds = 1;
	ck_assert_int_eq(ask(BP_PRINT_TEXT), -ETIMEDOUT);
	took = seconds() - start;
	ck_assert_msg(took > 0.9 && took < 4, "it took %.1f s", took);
	/* What that means is for the caller to say. */
	ck_assert_str_eq(err.what, "");
}
END_TEST

START_TEST(a_queue_that_nobody_serves_is_no_trap)
{
	double start = seconds();
	char *line = NULL;
	int first, ret = 0;

	listen_there(0);
	first = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(first, (struct sockaddr *)&addr, sizeof(addr)), 0);
	req.seconds = 1;
	ret = bp_request(&req, &line, &err);
	ck_assert_int_eq(ret, -ETIMEDOUT);
	ck_assert(seconds() - start < 4);
	close(first);
	close(other.fd);
	unlink(addr.sun_path);
}
END_TEST

static void cannot(int ret, const char *words)
{
	char *line = NULL;

	bp_error_clear(&err);
	ck_assert_int_eq(bp_request(&req, &line, &err), ret);
	ck_assert_msg(strstr(err.what, words) != NULL, "'%s' is not in '%s'", words, err.what);
	ck_assert_ptr_null(line);
}

START_TEST(nobody_there)
{
	char name[200];
	int fd;

	req.socket = "/nonexistent/guest.sock";
	cannot(-ENOENT, "no machine answers at /nonexistent/guest.sock: No such file");
	ck_assert_ptr_nonnull(strstr(err.fix, "--api"));
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	req.socket = name;
	cannot(-ENAMETOOLONG, "long name xxx");
	/* Left behind by a process that was killed. */
	listen_there(1);
	close(other.fd);
	cannot(-ECONNREFUSED, "no machine answers");
	unlink(addr.sun_path);
	/* No socket at all. */
	snprintf(name, sizeof(name), "/tmp/bp-request-file-%d", getpid());
	fd = creat(name, 0600);
	close(fd);
	req.socket = name;
	cannot(-ECONNREFUSED, "no machine answers");
	unlink(name);
}
END_TEST

static void told(int ret, const char *answer, const char *what, const char *fix)
{
	other.answer = answer;
	ck_assert_int_eq(ask(BP_PRINT_JSON), ret);
	ck_assert_msg(strstr(err.what, what) != NULL, "'%s' is not in '%s'", what, err.what);
	ck_assert_msg(strstr(err.fix, fix) != NULL, "'%s' is not in '%s'", fix, err.fix);
	ck_assert_str_eq(shown, "");
}

START_TEST(other_answers)
{
	told(-EPROTO, "HTTP/1.1 400 Bad Request\n", "is no machine of bluepass", "--api");
	told(-EPROTO, "{}\n", "is no machine of bluepass", "--api");
	told(-EPROTO, "[]\n", "is no machine of bluepass", "--api");
	told(-EPROTO, "\n", "is no machine of bluepass", "--api");
	told(-EREMOTEIO, "{\"ok\":false,\"error\":\"no\",\"fix\":\"try\"}\n", "no", "try");
	told(-EREMOTEIO, "{\"ok\":false}\n", "the request failed", "");
	told(-EREMOTEIO, "{\"ok\":false,\"error\":[1],\"fix\":2}\n", "the request failed", "");
	/* A monitor from before the request was invented. */
	told(-EOPNOTSUPP,
	     "{\"ok\":false,\"error\":\"\\\"command\\\" is one of status, stats and stop\"}\n",
	     "does not know the request 'memtype'", "older bluepass");
	told(-ECONNRESET, "{\"ok\":true", "ended before there was an answer", "");
}
END_TEST

/* A machine with too many clients answers before it was asked, and hangs up. */
START_TEST(turned_away)
{
	other.deaf = true;
	told(-EREMOTEIO, "{\"ok\":false,\"error\":\"too many clients at once\"}\n",
	     "too many clients", "");
}
END_TEST

SUITE("request", answers_are_shown, long_answers_and_endless_ones,
      the_time_limit_holds_when_a_signal_comes, a_queue_that_nobody_serves_is_no_trap, nobody_there,
      other_answers, turned_away)
