// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "vmm/acpi/aml.h"

#define OP_ZERO		  0x00
#define OP_ONE		  0x01
#define OP_BYTE		  0x0a
#define OP_WORD		  0x0b
#define OP_DWORD	  0x0c
#define OP_STRING	  0x0d
#define OP_QWORD	  0x0e
#define OP_SCOPE	  0x10
#define OP_BUFFER	  0x11
#define OP_PACKAGE	  0x12
#define OP_METHOD	  0x14
#define OP_DUAL_NAME	  0x2e
#define OP_MULTI_NAME	  0x2f
#define OP_EXT		  0x5b
#define OP_IF		  0xa0
#define OP_ELSE		  0xa1
#define OP_ONES		  0xff

#define EXT_REGION	  0x80
#define EXT_FIELD	  0x81
#define EXT_DEVICE	  0x82

#define METHOD_SERIALIZED 0x08
#define FIELD_WRITE_ZEROS (2 << 5)

#define SEGMENT		  4
#define SEGMENTS_MAX	  255
#define PKG_LENGTH_MAX	  0x0fffffffu

static void put(struct vmm_aml *a, uint8_t byte)
{
	vmm_bytes_put(&a->bytes, &byte, 1);
}

static void fail(struct vmm_aml *a)
{
	if (!a->bytes.error)
		a->bytes.error = -EINVAL;
}

void vmm_aml_op(struct vmm_aml *a, enum vmm_aml_opcode op)
{
	put(a, op);
}

/* --- lengths (20.2.4) ----------------------------------------------------------------------- */

/* Bytes that PkgLength itself takes for a value: 6 bits in one byte, else 4 plus 8 per byte. */
static unsigned int pkg_length_size(size_t value)
{
	if (value < 1u << 6)
		return 1;
	if (value < 1u << 12)
		return 2;
	return value < 1u << 20 ? 3 : 4;
}

static void insert_pkg_length(struct vmm_aml *a, size_t at, size_t value)
{
	unsigned int size = pkg_length_size(value), i;
	uint8_t *to;

	if (value > PKG_LENGTH_MAX) {
		fail(a);
		return;
	}
	to = vmm_bytes_insert(&a->bytes, at, size);
	if (!to)
		return;
	if (size == 1) {
		to[0] = value;
		return;
	}
	to[0] = (size - 1) << 6 | (value & 0x0f);
	for (i = 1; i < size; i++)
		to[i] = value >> (8 * i - 4);
}

static void begin(struct vmm_aml *a)
{
	if (a->depth == VMM_AML_DEPTH) {
		fail(a);
		return;
	}
	a->open[a->depth++] = a->bytes.len;
}

/* The length counts itself, and only now is it known how long that is. */
void vmm_aml_end(struct vmm_aml *a)
{
	size_t at, len;
	unsigned int size = 1;

	if (a->bytes.error)
		return;
	if (!a->depth) {
		fail(a);
		return;
	}
	at = a->open[--a->depth];
	len = a->bytes.len - at;
	while (pkg_length_size(len + size) > size)
		size++;
	insert_pkg_length(a, at, len + size);
}

/* --- names and constants -------------------------------------------------------------------- */

static bool lead_char(char c)
{
	return (c >= 'A' && c <= 'Z') || c == '_';
}

static void segment(struct vmm_aml *a, const char *s, size_t len)
{
	char seg[SEGMENT] = { '_', '_', '_', '_' };
	size_t i;

	if (!len || len > SEGMENT || !lead_char(s[0])) {
		fail(a);
		return;
	}
	for (i = 0; i < len; i++) {
		if (!lead_char(s[i]) && !(s[i] >= '0' && s[i] <= '9'))
			fail(a);
		seg[i] = s[i];
	}
	vmm_bytes_put(&a->bytes, seg, SEGMENT);
}

void vmm_aml_path(struct vmm_aml *a, const char *path)
{
	unsigned int nr = 1;
	const char *p;

	if (*path == '\\')
		put(a, *path++);
	else
		while (*path == '^')
			put(a, *path++);
	if (!*path) {
		put(a, 0);
		return;
	}
	for (p = path; *p; p++)
		nr += *p == '.';
	if (nr == 2) {
		put(a, OP_DUAL_NAME);
	} else if (nr > 2) {
		put(a, OP_MULTI_NAME);
		put(a, nr);
	}
	if (nr > SEGMENTS_MAX)
		fail(a);
	for (; nr; nr--) {
		size_t len = strcspn(path, ".");

		segment(a, path, len);
		path += len + 1;
	}
}

void vmm_aml_integer(struct vmm_aml *a, uint64_t value)
{
	if (value == 0) {
		put(a, OP_ZERO);
	} else if (value == 1) {
		put(a, OP_ONE);
	} else if (value == UINT64_MAX) {
		put(a, OP_ONES);
	} else if (value <= UINT8_MAX) {
		put(a, OP_BYTE);
		vmm_bytes_le(&a->bytes, value, 1);
	} else if (value <= UINT16_MAX) {
		put(a, OP_WORD);
		vmm_bytes_le(&a->bytes, value, 2);
	} else if (value <= UINT32_MAX) {
		put(a, OP_DWORD);
		vmm_bytes_le(&a->bytes, value, 4);
	} else {
		put(a, OP_QWORD);
		vmm_bytes_le(&a->bytes, value, 8);
	}
}

void vmm_aml_string(struct vmm_aml *a, const char *s)
{
	const char *p;

	for (p = s; *p; p++)
		if ((unsigned char)*p > 0x7f)
			fail(a);
	put(a, OP_STRING);
	vmm_bytes_put(&a->bytes, s, strlen(s) + 1);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = toupper((unsigned char)c);
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Three letters of 5 bits and four hexadecimal digits, stored most significant byte first. */
void vmm_aml_eisaid(struct vmm_aml *a, const char *id)
{
	uint32_t value = 0;
	unsigned int i;

	if (strlen(id) != 7) {
		fail(a);
		return;
	}
	for (i = 0; i < 3; i++) {
		if (id[i] < 'A' || id[i] > 'Z')
			fail(a);
		value = value << 5 | (id[i] & 0x1f);
	}
	for (; i < 7; i++) {
		if (hex(id[i]) < 0)
			fail(a);
		value = value << 4 | (hex(id[i]) & 0x0f);
	}
	put(a, OP_DWORD);
	vmm_bytes_le(&a->bytes, __builtin_bswap32(value), 4);
}

void vmm_aml_uuid(struct vmm_aml *a, const char *uuid)
{
	/* Where each byte's digits stand in the text: the first three groups are little-endian. */
	static const uint8_t at[16] = { 6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34 };
	uint8_t data[16];
	unsigned int i;

	if (strlen(uuid) != 36 || uuid[8] != '-' || uuid[13] != '-' || uuid[18] != '-' ||
	    uuid[23] != '-') {
		fail(a);
		return;
	}
	for (i = 0; i < 16; i++) {
		int hi = hex(uuid[at[i]]), lo = hex(uuid[at[i] + 1]);

		if (hi < 0 || lo < 0) {
			fail(a);
			return;
		}
		data[i] = hi << 4 | lo;
	}
	vmm_aml_buffer(a, data, sizeof(data));
}

void vmm_aml_buffer(struct vmm_aml *a, const void *data, size_t len)
{
	put(a, OP_BUFFER);
	begin(a);
	vmm_aml_integer(a, len);
	vmm_bytes_put(&a->bytes, data, len);
	vmm_aml_end(a);
}

void vmm_aml_name(struct vmm_aml *a, const char *name)
{
	put(a, VMM_AML_NAME);
	vmm_aml_path(a, name);
}

/* --- terms with a length -------------------------------------------------------------------- */

void vmm_aml_scope(struct vmm_aml *a, const char *path)
{
	put(a, OP_SCOPE);
	begin(a);
	vmm_aml_path(a, path);
}

void vmm_aml_device(struct vmm_aml *a, const char *name)
{
	put(a, OP_EXT);
	put(a, EXT_DEVICE);
	begin(a);
	vmm_aml_path(a, name);
}

void vmm_aml_method(struct vmm_aml *a, const char *name, unsigned int args, bool serialized)
{
	if (args > 7)
		fail(a);
	put(a, OP_METHOD);
	begin(a);
	vmm_aml_path(a, name);
	put(a, args | (serialized ? METHOD_SERIALIZED : 0));
}

void vmm_aml_package(struct vmm_aml *a, unsigned int elements)
{
	if (elements > 255)
		fail(a);
	put(a, OP_PACKAGE);
	begin(a);
	put(a, elements);
}

void vmm_aml_if(struct vmm_aml *a)
{
	put(a, OP_IF);
	begin(a);
}

void vmm_aml_else(struct vmm_aml *a)
{
	put(a, OP_ELSE);
	begin(a);
}

void vmm_aml_region(struct vmm_aml *a, const char *name, enum vmm_aml_space space, uint64_t base,
		    uint64_t len)
{
	put(a, OP_EXT);
	put(a, EXT_REGION);
	vmm_aml_path(a, name);
	put(a, space);
	vmm_aml_integer(a, base);
	vmm_aml_integer(a, len);
}

void vmm_aml_field(struct vmm_aml *a, const char *region, enum vmm_aml_access access)
{
	put(a, OP_EXT);
	put(a, EXT_FIELD);
	begin(a);
	vmm_aml_path(a, region);
	put(a, access | FIELD_WRITE_ZEROS);
}

/* Here the length is a number of bits and does not count itself. */
void vmm_aml_field_unit(struct vmm_aml *a, const char *name, unsigned int bits)
{
	segment(a, name, strlen(name));
	insert_pkg_length(a, a->bytes.len, bits);
}
