// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <bp/log.h>
#include <bp/request.h>

#include "cmd.h"

#define SECONDS	    10 /* a machine answers at once */
#define SECONDS_MAX 3600

enum {
	TIMEOUT,
	END
};

int mt_cmd_guest(struct bp_cli *cli, int argc, char **argv)
{
	struct mt_opt opts[] = {
		[TIMEOUT] = { "timeout", false, NULL }, [END] = { NULL, false, NULL }
	};
	int rest = mt_opts_parse(cli, opts, argc, argv), ret;
	struct bp_request req = { .command = "memtype", .text = cli->mode == BP_PRINT_TEXT };
	struct bp_error err = { 0 };
	uint64_t seconds = SECONDS;
	char *line = NULL;

	if (rest < 0)
		return BP_EXIT_USAGE;
	if (rest != 1)
		return bp_cli_usage(cli, argv[0], "name one control socket");
	if (opts[TIMEOUT].value && bp_parse_u64(opts[TIMEOUT].value, 1, SECONDS_MAX, &seconds))
		return bp_cli_usage(cli, argv[0], "--timeout takes 1 to %d seconds, not '%s'",
				    SECONDS_MAX, opts[TIMEOUT].value);
	req.socket = argv[1];
	req.seconds = (unsigned int)seconds;
	ret = bp_request(&req, &line, &err);
	if (ret == -ETIMEDOUT)
		bp_error_set(&err, ret, "look whether its process is stopped",
			     "the machine at %s has not answered within %u seconds", req.socket,
			     req.seconds);
	if (!ret)
		ret = bp_reply_show(line, &req, stdout, cli->mode, &err);
	free(line);
	return ret ? bp_log_report(&err, ret, "asking the machine for its memory types")
		   : BP_EXIT_OK;
}
