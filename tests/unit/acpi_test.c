// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables as an operating system walks them: from the root pointer, by addresses, with
 * checksums and lengths; and as ACPICA's compiler sees them, where iasl is installed.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "vmm/acpi/acpi.h"
#include "vmm/layout.h"
#include "vmm/machine.h"

static const struct vmm_platform platforms[] = {
	{ .cpus = 1 },
	{ .cpus = 2, .mmio64_base = 0x200000000, .mmio64_end = 0x400000000 },
	{ .cpus = 64, .mmio64_base = 0x8000000000, .mmio64_end = 0x10000000000 },
	{ .cpus = 64 },
};

#define NR_PLATFORMS ((int)(sizeof(platforms) / sizeof(platforms[0])))

static struct vmm_blob rsdp, tables;

static void build(int i)
{
	ck_assert_int_eq(vmm_acpi_build(&platforms[i], &rsdp, &tables), 0);
}

static void drop(void)
{
	free(rsdp.data);
	free(tables.data);
}

static uint64_t le(const uint8_t *p, size_t len)
{
	uint64_t value = 0;

	while (len--)
		value = value << 8 | p[len];
	return value;
}

static uint8_t sum(const uint8_t *p, size_t len)
{
	uint8_t s = 0;

	while (len--)
		s += *p++;
	return s;
}

/* A table by its physical address, with header and checksum checked. */
static const uint8_t *at(uint64_t gpa, const char *signature)
{
	const uint8_t *t;
	uint64_t len;

	ck_assert_uint_ge(gpa, tables.gpa);
	ck_assert_uint_le(gpa + 36, tables.gpa + tables.size);
	t = tables.data + (gpa - tables.gpa);
	ck_assert_mem_eq(t, signature, 4);
	len = le(t + 4, 4);
	ck_assert_uint_le(gpa + len, tables.gpa + tables.size);
	if (strcmp(signature, "FACS"))
		ck_assert_uint_eq(sum(t, len), 0);
	return t;
}

static const uint8_t *find(const char *signature)
{
	const uint8_t *xsdt = at(le(rsdp.data + 24, 8), "XSDT");
	size_t i, n = (le(xsdt + 4, 4) - 36) / 8;

	for (i = 0; i < n; i++) {
		uint64_t gpa = le(xsdt + 36 + 8 * i, 8);

		if (!memcmp(tables.data + (gpa - tables.gpa), signature, 4))
			return at(gpa, signature);
	}
	ck_abort_msg("no %s", signature);
	return NULL;
}

START_TEST(root_pointer)
{
	build(_i);
	ck_assert_uint_eq(rsdp.gpa, VMM_RSDP);
	ck_assert_uint_eq(rsdp.gpa % 16, 0);
	ck_assert_uint_eq(rsdp.size, 36);
	ck_assert_mem_eq(rsdp.data, "RSD PTR ", 8);
	ck_assert_uint_eq(sum(rsdp.data, 20), 0);
	ck_assert_uint_eq(sum(rsdp.data, 36), 0);
	ck_assert_mem_eq(rsdp.data + 9, "BLPASS", 6);
	ck_assert_uint_eq(rsdp.data[15], 2);
	ck_assert_uint_eq(le(rsdp.data + 20, 4), 36);
	ck_assert_uint_eq(tables.gpa, VMM_ACPI);
	ck_assert_uint_le(tables.gpa + tables.size, VMM_ACPI_END);
	drop();
}
END_TEST

START_TEST(both_root_tables_agree)
{
	const uint8_t *rsdt, *xsdt;
	size_t i, n;

	build(_i);
	rsdt = at(le(rsdp.data + 16, 4), "RSDT");
	xsdt = at(le(rsdp.data + 24, 8), "XSDT");
	n = (le(rsdt + 4, 4) - 36) / 4;
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq((le(xsdt + 4, 4) - 36) / 8, n);
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(le(rsdt + 36 + 4 * i, 4), le(xsdt + 36 + 8 * i, 8));
	drop();
}
END_TEST

START_TEST(fixed_hardware)
{
	const uint8_t *f;

	build(_i);
	f = find("FACP");
	ck_assert_uint_ge(f[8], 4);
	ck_assert_uint_eq(le(f + 4, 4), 244);
	ck_assert_uint_eq(le(f + 36, 4) % 64, 0);
	ck_assert_uint_eq(le(at(le(f + 36, 4), "FACS") + 4, 4), 64);
	at(le(f + 40, 4), "DSDT");
	ck_assert_uint_eq(le(f + 140, 8), le(f + 40, 4));
	ck_assert_uint_eq(le(f + 46, 2), VMM_IRQ_SCI);
	ck_assert_uint_eq(le(f + 48, 4), 0); /* no SMI port */
	/* Each block: address, generic address in I/O space, and lengths that agree. */
	static const struct {
		int addr, len, gas;
		uint16_t port;
		uint8_t access; /* 1 byte, 2 word, 3 doubleword */
	} blocks[] = { { 56, 88, 148, VMM_PORT_PM1_EVT, 2 },
		       { 64, 89, 172, VMM_PORT_PM1_CNT, 2 },
		       { 76, 91, 208, VMM_PORT_PM_TMR, 3 },
		       { 80, 92, 220, VMM_PORT_GPE0, 1 } };
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		ck_assert_uint_eq(le(f + blocks[i].addr, 4), blocks[i].port);
		ck_assert_uint_eq(f[blocks[i].gas], 1);
		ck_assert_uint_eq(f[blocks[i].gas + 1], 8 * f[blocks[i].len]);
		ck_assert_uint_eq(f[blocks[i].gas + 3], blocks[i].access);
		ck_assert_uint_eq(le(f + blocks[i].gas + 4, 8), blocks[i].port);
	}
	ck_assert_uint_gt(le(f + 96, 2), 100); /* neither C2 nor C3 */
	ck_assert_uint_gt(le(f + 98, 2), 1000);
	ck_assert_uint_eq(f[108], 0x32);
	/* ISA devices, 8042, no VGA, no ASPM; MSI works and there is an RTC */
	ck_assert_uint_eq(le(f + 109, 2), 0x17);
	/* WBINVD, C1, no sleep button, no RTC wake, 32-bit timer, reset register; not reduced */
	ck_assert_uint_eq(le(f + 112, 4), 0x565);
	ck_assert_uint_eq(f[116], 1);
	ck_assert_uint_eq(f[117], 8);
	ck_assert_uint_eq(le(f + 120, 8), 0xcf9);
	ck_assert_uint_eq(f[128], 0x06);
	drop();
}
END_TEST

START_TEST(interrupt_controllers)
{
	const uint8_t *m, *p, *end;
	unsigned int cpus = 0, ioapics = 0, nmis = 0, overrides = 0;

	build(_i);
	m = find("APIC");
	ck_assert_uint_eq(le(m + 36, 4), VMM_LAPIC_BASE);
	ck_assert_uint_eq(le(m + 40, 4), 1);
	end = m + le(m + 4, 4);
	for (p = m + 44; p < end; p += p[1]) {
		ck_assert_uint_ge(p[1], 6);
		switch (p[0]) {
		case 0:
			ck_assert_uint_eq(p[1], 8);
			ck_assert_uint_eq(p[3], cpus++);
			ck_assert_uint_eq(le(p + 4, 4), 1);
			break;
		case 1:
			ck_assert_uint_eq(le(p + 4, 4), VMM_IOAPIC_BASE);
			ck_assert_uint_eq(le(p + 8, 4), 0);
			ioapics++;
			break;
		case 2:
			if (p[3] == 0) {
				ck_assert_uint_eq(le(p + 4, 4), 2);
				ck_assert_uint_eq(le(p + 8, 2), 0);
			} else {
				ck_assert(p[3] == 5 || (p[3] >= 9 && p[3] <= 11));
				ck_assert_uint_eq(le(p + 4, 4), p[3]);
				ck_assert_uint_eq(le(p + 8, 2), 0x0d);
			}
			overrides++;
			break;
		case 4:
			ck_assert_uint_eq(p[2], 0xff);
			ck_assert_uint_eq(p[5], 1);
			nmis++;
			break;
		default:
			ck_abort_msg("unexpected entry %u", p[0]);
		}
	}
	ck_assert_ptr_eq(p, end);
	ck_assert_uint_eq(cpus, platforms[_i].cpus);
	ck_assert_uint_eq(ioapics, 1);
	ck_assert_uint_eq(overrides, 5);
	ck_assert_uint_eq(nmis, 1);
	drop();
}
END_TEST

START_TEST(configuration_space)
{
	const uint8_t *m;

	build(_i);
	m = find("MCFG");
	ck_assert_uint_eq(le(m + 4, 4), 60);
	ck_assert_uint_eq(le(m + 44, 8), VMM_ECAM_BASE);
	ck_assert_uint_eq(le(m + 52, 2), 0);
	ck_assert_uint_eq(m[54], 0);
	ck_assert_uint_eq(m[55], 0); /* one bus: see mcfg() for what more would cost */
	drop();
}
END_TEST

START_TEST(impossible_platforms)
{
	struct vmm_platform p = { .cpus = 0 };

	ck_assert_int_eq(vmm_acpi_build(&p, &rsdp, &tables), -EINVAL);
	p.cpus = VMM_VCPUS_MAX + 1;
	ck_assert_int_eq(vmm_acpi_build(&p, &rsdp, &tables), -EINVAL);
	p.cpus = 1;
	p.mmio64_base = 2;
	p.mmio64_end = 1;
	ck_assert_int_eq(vmm_acpi_build(&p, &rsdp, &tables), -EINVAL);
}
END_TEST

/* --- ACPICA's view -------------------------------------------------------------------------- */

static char dir[] = "/tmp/acpi-test-XXXXXX"; /* made and removed by main() */

static void in_dir(const char *name, char *path, size_t size)
{
	ck_assert_int_lt(snprintf(path, size, "%s/%s", dir, name), (int)size);
}

static void save(const char *name, const uint8_t *data, size_t len)
{
	char path[128];
	FILE *f;

	in_dir(name, path, sizeof(path));
	f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

static void clear_dir(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[384];

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

/* Run iasl in the directory; its output is in @out. */
static int iasl(const char *args, char *out, size_t size)
{
	char cmd[256];
	size_t n;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "cd %s && iasl %s 2>&1", dir, args);
	f = popen(cmd, "r");
	ck_assert_ptr_nonnull(f);
	n = fread(out, 1, size - 1, f);
	out[n] = 0;
	while (fgetc(f) != EOF)
		;
	return pclose(f);
}

static bool have_iasl(void)
{
	return !system("command -v iasl >/dev/null 2>&1");
}

static void ask_iasl(const uint8_t *table, const char *name)
{
	static char out[65536];

	save("t.dat", table, le(table + 4, 4));
	ck_assert_msg(!iasl("-p t -d t.dat", out, sizeof(out)), "%s: %s", name, out);
	ck_assert_msg(!strcasestr(out, "warning") && !strcasestr(out, "error"), "%s: %s", name,
		      out);
	ck_assert_msg(!iasl("-tc -p u t.dsl", out, sizeof(out)), "%s: %s", name, out);
	ck_assert_msg(strstr(out, "0 Errors, 0 Warnings, 0 Remarks"), "%s: %s", name, out);
}

START_TEST(iasl_is_content)
{
	const uint8_t *f;

	if (!have_iasl())
		return;
	build(_i);
	f = find("FACP");
	ask_iasl(f, "FACP");
	ask_iasl(find("APIC"), "APIC");
	ask_iasl(find("MCFG"), "MCFG");
	ask_iasl(at(le(f + 40, 4), "DSDT"), "DSDT");
	ask_iasl(at(le(f + 36, 4), "FACS"), "FACS");
	drop();
}
END_TEST

static int count(const char *text, const char *word)
{
	int n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* What the DSDT says, in ASL's words. */
START_TEST(dsdt_in_words)
{
	static char out[4096], text[262144];
	char path[128];
	size_t n;
	FILE *f;

	if (!have_iasl())
		return;
	build(_i);
	save("t.dat", at(le(find("FACP") + 40, 4), "DSDT"),
	     le(at(le(find("FACP") + 40, 4), "DSDT") + 4, 4));
	ck_assert_int_eq(iasl("-p t -d t.dat", out, sizeof(out)), 0);
	in_dir("t.dsl", path, sizeof(path));
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	ck_assert_int_eq(count(text, "FFFF, \n"), 128); /* routes: 32 slots, 4 pins */
	ck_assert_int_eq(count(text, "Method (_EJ0, 1, NotSerialized)"), 31);
	ck_assert_int_eq(count(text, "Notify (\\_SB.PCI0.S"), 31);
	ck_assert_int_eq(count(text, "EisaId (\"PNP0C0F\")"), 3);
	ck_assert_int_eq(count(text, "Interrupt (ResourceConsumer, Level, ActiveHigh, Shared"), 6);
	ck_assert_int_eq(count(text, "QWordMemory"),
			 platforms[_i].mmio64_base < platforms[_i].mmio64_end);
	/* The bus range is MCFG's. */
	ck_assert_ptr_nonnull(strstr(text, "0x0000,             // Range Maximum\n"));
	ck_assert_int_eq(count(text, "WordBusNumber"), 1);
	ck_assert_int_eq(count(text, "EisaId (\"PNP0A08\")"), 1);
	ck_assert_int_eq(count(text, "EisaId (\"PNP0501\")"), 1);
	ck_assert_int_eq(count(text, "EisaId (\"PNP0B00\")"), 1);
	ck_assert_int_eq(count(text, "Method (_E01, 0, NotSerialized)"), 1);
	ck_assert_int_eq(count(text, "Name (\\_S5"), 1);
	drop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("acpi");
	TCase *tcase = tcase_create("acpi");
	SRunner *runner;
	int failed;

	if (!mkdtemp(dir)) {
		perror(dir);
		return EXIT_FAILURE;
	}
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, root_pointer, 0, NR_PLATFORMS);
	tcase_add_loop_test(tcase, both_root_tables_agree, 0, NR_PLATFORMS);
	tcase_add_loop_test(tcase, fixed_hardware, 0, NR_PLATFORMS);
	tcase_add_loop_test(tcase, interrupt_controllers, 0, NR_PLATFORMS);
	tcase_add_loop_test(tcase, configuration_space, 0, NR_PLATFORMS);
	tcase_add_test(tcase, impossible_platforms);
	tcase_add_loop_test(tcase, iasl_is_content, 0, NR_PLATFORMS);
	tcase_add_loop_test(tcase, dsdt_in_words, 0, NR_PLATFORMS);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	clear_dir();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
