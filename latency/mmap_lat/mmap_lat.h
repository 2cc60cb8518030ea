/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands of `mmap_lat`, and the options that all of them have. */
#ifndef LAT_MMAP_LAT_H
#define LAT_MMAP_LAT_H

#include <bp/cli.h>
#include "latency/mmap_lat/area.h"
#include "latency/mmap_lat/meter.h"

/**
 * struct lat_mmap_opts - what the command line says.
 * @backings, @pages: bit N for the Nth of enum lat_backing and enum lat_pages.
 * @sizes: bytes. @nr_sizes: how many.
 * @rounds, @warmup: what counts, and what before it does not. @seed: of the sequence.
 * @spread: touch all of a file. @dir: for files. @plot: file for a picture, or NULL. @cpu: as lat_meter_open().
 */
struct lat_mmap_opts {
	unsigned int backings;
	unsigned int pages;
	uint64_t sizes[16];
	size_t nr_sizes;
	uint64_t rounds;
	uint64_t warmup;
	uint64_t seed;
	bool spread;
	const char *dir;
	const char *plot;
	int cpu;
};

/**
 * lat_mmap_parse() - read a command's options.
 * @cli: program. @argc: as the command got it. @argv: likewise.
 * @letters: those of "bpsnwSrdcP" that this command has.
 * @o: defaults, changed by what is given.
 *
 * Return: 0, or BP_EXIT_USAGE after a message.
 */
int lat_mmap_parse(struct bp_cli *cli, int argc, char **argv, const char *letters,
		   struct lat_mmap_opts *o);

/** lat_mmap_begin() - start the document: schema and command. @p: printer. @command: name. */
void lat_mmap_begin(struct bp_print *p, const char *command);

/* The commands: arguments and exit status as in struct bp_command. */
int lat_mmap_phases(struct bp_cli *cli, int argc, char **argv);
int lat_mmap_pattern(struct bp_cli *cli, int argc, char **argv);
int lat_mmap_workload(struct bp_cli *cli, int argc, char **argv);

#endif
