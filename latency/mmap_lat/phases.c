// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "latency/mmap_lat/phases.h"

const char *const lat_phase_names[LAT_PHASES] = {
	[LAT_PH_MAP] = "map",	      [LAT_PH_TOUCH] = "first touch",
	[LAT_PH_DROP] = "drop",	      [LAT_PH_AGAIN] = "touch again",
	[LAT_PH_PROTECT] = "protect", [LAT_PH_UNPROTECT] = "unprotect",
	[LAT_PH_FORK] = "fork",	      [LAT_PH_COW] = "after fork",
	[LAT_PH_EXEC] = "exec",	      [LAT_PH_MOVE] = "move",
	[LAT_PH_UNMAP] = "unmap",
};

struct lat_phases *lat_phases_new(void)
{
	struct lat_phases *ph =
		mmap(NULL, sizeof(*ph), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (ph == MAP_FAILED)
		return NULL;
	madvise(ph, sizeof(*ph), MADV_DONTFORK);
	return ph;
}

void lat_phases_free(struct lat_phases *ph)
{
	if (ph)
		munmap(ph, sizeof(*ph));
}

/* One round in the making. */
struct round {
	struct lat_phases *ph;
	struct lat_meter *m;
	const struct lat_area *a;
	const char *exit_program;
	uint64_t from;
};

static void begin(struct round *r, enum lat_phase_nr nr)
{
	lat_series_open(&r->ph->series[nr], r->m);
	r->from = lat_clock_now(&r->m->clock);
}

static void end(struct round *r, enum lat_phase_nr nr)
{
	lat_series_add(&r->ph->series[nr], r->m, r->from, lat_clock_now(&r->m->clock));
	lat_series_close(&r->ph->series[nr], r->m);
}

static void touch(struct round *r, enum lat_phase_nr nr)
{
	struct lat_series *s = &r->ph->series[nr];

	lat_series_open(s, r->m);
	for (size_t at = 0; at < r->a->size; at += r->a->page) {
		volatile char *p = r->a->addr + at;
		uint64_t from = lat_clock_now(&r->m->clock);

		*p = 1;
		lat_series_add(s, r->m, from, lat_clock_now(&r->m->clock));
	}
	lat_series_close(s, r->m);
}

/* Wait for a child that should end with 0. */
static int reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

static int do_fork(struct round *r, struct bp_error *err)
{
	pid_t pid;
	int ret;

	begin(r, LAT_PH_FORK);
	pid = fork();
	if (!pid)
		_exit(0);
	end(r, LAT_PH_FORK);
	ret = pid < 0 ? -errno : reap(pid);
	return ret ? bp_error_set(err, ret, NULL, "cannot fork: %s", strerror(-ret)) : 0;
}

static int do_exec(struct round *r, struct bp_error *err)
{
	char *const argv[] = { LAT_EXIT_NAME, NULL };
	pid_t pid;
	int ret;

	begin(r, LAT_PH_EXEC);
	pid = fork();
	if (!pid) {
		execv(r->exit_program, argv);
		_exit(1);
	}
	ret = pid < 0 ? -errno : reap(pid);
	end(r, LAT_PH_EXEC);
	return ret ? bp_error_set(err, ret, NULL, "cannot run '%s' again", r->exit_program) : 0;
}

static int do_move(struct round *r, struct bp_error *err)
{
	void *p;

	if (*r->ph->no_move)
		return 0;
	begin(r, LAT_PH_MOVE);
	p = mremap(r->a->addr, r->a->size, r->a->size, MREMAP_MAYMOVE | MREMAP_FIXED, r->a->other);
	if (p != MAP_FAILED) {
		end(r, LAT_PH_MOVE);
		return 0;
	}
	/* mremap() of huge pages came with 5.16. */
	if (errno == EINVAL && (r->a->pages == LAT_2M || r->a->pages == LAT_1G)) {
		snprintf(r->ph->no_move, sizeof(r->ph->no_move),
			 "this kernel cannot move huge pages");
		return 0;
	}
	return bp_error_set(err, -errno, NULL, "cannot move a mapping: %s", strerror(errno));
}

/* A step that is one system call on the whole area. */
static int whole(struct round *r, enum lat_phase_nr nr, struct bp_error *err)
{
	int ret;

	begin(r, nr);
	switch (nr) {
	case LAT_PH_DROP:
		ret = madvise(r->a->addr, r->a->size, MADV_DONTNEED);
		break;
	case LAT_PH_PROTECT:
		ret = mprotect(r->a->addr, r->a->size, PROT_READ);
		break;
	default:
		ret = mprotect(r->a->addr, r->a->size, PROT_READ | PROT_WRITE);
	}
	end(r, nr);
	return ret ? bp_error_set(err, -errno, NULL, "%s failed: %s", lat_phase_names[nr],
				  strerror(errno))
		   : 0;
}

static int one_round(struct round *r, struct bp_error *err)
{
	char *where = r->a->addr;
	int ret;

	begin(r, LAT_PH_MAP);
	ret = lat_area_map(r->a);
	end(r, LAT_PH_MAP);
	if (ret)
		return lat_area_why(r->a->backing, r->a->pages, ret, err);
	ret = lat_area_advise(r->a);
	if (ret) {
		ret = lat_area_why(r->a->backing, r->a->pages, ret, err);
		goto out;
	}
	touch(r, LAT_PH_TOUCH);
	r->ph->huge = lat_area_huge(r->a);
	if (r->a->pages == LAT_THP && !r->ph->huge) {
		ret = lat_area_why(r->a->backing, r->a->pages, 0, err);
		goto out;
	}
	ret = whole(r, LAT_PH_DROP, err);
	if (ret)
		goto out;
	touch(r, LAT_PH_AGAIN);
	ret = whole(r, LAT_PH_PROTECT, err);
	if (!ret)
		ret = whole(r, LAT_PH_UNPROTECT, err);
	if (!ret)
		ret = do_fork(r, err);
	if (ret)
		goto out;
	touch(r, LAT_PH_COW);
	ret = do_exec(r, err);
	if (!ret)
		ret = do_move(r, err);
	if (!ret && !*r->ph->no_move)
		where = r->a->other;
out:
	begin(r, LAT_PH_UNMAP);
	if (munmap(where, r->a->size) && !ret)
		ret = bp_error_set(err, -errno, NULL, "cannot unmap: %s", strerror(errno));
	end(r, LAT_PH_UNMAP);
	return ret;
}

int lat_phases_run(struct lat_phases *ph, struct lat_meter *m, const struct lat_area *a,
		   unsigned int rounds, unsigned int warmup, const char *exit_program,
		   struct bp_error *err)
{
	struct round r = { .ph = ph, .m = m, .a = a, .exit_program = exit_program };

	ph->pages = a->size / a->page;
	ph->huge = -1;
	ph->no_move[0] = '\0';
	for (enum lat_phase_nr i = 0; i < LAT_PHASES; i++) {
		bool each_page = i == LAT_PH_TOUCH || i == LAT_PH_AGAIN || i == LAT_PH_COW;

		lat_series_init(&ph->series[i], lat_phase_names[i],
				(uint64_t)warmup * (each_page ? ph->pages : 1));
	}
	for (unsigned int i = 0; i < rounds + warmup; i++) {
		int ret = one_round(&r, err);

		if (ret)
			return ret;
	}
	return 0;
}
