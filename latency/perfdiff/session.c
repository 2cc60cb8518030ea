// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "latency/perfdiff/session.h"
#include "latency/rng.h"

/* A run of the warm-up is like another, only nobody keeps it. */
static int one(const struct lat_session *s, struct lat_record *r, size_t config,
	       struct lat_run *run, bool keep, struct bp_error *err)
{
	struct lat_config *c = &r->config[config];
	struct lat_command cmd = { .argv = c->argv, .padding = run->padding, .quiet = s->quiet };
	struct lat_run *kept;
	int ret = lat_command_run(&cmd, s->sys, r, run, err);

	if (ret)
		return ret;
	if (run->status && !s->any_status)
		return bp_error_set(err, -ECANCELED,
				    "correct it, or count it all the same with --any-status",
				    run->status > 128 ? "'%s' was ended by signal %d in %s %u of %u"
						      : "'%s' ended with status %d in %s %u of %u",
				    c->name, run->status > 128 ? run->status - 128 : run->status,
				    keep ? "round" : "warm-up round", run->round + 1,
				    keep ? s->rounds : s->warmup);
	if (!keep)
		return 0;
	kept = lat_record_run(c);
	if (!kept)
		return -ENOMEM;
	*kept = *run;
	return 0;
}

int lat_session_run(const struct lat_session *s, struct lat_record *r, struct bp_error *err)
{
	struct lat_rng rng = { s->seed };
	unsigned int order[LAT_CONFIGS_MAX];

	lat_command_rows(r);
	r->seed = s->seed;
	r->rounds = s->rounds;
	r->warmup = s->warmup;
	for (unsigned int i = 0; i < s->warmup + s->rounds; i++) {
		bool keep = i >= s->warmup;

		lat_rng_shuffle(&rng, order, (unsigned int)r->nr_configs);
		for (unsigned int place = 0; place < r->nr_configs; place++) {
			struct lat_run run = {
				.round = keep ? i - s->warmup : i,
				.place = place,
				.padding = (unsigned int)lat_rng_below(&rng, LAT_PADDING_MAX),
			};
			int ret;

			if (s->step)
				s->step(s->priv, i, s->warmup + s->rounds,
					r->config[order[place]].name);
			ret = one(s, r, order[place], &run, keep, err);
			if (ret)
				return ret;
		}
	}
	return 0;
}
