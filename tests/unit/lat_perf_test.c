// SPDX-License-Identifier: GPL-2.0-only
/* Counters of a kernel that a test plays: what is missing, what is forbidden, what takes turns. */
#include <errno.h>
#include <string.h>

#include "latency/perf.h"
#include "suite.h"

/* What the kernel knows; descriptors are 100 and up. */
static struct kernel {
	bool hardware; /* a PMU */
	bool alone; /* members of hardware groups are refused */
	bool paranoid; /* the kernel may not be counted */
	int refuse; /* everything, with this errno */
	int opened, closed, enabled;
	struct perf_event_attr attr[LAT_PERF_MAX * 2];
	int leader[LAT_PERF_MAX * 2];
	pid_t pid;
	uint64_t value, time_enabled, time_running;
	ssize_t short_read;
} k;

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		     unsigned long flags)
{
	ck_assert_int_eq(cpu, -1);
	ck_assert_uint_eq(flags, PERF_FLAG_FD_CLOEXEC);
	ck_assert_uint_eq(attr->size, sizeof(*attr));
	errno = k.refuse;
	if (k.refuse)
		return -1;
	errno = ENOENT;
	if (attr->type != PERF_TYPE_SOFTWARE && !k.hardware)
		return -1;
	errno = EACCES;
	if (k.paranoid && !attr->exclude_kernel)
		return -1;
	errno = EINVAL;
	if (k.alone && group >= 0 && attr->type != PERF_TYPE_SOFTWARE)
		return -1;
	k.pid = pid;
	k.attr[k.opened] = *attr;
	k.leader[k.opened] = group;
	return 100 + k.opened++;
}

static int fake_ioctl(int fd, unsigned long request, unsigned long arg)
{
	ck_assert_int_ge(fd, 100);
	ck_assert_uint_eq(arg, 0);
	k.enabled += request == PERF_EVENT_IOC_ENABLE ? 1 : -1;
	return 0;
}

static ssize_t fake_read(int fd, void *buf, size_t size)
{
	uint64_t v[3] = { k.value + (uint64_t)fd, k.time_enabled, k.time_running };

	ck_assert_uint_eq(size, sizeof(v));
	memcpy(buf, v, sizeof(v));
	return k.short_read ? k.short_read : (ssize_t)sizeof(v);
}

static int fake_close(int fd)
{
	ck_assert_int_ge(fd, 100);
	k.closed++;
	return 0;
}

static const struct lat_perf_sys sys = { fake_open, fake_ioctl, fake_read, fake_close };
static struct lat_perf perf;
static struct bp_error err;
static struct lat_perf_value v;

static size_t events(void)
{
	size_t n = 0;

	while (lat_perf_events[n].name)
		n++;
	return n;
}

static size_t of(const char *name)
{
	size_t i = 0;

	while (strcmp(perf.counter[i].event->name, name))
		i++;
	return i;
}

START_TEST(hardware_counters_are_there_where_the_machine_has_them)
{
	k = (struct kernel){ .hardware = true, .time_enabled = 500, .time_running = 500 };
	ck_assert_int_eq(lat_perf_open(&perf, &sys, 77, true, &err), 0);
	ck_assert_uint_eq(perf.n, events());
	ck_assert_uint_le(events(), LAT_PERF_MAX);
	ck_assert_int_eq(k.opened, (int)events());
	ck_assert_int_eq(k.pid, 77);
	for (int i = 0; i < k.opened; i++) {
		ck_assert(k.attr[i].inherit);
		ck_assert(!k.attr[i].exclude_kernel);
		/* Leaders start at exec; members with them. */
		ck_assert_int_eq(k.attr[i].enable_on_exec, k.leader[i] < 0);
		ck_assert_int_eq(k.attr[i].disabled, k.leader[i] < 0);
	}
	/* Instructions are counted together with cycles, faults with the task's clock. */
	ck_assert_int_eq(k.leader[of("instructions")], 100 + (int)of("cycles"));
	ck_assert_int_eq(k.leader[of("page-faults")], 100);
	ck_assert_int_eq(k.leader[of("cycles")], -1);
	ck_assert_int_eq(lat_perf_read(&perf, of("cycles"), &v), 0);
	ck_assert_double_eq(v.value, 100 + (double)of("cycles"));
	lat_perf_close(&perf);
	lat_perf_close(&perf);
	ck_assert_int_eq(k.closed, k.opened);
}
END_TEST

START_TEST(without_a_pmu_software_counters_remain_and_the_others_are_named)
{
	k = (struct kernel){ .time_enabled = 1, .time_running = 1 };
	ck_assert_int_eq(lat_perf_open(&perf, &sys, 0, false, &err), 0);
	ck_assert_int_eq(k.opened, 6);
	ck_assert(!k.attr[0].inherit);
	ck_assert(!k.attr[0].enable_on_exec);
	ck_assert_int_eq(perf.counter[of("cycles")].why, -ENOENT);
	ck_assert_int_eq(lat_perf_read(&perf, of("cycles"), &v), -ENOENT);
	ck_assert_ptr_nonnull(
		strstr(lat_perf_why(perf.counter[of("cycles")].why), "no such counter"));
	ck_assert_int_eq(lat_perf_read(&perf, of("page-faults"), &v), 0);
	ck_assert_int_eq(lat_perf_enable(&perf, true), 0);
	ck_assert_int_eq(k.enabled, 6);
	lat_perf_close(&perf);
}
END_TEST

START_TEST(counters_that_took_turns_are_scaled)
{
	k = (struct kernel){
		.hardware = true, .value = 900, .time_enabled = 1000, .time_running = 250
	};
	ck_assert_int_eq(lat_perf_open(&perf, &sys, 0, false, &err), 0);
	ck_assert_int_eq(lat_perf_read(&perf, 0, &v), 0);
	ck_assert_uint_eq(v.raw, 1000);
	ck_assert_double_eq(v.value, 4000);
	ck_assert_uint_eq(v.enabled, 1000);
	ck_assert_uint_eq(v.running, 250);
	/* No turn at all is not zero events. */
	k.time_running = 0;
	ck_assert_int_eq(lat_perf_read(&perf, 0, &v), -ENODATA);
	/* A command that never ran did not count, and that is right. */
	k.time_enabled = 0;
	ck_assert_int_eq(lat_perf_read(&perf, 0, &v), 0);
	k.short_read = 8;
	ck_assert_int_eq(lat_perf_read(&perf, 0, &v), -EIO);
	lat_perf_close(&perf);
}
END_TEST

START_TEST(without_the_right_to_it_the_kernel_is_left_out)
{
	k = (struct kernel){ .hardware = true, .paranoid = true };
	ck_assert_int_eq(lat_perf_open(&perf, &sys, 0, false, &err), 0);
	for (size_t i = 0; i < perf.n; i++)
		ck_assert(perf.counter[i].user_only || perf.counter[i].why == -EACCES);
	/* Of the scheduler nothing would be left to count, so these are not shown as zero. */
	ck_assert_int_eq(perf.counter[of("context-switches")].why, -EACCES);
	ck_assert_int_eq(perf.counter[of("cpu-migrations")].why, -EACCES);
	ck_assert_int_eq(k.opened, (int)events() - 2);
	lat_perf_close(&perf);
}
END_TEST

START_TEST(a_member_that_a_group_refuses_counts_alone)
{
	k = (struct kernel){ .hardware = true, .alone = true };
	ck_assert_int_eq(lat_perf_open(&perf, &sys, 5, true, &err), 0);
	ck_assert_int_ge(perf.counter[of("instructions")].fd, 0);
	ck_assert_int_eq(k.leader[perf.counter[of("instructions")].fd - 100], -1);
	ck_assert(k.attr[perf.counter[of("instructions")].fd - 100].enable_on_exec);
	lat_perf_close(&perf);
}
END_TEST

START_TEST(nothing_at_all_is_an_error_with_a_way_out)
{
	k = (struct kernel){ .refuse = EACCES };
	ck_assert_int_eq(lat_perf_open(&perf, &sys, 0, false, &err), -EACCES);
	ck_assert_ptr_nonnull(strstr(err.fix, "perf_event_paranoid"));
	bp_error_clear(&err);
	k.refuse = ENOSYS;
	ck_assert_int_eq(lat_perf_open(&perf, &sys, 0, false, &err), -ENOSYS);
	ck_assert_ptr_nonnull(strstr(err.what, "this kernel cannot count"));
	lat_perf_close(&perf);
	ck_assert_int_eq(k.closed, 0);
}
END_TEST

SUITE("lat_perf", hardware_counters_are_there_where_the_machine_has_them,
      without_a_pmu_software_counters_remain_and_the_others_are_named,
      counters_that_took_turns_are_scaled, without_the_right_to_it_the_kernel_is_left_out,
      a_member_that_a_group_refuses_counts_alone, nothing_at_all_is_an_error_with_a_way_out)
