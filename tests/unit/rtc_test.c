// SPDX-License-Identifier: GPL-2.0-only
#include "board.h"
#include "vmm/dev/rtc.h"
#include "vmm/layout.h"

#define IRQ	VMM_IRQ_RTC
#define SECONDS 0x00
#define MINUTES 0x02
#define HOURS	0x04
#define WEEKDAY 0x06
#define DAY	0x07
#define MONTH	0x08
#define YEAR	0x09
#define REG_A	0x0a
#define REG_B	0x0b
#define REG_C	0x0c
#define REG_D	0x0d
#define CENTURY 0x32

#define SET	0x80
#define PIE	0x40
#define AIE	0x20
#define UIE	0x10
#define BINARY	0x04
#define H24	0x02

static struct vmm_rtc *rtc;

static void setup(void)
{
	board_start(); /* Tuesday, 14 November 2023, 22:13:20 UTC */
	ck_assert_int_eq(vmm_rtc_new(&board.vmm, &rtc), 0);
}

static void teardown(void)
{
	vmm_rtc_free(rtc);
	board_stop();
}

static uint8_t get(uint8_t reg)
{
	outb(0x70, reg);
	return inb(0x71);
}

static void put(uint8_t reg, uint8_t value)
{
	outb(0x70, reg);
	outb(0x71, value);
}

static void check_time(unsigned int hours, unsigned int minutes, unsigned int seconds)
{
	ck_assert_uint_eq(get(HOURS), hours);
	ck_assert_uint_eq(get(MINUTES), minutes);
	ck_assert_uint_eq(get(SECONDS), seconds);
}

BOARD_TEST(bcd_by_default)
{
	ck_assert_uint_eq(get(REG_A), 0x26);
	ck_assert_uint_eq(get(REG_B), 0x02);
	ck_assert_uint_eq(get(REG_D), 0x80);
	check_time(0x22, 0x13, 0x20);
	ck_assert_uint_eq(get(DAY), 0x14);
	ck_assert_uint_eq(get(MONTH), 0x11);
	ck_assert_uint_eq(get(YEAR), 0x23);
	ck_assert_uint_eq(get(CENTURY), 0x20);
	ck_assert_uint_eq(get(WEEKDAY), 3); /* Sunday is 1 */
}

BOARD_TEST(binary)
{
	put(REG_B, BINARY | H24);
	check_time(22, 13, 20);
	ck_assert_uint_eq(get(DAY), 14);
	ck_assert_uint_eq(get(MONTH), 11);
	ck_assert_uint_eq(get(YEAR), 23);
	ck_assert_uint_eq(get(CENTURY), 20);
}

BOARD_TEST(twelve_hours)
{
	static const struct {
		int hour;
		uint8_t bcd, bin;
	} t[] = { { 0, 0x12, 12 },	   { 1, 0x01, 1 },	   { 11, 0x11, 11 },
		  { 12, 0x92, 0x80 + 12 }, { 13, 0x81, 0x80 + 1 }, { 23, 0x91, 0x80 + 11 } };
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		board.real = (1700000000 / 86400 * 86400 + t[i].hour * 3600) * BOARD_SEC;
		put(REG_B, 0);
		ck_assert_uint_eq(get(HOURS), t[i].bcd);
		put(REG_B, BINARY);
		ck_assert_uint_eq(get(HOURS), t[i].bin);
	}
}

BOARD_TEST(time_goes_on)
{
	board_advance(46 * 60 * BOARD_SEC + 39 * BOARD_SEC);
	check_time(0x22, 0x59, 0x59);
	board_advance(3601 * BOARD_SEC);
	check_time(0x00, 0x00, 0x00);
	ck_assert_uint_eq(get(DAY), 0x15);
	ck_assert_uint_eq(get(WEEKDAY), 4);
	/* Nothing is enabled: reading a clock costs no timer. */
	ck_assert_uint_eq(board.fired, 0);
}

/* mc146818_set_time() of Linux: SET, divider reset, registers, B back, A back. */
static void set_as_linux(const uint8_t *ymdhms)
{
	static const uint8_t reg[] = { YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS };
	uint8_t b = get(REG_B), a = get(REG_A);
	int i;

	put(REG_B, b | SET);
	put(REG_A, a | 0x70);
	for (i = 0; i < 6; i++)
		put(reg[i], ymdhms[i]);
	put(CENTURY, 0x20);
	put(REG_B, b);
	put(REG_A, a);
}

BOARD_TEST(setting_the_time)
{
	board_advance(BOARD_SEC / 4);
	set_as_linux((const uint8_t[]){ 0x30, 0x02, 0x28, 0x23, 0x59, 0x58 });
	check_time(0x23, 0x59, 0x58);
	/* Half a second to the first update after a divider reset. */
	board_advance(BOARD_SEC / 2 - 1000);
	ck_assert_uint_eq(get(SECONDS), 0x58);
	board_advance(2000);
	ck_assert_uint_eq(get(SECONDS), 0x59);
	board_advance(BOARD_SEC);
	check_time(0x00, 0x00, 0x00);
	ck_assert_uint_eq(get(DAY), 0x01);
	ck_assert_uint_eq(get(MONTH), 0x03);
	ck_assert_uint_eq(get(YEAR), 0x30);
}

BOARD_TEST(time_stands_still_while_set)
{
	put(REG_B, SET | H24);
	board_advance(10 * BOARD_SEC);
	check_time(0x22, 0x13, 0x20);
	put(REG_B, H24);
	board_advance(BOARD_SEC);
	check_time(0x22, 0x13, 0x21);
}

BOARD_TEST(setting_one_register_while_running)
{
	board_advance(BOARD_SEC / 4);
	put(HOURS, 0x08);
	check_time(0x08, 0x13, 0x20);
	/* The phase of the second stays. */
	board_advance(BOARD_SEC * 3 / 4);
	check_time(0x08, 0x13, 0x21);
	put(CENTURY, 0x19);
	ck_assert_uint_eq(get(CENTURY), 0x19);
	ck_assert_uint_eq(get(YEAR), 0x23);
}

/* Before 1970 the host's time is negative, before 1900 the C library's year as well. */
BOARD_TEST(long_ago)
{
	put(CENTURY, 0x18);
	put(YEAR, 0x50);
	ck_assert_uint_eq(get(CENTURY), 0x18);
	ck_assert_uint_eq(get(YEAR), 0x50);
	check_time(0x22, 0x13, 0x20);
	put(REG_B, H24 | PIE);
	board_advance(BOARD_SEC / 100);
	ck_assert_uint_eq(board.edges[IRQ], 1);
	ck_assert_uint_eq(get(REG_C), 0xc0);
	board_advance(BOARD_SEC / 1000);
	ck_assert_uint_eq(board.edges[IRQ], 2);
}

BOARD_TEST(nonsense_is_survived)
{
	unsigned int reg, value;

	for (value = 0; value < 256; value += 5)
		for (reg = 0; reg < 128; reg++) {
			put(reg, value);
			board_advance(12345);
			get(reg);
		}
	put(REG_A, 0x26);
	put(REG_B, H24);
	for (reg = 0; reg < 10; reg++)
		put(reg, 0xff);
	put(CENTURY, 0xff);
	put(REG_B, H24 | AIE | UIE);
	board_advance(2 * BOARD_SEC);
}

BOARD_TEST(update_in_progress)
{
	ck_assert_uint_eq(get(REG_A) & 0x80, 0);
	board_advance(BOARD_SEC - 300000);
	ck_assert_uint_eq(get(REG_A) & 0x80, 0);
	board_advance(100000); /* 200 us before the update */
	ck_assert_uint_eq(get(REG_A) & 0x80, 0x80);
	put(REG_B, SET | H24);
	ck_assert_uint_eq(get(REG_A) & 0x80, 0);
	put(REG_B, H24);
	board_advance(200000);
	ck_assert_uint_eq(get(REG_A) & 0x80, 0);
	put(REG_A, 0xa6); /* the bit cannot be written */
	ck_assert_uint_eq(get(REG_A), 0x26);
}

BOARD_TEST(update_interrupt)
{
	put(REG_B, H24 | UIE);
	board_advance(BOARD_SEC - 1000);
	ck_assert(!board.line[IRQ]);
	board_advance(2000);
	ck_assert(board.line[IRQ]);
	ck_assert_uint_eq(get(SECONDS), 0x21);
	ck_assert_uint_eq(get(REG_C) & 0x90, 0x90);
	ck_assert(!board.line[IRQ]);
	ck_assert_uint_eq(get(REG_C), 0);
	board_advance(3 * BOARD_SEC);
	/* Not answered: it does not interrupt a second time. */
	ck_assert_uint_eq(board.edges[IRQ], 2);
	get(REG_C);
	board_advance(BOARD_SEC);
	ck_assert_uint_eq(board.edges[IRQ], 3);
}

BOARD_TEST(alarm_at_a_time)
{
	put(0x05, 0x22);
	put(0x03, 0x14);
	put(0x01, 0x05);
	put(REG_B, H24 | AIE);
	board_advance(44 * BOARD_SEC);
	ck_assert(!board.line[IRQ]);
	board_advance(BOARD_SEC + 1000);
	ck_assert(board.line[IRQ]);
	check_time(0x22, 0x14, 0x05);
	ck_assert_uint_eq(get(REG_C) & 0xb0, 0xb0);
	ck_assert(!board.line[IRQ]);
	/* Once a day. */
	board_advance(86399 * BOARD_SEC);
	ck_assert_uint_eq(board.edges[IRQ], 1);
	board_advance(2 * BOARD_SEC);
	ck_assert_uint_eq(board.edges[IRQ], 2);
}

BOARD_TEST(alarm_earlier_than_now_is_tomorrow)
{
	put(0x05, 0x22);
	put(0x03, 0x13);
	put(0x01, 0x20); /* this very second: over */
	put(REG_B, H24 | AIE);
	board_advance(86399 * BOARD_SEC);
	ck_assert(!board.line[IRQ]);
	board_advance(BOARD_SEC);
	ck_assert(board.line[IRQ]);
}

BOARD_TEST(alarm_wildcards)
{
	put(0x05, 0xff);
	put(0x03, 0xc0);
	put(0x01, 0x30);
	put(REG_B, H24 | AIE);
	board_advance(11 * BOARD_SEC);
	ck_assert_uint_eq(board.edges[IRQ], 1);
	get(REG_C);
	board_advance(60 * BOARD_SEC);
	ck_assert_uint_eq(board.edges[IRQ], 2);
	get(REG_C);
	/* Every second. */
	put(0x01, 0xff);
	board_advance(BOARD_SEC);
	ck_assert_uint_eq(board.edges[IRQ], 3);
}

BOARD_TEST(alarm_in_twelve_hour_binary)
{
	put(REG_B, BINARY);
	put(0x05, 0x80 + 11); /* 11 p.m. */
	put(0x03, 0);
	put(0x01, 0);
	put(REG_B, BINARY | AIE);
	board_advance(2799 * BOARD_SEC);
	ck_assert(!board.line[IRQ]);
	board_advance(BOARD_SEC);
	ck_assert(board.line[IRQ]);
}

BOARD_TEST(alarm_that_never_matches)
{
	put(0x05, 0x24);
	put(0x03, 0x00);
	put(0x01, 0x00);
	put(REG_B, H24 | AIE);
	board_advance(3 * 86400 * BOARD_SEC);
	ck_assert_uint_eq(board.edges[IRQ], 0);
	ck_assert_uint_eq(get(REG_C) & 0x20, 0);
}

BOARD_TEST(periodic_interrupt)
{
	int i;

	put(REG_B, H24 | PIE); /* 1024 Hz after power-on */
	for (i = 0; i < 1000; i++) {
		board_advance(BOARD_SEC / 1000);
		if (get(REG_C) & 0x40)
			ck_assert(!board.line[IRQ]);
	}
	ck_assert_uint_ge(board.edges[IRQ], 998);
	ck_assert_uint_le(board.edges[IRQ], 1024);
	/* 2 Hz, the slowest */
	put(REG_A, 0x2f);
	get(REG_C);
	board.edges[IRQ] = 0;
	for (i = 0; i < 1000; i++) {
		board_advance(BOARD_SEC / 100);
		get(REG_C);
	}
	ck_assert_uint_eq(board.edges[IRQ], 20);
}

BOARD_TEST(periodic_interrupt_nobody_answers)
{
	put(REG_B, H24 | PIE);
	board_advance(10 * BOARD_SEC);
	ck_assert_uint_eq(board.edges[IRQ], 1);
	ck_assert_uint_le(board.fired, 3);
}

BOARD_TEST(flags_without_interrupts)
{
	get(REG_C);
	put(0x01, 0xff);
	put(0x03, 0xff);
	put(0x05, 0xff);
	board_advance(2 * BOARD_SEC);
	ck_assert_uint_eq(board.fired, 0);
	/* Polled: set, but no request. */
	ck_assert_uint_eq(get(REG_C), 0x70);
	ck_assert_uint_eq(get(REG_C), 0x00);
	ck_assert_uint_eq(board.edges[IRQ], 0);
}

BOARD_TEST(enabling_with_a_flag_set)
{
	put(REG_B, H24 | UIE);
	board_advance(BOARD_SEC);
	put(REG_B, H24);
	ck_assert(!board.line[IRQ]);
	put(REG_B, H24 | UIE);
	ck_assert(board.line[IRQ]);
}

BOARD_TEST(host_clock_set_back)
{
	put(REG_B, H24 | UIE);
	board.real -= 3600 * BOARD_SEC;
	check_time(0x21, 0x13, 0x20);
	board_advance(3 * BOARD_SEC);
	ck_assert(board.line[IRQ]);
}

BOARD_TEST(reset_keeps_the_time)
{
	put(HOURS, 0x05);
	put(0x40, 0x77);
	put(REG_B, H24 | BINARY | UIE | AIE | PIE);
	board_advance(2 * BOARD_SEC);
	ck_assert(board.line[IRQ]);
	vmm_rtc_reset(rtc);
	ck_assert(!board.line[IRQ]);
	ck_assert_uint_eq(get(REG_B), H24 | BINARY);
	ck_assert_uint_eq(get(HOURS), 5);
	ck_assert_uint_eq(get(0x40), 0x77);
}

static unsigned int word(unsigned int reg)
{
	return get(reg) | get(reg + 1) << 8;
}

static void with_memory(uint64_t mem)
{
	vmm_rtc_free(rtc);
	board.config.mem = mem;
	ck_assert_int_eq(vmm_rtc_new(&board.vmm, &rtc), 0);
}

BOARD_TEST(memory_size)
{
	unsigned int sum = 0, i;

	with_memory(48ull << 20);
	ck_assert_uint_eq(word(0x15), 640);
	ck_assert_uint_eq(word(0x17), 47 * 1024);
	ck_assert_uint_eq(word(0x30), 47 * 1024);
	ck_assert_uint_eq(word(0x34), 32 * 16);
	ck_assert_uint_eq(word(0x5b), 0);
	with_memory(5ull << 30);
	ck_assert_uint_eq(word(0x30), 0xffff);
	ck_assert_uint_eq(word(0x34), (3072 - 16) * 16);
	ck_assert_uint_eq(word(0x5b) | get(0x5d) << 16, 2048 * 16);
	for (i = 0x10; i <= 0x2d; i++)
		sum += get(i);
	ck_assert_uint_eq(get(0x2e) << 8 | get(0x2f), sum);
}

BOARD_TEST(index_port)
{
	outb(0x70, 0x80 | HOURS); /* with the NMI bit */
	ck_assert_uint_eq(inb(0x71), 0x22);
	ck_assert_uint_eq(inb(0x70), 0xff);
	put(0x0f, 0x0a); /* the shutdown byte is memory */
	ck_assert_uint_eq(get(0x0f), 0x0a);
	board_out(0x70, 0x5500 | 0x40, 2);
	ck_assert_uint_eq(get(0x40), 0x55);
	put(REG_C, 0xff);
	put(REG_D, 0x00);
	ck_assert_uint_eq(get(REG_D), 0x80);
}

SUITE("rtc", bcd_by_default, binary, twelve_hours, time_goes_on, setting_the_time,
      time_stands_still_while_set, setting_one_register_while_running, long_ago,
      nonsense_is_survived, update_in_progress, update_interrupt, alarm_at_a_time,
      alarm_earlier_than_now_is_tomorrow, alarm_wildcards, alarm_in_twelve_hour_binary,
      alarm_that_never_matches, periodic_interrupt, periodic_interrupt_nobody_answers,
      flags_without_interrupts, enabling_with_a_flag_set, host_clock_set_back, reset_keeps_the_time,
      memory_size, index_port)
