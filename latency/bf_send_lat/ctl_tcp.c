// SPDX-License-Identifier: GPL-2.0-only
/* The control channel over TCP, IPv4 and IPv6. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "ctl_ways.h"
#include "options.h"

static int fd_of(const struct lat_ctl *ctl)
{
	return (int)(long)ctl->priv;
}

static unsigned int tcp_fds(struct lat_ctl *ctl, struct pollfd fds[LAT_CTL_FDS])
{
	fds[0] = (struct pollfd){ fd_of(ctl), POLLIN, 0 };
	return 1;
}

static int tcp_fill(struct lat_ctl *ctl)
{
	ssize_t n;

	if (ctl->len == sizeof(ctl->buf))
		return 0;
	n = recv(fd_of(ctl), ctl->buf + ctl->len, sizeof(ctl->buf) - ctl->len, MSG_DONTWAIT);
	if (!n)
		return -EPIPE;
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	ctl->len += (size_t)n;
	return (int)n;
}

static int tcp_send(struct lat_ctl *ctl, const char *line, size_t len, long long deadline)
{
	while (len) {
		ssize_t n = send(fd_of(ctl), line, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		struct pollfd fd = { fd_of(ctl), POLLOUT, 0 };

		if (n >= 0) {
			line += n;
			len -= (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (lat_now() >= deadline)
			return -ETIMEDOUT;
		poll(&fd, 1, lat_wait_ms(deadline));
	}
	return 0;
}

static void tcp_close(struct lat_ctl *ctl)
{
	close(fd_of(ctl));
}

static const struct lat_ctl_ops tcp_ops = {
	.name = "TCP",
	.fds = tcp_fds,
	.fill = tcp_fill,
	.send = tcp_send,
	.close = tcp_close,
};

static int wrap(int fd, struct lat_ctl **out, struct bp_error *err)
{
	/* A peer whose machine is gone sends no FIN: probe an idle connection each second. */
	int on = 1, seconds = 1, probes = 4, user_ms = 5000;
	socklen_t len = sizeof(struct sockaddr_storage);
	struct lat_ctl *ctl = lat_ctl_new(&tcp_ops, (void *)(long)fd);

	if (!ctl) {
		close(fd);
		return bp_error_set(err, -ENOMEM, NULL, "no memory for a connection");
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_ms, sizeof(user_ms));
	getsockname(fd, (struct sockaddr *)&ctl->local, &len);
	len = sizeof(struct sockaddr_storage);
	getpeername(fd, (struct sockaddr *)&ctl->remote, &len);
	*out = ctl;
	return 0;
}

/* Addresses of a name and a port, for connecting or for binding to. */
static int resolve(const char *host, unsigned int port, int flags, struct addrinfo **out,
		   struct bp_error *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, out);
	if (ret)
		return bp_error_set(err, ret == EAI_AGAIN ? -EAGAIN : -EINVAL, NULL,
				    "no address for '%s': %s", host ? host : "*",
				    ret == EAI_SYSTEM ? strerror(errno) : gai_strerror(ret));
	return 0;
}

static int bind_source(int fd, const struct lat_options *o, int family)
{
	struct addrinfo *ai, *a;
	int ret = -EADDRNOTAVAIL;

	if (!o->source)
		return 0;
	if (resolve(o->source, 0, AI_NUMERICHOST, &ai, NULL))
		return -EINVAL;
	for (a = ai; a; a = a->ai_next)
		if (a->ai_family == family)
			ret = bind(fd, a->ai_addr, a->ai_addrlen) ? -errno : 0;
	freeaddrinfo(ai);
	return ret;
}

static int try_address(const struct lat_options *o, const struct addrinfo *a, long long deadline)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), ret, code = 0;
	long long patience = lat_deadline(3);
	struct pollfd p = { fd, POLLOUT, 0 };
	socklen_t len = sizeof(code);

	if (fd < 0)
		return -errno;
	ret = bind_source(fd, o, a->ai_family);
	if (!ret)
		ret = connect(fd, a->ai_addr, a->ai_addrlen) ? -errno : 0;
	if (ret == -EINPROGRESS) {
		ret = poll(&p, 1, lat_wait_ms(patience < deadline ? patience : deadline));
		if (ret < 0)
			ret = -errno;
		else if (!ret)
			ret = -ETIMEDOUT;
		else if (!getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len))
			ret = -code;
	}
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

int lat_tcp_connect(const struct lat_options *o, long long deadline, struct lat_ctl **out,
		    struct bp_error *err)
{
	struct addrinfo *ai, *a;
	int ret = resolve(o->host, o->port, 0, &ai, err), fd = -ECONNREFUSED;

	if (ret)
		return ret;
	for (a = ai; a; a = a->ai_next) {
		fd = try_address(o, a, deadline);
		if (fd >= 0)
			break;
	}
	freeaddrinfo(ai);
	if (fd >= 0)
		return wrap(fd, out, err);
	return bp_error_set(err, fd == -EINVAL ? -EADDRNOTAVAIL : fd,
			    "start bf_send_lat without a host there; one started with -R or -z is "
			    "reached with the same option",
			    "no server at %s port %u over TCP: %s", o->host, o->port,
			    strerror(-fd));
}

int lat_tcp_listen(const struct lat_options *o, int fds[2], struct bp_error *err)
{
	struct addrinfo *ai, *a;
	int ret = resolve(o->source, o->port, AI_PASSIVE, &ai, err), n = 0, on = 1;

	if (ret)
		return ret;
	for (a = ai; a && n < 2; a = a->ai_next) {
		int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0) {
			ret = -errno;
			continue;
		}
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (a->ai_family == AF_INET6)
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
		if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 8)) {
			ret = -errno;
			close(fd);
			continue;
		}
		fds[n++] = fd;
	}
	freeaddrinfo(ai);
	if (n)
		return n;
	return bp_error_set(err, ret, "another server may be running; choose a port with -p",
			    "cannot listen on TCP port %u: %s", o->port, strerror(-ret));
}

int lat_tcp_accept(int listener, struct lat_ctl **out, struct bp_error *err)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM
			       ? bp_error_set(err, -errno, NULL, "accept: %s", strerror(errno))
			       : -EAGAIN;
	return wrap(fd, out, err);
}
