// SPDX-License-Identifier: GPL-2.0-only
/* The control channel over rdma_cm: lines are messages of an RC queue pair of its own. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_ways.h"
#include "options.h"

#define RX_SLOTS       8
#define ACCEPT_SECONDS 5

struct cm_priv {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_comp_channel *comp;
	struct ibv_cq *rx_cq;
	struct ibv_cq *tx_cq;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	char *buf; /* RX_SLOTS lines, then the one to send */
	bool connected;
	bool gone;
};

static int nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

static int post_slot(struct cm_priv *c, unsigned int slot)
{
	struct ibv_sge sge = { (uintptr_t)(c->buf + slot * LAT_LINE_MAX), LAT_LINE_MAX,
			       c->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	return -ibv_post_recv(c->id->qp, &wr, &bad);
}

static unsigned int cm_fds(struct lat_ctl *ctl, struct pollfd fds[LAT_CTL_FDS])
{
	struct cm_priv *c = ctl->priv;

	fds[0] = (struct pollfd){ c->channel->fd, POLLIN, 0 };
	fds[1] = (struct pollfd){ c->comp->fd, POLLIN, 0 };
	return 2;
}

static int take_messages(struct lat_ctl *ctl, struct cm_priv *c)
{
	struct ibv_wc wc;
	int moved = 0;

	while (ctl->len + LAT_LINE_MAX <= sizeof(ctl->buf) && ibv_poll_cq(c->rx_cq, 1, &wc) > 0) {
		if (wc.status != IBV_WC_SUCCESS || wc.byte_len > LAT_LINE_MAX) {
			c->gone = true;
			break;
		}
		memcpy(ctl->buf + ctl->len, c->buf + wc.wr_id * LAT_LINE_MAX, wc.byte_len);
		ctl->len += wc.byte_len;
		moved += (int)wc.byte_len;
		if (post_slot(c, (unsigned int)wc.wr_id))
			c->gone = true;
	}
	return moved;
}

static int cm_fill(struct lat_ctl *ctl)
{
	struct cm_priv *c = ctl->priv;
	struct rdma_cm_event *event;
	struct ibv_cq *cq;
	void *context;
	int moved;

	/* Whatever happens to an established connection is its end. */
	while (!rdma_get_cm_event(c->channel, &event)) {
		if (event->event != RDMA_CM_EVENT_ESTABLISHED)
			c->gone = true;
		rdma_ack_cm_event(event);
	}
	while (!ibv_get_cq_event(c->comp, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	/* Armed before the queue is read, so that what comes in between raises an event. */
	ibv_req_notify_cq(c->rx_cq, 0);
	moved = take_messages(ctl, c);
	return moved ? moved : c->gone ? -EPIPE : 0;
}

static int cm_send(struct lat_ctl *ctl, const char *line, size_t len, long long deadline)
{
	struct cm_priv *c = ctl->priv;
	char *out = c->buf + RX_SLOTS * LAT_LINE_MAX;
	struct ibv_sge sge = { (uintptr_t)out, (uint32_t)len, c->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;
	int ret;

	memcpy(out, line, len);
	ret = ibv_post_send(c->id->qp, &wr, &bad);
	if (ret)
		return -ret;
	while (!(ret = ibv_poll_cq(c->tx_cq, 1, &wc))) {
		if (lat_now() >= deadline)
			return -ETIMEDOUT;
		poll(NULL, 0, 1);
	}
	return ret < 0 ? ret : wc.status == IBV_WC_SUCCESS ? 0 : -EPIPE;
}

static void release(struct cm_priv *c)
{
	if (!c)
		return;
	if (c->connected)
		rdma_disconnect(c->id);
	if (c->id && c->id->qp)
		rdma_destroy_qp(c->id);
	if (c->mr)
		ibv_dereg_mr(c->mr);
	if (c->rx_cq)
		ibv_destroy_cq(c->rx_cq);
	if (c->tx_cq)
		ibv_destroy_cq(c->tx_cq);
	if (c->comp)
		ibv_destroy_comp_channel(c->comp);
	if (c->pd)
		ibv_dealloc_pd(c->pd);
	if (c->id)
		rdma_destroy_id(c->id);
	if (c->channel)
		rdma_destroy_event_channel(c->channel);
	free(c->buf);
	free(c);
}

static void cm_close(struct lat_ctl *ctl)
{
	release(ctl->priv);
}

static const struct lat_ctl_ops cm_ops = {
	.name = "rdma_cm",
	.fds = cm_fds,
	.fill = cm_fill,
	.send = cm_send,
	.close = cm_close,
};

const char *lat_cm_device(const struct lat_ctl *ctl)
{
	const struct cm_priv *c = ctl->priv;

	return ctl->ops == &cm_ops ? ibv_get_device_name(c->id->verbs->device) : NULL;
}

int lat_cm_event(struct rdma_event_channel *channel, int want, long long deadline,
		 struct rdma_cm_event **out, struct bp_error *err)
{
	struct pollfd fd = { channel->fd, POLLIN, 0 };
	int status, got;

	while (rdma_get_cm_event(channel, out)) {
		if (errno != EAGAIN && errno != EINTR)
			return bp_error_set(err, -errno, NULL, "rdma_cm: %s", strerror(errno));
		if (lat_interrupted())
			return bp_error_set(err, -EINTR, NULL, "ended by a signal");
		if (lat_now() >= deadline)
			return bp_error_set(err, -ETIMEDOUT, NULL,
					    "rdma_cm gave no answer in time while waiting for %s",
					    rdma_event_str((enum rdma_cm_event_type)want));
		poll(&fd, 1, lat_wait_ms(deadline));
	}
	got = (int)(*out)->event;
	status = (*out)->status;
	if (got == want)
		return 0;
	rdma_ack_cm_event(*out);
	*out = NULL;
	return bp_error_set(err, got == RDMA_CM_EVENT_REJECTED ? -ECONNREFUSED : -EHOSTUNREACH,
			    NULL, "rdma_cm said %s (status %d) instead of %s",
			    rdma_event_str((enum rdma_cm_event_type)got), status,
			    rdma_event_str((enum rdma_cm_event_type)want));
}

static int host_address(const char *host, unsigned int port, int flags, struct addrinfo **out,
			struct bp_error *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, out);
	return ret ? bp_error_set(err, -EINVAL, NULL, "no address for '%s': %s", host ? host : "*",
				  gai_strerror(ret))
		   : 0;
}

static int resolve_step(struct rdma_cm_id *id, int ret, int want, long long deadline,
			struct bp_error *err)
{
	struct rdma_cm_event *event;

	if (ret)
		return bp_error_set(err, -errno, NULL, "rdma_cm: %s", strerror(errno));
	ret = lat_cm_event(id->channel, want, deadline, &event, err);
	if (!ret)
		rdma_ack_cm_event(event);
	return ret;
}

int lat_cm_resolve(const struct lat_options *o, unsigned int port, struct rdma_cm_id *id,
		   long long deadline, struct bp_error *err)
{
	struct addrinfo *ai = NULL, *src = NULL;
	int ret = host_address(o->host, port, 0, &ai, err);

	if (!ret && o->source)
		ret = host_address(o->source, 0, AI_NUMERICHOST, &src, err);
	if (!ret)
		ret = resolve_step(
			id, rdma_resolve_addr(id, src ? src->ai_addr : NULL, ai->ai_addr, 2000),
			RDMA_CM_EVENT_ADDR_RESOLVED, deadline, err);
	if (!ret)
		ret = resolve_step(id, rdma_resolve_route(id, 2000), RDMA_CM_EVENT_ROUTE_RESOLVED,
				   deadline, err);
	if (ai)
		freeaddrinfo(ai);
	if (src)
		freeaddrinfo(src);
	return ret;
}

/* Everything below the connection itself: queues, memory, receives. */
static int equip(struct cm_priv *c, struct bp_error *err)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4,
			 .max_recv_wr = RX_SLOTS,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	int ret = -ENOMEM;

	c->buf = calloc(RX_SLOTS + 1, LAT_LINE_MAX);
	c->pd = ibv_alloc_pd(c->id->verbs);
	c->comp = ibv_create_comp_channel(c->id->verbs);
	if (!c->buf || !c->pd || !c->comp)
		goto fail;
	c->rx_cq = ibv_create_cq(c->id->verbs, RX_SLOTS + 1, NULL, c->comp, 0);
	c->tx_cq = ibv_create_cq(c->id->verbs, 8, NULL, NULL, 0);
	c->mr = ibv_reg_mr(c->pd, c->buf, (RX_SLOTS + 1) * LAT_LINE_MAX, IBV_ACCESS_LOCAL_WRITE);
	if (!c->rx_cq || !c->tx_cq || !c->mr || nonblocking(c->comp->fd))
		goto fail;
	attr.recv_cq = c->rx_cq;
	attr.send_cq = c->tx_cq;
	if (rdma_create_qp(c->id, c->pd, &attr)) {
		ret = -errno;
		goto fail;
	}
	for (unsigned int i = 0; i < RX_SLOTS; i++) {
		ret = post_slot(c, i);
		if (ret)
			goto fail;
	}
	return 0;
fail:
	return bp_error_set(err, ret, "see ulimit -l", "no queue pair for the exchange: %s",
			    strerror(-ret));
}

static struct cm_priv *new_channel(struct bp_error *err)
{
	struct cm_priv *c = calloc(1, sizeof(*c));

	if (c)
		c->channel = rdma_create_event_channel();
	if (c && c->channel && !nonblocking(c->channel->fd))
		return c;
	bp_error_set(err, -ENODEV, "load rdma_ucm, and see that there is an RDMA device",
		     "rdma_cm is not available: %s", strerror(errno));
	release(c);
	return NULL;
}

static const struct rdma_conn_param conn_param = {
	.responder_resources = 1,
	.initiator_depth = 1,
	.retry_count = 7,
	.rnr_retry_count = 7,
};

static int finish(struct cm_priv *c, long long deadline, struct lat_ctl **out, struct bp_error *err)
{
	struct rdma_cm_event *event;
	int ret = lat_cm_event(c->channel, RDMA_CM_EVENT_ESTABLISHED, deadline, &event, err);
	struct lat_ctl *ctl;

	if (ret)
		return ret;
	rdma_ack_cm_event(event);
	c->connected = true;
	ctl = lat_ctl_new(&cm_ops, c);
	if (!ctl)
		return bp_error_set(err, -ENOMEM, NULL, "no memory for a connection");
	memcpy(&ctl->local, rdma_get_local_addr(c->id), sizeof(struct sockaddr_in6));
	memcpy(&ctl->remote, rdma_get_peer_addr(c->id), sizeof(struct sockaddr_in6));
	*out = ctl;
	return 0;
}

int lat_cm_connect(const struct lat_options *o, long long deadline, struct lat_ctl **out,
		   struct bp_error *err)
{
	struct cm_priv *c = new_channel(err);
	struct rdma_conn_param param = conn_param;
	int ret;

	if (!c)
		return -EINVAL;
	if (rdma_create_id(c->channel, &c->id, NULL, RDMA_PS_TCP)) {
		ret = bp_error_set(err, -errno, NULL, "rdma_cm: %s", strerror(errno));
		goto fail;
	}
	ret = lat_cm_resolve(o, o->port, c->id, deadline, err);
	if (!ret)
		ret = equip(c, err);
	if (!ret && rdma_connect(c->id, &param))
		ret = bp_error_set(err, -errno, NULL, "rdma_connect: %s", strerror(errno));
	if (!ret)
		ret = finish(c, deadline, out, err);
	if (!ret)
		return 0;
fail:
	if (err) {
		char what[sizeof(err->what)];

		memcpy(what, err->what, sizeof(what));
		bp_error_clear(err);
		bp_error_set(err, ret,
			     "start bf_send_lat with the same option there; the address must be of "
			     "an RDMA device",
			     "no server at %.100s port %u over rdma_cm: %.300s", o->host, o->port,
			     what);
	}
	release(c);
	return ret;
}

int lat_cm_listen(const struct lat_options *o, struct rdma_cm_id **listener, struct bp_error *err)
{
	struct rdma_event_channel *channel;
	struct addrinfo *ai;
	struct cm_priv *c;
	/* Any IPv6 address takes IPv4 as well, as with sockets. */
	int ret = host_address(o->source ? o->source : "::", o->port, AI_PASSIVE, &ai, err);

	if (ret)
		return ret;
	c = new_channel(err);
	if (!c) {
		freeaddrinfo(ai);
		return -ENODEV;
	}
	channel = c->channel;
	free(c);
	ret = rdma_create_id(channel, listener, NULL, RDMA_PS_TCP) ? -errno : 0;
	if (!ret && (rdma_bind_addr(*listener, ai->ai_addr) || rdma_listen(*listener, 4))) {
		ret = -errno;
		rdma_destroy_id(*listener);
	}
	freeaddrinfo(ai);
	if (!ret)
		return 0;
	*listener = NULL;
	rdma_destroy_event_channel(channel);
	return bp_error_set(err, ret, "another server may be running; choose a port with -p",
			    "cannot listen on rdma_cm port %u: %s", o->port, strerror(-ret));
}

void lat_cm_unlisten(struct rdma_cm_id *listener)
{
	struct rdma_event_channel *channel = listener ? listener->channel : NULL;

	if (!listener)
		return;
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
}

int lat_cm_accept(struct rdma_cm_id *listener, struct lat_ctl **out, struct bp_error *err)
{
	struct rdma_conn_param param = conn_param;
	struct rdma_cm_event *event;
	struct cm_priv *c;
	int ret;

	if (rdma_get_cm_event(listener->channel, &event))
		return -EAGAIN;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		rdma_ack_cm_event(event);
		return -EAGAIN;
	}
	c = new_channel(err);
	if (!c) {
		rdma_ack_cm_event(event);
		return -ENODEV;
	}
	c->id = event->id;
	rdma_ack_cm_event(event);
	ret = rdma_migrate_id(c->id, c->channel) ? -errno : 0;
	if (ret)
		bp_error_set(err, ret, NULL, "rdma_migrate_id: %s", strerror(-ret));
	if (!ret)
		ret = equip(c, err);
	if (!ret && rdma_accept(c->id, &param))
		ret = bp_error_set(err, -errno, NULL, "rdma_accept: %s", strerror(errno));
	if (!ret)
		ret = finish(c, lat_deadline(ACCEPT_SECONDS), out, err);
	if (ret)
		release(c);
	return ret;
}
