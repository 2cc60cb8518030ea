// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "vmm/assign/msi.h"
#include "vmm/assign/msix.h"

/* What reached the other side, as words: "p3" provide, "a1:fee00000:41" attach, "d1" detach. */
static char said[1024];
static bool fired[64];
static unsigned int limit;

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
	size_t len = strlen(said);
	va_list ap;

	if (len)
		said[len++] = ' ';
	va_start(ap, fmt);
	vsnprintf(said + len, sizeof(said) - len, fmt, ap);
	va_end(ap);
}

static int provide(void *priv, unsigned int count)
{
	(void)priv;
	say("p%u", count);
	return limit && count > limit ? -ENOSPC : 0;
}

static int attach(void *priv, unsigned int v, uint64_t address, uint32_t data)
{
	(void)priv;
	say("a%u:%lx:%x", v, (unsigned long)address, data);
	return 0;
}

static void detach(void *priv, unsigned int v)
{
	(void)priv;
	say("d%u", v);
}

static bool pending(void *priv, unsigned int v)
{
	(void)priv;
	return fired[v];
}

static const struct vmm_vec_ops ops = { provide, attach, detach, pending };
static struct vmm_msix m;

/* What was said since the last look. */
static const char *heard(void)
{
	static char text[1024];

	strcpy(text, said);
	said[0] = 0;
	return text;
}

static void set_up(unsigned int nr)
{
	said[0] = 0;
	limit = 0;
	memset(fired, 0, sizeof(fired));
	ck_assert_int_eq(vmm_msix_init(&m, nr, &ops, NULL), 0);
}

static int put(uint64_t off, uint32_t value)
{
	return vmm_msix_table_write(&m, off, (const uint8_t *)&value, 4);
}

static uint32_t get(uint64_t off)
{
	uint32_t value;

	vmm_msix_table_read(&m, off, (uint8_t *)&value, 4);
	return value;
}

static void entry(unsigned int v, uint32_t data)
{
	put(16ull * v, 0xfee00000);
	put(16ull * v + 4, 0);
	put(16ull * v + 8, data);
}

static void unmask(unsigned int v)
{
	put(16ull * v + 12, 0);
}
static void mask(unsigned int v)
{
	put(16ull * v + 12, 1);
}

START_TEST(starts_masked_and_off)
{
	set_up(3);
	for (unsigned int v = 0; v < 3; v++)
		ck_assert_uint_eq(get(16 * v + 12), 1);
	entry(0, 0x41);
	unmask(0);
	ck_assert_str_eq(heard(), "");
	vmm_msix_exit(&m);
	ck_assert_int_eq(vmm_msix_init(&m, 0, &ops, NULL), -EINVAL);
	ck_assert_int_eq(vmm_msix_init(&m, 2049, &ops, NULL), -EINVAL);
}
END_TEST

START_TEST(as_linux_does_it)
{
	set_up(10);
	/* Enabled with everything masked, then written, then unmasked one by one. */
	vmm_msix_control(&m, true, true);
	ck_assert_str_eq(heard(), "p1");
	for (unsigned int v = 0; v < 3; v++)
		entry(v, 0x41 + v);
	vmm_msix_control(&m, true, false);
	ck_assert_str_eq(heard(), "");
	for (unsigned int v = 0; v < 3; v++)
		unmask(v);
	/* One step for all three, because all three were written. */
	ck_assert_str_eq(heard(), "p3 a0:fee00000:41 a1:fee00000:42 a2:fee00000:43");
	vmm_msix_control(&m, false, false);
	ck_assert_str_eq(heard(), "d0 d1 d2 p0");
	vmm_msix_exit(&m);
	ck_assert_str_eq(heard(), "");
}
END_TEST

START_TEST(batch_when_written_before_enabling)
{
	set_up(8);
	for (unsigned int v = 0; v < 4; v++) {
		entry(v, v);
		if (v != 2)
			unmask(v);
	}
	vmm_msix_control(&m, true, false);
	ck_assert_str_eq(heard(), "p4 a0:fee00000:0 a1:fee00000:1 a3:fee00000:3");
	ck_assert_uint_eq(vmm_msix_attached(&m), 3);
	vmm_msix_exit(&m);
	ck_assert_str_eq(heard(), "d0 d1 d3 p0");
}
END_TEST

START_TEST(growing_takes_few_steps)
{
	unsigned int steps = 0;

	set_up(64);
	vmm_msix_control(&m, true, false);
	for (unsigned int v = 0; v < 64; v++) {
		entry(v, v);
		unmask(v);
	}
	for (const char *p = heard(); (p = strchr(p, 'p')); p++)
		steps++;
	ck_assert_uint_le(steps, 7);
	ck_assert_uint_eq(m.provided, 64);
	vmm_msix_exit(&m);
}
END_TEST

START_TEST(masked_interrupts_are_pending_and_not_lost)
{
	uint64_t bits;

	set_up(64);
	for (unsigned int v = 0; v < 64; v++)
		entry(v, v);
	vmm_msix_control(&m, true, false);
	unmask(0);
	unmask(63);
	heard();
	mask(63);
	ck_assert_str_eq(heard(), "d63");
	fired[0] = fired[5] = fired[63] = true;
	vmm_msix_pba_read(&m, 0, (uint8_t *)&bits, 8);
	/* Vector 0 is delivered and not pending; 5 was never unmasked. */
	ck_assert_uint_eq(bits, 1ull << 63 | 1ull << 5);
	vmm_msix_pba_read(&m, 7, (uint8_t *)&bits, 1);
	ck_assert_uint_eq(bits & 0xff, 0x80);
	vmm_msix_pba_read(&m, 8, (uint8_t *)&bits, 8);
	ck_assert_uint_eq(bits, 0);
	unmask(63);
	ck_assert_str_eq(heard(), "a63:fee00000:3f");
	vmm_msix_exit(&m);
}
END_TEST

START_TEST(function_mask_holds_all)
{
	set_up(2);
	entry(0, 1);
	entry(1, 2);
	unmask(0);
	unmask(1);
	vmm_msix_control(&m, true, false);
	heard();
	vmm_msix_control(&m, true, true);
	ck_assert_str_eq(heard(), "d0 d1");
	vmm_msix_control(&m, true, false);
	ck_assert_str_eq(heard(), "a0:fee00000:1 a1:fee00000:2");
	vmm_msix_exit(&m);
}
END_TEST

START_TEST(message_changes_while_unmasked)
{
	uint64_t both = 0x1fee01000;

	set_up(1);
	entry(0, 1);
	unmask(0);
	vmm_msix_control(&m, true, false);
	heard();
	put(8, 0x55);
	ck_assert_str_eq(heard(), "a0:fee00000:55");
	/* Address halves in one access. */
	vmm_msix_table_write(&m, 0, (const uint8_t *)&both, 8);
	ck_assert_str_eq(heard(), "a0:1fee01000:55");
	/* Writing the same mask again is no change. */
	unmask(0);
	ck_assert_str_eq(heard(), "");
	vmm_msix_exit(&m);
}
END_TEST

START_TEST(reserved_bits_stay_zero)
{
	set_up(2);
	put(0, 0xffffffff);
	put(12, 0xffffffff);
	ck_assert_uint_eq(get(0), 0xfffffffc);
	ck_assert_uint_eq(get(12), 1);
	vmm_msix_exit(&m);
}
END_TEST

START_TEST(accesses_outside_do_nothing)
{
	uint8_t buf[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	set_up(2);
	ck_assert_int_eq(vmm_msix_table_write(&m, 32, buf, 4), 0);
	ck_assert_int_eq(vmm_msix_table_write(&m, 28, buf, 8), 0);
	ck_assert_int_eq(vmm_msix_table_write(&m, UINT64_MAX - 3, buf, 8), 0);
	ck_assert_uint_eq(get(28), 1);
	vmm_msix_table_read(&m, 30, buf, 8);
	ck_assert_uint_eq(buf[2], 0);
	vmm_msix_table_read(&m, UINT64_MAX - 1, buf, 4);
	ck_assert_uint_eq(buf[3], 0);
	/* Across two entries: both are settled. */
	entry(0, 1);
	entry(1, 2);
	vmm_msix_control(&m, true, false);
	heard();
	memset(buf, 0, sizeof(buf));
	vmm_msix_table_write(&m, 12, buf, 8);
	ck_assert_str_eq(heard(), "a0:fee00000:1");
	vmm_msix_exit(&m);
}
END_TEST

START_TEST(no_vectors_to_be_had)
{
	set_up(4);
	limit = 1;
	entry(0, 1);
	entry(2, 3);
	vmm_msix_control(&m, true, true);
	heard();
	vmm_msix_control(&m, true, false);
	ck_assert_int_eq(put(16 * 2 + 12, 0), -ENOSPC);
	ck_assert_uint_eq(vmm_msix_attached(&m), 0);
	vmm_msix_exit(&m);
}
END_TEST

/* Asking for more than is needed saves steps; that there is not so much is no failure. */
START_TEST(what_is_needed_is_enough)
{
	set_up(8);
	limit = 3;
	entry(0, 0);
	entry(4, 4);
	unmask(0);
	vmm_msix_control(&m, true, false);
	ck_assert_str_eq(heard(), "p5 p1 a0:fee00000:0");
	entry(1, 1);
	unmask(1);
	ck_assert_str_eq(heard(), "p2 a1:fee00000:1");
	entry(2, 2);
	unmask(2);
	ck_assert_str_eq(heard(), "p4 p3 a2:fee00000:2");
	ck_assert_uint_eq(m.provided, 3);
	vmm_msix_exit(&m);
}
END_TEST

START_TEST(reset_masks_again)
{
	set_up(2);
	entry(1, 2);
	unmask(1);
	vmm_msix_control(&m, true, false);
	heard();
	vmm_msix_reset(&m);
	ck_assert_str_eq(heard(), "d1 p0");
	ck_assert_uint_eq(get(28), 1);
	ck_assert_uint_eq(get(16), 0);
	vmm_msix_control(&m, true, false);
	ck_assert_str_eq(heard(), "p1");
	vmm_msix_exit(&m);
}
END_TEST

START_TEST(msi_numbers_its_messages)
{
	struct vmm_msi s;

	heard();
	vmm_msi_init(&s, &ops, NULL);
	ck_assert_int_eq(vmm_msi_set(&s, 4, 0xfee00000, 0x43, 0x4), 0);
	/* The low bits of the data are the device's. */
	ck_assert_str_eq(heard(), "p4 a0:fee00000:40 a1:fee00000:41 a3:fee00000:43");
	fired[2] = true;
	ck_assert_uint_eq(vmm_msi_pending(&s), 0x4);
	vmm_msi_set(&s, 4, 0xfee00000, 0x43, 0x1);
	ck_assert_str_eq(heard(), "d0 a2:fee00000:42");
	vmm_msi_set(&s, 4, 0xfee01000, 0x43, 0x1);
	ck_assert_str_eq(heard(), "a1:fee01000:41 a2:fee01000:42 a3:fee01000:43");
	vmm_msi_set(&s, 1, 0xfee01000, 0x43, 0);
	ck_assert_str_eq(heard(), "d1 d2 d3 p0 p1 a0:fee01000:43");
	vmm_msi_set(&s, 0, 0, 0, 0);
	ck_assert_str_eq(heard(), "d0 p0");
	ck_assert_int_eq(vmm_msi_set(&s, 3, 0, 0, 0), -EINVAL);
	ck_assert_int_eq(vmm_msi_set(&s, 64, 0, 0, 0), -EINVAL);
}
END_TEST

SUITE("msix", starts_masked_and_off, as_linux_does_it, batch_when_written_before_enabling,
      growing_takes_few_steps, masked_interrupts_are_pending_and_not_lost, function_mask_holds_all,
      message_changes_while_unmasked, reserved_bits_stay_zero, accesses_outside_do_nothing,
      no_vectors_to_be_had, what_is_needed_is_enough, reset_masks_again, msi_numbers_its_messages)
