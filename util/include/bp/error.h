/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * A reason that travels up to whoever talks to the user.
 *
 * A library function returns a negative errno; where that alone would leave
 * the reader guessing at 2 a.m. it also fills the caller's struct bp_error.
 * The innermost function that knows the cause writes it; callers further out
 * leave a filled one alone, so the sentence stays specific.
 */
#ifndef BP_ERROR_H
#define BP_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

/**
 * struct bp_error - why an operation failed, in words.
 * @code: negative errno of the failure, 0 while nothing has failed.
 * @what: what was asked and what went wrong, one sentence without a full stop.
 * @fix: what to do about it, empty when nothing sensible can be said.
 */
struct bp_error {
	int code;
	char what[512];
	char fix[512];
};

/**
 * bp_error_set() - record a failure unless one is recorded already.
 * @err: where to record it; may be NULL, then only the code is returned.
 * @code: negative errno.
 * @fix: what the user can do, or NULL.
 * @fmt: printf format of the sentence.
 *
 * Text that does not fit is cut, never overrun.
 *
 * Return: @code, so that a failing path reads `return bp_error_set(...)`.
 */
int bp_error_set(struct bp_error *err, int code, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * bp_error_fix() - add or replace the advice of a recorded failure.
 * @err: a filled error; NULL is allowed.
 * @fmt: printf format of the advice.
 */
void bp_error_fix(struct bp_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * bp_error_clear() - forget a recorded failure, before trying another way.
 * @err: NULL is allowed.
 */
void bp_error_clear(struct bp_error *err);

#endif
