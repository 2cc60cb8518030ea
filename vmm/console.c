// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bp/log.h>
#include "vmm/console.h"
#include "vmm/machine.h"
#include "vmm/terminal.h"

#define ESCAPE 0x01 /* Ctrl-A */

/* Keys of a terminal pass through @pipe, so that the escape can be taken out. */
struct vmm_console {
	struct vmm *vmm;
	int out;
	int in;
	int file;
	int pipe[2];
	bool raw;
	bool escaped;
};

static void send_key(struct vmm_console *c, char key)
{
	/* The pipe does not block: keys that a busy guest does not take are lost. */
	ssize_t n = write(c->pipe[1], &key, 1);

	(void)n;
}

static void keys(void *priv, int fd)
{
	struct vmm_console *c = priv;
	char buf[256];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			vmm_loop_unwatch(c->vmm->loop, fd);
		return;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (c->escaped) {
			c->escaped = false;
			if (buf[i] == 'x') {
				vmm_end(c->vmm, VMM_END_STOPPED);
				return;
			}
			if (buf[i] == ESCAPE)
				send_key(c, ESCAPE);
		} else if (buf[i] == ESCAPE) {
			c->escaped = true;
		} else {
			send_key(c, buf[i]);
		}
	}
}

/*
 * A terminal that polls as writable may still make a large write wait, as long as nobody
 * reads it, and the whole machine with it. Not waiting is a property of the open file,
 * which the shell shares, so the terminal is opened once more.
 */
static int terminal_out(struct vmm_console *c)
{
	if (!isatty(STDOUT_FILENO))
		return STDOUT_FILENO;
	c->file = open("/proc/self/fd/1", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	/* Somebody else's terminal, after su(1), may not be opened. */
	return c->file < 0 ? STDOUT_FILENO : c->file;
}

static int use_stdio(struct vmm_console *c)
{
	int ret;

	c->out = terminal_out(c);
	if (!isatty(STDIN_FILENO)) {
		c->in = fcntl(STDIN_FILENO, F_GETFD) < 0 ? -1 : STDIN_FILENO;
		return 0;
	}
	/* In the background the terminal is somebody else's. */
	if (tcgetpgrp(STDIN_FILENO) != getpgrp())
		return 0;
	if (pipe2(c->pipe, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	ret = vmm_loop_watch(c->vmm->loop, STDIN_FILENO, keys, c);
	if (ret)
		return ret;
	c->raw = vmm_terminal_raw(STDIN_FILENO);
	c->in = c->pipe[0];
	if (c->raw)
		bp_log_info("Ctrl-A x ends the machine");
	return 0;
}

int vmm_console_new(struct vmm *vmm, struct vmm_console **out, struct bp_error *err)
{
	const struct vmm_config *config = vmm->config;
	struct vmm_console *c = calloc(1, sizeof(*c));
	int ret = 0;

	if (!c)
		return -ENOMEM;
	*c = (struct vmm_console){ vmm, -1, -1, -1, { -1, -1 }, false, false };
	switch (config->console) {
	case VMM_CONSOLE_STDIO:
		ret = use_stdio(c);
		break;
	case VMM_CONSOLE_FILE:
		c->file = open(config->console_path,
			       O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0644);
		if (c->file < 0)
			ret = bp_error_set(err, -errno, "choose another file for --console",
					   "the console file %s cannot be opened: %s",
					   config->console_path, strerror(errno));
		c->out = c->file;
		break;
	case VMM_CONSOLE_NONE:
		break;
	}
	if (ret) {
		bp_error_set(err, ret, NULL, "the console cannot be set up: %s", strerror(-ret));
		vmm_console_free(c);
		return ret;
	}
	*out = c;
	return 0;
}

int vmm_console_out(const struct vmm_console *console)
{
	return console->out;
}

int vmm_console_in(const struct vmm_console *console)
{
	return console->in;
}

void vmm_console_free(struct vmm_console *c)
{
	if (!c)
		return;
	if (c->pipe[0] >= 0) {
		vmm_loop_unwatch(c->vmm->loop, STDIN_FILENO);
		close(c->pipe[0]);
		close(c->pipe[1]);
	}
	if (c->raw)
		vmm_terminal_restore();
	if (c->file >= 0)
		close(c->file);
	free(c);
}
