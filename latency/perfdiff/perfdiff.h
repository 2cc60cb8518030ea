/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands of `perfdiff`: arguments and exit status as in struct bp_command. */
#ifndef LAT_PERFDIFF_H
#define LAT_PERFDIFF_H

#include <bp/cli.h>
#include "latency/perfdiff/table.h"

int lat_perfdiff_run(struct bp_cli *cli, int argc, char **argv);
int lat_perfdiff_show(struct bp_cli *cli, int argc, char **argv);

/** lat_perfdiff_table() - make a table and print it. @cli: program. @r: records. @name: their files.
 * @n: how many. @opts: how. Return: exit status.
 */
int lat_perfdiff_table(struct bp_cli *cli, const struct lat_record *r, const char *const *name,
		       size_t n, const struct lat_table_opts *opts);

#endif
