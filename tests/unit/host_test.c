// SPDX-License-Identifier: GPL-2.0-only
/* What the host says of itself: its memory, its huge pages, KVM's statistics. */
#include <errno.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"
#include "vmm/hostmem.h"
#include "vmm/kvmstats.h"

static char root[64];
static struct bp_error err;

static void file(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

#define HUGE_DIR "sys/kernel/mm/hugepages/hugepages-2048kB/"

static void start(void)
{
	strcpy(root, "/tmp/bp-host-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	file("proc/meminfo", "MemTotal:        8000000 kB\nMemFree:          100 kB\n"
			     "MemAvailable:    1048576 kB\nSwapFree:         1024 kB\n");
	file(HUGE_DIR "nr_hugepages", "100\n");
	file(HUGE_DIR "free_hugepages", "60\n");
	file(HUGE_DIR "resv_hugepages", "10\n");
	bp_error_clear(&err);
}

static void end(void)
{
	static const char *const paths[] = {
		HUGE_DIR "nr_hugepages",
		HUGE_DIR "free_hugepages",
		HUGE_DIR "resv_hugepages",
		HUGE_DIR,
		"sys/kernel/mm/hugepages",
		"sys/kernel/mm",
		"sys/kernel",
		"sys",
		"proc/meminfo",
		"proc",
		"",
	};
	char full[256];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(full, sizeof(full), "%s/%s", root, paths[i]);
		ck_assert_int_eq(remove(full), 0);
	}
}

START_TEST(memory_and_swap)
{
	start();
	ck_assert_int_eq(vmm_hostmem_check(root, 1025ull << 20, 0, &err), 0);
	ck_assert_int_eq(vmm_hostmem_check(root, (1025ull << 20) + 4096, 0, &err), -ENOMEM);
	ck_assert_ptr_nonnull(strstr(err.what, "available"));
	ck_assert_ptr_nonnull(strstr(err.fix, "--mem"));
	end();
}
END_TEST

START_TEST(huge_pages_not_promised_to_others)
{
	start();
	ck_assert_int_eq(vmm_hostmem_check(root, 100ull << 20, 2 << 20, &err), 0);
	ck_assert_int_eq(vmm_hostmem_check(root, 128ull << 20, 2 << 20, &err), -ENOMEM);
	ck_assert_ptr_nonnull(strstr(err.what, "takes 64 huge pages of 2 MiB, and 50 are free"));
	/* 100 there are, 14 are missing. */
	ck_assert_ptr_nonnull(strstr(err.fix, "echo 114 > "));
	ck_assert_ptr_nonnull(strstr(err.fix, HUGE_DIR "nr_hugepages"));
	end();
}
END_TEST

START_TEST(no_such_page_size)
{
	start();
	ck_assert_int_eq(vmm_hostmem_check(root, 1ull << 30, 1 << 30, &err), -ENOMEM);
	ck_assert_ptr_nonnull(strstr(err.what, "no huge pages of 1024 MiB"));
	end();
}
END_TEST

START_TEST(own_memory)
{
	/* More than nothing, and less than a test program can have. */
	ck_assert_uint_gt(vmm_hostmem_own(), 100);
	ck_assert_uint_lt(vmm_hostmem_own(), 4 << 20);
}
END_TEST

/* A file as KVM gives it, of @n statistics named s0, s1, ... with the given sizes. */
static size_t stats_file(uint8_t *out, unsigned int n, const uint16_t *sizes, const uint32_t *flags,
			 uint64_t first)
{
	struct kvm_stats_header head = {
		.name_size = 48,
		.num_desc = n,
		.id_offset = sizeof(head),
		.desc_offset = sizeof(head) + 48,
	};
	size_t step = sizeof(struct kvm_stats_desc) + 48;
	uint32_t offset = 0;

	head.data_offset = (uint32_t)(head.desc_offset + n * step);
	memcpy(out, &head, sizeof(head));
	for (unsigned int i = 0; i < n; i++) {
		struct kvm_stats_desc d = { .flags = flags[i], .size = sizes[i], .offset = offset };
		uint8_t *p = out + head.desc_offset + i * step;

		memcpy(p, &d, sizeof(d));
		memset(p + sizeof(d), 0, 48);
		sprintf((char *)p + sizeof(d), "s%u", i);
		for (unsigned int k = 0; k < sizes[i]; k++) {
			uint64_t v = first + i;

			memcpy(out + head.data_offset + offset, &v, sizeof(v));
			offset += sizeof(v);
		}
	}
	return head.data_offset + offset;
}

static const uint16_t sizes[] = { 1, 16, 1 };
static const uint32_t flags[] = { KVM_STATS_TYPE_CUMULATIVE, KVM_STATS_TYPE_LINEAR_HIST,
				  KVM_STATS_TYPE_PEAK };

START_TEST(statistics_add_up)
{
	struct vmm_kvmstat s[8];
	uint8_t data[1024];
	size_t nr = 0, len = stats_file(data, 3, sizes, flags, 100);

	ck_assert_int_eq(vmm_kvmstats_parse(data, len, s, &nr, 8), 0);
	len = stats_file(data, 3, sizes, flags, 7);
	ck_assert_int_eq(vmm_kvmstats_parse(data, len, s, &nr, 8), 0);
	/* The histogram is left out, the counter is a sum, the peak the larger one. */
	ck_assert_uint_eq(nr, 2);
	ck_assert_str_eq(s[0].name, "s0");
	ck_assert_uint_eq(s[0].value, 107);
	ck_assert_str_eq(s[1].name, "s2");
	ck_assert_uint_eq(s[1].value, 102);
	nr = 0;
	ck_assert_int_eq(vmm_kvmstats_parse(data, len, s, &nr, 1), 0);
	ck_assert_uint_eq(nr, 1);
}
END_TEST

START_TEST(statistics_cut_short)
{
	struct vmm_kvmstat s[8];
	uint8_t data[1024];
	size_t len = stats_file(data, 3, sizes, flags, 1);

	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *exact = malloc(cut ? cut : 1);
		size_t nr = 0;

		memcpy(exact, data, cut);
		ck_assert_int_eq(vmm_kvmstats_parse(exact, cut, s, &nr, 8), -EPROTO);
		free(exact);
	}
}
END_TEST

SUITE("host", memory_and_swap, huge_pages_not_promised_to_others, no_such_page_size, own_memory,
      statistics_add_up, statistics_cut_short)
