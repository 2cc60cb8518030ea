// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "step.h"

int lat_take_init(struct lat_take *t, uint64_t room, uint64_t warmup, bool service)
{
	memset(t, 0, sizeof(*t));
	t->room = room;
	if (room) {
		t->samples = malloc(room * sizeof(*t->samples));
		if (!t->samples)
			return -ENOMEM;
		/* Touched now, so that no page fault is measured. */
		memset(t->samples, 0xff, room * sizeof(*t->samples));
	}
	if (room && service) {
		t->service = malloc(room * sizeof(*t->service));
		if (!t->service) {
			lat_take_drop(t);
			return -ENOMEM;
		}
		memset(t->service, 0xff, room * sizeof(*t->service));
	}
	lat_take_reset(t, warmup);
	return 0;
}

void lat_take_reset(struct lat_take *t, uint64_t warmup)
{
	t->n = 0;
	lat_stats_init(&t->stats, warmup);
	lat_hist_reset(&t->hist);
}

static void count(struct lat_take *t, uint64_t value, uint64_t time)
{
	if (lat_stats_add(&t->stats, value, time) == LAT_MEASURED)
		lat_hist_add(&t->hist, value, 1);
}

void lat_take_settle(struct lat_take *t)
{
	uint64_t time = 0;

	for (uint64_t i = 0; t->samples && i < t->n; i++) {
		time += t->samples[i];
		count(t, t->samples[i], time);
	}
}

void lat_take_drop(struct lat_take *t)
{
	free(t->samples);
	free(t->service);
	t->samples = NULL;
	t->service = NULL;
}

static void prepare(struct lat_end *e, uint32_t size, struct ibv_sge *sge, struct ibv_send_wr *wr)
{
	*sge = (struct ibv_sge){ (uintptr_t)e->buf, size, e->mr->lkey };
	*wr = (struct ibv_send_wr){ .sg_list = sge,
				    .num_sge = size ? 1 : 0,
				    .opcode = IBV_WR_SEND };
	if (e->conn == LAT_UD) {
		wr->wr.ud.ah = e->ah;
		wr->wr.ud.remote_qpn = e->remote.qpn;
		wr->wr.ud.remote_qkey = e->remote.qkey;
	}
}

/* A sample is taken after the send that ended it, off the path of the next one. */
static inline void sample(struct lat_loop *l, uint64_t value, uint64_t now)
{
	struct lat_take *t = l->take;

	if (t->n < t->room)
		t->samples[t->n] = value;
	else if (!t->room)
		count(t, value, now - l->started);
	t->n++;
}

static uint64_t wait_until(struct lat_loop *l, uint64_t when)
{
	uint64_t now = lat_clock_now(l->clock);

	while ((int64_t)(when - now) > 0) {
		if (l->yield || l->events)
			sched_yield();
		now = lat_clock_now(l->clock);
	}
	return now;
}

/* Open loop: latency counts from when a send was due, however late the answer before it came. */
static int run_open(struct lat_loop *l, uint64_t exchanges, struct ibv_send_wr *wr,
		    struct bp_error *err)
{
	struct lat_end *e = l->end;
	int ret;

	l->started = lat_clock_now(l->clock);
	for (uint64_t i = 0; i < exchanges; i++) {
		uint64_t due = l->started + (uint64_t)((double)i * l->interval), now, got;

		if (l->until && (int64_t)(due - l->until) >= 0)
			break;
		if (lat_step_stopped(l))
			return -ECANCELED;
		now = wait_until(l, due);
		ret = lat_step_send(l, e, wr, err);
		if (!ret)
			ret = lat_step_refill(e, err);
		if (!ret)
			ret = lat_step_recv(l, e, err);
		if (ret)
			return ret;
		got = lat_clock_now(l->clock);
		if (l->take->service && l->take->n < l->take->room)
			l->take->service[l->take->n] = got - now;
		sample(l, got - due, got);
		atomic_store_explicit(&l->watch->progress, i + 1, memory_order_relaxed);
	}
	return 0;
}

int lat_loop_run(struct lat_loop *l, uint64_t exchanges, struct bp_error *err)
{
	struct lat_end *e = l->end;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint64_t last = 0;
	int ret = 0;

	prepare(e, l->size, &sge, &wr);
	if (l->interval > 0)
		return run_open(l, exchanges, &wr, err);
	for (uint64_t i = 0; i < exchanges; i++) {
		uint64_t now;

		if (!l->client || i) {
			ret = lat_step_recv(l, e, err);
			if (ret)
				return ret;
		}
		now = l->gap ? wait_until(l, lat_clock_now(l->clock) + l->gap)
			     : lat_clock_now(l->clock);
		if (l->until && i && (int64_t)(now - l->until) >= 0)
			return 0;
		ret = lat_step_send(l, e, &wr, err);
		if (ret)
			return ret;
		if (i)
			sample(l, now - last, now);
		else
			l->started = now;
		last = now;
		atomic_store_explicit(&l->watch->progress, i + 1, memory_order_relaxed);
		ret = lat_step_refill(e, err);
		if (ret)
			return ret;
	}
	/* The answer to the last one belongs to this run, not to the next. */
	return l->client ? lat_step_recv(l, e, err) : 0;
}

int lat_loop_local(struct lat_loop *l, uint64_t exchanges, struct bp_error *err)
{
	struct lat_end *ends[2] = { l->end, l->other };
	struct ibv_send_wr wr[2];
	struct ibv_sge sge[2];
	uint64_t last = 0;

	for (int k = 0; k < 2; k++)
		prepare(ends[k], l->size, &sge[k], &wr[k]);
	for (uint64_t i = 0; i < exchanges; i++) {
		uint64_t now = lat_clock_now(l->clock);

		if (l->gap)
			now = wait_until(l, now + l->gap);
		if (l->until && i && (int64_t)(now - l->until) >= 0)
			break;
		for (int k = 0; k < 2; k++) {
			int ret = lat_step_send(l, ends[k], &wr[k], err);

			if (!ret && !k && i)
				sample(l, now - last, now);
			if (!ret)
				ret = lat_step_refill(ends[k], err);
			if (!ret)
				ret = lat_step_recv(l, ends[!k], err);
			if (ret)
				return ret;
		}
		if (!i)
			l->started = now;
		last = now;
		atomic_store_explicit(&l->watch->progress, i + 1, memory_order_relaxed);
	}
	return 0;
}
