// SPDX-License-Identifier: GPL-2.0-only
/*
 * Network workload: pings, then a TCP connection with a checked stream in each
 * direction at the same time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netif.h"

#define MAGIC 0x62706e65742d3031ull	/* "bpnet-01" */
#define CHUNK (64u << 10)

/* What the client says first, and what each side says of what it received. */
struct hello {
	uint64_t magic, seed, bytes;
};

struct verdict {
	uint64_t magic, compared, mismatches;
};

/* One run over one connection. */
struct transfer {
	uint64_t seed_out, seed_in, total;
	uint64_t sent, received, mismatches;
	double stall, limit;		/* seconds; limit 0: none */
	double took;
	bool progress;
};

static int recv_all(int s, void *data, size_t len, double wait)
{
	char *p = data;

	while (len) {
		struct pollfd pfd = { .fd = s, .events = POLLIN };
		int n = poll(&pfd, 1, (int)(wait * 1000));
		ssize_t r;

		if (n < 0)
			return -errno;
		if (!n)
			return -ETIMEDOUT;
		r = recv(s, p, len, MSG_DONTWAIT);
		if (!r)
			return -ECONNRESET;
		if (r < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (r > 0) {
			p += r;
			len -= (size_t)r;
		}
	}
	return 0;
}

static int send_all(int s, const void *data, size_t len, double wait)
{
	const char *p = data;

	while (len) {
		struct pollfd pfd = { .fd = s, .events = POLLOUT };
		int n = poll(&pfd, 1, (int)(wait * 1000));
		ssize_t r;

		if (n < 0)
			return -errno;
		if (!n)
			return -ETIMEDOUT;
		r = send(s, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (r < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (r > 0) {
			p += r;
			len -= (size_t)r;
		}
	}
	return 0;
}

static void report_progress(const struct guest *g, const struct transfer *t)
{
	struct report r;

	report_open(&r, "progress");
	report_u64(&r, "uptime_ms", uptime_ms());
	report_u64(&r, "bytes_moved", t->sent + t->received);
	report_u64(&r, "bytes_compared", t->received);
	report_u64(&r, "mismatches", t->mismatches);
	report_send(g, &r);
}

/* Both directions at once, until each has moved @total bytes. */
static int stream(const struct guest *g, int s, struct transfer *t)
{
	static unsigned char out[CHUNK], in[CHUNK];
	size_t have = 0, done = 0;		/* of out[] */
	struct timespec start;
	double last = 0, told = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (t->sent < t->total || t->received < t->total) {
		struct pollfd pfd = { .fd = s };
		double now = seconds_since(&start);
		ssize_t n;

		t->took = now;
		if (t->limit > 0 && now >= t->limit)
			return 0;
		if (now - last > t->stall)
			return -ETIMEDOUT;
		if (t->progress && now - told >= 1) {
			told = now;
			report_progress(g, t);
		}
		if (t->sent < t->total)
			pfd.events |= POLLOUT;
		if (t->received < t->total)
			pfd.events |= POLLIN;
		if (poll(&pfd, 1, 200) < 0 && errno != EINTR)
			return -errno;
		if (pfd.revents & POLLOUT) {
			if (done == have) {
				have = t->total - t->sent < CHUNK ? (size_t)(t->total - t->sent) : CHUNK;
				done = 0;
				pattern_fill(t->seed_out, t->sent, out, have);
			}
			n = send(s, out + done, have - done, MSG_DONTWAIT | MSG_NOSIGNAL);
			if (n < 0 && errno != EAGAIN && errno != EINTR)
				return -errno;
			if (n > 0) {
				done += (size_t)n;
				t->sent += (uint64_t)n;
				last = now;
			}
		}
		if (pfd.revents & (POLLIN | POLLHUP | POLLERR)) {
			size_t want = t->total - t->received < CHUNK ? (size_t)(t->total - t->received) : CHUNK;

			n = recv(s, in, want, MSG_DONTWAIT);
			if (!n)
				return -ECONNRESET;
			if (n < 0 && errno != EAGAIN && errno != EINTR)
				return -errno;
			if (n > 0) {
				t->mismatches += pattern_check(t->seed_in, t->received, in, (size_t)n);
				t->received += (uint64_t)n;
				last = now;
			}
		}
	}
	t->took = seconds_since(&start);
	return 0;
}

static int wait_for_client(struct guest *g, const struct sockaddr_in *at, double deadline)
{
	struct pollfd pfd = { .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .events = POLLIN };
	int one = 1, s = -1, n;

	if (pfd.fd < 0)
		return -errno;
	setsockopt(pfd.fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(pfd.fd, (const struct sockaddr *)at, sizeof(*at)) || listen(pfd.fd, 1)) {
		s = -errno;
		report_error(g, "listening at %s: %s", inet_ntoa(at->sin_addr), strerror(-s));
		goto out;
	}
	n = poll(&pfd, 1, (int)(deadline * 1000));
	s = n > 0 ? accept4(pfd.fd, NULL, NULL, SOCK_CLOEXEC) : -1;
	if (s < 0) {
		s = n ? -errno : -ETIMEDOUT;
		report_error(g, "no client connected within %.0f s", deadline);
	}
out:
	close(pfd.fd);
	return s;
}

static int connect_to(struct guest *g, const struct sockaddr_in *to, double deadline)
{
	struct timespec start;
	int err = ETIMEDOUT;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		struct pollfd pfd = { .fd = s, .events = POLLOUT };
		socklen_t len = sizeof(err);

		if (s < 0)
			return -errno;
		if (!connect(s, (const struct sockaddr *)to, sizeof(*to)))
			return s;
		err = errno;
		if (err == EINPROGRESS && poll(&pfd, 1, 2000) > 0 &&
		    !getsockopt(s, SOL_SOCKET, SO_ERROR, &err, &len) && !err)
			return s;
		close(s);
		if (seconds_since(&start) > deadline) {
			report_error(g, "could not connect to %s within %.0f s: %s", inet_ntoa(to->sin_addr),
				     deadline, strerror(err));
			return -ETIMEDOUT;
		}
		usleep(100000);
	}
}

/* Agree on seed and length, move the bytes, tell each other what was seen. */
static int converse(struct guest *g, int s, bool server, struct transfer *t, struct verdict *peer)
{
	struct hello h = { .magic = MAGIC, .seed = t->seed_out, .bytes = t->total };
	struct verdict mine = { .magic = MAGIC };
	int err;

	err = server ? recv_all(s, &h, sizeof(h), t->stall) : send_all(s, &h, sizeof(h), t->stall);
	if (err) {
		report_error(g, "the first words with the peer: %s", strerror(-err));
		return err;
	}
	if (h.magic != MAGIC) {
		report_error(g, "the peer is not this program");
		return -EPROTO;
	}
	t->total = h.bytes;
	/* Two streams, told apart by who sends. */
	t->seed_out = h.seed ^ (server ? 1 : 0);
	t->seed_in = h.seed ^ (server ? 0 : 1);
	report_transfer(g, true);
	err = stream(g, s, t);
	report_transfer(g, false);
	if (err) {
		report_error(g, "%s after %llu bytes sent and %llu received",
			     err == -ETIMEDOUT ? "transfer stalled" : strerror(-err),
			     (unsigned long long)t->sent, (unsigned long long)t->received);
		return err;
	}
	if (t->sent < t->total || t->received < t->total)
		return 0;			/* time was the limit */
	mine.compared = t->received;
	mine.mismatches = t->mismatches;
	err = send_all(s, &mine, sizeof(mine), t->stall);
	if (!err)
		err = recv_all(s, peer, sizeof(*peer), t->stall);
	if (!err && peer->magic != MAGIC)
		err = -EPROTO;
	if (err)
		report_error(g, "the peer's verdict did not come: %s", strerror(-err));
	return err;
}

struct net_params {
	bool server;
	struct in_addr ip, peer;
	uint64_t bytes, seed, ping, port, timeout, seconds;
};

static int read_params(struct guest *g, struct net_params *p)
{
	const char *role = guest_str(g, "role", "client");
	const char *peer = guest_str(g, "peer", NULL), *ip = guest_str(g, "ip", "0.0.0.0");

	p->server = !strcmp(role, "server");
	if (!p->server && strcmp(role, "client")) {
		report_error(g, "role=%s is neither server nor client", role);
		return -EINVAL;
	}
	if (!inet_aton(ip, &p->ip)) {
		report_error(g, "ip=%s is not an IPv4 address", ip);
		return -EINVAL;
	}
	if ((!peer && !p->server) || (peer && !inet_aton(peer, &p->peer))) {
		report_error(g, "peer=%s is not an IPv4 address", peer ? peer : "");
		return -EINVAL;
	}
	if (guest_u64(g, "bytes", 1 << 20, &p->bytes) || guest_u64(g, "seed", 1, &p->seed) ||
	    guest_u64(g, "ping", 0, &p->ping) || guest_u64(g, "port", 7000, &p->port) ||
	    guest_u64(g, "timeout", 60, &p->timeout) || guest_u64(g, "seconds", 0, &p->seconds))
		return -EINVAL;
	if (p->port < 1 || p->port > 65535 || p->timeout < 1 || p->timeout > 86400) {
		report_error(g, "port=%llu or timeout=%llu is out of range", (unsigned long long)p->port,
			     (unsigned long long)p->timeout);
		return -EINVAL;
	}
	if (p->ping && !peer) {
		report_error(g, "ping needs peer");
		return -EINVAL;
	}
	return 0;
}

/* One connection; @t and @peer say what came of it. */
static int one_connection(struct guest *g, const struct net_params *p, struct transfer *t,
			  struct verdict *peer)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)p->port),
		.sin_addr = p->server ? p->ip : p->peer,
	};
	int one = 1, s, err;

	s = p->server ? wait_for_client(g, &addr, (double)p->timeout) :
			connect_to(g, &addr, (double)p->timeout);
	if (s < 0)
		return s;
	setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	err = converse(g, s, p->server, t, peer);
	close(s);
	return err;
}

int net_run(struct guest *g, bool endless)
{
	struct irq_count before = { 0 }, after = { 0 };
	char name[IFNAMSIZ], path[PATH_MAX], bdf[32] = "";
	struct ping_count ping = { 0 };
	struct transfer t = { 0 };
	struct verdict peer = { 0 };
	struct net_params p;
	struct report r;
	bool ok;
	int err;

	if (read_params(g, &p) || netif_find(g, (double)p.timeout, name))
		return -EINVAL;
	snprintf(path, sizeof(path), "/sys/class/net/%s/device", name);
	if (!pci_of(path, bdf, sizeof(bdf))) {
		if (*guest_str(g, "flr", "") == '1') {
			err = pci_reset(g, bdf);
			if (err || netif_find(g, (double)p.timeout, name))
				return -EIO;
		}
		pci_report_irqs(g, bdf, "before", &before);
	}
	err = netif_up(g, name, (double)p.timeout);
	if (!err && p.ping)
		err = netif_ping(g, name, p.peer, p.ping, (double)p.timeout, &ping);
	if (err)
		goto out;
	do {
		struct transfer one = {
			.seed_out = p.seed,
			.total = endless ? UINT64_MAX : p.bytes,
			.stall = (double)p.timeout,
			.limit = (double)p.seconds,
			.progress = endless,
		};

		err = one_connection(g, &p, &one, &peer);
		t.sent += one.sent;
		t.received += one.received;
		t.mismatches += one.mismatches;
		t.took += one.took;
		/* Killed peers come back in the tests that kill. */
	} while (endless && !t.mismatches && !p.seconds);
out:
	if (*bdf) {
		pci_report_irqs(g, bdf, "after", &after);
		/* Opening the interface may have changed INTx to MSI-X: another counter. */
		if (strcmp(before.mode, after.mode))
			before.total = 0;
	}
	ok = !t.mismatches && !peer.mismatches && ping.received == ping.sent;
	if (endless)
		ok = ok && t.received;
	else
		ok = ok && !err && t.sent == p.bytes && t.received == p.bytes && peer.compared == p.bytes;
	report_open(&r, "result");
	report_str(&r, "do", endless ? "loop" : "net");
	report_bool(&r, "ok", ok);
	report_str(&r, "role", p.server ? "server" : "client");
	report_str(&r, "if", name);
	report_str(&r, "bdf", *bdf ? bdf : NULL);
	report_u64(&r, "ping_sent", ping.sent);
	report_u64(&r, "ping_received", ping.received);
	report_seconds(&r, "first_answer_seconds", ping.wait);
	report_u64(&r, "bytes_moved", t.sent + t.received);
	report_u64(&r, "bytes_compared", t.received);
	report_u64(&r, "mismatches", t.mismatches);
	report_u64(&r, "peer_compared", peer.compared);
	report_u64(&r, "peer_mismatches", peer.mismatches);
	report_seconds(&r, "seconds", t.took);
	report_str(&r, "irq_mode", after.mode);
	report_u64(&r, "interrupts", after.total - before.total);
	report_send(g, &r);
	return ok ? 0 : -EIO;
}
