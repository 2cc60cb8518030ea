// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "suite.h"
#include "vmm/bus.h"

/* What handlers were asked, in order. */
static struct seen {
	const char *who;
	uint64_t offset;
	unsigned int len;
	bool write;
} seen[16];
static unsigned int nr_seen;
static struct vmm_bus *bus;

static void note(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	seen[nr_seen++] = (struct seen){ priv, offset, len, write };
	if (!write)
		for (unsigned int i = 0; i < len; i++)
			((uint8_t *)data)[i] = (uint8_t)(offset + i);
}

static void setup(void)
{
	bus = vmm_bus_new();
	nr_seen = 0;
}

static void teardown(void)
{
	vmm_bus_free(bus);
}

START_TEST(answers_by_address)
{
	uint32_t v = 0;

	ck_assert_int_eq(vmm_bus_add(bus, 0x3f8, 8, note, "com1", "com1"), 0);
	ck_assert_int_eq(vmm_bus_add(bus, 0x70, 2, note, "rtc", "rtc"), 0);
	ck_assert_str_eq(vmm_bus_access(bus, 0x3fa, &v, 1, false), "com1");
	ck_assert_uint_eq(v, 2);
	ck_assert_str_eq(vmm_bus_access(bus, 0x71, &v, 1, true), "rtc");
	ck_assert_uint_eq(nr_seen, 2);
	ck_assert_str_eq(seen[1].who, "rtc");
	ck_assert_uint_eq(seen[1].offset, 1);
	ck_assert(seen[1].write);
}
END_TEST

START_TEST(nobody_reads_as_ones)
{
	uint32_t v = 0;

	vmm_bus_add(bus, 0x100, 4, note, "a", "a");
	ck_assert_ptr_null(vmm_bus_access(bus, 0x104, &v, 4, false));
	ck_assert_uint_eq(v, 0xffffffff);
	v = 0x12345678;
	ck_assert_ptr_null(vmm_bus_access(bus, 0x200, &v, 4, true));
	ck_assert_uint_eq(v, 0x12345678);
	ck_assert_uint_eq(nr_seen, 0);
}
END_TEST

START_TEST(refuses_overlap)
{
	ck_assert_int_eq(vmm_bus_add(bus, 0x100, 0x100, note, "a", "a"), 0);
	ck_assert_int_eq(vmm_bus_add(bus, 0x1ff, 1, note, "b", "b"), -EEXIST);
	ck_assert_int_eq(vmm_bus_add(bus, 0x80, 0x81, note, "b", "b"), -EEXIST);
	ck_assert_int_eq(vmm_bus_add(bus, 0x80, 0x400, note, "b", "b"), -EEXIST);
	ck_assert_int_eq(vmm_bus_add(bus, 0x80, 0x80, note, "b", "b"), 0);
	ck_assert_int_eq(vmm_bus_add(bus, 0x200, 1, note, "c", "c"), 0);
	ck_assert_int_eq(vmm_bus_add(bus, 0x300, 0, note, "c", "c"), -EINVAL);
	ck_assert_int_eq(vmm_bus_add(bus, UINT64_MAX, 2, note, "c", "c"), -EINVAL);
	ck_assert_int_eq(vmm_bus_add(bus, UINT64_MAX, 1, note, "c", "c"), 0);
}
END_TEST

START_TEST(splits_at_the_end)
{
	uint8_t v[8];

	memset(v, 0, sizeof(v));
	vmm_bus_add(bus, 0x1000, 3, note, "a", "a");
	vmm_bus_add(bus, 0x1004, 0x10, note, "b", "b");
	/* Bytes: 0x1000-0x1002 of a, 0x1003 of nobody, 0x1004-0x1007 of b. */
	ck_assert_str_eq(vmm_bus_access(bus, 0x1000, v, 8, false), "a");
	ck_assert_uint_eq(nr_seen, 3);
	ck_assert_uint_eq(seen[0].len, 2);
	ck_assert_uint_eq(seen[1].offset, 2);
	ck_assert_uint_eq(seen[1].len, 1);
	ck_assert_str_eq(seen[2].who, "b");
	ck_assert_uint_eq(seen[2].len, 4);
	ck_assert_uint_eq(v[2], 2);
	ck_assert_uint_eq(v[3], 0xff);
	ck_assert_uint_eq(v[5], 1);
}
END_TEST

START_TEST(gap_before_a_range)
{
	uint8_t v[4] = { 0 };

	vmm_bus_add(bus, 0x1002, 2, note, "a", "a");
	ck_assert_str_eq(vmm_bus_access(bus, 0x1000, v, 4, false), "a");
	ck_assert_uint_eq(v[1], 0xff);
	ck_assert_uint_eq(v[3], 1);
	ck_assert_uint_eq(seen[0].offset, 0);
}
END_TEST

START_TEST(last_address)
{
	uint8_t v = 0;

	vmm_bus_add(bus, UINT64_MAX - 3, 4, note, "top", "top");
	ck_assert_str_eq(vmm_bus_access(bus, UINT64_MAX, &v, 1, false), "top");
	ck_assert_uint_eq(seen[0].offset, 3);
}
END_TEST

static void leaves(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	(void)offset;
	(void)data;
	(void)len;
	(void)write;
	/* As a device whose BAR the guest moves by this very access. */
	vmm_bus_remove(priv, 0x100);
	ck_assert_int_eq(vmm_bus_add(priv, 0x4000, 8, note, "moved", "moved"), 0);
}

START_TEST(handler_changes_the_bus)
{
	uint32_t v = 0;

	vmm_bus_add(bus, 0x100, 8, leaves, bus, "cfg");
	ck_assert_str_eq(vmm_bus_access(bus, 0x100, &v, 4, true), "cfg");
	ck_assert_ptr_null(vmm_bus_access(bus, 0x100, &v, 4, true));
	ck_assert_str_eq(vmm_bus_access(bus, 0x4000, &v, 4, true), "moved");
}
END_TEST

START_TEST(many_ranges)
{
	uint8_t v;

	/* In an order that is neither rising nor falling; 7 and 1000 have no common factor. */
	for (unsigned int i = 0; i < 1000; i++)
		ck_assert_int_eq(vmm_bus_add(bus, (i * 7 % 1000) * 16, 8, note, "x", "x"), 0);
	for (unsigned int i = 0; i < 1000; i += 2)
		vmm_bus_remove(bus, i * 16);
	for (unsigned int i = 0; i < 1000; i++) {
		nr_seen = 0;
		ck_assert_int_eq(!vmm_bus_access(bus, i * 16 + 7, &v, 1, false), i % 2 == 0);
		ck_assert_ptr_null(vmm_bus_access(bus, i * 16 + 8, &v, 1, false));
	}
}
END_TEST

START_TEST(all_or_none)
{
	static const struct vmm_bus_range ranges[] = {
		{ 0x100, 4, note, "a" },
		{ 0x200, 1, note, "b" },
		{ 0x3fa, 1, note, "c" },
	};
	uint32_t v;

	ck_assert_int_eq(vmm_bus_add_all(bus, ranges, 3, "x"), 0);
	ck_assert_str_eq(vmm_bus_access(bus, 0x200, &v, 1, false), "b");
	ck_assert_str_eq(seen[0].who, "x");
	vmm_bus_remove_all(bus, ranges, 3);
	ck_assert_ptr_null(vmm_bus_access(bus, 0x3fa, &v, 1, false));

	vmm_bus_add(bus, 0x3f8, 8, note, "com1", "com1");
	ck_assert_int_eq(vmm_bus_add_all(bus, ranges, 3, "x"), -EEXIST);
	ck_assert_ptr_null(vmm_bus_access(bus, 0x100, &v, 4, false));
	ck_assert_ptr_null(vmm_bus_access(bus, 0x200, &v, 1, false));
	ck_assert_str_eq(vmm_bus_access(bus, 0x3fa, &v, 1, false), "com1");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bus");
	TCase *t = tcase_create("bus");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, answers_by_address);
	tcase_add_test(t, nobody_reads_as_ones);
	tcase_add_test(t, refuses_overlap);
	tcase_add_test(t, splits_at_the_end);
	tcase_add_test(t, gap_before_a_range);
	tcase_add_test(t, last_address);
	tcase_add_test(t, handler_changes_the_bus);
	tcase_add_test(t, many_ranges);
	tcase_add_test(t, all_or_none);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
