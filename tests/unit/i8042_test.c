// SPDX-License-Identifier: GPL-2.0-only
#include "board.h"
#include "vmm/dev/i8042.h"

#define DATA	0x60
#define COMMAND 0x64
#define SYSTEM	0x92
#define OBF	0x01
#define TIMEOUT 0x40

static struct vmm_i8042 *ctl;

static void setup(void)
{
	board_start();
	ck_assert_int_eq(vmm_i8042_new(&board.vmm, &ctl), 0);
}

static void teardown(void)
{
	vmm_i8042_free(ctl);
	board_stop();
}

/* What a driver does: send a command, expect one byte at once. */
static uint8_t ask(uint8_t cmd)
{
	outb(COMMAND, cmd);
	ck_assert(inb(COMMAND) & OBF);
	return inb(DATA);
}

BOARD_TEST(probe_as_linux_does)
{
	/* i8042_flush: nothing waits; i8042_controller_check */
	ck_assert_uint_eq(inb(COMMAND) & OBF, 0);
	ck_assert_uint_eq(ask(0xaa), 0x55);
	ck_assert_uint_eq(inb(COMMAND) & OBF, 0);
	/* key lock open, or the kernel warns */
	ck_assert_uint_eq(inb(COMMAND) & 0x10, 0x10);
	/* the configuration byte reads back, translation included */
	ck_assert_uint_eq(ask(0x20) & 0x40, 0x40);
	outb(COMMAND, 0x60);
	outb(DATA, 0x34);
	ck_assert_uint_eq(ask(0x20), 0x34);
	ck_assert_uint_eq(ask(0xab), 0x00);
}

BOARD_TEST(there_is_no_mouse_port)
{
	outb(COMMAND, 0xd3);
	outb(DATA, 0x5a);
	/* The answer does not carry the mouse's mark (bit 5). */
	ck_assert_uint_eq(inb(COMMAND) & 0x21, 0x01);
	inb(DATA);
	ck_assert_uint_ne(ask(0xa9), 0x00);
	outb(COMMAND, 0xa7);
	ck_assert_uint_eq(ask(0x20) & 0x20, 0x20);
	outb(COMMAND, 0xa8);
	ck_assert_uint_eq(ask(0x20) & 0x20, 0x00);
}

BOARD_TEST(there_is_no_keyboard)
{
	outb(COMMAND, 0x60);
	outb(DATA, 0x45);
	outb(DATA, 0xf2); /* identify */
	ck_assert_uint_eq(inb(COMMAND) & (OBF | TIMEOUT), OBF | TIMEOUT);
	ck_assert(board.line[1]);
	ck_assert_uint_eq(inb(DATA), 0xfe);
	ck_assert(!board.line[1]);
	ck_assert_uint_eq(inb(COMMAND) & (OBF | TIMEOUT), 0);
}

BOARD_TEST(keyboard_interface_on_and_off)
{
	outb(COMMAND, 0xad);
	ck_assert_uint_eq(ask(0x20) & 0x10, 0x10);
	outb(COMMAND, 0xae);
	ck_assert_uint_eq(ask(0x20) & 0x10, 0x00);
}

BOARD_TEST(reset_by_pulse)
{
	outb(COMMAND, 0xff); /* pulses nothing */
	ck_assert_uint_eq(board.resets, 0);
	outb(COMMAND, 0xfe);
	ck_assert_uint_eq(board.resets, 1);
}

BOARD_TEST(reset_by_output_port)
{
	ck_assert_uint_eq(ask(0xd0) & 0x03, 0x03);
	outb(COMMAND, 0xd1);
	outb(DATA, 0xdf); /* opens A20 */
	ck_assert_uint_eq(board.resets, 0);
	outb(COMMAND, 0xd1);
	outb(DATA, 0xde);
	ck_assert_uint_eq(board.resets, 1);
}

BOARD_TEST(reset_by_port_92)
{
	ck_assert_uint_eq(inb(SYSTEM) & 3, 2);
	outb(SYSTEM, inb(SYSTEM) | 2);
	ck_assert_uint_eq(board.resets, 0);
	outb(SYSTEM, 1);
	ck_assert_uint_eq(board.resets, 1);
	ck_assert_uint_eq(inb(SYSTEM) & 2, 2);
}

BOARD_TEST(back_to_power_on)
{
	uint8_t config = ask(0x20);

	outb(COMMAND, 0x60);
	outb(DATA, 0x00);
	outb(COMMAND, 0x60); /* half a command */
	vmm_i8042_reset(ctl);
	ck_assert_uint_eq(ask(0x20), config);
}

SUITE("i8042", probe_as_linux_does, there_is_no_mouse_port, there_is_no_keyboard,
      keyboard_interface_on_and_off, reset_by_pulse, reset_by_output_port, reset_by_port_92,
      back_to_power_on)
