// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <bp/cli.h>
#include <bp/log.h>

#include "options.h"
#include "options_table.h"

#define ROWS_MAX 128

static const char *const conn_names[] = { "RC", "UC", "UD" };
static const char *const bf_names[] = { "as is", "on", "off", "ab" };

const char *lat_conn_name(enum lat_conn conn)
{
	return conn_names[conn];
}

const char *lat_blueflame_name(enum lat_blueflame bf)
{
	return bf_names[bf];
}

int lat_conn_parse(const char *text, enum lat_conn *out)
{
	for (unsigned int i = 0; i < 3; i++) {
		if (!strcasecmp(text, conn_names[i])) {
			*out = (enum lat_conn)i;
			return 0;
		}
	}
	return -EINVAL;
}

void lat_options_help(void *file)
{
	FILE *f = file;

	fputs("Usage: bf_send_lat [OPTIONS]             wait for a client\n"
	      "       bf_send_lat [OPTIONS] HOST        measure against the server at HOST\n"
	      "       bf_send_lat [OPTIONS] --loopback  measure between two queue pairs here\n"
	      "       bf_send_lat [OPTIONS] --wc-check  tell whether the doorbell page combines "
	      "writes\n"
	      "       bf_send_lat --compare A.json B.json [--fail-if EXPR]...\n"
	      "Half of the round-trip time of messages over RDMA, as ib_send_lat measures it.\n",
	      f);
	for (const struct lat_opt_row *r = lat_opt_rows; r->id; r++) {
		char left[64];

		if (r->id == -1)
			fprintf(f, "\n%s:\n", r->help);
		if (r->id == -1 || r->refused)
			continue;
		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", r->id < 256 ? '-' : ' ',
			 r->id < 256 ? r->id : ' ', r->id < 256 ? "," : " ", r->name,
			 r->arg ? "=" : "", r->arg ? r->arg : "");
		fprintf(f, "  %-32s %s\n", left, r->help);
	}
}

static int wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int wrong(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	bp_log_error("%s; see bf_send_lat --help", text);
	return BP_EXIT_USAGE;
}

/* One number of an option, within bounds; -1 to go on. */
static int number(const char *name, const char *text, uint64_t min, uint64_t max, void *out,
		  size_t size)
{
	uint64_t value;

	if (bp_parse_u64(text, min, max, &value))
		return wrong("--%s takes a number from %lu to %lu, not '%s'", name, min, max, text);
	if (size == sizeof(uint32_t))
		*(uint32_t *)out = (uint32_t)value;
	else
		*(uint64_t *)out = value;
	return -1;
}

static int seconds(const char *name, const char *text, double *out)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0 || value > 1e6)
		return wrong("--%s takes a positive number, not '%s'", name, text);
	*out = value;
	return -1;
}

static int size_list(const char *text, struct lat_params *p)
{
	char copy[256], *save = NULL;

	p->nr_sizes = 0;
	if (strlen(text) >= sizeof(copy))
		return wrong("--size: the list is too long");
	strcpy(copy, text);
	for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		uint64_t value;

		if (bp_parse_size(t, &value) || value > LAT_SIZE_MAX)
			return wrong("--size takes sizes up to %u, not '%s'", LAT_SIZE_MAX, t);
		if (p->nr_sizes == LAT_SIZES_MAX)
			return wrong("--size takes at most %u sizes", LAT_SIZES_MAX);
		p->sizes[p->nr_sizes++] = (uint32_t)value;
	}
	return p->nr_sizes ? -1 : wrong("--size needs a size");
}

static int choice(const char *name, const char *text, const char *const *words, int *out)
{
	char list[128] = "";

	for (int i = 0; words[i]; i++) {
		size_t used = strlen(list);

		if (!strcasecmp(words[i], text)) {
			*out = i;
			return -1;
		}
		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", words[i]);
	}
	return wrong("--%s takes one of %s, not '%s'", name, list, text);
}

#define NUMBER(min, max, field) number(row->name, arg, min, max, &(field), sizeof(field))

static int take_params(const struct lat_opt_row *row, const char *arg, struct lat_options *o)
{
	static const char *const bf[] = { "on", "off", "ab", NULL };
	struct lat_params *p = &o->params;
	int pick, ret;

	switch (row->id) {
	case 'a':
		o->all = true;
		p->given |= LAT_GIVEN_SIZE;
		return -1;
	case 's':
		p->given |= LAT_GIVEN_SIZE;
		return size_list(arg, p);
	case 'n':
		p->given |= LAT_GIVEN_ITERS;
		return NUMBER(5, LAT_ITERS_MAX, p->iters);
	case 'D':
		p->given |= LAT_GIVEN_DURATION;
		return NUMBER(1, 1000000, p->duration);
	case LAT_OPT_WARMUP:
		p->given |= LAT_GIVEN_WARMUP;
		return NUMBER(1, LAT_ITERS_MAX, p->warmup);
	case 'c':
		p->given |= LAT_GIVEN_CONN;
		if (!lat_conn_parse(arg, &p->conn))
			return -1;
		return wrong("--connection takes RC, UC or UD, not '%s'%s", arg,
			     !strcasecmp(arg, "XRC") || !strcasecmp(arg, "DC") ||
					     !strcasecmp(arg, "SRD")
				     ? ", which needs more than the common verbs"
				     : "");
	case 'm':
		p->given |= LAT_GIVEN_MTU;
		ret = NUMBER(256, 4096, p->mtu);
		if (ret < 0 && (p->mtu & (p->mtu - 1)))
			return wrong("--mtu takes 256, 512, 1024, 2048 or 4096, not '%s'", arg);
		return ret;
	case 'R':
		p->given |= LAT_GIVEN_CM_QP;
		p->cm_qp = true;
		o->com_cm = true;
		return -1;
	case LAT_OPT_BLUEFLAME:
		p->given |= LAT_GIVEN_BLUEFLAME;
		ret = choice(row->name, arg, bf, &pick);
		if (ret < 0)
			p->blueflame = (enum lat_blueflame)(pick + 1);
		return ret;
	case LAT_OPT_BLOCK:
		return NUMBER(5, 1000000, p->block);
	case LAT_OPT_SEED:
		return NUMBER(0, UINT64_MAX >> 1, p->seed);
	}
	return 0;
}

static int take_device(const struct lat_opt_row *row, const char *arg, struct lat_options *o)
{
	static const char *const links[] = { "IB", "Ethernet", NULL };
	int pick, ret;
	uint32_t u = 0;

	switch (row->id) {
	case 'd':
		o->device = arg;
		return -1;
	case 'i':
		return NUMBER(1, 255, o->ib_port);
	case 'x':
		ret = NUMBER(0, 65535, u);
		o->gid_index = (int)u;
		return ret;
	case 'I':
		ret = NUMBER(0, 65536, u);
		o->inline_size = (int)u;
		return ret;
	case 't':
		return NUMBER(1, 16384, o->tx_depth);
	case 'r':
		return NUMBER(1, 16384, o->rx_depth);
	case 'Q':
		return NUMBER(1, 16384, o->signal_every);
	case 'X':
		return NUMBER(0, 1024, o->vector);
	case 'S':
		return NUMBER(0, 15, o->sl);
	case 'L':
		return NUMBER(0, 255, o->hop_limit);
	case 'T':
		ret = NUMBER(0, 255, u);
		o->tos = (int)u;
		return ret;
	case 'u':
		return NUMBER(0, 31, o->qp_timeout);
	case LAT_OPT_TCLASS:
		return NUMBER(0, 255, o->tclass);
	case LAT_OPT_PKEY:
		return NUMBER(0, 65535, o->pkey_index);
	case LAT_OPT_RETRY:
		return NUMBER(0, 7, o->retry);
	case LAT_OPT_FORCE_LINK:
		ret = choice(row->name, arg, links, &pick);
		o->link = pick ? 'E' : 'I';
		return ret;
	case LAT_OPT_OLD_POST:
		return -1;
	}
	return 0;
}

static int take_run(const struct lat_opt_row *row, const char *arg, struct lat_options *o)
{
	static const char *const yields[] = { "auto", "off", "on", NULL };
	static const char *const outputs[] = { "latency", NULL };
	int pick, ret;
	uint32_t u = 0;

	switch (row->id) {
	case 'p':
		return NUMBER(1, 65535, o->port);
	case 'e':
		o->events = true;
		return -1;
	case 'z':
		o->com_cm = true;
		return -1;
	case LAT_OPT_IPV6:
		o->ipv6 = true;
		return -1;
	case LAT_OPT_SOURCE_IP:
		o->source = arg;
		return -1;
	case LAT_OPT_GAP:
		return NUMBER(0, 10000000, o->gap);
	case LAT_OPT_RATE:
		return seconds(row->name, arg, &o->rate);
	case LAT_OPT_TIMEOUT:
		return seconds(row->name, arg, &o->timeout);
	case LAT_OPT_WAIT:
		return seconds(row->name, arg, &o->connect_timeout);
	case LAT_OPT_CPU:
		o->cpu = -2;
		if (!strcmp(arg, "any"))
			return -1;
		ret = NUMBER(0, 4095, u);
		o->cpu = (int)u;
		return ret;
	case LAT_OPT_YIELD:
		ret = choice(row->name, arg, yields, &pick);
		o->yield = pick - 1;
		return ret;
	case LAT_OPT_OUTPUT:
		o->average_only = true;
		return choice(row->name, arg, outputs, &pick);
	case 'F':
		o->verbosity = -1;
		return -1;
	case 'v':
		o->verbosity++;
		return -1;
	case LAT_OPT_LOOPBACK:
		o->mode = LAT_LOOPBACK;
		return -1;
	case LAT_OPT_WC_CHECK:
		o->mode = LAT_WC_CHECK;
		return -1;
	case LAT_OPT_ALL_PAIRS:
		o->mode = LAT_ALL_PAIRS;
		return -1;
	case LAT_OPT_RENDEZVOUS:
		o->rendezvous = arg;
		return -1;
	case LAT_OPT_COMPARE:
		o->mode = LAT_COMPARE;
		return -1;
	}
	return 0;
}

static int take_report(const struct lat_opt_row *row, const char *arg, struct lat_options *o)
{
	switch (row->id) {
	case 'C':
		o->cycles = true;
		return -1;
	case 'U':
		o->unsorted = true;
		o->histogram = true;
		return -1;
	case 'H':
		o->histogram = true;
		return -1;
	case 'j':
		o->json = true;
		return -1;
	case LAT_OPT_PRETTY:
		o->json = true;
		o->pretty = true;
		return -1;
	case LAT_OPT_OUT_JSON:
		if (!o->json_file)
			o->json_file = "perftest_out.json";
		return -1;
	case LAT_OPT_OUT_JSON_FILE:
		o->json_file = arg;
		return -1;
	case LAT_OPT_SAMPLES:
		o->keep_samples = true;
		return -1;
	case LAT_OPT_PROMETHEUS:
		o->prometheus = arg;
		return -1;
	case LAT_OPT_PLOT:
		o->plot = arg;
		return -1;
	case LAT_OPT_FAIL_IF:
		if (o->nr_fail_if == sizeof(o->fail_if) / sizeof(*o->fail_if))
			return wrong("--fail-if is given too often");
		o->fail_if[o->nr_fail_if++] = arg;
		return -1;
	}
	return 0;
}

static int take(const struct lat_opt_row *row, const char *arg, struct lat_options *o)
{
	static int (*const parts[])(const struct lat_opt_row *, const char *,
				    struct lat_options *) = { take_params, take_device, take_run,
							      take_report };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		int ret = parts[i](row, arg, o);

		if (ret)
			return ret;
	}
	return wrong("--%s is not understood", row->name);
}

static void all_sizes(struct lat_params *p)
{
	p->nr_sizes = 0;
	for (uint32_t size = 2; size <= LAT_SIZE_MAX; size *= 2)
		p->sizes[p->nr_sizes++] = size;
}

/* What no single option can tell. */
static int check_together(struct lat_options *o)
{
	struct lat_params *p = &o->params;
	unsigned int modes = !!o->host + (o->mode == LAT_LOOPBACK) + (o->mode == LAT_WC_CHECK) +
			     (o->mode == LAT_ALL_PAIRS);

	if (o->nr_fail_if && o->mode != LAT_COMPARE)
		return wrong("--fail-if goes with --compare");
	if (o->mode == LAT_COMPARE)
		return -1;
	if (modes > 1)
		return wrong("a host, --loopback, --wc-check and --all-pairs exclude each other");
	if (p->duration && o->all)
		return wrong("-D measures one size for a time; it does not go with -a");
	if (p->duration && (p->given & LAT_GIVEN_ITERS))
		return wrong("-D and -n exclude each other");
	if (p->duration && o->histogram)
		return wrong("-H and -U need every sample, which -D does not keep; use -n");
	if (p->blueflame == LAT_BF_AB && (p->duration || o->rate > 0 || p->cm_qp))
		return wrong("--blueflame ab does not go with -D, --rate or -R");
	if (o->rate > 0 && o->mode != LAT_CLIENT)
		return wrong("--rate is for the client, which sends first");
	if (p->cm_qp && p->conn == LAT_UC)
		return wrong("rdma_cm has no UC queue pairs; use -z, which only exchanges "
			     "parameters over it");
	if (o->mode == LAT_LOOPBACK && o->com_cm)
		return wrong("--loopback has no peer to reach over rdma_cm");
	if (o->mode == LAT_LOOPBACK && o->events)
		return wrong("--loopback polls: one thread cannot sleep for what it has to send "
			     "itself");
	if (o->signal_every > o->tx_depth)
		o->signal_every = o->tx_depth > 1 ? o->tx_depth / 2 : 1;
	return -1;
}

static void defaults(struct lat_options *o)
{
	*o = (struct lat_options){
		.mode = LAT_SERVER,
		.params = { .sizes = { 2 }, .nr_sizes = 1, .iters = LAT_ITERS, .block = 50 },
		.port = LAT_PORT,
		.ib_port = 1,
		.gid_index = -1,
		.inline_size = -1,
		.tx_depth = LAT_TX_DEPTH,
		.rx_depth = LAT_RX_DEPTH,
		.signal_every = LAT_SIGNAL_EVERY,
		.hop_limit = 64,
		.qp_timeout = 14,
		.retry = 7,
		.tos = -1,
		.cpu = -1,
		.yield = -1,
		.timeout = 10,
		.connect_timeout = 10,
	};
}

static int take_arguments(int argc, char **argv, struct lat_options *o)
{
	int rest = argc - optind;

	if (o->mode == LAT_COMPARE) {
		if (rest != 2)
			return wrong("--compare takes two JSON documents");
		o->compare[0] = argv[optind];
		o->compare[1] = argv[optind + 1];
		return -1;
	}
	if (rest > 1)
		return wrong("one host, not %d words", rest);
	if (rest) {
		o->host = argv[optind];
		if (o->mode == LAT_SERVER)
			o->mode = LAT_CLIENT;
	}
	return -1;
}

int lat_options_parse(int argc, char **argv, struct lat_options *o)
{
	struct option longs[ROWS_MAX] = { 0 };
	const struct lat_opt_row *rows[ROWS_MAX];
	char shorts[ROWS_MAX * 2 + 2] = "";
	unsigned int n = 0, s = 0;
	int c, index, ret;

	defaults(o);
	for (const struct lat_opt_row *r = lat_opt_rows; r->id; r++) {
		if (r->id == -1)
			continue;
		rows[n] = r;
		longs[n++] = (struct option){ r->name, r->arg ? required_argument : no_argument,
					      NULL, r->id < 256 ? r->id : LAT_OPT_REFUSED + 1 };
		if (r->id < 256) {
			shorts[s++] = (char)r->id;
			if (r->arg)
				shorts[s++] = ':';
		}
	}
	opterr = 1;
	optind = 0;
	while (index = -1, (c = getopt_long(argc, argv, shorts, longs, &index)) != -1) {
		const struct lat_opt_row *row = NULL;

		if (c == '?')
			return BP_EXIT_USAGE;
		if (index >= 0)
			row = rows[index];
		for (unsigned int i = 0; !row; i++)
			row = rows[i]->id == c ? rows[i] : NULL;
		if (row->id == 'h') {
			lat_options_help(stdout);
			return BP_EXIT_OK;
		}
		if (row->id == 'V') {
			printf("bf_send_lat %s\n", bp_version());
			return BP_EXIT_OK;
		}
		if (row->id == 'q' && !strcmp(optarg, "1"))
			continue;
		if (row->refused)
			return wrong("%s%s is refused: %s", row->id < 256 ? "-" : "--",
				     row->id < 256 ? (char[]){ (char)row->id, 0 } : row->name,
				     row->refused);
		ret = take(row, optarg, o);
		if (ret >= 0)
			return ret;
	}
	ret = take_arguments(argc, argv, o);
	if (ret >= 0)
		return ret;
	if (o->all)
		all_sizes(&o->params);
	if (!(o->params.given & LAT_GIVEN_WARMUP))
		o->params.warmup = o->params.duration		? 100
				   : o->params.iters / 10 < 100 ? o->params.iters / 10 + 1
								: 100;
	return check_together(o);
}
