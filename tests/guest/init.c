// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life as PID 1 of a nested guest: mounts, modules, a report of what the kernel
 * made of this machine, the workload, and the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "guest.h"

/* Where a workload is to end with a reset or a halt instead. */
__attribute__((noreturn)) static void end(const struct guest *g)
{
	const char *how = guest_str(g, "end", "poweroff");

	sync();
	reboot(!strcmp(how, "reboot") ? RB_AUTOBOOT : !strcmp(how, "halt") ? RB_HALT_SYSTEM : RB_POWER_OFF);
	for (;;)
		pause();
}

/*
 * Parameters of a module on the kernel command line, "MODULE.PARAM=VALUE", as
 * modprobe would hand them over. "-" and "_" are the same in a module's name.
 */
static void module_options(const char *cmdline, const char *module, char *opts, size_t size)
{
	size_t len = strlen(module), at = 0;

	opts[0] = 0;
	for (const char *w = cmdline; *w; w += strcspn(w, " "), w += strspn(w, " ")) {
		size_t word = strcspn(w, " "), i;

		for (i = 0; i < len && i < word; i++)
			if ((w[i] == '-' ? '_' : w[i]) != (module[i] == '-' ? '_' : module[i]))
				break;
		if (i != len || word <= len + 1 || w[len] != '.')
			continue;
		if (at + word - len >= size)
			return;
		at += (size_t)snprintf(opts + at, size - at, "%s%.*s", at ? " " : "",
				       (int)(word - len - 1), w + len + 1);
	}
}

static void load_modules(const struct guest *g, const char *cmdline)
{
	FILE *list = fopen("/mods/list", "re");
	char line[256], name[256], opts[512];
	struct report r;

	if (!list)
		return;
	report_open(&r, "modules");
	report_list(&r, "loaded");
	while (fgets(line, sizeof(line), list)) {
		const char *base;
		int fd;

		line[strcspn(line, "\n")] = 0;
		base = strrchr(line, '/');
		snprintf(name, sizeof(name), "%s", base ? base + 1 : line);
		name[strcspn(name, ".")] = 0;
		module_options(cmdline, name, opts, sizeof(opts));
		fd = open(line, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, opts, 0) && errno != EEXIST))
			report_error(g, "module %s: %s", name, strerror(errno));
		else
			report_str(&r, NULL, name);
		if (fd >= 0)
			close(fd);
	}
	fclose(list);
	report_list_end(&r);
	report_send(g, &r);
}

/* What the kernel said of PAT and MTRRs while it booted, from its log. */
static void report_kernel_log(const struct guest *g)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char b[8192], pat[256] = "";
	struct report r;
	ssize_t n;

	report_open(&r, "kernel_mtrr");
	report_list(&r, "lines");
	/* One record a read; EPIPE: overwritten meanwhile, the next read goes on. */
	while (fd >= 0 && ((n = read(fd, b, sizeof(b) - 1)) > 0 || (n < 0 && errno == EPIPE))) {
		char *text;

		if (n < 0)
			continue;
		b[n] = 0;
		text = strchr(b, ';');
		if (!text)
			continue;
		text++;
		text[strcspn(text, "\n")] = 0;
		if (!strncmp(text, "x86/PAT: ", 9))
			snprintf(pat, sizeof(pat), "%.*s", (int)sizeof(pat) - 1, text);
		else if (strcasestr(text, "mtrr") && r.len + strlen(text) < sizeof(r.text) / 2)
			report_str(&r, NULL, text);
	}
	report_list_end(&r);
	report_send(g, &r);
	if (fd >= 0)
		close(fd);
	report_open(&r, "pat");
	report_str(&r, "line", *pat ? pat : NULL);
	report_send(g, &r);
}

static void report_file(const struct guest *g, const char *ev, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[1500] = "";
	struct report r;
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n > 0)
		text[n] = 0;
	report_open(&r, ev);
	report_str(&r, "text", fd < 0 ? NULL : text);
	report_send(g, &r);
}

static void report_init(const struct guest *g, const char *cmdline)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	struct utsname u;
	struct report r;

	uname(&u);
	report_open(&r, "init");
	report_u64(&r, "uptime_ms", uptime_ms());
	report_str(&r, "kernel", u.release);
	report_u64(&r, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	report_u64(&r, "mem_kib", (uint64_t)pages * (uint64_t)page / 1024);
	report_str(&r, "cmdline", cmdline);
	report_send(g, &r);
}

/* Where lines go: the console, or the kernel's log for machines whose UART has no interrupt. */
static void open_output(struct guest *g)
{
	g->kmsg = !strcmp(guest_str(g, "out", "console"), "kmsg");
	g->out_fd = open(g->kmsg ? "/dev/kmsg" : "/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

int guest_work(struct guest *g, const char *what)
{
	if (!strcmp(what, "info"))
		return 0;
	if (!strcmp(what, "net"))
		return net_run(g, false);
	if (!strcmp(what, "blk"))
		return blk_run(g, false);
	if (!strcmp(what, "loop"))
		return strcmp(guest_str(g, "kind", "net"), "blk") ? net_run(g, true) : blk_run(g, true);
	if (!strcmp(what, "mtrr"))
		return steps_run(g);
	report_error(g, "do=%s is none of info, net, blk, loop and mtrr", what);
	return -EINVAL;
}

void init_main(struct guest *g)
{
	char cmdline[4096] = "", words[4096];
	uint64_t hold = 0;
	struct report r;
	int err;

	g->init = true;
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	err = read_text("/proc/cmdline", cmdline, sizeof(cmdline));
	memcpy(words, cmdline, sizeof(words));
	if (!err)
		err = guest_parse_cmdline(g, words);
	open_output(g);
	report_init(g, cmdline);
	if (err)
		report_error(g, "kernel command line: %s", strerror(-err));
	load_modules(g, cmdline);
	report_kernel_log(g);
	report_file(g, "mtrr", "/proc/mtrr");
	if (!err)
		err = guest_work(g, guest_str(g, "do", "info"));
	pci_report_all(g);
	if (!guest_u64(g, "hold", 0, &hold) && hold) {
		report_open(&r, "hold");
		report_u64(&r, "seconds", hold);
		report_send(g, &r);
		sleep((unsigned int)hold);
		/* Once more: drivers have gone on working meanwhile. */
		pci_report_all(g);
	}
	report_open(&r, "end");
	report_bool(&r, "ok", !err);
	report_u64(&r, "uptime_ms", uptime_ms());
	report_send(g, &r);
	end(g);
}
