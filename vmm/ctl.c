// SPDX-License-Identifier: GPL-2.0-only
/* bluepass ctl: the other end of the control socket. */
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <bp/cli.h>
#include <bp/log.h>
#include "vmm/commands.h"

#define REPLY_MAX	 (1u << 20)
#define REPLY_TIMEOUT	 10u /* seconds; a machine answers at once */
#define STOP_TIMEOUT	 60u /* seconds; an operating system needs time to go down */
#define STOP_TIMEOUT_MAX 86400u

static const char *const words[] = { "status", "stats", "pause", "resume", "stop" };

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

static int dial(const char *path, struct bp_error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return bp_error_set(err, -ENAMETOOLONG, NULL,
				    "no control socket can have the long name %.40s...", path);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	ret = -errno;
	close(fd);
	return bp_error_set(err, ret, "name the socket that 'bluepass run --api' was given",
			    "no machine answers at %s: %s", path, strerror(-ret));
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* One line; the caller frees it. */
static int receive(int fd, unsigned int seconds, char **out)
{
	int64_t deadline = now_ms() + (int64_t)seconds * 1000;
	size_t len = 0, room = 4096;
	char *line = malloc(room);
	int ret = line ? 0 : -ENOMEM;

	while (!ret) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = deadline - now_ms();
		ssize_t n;

		if (left <= 0 || !poll(&p, 1, (int)left)) {
			ret = -ETIMEDOUT;
			break;
		}
		if (len == room) {
			char *more = room < REPLY_MAX ? realloc(line, room * 2) : NULL;

			if (!more) {
				ret = -EMSGSIZE;
				break;
			}
			line = more;
			room *= 2;
		}
		n = read(fd, line + len, room - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ret = n ? -errno : -ECONNRESET;
			break;
		}
		len += (size_t)n;
		if (line[len - 1] == '\n') {
			line[len - 1] = '\0';
			*out = line;
			return 0;
		}
	}
	free(line);
	return ret;
}

static void print_value(struct bp_print *p, const char *key, struct json_object *v)
{
	switch (json_object_get_type(v)) {
	case json_type_object: {
		bp_print_object(p, key);
		json_object_object_foreach(v, name, child)
		{
			print_value(p, name, child);
		}
		bp_print_object_end(p);
		break;
	}
	case json_type_array:
		bp_print_array(p, key);
		for (size_t i = 0; i < json_object_array_length(v); i++)
			print_value(p, NULL, json_object_array_get_idx(v, i));
		bp_print_array_end(p);
		break;
	case json_type_int:
		if (json_object_get_int64(v) < 0)
			bp_print_s64(p, key, NULL, json_object_get_int64(v));
		else
			bp_print_u64(p, key, NULL, json_object_get_uint64(v));
		break;
	case json_type_boolean:
		bp_print_bool(p, key, NULL, json_object_get_boolean(v));
		break;
	case json_type_double:
		bp_print_f64(p, key, NULL, 6, json_object_get_double(v));
		break;
	case json_type_string:
		bp_print_str(p, key, NULL, json_object_get_string(v));
		break;
	case json_type_null:
		bp_print_null(p, key, NULL);
		break;
	}
}

static const char *string_in(struct json_object *o, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_string))
		return NULL;
	return json_object_get_string(v);
}

static int show(struct bp_cli *cli, const char *line)
{
	struct json_object *reply = json_tokener_parse(line), *v;
	const char *text = string_in(reply, "text"), *error = string_in(reply, "error");
	int status = BP_EXIT_FAIL;

	if (!json_object_is_type(reply, json_type_object) ||
	    !json_object_object_get_ex(reply, "ok", &v)) {
		bp_log_error("what answered is no machine of bluepass");
	} else if (!json_object_get_boolean(v)) {
		const char *fix = string_in(reply, "fix");

		bp_log_error("%s%s%s", error ? error : "the request failed", fix ? "; " : "",
			     fix ? fix : "");
	} else if (text) {
		status = fputs(text, stdout) < 0 || fflush(stdout) ? BP_EXIT_FAIL : BP_EXIT_OK;
	} else {
		struct bp_print *p = bp_print_new(stdout, cli->mode);

		if (p && json_object_object_get_ex(reply, "result", &v))
			print_value(p, NULL, v);
		status = bp_print_free(p) ? BP_EXIT_FAIL : BP_EXIT_OK;
	}
	json_object_put(reply);
	return status;
}

static int talk(struct bp_cli *cli, const char *path, const char *word, bool force,
		unsigned int timeout)
{
	struct bp_error err = { 0 };
	char request[128], *line = NULL;
	int fd = dial(path, &err), ret, status;
	int len;

	if (fd < 0)
		return bp_log_report(&err, fd, "cannot reach the machine");
	len = snprintf(request, sizeof(request),
		       "{\"command\":\"%s\",\"format\":\"%s\",\"force\":%s}\n", word,
		       cli->mode == BP_PRINT_TEXT ? "text" : "json", force ? "true" : "false");
	ret = send(fd, request, (size_t)len, MSG_NOSIGNAL) == len ? 0 : -EPIPE;
	if (!ret)
		ret = receive(fd, timeout, &line);
	close(fd);
	if (ret == -ETIMEDOUT && !strcmp(word, "stop") && !force)
		bp_error_set(&err, ret, "use 'stop --force' to end it without the guest's help",
			     "the guest has not powered off within %u seconds", timeout);
	else if (ret == -ETIMEDOUT)
		bp_error_set(&err, ret, NULL,
			     "the machine at %s has not answered within %u seconds", path, timeout);
	if (ret)
		return bp_log_report(&err, ret, "the machine did not answer");
	status = show(cli, line);
	free(line);
	return status;
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
	return talk(cli, path, word, force, (unsigned int)timeout);
}
