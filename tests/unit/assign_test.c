// SPDX-License-Identifier: GPL-2.0-only
/*
 * An assigned function between a guest, which reads and writes through the real bus, and
 * a device, KVM and an event loop that are played here: every call they get is noted.
 * What this file defines takes the place of the library's functions of the same name.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include <bp/print.h>
#include "suite.h"
#include "vmm/assign/assign.h"
#include "vmm/dev/pm.h"
#include "vmm/kvm.h"
#include "vmm/layout.h"
#include "vmm/machine.h"
#include "vmm/pci/pci.h"

struct vf_device {
	uint8_t config[4096];
	uint8_t bar[0x20000];
	struct vf_region region[VF_REGION_COUNT];
	struct vf_irq irq[VF_IRQ_COUNT];
	int fd[VF_IRQ_COUNT][64];
	int kvm_fd;
	bool can_reset;
	bool closed;
};

static struct vf_device device;
static struct vmm_config config;
static struct vmm vmm;
static struct vmm_assign *assign;
static char said[4096];
static int fail_slot, fail_slot_after, fail_peer, fail_irq, fail_send, fail_write;
static void (*watcher[64])(void *priv, int fd);
static void *watcher_priv;
static int watched[64];
static unsigned int nr_watched;
static void (*timer_fn)(void *priv);
static void (*ejected)(void *priv, unsigned int slot);
static void *ejected_priv;

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
	static char text[4096];

	strcpy(text, said);
	said[0] = 0;
	return text;
}

/* --- the device --- */

static const char *const irq_name[] = { "intx", "msi", "msix", "err", "req" };

void vf_device_close(struct vf_device *dev)
{
	say("close");
	dev->closed = true;
}

int vf_device_kvm_fd(const struct vf_device *dev)
{
	return dev->kvm_fd;
}

const char *vf_device_bdf(const struct vf_device *dev)
{
	(void)dev;
	return "0000:00:10.1";
}

const struct vf_region *vf_device_region(const struct vf_device *dev, unsigned int index)
{
	return &dev->region[index];
}

const struct vf_irq *vf_device_irq(const struct vf_device *dev, unsigned int index)
{
	return &dev->irq[index];
}

int vf_device_read(struct vf_device *dev, unsigned int index, uint64_t offset, void *buf,
		   size_t len)
{
	if (offset + len > dev->region[index].size || (index < 6 && !dev->region[index].readable))
		return -EINVAL;
	memcpy(buf, (index == VF_REGION_CONFIG ? dev->config : dev->bar) + offset, len);
	if (index != VF_REGION_CONFIG)
		say("r%u@%lx/%zu", index, (unsigned long)offset, len);
	return 0;
}

int vf_device_write(struct vf_device *dev, unsigned int index, uint64_t offset, const void *buf,
		    size_t len)
{
	uint32_t value = 0;

	if (offset + len > dev->region[index].size)
		return -EINVAL;
	if (fail_write)
		return fail_write;
	memcpy(&value, buf, len > 4 ? 4 : len);
	say("%s@%lx=%x", index == VF_REGION_CONFIG ? "cfg" : "w", (unsigned long)offset, value);
	memcpy((index == VF_REGION_CONFIG ? dev->config : dev->bar) + offset, buf, len);
	return 0;
}

int vf_device_map(struct vf_device *dev, unsigned int index, uint64_t offset, size_t len,
		  void **out)
{
	(void)index;
	*out = dev->bar + offset;
	say("map@%lx+%zx", (unsigned long)offset, len);
	return 0;
}

void vf_device_unmap(struct vf_device *dev, void *va, size_t len)
{
	say("unmap@%lx+%zx", (unsigned long)((uint8_t *)va - dev->bar), len);
}

int vf_device_irq_set(struct vf_device *dev, unsigned int index, unsigned int start,
		      unsigned int count, const int *fds)
{
	say("%s%u+%u", irq_name[index], start, count);
	if (fail_irq && index == (unsigned int)fail_irq)
		return -ENOSPC;
	for (unsigned int i = 0; i < count; i++)
		dev->fd[index][start + i] = fds[i];
	return 0;
}

int vf_device_irq_disable(struct vf_device *dev, unsigned int index)
{
	(void)dev;
	say("%s-off", irq_name[index]);
	return 0;
}

int vf_device_intx_unmask_fd(struct vf_device *dev, int fd)
{
	(void)dev;
	say(fd < 0 ? "no-unmask" : "unmask");
	return 0;
}

bool vf_device_can_reset(const struct vf_device *dev)
{
	return dev->can_reset;
}

int vf_device_reset(struct vf_device *dev)
{
	(void)dev;
	say("RESET");
	return 0;
}

int vf_iommu_map(struct vf_iommu *iommu, uint64_t iova, void *va, uint64_t size, unsigned int flags,
		 struct bp_error *err)
{
	(void)iommu;
	(void)va;
	(void)flags;
	(void)err;
	say("peer@%lx+%lx", (unsigned long)iova, (unsigned long)size);
	return fail_peer;
}

int vf_iommu_unmap(struct vf_iommu *iommu, uint64_t iova, uint64_t size)
{
	(void)iommu;
	(void)size;
	say("nopeer@%lx", (unsigned long)iova);
	return 0;
}

/* --- KVM --- */

int vmm_slot_add(struct vmm_ram *ram, uint64_t gpa, uint64_t size, void *hva)
{
	(void)ram;
	(void)hva;
	say("slot@%lx+%lx", (unsigned long)gpa, (unsigned long)size);
	return fail_slot && fail_slot_after-- <= 0 ? fail_slot : 7;
}

void vmm_slot_remove(struct vmm_ram *ram, int slot)
{
	(void)ram;
	(void)slot;
	say("noslot");
}

int vmm_irq_line_attach(struct vmm_irq *irq, unsigned int gsi, int trigger, int resample)
{
	(void)irq;
	(void)trigger;
	(void)resample;
	say("line%u", gsi);
	return 0;
}

void vmm_irq_line_detach(struct vmm_irq *irq, unsigned int gsi, int trigger)
{
	(void)irq;
	(void)trigger;
	say("noline%u", gsi);
}

int vmm_irq_msi_attach(struct vmm_irq *irq, uint64_t address, uint32_t data, uint32_t devid,
		       int trigger)
{
	(void)irq;
	(void)devid;
	(void)trigger;
	say("send:%lx:%x", (unsigned long)address, data);
	return fail_send ? fail_send : (int)data;
}

int vmm_irq_msi_update(struct vmm_irq *irq, int handle, uint64_t address, uint32_t data)
{
	(void)irq;
	(void)handle;
	say("resend:%lx:%x", (unsigned long)address, data);
	return 0;
}

void vmm_irq_msi_detach(struct vmm_irq *irq, int handle)
{
	(void)irq;
	say("nosend:%x", (unsigned int)handle);
}

int vmm_kvm_vfio_del(int vfio_fd, int file)
{
	say("forget%d:%d", vfio_fd, file);
	return 0;
}

/* --- the machine --- */

int vmm_loop_watch(struct vmm_loop *loop, int fd, void (*fn)(void *priv, int fd), void *priv)
{
	(void)loop;
	watched[nr_watched] = fd;
	watcher[nr_watched++] = fn;
	watcher_priv = priv;
	return 0;
}

void vmm_loop_unwatch(struct vmm_loop *loop, int fd)
{
	(void)loop;
	(void)fd;
	nr_watched--;
}

int vmm_timer_new(struct vmm_loop *loop, void (*fn)(void *priv), void *priv, struct vmm_timer **out)
{
	(void)loop;
	(void)priv;
	timer_fn = fn;
	*out = (struct vmm_timer *)&timer_fn;
	return 0;
}

void vmm_timer_arm(struct vmm_timer *timer, uint64_t ns)
{
	(void)timer;
	say("timer%lu", (unsigned long)(ns / 1000000000));
}

void vmm_timer_free(struct vmm_timer *timer)
{
	(void)timer;
}

void vmm_pm_eject_request(struct vmm_pm *pm, unsigned int slot,
			  void (*fn)(void *priv, unsigned int slot), void *priv)
{
	(void)pm;
	say("eject%u", slot);
	ejected = fn;
	ejected_priv = priv;
}

void vmm_pm_eject_cancel(struct vmm_pm *pm, unsigned int slot)
{
	(void)pm;
	say("cancel%u", slot);
}

void vmm_end(struct vmm *machine, enum vmm_end why)
{
	(void)machine;
	say("END%d", why);
}

/* --- the guest --- */

static uint32_t get(unsigned int off, unsigned int len)
{
	uint32_t value = 0;

	vmm_bus_access(vmm.mmio, VMM_ECAM_BASE + (1 << 15) + off, &value, len, false);
	return value;
}

static void put(unsigned int off, uint32_t value, unsigned int len)
{
	vmm_bus_access(vmm.mmio, VMM_ECAM_BASE + (1 << 15) + off, &value, len, true);
}

static uint64_t mem(uint64_t gpa, unsigned int len)
{
	uint64_t value = 0;

	vmm_bus_access(vmm.mmio, gpa, &value, len, false);
	return value;
}

static void mem_put(uint64_t gpa, uint64_t value, unsigned int len)
{
	vmm_bus_access(vmm.mmio, gpa, &value, len, true);
}

static void load(const char *name)
{
	char path[256], line[256];
	unsigned int off, b[16];
	FILE *f;

	snprintf(path, sizeof(path), "%.*s/fixtures/config/%s.txt",
		 (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, name);
	f = fopen(path, "r");
	ck_assert_msg(f, "%s cannot be opened", path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%x: %x %x %x %x %x %x %x %x %x %x %x %x %x %x %x %x", &off, &b[0],
			   &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7], &b[8], &b[9], &b[10],
			   &b[11], &b[12], &b[13], &b[14], &b[15]) != 17)
			continue;
		for (unsigned int i = 0; i < 16; i++)
			device.config[off + i] = (uint8_t)b[i];
	}
	fclose(f);
}

/* One NVMe VF: 16 KiB of 64-bit BAR 0 with the MSI-X table at 0x2000, pending bits at 0x3000. */
static void set_up_device(void)
{
	memset(&device, 0, sizeof(device));
	load("nvme-vf");
	memcpy(device.config, (uint8_t[]){ 0x36, 0x1b, 0x10, 0x00 }, 4);
	device.config[PCI_BASE_ADDRESS_0] = 0x04;
	device.region[VF_REGION_CONFIG].size = 4096;
	device.region[0] = (struct vf_region){ .size = 0x4000,
					       .readable = true,
					       .writable = true,
					       .nr_areas = 1,
					       .areas = { { 0, 0x4000 } } };
	device.irq[VF_IRQ_MSIX].count = 1;
	device.irq[VF_IRQ_MSIX].noresize = true;
	device.irq[VF_IRQ_ERR].count = 1;
	device.irq[VF_IRQ_REQ].count = 1;
	device.can_reset = true;
	device.kvm_fd = 42;
}

static void set_up_machine(void)
{
	const struct vmm_pci_windows win = {
		.io_base = VMM_PIO_PCI_BASE,
		.io_end = VMM_PIO_PCI_END,
		.mmio32_base = VMM_MMIO32_BASE,
		.mmio32_end = VMM_MMIO32_END,
		.mmio64_base = 0x4000000000,
		.mmio64_end = 0x4040000000,
	};

	memset(&vmm, 0, sizeof(vmm));
	memset(&config, 0, sizeof(config));
	config.nr_vfs = 1;
	fail_slot = fail_slot_after = fail_peer = fail_irq = fail_send = fail_write = 0;
	nr_watched = 0;
	vmm.vfio_fd = 9;
	vmm.config = &config;
	vmm.pio = vmm_bus_new();
	vmm.mmio = vmm_bus_new();
	vmm.iommu = (struct vf_iommu *)&vmm;
	vmm.pm = (struct vmm_pm *)&vmm;
	ck_assert_int_eq(vmm_pci_new(vmm.pio, vmm.mmio, &win, &vmm.pci, NULL), 0);
	said[0] = 0;
}

static void plug(void)
{
	struct bp_error err = { 0 };

	ck_assert_msg(!vmm_assign_add(&vmm, &device, &assign, &err), "%s", err.what);
}

static void tear_down(void)
{
	vmm_assign_remove(assign);
	vmm_pci_free(vmm.pci);
	vmm_bus_free(vmm.pio);
	vmm_bus_free(vmm.mmio);
}

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
