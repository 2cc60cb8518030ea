// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bp/cli.h>
#include <bp/log.h>

#include "export.h"
#include "modes.h"
#include "report.h"
#include "trial.h"

/* The table while it comes. */
struct table {
	struct bp_print *p;
	bool headed;
};

static void on_row(const struct lat_trial *s, const struct lat_row *row)
{
	struct table *t = s->priv;

	if (!t->headed)
		lat_report_head(t->p, s);
	t->headed = true;
	if (s->o->average_only) {
		bp_print_f64(t->p, "t_avg", "%.3f\n", 3,
			     lat_half(s, row->take.stats.measured.mean));
	} else {
		if (s->o->histogram && row->sorted)
			lat_report_samples(t->p, s, row);
		if (row->take.stats.measured.n)
			lat_report_row(t->p, s, row, 0);
	}
	fflush(stdout);
}

/* To a name beside it first: whoever reads the file never sees half of it. */
static int
write_file(const char *name, const struct lat_trial *s, int ret, const struct bp_error *err,
	   int (*write)(FILE *f, const struct lat_trial *s, int ret, const struct bp_error *err))
{
	struct stat st;
	/* A device or a pipe is written to, not replaced. */
	bool direct = !stat(name, &st) && !S_ISREG(st.st_mode);
	char *tmp = NULL;
	FILE *f = NULL;
	int code;

	if (asprintf(&tmp, direct ? "%s" : "%s.%d.new", name, (int)getpid()) < 0)
		return bp_log_report(NULL, -ENOMEM, "writing a file");
	f = fopen(tmp, "we");
	code = f ? write(f, s, ret, err) : -errno;
	if (f && fclose(f) && !code)
		code = -errno;
	if (!code && !direct && rename(tmp, name))
		code = -errno;
	if (code) {
		bp_log_error("%s could not be written: %s", name, strerror(-code));
		if (f && !direct)
			unlink(tmp);
	}
	free(tmp);
	return code ? BP_EXIT_FAIL : BP_EXIT_OK;
}

static int write_json(FILE *f, const struct lat_trial *s, int ret, const struct bp_error *err)
{
	struct bp_print *p =
		bp_print_new(f, f == stdout && !s->o->pretty ? BP_PRINT_JSON : BP_PRINT_PRETTY);

	if (!p)
		return -ENOMEM;
	lat_report_document(p, s, ret, err);
	return bp_print_free(p);
}

static void warn(const struct lat_trial *s)
{
	struct lat_env_warning warnings[LAT_ENV_WARNINGS];
	struct lat_env_counts window = lat_env_window(&s->before, &s->after);
	unsigned int n;

	if (s->o->verbosity < 0 || !s->env.kernel[0])
		return;
	n = lat_env_judge(&s->env, &window, warnings);
	for (unsigned int i = 0; i < n; i++)
		bp_log_warn("%s", warnings[i].text);
}

static int report(struct lat_trial *s, struct table *t, int ret, const struct bp_error *err)
{
	const struct lat_options *o = s->o;
	int status = ret ? BP_EXIT_FAIL : BP_EXIT_OK, code;

	if (t->p) {
		if (t->headed && s->p.blueflame == LAT_BF_AB)
			lat_report_ab(t->p, s);
		if (t->headed)
			lat_report_tail(t->p, s, ret, err);
		code = bp_print_free(t->p);
		if (code)
			status = bp_log_report(NULL, code, "writing the table");
	} else {
		code = write_json(stdout, s, ret, err);
		if (code)
			status = bp_log_report(NULL, code, "writing the document");
	}
	warn(s);
	if (ret)
		bp_log_report(err, ret, "measuring");
	if (s->peer_error.what[0])
		bp_log_report(&s->peer_error, s->peer_error.code, "measuring");
	if (o->json_file && write_file(o->json_file, s, ret, err, write_json))
		status = BP_EXIT_FAIL;
	if (o->prometheus && write_file(o->prometheus, s, ret, err, lat_prometheus_write))
		status = BP_EXIT_FAIL;
	if (o->plot && write_file(o->plot, s, ret, err, lat_plot_write))
		status = BP_EXIT_FAIL;
	return status;
}

static int measure(struct lat_options *o)
{
	struct lat_trial *s = calloc(1, sizeof(*s));
	struct table table = { 0 };
	struct bp_error err = { 0 };
	int ret, status;

	if (!s)
		return bp_log_report(NULL, -ENOMEM, "measuring");
	s->o = o;
	s->p = o->params;
	s->client = o->mode != LAT_SERVER;
	if (!o->json) {
		table.p = bp_print_new(stdout, BP_PRINT_TEXT);
		s->on_row = on_row;
		s->priv = &table;
	}
	lat_interrupt_setup();
	ret = lat_trial_run(s, &err);
	status = report(s, &table, ret, &err);
	lat_trial_drop(s);
	free(s);
	return status;
}

int main(int argc, char **argv)
{
	struct lat_options o;
	int status;

	bp_log_init("bf_send_lat", 0);
	status = lat_options_parse(argc, argv, &o);
	if (status >= 0)
		return status;
	bp_log_init("bf_send_lat", o.verbosity > 0 ? o.verbosity : 0);
	if (!o.params.seed && getrandom(&o.params.seed, sizeof(o.params.seed), 0) > 0)
		o.params.seed >>= 1;
	switch (o.mode) {
	case LAT_WC_CHECK:
		return lat_wc_check(&o);
	case LAT_ALL_PAIRS:
		return lat_all_pairs(&o);
	case LAT_COMPARE:
		return lat_compare_documents(&o);
	default:
		return measure(&o);
	}
}
