// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "vmm/terminal.h"

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT };

static struct termios saved;
static volatile sig_atomic_t raw_fd = -1;

void vmm_terminal_restore(void)
{
	int fd = raw_fd;

	/* tcsetattr() may be called in a signal handler (signal-safety(7)). */
	if (fd >= 0)
		tcsetattr(fd, TCSANOW, &saved);
	raw_fd = -1;
}

static void on_fatal(int sig)
{
	vmm_terminal_restore();
	/* SA_RESETHAND has put the default action back. */
	raise(sig);
}

bool vmm_terminal_raw(int fd)
{
	static bool registered;
	struct termios raw;

	if (raw_fd >= 0 || !isatty(fd) || tcgetpgrp(fd) != getpgrp() || tcgetattr(fd, &saved))
		return false;
	if (!registered && atexit(vmm_terminal_restore))
		return false;
	registered = true;
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) {
		struct sigaction act = { .sa_handler = on_fatal, .sa_flags = SA_RESETHAND }, old;

		/* A sanitizer's handler says more than ours. */
		if (!sigaction(fatal[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(fatal[i], &act, NULL);
	}
	raw = saved;
	cfmakeraw(&raw);
	/* The program's own lines end in a bare newline. */
	raw.c_oflag |= OPOST | ONLCR;
	raw_fd = fd;
	if (tcsetattr(fd, TCSANOW, &raw)) {
		raw_fd = -1;
		return false;
	}
	return true;
}
