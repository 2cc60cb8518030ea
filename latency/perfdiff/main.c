// SPDX-License-Identifier: GPL-2.0-only
#include "latency/perfdiff/perfdiff.h"

static const struct bp_command commands[] = {
	{ "run", "-o FILE [OPTIONS] -- COMMAND... [--vs COMMAND...]...",
	  "count commands over many runs that take turns, and compare them",
	  "-o, --output FILE   record for 'show' (JSON)\n"
	  "-r, --runs N        runs of each command that count (10)\n"
	  "-w, --warmup N      runs of each before them that do not (1)\n"
	  "-n, --name NAME     heading of the next command's column; may be repeated\n"
	  "-s, --seed N        of order and layout; without it, one from the clock\n"
	  "-q, --quiet         throw the commands' standard output away\n"
	  "    --any-status    also count runs that end with another status than 0\n"
	  "A round runs each command once, in random order, with address space randomisation and\n"
	  "an environment of random length. The table goes to standard output.",
	  lat_perfdiff_run },
	{ "show", "[OPTIONS] BASE [OTHER...]", "compare records",
	  "-l, --level P       confidence of the intervals, in per cent (99)\n"
	  "-m, --median        compare medians, not means\n"
	  "-s, --seed N        of the resampling (1)\n"
	  "BASE and OTHER are files of 'run'. The first command in BASE is what all others are\n"
	  "compared with.",
	  lat_perfdiff_show },
	{ NULL, NULL, NULL, NULL, NULL },
};

int main(int argc, char **argv)
{
	struct bp_cli cli = {
		.prog = "perfdiff",
		.summary = "which counters of two commands really differ",
		.commands = commands,
	};

	return bp_cli_main(&cli, argc, argv);
}
