// SPDX-License-Identifier: GPL-2.0-only
/*
 * First process of the emulated host: makes the outer machine's root its own,
 * sets up what a host with SR-IOV devices has, runs one command and reports.
 *
 * The environment that comes with the command says what to set up:
 *   LAB_RELEASE, LAB_KERNEL_DIR  kernel release, folder that holds lib/modules/RELEASE
 *   LAB_MODPROBE                 modules to load, in order
 *   LAB_OPTIONS                  lines for modprobe.d, before any is loaded
 *   LAB_WAIT                     a file under /dev to wait for
 *   LAB_OUT                      where to mount the writable share, if there is one
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int port = -1;

static void put_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			struct pollfd pfd = { .fd = fd, .events = POLLOUT };

			poll(&pfd, 1, -1);
			continue;
		}
		if (n <= 0)
			return;
		p += n;
		len -= (size_t)n;
	}
}

static void send_frame(enum lab_frame_type type, const void *data, size_t len)
{
	/* One write a frame: each write is an exit to QEMU and back. */
	static unsigned char b[sizeof(struct lab_frame) + LAB_FRAME_MAX];
	struct lab_frame f = { .type = type, .len = (uint32_t)len };

	memcpy(b, &f, sizeof(f));
	memcpy(b + sizeof(f), data, len);
	put_all(port, b, sizeof(f) + len);
}

/* Tell the outer side why we give up, and wait to be switched off. */
__attribute__((format(printf, 1, 2), noreturn))
static void fatal(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (port >= 0) {
		send_frame(LAB_FATAL, text, strlen(text));
		sleep(5);
	} else {
		int fd = open("/dev/kmsg", O_WRONLY);

		dprintf(fd, "<0>lab: %s\n", text);
	}
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void do_mount(const char *src, const char *dir, const char *type, unsigned long flags,
		     const char *opts)
{
	mkdir(dir, 0755);
	if (mount(src, dir, type, flags, opts))
		fatal("mount %s at %s: %s", type ? type : src, dir, strerror(errno));
}

static void make_dirs(const char *path)
{
	char *p = strdup(path);

	if (!p)
		fatal("out of memory");
	for (char *s = p + 1; *s; s++) {
		if (*s != '/')
			continue;
		*s = 0;
		mkdir(p, 0755);
		*s = '/';
	}
	if (mkdir(p, 0755) && errno != EEXIST)
		fatal("%s: %s", path, strerror(errno));
	free(p);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		fatal("%s: %s", path, strerror(errno));
	put_all(fd, text, strlen(text));
	close(fd);
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
static void load_first_modules(void)
{
	FILE *list = fopen("/mods/list", "re");
	char line[256];

	while (list && fgets(line, sizeof(line), list)) {
		int fd;

		line[strcspn(line, "\n")] = 0;
		fd = open(line, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			fatal("%s: %s", line, strerror(errno));
		close(fd);
	}
	if (list)
		fclose(list);
}

static int open_port(void)
{
	for (int tries = 0; tries < 500; tries++) {
		DIR *d = opendir("/sys/class/virtio-ports");
		struct dirent *e;

		while (d && (e = readdir(d))) {
			char path[300], name[32] = "";
			FILE *f;

			snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", e->d_name);
			f = fopen(path, "re");
			if (!f)
				continue;
			if (!fgets(name, sizeof(name), f))
				name[0] = 0;
			fclose(f);
			if (strcmp(name, LAB_PORT_NAME "\n"))
				continue;
			snprintf(path, sizeof(path), "/dev/%s", e->d_name);
			port = open(path, O_RDWR | O_CLOEXEC);
			if (port >= 0) {
				closedir(d);
				return port;
			}
		}
		if (d)
			closedir(d);
		usleep(10000);
	}
	fatal("no virtio-serial port named %s", LAB_PORT_NAME);
}

static void get_all(void *data, size_t len)
{
	char *p = data;

	while (len) {
		struct pollfd pfd = { .fd = port, .events = POLLIN };
		ssize_t n = read(port, p, len);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
			continue;
		}
		/* 0: the outer side has not opened its end yet. */
		if (n == 0)
			usleep(1000);
		else if (errno == EAGAIN)
			poll(&pfd, 1, -1);
		else if (errno != EINTR)
			fatal("reading the port: %s", strerror(errno));
	}
}

struct command {
	char **argv;
	size_t argc;
	char *cwd;
};

static void receive(struct command *c)
{
	struct lab_frame f;

	for (;;) {
		char *text;

		get_all(&f, sizeof(f));
		if (f.len > LAB_FRAME_MAX)
			fatal("a frame of %u bytes", f.len);
		text = malloc(f.len + 1);
		if (!text)
			fatal("out of memory");
		get_all(text, f.len);
		text[f.len] = 0;
		switch (f.type) {
		case LAB_ENV:
			putenv(text);
			break;
		case LAB_CWD:
			c->cwd = text;
			break;
		case LAB_ARG:
			c->argv = realloc(c->argv, (c->argc + 2) * sizeof(*c->argv));
			if (!c->argv)
				fatal("out of memory");
			c->argv[c->argc++] = text;
			c->argv[c->argc] = NULL;
			break;
		case LAB_GO:
			if (!c->argv || !c->cwd)
				fatal("no command was sent");
			return;
		default:
			fatal("an unknown frame, type %u", f.type);
		}
	}
}

static const char *env(const char *name)
{
	const char *v = getenv(name);

	return v ? v : "";
}

/* The outer root, read-only, under a layer in memory that takes all writes. */
static void enter_root(void)
{
	static const char p9[] = "trans=virtio,version=9p2000.L,msize=512000";
	char opts[128];

	snprintf(opts, sizeof(opts), "%s,cache=loose", p9);
	do_mount("root9", "/lower", "9p", MS_RDONLY, opts);
	do_mount("tmpfs", "/rw", "tmpfs", 0, "mode=755");
	mkdir("/rw/up", 0755);
	mkdir("/rw/work", 0755);
	do_mount("overlay", "/root", "overlay", 0, "lowerdir=/lower,upperdir=/rw/up,workdir=/rw/work");

	do_mount("proc", "/root/proc", "proc", 0, NULL);
	do_mount("sysfs", "/root/sys", "sysfs", 0, NULL);
	do_mount("devtmpfs", "/root/dev", "devtmpfs", 0, NULL);
	do_mount("tmpfs", "/root/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
	do_mount("devpts", "/root/dev/pts", "devpts", 0, "mode=620,gid=5,ptmxmode=666");
	do_mount("tmpfs", "/root/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, NULL);
	do_mount("hugetlbfs", "/root/dev/hugepages", "hugetlbfs", 0, NULL);
	do_mount("debugfs", "/root/sys/kernel/debug", "debugfs", 0, NULL);
	do_mount("tracefs", "/root/sys/kernel/tracing", "tracefs", 0, NULL);
	do_mount("cgroup2", "/root/sys/fs/cgroup", "cgroup2", 0, NULL);

	if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		fatal("changing to the shared root: %s", strerror(errno));

	if (*env("LAB_OUT")) {
		/* Not cached: what the command wrote is outside when it has written it. */
		make_dirs(env("LAB_OUT"));
		do_mount("out9", env("LAB_OUT"), "9p", 0, p9);
	}
}

static void lo_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (s < 0 || ioctl(s, SIOCSIFFLAGS, &ifr))
		fatal("lo: %s", strerror(errno));
	close(s);
}

static int run_shell(const char *text)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/sh", "sh", "-c", text, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

static void set_up(void)
{
	struct rlimit files = { 1024, 524288 };		/* what systemd gives a service */
	char path[512], modules[512];
	int null;

	if (!getenv("PATH"))
		setenv("PATH", DEFAULT_PATH, 1);
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	if (null > 2)
		close(null);
	if (sethostname("lab", 3))
		fatal("host name: %s", strerror(errno));
	setrlimit(RLIMIT_NOFILE, &files);
	lo_up();

	snprintf(path, sizeof(path), "/lib/modules/%s", env("LAB_RELEASE"));
	snprintf(modules, sizeof(modules), "%s/lib/modules/%s", env("LAB_KERNEL_DIR"), env("LAB_RELEASE"));
	make_dirs(path);
	if (mount(modules, path, NULL, MS_BIND, NULL))
		fatal("mount %s at %s: %s", modules, path, strerror(errno));
	make_dirs("/etc/modprobe.d");
	write_file("/etc/modprobe.d/lab.conf", env("LAB_OPTIONS"));
	snprintf(path, sizeof(path), "PATH=" DEFAULT_PATH " exec modprobe -a %s", env("LAB_MODPROBE"));
	if (*env("LAB_MODPROBE") && run_shell(path))
		fatal("modprobe could not load: %s", env("LAB_MODPROBE"));
	for (int tries = 0; *env("LAB_WAIT") && access(env("LAB_WAIT"), F_OK); tries++) {
		if (tries == 1000)
			fatal("%s did not appear within 10 s", env("LAB_WAIT"));
		usleep(10000);
	}
}

/* Hand on what is in the pipe; false when there is nothing more to come. */
static bool pass(int fd, enum lab_frame_type type)
{
	char b[16384];
	ssize_t n = read(fd, b, sizeof(b));

	if (n > 0)
		send_frame(type, b, (size_t)n);
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

static uint32_t run_command(const struct command *c)
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
		fatal("pipe: %s", strerror(errno));
	send_frame(LAB_READY, &ms, sizeof(ms));
	pid = fork();
	if (pid < 0)
		fatal("fork: %s", strerror(errno));
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
			fatal("signalfd: %s", strerror(errno));
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

static void note_kernel_trouble(void)
{
	/* Documentation/admin-guide/tainted-kernels.rst: bit 7 died, bit 9 warned. */
	unsigned long taint = read_number("/proc/sys/kernel/tainted");
	const char *text = NULL;

	if (taint & (1ul << 7))
		text = "note: the emulated kernel reported an oops; see it with --log FILE";
	else if (taint & (1ul << 9))
		text = "note: the emulated kernel reported a warning (WARN_ON); see it with --log FILE";
	if (text)
		send_frame(LAB_NOTE, text, strlen(text));
}

int main(void)
{
	struct command c = { 0 };
	uint32_t status;

	if (getpid() != 1) {
		fputs("agent: this is the first process of the lab's emulated host\n", stderr);
		return 2;
	}
	do_mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	do_mount("proc", "/proc", "proc", 0, NULL);
	do_mount("sysfs", "/sys", "sysfs", 0, NULL);
	load_first_modules();
	open_port();
	clearenv();
	receive(&c);
	enter_root();
	set_up();
	status = run_command(&c);
	note_kernel_trouble();
	send_frame(LAB_EXIT, &status, sizeof(status));
	for (;;)
		pause();
}
