// SPDX-License-Identifier: GPL-2.0-only
/* --wc-check: the time of the post alone, over inline sizes, between two queue pairs here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bp/cli.h>
#include <bp/log.h>

#include "blueflame.h"
#include "modes.h"
#include "report.h"
#include "step.h"
#include "wc.h"

#define ROUNDS	   300
#define LARGEST	   236
#define POINTS_MAX 16

static int time_posts(struct lat_trial *s, struct lat_loop *l, double *ns, struct bp_error *err)
{
	struct lat_end *e = &s->ends[0], *other = &s->ends[2];
	uint64_t took[ROUNDS];
	struct ibv_sge sge = { (uintptr_t)e->buf, l->size, e->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t before = lat_clock_now(&s->clock);
		int ret = lat_step_send(l, e, &wr, err);

		took[i] = lat_clock_now(&s->clock) - before;
		/* One at a time: a second request in a row would not go through BlueFlame. */
		if (!ret)
			ret = lat_step_recv(l, other, err);
		if (!ret)
			ret = lat_step_refill(other, err);
		if (ret)
			return ret;
	}
	lat_sort(took, ROUNDS);
	*ns = lat_clock_ns(&s->clock, lat_percentile(took, ROUNDS, LAT_P50).value);
	return 0;
}

static int collect(struct lat_trial *s, struct lat_wc_point *points, size_t *n,
		   struct bp_error *err)
{
	struct lat_watch watch;
	struct lat_loop l = { .end = &s->ends[0], .watch = &watch, .clock = &s->clock };
	int ret = lat_watch_start(&watch, NULL, s->o->timeout);

	*n = 0;
	if (ret)
		return bp_error_set(err, ret, NULL, "no thread to watch over the run: %s",
				    strerror(-ret));
	for (uint32_t size = 16; !ret && size <= s->ends[0].inline_size && *n < POINTS_MAX;
	     size += 16) {
		l.size = size;
		points[*n].bytes = size;
		ret = time_posts(s, &l, &points[*n].ns, err);
		++*n;
	}
	lat_watch_end(&watch);
	if (ret == -ECANCELED)
		bp_error_set(err, ret, NULL, "nothing came back within %g s", s->o->timeout);
	if (!ret && *n < 3)
		ret = bp_error_set(err, -EOPNOTSUPP, NULL, "%s takes no messages inline",
				   s->devices[0].name);
	return ret;
}

static FILE *device_file(const struct lat_trial *s, const char *name)
{
	char path[192];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/%s", s->devices[0].name,
		 name);
	return fopen(path, "re");
}

static void look_at_pat(const struct lat_trial *s, struct lat_wc_evidence *e)
{
	FILE *list = fopen("/sys/kernel/debug/x86/pat_memtype_list", "re");
	FILE *resource = device_file(s, "resource");

	lat_wc_read_pat(list, resource, e);
	if (list)
		fclose(list);
	if (resource)
		fclose(resource);
}

static void print(struct bp_print *p, const struct lat_trial *s, const struct lat_wc_point *points,
		  size_t n, const struct lat_wc_evidence *e, enum lat_wc answer, const char *why)
{
	bp_print_object(p, NULL);
	bp_print_u64(p, "schema", NULL, LAT_SCHEMA);
	bp_print_str(p, "device", "# device %s\n", s->devices[0].name);
	bp_print_text(p, " #bytes post[nsec]\n");
	bp_print_array(p, "posts");
	for (size_t i = 0; i < n; i++) {
		bp_print_object(p, NULL);
		bp_print_u64(p, "bytes", " %-6lu", (uint64_t)points[i].bytes);
		bp_print_f64(p, "ns", " %.1f\n", 1, points[i].ns);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	bp_print_f64(p, "ns_per_64_bytes", "# %.1f ns", 1, e->slope);
	bp_print_f64(p, "standard_error", " (standard error %.1f) for each 64 bytes more\n", 1,
		     e->noise);
	bp_print_bool(p, "pat_list_read", "# kernel's list of mappings read: %s", e->pat_known);
	bp_print_bool(p, "pat_write_combining", ", write-combining: %s", e->pat_wc);
	bp_print_bool(p, "pat_uncached", ", uncached: %s\n", e->pat_uc);
	bp_print_str(p, "answer", "%s",
		     answer == LAT_WC_YES  ? "WC"
		     : answer == LAT_WC_NO ? "UC"
					   : "unknown");
	bp_print_str(p, "why", ": %s\n", why);
	bp_print_object_end(p);
}

int lat_wc_check(const struct lat_options *o)
{
	struct lat_trial *s = calloc(1, sizeof(*s));
	struct lat_options mine = *o;
	struct lat_wc_point points[POINTS_MAX];
	struct lat_wc_evidence e = { 0 };
	struct bp_error err = { 0 };
	struct bp_print *p;
	enum lat_wc answer = LAT_WC_UNKNOWN;
	char why[256];
	size_t n = 0;
	int ret, code;

	if (!s)
		return bp_log_report(NULL, -ENOMEM, "checking");
	mine.mode = LAT_LOOPBACK;
	mine.params.sizes[0] = LARGEST;
	mine.params.nr_sizes = 1;
	mine.params.blueflame = LAT_BF_AS_IS;
	mine.signal_every = 1;
	mine.tx_depth = 64;
	s->o = &mine;
	lat_interrupt_setup();
	ret = lat_trial_local(s, &err);
	if (!ret)
		ret = collect(s, points, &n, &err);
	if (!ret && lat_wc_fit(points, n, &e))
		ret = bp_error_set(&err, -EINVAL, NULL, "too few sizes for a line");
	if (ret) {
		/* No device is no answer, rather than a bad one. */
		bp_log_report(&err, ret, "checking");
		lat_trial_drop(s);
		free(s);
		return ret == -ENODEV || ret == -EOPNOTSUPP ? (int)LAT_WC_UNKNOWN : BP_EXIT_USAGE;
	}
	e.connectx = lat_blueflame_driver(&s->devices[0], "mlx");
	look_at_pat(s, &e);
	answer = lat_wc_judge(&e, why, sizeof(why));
	p = bp_print_new(stdout, o->pretty ? BP_PRINT_PRETTY
				 : o->json ? BP_PRINT_JSON
					   : BP_PRINT_TEXT);
	if (p)
		print(p, s, points, n, &e, answer, why);
	code = p ? bp_print_free(p) : -ENOMEM;
	lat_trial_drop(s);
	free(s);
	return code ? bp_log_report(NULL, code, "writing the result") : (int)answer;
}
