/* SPDX-License-Identifier: GPL-2.0-only */
/* Running the `memtype` that was built beside a test program, and reading what it says. */
#ifndef TESTS_MT_RUN_H
#define TESTS_MT_RUN_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char run_output[1 << 20];

/* Put the built program first in PATH, so that commands read as a user types them. */
static inline void run_set_path(void)
{
	char self[4096], path[16384];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *old = getenv("PATH");

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(path, sizeof(path), "%s/bin/memtype", self);
	ck_assert_msg(!access(path, X_OK), "%s is not built", path);
	snprintf(path, sizeof(path), "%s/bin:%s", self, old ? old : "/usr/bin:/bin");
	setenv("PATH", path, 1);
	/* One program must not inherit what another sanitizer run was told. */
	setenv("LC_ALL", "C", 1);
}

/* Run a shell command; output and errors together land in run_output. Returns its status. */
static inline int run(const char *command)
{
	char line[8192];
	size_t n;
	FILE *f;
	int status;

	run_set_path();
	snprintf(line, sizeof(line), "{ %s\n} 2>&1", command);
	f = popen(line, "r");
	ck_assert_ptr_nonnull(f);
	n = fread(run_output, 1, sizeof(run_output) - 1, f);
	run_output[n] = '\0';
	status = pclose(f);
	ck_assert_msg(WIFEXITED(status), "'%s' was killed: %s", command, run_output);
	return WEXITSTATUS(status);
}

/* A command that must end with this status. */
static inline void run_status(const char *command, int status)
{
	int got = run(command);

	ck_assert_msg(got == status, "'%s' ended with %d, not %d: %s", command, got, status,
		      run_output);
}

/* A command that must succeed and say exactly this. */
static inline void run_says(const char *command, const char *want)
{
	run_status(command, 0);
	ck_assert_msg(!strcmp(run_output, want), "'%s' says '%s', not '%s'", command, run_output,
		      want);
}

/* A command that must end with a status and say this somewhere. */
static inline void run_mentions(const char *command, int status, const char *want)
{
	run_status(command, status);
	ck_assert_msg(strstr(run_output, want), "'%s' says '%s', without '%s'", command, run_output,
		      want);
}

#endif
