// SPDX-License-Identifier: GPL-2.0-only
/* What is around the rows: what is measured, on what, and what spoils it. */
#include <arpa/inet.h>
#include <string.h>

#include <bp/cli.h>

#include "report.h"

#define SAMPLES_DEFAULT 100000

static void print_address(struct bp_print *p, const char *key, const char *fmt,
			  const struct sockaddr_storage *a)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (a->ss_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, text, sizeof(text));
	else if (a->ss_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, text,
			  sizeof(text));
	bp_print_str(p, key, fmt, text);
}

static const char *role(const struct lat_trial *s)
{
	return s->o->mode == LAT_LOOPBACK ? "loopback" : s->client ? "client" : "server";
}

static void print_device(struct bp_print *p, const struct lat_trial *s)
{
	const struct lat_device *d = &s->devices[0];
	char gid[INET6_ADDRSTRLEN];

	if (!d->name[0])
		return;
	bp_print_str(p, "device", "# device %s", d->name);
	bp_print_u64(p, "port", " port %lu", d->port);
	bp_print_str(p, "link", ", %s", d->ethernet ? "Ethernet" : "InfiniBand");
	if (d->gid >= 0 && d->context) {
		bp_print_u64(p, "gid_index", ", GID %lu", d->gids[d->gid].index);
		bp_print_str(p, "gid", " %s", lat_gid_format(&d->gids[d->gid].gid, gid));
		bp_print_str(p, "gid_type", " (%s)", lat_gid_type_name(d->gids[d->gid].type));
	}
	bp_print_u64(p, "mtu", ", MTU %lu\n", s->mtu);
}

static void print_queue(struct bp_print *p, const struct lat_trial *s)
{
	const struct lat_end *e = &s->ends[0];

	bp_print_u64(p, "tx_depth", "# send queue %lu", s->nr_ends ? e->tx_depth : s->o->tx_depth);
	bp_print_u64(p, "signal_every", ", completion of one in %lu",
		     s->nr_ends ? e->signal_every : s->o->signal_every);
	bp_print_u64(p, "rx_depth", ", receive queue %lu",
		     s->nr_ends ? e->rx_depth : s->o->rx_depth);
	bp_print_u64(p, "inline_size", ", inline up to %lu",
		     s->nr_ends ? e->inline_size
				: (uint64_t)(s->o->inline_size > 0 ? s->o->inline_size : 0));
	bp_print_str(p, "wait", ", %s\n",
		     s->o->events ? "sleeps for events"
		     : s->yield	  ? "polls and gives way"
				  : "polls");
}

void lat_report_head(struct bp_print *p, const struct lat_trial *s)
{
	bp_print_object(p, "test_info");
	bp_print_str(p, "test", "# %s", "half of the round-trip time of sends");
	bp_print_str(p, "role", ", %s", role(s));
	bp_print_str(p, "connection", ", %s", lat_conn_name(s->p.conn));
	bp_print_str(p, "connected_by", ", connected by %s\n",
		     s->p.cm_qp ? "rdma_cm"
		     : s->ctl	? "exchange"
				: "itself");
	bp_print_str(p, "exchange", NULL, s->ctl ? s->ctl->ops->name : "none");
	if (s->ctl) {
		print_address(p, "local_address", "# %s", &s->ctl->local);
		print_address(p, "peer_address", " with %s", &s->ctl->remote);
		bp_print_text(p, " over %s\n", s->ctl->ops->name);
		bp_print_bool(p, "same_host", NULL, s->same_host);
	}
	print_device(p, s);
	print_queue(p, s);
	if (s->o->rate > 0)
		bp_print_f64(p, "rate",
			     "# open loop, %.3f exchanges a second; latency is from "
			     "the time a send was due\n",
			     3, s->o->rate);
	bp_print_u64(p, "iterations_wanted", NULL, s->p.duration ? 0 : s->p.iters);
	bp_print_u64(p, "duration", NULL, s->p.duration);
	bp_print_u64(p, "warmup", "# the first sample and a warm-up of %lu are shown apart\n",
		     s->p.warmup);
	bp_print_str(p, "blueflame", NULL, lat_blueflame_name(s->p.blueflame));
	if (s->p.blueflame == LAT_BF_AB) {
		bp_print_u64(p, "seed", "# BlueFlame on and off in turns, seed %lu", s->p.seed);
		bp_print_u64(p, "block", ", blocks of %lu\n", s->p.block);
	}
	bp_print_s64(p, "cpu", s->cpu >= 0 ? "# on processor %ld\n" : NULL, s->cpu);
	bp_print_str(p, "unit", NULL, s->o->cycles ? "cycles" : "usec");
	bp_print_object_end(p);
	if (s->o->average_only)
		return;
	{
		/* The first nine (with -D four) are ib_send_lat's, word for word. */
		const char *u = s->o->cycles ? "cycles" : "usec";

		bp_print_text(p, " #bytes   #iterations ");
		if (s->p.duration)
			bp_print_text(p, "t_avg[%s] tps average   ", u);
		bp_print_text(p, "t_min[%s] t_max[%s] t_typical[%s] ", u, u, u);
		if (!s->p.duration)
			bp_print_text(p, "t_avg[%s] ", u);
		bp_print_text(p,
			      "t_stdev[%s] 99%% percentile[%s] 99.9%% percentile[%s] "
			      "99.99%% percentile[%s] 90%% percentile[%s] few samples      "
			      "t_max at  t_max[ms]    first[%s] warm-up[%s]\n",
			      u, u, u, u, u, u, u);
	}
}

static void print_clock(struct bp_print *p, const struct lat_trial *s)
{
	bp_print_object(p, "clock");
	bp_print_str(p, "source", "# clock: %s",
		     s->clock.tsc ? "time-stamp counter" : "CLOCK_MONOTONIC_RAW");
	bp_print_f64(p, "ns_per_tick", ", %.6f ns a tick", 6, s->clock.ns_per_tick);
	bp_print_f64(p, "error_ppm", " (+-%.3f ppm)", 3, s->clock.error_ppm);
	bp_print_f64(p, "cost_ns", ", a reading costs %.3f ns", 3, s->clock.cost_median);
	bp_print_f64(p, "drift_ppm", ", drift %.3f ppm\n", 3, lat_clock_drift(&s->clock));
	bp_print_object_end(p);
}

static void print_times(struct bp_print *p, const struct lat_trial *s)
{
	double rest = s->elapsed - s->busy;

	bp_print_f64(p, "elapsed_seconds", "# %.3f s", 3, s->elapsed);
	bp_print_f64(p, "overhead_seconds", ", %.3f of them outside the traffic\n", 3,
		     rest > 0 ? rest : 0);
}

void lat_report_tail(struct bp_print *p, const struct lat_trial *s, int ret,
		     const struct bp_error *err)
{
	if (s->clock.ns_per_tick > 0 && !s->o->average_only) {
		print_clock(p, s);
		print_times(p, s);
	}
	if (!bp_print_is_json(p))
		return;
	if (s->env.kernel[0]) {
		struct lat_env_counts window = lat_env_window(&s->before, &s->after);

		lat_env_print(p, &s->env, &window);
	}
	bp_print_bool(p, "ok", NULL, !ret);
	if (!ret) {
		bp_print_null(p, "error", NULL);
		return;
	}
	bp_print_object(p, "error");
	bp_print_str(p, "what", NULL, err->what);
	bp_print_str(p, "fix", NULL, err->fix);
	bp_print_str(p, "errno", NULL, strerrorname_np(-ret));
	if (s->peer_error.what[0])
		bp_print_str(p, "peer", NULL, s->peer_error.what);
	bp_print_object_end(p);
}

void lat_report_document(struct bp_print *p, const struct lat_trial *s, int ret,
			 const struct bp_error *err)
{
	unsigned int detail = LAT_DETAIL_HIST | LAT_DETAIL_PEER;

	bp_print_object(p, NULL);
	bp_print_u64(p, "schema", NULL, LAT_SCHEMA);
	bp_print_str(p, "program", NULL, "bf_send_lat");
	bp_print_str(p, "version", NULL, bp_version());
	lat_report_head(p, s);
	bp_print_array(p, "results");
	for (unsigned int i = 0; i < s->nr_rows; i++) {
		const struct lat_row *row = &s->rows[i];

		if (!row->take.stats.measured.n)
			continue;
		lat_report_row(p, s, row,
			       detail | (row->nr_sorted <= SAMPLES_DEFAULT || s->o->keep_samples
						 ? LAT_DETAIL_SAMPLES
						 : 0));
	}
	bp_print_array_end(p);
	if (s->p.blueflame == LAT_BF_AB)
		lat_report_ab(p, s);
	lat_report_tail(p, s, ret, err);
	bp_print_object_end(p);
}
