/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket: one JSON object a line in, one out. Requests come from anybody who
 * may open the socket and are checked like any other untrusted input.
 *
 * {"command": "status"|"stats"|"pause"|"resume"|"stop"|"memtype",
 *  "format": "json"|"text", "force": bool}
 * {"ok": true, "result": {...}} or {"ok": true, "text": "..."} or {"ok": false, "error": "...", "fix": "..."}
 */
#ifndef VMM_API_H
#define VMM_API_H

#include <stdbool.h>
#include <stddef.h>

#include <bp/error.h>

#define VMM_API_LINE_MAX 4096u /* bytes of a request, newline included */

/** enum vmm_api_command - what a request asks for. */
enum vmm_api_command {
	VMM_API_STATUS,
	VMM_API_STATS,
	VMM_API_PAUSE,
	VMM_API_RESUME,
	VMM_API_STOP,
	VMM_API_MEMTYPE,
};

/**
 * struct vmm_api_request - a parsed request.
 * @command: what.
 * @text: the answer is to be text for people.
 * @force: for VMM_API_STOP: without asking the guest.
 */
struct vmm_api_request {
	enum vmm_api_command command;
	bool text;
	bool force;
};

/**
 * vmm_api_parse() - read one request.
 * @line: bytes, need not end in a NUL.
 * @len: how many.
 * @out: receives the request.
 * @err: says what is wrong with it.
 *
 * Return: 0, or -EINVAL.
 */
int vmm_api_parse(const char *line, size_t len, struct vmm_api_request *out, struct bp_error *err);

struct vmm_core;
struct vmm_api;

/**
 * vmm_api_new() - listen.
 * @core: machine with its loop.
 * @path: socket; a left-over one that nobody serves is replaced, anything else is kept.
 * @out: receives the server.
 * @err: receives the reason of a failure.
 *
 * Return: 0, -EADDRINUSE when a machine answers there, -EEXIST when it is another kind of
 * file, -ENAMETOOLONG, or another negative errno.
 */
int vmm_api_new(struct vmm_core *core, const char *path, struct vmm_api **out,
		struct bp_error *err);

/** vmm_api_end() - tell those who wait for the machine's end. @api: NULL is allowed. */
void vmm_api_end(struct vmm_api *api);

/** vmm_api_free() - stop listening, remove the socket. @api: NULL is allowed. */
void vmm_api_free(struct vmm_api *api);

#endif
