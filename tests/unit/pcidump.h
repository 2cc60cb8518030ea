/* SPDX-License-Identifier: GPL-2.0-only */
/* Configuration spaces recorded by `lspci -xxxx`, read back into bytes. */
#ifndef TESTS_PCIDUMP_H
#define TESTS_PCIDUMP_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PCIDUMP_SIZE 4096

/**
 * pcidump_read() - read a fixture; the test fails when it cannot be read.
 * @name: file below tests/unit/fixtures/config, without ".txt".
 * @out: receives PCIDUMP_SIZE bytes, zero behind the end of the dump.
 *
 * Return: bytes in the dump: 64, 256 or 4096.
 */
static inline size_t pcidump_read(const char *name, uint8_t *out)
{
	char path[256], line[256];
	size_t end = 0;
	FILE *f;

	snprintf(path, sizeof(path), "tests/unit/fixtures/config/%s.txt", name);
	memset(out, 0, PCIDUMP_SIZE);
	f = fopen(path, "r");
	ck_assert_msg(f, "cannot open %s; tests run in the top folder", path);
	while (fgets(line, sizeof(line), f)) {
		unsigned int at, byte;
		int used, n;

		/* The first line names the device: "00:13.0 ...". */
		if (sscanf(line, "%x: %n", &at, &used) != 1 || line[used - 1] != ' ' || at % 16)
			continue;
		for (const char *s = line + used; sscanf(s, "%2x %n", &byte, &n) == 1; s += n) {
			ck_assert_uint_lt(at, PCIDUMP_SIZE);
			out[at++] = (uint8_t)byte;
		}
		end = at;
	}
	fclose(f);
	return end;
}

#endif
