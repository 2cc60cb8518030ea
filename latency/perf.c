// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "latency/perf.h"

/* clang-format off */
#define SOFT(n, u, c) { n, u, PERF_COUNT_SW_##c, PERF_TYPE_SOFTWARE, 0 }
#define HARD(n, c, g) { n, "", PERF_COUNT_HW_##c, PERF_TYPE_HARDWARE, g }
#define CACHE(n, c, op, g) \
	{ n, "", \
	  PERF_COUNT_HW_CACHE_##c | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
		  PERF_COUNT_HW_CACHE_RESULT_MISS << 16, \
	  PERF_TYPE_HW_CACHE, g }
/* clang-format on */

/* Two hardware counters a group: old processors have two or four that can count at once. */
const struct lat_perf_event lat_perf_events[] = {
	SOFT("task-clock", "ns", TASK_CLOCK),
	SOFT("context-switches", "", CONTEXT_SWITCHES),
	SOFT("cpu-migrations", "", CPU_MIGRATIONS),
	SOFT("page-faults", "", PAGE_FAULTS),
	SOFT("minor-faults", "", PAGE_FAULTS_MIN),
	SOFT("major-faults", "", PAGE_FAULTS_MAJ),
	HARD("cycles", CPU_CYCLES, 1),
	HARD("instructions", INSTRUCTIONS, 1),
	HARD("cache-references", CACHE_REFERENCES, 2),
	HARD("cache-misses", CACHE_MISSES, 2),
	HARD("branches", BRANCH_INSTRUCTIONS, 3),
	HARD("branch-misses", BRANCH_MISSES, 3),
	CACHE("dTLB-load-misses", DTLB, READ, 4),
	CACHE("dTLB-store-misses", DTLB, WRITE, 4),
	{ NULL, NULL, 0, 0, 0 },
};

static int sys_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		    unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}

static int sys_ioctl(int fd, unsigned long request, unsigned long arg)
{
	return ioctl(fd, request, arg);
}

const struct lat_perf_sys *lat_perf_libc(void)
{
	static const struct lat_perf_sys sys = { sys_open, sys_ioctl, read, close };

	return &sys;
}

static void open_one(struct lat_perf *perf, struct lat_perf_counter *c, pid_t pid, bool on_exec,
		     int leader)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = c->event->type,
		.config = c->event->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		/* A member counts when its leader does. */
		.disabled = leader < 0,
		.enable_on_exec = leader < 0 && on_exec,
		.inherit = pid > 0,
	};

	/* The scheduler is all kernel: what user mode sees of it is always 0. */
	int tries = c->event->type == PERF_TYPE_SOFTWARE &&
				    (c->event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
				     c->event->config == PERF_COUNT_SW_CPU_MIGRATIONS)
			    ? 1
			    : 2;

	for (int user_only = 0; user_only < tries; user_only++) {
		attr.exclude_kernel = attr.exclude_hv = (unsigned int)user_only;
		c->user_only = user_only;
		c->fd = perf->sys->open(&attr, pid, -1, leader, PERF_FLAG_FD_CLOEXEC);
		c->why = c->fd < 0 ? -errno : 0;
		/* perf_event_paranoid of 2 and more leaves the kernel to root. */
		if (c->why != -EACCES && c->why != -EPERM)
			return;
	}
}

int lat_perf_open(struct lat_perf *perf, const struct lat_perf_sys *sys, pid_t pid, bool on_exec,
		  struct bp_error *err)
{
	const struct lat_perf_counter *leader = NULL;
	bool any = false;

	*perf = (struct lat_perf){ .sys = sys };
	for (const struct lat_perf_event *e = lat_perf_events; e->name && perf->n < LAT_PERF_MAX;
	     e++) {
		struct lat_perf_counter *c = &perf->counter[perf->n++];

		*c = (struct lat_perf_counter){ .event = e, .fd = -1 };
		if (leader && leader->event->group != e->group)
			leader = NULL;
		open_one(perf, c, pid, on_exec, leader ? leader->fd : -1);
		/* A member may be refused where it would be welcome alone. */
		if (c->fd < 0 && leader && c->why == -EINVAL)
			open_one(perf, c, pid, on_exec, -1);
		if (c->fd >= 0 && !leader)
			leader = c;
		any |= c->fd >= 0;
	}
	if (any)
		return 0;
	if (perf->counter[0].why == -EACCES || perf->counter[0].why == -EPERM)
		return bp_error_set(err, perf->counter[0].why,
				    "run as root, or lower /proc/sys/kernel/perf_event_paranoid",
				    "cannot count anything: not permitted");
	return bp_error_set(err, perf->counter[0].why, NULL, "cannot count anything: %s",
			    lat_perf_why(perf->counter[0].why));
}

int lat_perf_enable(struct lat_perf *perf, bool on)
{
	int ret = 0;

	for (size_t i = 0; i < perf->n; i++)
		if (perf->counter[i].fd >= 0 &&
		    perf->sys->ioctl(perf->counter[i].fd,
				     on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
			ret = -errno;
	return ret;
}

int lat_perf_read(const struct lat_perf *perf, size_t i, struct lat_perf_value *out)
{
	const struct lat_perf_counter *c = &perf->counter[i];
	uint64_t v[3];

	*out = (struct lat_perf_value){ 0 };
	if (c->fd < 0)
		return -ENOENT;
	if (perf->sys->read(c->fd, v, sizeof(v)) != (ssize_t)sizeof(v))
		return -EIO;
	out->raw = v[0];
	out->enabled = v[1];
	out->running = v[2];
	if (!out->running && out->enabled)
		return -ENODATA;
	out->value = (double)out->raw;
	if (out->running && out->running < out->enabled)
		out->value *= (double)out->enabled / (double)out->running;
	return 0;
}

void lat_perf_close(struct lat_perf *perf)
{
	for (size_t i = 0; i < perf->n; i++) {
		if (perf->counter[i].fd >= 0)
			perf->sys->close(perf->counter[i].fd);
		perf->counter[i].fd = -1;
	}
}

const char *lat_perf_why(int why)
{
	switch (why) {
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENODEV:
	case -ENXIO:
		return "this machine has no such counter";
	case -EACCES:
	case -EPERM:
		return "not permitted";
	case -ENOSYS:
		return "this kernel cannot count";
	case -ENODATA:
		return "never got its turn on the processor's counters";
	default:
		return strerror(-why);
	}
}
