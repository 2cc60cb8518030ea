// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "vmm/irq.h"
#include "vmm/layout.h"

#define PIC_PINS 16

/* Routes of the lines: each PIC pin and each I/O APIC pin. */
#define LINE_ROUTES (PIC_PINS + VMM_IOAPIC_PINS)

/* Enough for any machine here; KVM's own limit may be lower. */
#define MSI_MAX 2048

struct msi {
	bool used;
	int trigger;
	uint64_t address;
	uint32_t data;
	uint32_t devid;
};

/* The message with handle h has GSI VMM_IOAPIC_PINS + h. */
struct vmm_irq {
	int vm_fd;
	unsigned int nr_msi;
	struct msi *msi;
	struct kvm_irq_routing *table;
};

static void add_line(struct kvm_irq_routing *table, uint32_t gsi, uint32_t chip, uint32_t pin)
{
	table->entries[table->nr++] = (struct kvm_irq_routing_entry){
		.gsi = gsi,
		.type = KVM_IRQ_ROUTING_IRQCHIP,
		.u.irqchip = { .irqchip = chip, .pin = pin },
	};
}

/* KVM takes the whole table each time (Documentation/virt/kvm/api.rst 4.52). */
static int set_routes(struct vmm_irq *irq)
{
	struct kvm_irq_routing *t = irq->table;

	t->nr = 0;
	t->flags = 0;
	for (uint32_t pin = 0; pin < PIC_PINS; pin++)
		add_line(t, pin, pin < 8 ? KVM_IRQCHIP_PIC_MASTER : KVM_IRQCHIP_PIC_SLAVE, pin % 8);
	for (uint32_t pin = 0; pin < VMM_IOAPIC_PINS; pin++)
		add_line(t, pin, KVM_IRQCHIP_IOAPIC, pin);
	for (unsigned int h = 0; h < irq->nr_msi; h++) {
		const struct msi *m = &irq->msi[h];

		if (!m->used)
			continue;
		t->entries[t->nr++] = (struct kvm_irq_routing_entry){
			.gsi = VMM_IOAPIC_PINS + h,
			.type = KVM_IRQ_ROUTING_MSI,
			.u.msi = { .address_lo = (uint32_t)m->address,
				   .address_hi = (uint32_t)(m->address >> 32),
				   .data = m->data },
		};
	}
	return ioctl(irq->vm_fd, KVM_SET_GSI_ROUTING, t) ? -errno : 0;
}

int vmm_irq_new(int vm_fd, struct vmm_irq **out)
{
	int limit = ioctl(vm_fd, KVM_CHECK_EXTENSION, KVM_CAP_IRQ_ROUTING);
	struct vmm_irq *irq;
	int ret;

	if (limit < 0)
		return -errno;
	if (limit < LINE_ROUTES)
		return -ENOTSUP;
	irq = calloc(1, sizeof(*irq));
	if (!irq)
		return -ENOMEM;
	irq->vm_fd = vm_fd;
	irq->nr_msi = (unsigned int)limit - LINE_ROUTES;
	/* A GSI must be below the limit as well. */
	if (irq->nr_msi > (unsigned int)limit - VMM_IOAPIC_PINS)
		irq->nr_msi = (unsigned int)limit - VMM_IOAPIC_PINS;
	if (irq->nr_msi > MSI_MAX)
		irq->nr_msi = MSI_MAX;
	irq->msi = calloc(irq->nr_msi ? irq->nr_msi : 1, sizeof(*irq->msi));
	irq->table = calloc(1, sizeof(*irq->table) + (LINE_ROUTES + irq->nr_msi) *
							     sizeof(irq->table->entries[0]));
	ret = irq->msi && irq->table ? set_routes(irq) : -ENOMEM;
	if (ret) {
		free(irq->msi);
		free(irq->table);
		free(irq);
		return ret;
	}
	*out = irq;
	return 0;
}

void vmm_irq_free(struct vmm_irq *irq)
{
	if (!irq)
		return;
	for (unsigned int h = 0; h < irq->nr_msi; h++)
		if (irq->msi[h].used)
			vmm_irq_msi_detach(irq, (int)h);
	free(irq->msi);
	free(irq->table);
	free(irq);
}

void vmm_irq_line(struct vmm_irq *irq, unsigned int gsi, bool level)
{
	struct kvm_irq_level line = { .irq = gsi, .level = level };

	if (gsi < VMM_IOAPIC_PINS)
		ioctl(irq->vm_fd, KVM_IRQ_LINE, &line);
}

static int irqfd(struct vmm_irq *irq, unsigned int gsi, int fd, int resample, uint32_t flags)
{
	struct kvm_irqfd arg = { .fd = (uint32_t)fd, .gsi = gsi, .flags = flags };

	if (flags & KVM_IRQFD_FLAG_RESAMPLE)
		arg.resamplefd = (uint32_t)resample;
	return ioctl(irq->vm_fd, KVM_IRQFD, &arg) ? -errno : 0;
}

int vmm_irq_line_attach(struct vmm_irq *irq, unsigned int gsi, int trigger, int resample)
{
	if (gsi >= VMM_IOAPIC_PINS)
		return -EINVAL;
	return irqfd(irq, gsi, trigger, resample, KVM_IRQFD_FLAG_RESAMPLE);
}

void vmm_irq_line_detach(struct vmm_irq *irq, unsigned int gsi, int trigger)
{
	if (gsi < VMM_IOAPIC_PINS)
		irqfd(irq, gsi, trigger, -1, KVM_IRQFD_FLAG_DEASSIGN);
}

int vmm_irq_msi_attach(struct vmm_irq *irq, uint64_t address, uint32_t data, uint32_t devid,
		       int trigger)
{
	unsigned int h;
	int ret;

	for (h = 0; h < irq->nr_msi && irq->msi[h].used; h++)
		;
	if (h == irq->nr_msi)
		return -ENOSPC;
	irq->msi[h] = (struct msi){ true, trigger, address, data, devid };
	/* The route first: an irqfd on a GSI without one has crashed AMD hosts with AVIC. */
	ret = set_routes(irq);
	if (ret) {
		irq->msi[h].used = false;
		return ret;
	}
	ret = irqfd(irq, VMM_IOAPIC_PINS + h, trigger, -1, 0);
	if (ret) {
		irq->msi[h].used = false;
		set_routes(irq);
		return ret;
	}
	return (int)h;
}

static struct msi *find(struct vmm_irq *irq, int handle)
{
	if (handle < 0 || (unsigned int)handle >= irq->nr_msi || !irq->msi[handle].used)
		return NULL;
	return &irq->msi[handle];
}

int vmm_irq_msi_update(struct vmm_irq *irq, int handle, uint64_t address, uint32_t data)
{
	struct msi *m = find(irq, handle), old;
	int ret;

	if (!m)
		return -EINVAL;
	if (m->address == address && m->data == data)
		return 0;
	old = *m;
	m->address = address;
	m->data = data;
	ret = set_routes(irq);
	/* KVM keeps the old table, and one message that it refuses must not spoil all later ones. */
	if (ret)
		*m = old;
	return ret;
}

void vmm_irq_msi_detach(struct vmm_irq *irq, int handle)
{
	struct msi *m = find(irq, handle);

	if (!m)
		return;
	/* The reverse of vmm_irq_msi_attach(): no irqfd may outlive its route. */
	irqfd(irq, VMM_IOAPIC_PINS + (unsigned int)handle, m->trigger, -1, KVM_IRQFD_FLAG_DEASSIGN);
	m->used = false;
	set_routes(irq);
}

int vmm_irq_msi_send(struct vmm_irq *irq, uint64_t address, uint32_t data)
{
	struct kvm_msi msi = {
		.address_lo = (uint32_t)address,
		.address_hi = (uint32_t)(address >> 32),
		.data = data,
	};

	/* 0 means that the guest masked it, which is no failure. */
	return ioctl(irq->vm_fd, KVM_SIGNAL_MSI, &msi) < 0 ? -errno : 0;
}
