// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include <bp/error.h>

int bp_error_set(struct bp_error *err, int code, const char *fix, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->code)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->what, sizeof(err->what), fmt, ap);
	va_end(ap);
	snprintf(err->fix, sizeof(err->fix), "%s", fix ? fix : "");
	return code;
}

void bp_error_fix(struct bp_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->fix, sizeof(err->fix), fmt, ap);
	va_end(ap);
}

void bp_error_clear(struct bp_error *err)
{
	if (err)
		*err = (struct bp_error){ 0 };
}
