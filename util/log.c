// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include <bp/log.h>
#include <bp/text.h>

/* One program, one standard error: the only state of util/ that is not a handle. */
static const char *log_prog = "bluepass";
static int log_verbosity;

void bp_log_init(const char *prog, int verbosity)
{
	log_prog = prog;
	log_verbosity = verbosity;
}

static void log_line(const char *mark, const char *fmt, va_list ap)
{
	char line[1200];

	vsnprintf(line, sizeof(line), fmt, ap);
	bp_text_plain(line, "");
	/* One call, so that lines of several threads do not mix. */
	fprintf(stderr, "%s: %s%s\n", log_prog, mark, line);
}

#define LOG_FUNCTION(name, level, mark)                                                            \
	void name(const char *fmt, ...)                                                            \
	{                                                                                          \
		va_list ap;                                                                        \
                                                                                                   \
		if (log_verbosity < (level))                                                       \
			return;                                                                    \
		va_start(ap, fmt);                                                                 \
		log_line(mark, fmt, ap);                                                           \
		va_end(ap);                                                                        \
	}

LOG_FUNCTION(bp_log_error, 0, "")
LOG_FUNCTION(bp_log_warn, 0, "warning: ")
LOG_FUNCTION(bp_log_info, 1, "")
LOG_FUNCTION(bp_log_debug, 2, "debug: ")

int bp_log_report(const struct bp_error *err, int code, const char *doing)
{
	if (!err || !err->code)
		bp_log_error("%s: %s", doing, strerror(-code));
	else if (err->fix[0])
		bp_log_error("%s; %s", err->what, err->fix);
	else
		bp_log_error("%s", err->what);
	return 1;
}
