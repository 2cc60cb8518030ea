/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AML encoding (ACPI 6.4, chapter 20). AML puts an operator before its operands, so a
 * term is written by a call for the operator followed by calls for each operand:
 *
 *	vmm_aml_op(a, VMM_AML_STORE);
 *	vmm_aml_integer(a, 4);
 *	vmm_aml_path(a, "PEND");
 *
 * Terms with a length (scopes, methods, packages, ...) are opened by their call and closed
 * by vmm_aml_end(). Errors stick in the bytes and are looked at once, at the end.
 */
#ifndef VMM_AML_H
#define VMM_AML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm/acpi/bytes.h"

#define VMM_AML_DEPTH 16

/** enum vmm_aml_opcode - operators that take operands but no length (20.2.5). */
enum vmm_aml_opcode {
	VMM_AML_NAME = 0x08,
	VMM_AML_LOCAL0 = 0x60,
	VMM_AML_ARG0 = 0x68,
	VMM_AML_ARG1 = 0x69,
	VMM_AML_ARG2 = 0x6a,
	VMM_AML_ARG3 = 0x6b,
	VMM_AML_STORE = 0x70,
	VMM_AML_AND = 0x7b,
	VMM_AML_OR = 0x7d,
	VMM_AML_NOTIFY = 0x86,
	VMM_AML_DWORD_FIELD = 0x8a, /* CreateDWordField */
	VMM_AML_LNOT = 0x92,
	VMM_AML_LEQUAL = 0x93,
	VMM_AML_RETURN = 0xa4,
};

/** enum vmm_aml_space - region spaces that are used here (20.2.5.2). */
enum vmm_aml_space {
	VMM_AML_SYSTEM_IO = 1,
};

/** enum vmm_aml_access - widths of a field's accesses. */
enum vmm_aml_access {
	VMM_AML_BYTE_ACC = 1,
	VMM_AML_WORD_ACC = 2,
	VMM_AML_DWORD_ACC = 3,
};

/**
 * struct vmm_aml - AML under construction; all zero to start with.
 * @bytes: what has been written, with the error.
 * @depth: open terms.
 * @open: where each open term's length goes.
 */
struct vmm_aml {
	struct vmm_bytes bytes;
	unsigned int depth;
	size_t open[VMM_AML_DEPTH];
};

/** vmm_aml_op() - write an operator. @a: AML. @op: operator. */
void vmm_aml_op(struct vmm_aml *a, enum vmm_aml_opcode op);

/**
 * vmm_aml_path() - write a NameString (20.2.2).
 * @a: AML.
 * @path: segments of up to 4 characters joined by dots, with "\" or "^"s in front; "" is
 *        the null name. Short segments are filled up with underscores.
 *
 * Sets -EINVAL for characters or lengths that a name cannot have.
 */
void vmm_aml_path(struct vmm_aml *a, const char *path);

/** vmm_aml_integer() - write a constant in its shortest form (20.2.3). @a: AML. @value: value. */
void vmm_aml_integer(struct vmm_aml *a, uint64_t value);

/** vmm_aml_string() - write a string constant. @a: AML. @s: ASCII 1 to 0x7f. */
void vmm_aml_string(struct vmm_aml *a, const char *s);

/** vmm_aml_eisaid() - write a compressed EISA ID (19.3.4). @a: AML. @id: like "PNP0A08". */
void vmm_aml_eisaid(struct vmm_aml *a, const char *id);

/** vmm_aml_uuid() - write a UUID as the buffer that ToUUID makes (19.6.142). @a: AML. @uuid: 36 characters. */
void vmm_aml_uuid(struct vmm_aml *a, const char *uuid);

/** vmm_aml_buffer() - write a buffer with its initial content. @a: AML. @data: content. @len: length. */
void vmm_aml_buffer(struct vmm_aml *a, const void *data, size_t len);

/** vmm_aml_name() - open a Name: the object follows. @a: AML. @name: path. */
void vmm_aml_name(struct vmm_aml *a, const char *name);

/** vmm_aml_scope() - open a Scope, closed by vmm_aml_end(). @a: AML. @path: path. */
void vmm_aml_scope(struct vmm_aml *a, const char *path);

/** vmm_aml_device() - open a Device, closed by vmm_aml_end(). @a: AML. @name: path. */
void vmm_aml_device(struct vmm_aml *a, const char *name);

/**
 * vmm_aml_method() - open a Method, closed by vmm_aml_end().
 * @a: AML. @name: path. @args: 0 to 7. @serialized: one caller at a time.
 */
void vmm_aml_method(struct vmm_aml *a, const char *name, unsigned int args, bool serialized);

/** vmm_aml_package() - open a Package, closed by vmm_aml_end(). @a: AML. @elements: 0 to 255. */
void vmm_aml_package(struct vmm_aml *a, unsigned int elements);

/** vmm_aml_if() - open an If: predicate and terms follow, closed by vmm_aml_end(). @a: AML. */
void vmm_aml_if(struct vmm_aml *a);

/** vmm_aml_else() - open an Else right after an If's end, closed by vmm_aml_end(). @a: AML. */
void vmm_aml_else(struct vmm_aml *a);

/**
 * vmm_aml_region() - write an OperationRegion.
 * @a: AML. @name: path. @space: address space. @base: address. @len: bytes.
 */
void vmm_aml_region(struct vmm_aml *a, const char *name, enum vmm_aml_space space, uint64_t base,
		    uint64_t len);

/**
 * vmm_aml_field() - open a Field without lock whose other bits are written as zeros.
 * @a: AML. @region: path of the region. @access: width of accesses.
 *
 * vmm_aml_field_unit() follows for each unit, then vmm_aml_end().
 */
void vmm_aml_field(struct vmm_aml *a, const char *region, enum vmm_aml_access access);

/** vmm_aml_field_unit() - write one unit of a field. @a: AML. @name: segment. @bits: width. */
void vmm_aml_field_unit(struct vmm_aml *a, const char *name, unsigned int bits);

/** vmm_aml_end() - close the innermost open term. @a: AML. */
void vmm_aml_end(struct vmm_aml *a);

#endif
