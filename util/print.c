// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <bp/print.h>
#include <bp/text.h>

#define DEPTH_MAX 32

struct bp_print {
	FILE *out;
	enum bp_print_mode mode;
	bool short_of_memory;
	int depth;
	char closer[DEPTH_MAX];
	bool filled[DEPTH_MAX + 1];
};

struct bp_print *bp_print_new(FILE *out, enum bp_print_mode mode)
{
	struct bp_print *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->out = out;
	p->mode = mode;
	return p;
}

bool bp_print_is_json(const struct bp_print *p)
{
	return p->mode != BP_PRINT_TEXT;
}

static void newline(struct bp_print *p)
{
	if (p->mode == BP_PRINT_PRETTY && (p->depth || p->filled[0]))
		fprintf(p->out, "\n%*s", 4 * p->depth, "");
}

static void quoted(struct bp_print *p, const char *s)
{
	fputc('"', p->out);
	for (size_t len; *s; s += len ? len : 1) {
		unsigned char c = *s;

		/* A reader may refuse a whole document for one byte that is not UTF-8. */
		len = bp_text_utf8(s);
		if (len != 1) {
			if (len)
				fwrite(s, 1, len, p->out);
			else
				fputs("\\ufffd", p->out);
			continue;
		}
		switch (c) {
		case '"':
		case '\\':
			fprintf(p->out, "\\%c", c);
			break;
		case '\n':
			fputs("\\n", p->out);
			break;
		case '\t':
			fputs("\\t", p->out);
			break;
		default:
			if (c < 0x20 || c == 0x7f)
				fprintf(p->out, "\\u%04x", c);
			else
				fputc(c, p->out);
		}
	}
	fputc('"', p->out);
}

/* Everything that precedes a JSON value: comma, indentation, name. */
static void lead(struct bp_print *p, const char *key)
{
	if (p->filled[p->depth])
		fputc(',', p->out);
	newline(p);
	p->filled[p->depth] = true;
	if (key) {
		quoted(p, key);
		fputs(p->mode == BP_PRINT_PRETTY ? ": " : ":", p->out);
	}
}

static void open_level(struct bp_print *p, const char *key, char opener, char closer)
{
	if (!bp_print_is_json(p))
		return;
	if (p->depth == DEPTH_MAX)
		abort();
	lead(p, key);
	fputc(opener, p->out);
	p->closer[p->depth++] = closer;
	p->filled[p->depth] = false;
}

static void close_level(struct bp_print *p, char closer)
{
	bool filled;

	if (!bp_print_is_json(p))
		return;
	if (!p->depth || p->closer[p->depth - 1] != closer)
		abort();
	filled = p->filled[p->depth--];
	if (filled)
		newline(p);
	fputc(closer, p->out);
}

int bp_print_free(struct bp_print *p)
{
	int ret = 0;

	if (!p)
		return 0;
	while (p->depth)
		close_level(p, p->closer[p->depth - 1]);
	if (bp_print_is_json(p) && p->filled[0])
		fputc('\n', p->out);
	errno = 0;
	if (fflush(p->out) || ferror(p->out))
		ret = errno ? -errno : -EIO;
	if (p->short_of_memory)
		ret = -ENOMEM;
	free(p);
	return ret;
}

void bp_print_object(struct bp_print *p, const char *key)
{
	open_level(p, key, '{', '}');
}

void bp_print_object_end(struct bp_print *p)
{
	close_level(p, '}');
}

void bp_print_array(struct bp_print *p, const char *key)
{
	open_level(p, key, '[', ']');
}

void bp_print_array_end(struct bp_print *p)
{
	close_level(p, ']');
}

/*
 * The formats come from the callers, each with exactly one conversion of the
 * documented kind; the compiler cannot see that through this indirection.
 */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Whether the caller's fact goes to text (done here) or still has to go to JSON. */
#define TEXT_OR_LEAD(p, key, fmt, ...)                                                             \
	do {                                                                                       \
		if (!bp_print_is_json(p)) {                                                        \
			if (fmt)                                                                   \
				fprintf((p)->out, fmt, __VA_ARGS__);                               \
			return;                                                                    \
		}                                                                                  \
		if ((key) && !*(key))                                                              \
			return;                                                                    \
		lead(p, key);                                                                      \
	} while (0)

void bp_print_str(struct bp_print *p, const char *key, const char *fmt, const char *value)
{
	if (!value) {
		bp_print_null(p, key, NULL);
		return;
	}
	if (!bp_print_is_json(p)) {
		char *plain = fmt ? strdup(value) : NULL;

		if (plain) {
			bp_text_plain(plain, "");
			fprintf(p->out, fmt, plain);
		} else if (fmt) {
			p->short_of_memory = true;
		}
		free(plain);
		return;
	}
	if (key && !*key)
		return;
	lead(p, key);
	quoted(p, value);
}

void bp_print_u64(struct bp_print *p, const char *key, const char *fmt, uint64_t value)
{
	TEXT_OR_LEAD(p, key, fmt, value);
	fprintf(p->out, "%" PRIu64, value);
}

void bp_print_s64(struct bp_print *p, const char *key, const char *fmt, int64_t value)
{
	TEXT_OR_LEAD(p, key, fmt, value);
	fprintf(p->out, "%" PRId64, value);
}

void bp_print_hex(struct bp_print *p, const char *key, const char *fmt, int digits, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%0*" PRIx64, digits, value);
	bp_print_str(p, key, fmt, text);
}

void bp_print_f64(struct bp_print *p, const char *key, const char *fmt, int digits, double value)
{
	TEXT_OR_LEAD(p, key, fmt, value);
	if (isfinite(value))
		fprintf(p->out, "%.*f", digits, value);
	else
		fputs("null", p->out);
}

void bp_print_bool(struct bp_print *p, const char *key, const char *fmt, bool value)
{
	TEXT_OR_LEAD(p, key, fmt, value ? "yes" : "no");
	fputs(value ? "true" : "false", p->out);
}

void bp_print_null(struct bp_print *p, const char *key, const char *text)
{
	TEXT_OR_LEAD(p, key, "%s", text ? text : "");
	fputs("null", p->out);
}

void bp_print_text(struct bp_print *p, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int len;

	if (bp_print_is_json(p))
		return;
	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		p->short_of_memory = true;
		return;
	}
	bp_text_plain(text, "\n\t");
	fputs(text, p->out);
	free(text);
}
