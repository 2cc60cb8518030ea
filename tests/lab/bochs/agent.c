// SPDX-License-Identifier: GPL-2.0-only
/*
 * First process of a host in Bochs. What to do is in the first file system (image.c):
 * /lab/argv, /lab/env and /lab/cwd. Frames leave by the parallel port, whose printer is a
 * pipe outside: it takes every byte at once, and nothing else speaks there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../inside.h"

#define PORT	     0x378
#define CONTROL	     (PORT + 2)
#define STROBE	     1
#define READY	     0x0c /* selected, not in reset, no interrupt */

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool port_open;

static void print(const void *data, size_t len)
{
	const unsigned char *p = data;

	for (; len; len--) {
		outb(*p++, PORT);
		outb(READY | STROBE, CONTROL);
		outb(READY, CONTROL);
	}
}

void lab_send(enum lab_frame_type type, const void *data, size_t len)
{
	struct lab_frame f = { .type = type, .len = (uint32_t)len };

	print(&f, sizeof(f));
	print(data, len);
}

void lab_fatal(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (port_open) {
		lab_send(LAB_FATAL, text, strlen(text));
	} else {
		int fd = open("/dev/kmsg", O_WRONLY);

		dprintf(fd, "<0>lab: %s\n", text);
	}
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* A file's content, ended by a zero; *count receives how many zeros are in it. */
static char *read_strings(const char *path, size_t *count)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n;
	char *text;

	if (fd < 0 || fstat(fd, &st))
		lab_fatal("%s: %s", path, strerror(errno));
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		lab_fatal("out of memory");
	n = read(fd, text, (size_t)st.st_size);
	if (n != st.st_size)
		lab_fatal("%s: %s", path, n < 0 ? strerror(errno) : "cannot be read as a whole");
	close(fd);
	text[n] = 0;
	*count = 0;
	for (ssize_t i = 0; i < n; i++)
		*count += !text[i];
	return text;
}

static void read_command(struct lab_command *c)
{
	size_t n;
	char *p;

	p = read_strings("/lab/env", &n);
	for (; n; n--, p += strlen(p) + 1)
		putenv(p);
	if (!getenv("PATH"))
		setenv("PATH", DEFAULT_PATH, 1);
	c->cwd = read_strings("/lab/cwd", &n);
	p = read_strings("/lab/argv", &n);
	c->argv = calloc(n + 1, sizeof(*c->argv));
	if (!c->argv)
		lab_fatal("out of memory");
	for (c->argc = 0; c->argc < n; p += strlen(p) + 1)
		c->argv[c->argc++] = p;
}

static void set_up(const struct lab_command *c)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	if (null > 2)
		close(null);
	lab_mount("devpts", "/dev/pts", "devpts", 0, "mode=620,gid=5,ptmxmode=666");
	lab_mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	lab_mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	if (sethostname("lab", 3))
		lab_fatal("host name: %s", strerror(errno));
	lab_load_modules();
	lab_make_dirs(c->cwd);
	if (*getenv("LAB_OUT"))
		lab_make_dirs(getenv("LAB_OUT"));
}

/* All that is in LAB_OUT, as an archive. */
static void send_files(void)
{
	char b[16384];
	int out[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(out))
		lab_fatal("pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		lab_fatal("fork: %s", strerror(errno));
	if (!pid) {
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		execl("/bin/busybox", "tar", "-cf", "-", "-C", getenv("LAB_OUT"), ".", NULL);
		_exit(127);
	}
	close(out[1]);
	while ((n = read(out[0], b, sizeof(b))) > 0)
		lab_send(LAB_FILES, b, (size_t)n);
	close(out[0]);
	if (waitpid(pid, &status, 0) != pid || status)
		lab_fatal("packing %s failed", getenv("LAB_OUT"));
}

int main(void)
{
	struct lab_command c = { 0 };
	unsigned long known;
	uint32_t status;

	if (getpid() != 1) {
		fputs("agent: this is the first process of the lab's emulated host\n", stderr);
		return 2;
	}
	lab_mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	lab_mount("proc", "/proc", "proc", 0, NULL);
	lab_mount("sysfs", "/sys", "sysfs", 0, NULL);
	if (iopl(3))
		lab_fatal("iopl: %s", strerror(errno));
	port_open = true;
	known = lab_taint(); /* of what the kernel thinks of Bochs's processor */
	clearenv();
	read_command(&c);
	setenv("LAB_OUT", getenv("LAB_OUT") ? getenv("LAB_OUT") : "", 1);
	set_up(&c);
	status = lab_run(&c);
	lab_note_trouble(known);
	if (*getenv("LAB_OUT"))
		send_files();
	lab_send(LAB_EXIT, &status, sizeof(status));
	for (;;)
		pause();
}
