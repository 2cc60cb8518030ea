// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "latency/mmap_lat/mmap_lat.h"

#define ROUNDS_MAX 100000000ull

/* "anon,file" or "all": a bit for each word. */
static int words(struct bp_cli *cli, const char *command, const char *option,
		 const char *const *known, unsigned int *out)
{
	char *list = strdup(optarg), *rest = list, *w;
	int ret = list ? 0 : BP_EXIT_FAIL;

	*out = 0;
	while (!ret && (w = strsep(&rest, ","))) {
		unsigned int i = 0;

		if (!strcmp(w, "all")) {
			for (; known[i]; i++)
				*out |= 1u << i;
			continue;
		}
		while (known[i] && strcasecmp(known[i], w) != 0)
			i++;
		if (known[i])
			*out |= 1u << i;
		else
			ret = bp_cli_usage(cli, command, "--%s has no '%s'", option, w);
	}
	free(list);
	return ret;
}

static int sizes(struct bp_cli *cli, const char *command, struct lat_mmap_opts *o)
{
	char *list = strdup(optarg), *rest = list, *w;
	int ret = list ? 0 : BP_EXIT_FAIL;

	o->nr_sizes = 0;
	while (!ret && (w = strsep(&rest, ","))) {
		if (o->nr_sizes == sizeof(o->sizes) / sizeof(*o->sizes))
			ret = bp_cli_usage(cli, command, "more than %zu sizes", o->nr_sizes);
		else if (bp_parse_size(w, &o->sizes[o->nr_sizes]) || !o->sizes[o->nr_sizes])
			ret = bp_cli_usage(cli, command, "'%s' is no size, such as 8M", w);
		else
			o->nr_sizes++;
	}
	free(list);
	return ret;
}

static int number(struct bp_cli *cli, const char *command, const char *option, uint64_t min,
		  uint64_t max, uint64_t *out)
{
	if (bp_parse_u64(optarg, min, max, out))
		return bp_cli_usage(cli, command, "--%s is %lu to %lu, not '%s'", option, min, max,
				    optarg);
	return 0;
}

static int one(struct bp_cli *cli, const char *command, int letter, struct lat_mmap_opts *o)
{
	uint64_t cpu = 0;
	int ret;

	switch (letter) {
	case 'b':
		return words(cli, command, "backing", lat_backing_words, &o->backings);
	case 'p':
		return words(cli, command, "pages", lat_pages_words, &o->pages);
	case 's':
		return sizes(cli, command, o);
	case 'n':
		return number(cli, command, "rounds", 1, ROUNDS_MAX, &o->rounds);
	case 'w':
		return number(cli, command, "warmup", 0, ROUNDS_MAX, &o->warmup);
	case 'S':
		return number(cli, command, "seed", 0, UINT64_MAX, &o->seed);
	case 'r':
		o->spread = true;
		return 0;
	case 'd':
		o->dir = optarg;
		return 0;
	case 'P':
		o->plot = optarg;
		return 0;
	default:
		if (!strcmp(optarg, "any")) {
			o->cpu = -2;
			return 0;
		}
		ret = number(cli, command, "cpu", 0, 1 << 20, &cpu);
		o->cpu = (int)cpu;
		return ret;
	}
}

int lat_mmap_parse(struct bp_cli *cli, int argc, char **argv, const char *letters,
		   struct lat_mmap_opts *o)
{
	static const struct option options[] = {
		{ "backing", required_argument, NULL, 'b' },
		{ "pages", required_argument, NULL, 'p' },
		{ "size", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'n' },
		{ "warmup", required_argument, NULL, 'w' },
		{ "seed", required_argument, NULL, 'S' },
		{ "spread", no_argument, NULL, 'r' },
		{ "dir", required_argument, NULL, 'd' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "plot", required_argument, NULL, 'P' },

		{ 0 },
	};
	const char *tmp = getenv("TMPDIR");
	int c, ret = 0;

	o->dir = tmp && *tmp ? tmp : "/tmp";
	o->cpu = -1;
	opterr = 0;
	optind = 0;
	while (!ret && (c = getopt_long(argc, argv, "b:p:s:n:w:S:rd:c:P:", options, NULL)) != -1) {
		if (c == '?')
			return bp_cli_usage(cli, argv[0], "wrong option '%s'", argv[optind - 1]);
		/* Its value may be the argument before optind. */
		if (!strchr(letters, c))
			return bp_cli_usage(cli, argv[0], "wrong option '-%c'", c);
		ret = one(cli, argv[0], c, o);
	}
	if (!ret && optind < argc)
		ret = bp_cli_usage(cli, argv[0], "'%s' is too much", argv[optind]);
	return ret;
}

void lat_mmap_begin(struct bp_print *p, const char *command)
{
	bp_print_object(p, NULL);
	bp_print_str(p, "schema", NULL, "bluepass-mmap_lat");
	bp_print_u64(p, "version", NULL, 1);
	bp_print_str(p, "command", NULL, command);
}
