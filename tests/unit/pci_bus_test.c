// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root bus as a guest meets it: through ports and ECAM.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <linux/pci_regs.h>

#include "suite.h"
#include "vmm/layout.h"
#include "vmm/pci/pci.h"

static struct vmm_bus *pio, *mmio;
static struct vmm_pci *pci;
static struct vmm_pci_dev dev[2];
static char said[1024];
static int map_result;

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

static const char *heard(void)
{
	static char text[1024];

	strcpy(text, said);
	said[0] = 0;
	return text;
}

static int bar_map(struct vmm_pci_dev *d, unsigned int n)
{
	say("+%s%u@%lx", d->name, n, (unsigned long)d->bar[n].addr);
	return map_result;
}

static void bar_unmap(struct vmm_pci_dev *d, unsigned int n)
{
	say("-%s%u@%lx", d->name, n, (unsigned long)d->bar[n].addr);
}

static void reset(struct vmm_pci_dev *d)
{
	say("reset %s", d->name);
}

static void reset_control(void *priv, uint8_t value)
{
	(void)priv;
	say("cf9=%x", value);
}

static const struct vmm_pci_ops ops = { .bar_map = bar_map,
					.bar_unmap = bar_unmap,
					.reset = reset };

static void set_up(void)
{
	const struct vmm_pci_windows win = {
		.io_base = VMM_PIO_PCI_BASE,
		.io_end = VMM_PIO_PCI_END,
		.mmio32_base = VMM_MMIO32_BASE,
		.mmio32_end = VMM_MMIO32_END,
		.mmio64_base = 0x4000000000,
		.mmio64_end = 0x4000006000,
	};

	pio = vmm_bus_new();
	mmio = vmm_bus_new();
	ck_assert_int_eq(vmm_pci_new(pio, mmio, &win, &pci, NULL), 0);
	memset(dev, 0, sizeof(dev));
	map_result = 0;
	for (unsigned int i = 0; i < 2; i++) {
		vmm_cfg_init(&dev[i].cfg, 4096);
		vmm_cfg_set32(&dev[i].cfg, 0, 0x10ca8086 + i);
		dev[i].name = i ? "b" : "a";
		dev[i].ops = &ops;
	}
	/* a: 64-bit prefetchable, 32-bit and ports. b: one 32-bit. */
	dev[0].bar[0] = (struct vmm_pci_bar){ .size = 0x4000, .is64 = true, .prefetch = true };
	dev[0].bar[2] = (struct vmm_pci_bar){ .size = 0x20000 };
	dev[0].bar[3] = (struct vmm_pci_bar){ .size = 0x20, .io = true };
	dev[0].intx_pin = 1;
	dev[1].bar[0] = (struct vmm_pci_bar){ .size = 0x20000 };
	ck_assert_int_eq(vmm_pci_add(pci, &dev[0], NULL), 0);
	ck_assert_int_eq(vmm_pci_add(pci, &dev[1], NULL), 0);
	ck_assert_uint_eq(dev[0].slot, 1);
	ck_assert_uint_eq(dev[1].slot, 2);
	ck_assert_str_eq(heard(), "+a0@4000000000 +a2@c0000000 +a3@c000 +b0@c0020000");
}

static void tear_down(void)
{
	vmm_pci_remove(pci, &dev[0]);
	vmm_pci_remove(pci, &dev[1]);
	vmm_pci_free(pci);
	vmm_bus_free(pio);
	vmm_bus_free(mmio);
}

static uint32_t in(unsigned int port, unsigned int len)
{
	uint32_t value = 0;

	vmm_bus_access(pio, port, &value, len, false);
	return value;
}

static void out(unsigned int port, uint32_t value, unsigned int len)
{
	vmm_bus_access(pio, port, &value, len, true);
}

static uint64_t ecam(unsigned int slot, unsigned int off, unsigned int len)
{
	uint64_t value = 0;

	vmm_bus_access(mmio, VMM_ECAM_BASE + (slot << 15) + off, &value, len, false);
	return value;
}

static void ecam_put(unsigned int slot, unsigned int off, uint32_t value, unsigned int len)
{
	vmm_bus_access(mmio, VMM_ECAM_BASE + (slot << 15) + off, &value, len, true);
}

START_TEST(mechanism_one)
{
	set_up();
	/* How Linux finds out that it is there. */
	out(0xcfb, 1, 1);
	out(0xcf8, 0x80000000, 4);
	ck_assert_uint_eq(in(0xcf8, 4), 0x80000000);
	ck_assert_uint_eq(in(0xcfc, 4), 0x00081b36);
	out(0xcf8, 0x80000008, 4);
	ck_assert_uint_eq(in(0xcfe, 2), 0x0600);
	out(0xcf8, 0x80000800, 4);
	ck_assert_uint_eq(in(0xcfc, 4), 0x10ca8086);
	ck_assert_uint_eq(in(0xcfd, 1), 0x80);
	ck_assert_uint_eq(in(0xcfe, 2), 0x10ca);
	/* Without the enable bit, on other buses and functions, nobody is there. */
	out(0xcf8, 0x00000800, 4);
	ck_assert_uint_eq(in(0xcfc, 4), 0xffffffff);
	out(0xcf8, 0x80010800, 4);
	ck_assert_uint_eq(in(0xcfc, 4), 0xffffffff);
	out(0xcf8, 0x80000900, 4);
	ck_assert_uint_eq(in(0xcfc, 2), 0xffff);
	out(0xcf8, 0x80001800, 4);
	ck_assert_uint_eq(in(0xcfc, 1), 0xff);
	tear_down();
}
END_TEST

/* Linux on AMD reaches the extended space so when it has no ECAM (PCI_HAS_IO_ECS). */
START_TEST(mechanism_one_reaches_the_extended_space)
{
	set_up();
	dev[0].cfg.data[0x100] = 0x5a;
	dev[0].cfg.data[0xffc] = 0xa5;
	out(0xcf8, 0x81000800, 4);
	ck_assert_uint_eq(in(0xcfc, 1), 0x5a);
	out(0xcf8, 0x8f0008fc, 4);
	ck_assert_uint_eq(in(0xcfc, 1), 0xa5);
	/* The bridge has none. */
	out(0xcf8, 0x81000000, 4);
	ck_assert_uint_eq(in(0xcfc, 4), 0xffffffff);
	tear_down();
}
END_TEST

START_TEST(address_port_takes_doublewords_only)
{
	set_up();
	vmm_pci_on_reset_control(pci, reset_control, NULL);
	out(0xcf8, 0x80000804, 4);
	out(0xcf8, 0, 2);
	out(0xcfa, 0, 1);
	out(0xcf9, 0x0606, 2);
	ck_assert_uint_eq(in(0xcf8, 4), 0x80000804);
	ck_assert_str_eq(heard(), "");
	/* Linux sets the kind of reset first, then starts it. */
	out(0xcf9, 0x02, 1);
	ck_assert_uint_eq(in(0xcf9, 1), 0x02);
	out(0xcf9, 0x06, 1);
	ck_assert_str_eq(heard(), "cf9=2 cf9=6");
	ck_assert_uint_eq(in(0xcf8, 4), 0x80000804);
	tear_down();
}
END_TEST

START_TEST(ecam_reaches_all_of_bus_zero)
{
	set_up();
	dev[0].cfg.data[0xffc] = 0x5a;
	ck_assert_uint_eq(ecam(1, 0, 4), 0x10ca8086);
	ck_assert_uint_eq(ecam(1, 0xffc, 1), 0x5a);
	ck_assert_uint_eq(ecam(1, 0, 8), 0x0000000310ca8086);
	/* The bridge has no extended space; function 1 and bus 1 do not exist. */
	ck_assert_uint_eq(ecam(0, 0x100, 4), 0xffffffff);
	ck_assert_uint_eq(ecam(1, 0x1000, 4), 0xffffffff);
	ck_assert_uint_eq(ecam(32, 0, 4), 0xffffffff);
	ck_assert_uint_eq(ecam(31, 0, 2), 0xffff);
	/* Across the end of a function. */
	ck_assert_uint_eq(ecam(1, 0xffc, 8), 0xffffffff0000005aull);
	dev[0].cfg.data[0xffe] = 0x77;
	ck_assert_uint_eq(ecam(1, 0xffe, 4), 0xffff0077);
	tear_down();
}
END_TEST

START_TEST(sizing_with_decoding_off)
{
	set_up();
	ecam_put(1, PCI_COMMAND, 0, 2);
	ck_assert_str_eq(heard(), "-a0@4000000000 -a2@c0000000 -a3@c000");
	ecam_put(1, 0x10, 0xffffffff, 4);
	ecam_put(1, 0x14, 0xffffffff, 4);
	ck_assert_uint_eq(ecam(1, 0x10, 8), 0xffffffffffffc00c);
	ecam_put(1, 0x18, 0xffffffff, 4);
	ck_assert_uint_eq(ecam(1, 0x18, 4), 0xfffe0000);
	ecam_put(1, 0x1c, 0xffffffff, 4);
	ck_assert_uint_eq(ecam(1, 0x1c, 4), 0xffffffe1);
	ecam_put(1, 0x20, 0xffffffff, 4);
	ck_assert_uint_eq(ecam(1, 0x20, 4), 0);
	ck_assert_str_eq(heard(), "");
	/* What a guest may set in the command register. */
	ecam_put(1, PCI_COMMAND, 0xffff, 2);
	ck_assert_uint_eq(ecam(1, PCI_COMMAND, 2), 0x0407);
	ecam_put(2, PCI_COMMAND, 0xffff, 2);
	ck_assert_uint_eq(ecam(2, PCI_COMMAND, 2), 0x0006);
	tear_down();
}
END_TEST

START_TEST(sizing_while_decoding_as_old_kernels_do)
{
	set_up();
	ecam_put(1, 0x18, 0xffffffff, 4);
	ecam_put(1, 0x18, 0xc0000000, 4);
	ck_assert_str_eq(heard(), "-a2@c0000000 +a2@c0000000");
	/* One half at a time. */
	ecam_put(1, 0x10, 0xffffffff, 4);
	ecam_put(1, 0x10, 0x0000000c, 4);
	ck_assert_str_eq(heard(), "-a0@4000000000 +a0@4000000000");
	ecam_put(1, 0x14, 0xffffffff, 4);
	ecam_put(1, 0x14, 0x40, 4);
	ck_assert_str_eq(heard(), "-a0@4000000000 +a0@4000000000");
	tear_down();
}
END_TEST

START_TEST(halves_written_one_by_one)
{
	set_up();
	/* From above 4 GiB to below: in between it points at RAM. */
	ecam_put(1, 0x14, 0, 4);
	ck_assert_str_eq(heard(), "-a0@4000000000");
	ck_assert(!dev[0].bar[0].live);
	ecam_put(1, 0x10, 0xd0000000, 4);
	ck_assert_str_eq(heard(), "+a0@d0000000");
	ck_assert(dev[0].bar[0].live);
	tear_down();
}
END_TEST

START_TEST(nothing_outside_the_windows_answers)
{
	static const uint32_t bad[] = { 0,	    0x1000000,	0xbffe0000, 0xe0000000,
					0xfec00000, 0xfee00000, 0xfffe0000 };

	set_up();
	ecam_put(2, 0x10, bad[0], 4);
	ck_assert_str_eq(heard(), "-b0@c0020000");
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ecam_put(2, 0x10, bad[i], 4);
	ck_assert_str_eq(heard(), "");
	/* The last place in the window is one. */
	ecam_put(2, 0x10, 0xdffe0000, 4);
	ck_assert_str_eq(heard(), "+b0@dffe0000");
	/* Half in a window is not in it. */
	ecam_put(1, 0x10, 0x00004000, 4);
	ck_assert_str_eq(heard(), "-a0@4000000000");
	/* Ports end at 64 K. */
	ecam_put(1, 0x1c, 0x1c000, 4);
	ck_assert_str_eq(heard(), "-a3@c000");
	tear_down();
}
END_TEST

START_TEST(two_bars_on_one_address)
{
	set_up();
	ecam_put(2, 0x10, 0xc0000000, 4);
	/* The one that was there first stays, the other waits. */
	ck_assert_str_eq(heard(), "-b0@c0020000");
	ecam_put(1, 0x18, 0xc0020000, 4);
	ck_assert_str_eq(heard(), "-a2@c0000000 +a2@c0020000 +b0@c0000000");
	vmm_pci_remove(pci, &dev[0]);
	ck_assert_str_eq(heard(), "-a0@4000000000 -a2@c0020000 -a3@c000");
	ck_assert_uint_eq(ecam(1, 0, 4), 0xffffffff);
	tear_down();
}
END_TEST

START_TEST(a_bar_that_cannot_be_mapped_is_tried_once)
{
	set_up();
	map_result = -EEXIST;
	ecam_put(2, 0x10, 0xd0000000, 4);
	ck_assert_str_eq(heard(), "-b0@c0020000 +b0@d0000000");
	ck_assert(!dev[1].bar[0].live);
	ecam_put(1, PCI_COMMAND, 7, 2);
	ck_assert_str_eq(heard(), "");
	map_result = 0;
	ecam_put(2, 0x10, 0xd0020000, 4);
	ck_assert_str_eq(heard(), "+b0@d0020000");
	tear_down();
}
END_TEST

START_TEST(machine_and_function_reset)
{
	set_up();
	ecam_put(1, 0x18, 0xd0000000, 4);
	ecam_put(1, PCI_INTERRUPT_LINE, 0x55, 1);
	heard();
	vmm_pci_function_reset(&dev[0]);
	ck_assert_str_eq(heard(), "-a0@4000000000 -a2@d0000000 -a3@c000");
	ck_assert_uint_eq(ecam(1, 0x10, 4), 0x0000000c);
	ck_assert_uint_eq(ecam(1, 0x18, 4), 0);
	ck_assert_uint_eq(ecam(1, PCI_COMMAND, 2), 0);
	vmm_pci_reset(pci);
	ck_assert_str_eq(heard(), "-b0@c0020000 reset a reset b +a0@4000000000 +a2@c0000000 "
				  "+a3@c000 +b0@c0020000");
	ck_assert_uint_eq(ecam(1, PCI_INTERRUPT_LINE, 1), vmm_pci_intx_gsi(1, 1));
	ck_assert_uint_eq(ecam(1, PCI_INTERRUPT_PIN, 1), 1);
	ck_assert_uint_eq(ecam(2, PCI_INTERRUPT_PIN, 1), 0);
	tear_down();
}
END_TEST

START_TEST(lines_are_those_that_pics_have)
{
	for (unsigned int slot = 0; slot < 32; slot++)
		for (unsigned int pin = 1; pin <= 4; pin++) {
			unsigned int gsi = vmm_pci_intx_gsi(slot, pin);

			ck_assert(gsi == 5 || gsi == 10 || gsi == 11);
		}
	ck_assert_uint_ne(vmm_pci_intx_gsi(1, 1), vmm_pci_intx_gsi(2, 1));
}
END_TEST

START_TEST(a_full_bus_is_refused)
{
	static struct vmm_pci_dev many[32];
	struct bp_error err = { 0 };

	set_up();
	for (unsigned int i = 0; i < 29; i++) {
		vmm_cfg_init(&many[i].cfg, 256);
		ck_assert_int_eq(vmm_pci_add(pci, &many[i], NULL), 0);
	}
	ck_assert_int_eq(vmm_pci_add(pci, &many[29], &err), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(err.what, "31 slots"));
	vmm_pci_remove(pci, &many[7]);
	ck_assert_int_eq(vmm_pci_add(pci, &many[29], NULL), 0);
	ck_assert_uint_eq(many[29].slot, many[7].slot);
	tear_down();
}
END_TEST

SUITE("pci_bus", mechanism_one, mechanism_one_reaches_the_extended_space, address_port_takes_doublewords_only, ecam_reaches_all_of_bus_zero,
      sizing_with_decoding_off, sizing_while_decoding_as_old_kernels_do, halves_written_one_by_one,
      nothing_outside_the_windows_answers, two_bars_on_one_address,
      a_bar_that_cannot_be_mapped_is_tried_once, machine_and_function_reset,
      lines_are_those_that_pics_have, a_full_bus_is_refused)
