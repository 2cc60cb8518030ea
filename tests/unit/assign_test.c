// SPDX-License-Identifier: GPL-2.0-only
/* An assigned function, from the guest's, the host's and the user's side. */
#include <sys/mman.h>
#include <sys/resource.h>

#include "assign_board.h"

#define BAR 0xc0000000ull

START_TEST(plugged_and_given_back)
{
	set_up_device();
	set_up_machine();
	plug();
	/* Reset without bus mastering, mapped around the table, then on the bus. */
	ck_assert_str_eq(heard(),
			 "cfg@4=2 RESET cfg@4=2 map@0+2000 err0+1 req0+1 slot@c0000000+2000");
	ck_assert_uint_eq(get(0, 4), 0x00101b36);
	ck_assert_uint_eq(get(0x100, 4), 0);
	vmm_assign_remove(assign);
	ck_assert_str_eq(
		heard(),
		"err-off req-off noslot cfg@4=2 RESET cfg@4=2 unmap@0+2000 forget9:42 close");
	ck_assert_uint_eq(get(0, 4), 0xffffffff);
	assign = NULL;
	tear_down();
}
END_TEST

START_TEST(bus_mastering_reaches_the_hardware_and_decoding_does_not)
{
	set_up_device();
	set_up_machine();
	plug();
	heard();
	put(PCI_COMMAND, 0x0006, 2);
	ck_assert_str_eq(heard(), "cfg@4=6");
	put(PCI_COMMAND, 0x0004, 2);
	ck_assert_str_eq(heard(), "noslot cfg@4=6");
	put(PCI_COMMAND, 0x0000, 2);
	ck_assert_str_eq(heard(), "cfg@4=2");
	tear_down();
}
END_TEST

START_TEST(table_is_emulated_and_the_rest_of_its_page_is_not)
{
	set_up_device();
	set_up_machine();
	plug();
	heard();
	device.bar[0x2010] = 0x42;
	ck_assert_uint_eq(mem(BAR + 0x2010, 4), 0x42);
	mem_put(BAR + 0x3ff8, 0x77, 8);
	ck_assert_str_eq(heard(), "r0@2010/4 w@3ff8=77");
	/* Entry and pending bits stay here. */
	mem_put(BAR + 0x2000, 0xfee00000, 8);
	ck_assert_uint_eq(mem(BAR + 0x2000, 4), 0xfee00000);
	ck_assert_uint_eq(mem(BAR + 0x200c, 4), 1);
	ck_assert_uint_eq(mem(BAR + 0x3000, 8), 0);
	mem_put(BAR + 0x3000, 1, 8);
	ck_assert_str_eq(heard(), "");
	/* Half table, half register. */
	ck_assert_uint_eq(mem(BAR + 0x200e, 4), 0x420000);
	ck_assert_str_eq(heard(), "r0@2010/2");
	tear_down();
}
END_TEST

START_TEST(msix_as_a_driver_uses_it)
{
	uint64_t one = 1;

	set_up_device();
	set_up_machine();
	plug();
	heard();
	put(0x42, 0xc000, 2);
	ck_assert_str_eq(heard(), "msix0+1");
	mem_put(BAR + 0x2000, 0xfee00000, 8);
	mem_put(BAR + 0x2008, 0x31, 4);
	mem_put(BAR + 0x200c, 0, 4);
	ck_assert_str_eq(heard(), "");
	put(0x42, 0x8000, 2);
	ck_assert_str_eq(heard(), "send:fee00000:31");
	/* Masked: what fires shows as pending and is not lost. */
	mem_put(BAR + 0x200c, 1, 4);
	ck_assert_str_eq(heard(), "nosend:31");
	ck_assert_uint_eq(mem(BAR + 0x3000, 4), 0);
	ck_assert_int_eq(write(device.fd[VF_IRQ_MSIX][0], &one, 8), 8);
	ck_assert_uint_eq(mem(BAR + 0x3000, 4), 1);
	mem_put(BAR + 0x200c, 0, 4);
	ck_assert_str_eq(heard(), "send:fee00000:31");
	/* Off: the old interrupt is not there when it goes on again. */
	put(0x42, 0, 2);
	ck_assert_str_eq(heard(), "nosend:31 msix-off");
	mem_put(BAR + 0x200c, 1, 4);
	put(0x42, 0x8000, 2);
	ck_assert_uint_eq(mem(BAR + 0x3000, 4), 0);
	tear_down();
}
END_TEST

START_TEST(guest_resets_the_function)
{
	set_up_device();
	set_up_machine();
	plug();
	put(PCI_COMMAND, 6, 2);
	put(0x42, 0x8000, 2);
	heard();
	/* Device control, initiate FLR. */
	put(0x88, 0xa810, 2);
	ck_assert_str_eq(heard(), "msix-off noslot cfg@4=2 RESET cfg@4=2");
	ck_assert_uint_eq(get(0x88, 2) & PCI_EXP_DEVCTL_BCR_FLR, 0);
	ck_assert_uint_eq(get(PCI_COMMAND, 2), 0);
	ck_assert_uint_eq(get(0x42, 2), 0);
	ck_assert_uint_eq(get(0x10, 4), 4);
	/* The guest puts back what it saved. */
	put(0x10, (uint32_t)BAR, 4);
	put(PCI_COMMAND, 6, 2);
	ck_assert_str_eq(heard(), "slot@c0000000+2000 cfg@4=6");
	tear_down();
}
END_TEST

START_TEST(leaving_d3hot_resets_unless_the_function_says_otherwise)
{
	set_up_device();
	set_up_machine();
	plug();
	heard();
	ck_assert_uint_eq(get(0x64, 2), PCI_PM_CTRL_NO_SOFT_RESET);
	put(0x64, 3, 2);
	ck_assert_uint_eq(get(0x64, 2) & 3, 3);
	put(0x64, 0, 2);
	ck_assert_str_eq(heard(), "");
	tear_down();

	set_up_device();
	device.config[0x64] = 0;
	set_up_machine();
	plug();
	put(0x64, 3, 2);
	heard();
	put(0x64, 0, 2);
	ck_assert_str_eq(heard(), "noslot cfg@4=2 RESET cfg@4=2");
	tear_down();
}
END_TEST

START_TEST(device_control_without_flr_goes_to_the_hardware)
{
	set_up_device();
	set_up_machine();
	plug();
	heard();
	/* Relaxed ordering; a payload size stays here; phantom functions nowhere. */
	put(0x88, 0x0250, 2);
	ck_assert_str_eq(heard(), "cfg@88=10");
	ck_assert_uint_eq(get(0x88, 2), 0x0050);
	tear_down();
}
END_TEST

START_TEST(status_is_the_hardwares)
{
	set_up_device();
	set_up_machine();
	plug();
	device.config[PCI_STATUS] = 0x08;
	device.config[PCI_STATUS + 1] = 0x20;
	heard();
	ck_assert_uint_eq(get(PCI_STATUS, 2), 0x2018);
	put(PCI_STATUS, 0x2000, 2);
	ck_assert_str_eq(heard(), "cfg@6=2008");
	tear_down();
}
END_TEST

START_TEST(peers_reach_bars_where_that_works)
{
	set_up_device();
	set_up_machine();
	config.nr_vfs = 2;
	plug();
	heard();
	put(0x10, 0xd0000000, 4);
	ck_assert_str_eq(heard(), "nopeer@c0000000 noslot slot@d0000000+2000 peer@d0000000+2000");
	fail_peer = -EINVAL;
	put(0x10, 0xd0004000, 4);
	ck_assert_str_eq(heard(), "nopeer@d0000000 noslot slot@d0004000+2000 peer@d0004000+2000");
	/* Nothing to undo for one that was refused. */
	put(0x10, 0xd0008000, 4);
	ck_assert_str_eq(heard(), "noslot slot@d0008000+2000 peer@d0008000+2000");
	tear_down();
}
END_TEST

START_TEST(a_bar_that_kvm_refuses_stays_dead)
{
	set_up_device();
	set_up_machine();
	plug();
	heard();
	fail_slot = -EEXIST;
	put(0x10, 0xd0000000, 4);
	ck_assert_str_eq(heard(), "noslot slot@d0000000+2000");
	ck_assert_uint_eq(mem(0xd0002000, 4), 0xffffffff);
	fail_slot = 0;
	put(0x10, (uint32_t)BAR, 4);
	ck_assert_str_eq(heard(), "slot@c0000000+2000");
	ck_assert_uint_eq(mem(BAR + 0x200c, 4), 1);
	tear_down();
}
END_TEST

START_TEST(half_a_bar_is_no_bar)
{
	set_up_device();
	device.region[0].size = 0x8000;
	device.region[0].areas[0].size = 0x8000;
	set_up_machine();
	plug();
	heard();
	fail_slot = -ENOSPC;
	fail_slot_after = 1;
	put(0x10, 0xd0000000, 4);
	/* The first piece was mapped and is not left behind; nor is the table. */
	ck_assert_str_eq(heard(), "noslot noslot slot@d0000000+2000 slot@d0004000+4000 noslot");
	ck_assert_uint_eq(mem(0xd0002000, 4), 0xffffffff);
	tear_down();
}
END_TEST

START_TEST(what_cannot_be_read_reads_as_ones)
{
	set_up_device();
	device.region[0].readable = false;
	set_up_machine();
	plug();
	ck_assert_uint_eq(mem(BAR + 0x2010, 4), 0xffffffff);
	ck_assert_uint_eq(mem(BAR + 0x200c, 4), 1);
	tear_down();
}
END_TEST

START_TEST(machine_reset)
{
	set_up_device();
	set_up_machine();
	plug();
	put(PCI_COMMAND, 6, 2);
	put(0x42, 0x8000, 2);
	put(0x10, 0xd0000000, 4);
	heard();
	vmm_pci_reset(vmm.pci);
	ck_assert_str_eq(heard(), "noslot msix-off cfg@4=2 RESET cfg@4=2 slot@c0000000+2000");
	tear_down();
}
END_TEST

START_TEST(host_wants_it_back)
{
	uint64_t one = 1;

	set_up_device();
	set_up_machine();
	plug();
	heard();
	ck_assert_int_eq(write(watched[1], &one, 8), 8);
	watcher[1](watcher_priv, watched[1]);
	ck_assert_str_eq(heard(), "timer10 eject1");
	/* The kernel asks every second; the guest is asked once. */
	watcher[1](watcher_priv, watched[1]);
	ck_assert_str_eq(heard(), "");
	ejected(ejected_priv, 1);
	ck_assert_str_eq(heard(), "err-off req-off cancel1 noslot cfg@4=2 RESET cfg@4=2 "
				  "unmap@0+2000 forget9:42 close");
	ck_assert_uint_eq(get(0, 4), 0xffffffff);
	/* What is left of it can still be removed, and does nothing. */
	vmm_pci_reset(vmm.pci);
	tear_down();
	ck_assert_str_eq(heard(), "");
}
END_TEST

/* Functions of one group share a file: KVM must know of it as long as one is left. */
START_TEST(kvm_forgets_a_file_with_its_last_function)
{
	static struct vf_device second;
	struct vmm_assign *other;

	set_up_device();
	set_up_machine();
	plug();
	second = device;
	ck_assert_int_eq(vmm_assign_add(&vmm, &second, &other, NULL), 0);
	heard();
	vmm_assign_remove(other);
	ck_assert_ptr_null(strstr(said, "forget"));
	heard();
	tear_down();
	ck_assert_ptr_nonnull(strstr(heard(), " forget9:42 close"));
}
END_TEST

/* The request would be forgotten with the ejection registers, and the new kernel shot for it. */
START_TEST(a_restart_lets_go_of_what_the_host_wants)
{
	set_up_device();
	set_up_machine();
	plug();
	watcher[1](watcher_priv, watched[1]);
	heard();
	vmm_pci_reset(vmm.pci);
	ck_assert_str_eq(heard(), "noslot err-off req-off cancel1 cfg@4=2 RESET cfg@4=2 "
				  "unmap@0+2000 forget9:42 close");
	ck_assert_uint_eq(get(0, 4), 0xffffffff);
	tear_down();
	ck_assert_str_eq(heard(), "");
}
END_TEST

START_TEST(guest_does_not_let_go)
{
	set_up_device();
	set_up_machine();
	plug();
	watcher[1](watcher_priv, watched[1]);
	heard();
	timer_fn(watcher_priv);
	ck_assert_str_eq(heard(), "END3");
	tear_down();
}
END_TEST

START_TEST(errors_end_the_guest)
{
	set_up_device();
	set_up_machine();
	plug();
	heard();
	watcher[0](watcher_priv, watched[0]);
	ck_assert_str_eq(heard(), "END4");
	tear_down();
}
END_TEST

/* An e1000e: INTx, MSI, MSI-X with 5 vectors in BAR 3, ports in BAR 2. */
static void set_up_e1000e(void)
{
	memset(&device, 0, sizeof(device));
	load("e1000e");
	device.region[VF_REGION_CONFIG].size = 4096;
	for (unsigned int n = 0; n < 4; n++)
		device.region[n] = (struct vf_region){ .size = n == 2 ? 0x20 : 0x4000,
						       .readable = true,
						       .writable = true };
	device.irq[VF_IRQ_INTX].count = 1;
	device.irq[VF_IRQ_MSI].count = 1;
	device.irq[VF_IRQ_MSIX].count = 5;
	device.irq[VF_IRQ_MSIX].noresize = true;
}

START_TEST(one_kind_of_interrupt_at_a_time)
{
	uint32_t value = 0;

	set_up_e1000e();
	set_up_machine();
	plug();
	/* No reset method: only stopped. The guest's end of INTx is ready before the device's. */
	ck_assert_str_eq(heard(), "cfg@4=3 line10 intx0+1 unmask");
	put(0xa2, 0x8000, 2);
	ck_assert_str_eq(heard(), "no-unmask intx-off noline10 msix0+1");
	put(0xa2, 0, 2);
	ck_assert_str_eq(heard(), "msix-off line10 intx0+1 unmask");
	put(0xd4, 0xfee01000, 4);
	put(0xdc, 0x22, 2);
	put(0xd2, 0x0001, 2);
	ck_assert_str_eq(heard(), "no-unmask intx-off noline10 msi0+1 send:fee01000:22");
	put(0xdc, 0x23, 2);
	ck_assert_str_eq(heard(), "resend:fee01000:23");
	/* Both at once: MSI-X counts. */
	put(0xa2, 0x8000, 2);
	ck_assert_str_eq(heard(), "nosend:22 msi-off msix0+1");
	put(0xd2, 0, 2);
	put(PCI_COMMAND, 0x0407, 2);
	put(0xa2, 0, 2);
	/* INTx disabled by the guest. */
	ck_assert_str_eq(heard(), "cfg@4=7 msix-off");
	put(PCI_COMMAND, 0x0007, 2);
	ck_assert_str_eq(heard(), "cfg@4=7 line10 intx0+1 unmask");
	/* Ports are read and written by the kernel. */
	vmm_bus_access(vmm.pio, 0xc004, &value, 4, true);
	vmm_bus_access(vmm.pio, 0xc004, &value, 4, false);
	ck_assert_str_eq(heard(), "w@4=0 r2@4/4");
	tear_down();
}
END_TEST

START_TEST(vectors_are_added_without_losing_any)
{
	uint64_t base, count;

	set_up_e1000e();
	set_up_machine();
	plug();
	base = get(PCI_BASE_ADDRESS_3, 4) & ~15u;
	put(0xa2, 0x8000, 2);
	mem_put(base, 0xfee00000, 8);
	mem_put(base + 8, 0x40, 8);
	heard();
	/* A vector more than is connected: off, on with both, and the first one kicked. */
	mem_put(base + 16, 0xfee00000, 8);
	mem_put(base + 24, 0x41, 8);
	ck_assert_str_eq(heard(), "msix-off msix0+2 send:fee00000:41");
	ck_assert_int_eq(read(device.fd[VF_IRQ_MSIX][0], &count, 8), 8);
	ck_assert_int_lt(read(device.fd[VF_IRQ_MSIX][1], &count, 8), 0);
	tear_down();

	/* A kernel that can add vectors. */
	set_up_e1000e();
	device.irq[VF_IRQ_MSIX].noresize = false;
	set_up_machine();
	plug();
	put(0xa2, 0x8000, 2);
	mem_put(base, 0xfee00000, 8);
	mem_put(base + 8, 0x40, 8);
	heard();
	mem_put(base + 16, 0xfee00000, 8);
	mem_put(base + 24, 0x41, 8);
	ck_assert_str_eq(heard(), "msix1+1 send:fee00000:41");
	tear_down();
}
END_TEST

START_TEST(no_vectors_is_survived)
{
	set_up_e1000e();
	set_up_machine();
	plug();
	heard();
	fail_irq = VF_IRQ_MSIX;
	put(0xa2, 0x8000, 2);
	ck_assert_str_eq(heard(), "no-unmask intx-off noline10 msix0+1");
	put(0xa2, 0, 2);
	ck_assert_str_eq(heard(), "line10 intx0+1 unmask");
	tear_down();
}
END_TEST

/* Vectors that cannot all be had leave their descriptors to the control socket and others. */
START_TEST(too_few_descriptors)
{
	struct rlimit limit;
	uint64_t base;
	int fd;

	set_up_e1000e();
	set_up_machine();
	plug();
	base = get(PCI_BASE_ADDRESS_3, 4) & ~15u;
	for (unsigned int v = 0; v < 5; v++)
		mem_put(base + v * 16, 0xfee00000, 8);
	fd = dup(STDERR_FILENO);
	close(fd);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	/* And the two of INTx, which goes first. */
	limit.rlim_cur = (rlim_t)fd + 1;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	heard();
	put(0xa2, 0x8000, 2);
	/* One is what the enable bit takes. */
	ck_assert_str_eq(heard(), "no-unmask intx-off noline10 msix0+1");
	fd = dup(STDERR_FILENO);
	ck_assert_int_ge(fd, 0);
	close(fd);
	tear_down();
}
END_TEST

/* Standard error from here on goes to a file. Return: its descriptor. */
static int catch_warnings(void)
{
	int fd = memfd_create("stderr", 0);

	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	return fd;
}

static unsigned int lines(int fd)
{
	unsigned int nr = 0;
	char c;

	lseek(fd, 0, SEEK_SET);
	while (read(fd, &c, 1) == 1)
		nr += c == '\n';
	return nr;
}

/* The log is the host's: what a guest can repeat without end is said once. */
START_TEST(a_guest_cannot_fill_the_log)
{
	uint64_t table;
	int fd;

	set_up_e1000e();
	set_up_machine();
	plug();
	table = get(PCI_BASE_ADDRESS_3, 4) & ~15u;
	fd = catch_warnings();
	fail_irq = VF_IRQ_MSIX;
	for (int i = 0; i < 50; i++) {
		put(0xa2, 0x8000, 2);
		put(0xa2, 0, 2);
		heard();
	}
	ck_assert_uint_eq(lines(fd), 1);
	fail_irq = 0;
	fail_send = -ENOSPC;
	put(0xa2, 0x8000, 2);
	for (int i = 0; i < 50; i++) {
		mem_put(table, 0xfee00000, 8);
		mem_put(table + 8, 0x41, 8);
		mem_put(table + 8, 0x100000041, 8);
		heard();
	}
	ck_assert_uint_eq(lines(fd), 2);
	fail_write = -EIO;
	for (int i = 0; i < 50; i++) {
		put(PCI_COMMAND, i & 1 ? 7 : 3, 2);
		heard();
	}
	ck_assert_uint_eq(lines(fd), 3);
	/* What works in between and fails again is news. */
	fail_write = 0;
	put(PCI_COMMAND, 3, 2);
	fail_write = -EIO;
	put(PCI_COMMAND, 7, 2);
	ck_assert_uint_eq(lines(fd), 4);
	fail_write = 0;
	tear_down();
}
END_TEST

START_TEST(intx_by_order_of_the_user)
{
	struct bp_error err = { 0 };

	set_up_e1000e();
	set_up_machine();
	config.force_intx = true;
	plug();
	heard();
	put(0xa2, 0x8000, 2);
	put(0xd2, 1, 2);
	ck_assert_str_eq(heard(), "");
	tear_down();
	/* A VF has none; the device is given back. */
	set_up_device();
	set_up_machine();
	config.force_intx = true;
	ck_assert_int_eq(vmm_assign_add(&vmm, &device, &assign, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.what, "0000:00:10.1 has no INTx"));
	ck_assert(device.closed);
	assign = NULL;
	tear_down();
}
END_TEST

START_TEST(what_ctl_shows)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct bp_print *p = bp_print_new(f, BP_PRINT_JSON);

	set_up_device();
	set_up_machine();
	plug();
	mem(BAR + 0x2000, 4);
	bp_print_array(p, NULL);
	vmm_assign_print(assign, p);
	bp_print_array_end(p);
	ck_assert_int_eq(bp_print_free(p), 0);
	fclose(f);
	ck_assert_ptr_nonnull(
		strstr(text, "\"bdf\":\"0000:00:10.1\",\"slot\":1,\"state\":\"assigned\""));
	ck_assert_ptr_nonnull(
		strstr(text, "{\"offset\":\"0x0000\",\"size\":\"0x2000\",\"direct\":true,"));
	ck_assert_ptr_nonnull(
		strstr(text, "{\"offset\":\"0x2000\",\"size\":\"0x2000\",\"direct\":false,"));
	ck_assert_ptr_nonnull(strstr(text, "\"trapped_reads\":1,\"trapped_writes\":0"));
	free(text);
	tear_down();
}
END_TEST

START_TEST(room_for_64_bit_bars)
{
	set_up_device();
	ck_assert_uint_eq(vmm_assign_bar_space(&device), 0);
	/* Prefetchable ones, with slack for the alignment of the largest. */
	device.config[PCI_BASE_ADDRESS_0] = 0x0c;
	device.config[PCI_BASE_ADDRESS_2] = 0x0c;
	device.region[2].size = 0x1000000;
	ck_assert_uint_eq(vmm_assign_bar_space(&device), 0x1004000 + 0x1000000);
}
END_TEST

SUITE("assign", plugged_and_given_back, bus_mastering_reaches_the_hardware_and_decoding_does_not,
      table_is_emulated_and_the_rest_of_its_page_is_not, msix_as_a_driver_uses_it,
      guest_resets_the_function, leaving_d3hot_resets_unless_the_function_says_otherwise,
      device_control_without_flr_goes_to_the_hardware, status_is_the_hardwares,
      peers_reach_bars_where_that_works, a_bar_that_kvm_refuses_stays_dead, half_a_bar_is_no_bar,
      what_cannot_be_read_reads_as_ones, machine_reset, host_wants_it_back,
      kvm_forgets_a_file_with_its_last_function, a_restart_lets_go_of_what_the_host_wants,
      guest_does_not_let_go, errors_end_the_guest, one_kind_of_interrupt_at_a_time,
      vectors_are_added_without_losing_any, no_vectors_is_survived, too_few_descriptors,
      a_guest_cannot_fill_the_log, intx_by_order_of_the_user, what_ctl_shows, room_for_64_bit_bars)
