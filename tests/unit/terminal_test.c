// SPDX-License-Identifier: GPL-2.0-only
/* The terminal is as it was, however a program ends that had put it into raw mode. */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "suite.h"
#include "vmm/terminal.h"

static int terminal;

static char *name_of(int fd)
{
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(grantpt(fd), 0);
	ck_assert_int_eq(unlockpt(fd), 0);
	return ptsname(fd);
}

/* A session leader with the terminal; it says 'r' when raw, then does what it is told. */
static void child(const char *tty, int say, int order)
{
	const struct rlimit no_core = { 0, 0 };
	char c;
	int fd;

	setsid();
	setrlimit(RLIMIT_CORE, &no_core);
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	fd = open(tty, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) || !vmm_terminal_raw(fd) || vmm_terminal_raw(fd))
		_exit(1);
	if (write(say, "r", 1) != 1 || read(order, &c, 1) != 1)
		_exit(2);
	if (c == 'e')
		exit(0);
	if (c == 'r') {
		vmm_terminal_restore();
		vmm_terminal_restore();
		_exit(0);
	}
	if (c == 'a')
		abort();
	raise(c == 's' ? SIGSEGV : SIGBUS);
	_exit(3);
}

static void ends(char how, int signal_wanted)
{
	struct termios before, during, after;
	int say[2], order[2], slave, status;
	char c = 0, *tty;
	pid_t pid;

	terminal = posix_openpt(O_RDWR | O_NOCTTY);
	tty = name_of(terminal);
	/* Open all the time: the last close would lose the state. */
	slave = open(tty, O_RDWR | O_NOCTTY);
	ck_assert_int_ge(slave, 0);
	ck_assert_int_eq(tcgetattr(slave, &before), 0);
	ck_assert_int_eq(pipe(say), 0);
	ck_assert_int_eq(pipe(order), 0);
	pid = fork();
	if (!pid)
		child(tty, say[1], order[0]);
	close(say[1]);
	ck_assert_int_eq(read(say[0], &c, 1), 1);
	ck_assert_int_eq(tcgetattr(slave, &during), 0);
	ck_assert_uint_ne(before.c_lflag & ICANON, 0);
	ck_assert_uint_eq(during.c_lflag & (ICANON | ECHO | ISIG), 0);
	ck_assert_uint_ne(during.c_oflag & OPOST, 0);
	ck_assert_int_eq(write(order[1], &how, 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(tcgetattr(slave, &after), 0);
	ck_assert_uint_eq(after.c_lflag, before.c_lflag);
	ck_assert_uint_eq(after.c_iflag, before.c_iflag);
	ck_assert_uint_eq(after.c_oflag, before.c_oflag);
	if (signal_wanted)
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == signal_wanted);
	else
		ck_assert_int_eq(status, 0);
	close(slave);
	close(terminal);
}

START_TEST(restored_when_asked)
{
	ends('r', 0);
}
END_TEST

START_TEST(restored_at_exit)
{
	ends('e', 0);
}
END_TEST

START_TEST(restored_by_fatal_signals)
{
	ends('s', SIGSEGV);
	ends('b', SIGBUS);
	ends('a', SIGABRT);
}
END_TEST

START_TEST(only_a_terminal)
{
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert(!vmm_terminal_raw(fd[0]));
	ck_assert(!vmm_terminal_raw(-1));
	vmm_terminal_restore();
}
END_TEST

SUITE("terminal", restored_when_asked, restored_at_exit, restored_by_fatal_signals, only_a_terminal)
