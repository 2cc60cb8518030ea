// SPDX-License-Identifier: GPL-2.0-only
/* Connecting a queue pair with a peer whose address is known. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "end.h"

static enum ibv_mtu mtu_number(unsigned int bytes)
{
	for (enum ibv_mtu m = IBV_MTU_256; m <= IBV_MTU_4096; m++)
		if (lat_mtu_bytes(m) == bytes)
			return m;
	return IBV_MTU_256;
}

static void fill_path(const struct lat_end *e, const struct lat_options *o,
		      const struct lat_address *peer, struct ibv_ah_attr *ah)
{
	const struct lat_device *d = e->device;

	*ah = (struct ibv_ah_attr){
		.dlid = peer->lid,
		.sl = (uint8_t)o->sl,
		.port_num = (uint8_t)d->port,
		.is_global = d->gid >= 0,
	};
	if (d->gid < 0)
		return;
	ah->grh = (struct ibv_global_route){
		.dgid = peer->gid,
		.sgid_index = (uint8_t)d->gids[d->gid].index,
		.hop_limit = (uint8_t)o->hop_limit,
		.traffic_class = (uint8_t)o->tclass,
	};
}

/* Why a path is refused is seldom said; which GIDs there are, and the peer's, usually tells. */
static int no_path(const struct lat_end *e, const struct lat_address *peer, int code,
		   struct bp_error *err)
{
	const struct lat_device *d = e->device;
	char own[INET6_ADDRSTRLEN] = "none", other[INET6_ADDRSTRLEN] = "none", list[400];

	if (d->gid >= 0)
		lat_gid_format(&d->gids[d->gid].gid, own);
	if (peer->has_gid)
		lat_gid_format(&peer->gid, other);
	bp_error_set(err, code, NULL, "%s has no path from GID index %d %s to the peer's %s: %s",
		     d->name, d->gid >= 0 ? (int)d->gids[d->gid].index : -1, own, other,
		     strerror(-code));
	bp_error_fix(err, "choose with -x one that reaches the peer: %s",
		     lat_gid_describe(d->gids, d->nr_gids, list, sizeof(list)));
	return code;
}

static int to_rtr(struct lat_end *e, const struct lat_options *o, unsigned int mtu,
		  const struct lat_address *peer, struct bp_error *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu_number(mtu),
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
	};
	int mask = IBV_QP_STATE, ret;

	if (e->conn != LAT_UD) {
		fill_path(e, o, peer, &attr.ah_attr);
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	}
	if (e->conn == LAT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	ret = ibv_modify_qp(e->qp, &attr, mask);
	return ret ? no_path(e, peer, -ret, err) : 0;
}

static int to_rts(struct lat_end *e, const struct lat_options *o, struct bp_error *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = e->psn,
		.timeout = (uint8_t)o->qp_timeout,
		.retry_cnt = (uint8_t)o->retry,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN, ret;

	if (e->conn == LAT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	ret = ibv_modify_qp(e->qp, &attr, mask);
	return ret ? bp_error_set(err, -ret, NULL, "%s: the queue pair cannot send: %s",
				  e->device->name, strerror(ret))
		   : 0;
}

int lat_end_join(struct lat_end *e, const struct lat_options *o, unsigned int mtu,
		 const struct lat_address *peer, struct bp_error *err)
{
	int ret = 0;

	e->remote = *peer;
	if (e->device->gid >= 0 && !peer->has_gid)
		return no_path(e, peer, -EDESTADDRREQ, err);
	/* rdma_cm brought the queue pair up itself. */
	if (!e->id) {
		ret = to_rtr(e, o, mtu, peer, err);
		if (!ret)
			ret = to_rts(e, o, err);
	}
	if (!ret && e->conn == LAT_UD) {
		struct ibv_ah_attr ah;

		fill_path(e, o, peer, &ah);
		e->ah = ibv_create_ah(e->pd, &ah);
		if (!e->ah)
			ret = no_path(e, peer, errno ? -errno : -EINVAL, err);
	}
	return ret;
}
