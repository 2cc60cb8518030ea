// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "latency/perfdiff/command.h"

static void row(struct lat_record *r, const char *name, const char *unit)
{
	struct lat_row *w = &r->row[r->nr_rows++];

	*w = (struct lat_row){ 0 };
	snprintf(w->name, sizeof(w->name), "%s", name);
	snprintf(w->unit, sizeof(w->unit), "%s", unit);
}

void lat_command_rows(struct lat_record *r)
{
	r->nr_rows = 0;
	row(r, "elapsed", "ns");
	row(r, "user-time", "ns");
	row(r, "system-time", "ns");
	for (const struct lat_perf_event *e = lat_perf_events; e->name && r->nr_rows < LAT_ROWS_MAX;
	     e++)
		row(r, e->name, e->unit);
}

/* What the child does until it is the command. @go: wait for its end. @said: errno goes there. */
__attribute__((noreturn)) static void become(const struct lat_command *cmd, int go, int said)
{
	char padding[LAT_PADDING_MAX + 1], c;
	int err, persona = personality(0xffffffff), null;

	/* A shell under "setarch -R" would hand the same layout to every run. */
	if (persona >= 0)
		personality((unsigned long)persona & ~(unsigned long)ADDR_NO_RANDOMIZE);
	memset(padding, 'x', sizeof(padding));
	padding[cmd->padding < LAT_PADDING_MAX ? cmd->padding : LAT_PADDING_MAX] = '\0';
	setenv(LAT_PADDING_VARIABLE, padding, 1);
	if (cmd->quiet) {
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null >= 0)
			dup2(null, STDOUT_FILENO);
	}
	/* One byte means start; the end without one, that perfdiff has gone. */
	if (read(go, &c, 1) == 1) {
		execvp(cmd->argv[0], cmd->argv);
		err = errno;
		if (write(said, &err, sizeof(err)) != (ssize_t)sizeof(err))
			_exit(126);
	}
	_exit(127);
}

static double seconds_to_ns(const struct timeval *t)
{
	return 1e9 * (double)t->tv_sec + 1e3 * (double)t->tv_usec;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void read_counters(const struct lat_perf *perf, struct lat_record *r, struct lat_run *run)
{
	for (size_t i = 0; i < perf->n && LAT_ROW_PERF + i < r->nr_rows; i++) {
		struct lat_row *w = &r->row[LAT_ROW_PERF + i];
		struct lat_perf_value v;
		int ret = lat_perf_read(perf, i, &v);

		if (ret == -ENOENT)
			ret = perf->counter[i].why;
		w->user_only |= !ret && perf->counter[i].user_only;
		run->value[LAT_ROW_PERF + i] = ret ? NAN : v.value;
		run->share[LAT_ROW_PERF + i] =
			ret || !v.enabled ? 1 : (double)v.running / (double)v.enabled;
		if (run->share[LAT_ROW_PERF + i] > 1)
			run->share[LAT_ROW_PERF + i] = 1;
		if (ret && !*w->missing)
			snprintf(w->missing, sizeof(w->missing), "%s", lat_perf_why(ret));
	}
}

static int follow(pid_t pid, int go, int said, const struct lat_command *cmd,
		  const struct lat_perf *perf, struct lat_record *r, struct lat_run *run,
		  struct bp_error *err)
{
	struct rusage used;
	int status, failed = 0;
	double start = now_ns();

	/* The child may be gone, by somebody's kill; then waiting says how. */
	if (send(go, "", 1, MSG_NOSIGNAL) != 1 && errno != EPIPE && errno != ECONNRESET) {
		failed = -errno;
		kill(pid, SIGKILL);
	}
	while (wait4(pid, &status, 0, &used) < 0)
		if (errno != EINTR)
			return -errno;
	run->value[LAT_ROW_ELAPSED] = now_ns() - start;
	if (failed)
		return failed;
	if (read(said, &failed, sizeof(failed)) == (ssize_t)sizeof(failed))
		return bp_error_set(err, -failed,
				    failed == ENOENT ? "check its name, and PATH" : NULL,
				    "cannot run '%s': %s", cmd->argv[0], strerror(failed));
	run->value[LAT_ROW_USER] = seconds_to_ns(&used.ru_utime);
	run->value[LAT_ROW_SYSTEM] = seconds_to_ns(&used.ru_stime);
	for (size_t i = 0; i < LAT_ROW_PERF; i++)
		run->share[i] = 1;
	run->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	read_counters(perf, r, run);
	return 0;
}

int lat_command_run(const struct lat_command *cmd, const struct lat_perf_sys *sys,
		    struct lat_record *r, struct lat_run *run, struct bp_error *err)
{
	int go[2] = { -1, -1 }, said[2] = { -1, -1 }, ret = 0;
	struct lat_perf perf = { .sys = sys };
	pid_t pid = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) || pipe2(said, O_CLOEXEC)) {
		ret = -errno;
		goto out;
	}
	pid = fork();
	if (pid < 0) {
		ret = -errno;
		goto out;
	}
	if (!pid) {
		/* Its own end would keep it waiting after perfdiff has died. */
		close(go[1]);
		become(cmd, go[0], said[1]);
	}
	close(go[0]);
	close(said[1]);
	go[0] = said[1] = -1;
	/* A machine that cannot count still has a clock, hence no error here. */
	lat_perf_open(&perf, sys, pid, true, NULL);
	ret = follow(pid, go[1], said[0], cmd, &perf, r, run, err);
	lat_perf_close(&perf);
out:
	for (int i = 0; i < 2; i++) {
		if (go[i] >= 0)
			close(go[i]);
		if (said[i] >= 0)
			close(said[i]);
	}
	return ret;
}
