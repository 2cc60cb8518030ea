// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "export.h"
#include "report.h"

#define NAME "bf_send_lat_half_rtt_seconds"

static double seconds(const struct lat_trial *s, double ticks)
{
	return lat_clock_ns(&s->clock, 1) * ticks / 2e9;
}

/* Label values may hold anything but these three unescaped. */
static void label(FILE *f, const char *name, const char *value)
{
	fprintf(f, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			fprintf(f, "\\%c", *value);
		else if (*value == '\n')
			fputs("\\n", f);
		else
			fputc(*value, f);
	}
	fputc('"', f);
}

static void labels(FILE *f, const struct lat_trial *s, const struct lat_row *row)
{
	fputc('{', f);
	label(f, "device", s->devices[0].name);
	fputc(',', f);
	label(f, "peer", s->o->host ? s->o->host : s->ctl ? "client" : "loopback");
	fprintf(f, ",connection=\"%s\",size=\"%u\"", lat_conn_name(s->p.conn), row->size);
	if (s->p.blueflame == LAT_BF_AB)
		fprintf(f, ",blueflame=\"%s\"", row->arm ? "off" : "on");
}

static void value(FILE *f, const struct lat_trial *s, const struct lat_row *row, const char *name,
		  double v)
{
	fputs(name, f);
	labels(f, s, row);
	fprintf(f, "} %.12g\n", v);
}

static void heading(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

int lat_prometheus_write(FILE *f, const struct lat_trial *s, int ret, const struct bp_error *err)
{
	(void)err;
	heading(f, "bf_send_lat_success", "gauge", "Whether the last measurement succeeded.");
	fprintf(f, "bf_send_lat_success %d\n", !ret);
	heading(f, NAME, "summary", "Half of the round-trip time of a message.");
	for (unsigned int i = 0; i < s->nr_rows; i++) {
		const struct lat_row *row = &s->rows[i];
		double n = (double)row->take.stats.measured.n;

		if (n < 1)
			continue;
		for (const uint32_t *p = lat_percentiles; *p; p++) {
			fputs(NAME, f);
			labels(f, s, row);
			fprintf(f, ",quantile=\"%.6g\"} %.12g\n", (double)*p / LAT_PPM,
				seconds(s, (double)lat_row_percentile(row, *p).value));
		}
		value(f, s, row, NAME "_sum", seconds(s, row->take.stats.measured.mean) * n);
		value(f, s, row, NAME "_count", n);
	}
	heading(f, NAME "_max", "gauge", "The greatest of them.");
	for (unsigned int i = 0; i < s->nr_rows; i++)
		if (s->rows[i].take.stats.measured.n)
			value(f, s, &s->rows[i], NAME "_max",
			      seconds(s, (double)s->rows[i].take.stats.max.value));
	return ferror(f) ? -EIO : 0;
}
