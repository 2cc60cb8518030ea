// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "cmqp.h"
#include "ctl_ways.h"

struct lat_cmqp {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
};

static int cm_failed(struct bp_error *err, const char *what)
{
	return bp_error_set(err, errno ? -errno : -EIO, NULL, "%s: %s", what, strerror(errno));
}

static struct lat_cmqp *new_cmqp(enum rdma_port_space ps, bool listener, struct bp_error *err)
{
	struct lat_cmqp *c = calloc(1, sizeof(*c));
	int flags;

	if (!c)
		return NULL;
	c->channel = rdma_create_event_channel();
	if (!c->channel || (flags = fcntl(c->channel->fd, F_GETFL)) < 0 ||
	    fcntl(c->channel->fd, F_SETFL, flags | O_NONBLOCK) ||
	    rdma_create_id(c->channel, listener ? &c->listener : &c->id, NULL, ps)) {
		cm_failed(err, "rdma_cm");
		if (c->channel)
			rdma_destroy_event_channel(c->channel);
		free(c);
		return NULL;
	}
	return c;
}

static enum rdma_port_space space(const struct lat_trial *s)
{
	return s->p.conn == LAT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
}

int lat_cmqp_listen(struct lat_trial *s, unsigned int *port, struct bp_error *err)
{
	struct sockaddr_storage any = s->ctl->local;
	struct lat_cmqp *c = new_cmqp(space(s), true, err);

	if (!c)
		return -EIO;
	s->cmqp = c;
	/* Port 0 is at the same place for both families. */
	((struct sockaddr_in *)&any)->sin_port = 0;
	if (rdma_bind_addr(c->listener, (struct sockaddr *)&any) || rdma_listen(c->listener, 1))
		return cm_failed(err, "no port for the measured queue pair");
	*port = ntohs(rdma_get_src_port(c->listener));
	return 0;
}

/* Device and end upon the id that rdma_cm has bound to a device. */
static int equip(struct lat_trial *s, struct bp_error *err)
{
	struct lat_cmqp *c = s->cmqp;
	struct lat_device *d = &s->devices[0];
	int ret = lat_device_adopt(c->id->verbs, c->id->port_num, s->o,
				   (struct sockaddr_storage *)rdma_get_local_addr(c->id), d, err);

	if (ret)
		return ret;
	if (s->o->device && strcmp(s->o->device, d->name) != 0) {
		bp_error_set(err, -ENODEV, NULL, "the address belongs to %s, not to -d %s", d->name,
			     s->o->device);
		bp_error_fix(err, "leave out -d, or name an address of %s", s->o->device);
		return -ENODEV;
	}
	if (s->o->tos >= 0) {
		uint8_t tos = (uint8_t)s->o->tos;

		rdma_set_option(c->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos));
	}
	ret = lat_pin(s->o, d->name, s->client, &s->cpu, err);
	if (ret)
		return ret;
	if (s->p.conn == LAT_UD && s->max_size > lat_mtu_bytes(d->attr.active_mtu))
		s->max_size = lat_mtu_bytes(d->attr.active_mtu);
	ret = lat_end_make(d, s->o, &s->p, s->max_size, c->id, &s->ends[0], err);
	s->nr_ends = 1;
	return ret;
}

static struct rdma_conn_param conn_param(const struct lat_trial *s)
{
	return (struct rdma_conn_param){
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = (uint8_t)s->o->retry,
		.rnr_retry_count = 7,
		.qp_num = s->ends[0].qp->qp_num,
	};
}

/* An event, or the news that nobody will cause one. */
static int await(struct lat_trial *s, int want, struct rdma_cm_event **event, struct bp_error *err)
{
	long long deadline = lat_deadline(s->o->timeout);
	struct json_object *none = NULL;

	for (;;) {
		struct pollfd fds[1 + LAT_CTL_FDS] = { { s->cmqp->channel->fd, POLLIN, 0 } };
		unsigned int n = 1 + s->ctl->ops->fds(s->ctl, fds + 1);
		enum lat_ctl_news news = lat_ctl_look(s->ctl);

		if (news == LAT_NEWS_GONE || news == LAT_NEWS_ERROR)
			return lat_ctl_recv(s->ctl, "none", 1, &none, err);
		poll(fds, n, lat_wait_ms(deadline));
		if (fds[0].revents || lat_interrupted() || lat_now() >= deadline)
			return lat_cm_event(s->cmqp->channel, want, deadline, event, err);
	}
}

int lat_cmqp_accept(struct lat_trial *s, struct bp_error *err)
{
	struct lat_cmqp *c = s->cmqp;
	struct rdma_conn_param param;
	struct rdma_cm_event *event;
	int ret;

	s->ctl->doing = "waiting for the measured queue pair";
	ret = await(s, RDMA_CM_EVENT_CONNECT_REQUEST, &event, err);
	if (ret)
		return ret;
	c->id = event->id;
	rdma_ack_cm_event(event);
	ret = equip(s, err);
	if (ret)
		return ret;
	param = conn_param(s);
	if (rdma_accept(c->id, &param))
		return cm_failed(err, "rdma_accept");
	/* Datagrams have no third message. */
	if (s->p.conn == LAT_UD)
		return 0;
	ret = await(s, RDMA_CM_EVENT_ESTABLISHED, &event, err);
	if (!ret)
		rdma_ack_cm_event(event);
	return ret;
}

int lat_cmqp_connect(struct lat_trial *s, unsigned int port, struct bp_error *err)
{
	struct lat_cmqp *c = new_cmqp(space(s), false, err);
	struct rdma_conn_param param;
	struct rdma_cm_event *event;
	int ret;

	if (!c)
		return -EIO;
	s->cmqp = c;
	s->ctl->doing = "connecting the measured queue pair";
	ret = lat_cm_resolve(s->o, port, c->id, lat_deadline(s->o->timeout), err);
	if (!ret)
		ret = equip(s, err);
	if (ret)
		return ret;
	param = conn_param(s);
	if (rdma_connect(c->id, &param))
		return cm_failed(err, "rdma_connect");
	ret = await(s, RDMA_CM_EVENT_ESTABLISHED, &event, err);
	if (!ret)
		rdma_ack_cm_event(event);
	return ret;
}

void lat_cmqp_drop(struct lat_trial *s)
{
	struct lat_cmqp *c = s->cmqp;

	if (!c)
		return;
	if (c->id)
		rdma_destroy_id(c->id);
	if (c->listener)
		rdma_destroy_id(c->listener);
	rdma_destroy_event_channel(c->channel);
	free(c);
	s->cmqp = NULL;
}
