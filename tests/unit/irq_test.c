// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routes and irqfds with a KVM that is played here: ioctl() below takes the place of the
 * C library's and keeps what a kernel would keep.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "suite.h"
#include "vmm/irq.h"
#include "vmm/layout.h"

#define VM 77

/* What KVM knows: the message of each GSI and the irqfd on it. */
static struct {
	uint64_t address;
	uint32_t data;
	bool routed;
	int fd;
} gsi[64];
static int fail_routing, fail_irqfd;

static int set_routing(const struct kvm_irq_routing *t)
{
	if (fail_routing) {
		errno = fail_routing;
		return -1;
	}
	for (unsigned int i = 0; i < 64; i++)
		gsi[i].routed = false;
	for (unsigned int i = 0; i < t->nr; i++) {
		const struct kvm_irq_routing_entry *e = &t->entries[i];

		if (e->type != KVM_IRQ_ROUTING_MSI)
			continue;
		gsi[e->gsi].routed = true;
		gsi[e->gsi].address = (uint64_t)e->u.msi.address_hi << 32 | e->u.msi.address_lo;
		gsi[e->gsi].data = e->u.msi.data;
	}
	for (unsigned int i = 0; i < 64; i++)
		ck_assert_msg(!gsi[i].fd || gsi[i].routed, "irqfd of GSI %u has no route", i);
	return 0;
}

static int set_irqfd(const struct kvm_irqfd *arg)
{
	if (arg->flags & KVM_IRQFD_FLAG_DEASSIGN) {
		ck_assert_int_eq(gsi[arg->gsi].fd, (int)arg->fd);
		gsi[arg->gsi].fd = 0;
		return 0;
	}
	if (fail_irqfd) {
		errno = fail_irqfd;
		return -1;
	}
	ck_assert_msg(gsi[arg->gsi].routed, "GSI %u has no route yet", arg->gsi);
	gsi[arg->gsi].fd = (int)arg->fd;
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	void *arg;
	va_list ap;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	ck_assert_int_eq(fd, VM);
	switch (request) {
	case KVM_CHECK_EXTENSION:
		return 64;
	case KVM_SET_GSI_ROUTING:
		return set_routing(arg);
	case KVM_IRQFD:
		return set_irqfd(arg);
	default:
		ck_abort_msg("request %#lx", request);
	}
	return -1;
}

static struct vmm_irq *start(void)
{
	struct vmm_irq *irq;

	memset(gsi, 0, sizeof(gsi));
	fail_routing = fail_irqfd = 0;
	ck_assert_int_eq(vmm_irq_new(VM, &irq), 0);
	return irq;
}

/* set_routing() and set_irqfd() look at the order: a route is there as long as an irqfd. */
START_TEST(messages_come_and_go)
{
	struct vmm_irq *irq = start();
	int a = vmm_irq_msi_attach(irq, 0xfee00000, 0x41, 0, 5);
	int b = vmm_irq_msi_attach(irq, 0x1fee01000, 0x42, 0, 6);

	ck_assert_int_ge(a, 0);
	ck_assert_int_ge(b, 0);
	ck_assert_int_eq(gsi[VMM_IOAPIC_PINS + a].fd, 5);
	ck_assert_uint_eq(gsi[VMM_IOAPIC_PINS + b].address, 0x1fee01000);
	vmm_irq_msi_detach(irq, a);
	ck_assert(!gsi[VMM_IOAPIC_PINS + a].routed);
	ck_assert_int_eq(vmm_irq_msi_update(irq, a, 0xfee00000, 1), -EINVAL);
	vmm_irq_free(irq);
	ck_assert_int_eq(gsi[VMM_IOAPIC_PINS + b].fd, 0);
}
END_TEST

START_TEST(what_fails_leaves_nothing)
{
	struct vmm_irq *irq = start();

	fail_irqfd = EBUSY;
	ck_assert_int_eq(vmm_irq_msi_attach(irq, 0xfee00000, 0x41, 0, 5), -EBUSY);
	ck_assert(!gsi[VMM_IOAPIC_PINS].routed);
	fail_irqfd = 0;
	fail_routing = ENOMEM;
	ck_assert_int_eq(vmm_irq_msi_attach(irq, 0xfee00000, 0x41, 0, 5), -ENOMEM);
	fail_routing = 0;
	ck_assert_int_eq(vmm_irq_msi_attach(irq, 0xfee00000, 0x43, 0, 5), 0);
	ck_assert_uint_eq(gsi[VMM_IOAPIC_PINS].data, 0x43);
	vmm_irq_free(irq);
}
END_TEST

/* A message that KVM refused must reach it when it is asked again. */
START_TEST(a_refused_update_is_not_believed)
{
	struct vmm_irq *irq = start();
	int h = vmm_irq_msi_attach(irq, 0xfee00000, 0x41, 0, 5);

	fail_routing = ENOMEM;
	ck_assert_int_eq(vmm_irq_msi_update(irq, h, 0xfee01000, 0x42), -ENOMEM);
	fail_routing = 0;
	ck_assert_int_eq(vmm_irq_msi_update(irq, h, 0xfee01000, 0x42), 0);
	ck_assert_uint_eq(gsi[VMM_IOAPIC_PINS + h].address, 0xfee01000);
	ck_assert_uint_eq(gsi[VMM_IOAPIC_PINS + h].data, 0x42);
	vmm_irq_free(irq);
}
END_TEST

SUITE("irq", messages_come_and_go, what_fails_leaves_nothing, a_refused_update_is_not_believed)
