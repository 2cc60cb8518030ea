// SPDX-License-Identifier: GPL-2.0-only
/* Address spaces of both kinds, against the kernel of fake_vfio.h. */
#include "suite.h"
#include "fake_vfio.h"

static struct bp_error err;
static struct vf_iommu *iommu;
static struct vf_device *dev;

static void start(enum vf_backend backend)
{
	fake_setup();
	fake_cdev("0000:01:00.1", 0);
	fake_cdev("0000:01:00.2", 1);
	bp_error_clear(&err);
	ck_assert_msg(!vf_iommu_new(&fake_host, backend, &iommu, &err), "%s", err.what);
}

static void start_open(enum vf_backend backend)
{
	start(backend);
	ck_assert_msg(!vf_device_open(iommu, "01:00.1", &dev, &err), "%s", err.what);
}

static void end(void)
{
	vf_device_close(dev);
	vf_iommu_free(iommu);
	dev = NULL;
	fake_teardown();
}

static const enum vf_backend kinds[] = { VF_BACKEND_TYPE1, VF_BACKEND_IOMMUFD };

static void expect_ranges(const char *want)
{
	struct vf_iova_range r[32];
	char got[1024] = "";
	int i, n = vf_iommu_ranges(iommu, r, 32);

	ck_assert_int_ge(n, 0);
	ck_assert_int_le(n, 32);
	for (i = 0; i < n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%lx-%lx", i ? " " : "",
			 r[i].start, r[i].last);
	ck_assert_str_eq(got, want);
}

START_TEST(the_backend_is_chosen)
{
	fake_setup();
	ck_assert_int_eq(vf_iommu_new(&fake_host, VF_BACKEND_AUTO, &iommu, &err), 0);
	ck_assert_str_eq(vf_iommu_backend(iommu), "type1");
	vf_iommu_free(iommu);
	ck_assert_int_eq(vf_iommu_new(&fake_host, VF_BACKEND_IOMMUFD, &iommu, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.what, "/dev/iommu"));
	ck_assert_ptr_nonnull(strstr(err.fix, "CONFIG_IOMMUFD"));
	bp_error_clear(&err);

	fake_cdev("0000:01:00.1", 0);
	ck_assert_int_eq(vf_iommu_new(&fake_host, VF_BACKEND_AUTO, &iommu, &err), 0);
	ck_assert_str_eq(vf_iommu_backend(iommu), "iommufd");
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	ck_assert_str_eq(vf_iommu_backend(iommu), "iommufd");
	end();
}
END_TEST

START_TEST(a_function_without_node_turns_the_choice)
{
	fake_setup();
	fake_cdev("0000:01:00.1", 0);
	ck_assert_int_eq(vf_iommu_new(&fake_host, VF_BACKEND_AUTO, &iommu, &err), 0);
	ck_assert_int_eq(vf_device_open(iommu, "01:00.2", &dev, &err), 0);
	ck_assert_str_eq(vf_iommu_backend(iommu), "type1");
	ck_assert_int_eq(fake_count(FAKE_IOMMUFD, -1, -1), 0);
	end();
}
END_TEST

START_TEST(a_turn_that_fails_can_be_tried_again)
{
	fake_setup();
	fake_cdev("0000:01:00.1", 0);
	ck_assert_int_eq(vf_iommu_new(&fake_host, VF_BACKEND_AUTO, &iommu, &err), 0);
	fake.no_type1v2 = true;
	ck_assert_int_eq(vf_device_open(iommu, "01:00.2", &dev, &err), -ENOTSUP);
	ck_assert_int_eq(vf_device_open(iommu, "01:00.2", &dev, &err), -ENOTSUP);
	/* What the space was before, it still is. */
	ck_assert_str_eq(vf_iommu_backend(iommu), "iommufd");
	bp_error_clear(&err);
	fake.no_type1v2 = false;
	ck_assert_int_eq(vf_device_open(iommu, "01:00.2", &dev, &err), 0);
	ck_assert_str_eq(vf_iommu_backend(iommu), "type1");
	ck_assert_int_eq(fake_count(FAKE_IOMMUFD, -1, -1), 0);
	end();
}
END_TEST

START_TEST(once_chosen_it_stays)
{
	start_open(VF_BACKEND_AUTO);
	fake_remove("dev/vfio/devices/vfio1");
	{
		struct vf_device *second = NULL;

		ck_assert_int_eq(vf_device_open(iommu, "01:00.2", &second, &err), -ENOENT);
		ck_assert_ptr_nonnull(strstr(err.what, "/dev/vfio/devices/vfio1"));
	}
	ck_assert_str_eq(vf_iommu_backend(iommu), "iommufd");
	end();
}
END_TEST

START_TEST(without_vfio)
{
	fake_setup();
	fake_remove("dev/vfio/vfio");
	ck_assert_int_eq(vf_iommu_new(&fake_host, VF_BACKEND_AUTO, &iommu, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.fix, "modprobe vfio-pci"));
	bp_error_clear(&err);
	fake_file("dev/vfio/vfio", "");
	fake.api_version = 3;
	ck_assert_int_eq(vf_iommu_new(&fake_host, VF_BACKEND_AUTO, &iommu, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.what, "version 3"));
	bp_error_clear(&err);
	fake.api_version = 0;
	fake.no_type1v2 = true;
	ck_assert_int_eq(vf_iommu_new(&fake_host, VF_BACKEND_AUTO, &iommu, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.fix, "vfio_iommu_type1"));
	bp_error_clear(&err);
	fake.fail_at = fake.calls + 1;
	fake.fail_errno = EACCES;
	ck_assert_int_eq(vf_iommu_new(&fake_host, VF_BACKEND_AUTO, &iommu, &err), -EACCES);
	ck_assert_ptr_nonnull(strstr(err.what, "dev/vfio/vfio may not be opened"));
	fake_teardown();
}
END_TEST

START_TEST(ranges_come_with_a_device)
{
	start(kinds[_i]);
	ck_assert_int_eq(vf_iommu_ranges(iommu, NULL, 0), -ENODEV);
	ck_assert_int_eq(vf_iommu_map(iommu, 0, (void *)0x1000, 0x1000, VF_MAP_READ, &err),
			 -ENODEV);
	ck_assert_ptr_nonnull(strstr(err.fix, "device first"));
	ck_assert_int_eq(vf_iommu_unmap(iommu, 0, 0x1000), -ENOENT);
	ck_assert(!vf_iommu_coherent(iommu));
	bp_error_clear(&err);
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	expect_ranges("0-fedfffff fef00000-fcffffffff 10000000000-ffffffffffff");
	ck_assert(vf_iommu_coherent(iommu));
	fake.coherent = false;
	ck_assert(!vf_iommu_coherent(iommu));
	end();
}
END_TEST

START_TEST(reserved_regions_are_cut)
{
	start_open(kinds[_i]);
	vf_device_close(dev);
	fake.ranges[0] = (struct vf_iova_range){ 0, 0xffffffffffff };
	fake.nr_ranges = 1;
	fake_range_cap();
	fake_file("sys/kernel/iommu_groups/11/reserved_regions",
		  "0x0000000000000000 0x0000000000ffffff direct-relaxable\n"
		  "0x00000000ab000000 0x00000000ab00ffff direct\n"
		  "0x00000000fee00000 0x00000000feefffff msi\n"
		  "0x000000fd00000000 0x000000ffffffffff reserved\n");
	fake_file("sys/kernel/iommu_groups/12/reserved_regions",
		  "0x00000000cd000000 0x00000000cd0fffff reserved\n");
	ck_assert_int_eq(vf_device_open(iommu, "01:00.1", &dev, &err), 0);
	expect_ranges("0-aaffffff ab010000-fedfffff fef00000-fcffffffff 10000000000-ffffffffffff");
	{
		struct vf_device *second;

		ck_assert_int_eq(vf_device_open(iommu, "01:00.2", &second, &err), 0);
		expect_ranges("0-aaffffff ab010000-ccffffff cd100000-fedfffff "
			      "fef00000-fcffffffff 10000000000-ffffffffffff");
		vf_device_close(second);
	}
	expect_ranges("0-aaffffff ab010000-fedfffff fef00000-fcffffffff 10000000000-ffffffffffff");
	end();
}
END_TEST

START_TEST(reserved_regions_that_make_no_sense)
{
	start_open(kinds[_i]);
	fake_file("sys/kernel/iommu_groups/11/reserved_regions", "0x100 0x0 reserved\n");
	ck_assert_int_lt(vf_iommu_ranges(iommu, NULL, 0), 0);
	fake_remove("sys/kernel/iommu_groups/11/reserved_regions"); /* Linux before 4.11 */
	ck_assert_int_eq(vf_iommu_ranges(iommu, NULL, 0), 3);
	end();
}
END_TEST

START_TEST(many_ranges)
{
	struct vf_iova_range r[2] = { { 7, 7 }, { 7, 7 } };
	uint32_t i;

	start_open(kinds[_i]);
	for (i = 0; i < 24; i++)
		fake.ranges[i] = (struct vf_iova_range){ i << 20, (i << 20) + 0xffff };
	fake.nr_ranges = 24;
	fake_range_cap();
	ck_assert_int_eq(vf_iommu_ranges(iommu, r, 1), 24);
	ck_assert_uint_eq(r[0].start, 0);
	ck_assert_uint_eq(r[0].last, 0xffff);
	ck_assert_uint_eq(r[1].start, 7);
	end();
}
END_TEST

START_TEST(type1_without_the_capability)
{
	start_open(VF_BACKEND_TYPE1);
	fake.iommu_caps_len = 0;
	expect_ranges("0-fedfffff fef00000-fcffffffff 10000000000-ffffffffffffffff");
	end();
}
END_TEST

START_TEST(type1_with_a_bad_chain)
{
	struct vfio_iommu_type1_info_cap_iova_range head = {
		.header = { VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, 1, 0 },
		.nr_iovas = 4, /* one more than there is room for */
	};

	start_open(VF_BACKEND_TYPE1);
	memcpy(fake.iommu_caps, &head, sizeof(head));
	ck_assert_int_eq(vf_iommu_ranges(iommu, NULL, 0), -EPROTO);
	head.nr_iovas = 0x10000000; /* 4 GiB of ranges, which wraps 32 bits */
	memcpy(fake.iommu_caps, &head, sizeof(head));
	ck_assert_int_eq(vf_iommu_ranges(iommu, NULL, 0), -EPROTO);
	fake_range_cap();
	fake.iommu_first_cap = 4096;
	ck_assert_int_eq(vf_iommu_ranges(iommu, NULL, 0), -EPROTO);
	fake_range_cap();
	fake.ranges[1].last = 0;
	fake_range_cap();
	ck_assert_int_eq(vf_iommu_ranges(iommu, NULL, 0), -EPROTO);
	ck_assert_int_eq(vf_iommu_map(iommu, 0, (void *)0x1000, 0x1000, VF_MAP_READ, &err),
			 -EPROTO);
	ck_assert_ptr_nonnull(strstr(err.what, "usable I/O addresses"));
	end();
}
END_TEST

START_TEST(mapping)
{
	void *va = (void *)0x7f0000000000;

	start_open(kinds[_i]);
	ck_assert_int_eq(vf_iommu_map(iommu, 0, va, 0x10000, VF_MAP_READ | VF_MAP_WRITE, &err), 0);
	ck_assert_uint_eq(fake.map_flags, kinds[_i] == VF_BACKEND_TYPE1
						  ? VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE
						  : IOMMU_IOAS_MAP_FIXED_IOVA |
							    IOMMU_IOAS_MAP_READABLE |
							    IOMMU_IOAS_MAP_WRITEABLE);
	ck_assert_int_eq(vf_iommu_map(iommu, 0x10000, va, 0x1000, VF_MAP_READ, &err), 0);
	ck_assert_uint_eq(fake.map_flags,
			  kinds[_i] == VF_BACKEND_TYPE1
				  ? VFIO_DMA_MAP_FLAG_READ
				  : IOMMU_IOAS_MAP_FIXED_IOVA | IOMMU_IOAS_MAP_READABLE);
	ck_assert_uint_eq(fake.nr_maps, 2);
	ck_assert_uint_eq(fake.maps[0].last, 0xffff);
	ck_assert_int_eq(vf_iommu_map(iommu, 0x8000, va, 0x1000, VF_MAP_READ, &err), -EEXIST);
	ck_assert_ptr_nonnull(strstr(err.what, "0x8000-0x8fff"));
	bp_error_clear(&err);

	ck_assert_int_eq(vf_iommu_unmap(iommu, 0, 0x10000), 0);
	ck_assert_int_eq(vf_iommu_unmap(iommu, 0, 0x10000), -ENOENT);
	ck_assert_int_eq(vf_iommu_unmap(iommu, 0, 0), -EINVAL);
	ck_assert_int_eq(vf_iommu_unmap(iommu, UINT64_MAX, 2), -EINVAL);
	ck_assert_uint_eq(fake.nr_maps, 1);
	/* Mappings go with the last device, whatever the backend. */
	vf_device_close(dev);
	ck_assert_uint_eq(fake.nr_maps, 0);
	dev = NULL;
	end();
}
END_TEST

START_TEST(arguments_of_a_mapping)
{
	static const struct {
		uint64_t iova, va, size;
		unsigned int flags;
		const char *says;
	} bad[] = {
		{ 0x1001, 0x1000, 0x1000, VF_MAP_READ, "whole pages" },
		{ 0x1000, 0x1001, 0x1000, VF_MAP_READ, "whole pages" },
		{ 0x1000, 0x1000, 0x1001, VF_MAP_READ, "whole pages" },
		{ 0x1000, 0x1000, 0, VF_MAP_READ, "whole pages" },
		{ 0xfffffffffffff000, 0x1000, 0x2000, VF_MAP_READ, "whole pages" },
		{ 0x1000, 0xfffffffffffff000, 0x2000, VF_MAP_READ, "whole pages" },
		{ 0x1000, 0x1000, 0x1000, 0, "neither" },
		{ 0x1000, 0x1000, 0x1000, 4 | VF_MAP_READ, "neither" },
		{ 0xfee00000, 0x1000, 0x1000, VF_MAP_READ, "reserves" },
		{ 0xfedff000, 0x1000, 0x2000, VF_MAP_READ, "0xfedff000-0xfee00fff" },
		{ 0xfcfffff000, 0x1000, 0x2000, VF_MAP_READ, "reserves" },
		{ 0x1000000000000, 0x1000, 0x1000, VF_MAP_READ, "cannot reach" },
	};
	size_t i;

	start_open(kinds[_i]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		bp_error_clear(&err);
		ck_assert_int_eq(vf_iommu_map(iommu, bad[i].iova, (void *)(uintptr_t)bad[i].va,
					      bad[i].size, bad[i].flags, &err),
				 -EINVAL);
		ck_assert_msg(strstr(err.what, bad[i].says), "%zu: %s", i, err.what);
	}
	ck_assert_uint_eq(fake.nr_maps, 0);
	end();
}
END_TEST

START_TEST(the_kernels_refusals_in_words)
{
	static const struct {
		int e;
		const char *says;
		const char *fix;
	} no[] = {
		{ ENOMEM, "limit on locked memory", "ulimit -l" },
		{ ENOSPC, "table of mappings is full", "dma_entry_limit" },
		{ EFAULT, "cannot be pinned", "" },
		{ EINVAL, "does not take this range", "vfctl show" },
		{ EIO, "Input/output error", "" },
	};
	size_t i;

	start_open(kinds[_i]);
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		bp_error_clear(&err);
		fake.map_errno = no[i].e;
		ck_assert_int_eq(vf_iommu_map(iommu, 0, (void *)0x1000, 0x1000, VF_MAP_READ, &err),
				 -no[i].e);
		ck_assert_msg(strstr(err.what, no[i].says), "%s", err.what);
		ck_assert_msg(strstr(err.fix, no[i].fix), "%s", err.fix);
		ck_assert_int_eq(err.code, -no[i].e);
	}
	end();
}
END_TEST

START_TEST(how_many_mappings_are_left)
{
	struct vfio_iommu_type1_info_dma_avail avail = {
		.header = { VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL, 1,
			    sizeof(struct vfio_iommu_type1_info) },
		.avail = 3,
	};
	size_t at;

	start_open(VF_BACKEND_TYPE1);
	fake_range_cap();
	at = fake.iommu_caps_len;
	memcpy(fake.iommu_caps + at, &avail, sizeof(avail));
	fake.iommu_caps_len += sizeof(avail);
	fake.iommu_first_cap = (uint32_t)(sizeof(struct vfio_iommu_type1_info) + at);
	fake.map_errno = ENOSPC;
	vf_iommu_map(iommu, 0, (void *)0x1000, 0x1000, VF_MAP_READ, &err);
	ck_assert_msg(strstr(err.what, "(3 left)"), "%s", err.what);
	end();
}
END_TEST

#define LIMITS(value)                                                                      \
	"Limit                     Soft Limit           Hard Limit           Units     \n" \
	"Max core file size        0                    unlimited            bytes     \n" \
	"Max locked memory         " value "              8388608              bytes     \n"
#define STATUS(lck, caps) \
	"Name:\tx\nVmPin:\t 9999999 kB\nVmLck:\t" lck " kB\nCapInh:\t0\nCapEff:\t" caps "\n"

START_TEST(memlock)
{
	start(VF_BACKEND_TYPE1);
	/* Nothing to go by: the mapping itself will tell. */
	ck_assert_int_eq(vf_iommu_check_memlock(iommu, 1ull << 40, &err), 0);

	fake_file("proc/self/limits", LIMITS("8388608"));
	fake_file("proc/self/status", STATUS("0", "0000000000000000"));
	ck_assert_int_eq(vf_iommu_check_memlock(iommu, 8388608, &err), 0);
	ck_assert_int_eq(vf_iommu_check_memlock(iommu, 8388609, &err), -ENOMEM);
	ck_assert_msg(strstr(err.what, "8192 KiB (RLIMIT_MEMLOCK)"), "%s", err.what);
	ck_assert_msg(strstr(err.fix, "LimitMEMLOCK"), "%s", err.fix);
	ck_assert_int_eq(vf_iommu_check_memlock(iommu, UINT64_MAX, NULL), -ENOMEM);

	/* What is locked already counts. */
	fake_file("proc/self/status", STATUS("     1024", "0000000000000000"));
	ck_assert_int_eq(vf_iommu_check_memlock(iommu, 8388608 - (1 << 20), NULL), 0);
	ck_assert_int_eq(vf_iommu_check_memlock(iommu, 8388608 - (1 << 20) + 1, NULL), -ENOMEM);
	fake_file("proc/self/status", STATUS("9000", "0000000000000000"));
	ck_assert_int_eq(vf_iommu_check_memlock(iommu, 0, NULL), -ENOMEM);

	/* CAP_IPC_LOCK is bit 14; its neighbours do not count. */
	fake_file("proc/self/status", STATUS("9000", "0000000000004000"));
	ck_assert_int_eq(vf_iommu_check_memlock(iommu, 1ull << 40, NULL), 0);
	fake_file("proc/self/status", STATUS("9000", "000001ffffffbfff"));
	ck_assert_int_eq(vf_iommu_check_memlock(iommu, 1ull << 40, NULL), -ENOMEM);
	fake_file("proc/self/limits", LIMITS("unlimited"));
	ck_assert_int_eq(vf_iommu_check_memlock(iommu, 1ull << 40, NULL), 0);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("I/O address spaces");
	TCase *once = tcase_create("once"), *both = tcase_create("both kinds");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, once);
	suite_add_tcase(suite, both);
	tcase_add_test(once, the_backend_is_chosen);
	tcase_add_test(once, a_function_without_node_turns_the_choice);
	tcase_add_test(once, a_turn_that_fails_can_be_tried_again);
	tcase_add_test(once, once_chosen_it_stays);
	tcase_add_test(once, without_vfio);
	tcase_add_test(once, type1_without_the_capability);
	tcase_add_test(once, type1_with_a_bad_chain);
	tcase_add_test(once, how_many_mappings_are_left);
	tcase_add_test(once, memlock);
	tcase_add_loop_test(both, ranges_come_with_a_device, 0, 2);
	tcase_add_loop_test(both, reserved_regions_are_cut, 0, 2);
	tcase_add_loop_test(both, reserved_regions_that_make_no_sense, 0, 2);
	tcase_add_loop_test(both, many_ranges, 0, 2);
	tcase_add_loop_test(both, mapping, 0, 2);
	tcase_add_loop_test(both, arguments_of_a_mapping, 0, 2);
	tcase_add_loop_test(both, the_kernels_refusals_in_words, 0, 2);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
