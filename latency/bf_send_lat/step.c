// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "step.h"

static const char *advice(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_RETRY_EXC_ERR:
		return "the peer does not answer: see that it runs, that the GIDs (-x) reach each "
		       "other "
		       "and that the MTU (-m) fits the network";
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "the peer has no receive posted: use a larger -r there";
	case IBV_WC_LOC_LEN_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
		return "the message does not fit: see -s and -m on both ends";
	default:
		return NULL;
	}
}

int lat_step_failed(const struct lat_loop *l, struct lat_end *e, const struct ibv_wc *wc,
		    struct bp_error *err)
{
	struct ibv_wc found;

	if (!wc)
		return bp_error_set(err, -EIO, NULL, "a completion queue cannot be read");
	found = *wc;
	/* A receive is only flushed; why is told by the send that failed. */
	while (found.status == IBV_WC_WR_FLUSH_ERR && ibv_poll_cq(e->tx_cq, 1, &found) > 0)
		if (found.status == IBV_WC_SUCCESS)
			found = *wc;
	return bp_error_set(err, -EIO, advice(found.status),
			    "exchange %lu of %u bytes failed: %s (vendor error %#x)",
			    atomic_load_explicit(&l->watch->progress, memory_order_relaxed) + 1,
			    l->size, ibv_wc_status_str(found.status), found.vendor_err);
}

int lat_step_sleep(struct lat_loop *l, struct lat_end *e, struct bp_error *err)
{
	struct ibv_cq *cq;
	void *context;

	(void)l;
	if (ibv_get_cq_event(e->channel, &cq, &context))
		return errno == EINTR || errno == EAGAIN
			       ? 0
			       : bp_error_set(err, errno ? -errno : -EIO, NULL,
					      "waiting for a completion failed: %s",
					      strerror(errno));
	e->armed = false;
	e->events++;
	return 0;
}
