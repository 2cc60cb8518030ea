// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>
#include "latency/perfdiff/perfdiff.h"
#include "latency/stats.h"

int lat_perfdiff_table(struct bp_cli *cli, const struct lat_record *r, const char *const *name,
		       size_t n, const struct lat_table_opts *opts)
{
	struct lat_table *t = malloc(sizeof(*t));
	struct bp_error err = { 0 };
	struct bp_print *p;
	int ret = t ? lat_table_make(t, r, name, n, opts, &err) : -ENOMEM;

	if (ret) {
		free(t);
		return bp_log_report(&err, ret, "comparing");
	}
	p = bp_print_new(stdout, cli->mode);
	if (p)
		lat_table_print(p, t);
	ret = p ? bp_print_free(p) : -ENOMEM;
	free(t);
	return ret ? bp_log_report(NULL, ret, "writing the table") : BP_EXIT_OK;
}

/* "99", "99.9" per cent. */
static int parse_level(const char *text, double *out)
{
	char *end;
	double v = strtod(text, &end);

	if (*end || end == text || !(v > 50 && v < 100))
		return -EINVAL;
	*out = v / 100;
	return 0;
}

static int load_all(char **path, size_t n, struct lat_record **out)
{
	struct lat_record *r = calloc(n, sizeof(*r));
	struct bp_error err = { 0 };

	if (!r)
		return bp_log_report(NULL, -ENOMEM, "reading records");
	*out = r;
	for (size_t i = 0; i < n; i++) {
		int ret = lat_record_load(&r[i], path[i], &err);

		if (ret)
			return bp_log_report(&err, ret, "reading a record");
	}
	return 0;
}

int lat_perfdiff_show(struct bp_cli *cli, int argc, char **argv)
{
	static const struct option options[] = {
		{ "level", required_argument, NULL, 'l' },
		{ "median", no_argument, NULL, 'm' },
		{ "seed", required_argument, NULL, 's' },
		{ 0 },
	};
	struct lat_table_opts opts = { .stat = LAT_MEAN, .seed = 1 };
	struct lat_record *r = NULL;
	size_t n;
	int c, status;

	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, "l:ms:", options, NULL)) != -1) {
		switch (c) {
		case 'l':
			if (parse_level(optarg, &opts.level))
				return bp_cli_usage(cli, argv[0],
						    "--level is above 50 and below 100, not '%s'",
						    optarg);
			break;
		case 'm':
			opts.stat = LAT_P50;
			break;
		case 's':
			if (bp_parse_u64(optarg, 0, UINT64_MAX, &opts.seed))
				return bp_cli_usage(cli, argv[0], "--seed is a number, not '%s'",
						    optarg);
			break;
		default:
			return bp_cli_usage(cli, argv[0], "wrong option '%s'", argv[optind - 1]);
		}
	}
	n = (size_t)(argc - optind);
	if (!n)
		return bp_cli_usage(cli, argv[0], "no file named");
	if (n > LAT_COLUMNS_MAX)
		return bp_cli_usage(cli, argv[0], "more than %d files", LAT_COLUMNS_MAX);
	status = load_all(argv + optind, n, &r);
	if (!status)
		status = lat_perfdiff_table(cli, r, (const char *const *)argv + optind, n, &opts);
	for (size_t i = 0; r && i < n; i++)
		lat_record_free(&r[i]);
	free(r);
	return status;
}
