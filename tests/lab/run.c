// SPDX-License-Identifier: GPL-2.0-only
/*
 * The outer side of the lab: starts QEMU or Bochs, tells the agent in it what to
 * run, hands on its output and status, and sees to it that it ends when we do.
 *
 * No file is ever made: console and control are socket pairs, the disk is a
 * memfd. The emulator inherits them at fixed numbers, which the caller's arguments
 * name: CONSOLE_FD and CONTROL_FD ("-chardev socket,fd=N"), DISK_FD
 * ("file=/proc/self/fd/N").
 *
 * Usage: run [OPTIONS] -q N EMULATOR-ARG... COMMAND [ARG]...
 * where N is the number of EMULATOR-ARGs, the first being the program.
 *
 *   -t SECONDS  time limit
 *   -a TIMES    start over when the emulator crashes
 *   -d BYTES    an empty disk of that size
 *   -i FD       a disk with what can be read from FD
 *   -n NAME     what the emulator is called in messages
 *   -1          the emulated host only talks, by pipes, and has its orders already
 *   -s          send LAB_STIR each second
 *   -o DIR      unpack into DIR what it leaves behind
 *   -l LOG      keep its console
 *   -v          show its console
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"
#include "pulse.h"

#define CONSOLE_FD	10
#define CONTROL_FD	11
#define DISK_FD		12

#define EXIT_LIMIT	124
#define EXIT_LAB	125

#define LOOK_SECONDS	1	/* between looks at the emulator, and LAB_STIRs */

#define TAIL_BYTES	(64u << 10)
#define TAIL_LINES	60

#define DISK_INPUT_MAX	(1ll << 30)

extern char **environ;

/* A byte buffer that grows at its end and is emptied at its start. */
struct buf {
	unsigned char *data;
	size_t len, cap;
};

struct run {
	pid_t pid;
	const char *name;		/* of the emulator */
	bool one_way;			/* the emulated host has its orders already */
	int disk;			/* filled from a descriptor, or -1 */
	int files;			/* to the process that unpacks what is left behind, or -1 */
	pid_t unpacker;
	int console, control, errors, signals, log;
	bool verbose;
	long limit;			/* seconds */
	struct timespec start;
	struct buf out;			/* to the agent, not yet sent */
	struct buf in;			/* from the agent, not yet parsed */
	struct buf tail;		/* last bytes of the console */
	struct buf said;		/* the emulator's own messages, noise removed */
	bool ready, done;
	bool crashed;			/* the emulator itself, by a signal */
	bool dead;			/* the machine in it: see pulse.h */
	bool stir;			/* send LAB_STIR */
	int status;
};

__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	va_list ap;

	fputs("lab: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void buf_add(struct buf *b, const void *data, size_t len)
{
	if (b->cap - b->len < len) {
		size_t cap = (b->len + len) * 2;
		unsigned char *p = realloc(b->data, cap);

		if (!p) {
			say("out of memory");
			exit(EXIT_LAB);
		}
		b->data = p;
		b->cap = cap;
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void buf_drop(struct buf *b, size_t len)
{
	b->len -= len;
	memmove(b->data, b->data + len, b->len);
}

static double elapsed(const struct run *r)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - r->start.tv_sec) + (double)(now.tv_nsec - r->start.tv_nsec) / 1e9;
}

/*
 * Write all of it, but never wait beyond the time limit for a reader that has
 * stopped reading: a pipe that polls writable takes PIPE_BUF bytes at once.
 */
static void put(struct run *r, int fd, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len) {
		struct pollfd pfd[2] = {
			{ .fd = fd, .events = POLLOUT },
			{ .fd = r->signals, .events = POLLIN },
		};
		double left = (double)r->limit - elapsed(r);
		ssize_t n;

		if (left <= 0 || (poll(pfd, 2, (int)(left * 1000) + 1) > 0 && pfd[1].revents))
			return;		/* the main loop sees the limit or the signal */
		if (!pfd[0].revents)
			continue;
		n = write(fd, p, len > 4096 ? 4096 : len);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return;		/* the reader has gone; the command's status still counts */
		p += n;
		len -= (size_t)n;
	}
}

static void queue(struct run *r, enum lab_frame_type type, const char *text)
{
	struct lab_frame f = { .type = type, .len = (uint32_t)strlen(text) };

	if (strlen(text) > LAB_FRAME_MAX) {
		say("an argument or environment variable is longer than %u bytes", LAB_FRAME_MAX);
		exit(EXIT_LAB);
	}
	buf_add(&r->out, &f, sizeof(f));
	buf_add(&r->out, text, f.len);
}

/* What of the environment makes no sense to a command on another machine. */
static bool env_stays_here(const char *var)
{
	static const char *const names[] = { "MAKEFLAGS=", "MFLAGS=", "MAKELEVEL=", "OLDPWD=" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(var, names[i], strlen(names[i])))
			return true;
	return false;
}

static int queue_command(struct run *r, char **argv)
{
	char *cwd = getcwd(NULL, 0);

	if (!cwd) {
		say("working directory: %s", strerror(errno));
		return -1;
	}
	queue(r, LAB_CWD, cwd);
	free(cwd);
	for (char **e = environ; *e; e++)
		if (!env_stays_here(*e))
			queue(r, LAB_ENV, *e);
	for (; *argv; argv++)
		queue(r, LAB_ARG, *argv);
	queue(r, LAB_GO, "");
	return 0;
}

static void show_lines(const struct buf *b)
{
	const unsigned char *end = b->data + b->len, *p = end;
	int lines = 0;

	while (p > b->data && (p[-1] != '\n' || ++lines <= TAIL_LINES))
		p--;
	fwrite(p, 1, (size_t)(end - p), stderr);
	if (end[-1] != '\n')
		fputc('\n', stderr);
}

static void show_tail(const struct run *r)
{
	if (r->said.len) {
		say("%s said:", r->name);
		show_lines(&r->said);
	}
	if (r->verbose || !r->tail.len)
		return;
	say("last lines of the emulated machine's console:");
	show_lines(&r->tail);
}

/* Returns false at end of file. */
static bool read_console(struct run *r)
{
	unsigned char b[4096];
	ssize_t n = read(r->console, b, sizeof(b));

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	buf_add(&r->tail, b, (size_t)n);
	if (r->tail.len > TAIL_BYTES)
		buf_drop(&r->tail, r->tail.len - TAIL_BYTES / 2);
	if (r->verbose)
		put(r, STDERR_FILENO, b, (size_t)n);
	if (r->log >= 0)
		put(r, r->log, b, (size_t)n);
	return true;
}

/* QEMU warns once per CPU of each feature bit that TCG lacks: drop those lines. */
static bool read_errors(struct run *r)
{
	unsigned char b[4096];
	ssize_t n = read(r->errors, b, sizeof(b));
	size_t line = 0;

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	buf_add(&r->said, b, (size_t)n);
	for (size_t i = 0; i < r->said.len; i++) {
		if (r->said.data[i] != '\n')
			continue;
		if (memmem(r->said.data + line, i - line, "TCG doesn't support requested feature", 37)) {
			memmove(r->said.data + line, r->said.data + i + 1, r->said.len - i - 1);
			r->said.len -= i + 1 - line;
			i = line - 1;
		} else {
			line = i + 1;
		}
	}
	if (r->said.len > TAIL_BYTES)
		buf_drop(&r->said, r->said.len - TAIL_BYTES / 2);
	return true;
}

static void handle_frame(struct run *r, const struct lab_frame *f, const unsigned char *data)
{
	uint32_t num = 0;

	memcpy(&num, data, f->len < sizeof(num) ? f->len : sizeof(num));
	switch (f->type) {
	case LAB_READY:
		r->ready = true;
		if (r->verbose)
			say("command starts %.1f s after %s, %.1f s after the kernel", elapsed(r),
			    r->name, num / 1000.0);
		break;
	case LAB_OUT:
		put(r, STDOUT_FILENO, data, f->len);
		break;
	case LAB_ERR:
		put(r, STDERR_FILENO, data, f->len);
		break;
	case LAB_FILES:
		if (r->files >= 0)
			put(r, r->files, data, f->len);
		break;
	case LAB_NOTE:
		say("%.*s", (int)f->len, (const char *)data);
		break;
	case LAB_EXIT:
		r->done = true;
		r->status = (int)num;
		break;
	default:
		say("in the emulated host: %.*s", (int)f->len, (const char *)data);
		show_tail(r);
		r->done = true;
		r->status = EXIT_LAB;
	}
}

static bool read_control(struct run *r)
{
	unsigned char b[65536];
	ssize_t n = read(r->control, b, sizeof(b));
	struct lab_frame f;
	size_t at = 0;

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	buf_add(&r->in, b, (size_t)n);
	while (!r->done && r->in.len - at >= sizeof(f)) {
		memcpy(&f, r->in.data + at, sizeof(f));
		if (f.len > LAB_FRAME_MAX) {
			say("the agent in the emulated host sent a frame of %u bytes", f.len);
			show_tail(r);
			r->done = true;
			break;
		}
		if (r->in.len - at - sizeof(f) < f.len)
			break;
		handle_frame(r, &f, r->in.data + at + sizeof(f));
		at += sizeof(f) + f.len;
	}
	buf_drop(&r->in, at);
	return true;
}

static void write_control(struct run *r)
{
	ssize_t n = write(r->control, r->out.data, r->out.len);

	if (n > 0)
		buf_drop(&r->out, (size_t)n);
}

/* What the emulated host leaves behind is its own business: tar keeps it inside the folder. */
static int start_unpacker(struct run *r, const char *dir)
{
	int in[2];

	if (pipe2(in, O_CLOEXEC))
		return -1;
	r->unpacker = fork();
	if (r->unpacker < 0)
		return -1;
	if (!r->unpacker) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(in[0], STDIN_FILENO);
		execlp("tar", "tar", "-xmf", "-", "--no-same-owner", "--no-overwrite-dir", "-C", dir, NULL);
		_exit(127);
	}
	close(in[0]);
	r->files = in[1];
	return 0;
}

/* An archive that ended early, with the host, is as bad as one that cannot be unpacked. */
static void stop_unpacker(struct run *r)
{
	int status = 0;

	close(r->files);
	while (waitpid(r->unpacker, &status, 0) < 0 && errno == EINTR)
		;
	if (status && r->done && r->status != EXIT_LAB) {
		say("what the command left for --out could not be unpacked");
		r->status = EXIT_LAB;
	}
}

/* A disk with what another process writes. */
static int read_disk(int fd)
{
	static unsigned char b[1 << 20];
	int mem = memfd_create("lab-disk", MFD_CLOEXEC);
	long long len = 0;
	ssize_t n = 0;

	while (mem >= 0 && len <= DISK_INPUT_MAX && (n = read(fd, b, sizeof(b))) > 0) {
		for (ssize_t at = 0, w; at < n; at += w) {
			w = write(mem, b + at, (size_t)(n - at));
			if (w <= 0) {
				n = -1;
				break;
			}
		}
		len += n;
	}
	close(fd);
	if (mem < 0 || n < 0 || len > DISK_INPUT_MAX) {
		say("disk: %s", len > DISK_INPUT_MAX ? "too large" : strerror(errno));
		exit(EXIT_LAB);
	}
	if (!len)
		exit(EXIT_LAB);		/* who was to write it has said why not */
	return mem;
}

static int channel(const struct run *r, int end[2])
{
	/* Bochs opens /proc/self/fd/N, which a socket does not allow. */
	if (r->one_way)
		return pipe2(end, O_CLOEXEC);
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end);
}

static void start_machine(struct run *r, char **argv, off_t disk)
{
	int con[2], ctl[2], err[2], mem = -1;
	struct rlimit files;
	pid_t parent = getpid();
	sigset_t none;

	if (channel(r, con) || channel(r, ctl) || pipe2(err, O_CLOEXEC)) {
		say("socket pair: %s", strerror(errno));
		exit(EXIT_LAB);
	}
	if (r->disk >= 0) {
		mem = r->disk;
	} else if (disk) {
		mem = memfd_create("lab-disk", MFD_CLOEXEC);
		if (mem < 0 || ftruncate(mem, disk)) {
			say("disk of %lld bytes: %s", (long long)disk, strerror(errno));
			exit(EXIT_LAB);
		}
	}
	r->pid = fork();
	if (r->pid < 0) {
		say("fork: %s", strerror(errno));
		exit(EXIT_LAB);
	}
	if (r->pid) {
		close(con[1]);
		close(ctl[1]);
		close(err[1]);
		if (mem >= 0 && mem != r->disk)
			close(mem);
		r->console = con[0];
		r->control = ctl[0];
		r->errors = err[0];
		fcntl(r->console, F_SETFL, O_NONBLOCK);
		fcntl(r->control, F_SETFL, O_NONBLOCK);
		fcntl(r->errors, F_SETFL, O_NONBLOCK);
		return;
	}
	struct {
		int fd, at;
	} ends[] = {
		{ con[1], CONSOLE_FD },
		{ ctl[1], CONTROL_FD },
		{ mem, DISK_FD },
		{ err[1], STDERR_FILENO },
	};

	/* Dies with us, however we die; asked again in case that was just now. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_LAB);
	/* A process group of its own, so that ^C reaches us first and alone. */
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Each file that is open on the shared root is one in the emulator, too. */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	/* Out of the way first: they may lie at each other's numbers. */
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		ends[i].fd = ends[i].fd < 0 ? -1 : fcntl(ends[i].fd, F_DUPFD_CLOEXEC, DISK_FD + 1);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends[i].fd >= 0 && dup2(ends[i].fd, ends[i].at) < 0)
			_exit(EXIT_LAB);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	if (dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO) < 0)
		_exit(EXIT_LAB);
	execvp(argv[0], argv);
	dprintf(STDERR_FILENO, "%s: %s; run tests/lab/prepare\n", argv[0], strerror(errno));
	_exit(EXIT_LAB);
}

static void stop_machine(struct run *r)
{
	int status = 0;

	/* One that has closed its end is on its way out and tells how it ended. */
	for (int ms = 0; ms < 5000 && !r->done && !r->dead && r->status == EXIT_LAB; ms += 10) {
		if (waitpid(r->pid, &status, WNOHANG) == r->pid) {
			r->crashed = WIFSIGNALED(status);
			goto out;
		}
		usleep(10000);
	}
	kill(r->pid, SIGKILL);
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
out:
	close(r->console);
	close(r->control);
	close(r->errors);
}

/* Returns the signal that ended the run, or 0. */
static int serve(struct run *r)
{
	struct pollfd pfd[] = {
		{ .fd = r->signals, .events = POLLIN },
		{ .fd = r->console, .events = POLLIN },
		{ .fd = r->errors, .events = POLLIN },
		{ .fd = r->control, .events = POLLIN },
	};
	struct pulse pulse = { 0 };
	double looked = 0;

	while (!r->done) {
		double now = elapsed(r), left = (double)r->limit - now;
		struct signalfd_siginfo si;

		pfd[3].events = POLLIN | (r->out.len ? POLLOUT : 0);
		if (left <= 0) {
			say("time limit of %ld s reached %s", r->limit,
			    r->ready ? "while the command was running" : "before the command could start");
			show_tail(r);
			r->status = EXIT_LIMIT;
			break;
		}
		if (now - looked >= LOOK_SECONDS) {
			looked = now;
			/* Bochs emulates in its first thread, and has not been seen to stop. */
			if (!r->one_way && pulse_lost(&pulse, r->pid, now)) {
				say("the emulated machine has not stirred for %d s", PULSE_SECONDS);
				show_tail(r);
				r->dead = true;
				break;
			}
			if (r->stir && r->ready && !r->out.len) {
				queue(r, LAB_STIR, "");
				continue;
			}
		}
		if (left > LOOK_SECONDS)
			left = LOOK_SECONDS;
		if (poll(pfd, 4, (int)(left * 1000) + 1) < 0 && errno != EINTR)
			break;
		if (pfd[0].revents && read(r->signals, &si, sizeof(si)) == sizeof(si))
			return (int)si.ssi_signo;
		if (pfd[1].revents && !read_console(r))
			pfd[1].fd = -1;
		if (pfd[2].revents && !read_errors(r))
			pfd[2].fd = -1;
		if (pfd[3].revents & POLLOUT)
			write_control(r);
		if ((pfd[3].revents & ~POLLOUT) && !read_control(r)) {
			if (pfd[1].fd >= 0)
				read_console(r);
			if (pfd[2].fd >= 0)
				read_errors(r);
			say("the emulated machine stopped %s",
			    r->ready ? "before the command had ended" : "before the command could start");
			show_tail(r);
			r->status = EXIT_LAB;
			break;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct run r = {
		.log = -1, .disk = -1, .files = -1, .limit = 300, .status = EXIT_LAB, .name = "QEMU",
	};
	const char *log = NULL, *files = NULL;
	char **machine, **cmd;
	off_t disk = 0;
	int opt, words = 0, again = 0, input = -1, sig;
	sigset_t set;

	while ((opt = getopt(argc, argv, "+t:d:l:q:a:i:n:o:1vs")) != -1) {
		switch (opt) {
		case 't': r.limit = atol(optarg); break;
		case 'd': disk = atoll(optarg); break;
		case 'l': log = optarg; break;
		case 'q': words = atoi(optarg); break;
		case 'i': input = atoi(optarg); break;
		case 'n': r.name = optarg; break;
		case 'o': files = optarg; break;
		case '1': r.one_way = true; break;
		case 's': r.stir = true; break;
		case 'a': again = atoi(optarg); break;
		case 'v': r.verbose = true; break;
		default: return EXIT_LAB;
		}
	}
	if (words < 1 || argc - optind <= words || r.limit < 1) {
		say("run: wrong arguments");
		return EXIT_LAB;
	}
	if (log) {
		r.log = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (r.log < 0) {
			say("%s: %s", log, strerror(errno));
			return EXIT_LAB;
		}
	}
	cmd = argv + optind + words;
	machine = calloc((size_t)words + 1, sizeof(*machine));
	if (!machine)
		return EXIT_LAB;
	memcpy(machine, argv + optind, (size_t)words * sizeof(*machine));

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	r.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (input >= 0)
		r.disk = read_disk(input);
	for (;;) {
		r.out.len = r.in.len = r.tail.len = r.said.len = 0;
		r.ready = r.done = r.crashed = r.dead = false;
		r.status = EXIT_LAB;
		if (!r.one_way && queue_command(&r, cmd))
			return EXIT_LAB;
		if (files && start_unpacker(&r, files)) {
			say("tar: %s", strerror(errno));
			return EXIT_LAB;
		}
		clock_gettime(CLOCK_MONOTONIC, &r.start);
		start_machine(&r, machine, disk);
		sig = serve(&r);
		stop_machine(&r);
		if (files)
			stop_unpacker(&r);
		if (sig || !(r.crashed || r.dead) || again-- <= 0)
			break;
		say("%s itself %s: starting over", r.name, r.dead ? "has stopped" : "crashed");
	}
	free(machine);
	if (sig) {
		say("stopped by signal %d", sig);
		signal(sig, SIG_DFL);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		raise(sig);
	}
	return r.status;
}
