// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bp/log.h>
#include "latency/perfdiff/perfdiff.h"
#include "latency/perfdiff/session.h"

/* What the command line asks for. */
struct wish {
	struct lat_session s;
	const char *output;
	const char *name[LAT_CONFIGS_MAX];
	size_t names;
};

static void say_step(void *priv, unsigned int round, unsigned int rounds, const char *name)
{
	(void)priv;
	bp_log_info("round %u of %u: %s", round + 1, rounds, name);
}

static int number(struct bp_cli *cli, const char *option, unsigned int min, unsigned int *out)
{
	uint64_t v;

	if (bp_parse_u64(optarg, min, LAT_RUNS_MAX, &v))
		return bp_cli_usage(cli, "run", "%s is %u to %d, not '%s'", option, min,
				    LAT_RUNS_MAX, optarg);
	*out = (unsigned int)v;
	return 0;
}

static int parse(struct bp_cli *cli, int argc, char **argv, struct wish *w)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "runs", required_argument, NULL, 'r' },
		{ "warmup", required_argument, NULL, 'w' },
		{ "name", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "any-status", no_argument, NULL, 'a' },
		{ 0 },
	};
	int c, ret = 0;

	opterr = 0;
	optind = 0;
	/* "+": the command's own options are not ours. */
	while (!ret && (c = getopt_long(argc, argv, "+o:r:w:n:s:q", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			w->output = optarg;
			break;
		case 'r':
			ret = number(cli, "--runs", 1, &w->s.rounds);
			break;
		case 'w':
			ret = number(cli, "--warmup", 0, &w->s.warmup);
			break;
		case 'n':
			if (w->names == LAT_CONFIGS_MAX)
				return bp_cli_usage(cli, argv[0], "more than %d names",
						    LAT_CONFIGS_MAX);
			w->name[w->names++] = optarg;
			break;
		case 's':
			if (bp_parse_u64(optarg, 0, UINT64_MAX, &w->s.seed))
				return bp_cli_usage(cli, argv[0], "--seed is a number, not '%s'",
						    optarg);
			break;
		case 'q':
			w->s.quiet = true;
			break;
		case 'a':
			w->s.any_status = true;
			break;
		default:
			return bp_cli_usage(cli, argv[0], "wrong option '%s'", argv[optind - 1]);
		}
	}
	return ret;
}

/* COMMAND... [--vs COMMAND...]...: each becomes a configuration. */
static int take_commands(struct bp_cli *cli, int argc, char **argv, const struct wish *w,
			 struct lat_record *r)
{
	for (int i = 0; i < argc;) {
		size_t nr = r->nr_configs;
		int end = i, ret;

		while (end < argc && strcmp(argv[end], "--vs") != 0)
			end++;
		if (end == i || (end < argc && end + 1 == argc))
			return bp_cli_usage(cli, "run", "no command %s --vs",
					    end == i ? "before" : "after");
		argv[end] = NULL;
		ret = lat_record_config(r, argv + i, nr < w->names ? w->name[nr] : NULL);
		if (ret == -ENOSPC)
			return bp_cli_usage(cli, "run", "more than %d commands", LAT_CONFIGS_MAX);
		if (ret)
			return bp_log_report(NULL, ret, "taking the commands");
		i = end + 1;
	}
	if (w->names > r->nr_configs)
		return bp_cli_usage(cli, "run", "%zu names for %zu commands", w->names,
				    r->nr_configs);
	return 0;
}

static int measure(const struct wish *w, struct lat_record *r)
{
	struct lat_env_counts before, after;
	struct lat_env_warning warning[LAT_ENV_WARNINGS];
	struct bp_error err = { 0 };
	int ret = lat_record_probe(w->output, &err);

	if (ret)
		return bp_log_report(&err, ret, "writing the record");
	lat_env_read(&r->env, "/");
	r->has_env = true;
	if (r->env.aslr == 0)
		bp_log_warn("address space randomisation is off in this kernel; "
			    "echo 2 > /proc/sys/kernel/randomize_va_space");
	lat_env_count(&before, &r->env, "/");
	ret = lat_session_run(&w->s, r, &err);
	if (ret)
		return bp_log_report(&err, ret, "running the commands");
	lat_env_count(&after, &r->env, "/");
	/* Of perfdiff's own switches and faults nothing follows; stolen time hits the commands. */
	r->window = (struct lat_env_counts){ .steal = lat_env_window(&before, &after).steal };
	for (unsigned int i = 0, n = lat_env_judge(&r->env, &r->window, warning); i < n; i++)
		bp_log_warn("%s", warning[i].text);
	ret = lat_record_save(r, w->output, &err);
	return ret ? bp_log_report(&err, ret, "writing the record") : 0;
}

int lat_perfdiff_run(struct bp_cli *cli, int argc, char **argv)
{
	struct lat_table_opts opts = { .stat = LAT_MEAN, .seed = 1 };
	struct lat_record *r;
	struct timespec now;
	struct wish w = {
		.s = { .rounds = 10, .warmup = 1, .sys = lat_perf_libc(), .step = say_step }
	};
	int status;

	clock_gettime(CLOCK_REALTIME, &now);
	w.s.seed = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	status = parse(cli, argc, argv, &w);
	if (status)
		return status;
	if (!w.output)
		return bp_cli_usage(cli, argv[0], "-o FILE is needed");
	if (optind == argc)
		return bp_cli_usage(cli, argv[0], "no command after --");
	r = calloc(1, sizeof(*r));
	if (!r)
		return bp_log_report(NULL, -ENOMEM, "starting");
	status = take_commands(cli, argc - optind, argv + optind, &w, r);
	if (!status)
		status = measure(&w, r);
	if (!status)
		status = lat_perfdiff_table(cli, r, &w.output, 1, &opts);
	lat_record_free(r);
	free(r);
	return status;
}
