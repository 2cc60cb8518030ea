// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <json-c/json.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <bp/log.h>

#include "ctl.h"
#include "ctl_ways.h"
#include "options.h"

#define NS	    1000000000ll
#define REPEAT_USEC 50000

static volatile sig_atomic_t interrupted;

/*
 * A signal that comes between a look at the flag and the wait behind it would be slept over;
 * a timer repeats it until the program ends.
 */
static void on_signal(int sig)
{
	const struct itimerval again = { { 0, REPEAT_USEC }, { 0, REPEAT_USEC } };

	if (sig != SIGALRM && !interrupted)
		setitimer(ITIMER_REAL, &again, NULL);
	interrupted = 1;
}

void lat_interrupt_setup(void)
{
	/* Without SA_RESTART: what waits is to come back. */
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGALRM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool lat_interrupted(void)
{
	return interrupted;
}

long long lat_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

long long lat_deadline(double seconds)
{
	return lat_now() + (long long)(seconds * (double)NS);
}

int lat_wait_ms(long long deadline)
{
	long long left = deadline - lat_now(); /* no overflow: both are positive */

	if (left <= 0)
		return 0;
	return left > 60 * NS ? 60000 : (int)((left + 999999) / 1000000);
}

struct lat_ctl *lat_ctl_new(const struct lat_ctl_ops *ops, void *priv)
{
	struct lat_ctl *ctl = calloc(1, sizeof(*ctl));

	if (!ctl)
		return NULL;
	ctl->ops = ops;
	ctl->priv = priv;
	ctl->doing = "greeting";
	return ctl;
}

static int gone(struct lat_ctl *ctl, int code, struct bp_error *err)
{
	if (code == -EINTR)
		return bp_error_set(err, code, NULL, "ended by a signal while %s", ctl->doing);
	if (code == -ETIMEDOUT)
		return bp_error_set(err, code, "see what it does; --timeout sets the limit",
				    "the peer did not answer in time while %s", ctl->doing);
	if (code == -EPIPE || code == -ECONNRESET)
		return bp_error_set(err, -EPIPE, "look for its message on the other machine",
				    "the peer closed the connection or died while %s", ctl->doing);
	return bp_error_set(err, code, NULL, "the connection failed while %s: %s", ctl->doing,
			    strerror(-code));
}

int lat_ctl_send(struct lat_ctl *ctl, struct json_object *msg, double timeout, struct bp_error *err)
{
	const char *text = json_object_to_json_string_ext(msg, JSON_C_TO_STRING_PLAIN);
	size_t len = text ? strlen(text) : 0;
	char *line;
	int ret;

	if (!text || len + 1 > LAT_LINE_MAX || !(line = malloc(len + 1))) {
		json_object_put(msg);
		return bp_error_set(err, -ENOMEM, NULL, "a message to the peer could not be made");
	}
	memcpy(line, text, len);
	line[len] = '\n';
	json_object_put(msg);
	ret = ctl->ops->send(ctl, line, len + 1, lat_deadline(timeout));
	free(line);
	return ret ? gone(ctl, ret, err) : 0;
}

/* A complete line is in the buffer. Returns its length with the line break, or 0. */
static size_t line_ready(const struct lat_ctl *ctl)
{
	const char *end = memchr(ctl->buf, '\n', ctl->len);

	return end ? (size_t)(end - ctl->buf) + 1 : 0;
}

static int await_line(struct lat_ctl *ctl, long long deadline)
{
	while (!line_ready(ctl)) {
		struct pollfd fds[LAT_CTL_FDS];
		unsigned int n = ctl->ops->fds(ctl, fds);
		int ret = ctl->ops->fill(ctl);

		if (ret < 0 && ret != -EINTR)
			return ret;
		if (ret > 0)
			continue;
		if (ctl->len >= LAT_LINE_MAX)
			return -EPROTO;
		if (lat_interrupted())
			return -EINTR;
		if (lat_now() >= deadline)
			return -ETIMEDOUT;
		if (poll(fds, n, lat_wait_ms(deadline)) < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

static struct json_object *take_line(struct lat_ctl *ctl)
{
	size_t len = line_ready(ctl);
	struct json_tokener *tok = json_tokener_new_ex(16);
	struct json_object *obj = NULL;

	if (tok)
		obj = json_tokener_parse_ex(tok, ctl->buf, (int)len - 1);
	json_tokener_free(tok);
	memmove(ctl->buf, ctl->buf + len, ctl->len - len);
	ctl->len -= len;
	if (obj && !json_object_is_type(obj, json_type_object)) {
		json_object_put(obj);
		obj = NULL;
	}
	return obj;
}

static const char *member(struct json_object *obj, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(obj, key, &v) && json_object_is_type(v, json_type_string)
		       ? json_object_get_string(v)
		       : "";
}

int lat_ctl_recv(struct lat_ctl *ctl, const char *type, double timeout, struct json_object **out,
		 struct bp_error *err)
{
	int ret = await_line(ctl, lat_deadline(timeout));
	struct json_object *obj;

	if (ret)
		return gone(ctl, ret, err);
	obj = take_line(ctl);
	if (!obj)
		return bp_error_set(err, -EPROTO, "both ends must be bf_send_lat",
				    "the peer said something that is no message of bf_send_lat");
	if (!strcmp(member(obj, "t"), "error")) {
		ret = bp_error_set(err, -EREMOTEIO, *member(obj, "fix") ? member(obj, "fix") : NULL,
				   "the peer: %s", member(obj, "what"));
	} else if (strcmp(member(obj, "t"), type) != 0) {
		ret = bp_error_set(err, -EPROTO, "use the same version on both ends",
				   "the peer said '%s' instead of '%s' while %s", member(obj, "t"),
				   type, ctl->doing);
	} else {
		*out = obj;
		return 0;
	}
	json_object_put(obj);
	return ret;
}

/* Lines start with {"t":"TYPE"; a peer that writes them otherwise is answered when they are read. */
static bool line_is(const struct lat_ctl *ctl, const char *start)
{
	return ctl->len >= strlen(start) && !memcmp(ctl->buf, start, strlen(start));
}

enum lat_ctl_news lat_ctl_look(struct lat_ctl *ctl)
{
	int ret;

	do
		ret = ctl->ops->fill(ctl);
	while (ret > 0);
	if (line_ready(ctl) && line_is(ctl, "{\"t\":\"error\""))
		return LAT_NEWS_ERROR;
	if (ret < 0 && ret != -EINTR)
		return LAT_NEWS_GONE;
	if (line_ready(ctl) && line_is(ctl, "{\"t\":\"stop\""))
		return LAT_NEWS_STOP;
	return line_ready(ctl) ? LAT_NEWS_DONE : LAT_NEWS_NONE;
}

void lat_ctl_tell_error(struct lat_ctl *ctl, const struct bp_error *err)
{
	struct json_object *msg = json_object_new_object();

	json_object_object_add(msg, "t", json_object_new_string("error"));
	json_object_object_add(msg, "what", json_object_new_string(err->what));
	json_object_object_add(msg, "fix", json_object_new_string(err->fix));
	lat_ctl_send(ctl, msg, 1, NULL);
}

void lat_ctl_close(struct lat_ctl *ctl)
{
	if (!ctl)
		return;
	ctl->ops->close(ctl);
	free(ctl);
}

int lat_ctl_connect(const struct lat_options *o, struct lat_ctl **out, struct bp_error *err)
{
	long long deadline = lat_deadline(o->connect_timeout), pause;
	bool said = false;
	int ret;

	for (;;) {
		bp_error_clear(err);
		ret = (o->com_cm ? lat_cm_connect : lat_tcp_connect)(o, deadline, out, err);
		if (!ret || ret == -EINVAL)
			return ret;
		if (lat_interrupted())
			return bp_error_set(err, -EINTR, NULL,
					    "ended by a signal while connecting");
		if (lat_now() >= deadline)
			return ret;
		if (!said)
			bp_log_info("no server at %s yet, trying for %g s", o->host,
				    o->connect_timeout);
		said = true;
		pause = lat_deadline(0.1);
		poll(NULL, 0, lat_wait_ms(pause < deadline ? pause : deadline));
	}
}

/* One of the listeners has a client. */
static int take_client(int *tcp, int nr_tcp, struct rdma_cm_id *cm, int cm_fd, long long deadline,
		       struct lat_ctl **out, struct bp_error *err)
{
	struct pollfd fds[3];
	int n = 0;

	for (; n < nr_tcp; n++)
		fds[n] = (struct pollfd){ tcp[n], POLLIN, 0 };
	if (cm)
		fds[n++] = (struct pollfd){ cm_fd, POLLIN, 0 };
	if (lat_interrupted())
		return bp_error_set(err, -EINTR, NULL,
				    "ended by a signal while waiting for a client");
	if (lat_now() >= deadline)
		return bp_error_set(err, -ETIMEDOUT, NULL, "no client came in time");
	if (poll(fds, (nfds_t)n, lat_wait_ms(deadline)) < 0)
		return errno == EINTR
			       ? -EAGAIN
			       : bp_error_set(err, -errno, NULL, "poll: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!fds[i].revents)
			continue;
		return i < nr_tcp ? lat_tcp_accept(tcp[i], out, err) : lat_cm_accept(cm, out, err);
	}
	return -EAGAIN;
}

int lat_ctl_accept(const struct lat_options *o, struct lat_ctl **out, struct bp_error *err)
{
	struct rdma_cm_id *cm = NULL;
	struct bp_error cm_err = { 0 };
	long long deadline = o->accept_timeout > 0 ? lat_deadline(o->accept_timeout) : LLONG_MAX;
	int tcp[2], nr_tcp = 0, ret;

	if (!o->com_cm) {
		nr_tcp = lat_tcp_listen(o, tcp, err);
		if (nr_tcp < 0)
			return nr_tcp;
	}
	ret = lat_cm_listen(o, &cm, &cm_err);
	if (ret && o->com_cm) {
		if (err)
			*err = cm_err;
		return ret;
	}
	if (ret)
		bp_log_info("not listening over rdma_cm: %s", cm_err.what);
	do {
		bp_error_clear(err);
		ret = take_client(tcp, nr_tcp, cm, cm ? cm->channel->fd : -1, deadline, out, err);
	} while (ret == -EAGAIN);
	for (int i = 0; i < nr_tcp; i++)
		close(tcp[i]);
	lat_cm_unlisten(cm);
	return ret;
}
