// SPDX-License-Identifier: GPL-2.0-only
/* Report lines, and the small reads and writes that fill them. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

__attribute__((format(printf, 2, 3)))
static void add(struct report *r, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(r->text + r->len, sizeof(r->text) - r->len, fmt, ap);
	va_end(ap);
	r->len += (size_t)n;
	if (r->len >= sizeof(r->text))
		r->len = sizeof(r->text);	/* seen by report_send() */
}

static void add_string(struct report *r, const char *s)
{
	add(r, "\"");
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			add(r, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			add(r, "\\u%04x", c);
		else
			add(r, "%c", c);
	}
	add(r, "\"");
}

static void add_key(struct report *r, const char *key)
{
	add(r, "%s", r->first ? "" : ",");
	r->first = false;
	if (!key)
		return;
	add_string(r, key);
	add(r, ":");
}

void report_open(struct report *r, const char *ev)
{
	r->len = 0;
	r->first = true;
	add(r, "BP {");
	report_str(r, "ev", ev);
}

void report_str(struct report *r, const char *key, const char *value)
{
	add_key(r, key);
	if (value)
		add_string(r, value);
	else
		add(r, "null");
}

void report_u64(struct report *r, const char *key, uint64_t value)
{
	add_key(r, key);
	add(r, "%llu", (unsigned long long)value);
}

void report_seconds(struct report *r, const char *key, double value)
{
	add_key(r, key);
	add(r, "%.3f", value);
}

void report_bool(struct report *r, const char *key, bool value)
{
	add_key(r, key);
	add(r, "%s", value ? "true" : "false");
}

void report_list(struct report *r, const char *key)
{
	add_key(r, key);
	add(r, "[");
	r->first = true;
}

void report_list_end(struct report *r)
{
	add(r, "]");
	r->first = false;
}

void report_object(struct report *r)
{
	add_key(r, NULL);
	add(r, "{");
	r->first = true;
}

void report_object_end(struct report *r)
{
	add(r, "}");
	r->first = false;
}

void report_send(const struct guest *g, struct report *r)
{
	char line[sizeof(r->text) + 8];
	const char *p = line;
	size_t len;

	add(r, "}\n");
	if (r->len >= sizeof(r->text)) {
		report_error(g, "a report line did not fit");
		return;
	}
	/* The console may stand in the middle of a kernel message. */
	len = (size_t)snprintf(line, sizeof(line), "%s%s", g->kmsg ? "<1>" : g->init ? "\n" : "", r->text);
	while (len) {
		ssize_t n = write(g->out_fd, p, len);

		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
}

void report_error(const struct guest *g, const char *fmt, ...)
{
	struct report r;
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report_open(&r, "error");
	report_str(&r, "text", text);
	report_send(g, &r);
}

void report_transfer(const struct guest *g, bool begin)
{
	struct report r;
	uint64_t ms;

	report_open(&r, begin ? "begin" : "end_transfer");
	report_u64(&r, "uptime_ms", uptime_ms());
	report_send(g, &r);
	if (!guest_u64(g, "linger", 0, &ms) && ms)
		usleep((useconds_t)ms * 1000);
}

uint64_t uptime_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

int read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	buf[n] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return 0;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}
