// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the DSDT does when it is run: its objects and methods evaluated by ACPICA's
 * interpreter (acpiexec), the one that Linux has. Skipped where it is not installed.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "vmm/acpi/acpi.h"
#include "vmm/layout.h"
#include "vmm/pci/pci.h"

#define SKIPPED 77

static char file[] = "/tmp/dsdt-test-XXXXXX.dat"; /* made and removed by main() */
static uint8_t *dsdt;
static size_t dsdt_size;

static uint64_t le(const uint8_t *p, size_t len)
{
	uint64_t value = 0;

	while (len--)
		value = value << 8 | p[len];
	return value;
}

/* The DSDT lies right behind the 64 bytes of the FACS. */
static int build(void)
{
	const struct vmm_platform p = { .cpus = 2,
					.mmio64_base = 0x100000000,
					.mmio64_end = 0x300000000 };
	struct vmm_blob rsdp, tables;
	int fd, ret = vmm_acpi_build(&p, &rsdp, &tables);

	if (ret || memcmp(tables.data + 64, "DSDT", 4))
		return -1;
	dsdt_size = le(tables.data + 64 + 4, 4);
	dsdt = malloc(dsdt_size);
	if (!dsdt)
		return -1;
	memcpy(dsdt, tables.data + 64, dsdt_size);
	free(rsdp.data);
	free(tables.data);
	fd = mkstemps(file, 4);
	if (fd < 0)
		return -1;
	ret = write(fd, dsdt, dsdt_size) == (ssize_t)dsdt_size ? 0 : -1;
	close(fd);
	return ret;
}

/* Run debugger commands, joined by semicolons; the answer from the first of them on. */
static const char *run(const char *commands)
{
	static char out[131072];
	char line[8192];
	const char *answer;
	size_t n;
	FILE *f;

	ck_assert_int_lt(snprintf(line, sizeof(line), "acpiexec -b '%s' %s 2>&1", commands, file),
			 (int)sizeof(line));
	f = popen(line, "r");
	ck_assert_ptr_nonnull(f);
	n = fread(out, 1, sizeof(out) - 1, f);
	out[n] = 0;
	pclose(f);
	answer = strstr(out, "Evaluating ");
	ck_assert_msg(answer && !strstr(out, "Error"), "%s", out);
	return answer;
}

/* Evaluate an object that is an integer. */
static uint64_t integer(const char *path)
{
	char command[64];
	const char *at;

	snprintf(command, sizeof(command), "evaluate %s", path);
	at = strstr(run(command), "[Integer] = ");
	ck_assert_ptr_nonnull(at);
	return strtoull(at + 12, NULL, 16);
}

/* Evaluate something that gives a buffer, and compare it. */
static void check_buffer(const char *command, const uint8_t *want, size_t len)
{
	const char *at = strstr(run(command), "[Buffer] Length ");
	size_t i;

	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(strtoul(at + 16, NULL, 16), len);
	for (i = 0; i < len; i++) {
		/* A line of the dump: offset, colon, up to 16 bytes, then text behind slashes. */
		if (i % 16 == 0)
			at = strchr(at, ':') + 1;
		ck_assert_msg(strtoul(at, (char **)&at, 16) == want[i], "%s: byte %zu", command, i);
	}
}

#define BUFFER(command, ...)                                   \
	do {                                                   \
		static const uint8_t want[] = { __VA_ARGS__ }; \
		check_buffer(command, want, sizeof(want));     \
	} while (0)

START_TEST(power_off)
{
	const char *at = strstr(run("evaluate \\_S5"), "[Integer] = ");

	/* SLP_TYP of S5; the register's side of it is tested with the registers. */
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(strtoull(at + 12, NULL, 16), 5);
}
END_TEST

#define UUID "(5b 4d db 33 f7 1f 1c 40 96 57 74 41 c0 3d d7 66)"

START_TEST(capabilities)
{
	/* All that a guest may ask for: it gets the capability structures and is told of the rest. */
	BUFFER("evaluate \\_SB.PCI0._OSC " UUID " 1 3 (00 00 00 00 1f 00 00 00 1f 00 00 00)", 0x10,
	       0, 0, 0, 0x1f, 0, 0, 0, 0x10, 0, 0, 0);
	BUFFER("evaluate \\_SB.PCI0._OSC " UUID " 1 3 (00 00 00 00 1f 00 00 00 10 00 00 00)", 0, 0,
	       0, 0, 0x1f, 0, 0, 0, 0x10, 0, 0, 0);
	BUFFER("evaluate \\_SB.PCI0._OSC " UUID " 2 3 (00 00 00 00 1f 00 00 00 10 00 00 00)", 0x08,
	       0, 0, 0, 0x1f, 0, 0, 0, 0x10, 0, 0, 0);
	BUFFER("evaluate \\_SB.PCI0._OSC (00 4d db 33 f7 1f 1c 40 96 57 74 41 c0 3d d7 66) 1 3 "
	       "(00 00 00 00 1f 00 00 00 1f 00 00 00)",
	       0x04, 0, 0, 0, 0x1f, 0, 0, 0, 0x1f, 0, 0, 0);
}
END_TEST

START_TEST(root_bus_resources)
{
	BUFFER("evaluate \\_SB.PCI0._CRS",
	       /* bus 0 */
	       0x88, 0x0d, 0, 0x02, 0x0c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0,
	       /* the configuration ports, and all around them */
	       0x47, 0x01, 0xf8, 0x0c, 0xf8, 0x0c, 0x01, 0x08, 0x88, 0x0d, 0, 0x01, 0x0c, 0x03, 0,
	       0, 0x00, 0x00, 0xf7, 0x0c, 0, 0, 0xf8, 0x0c, 0x88, 0x0d, 0, 0x01, 0x0c, 0x03, 0, 0,
	       0x00, 0x0d, 0xff, 0xff, 0, 0, 0x00, 0xf3,
	       /* 0xc0000000 to 0xdfffffff */
	       0x87, 0x17, 0, 0, 0x0c, 0x01, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0xff, 0xff, 0xdf, 0,
	       0, 0, 0, 0, 0, 0, 0x20,
	       /* 0x100000000 to 0x2ffffffff, prefetchable */
	       0x8a, 0x2b, 0, 0, 0x0c, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xff,
	       0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0x79,
	       0);
}
END_TEST

START_TEST(board_devices)
{
	BUFFER("evaluate \\_SB.COM1._CRS", 0x47, 1, 0xf8, 3, 0xf8, 3, 1, 8, 0x22, 0x10, 0, 0x79, 0);
	BUFFER("evaluate \\_SB.RTC._CRS", 0x47, 1, 0x70, 0, 0x70, 0, 1, 2, 0x22, 0, 1, 0x79, 0);
	/* ECAM, and the power management ports 0x600 to 0x613 */
	BUFFER("evaluate \\_SB.MBRD._CRS", 0x86, 9, 0, 1, 0, 0, 0, 0xe0, 0, 0, 0, 0x10, 0x47, 1, 0,
	       6, 0, 6, 1, 0x14, 0x79, 0);
}
END_TEST

START_TEST(interrupt_links)
{
	static const char *const lists[] = { "_CRS", "_PRS" };
	char command[64];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		uint8_t want[] = { 0x89, 6, 0, 9, 1, 0, 0, 0, 0, 0x79, 0 };
		static const uint8_t gsi[] = { 5, 10, 11 };
		unsigned int k;

		for (k = 0; k < 3; k++) {
			want[5] = gsi[k];
			snprintf(command, sizeof(command), "evaluate \\_SB.LNK%X.%s", gsi[k],
				 lists[i]);
			check_buffer(command, want, sizeof(want));
			snprintf(command, sizeof(command), "\\_SB.LNK%X._UID", gsi[k]);
			ck_assert_uint_eq(integer(command), gsi[k]);
		}
	}
}
END_TEST

static uint64_t aml_integer(const uint8_t **p)
{
	static const uint8_t size[] = { [0x0a] = 1, [0x0b] = 2, [0x0c] = 4 };
	uint8_t op = *(*p)++;
	uint64_t value;

	if (op <= 1)
		return op;
	ck_assert(op >= 0x0a && op <= 0x0c);
	value = le(*p, size[op]);
	*p += size[op];
	return value;
}

/* The interpreter's output has no room for 128 routes: they are read here. */
START_TEST(routing)
{
	const uint8_t *p = memmem(dsdt, dsdt_size, "\x08_PRT\x12", 6);
	unsigned int slot, pin;
	char link[5];

	ck_assert_ptr_nonnull(p);
	p += 6;
	ck_assert_uint_eq(*p >> 6, 1); /* two bytes of length */
	p += 2;
	ck_assert_uint_eq(*p++, 128);
	for (slot = 0; slot < 32; slot++) {
		for (pin = 0; pin < 4; pin++) {
			ck_assert_uint_eq(p[0], 0x12);
			ck_assert_uint_lt(p[1], 64);
			ck_assert_uint_eq(p[2], 4);
			p += 3;
			ck_assert_uint_eq(aml_integer(&p), slot << 16 | 0xffff);
			ck_assert_uint_eq(aml_integer(&p), pin);
			snprintf(link, sizeof(link), "LNK%X", vmm_pci_intx_gsi(slot, pin + 1));
			ck_assert_mem_eq(p, link, 4);
			p += 4;
			ck_assert_uint_eq(aml_integer(&p), 0);
		}
	}
}
END_TEST

START_TEST(slots)
{
	char path[64];
	unsigned int slot;

	for (slot = 1; slot < 32; slot += 5) {
		snprintf(path, sizeof(path), "\\_SB.PCI0.S%02X._ADR", slot);
		ck_assert_uint_eq(integer(path), slot << 16);
		snprintf(path, sizeof(path), "\\_SB.PCI0.S%02X._SUN", slot);
		ck_assert_uint_eq(integer(path), slot);
	}
}
END_TEST

/*
 * The interpreter keeps what is written to the ejection register, so a slot's _EJ0 makes
 * the next event look as if that slot were asked back.
 */
START_TEST(ejection)
{
	char commands[1024], want[64];
	unsigned int slot, i;
	const char *at;

	/* The interpreter takes command lines of up to 1023 characters. */
	for (slot = 1; slot < 32; slot += 10) {
		size_t n = 0;

		for (i = slot; i < slot + 10 && i < 32; i++)
			n += snprintf(commands + n, sizeof(commands) - n,
				      "evaluate \\_SB.PCI0.S%02X._EJ0 1;evaluate \\_GPE._E01;", i);
		ck_assert_uint_lt(n, sizeof(commands));
		at = run(commands);
		for (i = slot; i < slot + 10 && i < 32; i++) {
			at = strstr(at, "Notify on ");
			ck_assert_msg(at != NULL, "no notification of slot %u", i);
			snprintf(want, sizeof(want), "Notify on [S%02X_]", i);
			ck_assert_msg(!strncmp(at, want, strlen(want)), "%.24s, not %s", at, want);
			ck_assert_msg(!strncmp(strstr(at, "Value "), "Value 0x03", 10), "slot %u",
				      i);
			at++;
		}
		ck_assert_ptr_null(strstr(at, "Notify on "));
	}
}
END_TEST

int main(void)
{
	const TTest *tests[] = { power_off,	capabilities,	 root_bus_resources,
				 board_devices, interrupt_links, routing,
				 slots,		ejection };
	int ret;

	if (system("command -v acpiexec >/dev/null 2>&1"))
		return SKIPPED;
	if (build()) {
		perror(file);
		return EXIT_FAILURE;
	}
	ret = suite_run("dsdt", tests, sizeof(tests) / sizeof(*tests));
	unlink(file);
	free(dsdt);
	return ret;
}
