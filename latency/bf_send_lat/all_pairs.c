// SPDX-License-Identifier: GPL-2.0-only
/*
 * --all-pairs: a launcher starts this on many hosts; rank 0 gathers the others over TCP, tells
 * them round by round who measures with whom, and prints a line of JSON for each pair.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bp/cli.h>
#include <bp/log.h>

#include "ctl_ways.h"
#include "heatmap.h"
#include "modes.h"
#include "report.h"
#include "schedule.h"

/* How long a pair may take: each end has limits of its own, and a machine that is gone is
 * noticed by the connection.
 */
#define PAIR_SECONDS 86400

struct member {
	struct lat_ctl *ctl; /* NULL for rank 0 itself, and for one that is gone */
	bool gone;
	char host[256];
	char device[320];
	char address[INET6_ADDRSTRLEN];
};

struct gathering {
	const struct lat_options *o;
	unsigned int size;
	struct member *members;
	struct lat_pair *pairs;
	struct lat_heat *heat;
	bool failed;
};

static struct json_object *message(const char *type)
{
	struct json_object *msg = json_object_new_object();

	json_object_object_add(msg, "t", json_object_new_string(type));
	return msg;
}

static void put_text(struct json_object *msg, const char *key, const char *value)
{
	json_object_object_add(msg, key, json_object_new_string(value));
}

static void put_number(struct json_object *msg, const char *key, int64_t value)
{
	json_object_object_add(msg, key, json_object_new_int64(value));
}

static const char *text(struct json_object *msg, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(msg, key, &v) && json_object_is_type(v, json_type_string)
		       ? json_object_get_string(v)
		       : "";
}

static int64_t number(struct json_object *msg, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(msg, key, &v) && json_object_is_type(v, json_type_int)
		       ? json_object_get_int64(v)
		       : -1;
}

/* Host and device, the same for all processes that share it. */
static void own_device(const struct lat_options *o, char *buf, size_t size)
{
	struct lat_device d;
	char host[64];
	const char *name = o->device ? o->device : "";
	bool opened = !o->device && !lat_device_open(o, NULL, NULL, &d, NULL);

	snprintf(buf, size, "%s/%s", lat_host_id(host), opened ? d.name : name);
	if (opened)
		lat_device_close(&d);
}

/* One end of one pair, in this process. Returns what is to be told about it. */
static struct json_object *take_part(const struct lat_options *o, const char *host,
				     unsigned int port)
{
	struct lat_trial *s = calloc(1, sizeof(*s));
	struct lat_options mine = *o;
	struct bp_error err = { 0 };
	struct json_object *msg = message("result"), *rows = json_object_new_array();
	int ret = s ? 0 : -ENOMEM;

	mine.mode = host ? LAT_CLIENT : LAT_SERVER;
	mine.host = host;
	mine.port = port;
	mine.accept_timeout = o->connect_timeout;
	if (s) {
		s->o = &mine;
		s->p = mine.params;
		s->client = host;
		ret = lat_trial_run(s, &err);
		for (unsigned int i = 0; host && i < s->nr_rows; i++)
			if (s->rows[i].take.stats.measured.n)
				json_object_array_add(rows, lat_row_json(s, &s->rows[i]));
		lat_trial_drop(s);
		free(s);
	}
	json_object_object_add(msg, "ok", json_object_new_boolean(!ret));
	put_text(msg, "error", ret ? err.what : "");
	json_object_object_add(msg, "results", rows);
	return msg;
}

static int order(struct gathering *g, unsigned int rank, const char *host, unsigned int port)
{
	struct member *m = &g->members[rank];
	struct json_object *msg = message("measure");
	int ret;

	put_number(msg, "role", !!host);
	/* An empty address: the one of rank 0, which each member knows itself. */
	put_text(msg, "host", host ? host : "");
	put_number(msg, "port", port);
	ret = m->gone ? (json_object_put(msg), -EPIPE)
		      : lat_ctl_send(m->ctl, msg, g->o->timeout, NULL);
	m->gone |= ret < 0;
	return ret;
}

/* What a member tells of its part; an object of ours when it is gone. */
static struct json_object *hear(struct gathering *g, unsigned int rank)
{
	struct member *m = &g->members[rank];
	struct json_object *msg = NULL;
	struct bp_error err = { 0 };

	if (!m->gone && !lat_ctl_recv(m->ctl, "result", PAIR_SECONDS, &msg, &err))
		return msg;
	m->gone = true;
	msg = message("result");
	json_object_object_add(msg, "ok", json_object_new_boolean(false));
	put_text(msg, "error", err.what[0] ? err.what : "this process is gone");
	return msg;
}

static bool is_ok(struct json_object *msg)
{
	struct json_object *v;

	return json_object_object_get_ex(msg, "ok", &v) && json_object_get_boolean(v);
}

static void tell(struct gathering *g, const struct lat_pair *pair, struct json_object *server,
		 struct json_object *client)
{
	struct json_object *rows, *v, *first;
	struct bp_print *p = bp_print_new(stdout, BP_PRINT_JSON);
	bool ok = is_ok(server) && is_ok(client);

	g->failed |= !ok || !p;
	if (!p)
		return;
	bp_print_object(p, NULL);
	bp_print_u64(p, "server", NULL, pair->server);
	bp_print_u64(p, "client", NULL, pair->client);
	bp_print_u64(p, "round", NULL, pair->round);
	bp_print_str(p, "server_host", NULL, g->members[pair->server].host);
	bp_print_str(p, "client_host", NULL, g->members[pair->client].host);
	bp_print_bool(p, "ok", NULL, ok);
	bp_print_str(p, "server_error", NULL, text(server, "error"));
	bp_print_str(p, "client_error", NULL, text(client, "error"));
	if (json_object_object_get_ex(client, "results", &rows) &&
	    json_object_is_type(rows, json_type_array)) {
		lat_print_json(p, "results", rows);
		first = json_object_array_length(rows) ? json_object_array_get_idx(rows, 0) : NULL;
		if (ok && json_object_is_type(first, json_type_object) &&
		    json_object_object_get_ex(first, "t_typical", &v))
			lat_heat_set(g->heat, pair->server, pair->client,
				     json_object_get_double(v));
	}
	bp_print_object_end(p);
	g->failed |= bp_print_free(p) < 0;
}

static unsigned int port_of(const struct gathering *g, unsigned int server)
{
	return (g->o->port + 1 + server) % 65536;
}

/* All pairs of a round at once; rank 0's own part is done here, after the others have theirs. */
static void run_round(struct gathering *g, const struct lat_pair *pairs, size_t n)
{
	struct json_object *own = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned int port = port_of(g, pairs[i].server);

		if (pairs[i].server)
			order(g, pairs[i].server, NULL, port);
		if (pairs[i].client)
			order(g, pairs[i].client, g->members[pairs[i].server].address, port);
	}
	/* Rank 0 is in one pair at most, always as the server, being the lowest. */
	for (size_t i = 0; i < n; i++)
		if (!pairs[i].server)
			own = take_part(g->o, NULL, port_of(g, 0));
	for (size_t i = 0; i < n; i++) {
		struct json_object *server = pairs[i].server ? hear(g, pairs[i].server)
							     : json_object_get(own);
		struct json_object *client = hear(g, pairs[i].client);

		tell(g, &pairs[i], server, client);
		json_object_put(server);
		json_object_put(client);
	}
	json_object_put(own);
}

/* A member's first words. */
static int admit(struct gathering *g, struct lat_ctl *ctl, struct bp_error *err)
{
	struct json_object *msg = NULL;
	int ret = lat_ctl_recv(ctl, "join", g->o->timeout, &msg, err);
	int64_t rank = ret ? -1 : number(msg, "rank");
	struct member *m;

	if (!ret &&
	    (rank < 1 || rank >= g->size || g->members[rank].ctl || number(msg, "size") != g->size))
		ret = bp_error_set(err, -EPROTO, "start all with one launcher",
				   "a process says it is rank %ld of %ld", (long)rank,
				   (long)number(msg, "size"));
	if (ret) {
		json_object_put(msg);
		return ret;
	}
	m = &g->members[rank];
	m->ctl = ctl;
	snprintf(m->host, sizeof(m->host), "%s", text(msg, "host"));
	snprintf(m->device, sizeof(m->device), "%s", text(msg, "device"));
	getnameinfo((struct sockaddr *)&ctl->remote, sizeof(ctl->remote), m->address,
		    sizeof(m->address), NULL, 0, NI_NUMERICHOST);
	json_object_put(msg);
	return 0;
}

static int gather(struct gathering *g, struct bp_error *err)
{
	int fds[2], n = lat_tcp_listen(g->o, fds, err), ret = n < 0 ? n : 0;
	long long deadline = lat_deadline(g->o->connect_timeout);

	for (unsigned int here = 1; !ret && here < g->size;) {
		struct pollfd p[2] = { { fds[0], POLLIN, 0 }, { n > 1 ? fds[1] : -1, POLLIN, 0 } };
		struct lat_ctl *ctl = NULL;

		if (lat_interrupted())
			ret = bp_error_set(err, -EINTR, NULL, "ended by a signal");
		else if (lat_now() >= deadline)
			ret = bp_error_set(
				err, -ETIMEDOUT,
				"name the host of rank 0 with --rendezvous; --wait sets the limit",
				"only %u of %u processes came", here, g->size);
		if (ret || poll(p, 2, lat_wait_ms(deadline)) <= 0 ||
		    lat_tcp_accept(p[0].revents ? fds[0] : fds[1], &ctl, NULL))
			continue;
		ret = admit(g, ctl, err);
		if (ret)
			lat_ctl_close(ctl);
		else
			here++;
	}
	for (int i = 0; i < n; i++)
		close(fds[i]);
	return ret;
}

static int coordinate(struct gathering *g, struct bp_error *err)
{
	const char *devices[LAT_RANKS_MAX];
	size_t total = (size_t)g->size * (g->size - 1) / 2;
	int ret;

	own_device(g->o, g->members[0].device, sizeof(g->members[0].device));
	gethostname(g->members[0].host, sizeof(g->members[0].host) - 1);
	ret = gather(g, err);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < g->size; i++)
		devices[i] = g->members[i].device;
	ret = lat_schedule(devices, g->size, g->pairs);
	if (ret < 0)
		return bp_error_set(err, ret, NULL, "no memory for %zu pairs", total);
	for (size_t i = 0, n; i < total; i += n) {
		for (n = 1; i + n < total && g->pairs[i + n].round == g->pairs[i].round; n++)
			;
		run_round(g, g->pairs + i, n);
	}
	for (unsigned int i = 1; i < g->size; i++)
		if (!g->members[i].gone)
			lat_ctl_send(g->members[i].ctl, message("bye"), 1, NULL);
	return 0;
}

static int lead(const struct lat_options *o, unsigned int size, struct bp_error *err)
{
	size_t total = (size_t)size * (size - 1) / 2;
	struct gathering g = { .o = o, .size = size };
	int ret = -ENOMEM;

	g.members = calloc(size, sizeof(*g.members));
	g.pairs = calloc(total, sizeof(*g.pairs));
	g.heat = lat_heat_new(size);
	if (g.members && g.pairs && g.heat)
		ret = coordinate(&g, err);
	if (!ret && o->plot) {
		FILE *f = fopen(o->plot, "we");

		ret = f ? lat_heat_write(f, g.heat) : -errno;
		if (f && fclose(f) && !ret)
			ret = -errno;
		if (ret)
			bp_error_set(err, ret, NULL, "%s could not be written: %s", o->plot,
				     strerror(-ret));
	}
	for (unsigned int i = 0; g.members && i < size; i++)
		lat_ctl_close(g.members[i].ctl);
	free(g.members);
	free(g.pairs);
	lat_heat_free(g.heat);
	return ret ? ret : g.failed ? 1 : 0;
}

static int follow(const struct lat_options *o, unsigned int rank, unsigned int size,
		  struct bp_error *err)
{
	struct lat_options mine = *o;
	struct json_object *msg = message("join");
	struct lat_ctl *ctl = NULL;
	char host[256] = "", device[320];
	int ret;

	mine.host = o->rendezvous ? o->rendezvous : "127.0.0.1";
	mine.com_cm = false;
	gethostname(host, sizeof(host) - 1);
	own_device(o, device, sizeof(device));
	put_number(msg, "rank", rank);
	put_number(msg, "size", size);
	put_text(msg, "host", host);
	put_text(msg, "device", device);
	ret = lat_ctl_connect(&mine, &ctl, err);
	if (ret) {
		json_object_put(msg);
		return ret;
	}
	ctl->doing = "waiting for orders of rank 0";
	ret = lat_ctl_send(ctl, msg, o->timeout, err);
	while (!ret) {
		struct json_object *todo = NULL;
		struct bp_error none = { 0 };
		const char *peer;

		ret = lat_ctl_recv(ctl, "measure", PAIR_SECONDS, &todo, &none);
		if (ret) {
			/* The end of the last round is what "bye" instead of an order means. */
			if (ret == -EPROTO && strstr(none.what, "'bye'"))
				ret = 0;
			else if (err)
				*err = none;
			break;
		}
		peer = text(todo, "host");
		if (!*peer)
			peer = mine.host;
		ret = lat_ctl_send(ctl,
				   take_part(o, number(todo, "role") > 0 ? peer : NULL,
					     (unsigned int)number(todo, "port") & 0xffff),
				   o->timeout, err);
		json_object_put(todo);
	}
	lat_ctl_close(ctl);
	return ret;
}

int lat_all_pairs(const struct lat_options *o)
{
	unsigned int rank = 0, size = 0;
	struct bp_error err = { 0 };
	int ret = lat_ranks_env(getenv, &rank, &size);

	if (ret == -ENOENT) {
		bp_log_error(
			"--all-pairs is started by a launcher, as mpirun or srun, that tells each "
			"process its rank; there is none");
		return BP_EXIT_USAGE;
	}
	if (ret) {
		bp_log_error(
			"--all-pairs takes 2 to %d processes; what the launcher says is no rank "
			"of so many",
			LAT_RANKS_MAX);
		return BP_EXIT_USAGE;
	}
	lat_interrupt_setup();
	ret = rank ? follow(o, rank, size, &err) : lead(o, size, &err);
	return ret < 0 ? bp_log_report(&err, ret, "measuring all pairs") : ret;
}
