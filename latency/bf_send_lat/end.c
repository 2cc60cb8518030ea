// SPDX-License-Identifier: GPL-2.0-only
/* Making a queue pair, and taking it apart. join.c connects it. */
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "end.h"

#define INLINE_CONNECTED 236 /* ib_send_lat's for RC and UC */
#define INLINE_DATAGRAM	 188 /* and for UD */
#define PAGE		 4096u

static enum ibv_qp_type qp_type(enum lat_conn conn)
{
	return conn == LAT_RC ? IBV_QPT_RC : conn == LAT_UC ? IBV_QPT_UC : IBV_QPT_UD;
}

static int make_memory(struct lat_end *e, struct bp_error *err)
{
	size_t half = (e->max_size + LAT_GRH + PAGE - 1) / PAGE * PAGE;

	e->buf_size = 2 * half;
	e->buf =
		mmap(NULL, e->buf_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (e->buf == MAP_FAILED) {
		e->buf = NULL;
		return bp_error_set(err, -ENOMEM, NULL, "no memory for messages of %u bytes",
				    e->max_size);
	}
	/* Touched now, so that no page fault is measured. */
	memset(e->buf, 0x5a, e->buf_size);
	e->rx = e->buf + half;
	e->mr = ibv_reg_mr(e->pd, e->buf, e->buf_size, IBV_ACCESS_LOCAL_WRITE);
	if (!e->mr)
		return bp_error_set(err, -errno, "raise 'ulimit -l'",
				    "%zu bytes cannot be registered with %s: %s", e->buf_size,
				    e->device->name, strerror(errno));
	return 0;
}

static int make_queues(struct lat_end *e, const struct lat_options *o, struct bp_error *err)
{
	struct ibv_context *context = e->device->context;

	if (o->events) {
		e->channel = ibv_create_comp_channel(context);
		if (!e->channel)
			return bp_error_set(err, -errno, NULL, "no completion channel: %s",
					    strerror(errno));
	}
	if (o->vector && (int)o->vector >= context->num_comp_vectors)
		return bp_error_set(err, -EINVAL, NULL, "%s has completion vectors 0 to %d, not %u",
				    e->device->name, context->num_comp_vectors - 1, o->vector);
	/* One more than can ever be in it: some devices overrun a queue that is just full. */
	e->rx_cq = ibv_create_cq(context, (int)e->rx_depth + 1, NULL, e->channel,
				 e->channel ? (int)o->vector : 0);
	e->tx_cq = ibv_create_cq(context, (int)e->tx_depth + 1, NULL, NULL, 0);
	if (!e->rx_cq || !e->tx_cq)
		return bp_error_set(err, -errno, "try smaller -r and -t",
				    "%s makes no completion queues of %u and %u entries: %s",
				    e->device->name, e->rx_depth, e->tx_depth, strerror(errno));
	return 0;
}

static int create_qp(struct lat_end *e, unsigned int inline_size)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = e->tx_cq,
		.recv_cq = e->rx_cq,
		.qp_type = qp_type(e->conn),
		.cap = { .max_send_wr = e->tx_depth,
			 .max_recv_wr = e->rx_depth,
			 .max_send_sge = 1,
			 .max_recv_sge = 1,
			 .max_inline_data = inline_size },
	};

	if (e->id) {
		if (rdma_create_qp(e->id, e->pd, &attr))
			return -errno;
		e->qp = e->id->qp;
	} else {
		e->qp = ibv_create_qp(e->pd, &attr);
		if (!e->qp)
			return -errno;
	}
	/* Drivers may grant more; what was asked for is what ib_send_lat would use. */
	e->inline_size = inline_size < attr.cap.max_inline_data ? inline_size
								: attr.cap.max_inline_data;
	return 0;
}

static int make_qp(struct lat_end *e, const struct lat_options *o, struct bp_error *err)
{
	int want = o->inline_size >= 0 ? o->inline_size
		   : e->conn == LAT_UD ? INLINE_DATAGRAM
				       : INLINE_CONNECTED;
	int ret = create_qp(e, (unsigned int)want);

	if (!ret)
		return 0;
	if (o->inline_size < 0) {
		/* Each device has a limit of its own that it does not tell. */
		while (ret && want) {
			want = want > 48 ? want / 2 / 4 * 4 : 0;
			ret = create_qp(e, (unsigned int)want);
		}
		if (!ret)
			return 0;
	}
	bp_error_set(err, ret, NULL,
		     "%s makes no %s queue pair with %u sends, %u receives and %d bytes inline: %s",
		     e->device->name, lat_conn_name(e->conn), e->tx_depth, e->rx_depth, want,
		     strerror(-ret));
	bp_error_fix(err, o->inline_size > 0 ? "try a smaller -I" : "try smaller -r and -t");
	return ret;
}

static int to_init(struct lat_end *e, const struct lat_options *o, struct bp_error *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = (uint16_t)o->pkey_index,
		.port_num = (uint8_t)e->device->port,
		.qkey = 0x11111111,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, ret;

	ret = ibv_modify_qp(e->qp, &attr,
			    mask | (e->conn == LAT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
	return ret ? bp_error_set(err, -ret, NULL, "%s: the queue pair cannot be initialised: %s",
				  e->device->name, strerror(ret))
		   : 0;
}

int lat_end_make(struct lat_device *d, const struct lat_options *o, const struct lat_params *p,
		 uint32_t max_size, struct rdma_cm_id *id, struct lat_end *e, struct bp_error *err)
{
	int ret;

	*e = (struct lat_end){
		.device = d,
		.conn = p->conn,
		.max_size = max_size,
		.id = id,
		.rx_depth = o->rx_depth,
		.tx_depth = o->tx_depth,
		.signal_every = o->signal_every,
	};
	if (getrandom(&e->psn, sizeof(e->psn), 0) != sizeof(e->psn))
		e->psn = (uint32_t)getpid() * 2654435761u;
	e->psn &= 0xffffff;
	e->pd = ibv_alloc_pd(d->context);
	if (!e->pd)
		return bp_error_set(err, -errno, NULL, "%s gives no protection domain: %s", d->name,
				    strerror(errno));
	ret = make_memory(e, err);
	if (!ret)
		ret = make_queues(e, o, err);
	if (!ret)
		ret = make_qp(e, o, err);
	if (!ret && !id)
		ret = to_init(e, o, err);
	if (!ret)
		ret = lat_end_refill(e);
	return ret ? bp_error_set(err, ret, NULL, "receives cannot be posted: %s", strerror(-ret))
		   : 0;
}

int lat_end_refill(struct lat_end *e)
{
	struct ibv_sge sge = {
		(uintptr_t)e->rx,
		e->max_size + (e->conn == LAT_UD ? LAT_GRH : 0),
		e->mr->lkey,
	};
	struct ibv_recv_wr wr[LAT_REFILL_MAX], *bad;

	/* All into one place: only one message is on its way at any time. */
	while (e->posted < e->rx_depth) {
		unsigned int n = e->rx_depth - e->posted;

		n = n < LAT_REFILL_MAX ? n : LAT_REFILL_MAX;
		for (unsigned int i = 0; i < n; i++)
			wr[i] = (struct ibv_recv_wr){
				.next = i + 1 < n ? &wr[i + 1] : NULL,
				.sg_list = &sge,
				.num_sge = 1,
			};
		int ret = ibv_post_recv(e->qp, wr, &bad);

		if (ret)
			return -ret;
		e->posted += n;
	}
	return 0;
}

void lat_end_address(const struct lat_end *e, struct lat_address *out)
{
	const struct lat_device *d = e->device;

	*out = (struct lat_address){
		.qpn = e->qp->qp_num,
		.psn = e->psn,
		.lid = d->attr.lid,
		.has_gid = d->gid >= 0,
		.mtu = lat_mtu_bytes(d->attr.active_mtu),
		.qkey = e->id ? RDMA_UDP_QKEY : 0x11111111,
	};
	if (out->has_gid)
		out->gid = d->gids[d->gid].gid;
}

void lat_end_drop(struct lat_end *e)
{
	if (e->ah)
		ibv_destroy_ah(e->ah);
	if (e->events)
		ibv_ack_cq_events(e->rx_cq, e->events);
	if (e->qp && e->id)
		rdma_destroy_qp(e->id);
	else if (e->qp)
		ibv_destroy_qp(e->qp);
	if (e->rx_cq)
		ibv_destroy_cq(e->rx_cq);
	if (e->tx_cq)
		ibv_destroy_cq(e->tx_cq);
	if (e->channel)
		ibv_destroy_comp_channel(e->channel);
	if (e->mr)
		ibv_dereg_mr(e->mr);
	if (e->buf)
		munmap(e->buf, e->buf_size);
	if (e->pd)
		ibv_dealloc_pd(e->pd);
	memset(e, 0, sizeof(*e));
}
