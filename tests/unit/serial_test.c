// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "board.h"
#include "vmm/dev/serial.h"
#include "vmm/layout.h"

#define PORT VMM_PORT_COM1
#define IRQ  VMM_IRQ_COM1
#define IER  (PORT + 1)
#define IIR  (PORT + 2)
#define FCR  (PORT + 2)
#define LCR  (PORT + 3)
#define MCR  (PORT + 4)
#define LSR  (PORT + 5)
#define MSR  (PORT + 6)
#define SCR  (PORT + 7)

static struct vmm_serial *serial;
static int out[2], in[2]; /* [1] is written, [0] is read */

static void setup(void)
{
	board_start();
	ck_assert_int_eq(pipe2(out, O_NONBLOCK), 0);
	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(vmm_serial_new(&board.vmm, out[1], in[0], &serial), 0);
}

static void teardown(void)
{
	vmm_serial_free(serial);
	board_stop();
	close(out[0]);
	close(out[1]);
	close(in[0]);
	close(in[1]);
}

/* What has arrived at the reader's end so far. */
static const char *output(void)
{
	static char text[200000];
	ssize_t n = read(out[0], text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	return text;
}

static void print(const char *s)
{
	while (*s)
		outb(PORT, *s++);
}

static void type(const char *s)
{
	ck_assert_int_eq(write(in[1], s, strlen(s)), strlen(s));
}

/* A driver that has opened the port: FIFOs on, trigger at 8, interrupts through. */
static void open_port(void)
{
	outb(LCR, 0x80);
	outb(PORT, 1); /* 115200 baud */
	outb(IER, 0);
	outb(LCR, 0x03);
	outb(FCR, 0x87);
	outb(MCR, 0x0b);
	outb(IER, 0x05);
}

BOARD_TEST(registers_at_power_on)
{
	ck_assert_uint_eq(inb(IER), 0);
	ck_assert_uint_eq(inb(IIR), 0x01);
	ck_assert_uint_eq(inb(LSR), 0x60);
	ck_assert_uint_eq(inb(MSR), 0xb0); /* carrier, ready, clear to send */
	outb(IER, 0xff);
	ck_assert_uint_eq(inb(IER), 0x0f);
	outb(MCR, 0xff);
	ck_assert_uint_eq(inb(MCR), 0x1f);
	outb(SCR, 0xa5);
	ck_assert_uint_eq(inb(SCR), 0xa5);
}

/* The steps of Linux's 8250 autoconfig() and autoconfig_16550a() that tell chips apart. */
BOARD_TEST(linux_finds_a_16550a)
{
	outb(IER, 0);
	ck_assert_uint_eq(inb(IER) & 0x0f, 0);
	outb(IER, 0x0f);
	ck_assert_uint_eq(inb(IER) & 0x0f, 0x0f);
	outb(IER, 0);
	outb(MCR, 0x1a); /* loopback with RTS and OUT2 */
	ck_assert_uint_eq(inb(MSR) & 0xf0, 0x90);
	outb(MCR, 0);
	outb(LCR, 0xbf);
	outb(FCR, 0);
	outb(LCR, 0);
	outb(FCR, 0x01);
	ck_assert_uint_eq(inb(IIR) >> 6, 3);
	outb(LCR, 0x80);
	ck_assert_uint_ne(inb(IIR), 0); /* no EFR: not a 16650 */
	outb(LCR, 0xbf);
	ck_assert_uint_ne(inb(IIR), 0);
	outb(LCR, 0);
	outb(FCR, 0x01);
	ck_assert_uint_eq(inb(IIR) >> 5, 6);
	outb(FCR, 0x21); /* 64-byte FIFO: not a 16750 */
	ck_assert_uint_eq(inb(IIR) >> 5, 6);
	outb(LCR, 0x80);
	outb(FCR, 0x21);
	ck_assert_uint_eq(inb(IIR) >> 5, 6);
	outb(LCR, 0);
	outb(IER, 0x40); /* not an XScale */
	ck_assert_uint_eq(inb(IER), 0);
}

BOARD_TEST(divisor_is_behind_its_latch)
{
	outb(LCR, 0x83);
	outb(PORT, 0x34);
	outb(IER, 0x12);
	ck_assert_uint_eq(inb(PORT), 0x34);
	ck_assert_uint_eq(inb(IER), 0x12);
	outb(LCR, 0x03);
	ck_assert_uint_eq(inb(IER), 0);
	ck_assert_str_eq(output(), "");
}

BOARD_TEST(fifo_bits_follow_fcr)
{
	ck_assert_uint_eq(inb(IIR) & 0xc0, 0);
	outb(FCR, 0x01);
	ck_assert_uint_eq(inb(IIR) & 0xc0, 0xc0);
	outb(FCR, 0x00);
	ck_assert_uint_eq(inb(IIR) & 0xc0, 0);
}

BOARD_TEST(a_line_goes_out_with_its_newline)
{
	print("hello");
	ck_assert_str_eq(output(), "");
	print("\n");
	ck_assert_str_eq(output(), "hello\n");
	ck_assert_uint_eq(inb(LSR), 0x60);
}

BOARD_TEST(a_prompt_goes_out_soon)
{
	print("login: ");
	board_advance(20000000);
	ck_assert_str_eq(output(), "login: ");
}

BOARD_TEST(long_output_does_not_wait_for_a_newline)
{
	int i;

	for (i = 0; i < 4000; i++)
		outb(PORT, 'x');
	ck_assert_uint_ge(strlen(output()), 2000);
}

BOARD_TEST(nothing_is_lost_at_the_end)
{
	print("Power down");
	vmm_serial_free(serial);
	ck_assert_str_eq(output(), "Power down");
	ck_assert_int_eq(vmm_serial_new(&board.vmm, out[1], in[0], &serial), 0);
}

/* Fill the pipe so that a write would block, then print more than the ring holds. */
BOARD_TEST(a_reader_that_sleeps_does_not_stop_the_guest)
{
	static const char filler[4096];
	const char *text;
	int i, flags;

	while (write(out[1], filler, sizeof(filler)) > 0)
		;
	/* Blocking mode, as standard output usually is. */
	flags = fcntl(out[1], F_GETFL);
	ck_assert_int_eq(fcntl(out[1], F_SETFL, flags & ~O_NONBLOCK), 0);
	alarm(20);
	for (i = 0; i < 200000; i++)
		outb(PORT, i % 64 == 63 ? '\n' : 'a' + i / 64 % 26);
	print("last line\n");
	ck_assert_uint_eq(inb(LSR), 0x60);
	/* The reader wakes up: the newest output is still there. */
	while (read(out[0], (char[4096]){ 0 }, 4096) > 0)
		;
	for (i = 0; i < 40; i++) {
		board_advance(20000000);
		text = output();
		if (strstr(text, "last line\n"))
			return;
	}
	ck_abort_msg("the last line never came");
}

BOARD_TEST(a_reader_that_is_gone_does_not_kill)
{
	close(out[0]);
	print("nobody reads this\n");
	board_advance(BOARD_SEC);
	print("nor this");
	board_advance(BOARD_SEC);
	ck_assert_uint_eq(inb(LSR), 0x60);
	ck_assert_int_eq(open("/dev/null", O_RDONLY), out[0]);
}

BOARD_TEST(output_without_descriptor)
{
	vmm_serial_free(serial);
	ck_assert_int_eq(vmm_serial_new(&board.vmm, -1, -1, &serial), 0);
	print("into the void\n");
	board_advance(BOARD_SEC);
	ck_assert_uint_eq(board.fired, 0);
	ck_assert_uint_eq(inb(LSR), 0x60);
}

BOARD_TEST(transmitter_interrupt)
{
	outb(FCR, 0x01);
	outb(MCR, 0x08);
	outb(IER, 0x02);
	ck_assert(board.line[IRQ]);
	ck_assert_uint_eq(inb(IIR), 0xc2);
	/* Reading it was the answer. */
	ck_assert(!board.line[IRQ]);
	ck_assert_uint_eq(inb(IIR), 0xc1);
	outb(PORT, 'x');
	ck_assert(board.line[IRQ]);
	ck_assert_uint_eq(board.edges[IRQ], 2);
	/* A second byte makes an edge again although nobody has looked. */
	outb(PORT, 'y');
	ck_assert_uint_eq(board.edges[IRQ], 3);
	/* Off and on again raises it again: Linux takes a chip that does not for broken. */
	inb(IIR);
	outb(IER, 0);
	outb(IER, 0x02);
	ck_assert_uint_eq(inb(IIR), 0xc2);
}

BOARD_TEST(out2_gates_the_interrupt)
{
	outb(IER, 0x02);
	ck_assert(!board.line[IRQ]);
	ck_assert_uint_eq(inb(IIR) & 0x0f, 0x02);
	outb(IER, 0);
	outb(IER, 0x02);
	outb(MCR, 0x08);
	ck_assert(board.line[IRQ]);
	outb(MCR, 0x18);
	ck_assert(!board.line[IRQ]);
}

BOARD_TEST(loopback)
{
	open_port();
	outb(MCR, 0x10);
	print("ab");
	ck_assert_str_eq(output(), "");
	ck_assert_uint_eq(inb(LSR) & 1, 1);
	ck_assert_uint_eq(inb(PORT), 'a');
	ck_assert_uint_eq(inb(PORT), 'b');
	ck_assert_uint_eq(inb(LSR) & 1, 0);
	/* Modem lines are wired across: RTS to CTS, DTR to DSR, OUT1 to RI, OUT2 to DCD. */
	outb(MCR, 0x12);
	ck_assert_uint_eq(inb(MSR) & 0xf0, 0x10);
	outb(MCR, 0x11);
	ck_assert_uint_eq(inb(MSR) & 0xf0, 0x20);
	outb(MCR, 0x14);
	ck_assert_uint_eq(inb(MSR) & 0xf0, 0x40);
	outb(MCR, 0x18);
	ck_assert_uint_eq(inb(MSR) & 0xf0, 0x80);
}

BOARD_TEST(loopback_overrun)
{
	int i;

	outb(FCR, 0x01);
	outb(MCR, 0x10);
	for (i = 0; i < 17; i++)
		outb(PORT, i);
	ck_assert_uint_eq(inb(LSR) & 0x03, 0x03);
	ck_assert_uint_eq(inb(LSR) & 0x03, 0x01); /* reading clears it */
	for (i = 0; i < 16; i++)
		ck_assert_uint_eq(inb(PORT), i);
	ck_assert_uint_eq(inb(LSR) & 0x01, 0);
}

BOARD_TEST(modem_status_interrupt)
{
	inb(MSR);
	outb(MCR, 0x08);
	outb(IER, 0x08);
	ck_assert(!board.line[IRQ]);
	outb(MCR, 0x18); /* loopback: CTS, DSR fall; DCD stays, by OUT2 */
	outb(MCR, 0x08);
	ck_assert(board.line[IRQ]);
	ck_assert_uint_eq(inb(IIR) & 0x0f, 0x00);
	ck_assert_uint_eq(inb(MSR), 0xb3);
	ck_assert(!board.line[IRQ]);
	ck_assert_uint_eq(inb(MSR), 0xb0);
}

BOARD_TEST(ring_counts_when_it_ends)
{
	outb(MCR, 0x10);
	inb(MSR);
	outb(MCR, 0x14);
	ck_assert_uint_eq(inb(MSR) & 0x0f, 0x00);
	outb(MCR, 0x10);
	ck_assert_uint_eq(inb(MSR) & 0x0f, 0x04);
}

BOARD_TEST(input_waits_until_somebody_listens)
{
	type("early");
	ck_assert(!board_watches(in[0]));
	open_port();
	ck_assert(board_watches(in[0]));
	board_readable(in[0]);
	ck_assert_uint_eq(inb(PORT), 'e');
}

BOARD_TEST(input_at_the_trigger_level)
{
	open_port();
	type("12345678");
	board_readable(in[0]);
	ck_assert(board.line[IRQ]);
	ck_assert_uint_eq(inb(IIR), 0xc4);
	ck_assert_uint_eq(inb(LSR), 0x61);
	ck_assert_uint_eq(inb(PORT), '1');
	/* Below the level now: only the timeout brings it back. */
	ck_assert_uint_eq(inb(IIR), 0xc1);
	ck_assert(!board.line[IRQ]);
	board_advance(400000); /* four characters of 10 bits at 115200 baud are 347 us */
	ck_assert(board.line[IRQ]);
	ck_assert_uint_eq(inb(IIR), 0xcc);
}

BOARD_TEST(input_below_the_trigger_level)
{
	open_port();
	type("x");
	board_readable(in[0]);
	ck_assert(!board.line[IRQ]);
	board_advance(300000);
	ck_assert(!board.line[IRQ]);
	board_advance(100000);
	ck_assert(board.line[IRQ]);
	ck_assert_uint_eq(inb(IIR), 0xcc);
	ck_assert_uint_eq(inb(PORT), 'x');
	ck_assert(!board.line[IRQ]);
	ck_assert_uint_eq(inb(IIR), 0xc1);
}

BOARD_TEST(input_without_fifo)
{
	open_port();
	outb(FCR, 0);
	type("ab");
	board_readable(in[0]);
	ck_assert(board.line[IRQ]);
	ck_assert_uint_eq(inb(IIR), 0x04);
	ck_assert_uint_eq(inb(PORT), 'a');
	ck_assert_uint_eq(inb(PORT), 'b');
	ck_assert_uint_eq(inb(LSR) & 1, 0);
}

/* Much more than the FIFO and the port's own buffer hold, read at the guest's pace. */
BOARD_TEST(long_input_is_complete)
{
	unsigned int sent = 0, got = 0;
	int waited = 0;

	open_port();
	while (sent < 30000) {
		uint8_t byte = sent * 7;

		ck_assert_int_eq(write(in[1], &byte, 1), 1);
		sent++;
	}
	/* Nobody reads: the descriptor must not be watched for ever. */
	while (board_readable(in[0]))
		ck_assert_int_lt(waited++, 100);
	while (got < sent) {
		if (!(inb(LSR) & 1)) {
			ck_assert(board_readable(in[0]));
			ck_assert(inb(LSR) & 1);
		}
		ck_assert_uint_eq(inb(PORT), (uint8_t)(got * 7));
		got++;
	}
	ck_assert_uint_eq(inb(LSR) & 0x03, 0);
	ck_assert(board_watches(in[0]));
}

BOARD_TEST(input_that_ends)
{
	open_port();
	type("z");
	close(in[1]);
	board_readable(in[0]);
	board_readable(in[0]);
	ck_assert(!board_watches(in[0]));
	ck_assert_uint_eq(inb(PORT), 'z');
	outb(IER, 0);
	outb(IER, 1);
	ck_assert(!board_watches(in[0]));
	in[1] = open("/dev/null", O_WRONLY);
}

/* A regular file cannot be watched by epoll, but it can be read. */
BOARD_TEST(input_from_a_file)
{
	char text[] = "commands from a file, longer than the FIFO is\n";
	FILE *f = tmpfile();
	size_t i;

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	rewind(f);
	vmm_serial_free(serial);
	board.watch_result = -EPERM;
	ck_assert_int_eq(vmm_serial_new(&board.vmm, out[1], fileno(f), &serial), 0);
	open_port();
	for (i = 0; i < strlen(text); i++) {
		ck_assert_uint_eq(inb(LSR) & 1, 1);
		ck_assert_uint_eq(inb(PORT), text[i]);
	}
	ck_assert_uint_eq(inb(LSR) & 1, 0);
	fclose(f);
}

BOARD_TEST(clearing_the_fifo)
{
	open_port();
	type("abcdefghijkl");
	board_readable(in[0]);
	outb(IER, 0);
	outb(FCR, 0x83);
	ck_assert_uint_eq(inb(LSR) & 1, 0);
	ck_assert(!board.line[IRQ]);
}

/* Linux: clear FIFOs and leave them off, enable interrupts, then the FIFOs (set_termios). */
BOARD_TEST(no_input_is_lost_when_linux_opens_the_port)
{
	type("typed");
	outb(FCR, 0x01);
	outb(FCR, 0x07);
	outb(FCR, 0x00);
	inb(PORT);
	outb(MCR, 0x0b);
	outb(IER, 0x05);
	board_readable(in[0]);
	outb(FCR, 0x01);
	outb(FCR, 0x81);
	ck_assert_uint_eq(inb(LSR) & 0x03, 0x01);
	ck_assert_uint_eq(inb(PORT), 't');
	ck_assert_uint_eq(inb(PORT), 'y');
	/* Closed and opened again: what nobody has read is still there. */
	outb(IER, 0);
	outb(FCR, 0x07);
	outb(FCR, 0x00);
	ck_assert_uint_eq(inb(LSR) & 0x01, 0);
	inb(PORT);
	outb(FCR, 0x81);
	outb(IER, 0x05);
	ck_assert_uint_eq(inb(PORT), 'p');
	ck_assert_uint_eq(inb(PORT), 'e');
	ck_assert_uint_eq(inb(PORT), 'd');
	ck_assert_uint_eq(inb(LSR) & 0x01, 0);
}

BOARD_TEST(reset_while_in_use)
{
	open_port();
	type("abcdefgh");
	board_readable(in[0]);
	ck_assert(board.line[IRQ]);
	vmm_serial_reset(serial);
	ck_assert(!board.line[IRQ]);
	ck_assert(!board_watches(in[0]));
	ck_assert_uint_eq(inb(LSR), 0x60);
	ck_assert_uint_eq(inb(IER), 0);
	ck_assert_uint_eq(inb(IIR), 0x01);
}

BOARD_TEST(wide_access_is_split)
{
	board_out(SCR - 1, 0x5a00, 2);
	ck_assert_uint_eq(inb(SCR), 0x5a);
	ck_assert_uint_eq(board_in(LSR, 2) & 0xff, 0x60);
}

SUITE("serial", registers_at_power_on, linux_finds_a_16550a, divisor_is_behind_its_latch,
      fifo_bits_follow_fcr, a_line_goes_out_with_its_newline, a_prompt_goes_out_soon,
      long_output_does_not_wait_for_a_newline, nothing_is_lost_at_the_end,
      a_reader_that_sleeps_does_not_stop_the_guest, a_reader_that_is_gone_does_not_kill,
      output_without_descriptor, transmitter_interrupt, out2_gates_the_interrupt, loopback,
      loopback_overrun, modem_status_interrupt, ring_counts_when_it_ends,
      input_waits_until_somebody_listens, input_at_the_trigger_level, input_below_the_trigger_level,
      input_without_fifo, long_input_is_complete, input_that_ends, input_from_a_file,
      clearing_the_fifo, no_input_is_lost_when_linux_opens_the_port, reset_while_in_use,
      wide_access_is_split)
