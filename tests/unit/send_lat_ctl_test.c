// SPDX-License-Identifier: GPL-2.0-only
/* bf_send_lat: the control channel over TCP with peers that behave, lie, stall or die. */
#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "latency/bf_send_lat/ctl_ways.h"
#include "latency/bf_send_lat/options.h"
#include "latency/bf_send_lat/watch.h"
#include "suite.h"

/* A connection of ours, and the bare socket at its other end. */
static struct lat_ctl *linked(int *peer)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct lat_options o = { .host = "127.0.0.1", .connect_timeout = 5 };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(a);
	struct lat_ctl *ctl = NULL;

	ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	o.port = ntohs(a.sin_port);
	ck_assert_int_eq(lat_tcp_connect(&o, lat_deadline(5), &ctl, NULL), 0);
	*peer = accept(listener, NULL, NULL);
	ck_assert_int_ge(*peer, 0);
	close(listener);
	return ctl;
}

static void say(int fd, const char *text)
{
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

START_TEST(lines)
{
	struct json_object *msg = NULL;
	struct bp_error err = { 0 };
	int peer;
	struct lat_ctl *ctl = linked(&peer);
	char buf[64] = "";

	/* Two lines in three pieces. */
	say(peer, "{\"t\":\"he");
	say(peer, "llo\",\"n\":5}\n{\"t\":\"bye\"");
	ck_assert_int_eq(lat_ctl_recv(ctl, "hello", 2, &msg, &err), 0);
	ck_assert_int_eq(json_object_get_int(json_object_object_get(msg, "n")), 5);
	json_object_put(msg);
	ck_assert_int_eq(lat_ctl_look(ctl), LAT_NEWS_NONE);
	say(peer, "}\n");
	ck_assert_int_eq(lat_ctl_recv(ctl, "bye", 2, &msg, &err), 0);
	json_object_put(msg);
	msg = json_object_new_object();
	json_object_object_add(msg, "t", json_object_new_string("x"));
	ck_assert_int_eq(lat_ctl_send(ctl, msg, 2, &err), 0);
	ck_assert_int_eq(read(peer, buf, sizeof(buf)), 10);
	ck_assert_str_eq(buf, "{\"t\":\"x\"}\n");
	lat_ctl_close(ctl);
	close(peer);
}
END_TEST

static void answer(const char *text, bool hang_up, int want, const char *words)
{
	struct json_object *msg = NULL;
	struct bp_error err = { 0 };
	int peer;
	struct lat_ctl *ctl = linked(&peer);

	ctl->doing = "testing";
	say(peer, text);
	if (hang_up)
		close(peer);
	ck_assert_int_eq(lat_ctl_recv(ctl, "hello", 0.3, &msg, &err), want);
	ck_assert_msg(strstr(err.what, words), "'%s' does not say '%s'", err.what, words);
	if (!hang_up)
		close(peer);
	lat_ctl_close(ctl);
}

START_TEST(bad_peers)
{
	static char flood[3 * LAT_LINE_MAX];

	answer("GET / HTTP/1.0\r\n\r\n", false, -EPROTO, "no message of bf_send_lat");
	answer("[1,2]\n", false, -EPROTO, "no message");
	answer("{\"t\":\"hello\"\n", false, -EPROTO, "no message");
	answer("{\"t\":7}\n", false, -EPROTO, "instead of 'hello'");
	answer("{\"t\":\"bye\"}\n", false, -EPROTO, "'bye' instead of 'hello' while testing");
	answer("{\"t\":\"error\",\"what\":\"no device\",\"fix\":\"buy one\"}\n", false, -EREMOTEIO,
	       "the peer: no device");
	answer("{\"t\":\"hel", false, -ETIMEDOUT, "did not answer in time while testing");
	answer("{\"t\":\"hel", true, -EPIPE, "closed the connection or died while testing");
	memset(flood, ' ', sizeof(flood) - 1);
	answer(flood, false, -EPROTO, "");
}
END_TEST

START_TEST(news)
{
	int peer;
	struct lat_ctl *ctl = linked(&peer);

	ck_assert_int_eq(lat_ctl_look(ctl), LAT_NEWS_NONE);
	say(peer, "{\"t\":\"done\"}\n");
	usleep(50000);
	ck_assert_int_eq(lat_ctl_look(ctl), LAT_NEWS_DONE);
	close(peer);
	usleep(50000);
	ck_assert_int_eq(lat_ctl_look(ctl), LAT_NEWS_GONE);
	lat_ctl_close(ctl);
	ctl = linked(&peer);
	say(peer, "{\"t\":\"error\",\"what\":\"x\"}\n");
	close(peer);
	usleep(50000);
	/* Its reason comes before its end. */
	ck_assert_int_eq(lat_ctl_look(ctl), LAT_NEWS_ERROR);
	lat_ctl_close(ctl);
}
END_TEST

/* Block in read() as the measured loop does; what the watch says ends it. */
static int blocked(struct lat_watch *w)
{
	int fds[2];
	char c;

	ck_assert_int_eq(pipe(fds), 0);
	while (!atomic_load(&w->stop))
		ck_assert_int_lt(read(fds[0], &c, 1), 0);
	close(fds[0]);
	close(fds[1]);
	return atomic_load(&w->stop);
}

static void *later(void *arg)
{
	usleep(200000);
	close(*(int *)arg);
	return NULL;
}

START_TEST(watch_wakes)
{
	struct lat_watch w;
	long long before;
	pthread_t thread;
	int peer;
	struct lat_ctl *ctl = linked(&peer);

	ck_assert_int_eq(lat_watch_start(&w, ctl, 30), 0);
	before = lat_now();
	pthread_create(&thread, NULL, later, &peer);
	ck_assert_int_eq(blocked(&w), LAT_STOP_GONE);
	ck_assert_int_lt(lat_now() - before, 1000000000);
	lat_watch_end(&w);
	pthread_join(thread, NULL);
	lat_ctl_close(ctl);

	/* Nothing moves, and nobody is there to tell. */
	ck_assert_int_eq(lat_watch_start(&w, NULL, 0.2), 0);
	ck_assert_int_eq(blocked(&w), LAT_STOP_STALLED);
	lat_watch_end(&w);

	/* The peer says that it is done, but messages are missing. */
	ctl = linked(&peer);
	ck_assert_int_eq(lat_watch_start(&w, ctl, 30), 0);
	say(peer, "{\"t\":\"done\"}\n");
	ck_assert_int_eq(blocked(&w), LAT_STOP_LOST);
	lat_watch_end(&w);
	lat_ctl_close(ctl);
	close(peer);
}
END_TEST

START_TEST(nobody_there)
{
	struct lat_options o = { .host = "127.0.0.1", .port = 1, .connect_timeout = 0.3 };
	struct lat_ctl *ctl = NULL;
	struct bp_error err = { 0 };
	long long before = lat_now();

	ck_assert_int_eq(lat_ctl_connect(&o, &ctl, &err), -ECONNREFUSED);
	ck_assert_int_ge(lat_now() - before, 250000000);
	ck_assert_int_lt(lat_now() - before, 3000000000);
	ck_assert(strstr(err.what, "no server at 127.0.0.1 port 1 over TCP"));
}
END_TEST

SUITE("bf_send_lat control channel", lines, bad_peers, news, watch_wakes, nobody_there)
