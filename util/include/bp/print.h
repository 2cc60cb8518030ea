/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text or JSON from one call, in the manner of iproute2's print_*(): a command
 * states each fact once, and the printer decides how it looks. The two forms
 * can therefore never disagree.
 *
 * Text is what the formats say. JSON is built from keys and values; commas,
 * quoting and indentation are the printer's business. Nesting is checked: an
 * end without a begin is a programming error and aborts.
 */
#ifndef BP_PRINT_H
#define BP_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct bp_print;

/** enum bp_print_mode - how the printer shows what it is told. */
enum bp_print_mode {
	BP_PRINT_TEXT,
	BP_PRINT_JSON,
	BP_PRINT_PRETTY,
};

/**
 * bp_print_new() - start a document.
 * @out: stream that receives it; stays open.
 * @mode: text, JSON or indented JSON.
 *
 * Return: the printer, or NULL when memory is short.
 */
struct bp_print *bp_print_new(FILE *out, enum bp_print_mode mode);

/**
 * bp_print_free() - end the document: closes what JSON still has open, flushes.
 * @p: NULL is allowed.
 *
 * Return: 0, or a negative errno when the stream could not be written (a full
 * disk, a closed pipe) or memory was short, so that a program does not report success for it.
 */
int bp_print_free(struct bp_print *p);

/** bp_print_is_json() - whether text formats are ignored. @p: printer. Return: true for JSON. */
bool bp_print_is_json(const struct bp_print *p);

/**
 * bp_print_object() - open a JSON object.
 * @p: printer.
 * @key: name inside an object, NULL inside an array or at the top.
 */
void bp_print_object(struct bp_print *p, const char *key);

/** bp_print_object_end() - close the innermost object. @p: printer. */
void bp_print_object_end(struct bp_print *p);

/**
 * bp_print_array() - open a JSON array.
 * @p: printer.
 * @key: name inside an object, NULL inside an array or at the top.
 */
void bp_print_array(struct bp_print *p, const char *key);

/** bp_print_array_end() - close the innermost array. @p: printer. */
void bp_print_array_end(struct bp_print *p);

/**
 * bp_print_str() - one string.
 * @p: printer.
 * @key: JSON name; NULL for an array element; "" for text only.
 * @fmt: text format with one %s, or NULL for JSON only.
 * @value: the string; NULL prints null in JSON and nothing in text. Whoever chose it: text shows
 *         '?' for control characters, JSON escapes them and has U+FFFD for what is not UTF-8.
 */
void bp_print_str(struct bp_print *p, const char *key, const char *fmt, const char *value);

/**
 * bp_print_u64() - one unsigned number.
 * @p: printer.
 * @key: JSON name; NULL for an array element.
 * @fmt: text format with one PRIu64-sized conversion (%lu, %lx, %#lx), or NULL.
 * @value: the number; JSON shows it in decimal.
 */
void bp_print_u64(struct bp_print *p, const char *key, const char *fmt, uint64_t value);

/**
 * bp_print_hex() - one number that the field writes in hexadecimal.
 * @p: printer.
 * @key: JSON name.
 * @fmt: text format with one %s, which receives "0x...", or NULL.
 * @digits: least number of digits.
 * @value: JSON shows it as the same string.
 */
void bp_print_hex(struct bp_print *p, const char *key, const char *fmt, int digits,
		  uint64_t value);

/**
 * bp_print_s64() - one signed number.
 * @p: printer. @key: JSON name. @fmt: text format with one %ld, or NULL. @value: the number.
 */
void bp_print_s64(struct bp_print *p, const char *key, const char *fmt, int64_t value);

/**
 * bp_print_f64() - one fraction; JSON shows it with @digits decimals.
 * @p: printer. @key: JSON name. @fmt: text format with one %f-like conversion, or NULL.
 * @digits: decimals in JSON. @value: a number that is not finite prints null in JSON.
 */
void bp_print_f64(struct bp_print *p, const char *key, const char *fmt, int digits, double value);

/**
 * bp_print_bool() - one truth value.
 * @p: printer. @key: JSON name. @fmt: text format with one %s ("yes" or "no"), or NULL.
 * @value: the value.
 */
void bp_print_bool(struct bp_print *p, const char *key, const char *fmt, bool value);

/** bp_print_null() - a JSON null; text shows @text. @p: printer. @key: JSON name. @text: or NULL. */
void bp_print_null(struct bp_print *p, const char *key, const char *text);

/**
 * bp_print_text() - words that only the text form has (headings, units, newlines).
 * @p: printer.
 * @fmt: printf format; control characters but line breaks and tabs come out as '?'.
 */
void bp_print_text(struct bp_print *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
