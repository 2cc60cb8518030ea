// SPDX-License-Identifier: GPL-2.0-only
/* What the first process does in every kind of emulated host, see inside.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inside.h"

void lab_mount(const char *src, const char *dir, const char *type, unsigned long flags,
		     const char *opts)
{
	mkdir(dir, 0755);
	if (mount(src, dir, type, flags, opts))
		lab_fatal("mount %s at %s: %s", type ? type : src, dir, strerror(errno));
}

void lab_make_dirs(const char *path)
{
	char *p = strdup(path);

	if (!p)
		lab_fatal("out of memory");
	for (char *s = p + 1; *s; s++) {
		if (*s != '/')
			continue;
		*s = 0;
		mkdir(p, 0755);
		*s = '/';
	}
	if (mkdir(p, 0755) && errno != EEXIST)
		lab_fatal("%s: %s", path, strerror(errno));
	free(p);
}

static unsigned long read_number(const char *path)
{
	char b[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, b, sizeof(b) - 1) < 0)
		b[0] = 0;
	close(fd);
	return strtoul(b, NULL, 0);
}

/* The few modules without which there is no root and no port, in order. */
void lab_load_modules(void)
{
	FILE *list = fopen("/mods/list", "re");
	char line[256];

	while (list && fgets(line, sizeof(line), list)) {
		int fd;

		line[strcspn(line, "\n")] = 0;
		fd = open(line, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			lab_fatal("%s: %s", line, strerror(errno));
		close(fd);
	}
	if (list)
		fclose(list);
}

/* Hand on what is in the pipe; false when there is nothing more to come. */
static bool pass(int fd, enum lab_frame_type type)
{
	char b[16384];
	ssize_t n = read(fd, b, sizeof(b));

	if (n > 0)
		lab_send(type, b, (size_t)n);
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static bool something_in(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&pfd, 1, 0) > 0 && (pfd.revents & POLLIN);
}

static uint32_t uptime_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint32_t)(ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

uint32_t lab_run(const struct lab_command *c)
{
	int out[2], err[2], sfd, status = -1;
	uint32_t ms = uptime_ms();
	sigset_t set, old;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	sfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sfd < 0 || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		lab_fatal("pipe: %s", strerror(errno));
	lab_send(LAB_READY, &ms, sizeof(ms));
	pid = fork();
	if (pid < 0)
		lab_fatal("fork: %s", strerror(errno));
	if (!pid) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		setsid();
		dup2(out[1], 1);
		dup2(err[1], 2);
		if (chdir(c->cwd)) {
			dprintf(2, "lab: working directory %s: %s\n", c->cwd, strerror(errno));
			_exit(126);
		}
		execvp(c->argv[0], c->argv);
		dprintf(2, "lab: %s: %s\n", c->argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(out[1]);
	close(err[1]);
	for (;;) {
		struct pollfd pfd[] = {
			{ .fd = out[0], .events = POLLIN },
			{ .fd = err[0], .events = POLLIN },
			{ .fd = sfd, .events = POLLIN },
		};
		struct signalfd_siginfo si;
		bool ended = false;
		pid_t p;
		int st;

		if (poll(pfd, 3, -1) < 0)
			continue;
		if (pfd[2].revents && read(sfd, &si, sizeof(si)) < 0 && errno != EAGAIN)
			lab_fatal("signalfd: %s", strerror(errno));
		/* As the first process we are handed every orphan, too. */
		while ((p = waitpid(-1, &st, WNOHANG)) > 0) {
			if (p == pid) {
				status = st;
				ended = true;
			}
		}
		if (pfd[0].revents && !pass(out[0], LAB_OUT)) {
			close(out[0]);
			out[0] = -1;
		}
		if (pfd[1].revents && !pass(err[0], LAB_ERR)) {
			close(err[0]);
			err[0] = -1;
		}
		if (ended)
			break;
	}
	/* What it wrote before it ended; a daemon it left behind is not waited for. */
	while (something_in(out[0]) && pass(out[0], LAB_OUT))
		;
	while (something_in(err[0]) && pass(err[0], LAB_ERR))
		;
	return (uint32_t)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

unsigned long lab_taint(void)
{
	return read_number("/proc/sys/kernel/tainted");
}

void lab_note_trouble(unsigned long known)
{
	/* Documentation/admin-guide/tainted-kernels.rst: bit 7 died, bit 9 warned. */
	unsigned long taint = lab_taint() & ~known;
	const char *text = NULL;

	if (taint & (1ul << 7))
		text = "note: the emulated kernel reported an oops; see it with --log FILE";
	else if (taint & (1ul << 9))
		text = "note: the emulated kernel reported a warning (WARN_ON); see it with --log FILE";
	if (text)
		lab_send(LAB_NOTE, text, strlen(text));
}
