/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control channel between both ends: lines of JSON, each with a deadline. It stays
 * open while messages are measured, as the sign that the peer is alive: its end of file is
 * the peer's end. TCP and rdma_cm are two tables of operations behind it.
 */
#ifndef LAT_CTL_H
#define LAT_CTL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include <bp/error.h>

struct json_object;
struct lat_ctl;
struct lat_options;

#define LAT_LINE_MAX 16384 /* no honest line is longer */
#define LAT_CTL_FDS  2

/** struct lat_ctl_ops - a way to carry bytes. */
struct lat_ctl_ops {
	/** @name: as a user knows it. */
	const char *name;
	/** @fds: descriptors to poll(); returns how many. */
	unsigned int (*fds)(struct lat_ctl *ctl, struct pollfd fds[LAT_CTL_FDS]);
	/**
	 * @fill: move what has come into ctl->buf, without waiting. Returns bytes moved, 0 for
	 * none, -EPIPE when the peer has gone, or another negative errno.
	 */
	int (*fill)(struct lat_ctl *ctl);
	/** @send: hand over a whole line by a time (CLOCK_MONOTONIC, ns). Returns 0 or -errno. */
	int (*send)(struct lat_ctl *ctl, const char *line, size_t len, long long deadline);
	/** @close: let go of everything. */
	void (*close)(struct lat_ctl *ctl);
};

/**
 * struct lat_ctl - one connection.
 * @ops: how it carries bytes. @priv: its own.
 * @buf: received and not yet read. @len: bytes in it.
 * @local: own address. @remote: the peer's.
 * @doing: what is going on, for messages; the caller sets it.
 */
struct lat_ctl {
	const struct lat_ctl_ops *ops;
	void *priv;
	char buf[2 * LAT_LINE_MAX];
	size_t len;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	const char *doing;
};

/** lat_now() - CLOCK_MONOTONIC. Return: nanoseconds. */
long long lat_now(void);

/** lat_deadline() - a moment from now. @seconds: until then. Return: nanoseconds. */
long long lat_deadline(double seconds);

/**
 * lat_wait_ms() - what poll() takes to wait until a deadline.
 * @deadline: nanoseconds.
 *
 * Return: milliseconds, at least 0 and at most a minute; rounded up.
 */
int lat_wait_ms(long long deadline);

/**
 * lat_interrupt_setup() - take SIGINT and SIGTERM as a wish to end with what there is.
 *
 * Waiting calls return early then; lat_interrupted() tells.
 */
void lat_interrupt_setup(void);

/** lat_interrupted() - whether the user wants to end. Return: true after SIGINT or SIGTERM. */
bool lat_interrupted(void);

/**
 * lat_ctl_send() - one line.
 * @ctl: connection.
 * @msg: object; the reference is taken, also on failure.
 * @timeout: seconds.
 * @err: receives the reason.
 *
 * Return: 0, -EPIPE when the peer has gone, -ETIMEDOUT, -EINTR, or another negative errno.
 */
int lat_ctl_send(struct lat_ctl *ctl, struct json_object *msg, double timeout,
		 struct bp_error *err);

/**
 * lat_ctl_recv() - one line of an expected kind.
 * @ctl: connection.
 * @type: its member "t".
 * @timeout: seconds.
 * @out: receives the object; json_object_put() it.
 * @err: receives the reason; when the peer sent "error", what it said.
 *
 * Return: 0; -EREMOTEIO when the peer told an error; -EPROTO for what makes no sense;
 * otherwise as lat_ctl_send().
 */
int lat_ctl_recv(struct lat_ctl *ctl, const char *type, double timeout, struct json_object **out,
		 struct bp_error *err);

/** enum lat_ctl_news - what lat_ctl_look() found. */
enum lat_ctl_news {
	LAT_NEWS_NONE,
	LAT_NEWS_GONE, /* the peer's end of the connection is closed */
	LAT_NEWS_ERROR, /* it told an error, which is still to be received */
	LAT_NEWS_STOP, /* it wants to end the measurement, for a reason that is none to worry */
	LAT_NEWS_DONE, /* it has finished its part */
};

/**
 * lat_ctl_look() - what the peer says meanwhile, without waiting and without taking it.
 * @ctl: connection.
 *
 * Return: news; the first complete line decides.
 */
enum lat_ctl_news lat_ctl_look(struct lat_ctl *ctl);

/**
 * lat_ctl_tell_error() - tell the peer why this end gives up; best effort within a second.
 * @ctl: connection.
 * @err: what happened.
 */
void lat_ctl_tell_error(struct lat_ctl *ctl, const struct bp_error *err);

/** lat_ctl_close() - end the connection. @ctl: it; NULL is allowed. Freed. */
void lat_ctl_close(struct lat_ctl *ctl);

/**
 * lat_ctl_connect() - to a server; tries again until the time is over.
 * @o: host, port, source, com_cm, connect_timeout.
 * @out: receives the connection.
 * @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_ctl_connect(const struct lat_options *o, struct lat_ctl **out, struct bp_error *err);

/**
 * lat_ctl_accept() - wait for a client on TCP (IPv4 and IPv6) and rdma_cm.
 * @o: port, source, accept_timeout, com_cm: rdma_cm alone.
 * @out: receives the connection.
 * @err: receives the reason.
 *
 * Return: 0, -EINTR after a signal, or another negative errno.
 */
int lat_ctl_accept(const struct lat_options *o, struct lat_ctl **out, struct bp_error *err);

#endif
