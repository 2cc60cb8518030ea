// SPDX-License-Identifier: GPL-2.0-only
/* mmap_lat measures what it says: as many operations and page faults as there must be. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "latency/mmap_lat/area.h"
#include "latency/mmap_lat/pattern.h"
#include "latency/mmap_lat/phases.h"
#include "latency/mmap_lat/workload.h"
#include "suite.h"

#define MIB (1u << 20)

static struct lat_meter m;
static struct bp_error err;

/* A machine that cannot count: nothing here may depend on it. */
static int no_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
	(void)attr, (void)pid, (void)cpu, (void)group, (void)flags;
	errno = ENOSYS;
	return -1;
}

static const struct lat_perf_sys no_perf = { no_open, NULL, NULL, NULL };

static void meter(void)
{
	bp_error_clear(&err);
	ck_assert_msg(!lat_meter_open(&m, -2, &no_perf, &err), "%s", err.what);
	ck_assert(!m.counting);
}

static void each(const struct lat_phases *ph, enum lat_phase_nr nr, uint64_t times, uint64_t faults)
{
	const struct lat_series *s = &ph->series[nr];

	ck_assert_msg(s->stats.measured.n == times, "%s: %lu times, not %lu", s->name,
		      s->stats.measured.n, times);
	ck_assert_uint_eq(s->hist.total, times);
	ck_assert_msg(s->faults == faults, "%s: %lu faults, not %lu", s->name, s->faults, faults);
	ck_assert_uint_gt(s->stats.min.value, 0);
}

START_TEST(anonymous_pages_fault_once_each)
{
	struct lat_phases *ph = lat_phases_new();
	struct lat_area a;

	meter();
	ck_assert_int_eq(lat_area_init(&a, LAT_ANON, LAT_4K, 1000001, "/nowhere", &err), 0);
	ck_assert_uint_eq(a.size % a.page, 0);
	ck_assert_uint_ge(a.size, 1000001);
	ck_assert_uint_lt(a.size, 1000001 + a.page);
	ck_assert_msg(!lat_phases_run(ph, &m, &a, 5, 2, "/bin/true", &err), "%s", err.what);
	ck_assert_uint_eq(ph->pages, a.size / a.page);
	each(ph, LAT_PH_MAP, 5, 0);
	each(ph, LAT_PH_TOUCH, 5 * ph->pages, 5 * ph->pages);
	each(ph, LAT_PH_DROP, 5, 0);
	each(ph, LAT_PH_AGAIN, 5 * ph->pages, 5 * ph->pages);
	each(ph, LAT_PH_PROTECT, 5, 0);
	each(ph, LAT_PH_UNPROTECT, 5, 0);
	each(ph, LAT_PH_COW, 5 * ph->pages, 5 * ph->pages);
	each(ph, LAT_PH_MOVE, 5, 0);
	each(ph, LAT_PH_UNMAP, 5, 0);
	ck_assert_uint_eq(ph->series[LAT_PH_FORK].stats.measured.n, 5);
	ck_assert_uint_eq(ph->series[LAT_PH_EXEC].stats.measured.n, 5);
	/* The first of all and the warm-up are apart. */
	ck_assert_uint_eq(ph->series[LAT_PH_MAP].stats.warmup.n, 1);
	ck_assert_uint_eq(ph->series[LAT_PH_TOUCH].stats.warmup.n, 2 * ph->pages - 1);
	ck_assert_int_eq(ph->huge, 0);
	/* Nothing of it is left. */
	ck_assert_int_eq(msync(a.addr, a.page, MS_ASYNC), -1);
	ck_assert_int_eq(msync(a.other, a.page, MS_ASYNC), -1);
	lat_area_free(&a);
	lat_phases_free(ph);
	lat_meter_close(&m);
}
END_TEST

START_TEST(shared_pages_stay_when_they_are_dropped)
{
	struct lat_phases *ph = lat_phases_new();
	struct lat_area a;

	meter();
	ck_assert_int_eq(lat_area_init(&a, LAT_SHARED, LAT_4K, MIB, "/nowhere", &err), 0);
	ck_assert_msg(!lat_phases_run(ph, &m, &a, 3, 1, "/bin/true", &err), "%s", err.what);
	each(ph, LAT_PH_TOUCH, 3 * ph->pages, 3 * ph->pages);
	/* Forking copies no page tables of shared memory, and none of it becomes copy-on-write here. */
	ck_assert_uint_le(ph->series[LAT_PH_COW].faults, 3 * ph->pages / 8);
	lat_area_free(&a);
	lat_phases_free(ph);
	lat_meter_close(&m);
}
END_TEST

START_TEST(files_and_what_a_failure_leaves)
{
	struct lat_phases *ph = lat_phases_new();
	struct lat_area a;

	meter();
	ck_assert_int_eq(lat_area_init(&a, LAT_FILE, LAT_4K, MIB, "/no/such/dir", &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.what, "/no/such/dir"));
	lat_area_free(&a);
	bp_error_clear(&err);
	ck_assert_int_eq(lat_area_init(&a, LAT_FILE, LAT_4K, MIB, "/tmp", &err), 0);
	ck_assert_msg(!lat_phases_run(ph, &m, &a, 2, 1, "/bin/true", &err), "%s", err.what);
	each(ph, LAT_PH_MAP, 2, 0);
	ck_assert_uint_eq(ph->series[LAT_PH_TOUCH].stats.measured.n, 2 * ph->pages);
	ck_assert_uint_ge(ph->series[LAT_PH_TOUCH].faults, 2);
	/* A program that fails is not a fast one. */
	bp_error_clear(&err);
	ck_assert_int_eq(lat_phases_run(ph, &m, &a, 1, 0, "/bin/false", &err), -ECHILD);
	ck_assert_ptr_nonnull(strstr(err.what, "/bin/false"));
	ck_assert_int_eq(msync(a.addr, a.page, MS_ASYNC), -1);
	lat_area_free(&a);
	lat_phases_free(ph);
	lat_meter_close(&m);
}
END_TEST

/* Whether the kernel moves pages about until there is a huge one. */
static bool makes_room(void)
{
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/defrag", "r");
	char line[128] = "[never]";
	char *got = f ? fgets(line, sizeof(line), f) : NULL;

	if (f)
		fclose(f);
	return got && !strstr(line, "[never]");
}

START_TEST(transparent_huge_pages_are_what_was_measured)
{
	struct lat_phases *ph = lat_phases_new();
	struct lat_area a;
	int ret;

	meter();
	ck_assert_int_eq(lat_area_init(&a, LAT_ANON, LAT_THP, 7 * MIB, "/nowhere", &err), 0);
	ck_assert_uint_eq(a.page, 2 * MIB);
	ck_assert_uint_eq(a.size, 8 * MIB);
	ret = lat_phases_run(ph, &m, &a, 2, 1, "/bin/true", &err);
	if (!strcmp(m.env.thp, "never") || !*m.env.thp) {
		ck_assert_int_eq(ret, -ENODATA);
		ck_assert_ptr_nonnull(strstr(err.what, "no transparent huge pages"));
	} else if (ret != -ENODATA || makes_room()) {
		ck_assert_msg(!ret, "%s", err.what);
		ck_assert_int_gt(ph->huge, 0);
		ck_assert_uint_eq(ph->series[LAT_PH_TOUCH].stats.measured.n, 8);
	}
	lat_area_free(&a);
	lat_phases_free(ph);
	lat_meter_close(&m);
}
END_TEST

static void why(enum lat_backing b, enum lat_pages p, int code, int want, const char *text)
{
	bp_error_clear(&err);
	ck_assert_int_eq(lat_area_why(b, p, code, &err), want);
	ck_assert_msg(strstr(err.what, text) || strstr(err.fix, text), "'%s; %s'", err.what,
		      err.fix);
}

START_TEST(what_is_missing_has_a_reason)
{
	why(LAT_ANON, LAT_2M, -ENOMEM, -ENODATA, "hugepages-2048kB/nr_hugepages");
	why(LAT_FILE, LAT_1G, -ENOSPC, -ENODATA, "hugepages-1048576kB/nr_hugepages");
	why(LAT_SHARED, LAT_1G, -EINVAL, -ENODATA, "no huge pages of 1G");
	why(LAT_ANON, LAT_THP, -EINVAL, -ENODATA, "transparent_hugepage/enabled");
	why(LAT_SHARED, LAT_THP, 0, -ENODATA, "shmem_enabled");
	why(LAT_FILE, LAT_THP, 0, -ENODATA, "tmpfs");
	/* Too little memory for ordinary pages is a failure, not a lack of a kind of page. */
	why(LAT_ANON, LAT_4K, -ENOMEM, -ENOMEM, "cannot map anon memory in pages of 4K");
	bp_error_clear(&err);
	ck_assert_int_eq(lat_area_init(&(struct lat_area){ 0 }, LAT_ANON, LAT_4K, 0, "/", &err),
			 -EINVAL);
	bp_error_clear(&err);
	ck_assert_int_eq(
		lat_area_init(&(struct lat_area){ 0 }, LAT_ANON, LAT_4K, UINT64_MAX, "/", &err),
		-EINVAL);
}
END_TEST

START_TEST(the_pattern_touches_a_tenth_or_all)
{
	struct lat_pattern *pt = malloc(sizeof(*pt));
	struct lat_area a;

	meter();
	ck_assert_int_eq(lat_area_init(&a, LAT_FILE, LAT_4K, 4 * MIB, "/tmp", &err), 0);
	ck_assert_int_eq(lat_pattern_run(pt, &m, a.fd, a.size, false, 20, 3, &err), 0);
	/* 419430 bytes in steps of 16384; 4194304 in steps of 163840. */
	ck_assert_uint_eq(pt->touches, 26);
	ck_assert_uint_eq(pt->whole.stats.measured.n, 20);
	ck_assert_uint_ge(pt->whole.faults, 20);
	ck_assert_uint_le(pt->whole.faults, 20 * 26);
	ck_assert_double_ge(pt->whole.stats.measured.mean, pt->map.stats.measured.mean);
	ck_assert_double_eq_tol(pt->whole.stats.measured.mean,
				pt->map.stats.measured.mean + pt->touch.stats.measured.mean +
					pt->unmap.stats.measured.mean,
				1e-6 * pt->whole.stats.measured.mean);
	ck_assert_int_eq(lat_pattern_run(pt, &m, a.fd, a.size, true, 2, 0, &err), 0);
	ck_assert_uint_eq(pt->touches, 26);
	ck_assert_int_eq(lat_pattern_run(pt, &m, a.fd, 163839, true, 2, 0, &err), -EINVAL);
	lat_area_free(&a);
	free(pt);
	lat_meter_close(&m);
}
END_TEST

START_TEST(the_same_seed_is_the_same_sequence)
{
	struct lat_workload *w = calloc(1, sizeof(*w));
	uint64_t first, ops = 0;

	meter();
	ck_assert_msg(!lat_workload_run(w, &m, 2009, 20000, 100, &err), "%s", err.what);
	ck_assert_uint_eq(w->wrong, 0);
	first = w->digest;
	/* What it is on every kernel. */
	ck_assert_uint_eq(first, 0xc750ae30d9e7c7f8ull);
	for (int i = 0; i < LAT_WORKS; i++) {
		/* The first of each kind is apart. */
		ck_assert_uint_gt(w->series[i].stats.measured.n, 100);
		ops += i == LAT_WK_TOUCH ? 0 : w->series[i].stats.seen;
	}
	ck_assert_uint_eq(ops, 20000);
	/* About 54 faults in a thousand operations, and none without a touch. */
	ck_assert_uint_ge(w->all.faults, 900);
#ifndef __SANITIZE_ADDRESS__ /* whose own memory faults with each mapping */
	ck_assert_uint_le(w->all.faults, w->series[LAT_WK_TOUCH].stats.seen + 20);
#endif
	ck_assert_int_eq(lat_workload_run(w, &m, 2009, 20000, 100, &err), 0);
	ck_assert_uint_eq(w->digest, first);
	ck_assert_int_eq(lat_workload_run(w, &m, 2010, 20000, 100, &err), 0);
	ck_assert_uint_ne(w->digest, first);
	free(w);
	lat_meter_close(&m);
}
END_TEST

START_TEST(a_cpu_that_is_not_there)
{
	ck_assert_int_lt(lat_meter_open(&m, 99999, &no_perf, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.what, "99999"));
	bp_error_clear(&err);
	ck_assert_int_eq(lat_meter_open(&m, -1, &no_perf, &err), 0);
	ck_assert_uint_eq(m.env.nr_allowed, 1);
	lat_meter_close(&m);
}
END_TEST

SUITE("lat_mmap", anonymous_pages_fault_once_each, shared_pages_stay_when_they_are_dropped,
      files_and_what_a_failure_leaves, transparent_huge_pages_are_what_was_measured,
      what_is_missing_has_a_reason, the_pattern_touches_a_tenth_or_all,
      the_same_seed_is_the_same_sequence, a_cpu_that_is_not_there)
