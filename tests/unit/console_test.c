// SPDX-License-Identifier: GPL-2.0-only
/* Where the serial port leads: a terminal that nobody reads must not stop the guest. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"
#include "vmm/console.h"
#include "vmm/dev/txring.h"
#include "vmm/machine.h"

static const struct vmm_config config = { .console = VMM_CONSOLE_STDIO };
static struct vmm vmm = { .config = &config };

/* Standard output is a terminal, standard input is none. Return: the reader's end. */
static int terminal_on_stdout(void)
{
	int reader = posix_openpt(O_RDWR | O_NOCTTY), end, none = open("/dev/null", O_RDONLY);

	ck_assert_int_ge(reader, 0);
	ck_assert_int_eq(grantpt(reader), 0);
	ck_assert_int_eq(unlockpt(reader), 0);
	end = open(ptsname(reader), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(end, 0);
	ck_assert_int_eq(dup2(end, STDOUT_FILENO), STDOUT_FILENO);
	ck_assert_int_eq(dup2(none, STDIN_FILENO), STDIN_FILENO);
	close(end);
	close(none);
	return reader;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

START_TEST(a_stalled_terminal_holds_nobody_up)
{
	static struct vmm_txring ring;
	struct bp_error err = { 0 };
	struct vmm_console *c;
	char got[6] = "";

	/* How a terminal's buffers fill up depends on the kernel's mood. */
	for (unsigned int i = 0; i < 16; i++) {
		int reader = terminal_on_stdout();
		double start;

		ck_assert_int_eq(vmm_console_new(&vmm, &c, &err), 0);
		memset(&ring, 0, sizeof(ring));
		ring.fd = vmm_console_out(c);
		for (const char *p = "hello"; *p; p++)
			vmm_txring_put(&ring, (uint8_t)*p);
		ck_assert(vmm_txring_write(&ring));
		ck_assert_int_eq(read(reader, got, 5), 5);
		ck_assert_str_eq(got, "hello");
		for (unsigned int n = 0; n < 300 + 77 * i; n++)
			vmm_txring_put(&ring, 'x');
		vmm_txring_write(&ring);
		for (unsigned int n = 0; n < VMM_TXRING_SIZE; n++)
			vmm_txring_put(&ring, n % 80 ? 'x' : '\n');
		start = seconds();
		ck_assert(!vmm_txring_write(&ring));
		ck_assert(seconds() - start < 1);
		vmm_console_free(c);
		close(reader);
	}
}
END_TEST

/* Whoever shares the terminal, as the shell does, shares its flags. */
START_TEST(the_shells_descriptor_stays_as_it_is)
{
	int reader = terminal_on_stdout(), flags = fcntl(STDOUT_FILENO, F_GETFL);
	struct bp_error err = { 0 };
	struct vmm_console *c;

	ck_assert_int_eq(vmm_console_new(&vmm, &c, &err), 0);
	ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL), flags);
	ck_assert_int_ne(fcntl(vmm_console_out(c), F_GETFL) & O_NONBLOCK, 0);
	vmm_console_free(c);
	ck_assert_int_eq(fcntl(STDOUT_FILENO, F_GETFL), flags);
	close(reader);
}
END_TEST

SUITE("console", a_stalled_terminal_holds_nobody_up, the_shells_descriptor_stays_as_it_is)
