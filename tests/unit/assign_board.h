/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An assigned function between a guest, which reads and writes through the real bus, and
 * a device, KVM and an event loop that are played here: every call they get is noted.
 * What this file defines takes the place of the library's functions of the same name.
 */
#ifndef TESTS_ASSIGN_BOARD_H
#define TESTS_ASSIGN_BOARD_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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

int vmm_mt_area_add(struct vmm_mt *mt, const struct vmm_mt_place *place, uint64_t gpa, uint64_t size,
		    void *hva)
{
	(void)mt;
	(void)place;
	(void)hva;
	say("slot@%lx+%lx", (unsigned long)gpa, (unsigned long)size);
	return fail_slot && fail_slot_after-- <= 0 ? fail_slot : 7;
}

void vmm_mt_area_remove(struct vmm_mt *mt, int area)
{
	(void)mt;
	(void)area;
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

#endif
