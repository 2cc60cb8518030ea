// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <json-c/json.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>

#include "blueflame.h"
#include "cmqp.h"
#include "ctl_ways.h"
#include "trial.h"

static int calibrate(struct lat_trial *s, struct bp_error *err)
{
	struct lat_clock_source source = lat_clock_here(true);
	struct bp_error why = { 0 };

	if (!lat_clock_calibrate(&s->clock, &source, LAT_CLOCK_WINDOW, &why))
		return 0;
	bp_log_info("the time-stamp counter is not used: %s", why.what);
	source = lat_clock_here(false);
	return lat_clock_calibrate(&s->clock, &source, LAT_CLOCK_WINDOW, err);
}

static void largest(struct lat_trial *s)
{
	s->max_size = 1;
	for (unsigned int i = 0; i < s->p.nr_sizes; i++)
		if (s->p.sizes[i] > s->max_size)
			s->max_size = s->p.sizes[i];
}

/* Ends on devices that are opened here, one for each kind of --blueflame ab. */
static int make_ends(struct lat_trial *s, struct bp_error *err)
{
	unsigned int kinds = s->p.blueflame == LAT_BF_AB ? 2 : 1;
	const struct sockaddr_storage *local = s->ctl ? &s->ctl->local : NULL;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < kinds; i++) {
		struct lat_device *d = &s->devices[i];
		struct lat_options o = *s->o;

		lat_blueflame_before_open(s->p.blueflame, i);
		ret = lat_device_open(s->o, s->ctl ? lat_cm_device(s->ctl) : NULL, local, d, err);
		lat_blueflame_after_open();
		if (ret)
			break;
		if (!i) {
			ret = lat_pin(s->o, d->name, s->client, &s->cpu, err);
			if (s->p.conn == LAT_UD && s->max_size > lat_mtu_bytes(d->attr.active_mtu))
				s->max_size = lat_mtu_bytes(d->attr.active_mtu);
		}
		lat_blueflame_adjust(s->p.blueflame, i, d, &o);
		if (!ret)
			ret = lat_end_make(d, &o, &s->p, s->max_size, NULL, &s->ends[i], err);
		if (!ret && !s->ctl)
			ret = lat_end_make(d, &o, &s->p, s->max_size, NULL, &s->ends[2 + i], err);
		s->nr_ends = i + 1;
	}
	return ret;
}

static int join_self(struct lat_trial *s, struct bp_error *err)
{
	unsigned int port = lat_mtu_bytes(s->devices[0].attr.active_mtu);
	int ret = 0;

	s->mtu = s->p.mtu ? s->p.mtu : port;
	if (s->mtu > port)
		return bp_error_set(err, -EINVAL, "use a smaller -m",
				    "an MTU of %u is more than the port's %u", s->mtu, port);
	while (s->p.conn == LAT_UD && s->p.nr_sizes > 1 && s->p.sizes[s->p.nr_sizes - 1] > s->mtu)
		s->p.nr_sizes--;
	for (unsigned int i = 0; s->p.conn == LAT_UD && i < s->p.nr_sizes; i++)
		if (s->p.sizes[i] > s->mtu)
			return bp_error_set(err, -EMSGSIZE, "use RC or UC, or a smaller -s",
					    "a datagram holds at most %u bytes here, not %u",
					    s->mtu, s->p.sizes[i]);
	for (unsigned int i = 0; !ret && i < s->nr_ends; i++) {
		struct lat_address a, b;

		lat_end_address(&s->ends[i], &a);
		lat_end_address(&s->ends[2 + i], &b);
		ret = lat_end_join(&s->ends[i], s->o, s->mtu, &b, err);
		if (!ret)
			ret = lat_end_join(&s->ends[2 + i], s->o, s->mtu, &a, err);
	}
	return ret;
}

/* A server lets nobody in who does not say the right words, and goes on waiting. */
static int await_client(struct lat_trial *s, struct bp_error *err)
{
	for (;;) {
		int ret = lat_ctl_accept(s->o, &s->ctl, err);

		if (ret)
			return ret;
		ret = lat_hello_read(s, err);
		if (ret != -EBADMSG)
			return ret;
		bp_log_warn("a client was turned away: %s", err->what);
		bp_error_clear(err);
		lat_ctl_close(s->ctl);
		s->ctl = NULL;
	}
}

static int prepare_client(struct lat_trial *s, struct bp_error *err)
{
	unsigned int port = 0;
	int ret = lat_ctl_connect(s->o, &s->ctl, err);

	if (!ret)
		ret = lat_hello_client(s, &port, err);
	if (ret)
		return ret;
	largest(s);
	return s->p.cm_qp ? lat_cmqp_connect(s, port, err) : make_ends(s, err);
}

static int prepare_server(struct lat_trial *s, struct bp_error *err)
{
	unsigned int port = 0;
	int ret = await_client(s, err);

	if (ret)
		return ret;
	largest(s);
	if (s->p.cm_qp)
		ret = lat_cmqp_listen(s, &port, err);
	if (!ret)
		ret = lat_hello_answer(s, port, err);
	if (ret)
		return ret;
	s->ctl->doing = "preparing";
	return s->p.cm_qp ? lat_cmqp_accept(s, err) : make_ends(s, err);
}

static int prepare_local(struct lat_trial *s, struct bp_error *err)
{
	int ret;

	s->p = s->o->params;
	s->client = true;
	largest(s);
	ret = make_ends(s, err);
	return ret ? ret : join_self(s, err);
}

int lat_trial_local(struct lat_trial *s, struct bp_error *err)
{
	int ret = calibrate(s, err);

	return ret ? ret : prepare_local(s, err);
}

static int goodbye(struct lat_trial *s, struct bp_error *err)
{
	struct json_object *msg = json_object_new_object(), *answer = NULL;
	int ret;

	s->ctl->doing = "saying goodbye";
	json_object_object_add(msg, "t", json_object_new_string("bye"));
	ret = lat_ctl_send(s->ctl, msg, s->o->timeout, err);
	if (!ret)
		ret = lat_ctl_recv(s->ctl, "bye", s->o->timeout, &answer, err);
	json_object_put(answer);
	return ret;
}

/* This end failed: tell the peer, and hear whether it has a reason of its own. */
static void part(struct lat_trial *s, int code, const struct bp_error *err)
{
	struct json_object *none = NULL;
	long long deadline = lat_deadline(1);
	int ret;

	if (!s->ctl || code == -EREMOTEIO || code == -EPIPE)
		return;
	lat_ctl_tell_error(s->ctl, err);
	/* It may be in the middle of something; lines of before are of no interest. */
	do {
		struct bp_error heard = { 0 };

		ret = lat_ctl_recv(s->ctl, "error", 0.3, &none, &heard);
		json_object_put(none);
		none = NULL;
		if (ret == -EREMOTEIO)
			s->peer_error = heard;
	} while (ret == -EPROTO && lat_now() < deadline);
}

int lat_trial_run(struct lat_trial *s, struct bp_error *err)
{
	long long start = lat_now();
	int ret = calibrate(s, err);

	if (ret)
		return ret;
	s->cpu = -1;
	/* Before the greeting, which tells the peer which processors this end may use. */
	if (s->o->cpu >= 0)
		ret = lat_pin(s->o, "", s->client, &s->cpu, err);
	if (ret)
		return ret;
	if (s->o->mode == LAT_LOOPBACK) {
		s->yield = s->o->yield == 1;
		ret = prepare_local(s, err);
		if (!ret)
			ret = lat_measure(s, err);
	} else {
		ret = s->client ? prepare_client(s, err) : prepare_server(s, err);
		/* A server's time starts with its client. */
		if (!s->client)
			start = lat_now();
		if (!ret)
			ret = lat_join_peer(s, err);
		if (!ret)
			ret = lat_measure(s, err);
		if (!ret)
			ret = goodbye(s, err);
		else
			part(s, ret, err);
	}
	s->elapsed = (double)(lat_now() - start) / 1e9;
	return ret;
}

void lat_trial_drop(struct lat_trial *s)
{
	for (unsigned int i = 0; i < s->nr_rows; i++) {
		lat_take_drop(&s->rows[i].take);
		free(s->rows[i].sorted);
		json_object_put(s->rows[i].peer);
	}
	for (unsigned int i = 0; i < 4; i++)
		lat_end_drop(&s->ends[i]);
	lat_cmqp_drop(s);
	for (unsigned int i = 0; i < 2; i++)
		lat_device_close(&s->devices[i]);
	lat_ctl_close(s->ctl);
	s->ctl = NULL;
}
