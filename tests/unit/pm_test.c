// SPDX-License-Identifier: GPL-2.0-only
#include "board.h"
#include "vmm/dev/pm.h"
#include "vmm/layout.h"

#define STS	VMM_PORT_PM1_EVT
#define EN	(VMM_PORT_PM1_EVT + 2)
#define CNT	VMM_PORT_PM1_CNT
#define GPE_STS VMM_PORT_GPE0
#define GPE_EN	(VMM_PORT_GPE0 + 2)
#define SCI	VMM_IRQ_SCI

static struct vmm_pm *pm;

static void setup(void)
{
	board_start();
	ck_assert_int_eq(vmm_pm_new(&board.vmm, &pm), 0);
}

static void teardown(void)
{
	vmm_pm_free(pm);
	board_stop();
}

BOARD_TEST(timer_counts_at_its_rate)
{
	uint32_t start = board_in(VMM_PORT_PM_TMR, 4);

	board_advance(BOARD_SEC);
	ck_assert_uint_eq(board_in(VMM_PORT_PM_TMR, 4) - start, 3579545);
}

BOARD_TEST(timer_does_not_drift)
{
	uint32_t start = board_in(VMM_PORT_PM_TMR, 4);
	int i;

	/* Steps that are no whole number of ticks must not lose their rests. */
	for (i = 0; i < 1000000; i++) {
		board.mono += 1000;
		if (i % 1000 == 0)
			board_in(VMM_PORT_PM_TMR, 4);
	}
	ck_assert_uint_eq(board_in(VMM_PORT_PM_TMR, 4) - start, 3579545);
}

BOARD_TEST(timer_wraps_at_32_bits)
{
	uint64_t day = 86400ull * 3579545;

	board_advance(86400 * BOARD_SEC);
	ck_assert_uint_eq(board_in(VMM_PORT_PM_TMR, 4), (uint32_t)day);
	ck_assert_uint_eq(board_in(VMM_PORT_PM_TMR + 1, 1), (day >> 8) & 0xff);
}

BOARD_TEST(timer_overflow_interrupts)
{
	board_out(EN, 1, 2);
	ck_assert(!board.line[SCI]);
	board_advance(599 * BOARD_SEC);
	ck_assert_uint_eq(board_in(STS, 2) & 1, 0);
	board_advance(2 * BOARD_SEC); /* bit 31 changes after 599.9 s */
	ck_assert(board.line[SCI]);
	ck_assert_uint_eq(board_in(STS, 2) & 1, 1);
	board_out(STS, 1, 2);
	ck_assert(!board.line[SCI]);
	ck_assert_uint_eq(board_in(STS, 2) & 1, 0);
	board_advance(600 * BOARD_SEC);
	ck_assert(board.line[SCI]);
	ck_assert_uint_eq(board.edges[SCI], 2);
}

BOARD_TEST(timer_overflow_is_seen_without_interrupt)
{
	board_advance(601 * BOARD_SEC);
	ck_assert_uint_eq(board.fired, 0);
	ck_assert_uint_eq(board_in(STS, 2) & 1, 1);
	ck_assert(!board.line[SCI]);
}

BOARD_TEST(power_button)
{
	vmm_pm_power_button(pm);
	ck_assert(!board.line[SCI]);
	ck_assert_uint_eq(board_in(STS, 2), 0x100);
	board_out(EN, 0x120, 2);
	ck_assert(board.line[SCI]);
	ck_assert_uint_eq(board_in(EN, 2), 0x120);
	board_out(STS, 0x20, 2); /* another bit does not clear it */
	ck_assert(board.line[SCI]);
	outb(STS + 1, 0x01); /* byte access to the upper half */
	ck_assert(!board.line[SCI]);
	ck_assert_uint_eq(board_in(STS, 4), 0x120u << 16);
}

BOARD_TEST(only_its_own_ports)
{
	static const uint16_t others[] = { 0x5ff, 0x606, 0x607, 0x614 };
	uint8_t byte;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_ptr_null(vmm_bus_access(board.vmm.pio, others[i], &byte, 1, false));
}

BOARD_TEST(enables_read_back)
{
	board_out(EN, 0xffff, 2);
	ck_assert_uint_eq(board_in(EN, 2), 0x0721);
	ck_assert(!board.line[SCI]);
	board_out(EN, 1 << 10, 2); /* RTC: rtc_cmos of Linux checks it */
	ck_assert_uint_eq(board_in(EN, 2), 1 << 10);
}

BOARD_TEST(acpi_mode_is_always_on)
{
	ck_assert_uint_eq(board_in(CNT, 2) & 1, 1);
	board_out(CNT, 0, 2);
	ck_assert_uint_eq(board_in(CNT, 2) & 1, 1);
	ck_assert_uint_eq(board.ends, 0);
}

BOARD_TEST(sleep_type_without_enable_does_nothing)
{
	board_out(CNT, 5 << 10, 2);
	ck_assert_uint_eq(board.ends, 0);
	/* Linux writes the type first and then the same with SLP_EN. */
	board_out(CNT, 5 << 10 | 1 << 13, 2);
	ck_assert_uint_eq(board.ends, 1);
	ck_assert_int_eq(board.why, VMM_END_POWEROFF);
	ck_assert_uint_eq(board_in(CNT, 2) & (1 << 13), 0);
}

BOARD_TEST(other_sleep_types_are_not_power_off)
{
	unsigned int type;

	for (type = 0; type < 8; type++)
		if (type != 5)
			board_out(CNT, type << 10 | 1 << 13, 2);
	ck_assert_uint_eq(board.ends, 0);
}

BOARD_TEST(power_off_by_upper_byte)
{
	outb(CNT + 1, (5 << 10 | 1 << 13) >> 8);
	ck_assert_uint_eq(board.ends, 1);
}

static unsigned int ejected[32];

static void on_eject(void *priv, unsigned int slot)
{
	ck_assert_ptr_eq(priv, &board);
	ejected[slot]++;
}

BOARD_TEST(ejection)
{
	memset(ejected, 0, sizeof(ejected));
	board_out(GPE_EN, 1 << 1, 2);
	vmm_pm_eject_request(pm, 3, on_eject, &board);
	vmm_pm_eject_request(pm, 31, on_eject, &board);
	ck_assert(board.line[SCI]);
	ck_assert_uint_eq(board_in(GPE_STS, 2), 1 << 1);
	ck_assert_uint_eq(board_in(VMM_PORT_EJECT, 4), 1u << 3 | 1u << 31);
	board_out(GPE_STS, 1 << 1, 2);
	ck_assert(!board.line[SCI]);
	/* What _EJ0 of slot 3 writes. */
	board_out(VMM_PORT_EJECT, 1u << 3, 4);
	ck_assert_uint_eq(ejected[3], 1);
	ck_assert_uint_eq(ejected[31], 0);
	ck_assert_uint_eq(board_in(VMM_PORT_EJECT, 4), 1u << 31);
	board_out(VMM_PORT_EJECT, 1u << 3, 4);
	ck_assert_uint_eq(ejected[3], 1);
	board_out(VMM_PORT_EJECT, 1u << 31, 4);
	ck_assert_uint_eq(ejected[31], 1);
}

BOARD_TEST(ejection_that_nobody_asked_for)
{
	memset(ejected, 0, sizeof(ejected));
	vmm_pm_eject_request(pm, 3, on_eject, &board);
	vmm_pm_eject_cancel(pm, 3);
	vmm_pm_eject_request(pm, 0, on_eject, &board);
	vmm_pm_eject_request(pm, 32, on_eject, &board);
	vmm_pm_eject_cancel(pm, 0);
	vmm_pm_eject_cancel(pm, 32);
	ck_assert_uint_eq(board_in(VMM_PORT_EJECT, 4), 0);
	board_out(VMM_PORT_EJECT, 0xffffffff, 4);
	ck_assert_uint_eq(ejected[3] + ejected[0], 0);
}

BOARD_TEST(enabling_a_pending_event_interrupts)
{
	vmm_pm_eject_request(pm, 5, on_eject, &board);
	ck_assert(!board.line[SCI]);
	outb(GPE_EN, 1 << 1);
	ck_assert(board.line[SCI]);
	outb(GPE_EN, 0);
	ck_assert(!board.line[SCI]);
}

BOARD_TEST(reset_register)
{
	vmm_pm_reset_register(pm, 0x02);
	ck_assert_uint_eq(board.resets, 0);
	vmm_pm_reset_register(pm, 0x06);
	ck_assert_uint_eq(board.resets, 1);
	vmm_pm_reset_register(pm, 0x0e);
	ck_assert_uint_eq(board.resets, 2);
}

BOARD_TEST(reset_forgets_everything)
{
	board_out(GPE_EN, 1 << 1, 2);
	board_out(EN, 0x101, 2);
	vmm_pm_eject_request(pm, 7, on_eject, &board);
	vmm_pm_power_button(pm);
	ck_assert(board.line[SCI]);
	vmm_pm_reset(pm);
	ck_assert(!board.line[SCI]);
	ck_assert_uint_eq(board_in(STS, 4), 0);
	ck_assert_uint_eq(board_in(GPE_STS, 4), 0);
	ck_assert_uint_eq(board_in(VMM_PORT_EJECT, 4), 0);
	ck_assert_uint_eq(board_in(VMM_PORT_PM_TMR, 4), 0);
}

SUITE("pm", timer_counts_at_its_rate, timer_does_not_drift, timer_wraps_at_32_bits,
      timer_overflow_interrupts, timer_overflow_is_seen_without_interrupt, power_button,
      enables_read_back, only_its_own_ports, acpi_mode_is_always_on,
      sleep_type_without_enable_does_nothing, other_sleep_types_are_not_power_off,
      power_off_by_upper_byte, ejection, ejection_that_nobody_asked_for,
      enabling_a_pending_event_interrupts, reset_register, reset_forgets_everything)
