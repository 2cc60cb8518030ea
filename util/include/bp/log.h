/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a program says on standard error. Libraries do not include this.
 */
#ifndef BP_LOG_H
#define BP_LOG_H

#include <bp/error.h>

/**
 * bp_log_init() - name the program in every line that follows.
 * @prog: name shown before each message; the string must stay valid.
 * @verbosity: 0 errors and warnings, 1 information, 2 and more debugging.
 */
void bp_log_init(const char *prog, int verbosity);

/**
 * bp_log_error() - print one sentence: "PROG: sentence".
 * @fmt: printf format, no trailing newline.
 */
void bp_log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** bp_log_warn() - like bp_log_error(), marked as a warning. @fmt: printf format. */
void bp_log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** bp_log_info() - shown from verbosity 1 on. @fmt: printf format. */
void bp_log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** bp_log_debug() - shown from verbosity 2 on. @fmt: printf format. */
void bp_log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * bp_log_report() - print a failure with its advice.
 * @err: what the library said; when it is empty the errno text stands in.
 * @code: negative errno that the failed call returned.
 * @doing: what the program was doing, used when @err is empty.
 *
 * Return: 1, the exit status of a failed operation.
 */
int bp_log_report(const struct bp_error *err, int code, const char *doing);

#endif
