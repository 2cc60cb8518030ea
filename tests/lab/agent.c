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
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inside.h"

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

void lab_send(enum lab_frame_type type, const void *data, size_t len)
{
	/* One write a frame: each write is an exit to QEMU and back. */
	static unsigned char b[sizeof(struct lab_frame) + LAB_FRAME_MAX];
	struct lab_frame f = { .type = type, .len = (uint32_t)len };

	memcpy(b, &f, sizeof(f));
	memcpy(b + sizeof(f), data, len);
	put_all(port, b, sizeof(f) + len);
}

void lab_fatal(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (port >= 0) {
		lab_send(LAB_FATAL, text, strlen(text));
		sleep(5);
	} else {
		int fd = open("/dev/kmsg", O_WRONLY);

		dprintf(fd, "<0>lab: %s\n", text);
	}
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		lab_fatal("%s: %s", path, strerror(errno));
	put_all(fd, text, strlen(text));
	close(fd);
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
	lab_fatal("no virtio-serial port named %s", LAB_PORT_NAME);
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
			lab_fatal("reading the port: %s", strerror(errno));
	}
}

static void receive(struct lab_command *c)
{
	struct lab_frame f;

	for (;;) {
		char *text;

		get_all(&f, sizeof(f));
		if (f.len > LAB_FRAME_MAX)
			lab_fatal("a frame of %u bytes", f.len);
		text = malloc(f.len + 1);
		if (!text)
			lab_fatal("out of memory");
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
				lab_fatal("out of memory");
			c->argv[c->argc++] = text;
			c->argv[c->argc] = NULL;
			break;
		case LAB_GO:
			if (!c->argv || !c->cwd)
				lab_fatal("no command was sent");
			return;
		default:
			lab_fatal("an unknown frame, type %u", f.type);
		}
	}
}

/*
 * QEMU up to 10.0 changes a processor's pending interrupts without a lock when a nested guest
 * is entered and left, and may lose one that comes just then, a timer's above all; then the
 * processor waits for it, for good. The next one for the same processor brings the lost one
 * along. Who moves to a processor sends it one.
 */
static void stir(void)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

/* A process of its own, which reads what still comes: one LAB_STIR after the other. */
static void start_stirring(void)
{
	struct lab_frame f;
	pid_t pid = fork();

	if (pid < 0)
		lab_fatal("fork: %s", strerror(errno));
	if (pid)
		return;
	prctl(PR_SET_NAME, "stir");
	for (;;) {
		get_all(&f, sizeof(f));
		stir();
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
	lab_mount("root9", "/lower", "9p", MS_RDONLY, opts);
	lab_mount("tmpfs", "/rw", "tmpfs", 0, "mode=755");
	mkdir("/rw/up", 0755);
	mkdir("/rw/work", 0755);
	lab_mount("overlay", "/root", "overlay", 0, "lowerdir=/lower,upperdir=/rw/up,workdir=/rw/work");

	lab_mount("proc", "/root/proc", "proc", 0, NULL);
	lab_mount("sysfs", "/root/sys", "sysfs", 0, NULL);
	lab_mount("devtmpfs", "/root/dev", "devtmpfs", 0, NULL);
	lab_mount("tmpfs", "/root/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
	lab_mount("devpts", "/root/dev/pts", "devpts", 0, "mode=620,gid=5,ptmxmode=666");
	lab_mount("tmpfs", "/root/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, NULL);
	lab_mount("hugetlbfs", "/root/dev/hugepages", "hugetlbfs", 0, NULL);
	lab_mount("debugfs", "/root/sys/kernel/debug", "debugfs", 0, NULL);
	lab_mount("tracefs", "/root/sys/kernel/tracing", "tracefs", 0, NULL);
	lab_mount("cgroup2", "/root/sys/fs/cgroup", "cgroup2", 0, NULL);

	if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		lab_fatal("changing to the shared root: %s", strerror(errno));

	if (*env("LAB_OUT")) {
		/* Not cached: what the command wrote is outside when it has written it. */
		lab_make_dirs(env("LAB_OUT"));
		lab_mount("out9", env("LAB_OUT"), "9p", 0, p9);
	}
}

static void lo_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (s < 0 || ioctl(s, SIOCSIFFLAGS, &ifr))
		lab_fatal("lo: %s", strerror(errno));
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
		lab_fatal("host name: %s", strerror(errno));
	setrlimit(RLIMIT_NOFILE, &files);
	lo_up();

	snprintf(path, sizeof(path), "/lib/modules/%s", env("LAB_RELEASE"));
	snprintf(modules, sizeof(modules), "%s/lib/modules/%s", env("LAB_KERNEL_DIR"), env("LAB_RELEASE"));
	lab_make_dirs(path);
	if (mount(modules, path, NULL, MS_BIND, NULL))
		lab_fatal("mount %s at %s: %s", modules, path, strerror(errno));
	lab_make_dirs("/etc/modprobe.d");
	write_file("/etc/modprobe.d/lab.conf", env("LAB_OPTIONS"));
	snprintf(path, sizeof(path), "PATH=" DEFAULT_PATH " exec modprobe -a %s", env("LAB_MODPROBE"));
	if (*env("LAB_MODPROBE") && run_shell(path))
		lab_fatal("modprobe could not load: %s", env("LAB_MODPROBE"));
	for (int tries = 0; *env("LAB_WAIT") && access(env("LAB_WAIT"), F_OK); tries++) {
		if (tries == 1000)
			lab_fatal("%s did not appear within 10 s", env("LAB_WAIT"));
		usleep(10000);
	}
}

int main(void)
{
	struct lab_command c = { 0 };
	uint32_t status;

	if (getpid() != 1) {
		fputs("agent: this is the first process of the lab's emulated host\n", stderr);
		return 2;
	}
	lab_mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	lab_mount("proc", "/proc", "proc", 0, NULL);
	lab_mount("sysfs", "/sys", "sysfs", 0, NULL);
	lab_load_modules();
	open_port();
	clearenv();
	receive(&c);
	enter_root();
	set_up();
	start_stirring();
	status = lab_run(&c);
	lab_note_trouble(0);
	lab_send(LAB_EXIT, &status, sizeof(status));
	for (;;)
		pause();
}
