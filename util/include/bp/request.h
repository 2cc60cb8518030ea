/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asking a running machine: the client's side of the control socket. One JSON object
 * a line goes there, one comes back (vmm/api.h has the protocol).
 */
#ifndef BP_REQUEST_H
#define BP_REQUEST_H

#include <stdbool.h>
#include <stdio.h>

#include <bp/error.h>
#include <bp/print.h>

/**
 * struct bp_request - what to ask, and whom.
 * @socket: path that `bluepass run --api` was given.
 * @command: one word of lower-case letters.
 * @text: the answer is to be text for people, otherwise JSON.
 * @force: for "stop": without asking the guest.
 * @seconds: most time that all of it may take, from 1 on.
 */
struct bp_request {
	const char *socket;
	const char *command;
	bool text;
	bool force;
	unsigned int seconds;
};

/**
 * bp_request() - ask, and wait for the answer.
 * @req: what.
 * @line: receives the answer without its line break; free() it.
 * @err: says why there is none. It stays empty for -ETIMEDOUT, since only the caller
 *       knows what that means.
 *
 * The time limit holds whatever the other side and signals do.
 *
 * Return: 0; -ENOENT, -ECONNREFUSED, -EACCES and others when nobody can be reached at
 * @socket; -ENAMETOOLONG; -ECONNRESET when the connection ends before the answer does;
 * -EMSGSIZE for an answer without end; -ETIMEDOUT; -ENOMEM.
 */
int bp_request(const struct bp_request *req, char **line, struct bp_error *err);

/**
 * bp_reply_show() - print an answer.
 * @line: from bp_request(), or anything else.
 * @req: what was asked.
 * @out: receives the text that the machine made, or its result as JSON.
 * @mode: BP_PRINT_JSON or BP_PRINT_PRETTY for a result; text comes as it is.
 * @err: says what the machine has against the request, or that it is no machine.
 *
 * Return: 0; -EPROTO when @line is no answer of the protocol; -EOPNOTSUPP when the machine
 * is older than the request; -EREMOTEIO when the machine refuses; another negative errno
 * when @out cannot be written.
 */
int bp_reply_show(const char *line, const struct bp_request *req, FILE *out,
		  enum bp_print_mode mode, struct bp_error *err);

#endif
