/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of the measured loop: post a send, wait for a message. Inline, since each
 * exchange takes them.
 */
#ifndef LAT_STEP_H
#define LAT_STEP_H

#include <errno.h>
#include <sched.h>

#include "loop.h"

#define LAT_SPINS 64 /* empty polls between two looks at the flag */

/**
 * lat_step_failed() - put a failed completion into words.
 * @l: loop. @e: end. @wc: completion. @err: receives the reason.
 *
 * Return: -EIO.
 */
int lat_step_failed(const struct lat_loop *l, struct lat_end *e, const struct ibv_wc *wc,
		    struct bp_error *err);

/**
 * lat_step_sleep() - sleep until a completion event, or a signal.
 * @l: loop. @e: end with a channel; armed. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
int lat_step_sleep(struct lat_loop *l, struct lat_end *e, struct bp_error *err);

/** lat_step_stopped() - whether to wait no longer. @l: loop. Return: true then. */
static inline bool lat_step_stopped(const struct lat_loop *l)
{
	return atomic_load_explicit(&l->watch->stop, memory_order_relaxed) != LAT_GO;
}

/**
 * lat_step_idle() - after an empty poll.
 * @l: loop. @spins: counts them.
 *
 * Return: 0, or -ECANCELED when it is time to stop.
 */
static inline int lat_step_idle(const struct lat_loop *l, unsigned int *spins)
{
	if (l->yield)
		sched_yield();
	else if (++*spins % LAT_SPINS)
		return 0;
	return lat_step_stopped(l) ? -ECANCELED : 0;
}

/**
 * lat_step_reap() - wait for one completion of sends.
 * @l: loop. @e: end that sent. @err: receives the reason.
 *
 * Return: 0, -ECANCELED, or -EIO.
 */
static inline int lat_step_reap(struct lat_loop *l, struct lat_end *e, struct bp_error *err)
{
	unsigned int spins = 0;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(e->tx_cq, 1, &wc))) {
		int ret = lat_step_idle(l, &spins);

		if (ret)
			return ret;
	}
	if (n < 0 || wc.status != IBV_WC_SUCCESS)
		return lat_step_failed(l, e, n < 0 ? NULL : &wc, err);
	/* A send that asked for none is complete when a later one is. */
	e->used -= e->signal_every;
	return 0;
}

/**
 * lat_step_send() - post one message.
 * @l: loop. @e: end. @wr: prepared request; its flags are set here. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
static inline int lat_step_send(struct lat_loop *l, struct lat_end *e, struct ibv_send_wr *wr,
				struct bp_error *err)
{
	struct ibv_send_wr *bad;
	int ret;

	wr->send_flags = l->size <= e->inline_size ? IBV_SEND_INLINE : 0;
	if (++e->unsignalled == e->signal_every) {
		wr->send_flags |= IBV_SEND_SIGNALED;
		e->unsignalled = 0;
	}
	ret = ibv_post_send(e->qp, wr, &bad);
	if (ret)
		return bp_error_set(err, -ret, NULL, "a send cannot be posted: error %d", ret);
	e->used++;
	/* Behind the send, where the time is waited for anyway. */
	return e->used >= e->tx_depth ? lat_step_reap(l, e, err) : 0;
}

/**
 * lat_step_refill() - post receives in batches; the time for it is behind a send.
 * @e: end. @err: receives the reason.
 *
 * Return: 0, or a negative errno.
 */
static inline int lat_step_refill(struct lat_end *e, struct bp_error *err)
{
	unsigned int batch = e->rx_depth / 2;
	int ret;

	batch = batch > LAT_REFILL_MAX ? LAT_REFILL_MAX : batch;
	if (e->rx_depth - e->posted < (batch ? batch : 1))
		return 0;
	ret = lat_end_refill(e);
	return ret ? bp_error_set(err, ret, NULL, "receives cannot be posted: error %d", -ret) : 0;
}

/**
 * lat_step_recv() - wait for one message.
 * @l: loop. @e: end. @err: receives the reason.
 *
 * Return: 0, -ECANCELED, or another negative errno.
 */
static inline int lat_step_recv(struct lat_loop *l, struct lat_end *e, struct bp_error *err)
{
	unsigned int spins = 0;
	struct ibv_wc wc;
	int n, ret;

	while (!(n = ibv_poll_cq(e->rx_cq, 1, &wc))) {
		if (!l->events) {
			ret = lat_step_idle(l, &spins);
		} else if (!e->armed) {
			/* Armed first and polled again: what came in between raises no event. */
			ret = -ibv_req_notify_cq(e->rx_cq, 0);
			e->armed = true;
		} else {
			ret = lat_step_stopped(l) ? -ECANCELED : lat_step_sleep(l, e, err);
		}
		if (ret)
			return ret;
	}
	if (n < 0 || wc.status != IBV_WC_SUCCESS)
		return lat_step_failed(l, e, n < 0 ? NULL : &wc, err);
	e->posted--;
	/* A queue of one has to be filled before the peer may send again. */
	return e->posted ? 0 : lat_step_refill(e, err);
}

#endif
