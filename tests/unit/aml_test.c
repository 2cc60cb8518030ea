// SPDX-License-Identifier: GPL-2.0-only
/* Encodings byte by byte, from the grammar in ACPI 6.4, chapter 20, and 6.4 for resources. */
#include <errno.h>
#include <string.h>

#include "suite.h"
#include "vmm/acpi/aml.h"
#include "vmm/acpi/resource.h"

static struct vmm_aml a;

static void check(const struct vmm_bytes *b, const uint8_t *want, size_t len)
{
	ck_assert_int_eq(b->error, 0);
	ck_assert_uint_eq(b->len, len);
	ck_assert_mem_eq(b->data, want, len);
}

/* Compare what has been written with these bytes, and start over. */
#define EXPECT(...)                                            \
	do {                                                   \
		static const uint8_t want[] = { __VA_ARGS__ }; \
		check(&a.bytes, want, sizeof(want));           \
		ck_assert_uint_eq(a.depth, 0);                 \
		vmm_bytes_free(&a.bytes);                      \
	} while (0)

#define EXPECT_ERROR(code)                             \
	do {                                           \
		ck_assert_int_eq(a.bytes.error, code); \
		vmm_bytes_free(&a.bytes);              \
		a.depth = 0;                           \
	} while (0)

START_TEST(integers_in_shortest_form)
{
	vmm_aml_integer(&a, 0);
	EXPECT(0x00);
	vmm_aml_integer(&a, 1);
	EXPECT(0x01);
	vmm_aml_integer(&a, UINT64_MAX);
	EXPECT(0xff);
	vmm_aml_integer(&a, 2);
	EXPECT(0x0a, 0x02);
	vmm_aml_integer(&a, 0xff);
	EXPECT(0x0a, 0xff);
	vmm_aml_integer(&a, 0x100);
	EXPECT(0x0b, 0x00, 0x01);
	vmm_aml_integer(&a, 0xffff);
	EXPECT(0x0b, 0xff, 0xff);
	vmm_aml_integer(&a, 0x10000);
	EXPECT(0x0c, 0x00, 0x00, 0x01, 0x00);
	vmm_aml_integer(&a, 0xffffffff);
	EXPECT(0x0c, 0xff, 0xff, 0xff, 0xff);
	vmm_aml_integer(&a, 0x100000000);
	EXPECT(0x0e, 0, 0, 0, 0, 1, 0, 0, 0);
}
END_TEST

START_TEST(names)
{
	vmm_aml_path(&a, "PCI0");
	EXPECT('P', 'C', 'I', '0');
	vmm_aml_path(&a, "S1");
	EXPECT('S', '1', '_', '_');
	vmm_aml_path(&a, "\\_SB.PCI0");
	EXPECT('\\', 0x2e, '_', 'S', 'B', '_', 'P', 'C', 'I', '0');
	vmm_aml_path(&a, "\\_SB.PCI0.S01");
	EXPECT('\\', 0x2f, 3, '_', 'S', 'B', '_', 'P', 'C', 'I', '0', 'S', '0', '1', '_');
	vmm_aml_path(&a, "^^PEND");
	EXPECT('^', '^', 'P', 'E', 'N', 'D');
	vmm_aml_path(&a, "");
	EXPECT(0x00);
	vmm_aml_path(&a, "\\");
	EXPECT('\\', 0x00);
}
END_TEST

START_TEST(bad_names)
{
	static const char *const bad[] = { "TOOLONG", "1ABC", "abcd", "A..B", "A.", ".A", "A B" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		vmm_aml_path(&a, bad[i]);
		EXPECT_ERROR(-EINVAL);
	}
}
END_TEST

START_TEST(eisa_ids)
{
	/* The specification's own: EISAID("PNP0A03") is 0x030AD041. */
	vmm_aml_eisaid(&a, "PNP0A03");
	EXPECT(0x0c, 0x41, 0xd0, 0x0a, 0x03);
	vmm_aml_eisaid(&a, "PNP0C0F");
	EXPECT(0x0c, 0x41, 0xd0, 0x0c, 0x0f);
	vmm_aml_eisaid(&a, "PNP");
	EXPECT_ERROR(-EINVAL);
	vmm_aml_eisaid(&a, "pnp0A03");
	EXPECT_ERROR(-EINVAL);
	vmm_aml_eisaid(&a, "PNP0A0G");
	EXPECT_ERROR(-EINVAL);
}
END_TEST

START_TEST(uuids)
{
	/* ToUUID("aabbccdd-eeff-gghh-iijj-kkllmmnnoopp"): dd cc bb aa ff ee hh gg ii jj kk ... */
	vmm_aml_uuid(&a, "00112233-4455-6677-8899-aabbccddeeff");
	EXPECT(0x11, 0x13, 0x0a, 0x10, 0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99,
	       0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff);
	vmm_aml_uuid(&a, "00112233-4455-6677-8899");
	EXPECT_ERROR(-EINVAL);
	vmm_aml_uuid(&a, "0011223x-4455-6677-8899-aabbccddeeff");
	EXPECT_ERROR(-EINVAL);
}
END_TEST

START_TEST(strings_and_buffers)
{
	vmm_aml_string(&a, "VM");
	EXPECT(0x0d, 'V', 'M', 0);
	vmm_aml_string(&a, "\xc3\xa4");
	EXPECT_ERROR(-EINVAL);
	vmm_aml_buffer(&a, "\x01\x02\x03", 3);
	EXPECT(0x11, 0x06, 0x0a, 0x03, 0x01, 0x02, 0x03);
	vmm_aml_buffer(&a, NULL, 0);
	EXPECT(0x11, 0x02, 0x00);
}
END_TEST

START_TEST(named_objects)
{
	vmm_aml_name(&a, "_UID");
	vmm_aml_integer(&a, 1);
	EXPECT(0x08, '_', 'U', 'I', 'D', 0x01);
	vmm_aml_scope(&a, "\\_SB");
	vmm_aml_end(&a);
	EXPECT(0x10, 0x06, '\\', '_', 'S', 'B', '_');
	vmm_aml_device(&a, "COM1");
	vmm_aml_end(&a);
	EXPECT(0x5b, 0x82, 0x05, 'C', 'O', 'M', '1');
	vmm_aml_method(&a, "_EJ0", 1, false);
	vmm_aml_end(&a);
	EXPECT(0x14, 0x06, '_', 'E', 'J', '0', 0x01);
	vmm_aml_method(&a, "_OSC", 4, true);
	vmm_aml_op(&a, VMM_AML_RETURN);
	vmm_aml_op(&a, VMM_AML_ARG3);
	vmm_aml_end(&a);
	EXPECT(0x14, 0x08, '_', 'O', 'S', 'C', 0x0c, 0xa4, 0x6b);
}
END_TEST

START_TEST(packages)
{
	vmm_aml_package(&a, 2);
	vmm_aml_integer(&a, 5);
	vmm_aml_package(&a, 0);
	vmm_aml_end(&a);
	vmm_aml_end(&a);
	EXPECT(0x12, 0x07, 0x02, 0x0a, 0x05, 0x12, 0x02, 0x00);
}
END_TEST

START_TEST(conditions)
{
	vmm_aml_if(&a);
	vmm_aml_op(&a, VMM_AML_LEQUAL);
	vmm_aml_op(&a, VMM_AML_ARG0);
	vmm_aml_integer(&a, 0);
	vmm_aml_op(&a, VMM_AML_RETURN);
	vmm_aml_integer(&a, 1);
	vmm_aml_end(&a);
	vmm_aml_else(&a);
	vmm_aml_op(&a, VMM_AML_RETURN);
	vmm_aml_integer(&a, 0);
	vmm_aml_end(&a);
	EXPECT(0xa0, 0x06, 0x93, 0x68, 0x00, 0xa4, 0x01, 0xa1, 0x03, 0xa4, 0x00);
}
END_TEST

START_TEST(regions_and_fields)
{
	vmm_aml_region(&a, "EJCT", VMM_AML_SYSTEM_IO, 0x610, 4);
	EXPECT(0x5b, 0x80, 'E', 'J', 'C', 'T', 0x01, 0x0b, 0x10, 0x06, 0x0a, 0x04);
	vmm_aml_field(&a, "EJCT", VMM_AML_DWORD_ACC);
	vmm_aml_field_unit(&a, "PEND", 32);
	vmm_aml_end(&a);
	EXPECT(0x5b, 0x81, 0x0b, 'E', 'J', 'C', 'T', 0x43, 'P', 'E', 'N', 'D', 0x20);
	/* Widths from 64 bits up take a longer length. */
	vmm_aml_field(&a, "EJCT", VMM_AML_BYTE_ACC);
	vmm_aml_field_unit(&a, "BIG", 64);
	vmm_aml_end(&a);
	EXPECT(0x5b, 0x81, 0x0c, 'E', 'J', 'C', 'T', 0x41, 'B', 'I', 'G', '_', 0x40, 0x04);
}
END_TEST

/* A scope with @content bytes in it: check its length's bytes. */
static void length_of(size_t content, const uint8_t *want, size_t len)
{
	vmm_aml_package(&a, 0); /* one byte of its own */
	vmm_bytes_zero(&a.bytes, content - 1);
	vmm_aml_end(&a);
	ck_assert_int_eq(a.bytes.error, 0);
	ck_assert_uint_eq(a.bytes.len, 1 + len + content);
	ck_assert_mem_eq(a.bytes.data + 1, want, len);
	vmm_bytes_free(&a.bytes);
}

START_TEST(lengths_at_their_limits)
{
	/* 20.2.4: the length counts its own bytes; 63 is the last that fits into one. */
	length_of(62, (const uint8_t[]){ 63 }, 1);
	length_of(63, (const uint8_t[]){ 0x41, 0x04 }, 2);
	length_of(4093, (const uint8_t[]){ 0x4f, 0xff }, 2);
	length_of(4094, (const uint8_t[]){ 0x81, 0x00, 0x01 }, 3);
	length_of(0xfffff - 3, (const uint8_t[]){ 0x8f, 0xff, 0xff }, 3);
	length_of(0xfffff - 2, (const uint8_t[]){ 0xc1, 0x00, 0x00, 0x01 }, 4);
}
END_TEST

START_TEST(mistakes_stick)
{
	int i;

	vmm_aml_end(&a);
	EXPECT_ERROR(-EINVAL);
	for (i = 0; i <= VMM_AML_DEPTH; i++)
		vmm_aml_if(&a);
	EXPECT_ERROR(-EINVAL);
	vmm_aml_method(&a, "M", 8, false);
	vmm_aml_end(&a);
	EXPECT_ERROR(-EINVAL);
	vmm_aml_package(&a, 256);
	vmm_aml_end(&a);
	EXPECT_ERROR(-EINVAL);
	vmm_aml_path(&a, "wrong");
	vmm_aml_integer(&a, 5); /* later calls do no harm and do not hide it */
	EXPECT_ERROR(-EINVAL);
}
END_TEST

#define RESOURCE(call, ...)                                    \
	do {                                                   \
		static const uint8_t want[] = { __VA_ARGS__ }; \
		struct vmm_bytes b = { 0 };                    \
		call;                                          \
		check(&b, want, sizeof(want));                 \
		vmm_bytes_free(&b);                            \
	} while (0)

START_TEST(small_resources)
{
	RESOURCE(vmm_res_io(&b, 0x3f8, 8), 0x47, 0x01, 0xf8, 0x03, 0xf8, 0x03, 0x01, 0x08);
	RESOURCE(vmm_res_irq(&b, 4), 0x22, 0x10, 0x00);
	RESOURCE(vmm_res_irq(&b, 8), 0x22, 0x00, 0x01);
	RESOURCE(vmm_res_end(&b), 0x79, 0x00);
}
END_TEST

START_TEST(large_resources)
{
	/* level, active high, shared, consumer */
	RESOURCE(vmm_res_interrupt(&b, 10), 0x89, 0x06, 0x00, 0x09, 0x01, 0x0a, 0, 0, 0);
	RESOURCE(vmm_res_memory(&b, 0xe0000000, 0x10000000), 0x86, 0x09, 0x00, 0x01, 0, 0, 0, 0xe0,
		 0, 0, 0, 0x10);
	RESOURCE(vmm_res_bus_window(&b, 0, 255), 0x88, 0x0d, 0x00, 0x02, 0x0c, 0x00, 0, 0, 0, 0,
		 0xff, 0, 0, 0, 0, 0x01);
	RESOURCE(vmm_res_io_window(&b, 0xd00, 0xffff), 0x88, 0x0d, 0x00, 0x01, 0x0c, 0x03, 0, 0,
		 0x00, 0x0d, 0xff, 0xff, 0, 0, 0x00, 0xf3);
	RESOURCE(vmm_res_memory_window(&b, 0xc0000000, 0xdfffffff), 0x87, 0x17, 0x00, 0x00, 0x0c,
		 0x01, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0xff, 0xff, 0xdf, 0, 0, 0, 0, 0, 0, 0,
		 0x20);
	RESOURCE(vmm_res_prefetch_window(&b, 0x200000000, 0x2ffffffff), 0x8a, 0x2b, 0x00, 0x00,
		 0x0c, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
		 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0);
}
END_TEST

START_TEST(bad_resources)
{
	struct vmm_bytes b = { 0 };

	vmm_res_irq(&b, 16);
	ck_assert_int_eq(b.error, -EINVAL);
	vmm_bytes_free(&b);
	vmm_res_io_window(&b, 2, 1);
	ck_assert_int_eq(b.error, -EINVAL);
	vmm_bytes_free(&b);
}
END_TEST

START_TEST(bytes)
{
	struct vmm_bytes b = { 0 };
	unsigned int sum = 0;
	size_t i;

	vmm_bytes_le(&b, 0x1122334455667788, 8);
	vmm_bytes_le(&b, 0xaabb, 2);
	vmm_bytes_align(&b, 16);
	ck_assert_uint_eq(b.len, 16);
	vmm_bytes_align(&b, 16);
	ck_assert_uint_eq(b.len, 16);
	vmm_bytes_set_le(&b, 14, 0x0102, 2);
	vmm_bytes_checksum(&b, 3, 0, 16);
	for (i = 0; i < 16; i++)
		sum += b.data[i];
	ck_assert_uint_eq(sum & 0xff, 0);
	ck_assert_uint_eq(b.data[0], 0x88);
	ck_assert_uint_eq(b.data[2], 0x66);
	ck_assert_uint_eq(b.data[4], 0x44);
	ck_assert_uint_eq(b.data[8], 0xbb);
	ck_assert_uint_eq(b.data[14], 0x02);
	vmm_bytes_set_le(&b, 15, 0, 2);
	ck_assert_int_eq(b.error, -EINVAL);
	vmm_bytes_free(&b);
	vmm_bytes_checksum(&b, 0, 0, 1);
	ck_assert_int_eq(b.error, -EINVAL);
}
END_TEST

SUITE("aml", integers_in_shortest_form, names, bad_names, eisa_ids, uuids, strings_and_buffers,
      named_objects, packages, conditions, regions_and_fields, lengths_at_their_limits,
      mistakes_stick, small_resources, large_resources, bad_resources, bytes)
