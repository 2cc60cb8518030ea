// SPDX-License-Identifier: GPL-2.0-only
/* All sizes, one after the other: tell the peer, exchange messages, hear how it was there. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "latency/rng.h"
#include "report.h"
#include "trial.h"

#define PATIENCE 0.3 /* for the news that explains a failed message */

static bool is_ab(const struct lat_trial *s)
{
	return s->p.blueflame == LAT_BF_AB;
}

/* Samples of one kind: the first, the warm-up, and those that count. */
static uint64_t wanted(const struct lat_trial *s)
{
	return 1 + s->p.warmup + s->p.iters;
}

static int say(struct lat_trial *s, const char *type, uint32_t size, struct bp_error *err)
{
	struct json_object *msg = json_object_new_object();

	json_object_object_add(msg, "t", json_object_new_string(type));
	json_object_object_add(msg, "size", json_object_new_int64(size));
	return lat_ctl_send(s->ctl, msg, s->o->timeout, err);
}

static int hear(struct lat_trial *s, const char *type, uint32_t size, struct bp_error *err)
{
	struct json_object *msg = NULL, *v;
	int ret = lat_ctl_recv(s->ctl, type, s->o->timeout, &msg, err);

	if (!ret && (!json_object_object_get_ex(msg, "size", &v) ||
		     json_object_get_int64(v) != (int64_t)size))
		ret = bp_error_set(err, -EPROTO, "use the same version on both ends",
				   "the peer is at another size than %u bytes", size);
	json_object_put(msg);
	return ret;
}

static int begin(struct lat_trial *s, uint32_t size, struct bp_error *err)
{
	int ret;

	s->ctl->doing = "starting a size";
	if (s->client) {
		ret = say(s, "start", size, err);
		return ret ? ret : hear(s, "started", size, err);
	}
	ret = hear(s, "start", size, err);
	return ret ? ret : say(s, "started", size, err);
}

/* What percentiles are taken from; without memory for it they come from the histogram. */
static void settle(struct lat_row *row)
{
	struct lat_take *t = &row->take;
	uint64_t n;

	lat_take_settle(t);
	n = t->stats.measured.n;
	if (!t->samples || !n)
		return;
	row->sorted = malloc(n * sizeof(*row->sorted));
	if (!row->sorted)
		return;
	memcpy(row->sorted, t->samples + (t->n - n), n * sizeof(*row->sorted));
	lat_sort(row->sorted, n);
	row->nr_sorted = n;
}

/* Each end's row goes to the other. */
static int finish(struct lat_trial *s, struct lat_row *rows, unsigned int n, struct bp_error *err)
{
	struct json_object *msg = json_object_new_object(), *list = json_object_new_array(),
			   *theirs;
	uint32_t size = rows[0].size;
	int ret = 0;

	s->ctl->doing = "ending a size";
	for (unsigned int i = 0; i < n; i++) {
		struct json_object *row = lat_row_json(s, &rows[i]);

		if (row)
			json_object_array_add(list, row);
	}
	json_object_object_add(msg, "t", json_object_new_string("done"));
	json_object_object_add(msg, "rows", list);
	if (s->client && s->p.duration)
		ret = say(s, "stop", size, err);
	else if (s->p.duration)
		ret = hear(s, "stop", size, err);
	if (ret) {
		json_object_put(msg);
		return ret;
	}
	ret = lat_ctl_send(s->ctl, msg, s->o->timeout, err);
	msg = NULL;
	if (!ret)
		ret = lat_ctl_recv(s->ctl, "done", s->o->timeout, &msg, err);
	if (ret)
		return ret;
	if (json_object_object_get_ex(msg, "rows", &theirs) &&
	    json_object_is_type(theirs, json_type_array))
		for (unsigned int i = 0; i < n && i < json_object_array_length(theirs); i++)
			rows[i].peer = json_object_get(json_object_array_get_idx(theirs, i));
	json_object_put(msg);
	return 0;
}

/* A message failed, or the watch said that none will come: say why. */
static int explain(struct lat_trial *s, int code, int stop, uint32_t size, uint64_t done,
		   struct bp_error *err)
{
	struct json_object *none = NULL;
	char failed[256] = "";

	if (code != -ECANCELED && s->ctl) {
		/* A queue pair whose peer is gone fails before the control channel tells. */
		long long deadline = lat_deadline(PATIENCE);
		enum lat_ctl_news news;

		while ((news = lat_ctl_look(s->ctl)) != LAT_NEWS_GONE && news != LAT_NEWS_ERROR &&
		       lat_now() < deadline)
			poll(NULL, 0, 5);
		if (news != LAT_NEWS_GONE && news != LAT_NEWS_ERROR)
			return code;
		stop = news == LAT_NEWS_GONE ? LAT_STOP_GONE : LAT_STOP_ERROR;
		if (err && stop == LAT_STOP_GONE) {
			memcpy(failed, err->what, sizeof(failed) - 1);
			failed[sizeof(failed) - 1] = '\0';
		}
		bp_error_clear(err);
	} else if (code != -ECANCELED) {
		return code;
	}
	switch (stop) {
	case LAT_STOP_GONE:
		return bp_error_set(
			err, -EPIPE, "look for its message on the other machine",
			"the peer closed the connection or died after %lu exchanges of %u "
			"bytes%s%s",
			done, size, *failed ? ": " : "", failed);
	case LAT_STOP_ERROR:
		return lat_ctl_recv(s->ctl, "none", 1, &none, err);
	case LAT_STOP_LOST:
		return bp_error_set(err, -EIO, "the network drops packets; RC repeats lost ones",
				    "a message was lost after %lu exchanges of %u bytes", done,
				    size);
	case LAT_STOP_STALLED:
		return bp_error_set(
			err, -ETIMEDOUT,
			s->p.conn == LAT_RC
				? "see what the peer does; --timeout sets the limit"
				: "a lost message looks like this too; RC repeats lost ones",
			"nothing came for %g s after %lu exchanges of %u bytes", s->o->timeout,
			done, size);
	default:
		return bp_error_set(err, -EINTR, NULL,
				    "ended by a signal after %lu exchanges of %u bytes", done,
				    size);
	}
}

static int run_once(struct lat_loop *l, uint64_t exchanges, struct bp_error *err)
{
	return l->other ? lat_loop_local(l, exchanges, err) : lat_loop_run(l, exchanges, err);
}

/* Blocks of both kinds in pairs, each pair in random order; both ends draw the same. */
static int run_blocks(struct lat_trial *s, struct lat_loop *l, struct lat_row *rows,
		      struct bp_error *err)
{
	uint64_t pairs = (wanted(s) + s->p.block - 1) / s->p.block;
	struct lat_rng rng = { s->p.seed };

	for (uint64_t i = 0; i < pairs; i++) {
		unsigned int first = lat_rng_next(&rng) >> 63;

		for (unsigned int k = 0; k < 2; k++) {
			unsigned int arm = first ^ k;
			int ret;

			l->end = &s->ends[arm];
			l->other = s->ctl ? NULL : &s->ends[2 + arm];
			l->take = &rows[arm].take;
			ret = run_once(l, s->p.block + 1, err);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int run_size(struct lat_trial *s, struct lat_row *rows, uint32_t size, struct bp_error *err)
{
	struct lat_watch watch;
	struct lat_loop l = {
		.end = &s->ends[0],
		.other = s->ctl ? NULL : &s->ends[2],
		.take = &rows[0].take,
		.watch = &watch,
		.clock = &s->clock,
		.size = size,
		.client = s->client,
		.events = s->o->events,
		.yield = s->yield,
		.gap = (uint64_t)(s->o->gap * 1000.0 / s->clock.ns_per_tick),
		.interval = s->client && s->o->rate > 0 ? 1e9 / s->o->rate / s->clock.ns_per_tick
							: 0,
	};
	uint64_t start, exchanges = s->p.duration ? UINT64_MAX : wanted(s) + 1, done;
	int ret = lat_watch_start(&watch, s->ctl, s->o->timeout), stop;

	if (ret)
		return bp_error_set(err, ret, NULL, "no thread to watch over the run: %s",
				    strerror(-ret));
	start = lat_clock_now(&s->clock);
	if (s->p.duration && s->client)
		l.until = start + (uint64_t)(s->p.duration * 1e9 / s->clock.ns_per_tick);
	ret = is_ab(s) ? run_blocks(s, &l, rows, err) : run_once(&l, exchanges, err);
	rows[0].seconds = lat_clock_ns(&s->clock, lat_clock_now(&s->clock) - start) / 1e9;
	s->busy += rows[0].seconds;
	lat_watch_end(&watch);
	stop = atomic_load_explicit(&watch.stop, memory_order_acquire);
	done = atomic_load_explicit(&watch.progress, memory_order_relaxed);
	if (ret == -ECANCELED && stop == LAT_STOP_WANTED && s->p.duration && !s->client)
		return 0;
	return ret ? explain(s, ret, stop, size, done, err) : 0;
}

static int measure_size(struct lat_trial *s, uint32_t size, struct bp_error *err)
{
	unsigned int n = is_ab(s) ? 2 : 1;
	struct lat_row *rows = &s->rows[s->nr_rows];
	/* Blocks are whole, so there may be some samples more than asked for. */
	uint64_t room = s->p.duration ? 0 : wanted(s) + 1 + (is_ab(s) ? s->p.block : 0);
	int ret = 0;

	for (unsigned int i = 0; i < n; i++) {
		rows[i].size = size;
		rows[i].arm = i;
		rows[i].paced = s->peer_open;
		ret = lat_take_init(&rows[i].take, room, s->p.warmup, s->client && s->o->rate > 0);
		if (ret)
			return bp_error_set(err, ret, "use a smaller -n, or -D",
					    "no memory for %lu samples", room);
		s->nr_rows++;
	}
	if (s->ctl)
		ret = begin(s, size, err);
	if (ret)
		return ret;
	ret = run_size(s, rows, size, err);
	for (unsigned int i = 0; i < n; i++) {
		settle(&rows[i]);
		rows[i].complete = !ret;
		rows[i].seconds = rows[0].seconds;
	}
	if (!ret && s->ctl)
		ret = finish(s, rows, n, err);
	for (unsigned int i = 0; s->on_row && i < n; i++)
		s->on_row(s, &rows[i]);
	return ret;
}

int lat_measure(struct lat_trial *s, struct bp_error *err)
{
	int ret = 0;

	lat_env_read(&s->env, "/");
	lat_env_count(&s->before, &s->env, "/");
	for (unsigned int i = 0; !ret && i < s->p.nr_sizes; i++)
		ret = measure_size(s, s->p.sizes[i], err);
	lat_env_count(&s->after, &s->env, "/");
	return ret;
}
