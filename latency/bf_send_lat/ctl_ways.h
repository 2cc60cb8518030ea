/* SPDX-License-Identifier: GPL-2.0-only */
/* The two ways a control channel is carried; see ctl.h. */
#ifndef LAT_CTL_WAYS_H
#define LAT_CTL_WAYS_H

#include "ctl.h"

struct rdma_event_channel;
struct rdma_cm_event;
struct rdma_cm_id;

/**
 * lat_ctl_new() - an empty connection.
 * @ops: way. @priv: its own.
 *
 * Return: it, or NULL.
 */
struct lat_ctl *lat_ctl_new(const struct lat_ctl_ops *ops, void *priv);

/**
 * lat_tcp_connect() - one try of all addresses of the host.
 * @o: options. @deadline: give up then (ns). @out: receives it. @err: receives the reason.
 *
 * Return: 0, -ECONNREFUSED or the like when trying again may help, -EINVAL when not.
 */
int lat_tcp_connect(const struct lat_options *o, long long deadline, struct lat_ctl **out,
		    struct bp_error *err);

/**
 * lat_tcp_listen() - sockets for IPv6 and IPv4.
 * @o: options. @fds: receives at most two. @err: receives the reason.
 *
 * Return: how many, or a negative errno.
 */
int lat_tcp_listen(const struct lat_options *o, int fds[2], struct bp_error *err);

/**
 * lat_tcp_accept() - take a client.
 * @listener: socket. @out: receives it. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_tcp_accept(int listener, struct lat_ctl **out, struct bp_error *err);

/**
 * lat_cm_connect() - as lat_tcp_connect(), over rdma_cm.
 * @o: options. @deadline: give up then (ns). @out: receives it. @err: receives the reason.
 *
 * Return: as lat_tcp_connect().
 */
int lat_cm_connect(const struct lat_options *o, long long deadline, struct lat_ctl **out,
		   struct bp_error *err);

/**
 * lat_cm_listen() - wait for clients on rdma_cm.
 * @o: options. @listener: receives it. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_cm_listen(const struct lat_options *o, struct rdma_cm_id **listener, struct bp_error *err);

/** lat_cm_unlisten() - undo lat_cm_listen(). @listener: NULL is allowed. */
void lat_cm_unlisten(struct rdma_cm_id *listener);

/**
 * lat_cm_accept() - take a client whose request has come.
 * @listener: whose channel is readable. @out: receives it. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_cm_accept(struct rdma_cm_id *listener, struct lat_ctl **out, struct bp_error *err);

/**
 * lat_cm_device() - the device that an rdma_cm control channel goes over.
 * @ctl: connection.
 *
 * Return: its name, or NULL when it is carried by TCP.
 */
const char *lat_cm_device(const struct lat_ctl *ctl);

/**
 * lat_cm_event() - one event of a channel, by a deadline.
 * @channel: made nonblocking before.
 * @want: RDMA_CM_EVENT_ number.
 * @deadline: ns.
 * @out: receives the event; rdma_ack_cm_event() it.
 * @err: receives the reason; another event than @want is one.
 *
 * Return: 0, or a negative errno.
 */
int lat_cm_event(struct rdma_event_channel *channel, int want, long long deadline,
		 struct rdma_cm_event **out, struct bp_error *err);

/**
 * lat_cm_resolve() - a host's address for rdma_cm, bound to a source where one is given.
 * @o: host and source.
 * @port: of the host.
 * @id: to resolve, up to the route.
 * @deadline: ns.
 * @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_cm_resolve(const struct lat_options *o, unsigned int port, struct rdma_cm_id *id,
		   long long deadline, struct bp_error *err);

#endif
