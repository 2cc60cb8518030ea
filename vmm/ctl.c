// SPDX-License-Identifier: GPL-2.0-only
/* bluepass ctl: the other end of the control socket. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bp/cli.h>
#include <bp/log.h>
#include <bp/request.h>
#include "vmm/commands.h"

#define REPLY_TIMEOUT	 10u /* seconds; a machine answers at once */
#define STOP_TIMEOUT	 60u /* seconds; an operating system needs time to go down */
#define STOP_TIMEOUT_MAX 86400u

static const char *const words[] = { "status", "stats", "memtype", "pause", "resume", "stop" };

/* A word or an abbreviation that means one of them only. */
static const char *find_word(const char *word)
{
	const char *found = NULL;
	size_t len = strlen(word);

	for (size_t i = 0; len && i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i], word))
			return words[i];
		if (strncmp(words[i], word, len) != 0)
			continue;
		if (found)
			return NULL;
		found = words[i];
	}
	return found;
}

static int talk(struct bp_cli *cli, const struct bp_request *req)
{
	struct bp_error err = { 0 };
	char *line = NULL;
	int ret = bp_request(req, &line, &err);

	if (ret == -ETIMEDOUT && !strcmp(req->command, "stop") && !req->force)
		bp_error_set(&err, ret, "use 'stop --force' to end it without the guest's help",
			     "the guest has not powered off within %u seconds", req->seconds);
	else if (ret == -ETIMEDOUT)
		bp_error_set(&err, ret, NULL,
			     "the machine at %s has not answered within %u seconds", req->socket,
			     req->seconds);
	if (!ret)
		ret = bp_reply_show(line, req, stdout, cli->mode, &err);
	free(line);
	return ret ? bp_log_report(&err, ret, "cannot talk to the machine") : BP_EXIT_OK;
}

int vmm_cmd_ctl(struct bp_cli *cli, int argc, char **argv)
{
	const char *path = NULL, *word = NULL;
	uint64_t timeout = 0;
	bool force = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--force")) {
			force = true;
		} else if (!strcmp(argv[i], "--timeout")) {
			if (++i == argc || bp_parse_u64(argv[i], 1, STOP_TIMEOUT_MAX, &timeout))
				return bp_cli_usage(cli, "ctl", "--timeout takes 1 to %u seconds",
						    STOP_TIMEOUT_MAX);
		} else if (argv[i][0] == '-' && argv[i][1]) {
			return bp_cli_usage(cli, "ctl", "unknown option '%s'", argv[i]);
		} else if (!path) {
			path = argv[i];
		} else if (!word) {
			word = find_word(argv[i]);
			if (!word)
				return bp_cli_usage(cli, "ctl", "there is no request '%s'",
						    argv[i]);
		} else {
			return bp_cli_usage(cli, "ctl", "'%s' is one word too many", argv[i]);
		}
	}
	if (!word)
		return bp_cli_usage(cli, "ctl", "a socket and a request are needed");
	if (force && strcmp(word, "stop") != 0)
		return bp_cli_usage(cli, "ctl", "--force belongs to stop");
	if (!timeout)
		timeout = strcmp(word, "stop") ? REPLY_TIMEOUT : STOP_TIMEOUT;
	return talk(cli, &(struct bp_request){
				 .socket = path,
				 .command = word,
				 .text = cli->mode == BP_PRINT_TEXT,
				 .force = force,
				 .seconds = (unsigned int)timeout,
			 });
}
