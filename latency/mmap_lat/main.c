// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "latency/mmap_lat/mmap_lat.h"
#include "latency/mmap_lat/phases.h"

#define CPU_HELP "-c, --cpu N|any    CPU to stay on; without it, the one it starts on"

static const struct bp_command commands[] = {
	{ "phases", "[OPTIONS]", "time each step of a mapping's life",
	  "-b, --backing LIST anon, shared, file; all if not given\n"
	  "-p, --pages LIST   4K, THP, 2M, 1G; all if not given\n"
	  "-s, --size SIZE    of the mapping (8M), rounded up to whole pages\n"
	  "-n, --rounds N     that count (10)\n"
	  "-w, --warmup N     before them, that do not (1)\n"
	  "-d, --dir DIR      for files ($TMPDIR, /tmp)\n" CPU_HELP "\n"
	  "Steps: map, first touch, drop (MADV_DONTNEED), touch again, protect, unprotect, fork,\n"
	  "touch after fork, exec, move, unmap. What this machine does not have is skipped, with\n"
	  "the reason; exit status 77 when nothing is left.",
	  lat_mmap_phases },
	{ "lat_mmap", "[OPTIONS]", "time the access pattern of lmbench's lat_mmap",
	  "-s, --size LIST    of the file (512K,1M,2M,4M,8M,16M)\n"
	  "-r, --spread       touch every 160 KiB of all, not every 16 KiB of the first tenth\n"
	  "-n, --rounds N     that count (200)\n"
	  "-w, --warmup N     before them, that do not (10)\n"
	  "-d, --dir DIR      for the file ($TMPDIR, /tmp)\n" CPU_HELP,
	  lat_mmap_pattern },
	{ "mmap-perf", "[OPTIONS]", "time random maps, unmaps, moves and touches",
	  "-n, --rounds N     operations that count (1000000)\n"
	  "-w, --warmup N     before them, that do not (1000)\n"
	  "-S, --seed N       of the sequence (2009)\n" CPU_HELP "\n"
	  "The digest is the same wherever the same sequence ran.",
	  lat_mmap_workload },
	{ NULL, NULL, NULL, NULL, NULL },
};

int main(int argc, char **argv)
{
	struct bp_cli cli = {
		.prog = "mmap_lat",
		.summary = "latency of mmap, page faults and what follows them",
		.commands = commands,
	};

	/* The program that "exec" starts: a measurement of its start, not of what it does. */
	if (argc && !strcmp(argv[0], LAT_EXIT_NAME))
		return 0;
	return bp_cli_main(&cli, argc, argv);
}
