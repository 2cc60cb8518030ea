/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/* Memory-type registers as users write and read them. */
#ifndef MEMTYPE_MSRNAME_H
#define MEMTYPE_MSRNAME_H

#include <stddef.h>
#include <stdint.h>

/**
 * mt_msr_text() - name of a register, as mt_msr_name() has it, or its number.
 * @msr: register number.
 * @buf: room for the text.
 * @size: of @buf; 24 is enough.
 *
 * Return: the name, or the number in hexadecimal.
 */
const char *mt_msr_text(uint32_t msr, char *buf, size_t size);

/**
 * mt_msr_parse() - number of a register.
 * @text: number, decimal or with 0x, or a name.
 * @len: length of @text.
 * @msr: receives the number.
 *
 * Return: 0, or -EINVAL.
 */
int mt_msr_parse(const char *text, size_t len, uint32_t *msr);

#endif
