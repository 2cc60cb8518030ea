// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <bp/request.h>

#define REPLY_FIRST 4096u
#define REPLY_MAX   (4u << 20)

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int unreachable(const char *path, int ret, struct bp_error *err)
{
	return bp_error_set(err, ret,
			    ret == -EACCES ? "the socket belongs to whoever started the machine"
					   : "name the socket that 'bluepass run --api' was given",
			    "no machine answers at %s: %s", path, strerror(-ret));
}

static int dial(const struct bp_request *req, struct bp_error *err)
{
	/* A socket whose queue is full would let connect() wait for ever. */
	struct timeval patience = { .tv_sec = req->seconds };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(req->socket) >= sizeof(addr.sun_path))
		return bp_error_set(err, -ENAMETOOLONG, NULL,
				    "no control socket can have the long name %.40s...",
				    req->socket);
	memcpy(addr.sun_path, req->socket, strlen(req->socket) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	do {
		ret = connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) ? -errno : 0;
	} while (ret == -EINTR);
	if (!ret)
		return fd;
	close(fd);
	return ret == -EAGAIN ? -ETIMEDOUT : unreachable(req->socket, ret, err);
}

static int say(int fd, const struct bp_request *req)
{
	char text[128];
	int len = snprintf(text, sizeof(text),
			   "{\"command\":\"%s\",\"format\":\"%s\",\"force\":%s}\n", req->command,
			   req->text ? "text" : "json", req->force ? "true" : "false");

	if (len < 0 || (size_t)len >= sizeof(text))
		return -EINVAL;
	for (int at = 0; at < len;) {
		ssize_t n = send(fd, text + at, (size_t)(len - at), MSG_NOSIGNAL);

		if (n > 0)
			at += (int)n;
		else if (errno == EAGAIN)
			return -ETIMEDOUT;
		else if (errno == EPIPE)
			return 0; /* what it said before it hung up may still be read */
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* poll() also returns when a signal came and nothing else: only it may wait, never recv(). */
static ssize_t receive_some(int fd, int64_t deadline, char *to, size_t room)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = deadline - now_ms();
		ssize_t n;

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&p, 1, left < INT32_MAX ? (int)left : INT32_MAX) < 0 && errno != EINTR)
			return -errno;
		n = recv(fd, to, room, MSG_DONTWAIT);
		if (n > 0)
			return n;
		if (!n)
			return -ECONNRESET;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

static int receive(int fd, int64_t deadline, char **out)
{
	size_t len = 0, room = REPLY_FIRST;
	char *line = malloc(room);
	ssize_t n = line ? 0 : -ENOMEM;

	while (n >= 0) {
		if (len == room) {
			char *more = room < REPLY_MAX ? realloc(line, room * 2) : NULL;

			if (!more) {
				n = room < REPLY_MAX ? -ENOMEM : -EMSGSIZE;
				break;
			}
			line = more;
			room *= 2;
		}
		n = receive_some(fd, deadline, line + len, room - len);
		if (n < 0)
			break;
		len += (size_t)n;
		if (line[len - 1] == '\n') {
			line[len - 1] = '\0';
			*out = line;
			return 0;
		}
	}
	free(line);
	return (int)n;
}

int bp_request(const struct bp_request *req, char **line, struct bp_error *err)
{
	int64_t deadline = now_ms() + (int64_t)req->seconds * 1000;
	int fd = dial(req, err), ret;

	if (fd < 0)
		return fd;
	ret = say(fd, req);
	if (!ret)
		ret = receive(fd, deadline, line);
	close(fd);
	if (ret == -ECONNRESET)
		bp_error_set(err, ret, NULL,
			     "the connection to %s ended before there was an answer", req->socket);
	else if (ret == -EMSGSIZE)
		bp_error_set(err, ret, NULL, "what answers at %s does not come to an end",
			     req->socket);
	else if (ret && ret != -ETIMEDOUT)
		bp_error_set(err, ret, NULL, "the machine at %s did not answer: %s", req->socket,
			     strerror(-ret));
	return ret;
}
