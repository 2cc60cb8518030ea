/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One end of a measured pair: a queue pair with its memory and completion queues, what the
 * peer must know of it, and how both become connected.
 */
#ifndef LAT_END_H
#define LAT_END_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include <bp/error.h>

#include "gid.h"
#include "options.h"

#define LAT_REFILL_MAX 64
#define LAT_GRH	       40 /* what precedes a datagram in the receiver's buffer */

struct rdma_cm_id;
struct lat_ctl;

/**
 * struct lat_device - an open device and the port to use.
 * @context: as libibverbs has it. @own: closed with the rest; not so when it is rdma_cm's.
 * @name: of the device. @port: number. @attr: of the port.
 * @ethernet: RoCE; otherwise InfiniBand.
 * @gids: usable GIDs. @nr_gids: how many. @gid: place of the chosen one, -1 for none.
 */
struct lat_device {
	struct ibv_context *context;
	bool own;
	char name[64];
	unsigned int port;
	struct ibv_port_attr attr;
	bool ethernet;
	struct lat_gid gids[LAT_GIDS_MAX];
	int nr_gids;
	int gid;
};

/**
 * struct lat_address - what one end tells the other.
 * @qpn: queue pair number. @psn: first packet's number. @lid: of the port, 0 on Ethernet.
 * @gid: of the port. @has_gid: packets carry it. @mtu: of the port, in bytes. @qkey: UD.
 */
struct lat_address {
	uint32_t qpn;
	uint32_t psn;
	uint16_t lid;
	union ibv_gid gid;
	bool has_gid;
	unsigned int mtu;
	uint32_t qkey;
};

/**
 * struct lat_end - one end.
 * @device: where it is. @conn: transport service. @max_size: largest message.
 * @id: rdma_cm's, or NULL.
 * @buf: memory: what is sent, then what is received. @buf_size: bytes. @rx: the second half.
 * @inline_size: largest message that is copied into the work request.
 * @rx_depth, @tx_depth, @signal_every: as granted.
 * @psn: own first packet number. @remote: the peer's address. @ah: UD.
 * @posted: receives posted and not used. @unsignalled: sends since one asked for a completion.
 * @used: sends not known to be complete.
 * @events: completion events not acknowledged. @armed: the receive queue raises an event.
 */
struct lat_end {
	struct lat_device *device;
	enum lat_conn conn;
	uint32_t max_size;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	char *buf;
	size_t buf_size;
	char *rx;
	struct ibv_comp_channel *channel;
	struct ibv_cq *tx_cq;
	struct ibv_cq *rx_cq;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	unsigned int inline_size;
	unsigned int rx_depth;
	unsigned int tx_depth;
	unsigned int signal_every;
	uint32_t psn;
	struct lat_address remote;
	unsigned int posted;
	unsigned int unsignalled;
	unsigned int used;
	unsigned int events;
	bool armed;
};

/**
 * lat_device_open() - a device that fits what the user wants.
 * @o: device, ib_port, gid_index, ipv6, link.
 * @want: name of a device to prefer where the user names none, or NULL.
 * @local: own address of the control channel, or NULL; a device that has it is preferred.
 * @out: receives it.
 * @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_device_open(const struct lat_options *o, const char *want,
		    const struct sockaddr_storage *local, struct lat_device *out,
		    struct bp_error *err);

/**
 * lat_device_adopt() - a context that rdma_cm opened.
 * @context: its. @port: number.
 * @o: gid_index, ipv6, link. @local: own address. @out: receives it. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_device_adopt(struct ibv_context *context, unsigned int port, const struct lat_options *o,
		     const struct sockaddr_storage *local, struct lat_device *out,
		     struct bp_error *err);

/**
 * lat_device_match() - choose the GID again, by the family of the peer's.
 * @d: device. @o: gid_index decides when it is given. @peer: the peer's address.
 */
void lat_device_match(struct lat_device *d, const struct lat_options *o,
		      const struct lat_address *peer);

/** lat_device_close() - let go of it. @d: it, zeroed is allowed. */
void lat_device_close(struct lat_device *d);

/** lat_mtu_bytes() - bytes of an enum ibv_mtu. @mtu: it. Return: bytes. */
unsigned int lat_mtu_bytes(enum ibv_mtu mtu);

/**
 * lat_end_make() - memory, queues and a queue pair, which no peer is known to yet.
 * @d: device; must stay.
 * @o: depths, inline size, events. @p: transport service. @max_size: largest message.
 * @id: rdma_cm's whose queue pair it becomes, or NULL.
 * @e: receives it.
 * @err: receives the reason.
 *
 * Return: 0, or a negative errno; lat_end_drop() in both cases.
 */
int lat_end_make(struct lat_device *d, const struct lat_options *o, const struct lat_params *p,
		 uint32_t max_size, struct rdma_cm_id *id, struct lat_end *e, struct bp_error *err);

/** lat_end_address() - what the peer must know. @e: end. @out: receives it. */
void lat_end_address(const struct lat_end *e, struct lat_address *out);

/**
 * lat_end_join() - connect to the peer's end; receives are posted first.
 * @e: end. @o: attributes of the path. @mtu: in bytes. @peer: its address. @err: receives the
 * reason, and all usable GIDs when the device refuses the path.
 *
 * Return: 0, or a negative errno.
 */
int lat_end_join(struct lat_end *e, const struct lat_options *o, unsigned int mtu,
		 const struct lat_address *peer, struct bp_error *err);

/**
 * lat_end_refill() - post receives until the queue is full.
 * @e: end.
 *
 * Return: 0, or a negative errno.
 */
int lat_end_refill(struct lat_end *e);

/** lat_end_drop() - release all of it. @e: end, zeroed is allowed. */
void lat_end_drop(struct lat_end *e);

#endif
