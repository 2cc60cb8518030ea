// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>

#include "vmm/acpi/dsdt.h"
#include "vmm/acpi/resource.h"
#include "vmm/acpi/sleep.h"
#include "vmm/layout.h"
#include "vmm/pci/pci.h"

#define SLOTS	      32
#define PINS	      4
#define EJECT_REQUEST 3 /* notification value, ACPI 5.6.6 */

/* PCI Firmware Specification 3.0, 4.5: _OSC of a host bridge. */
#define OSC_UUID	 "33db4d5b-1ff7-401c-9657-7441c03dd766"
#define OSC_BAD_UUID	 0x04
#define OSC_BAD_REVISION 0x08
#define OSC_MASKED	 0x10
#define OSC_PCIE_CAP	 0x10 /* control of the PCI Express capability structure */

static void name_integer(struct vmm_aml *a, const char *name, uint64_t value)
{
	vmm_aml_name(a, name);
	vmm_aml_integer(a, value);
}

static void name_eisaid(struct vmm_aml *a, const char *name, const char *id)
{
	vmm_aml_name(a, name);
	vmm_aml_eisaid(a, id);
}

/* Closes the list of resources and makes it the value of @name. */
static void name_resources(struct vmm_aml *a, const char *name, struct vmm_bytes *res)
{
	vmm_res_end(res);
	if (res->error && !a->bytes.error)
		a->bytes.error = res->error;
	vmm_aml_name(a, name);
	vmm_aml_buffer(a, res->data, res->len);
	vmm_bytes_free(res);
}

static void power_off(struct vmm_aml *a)
{
	vmm_aml_name(a, "\\_S5");
	vmm_aml_package(a, 4);
	vmm_aml_integer(a, VMM_SLP_TYP_S5);
	vmm_aml_integer(a, 0);
	vmm_aml_integer(a, 0);
	vmm_aml_integer(a, 0);
	vmm_aml_end(a);
}

/* --- interrupts ----------------------------------------------------------------------------- */

static void link_name(char name[5], unsigned int gsi)
{
	snprintf(name, 5, "LNK%X", gsi & 0x0f);
}

/*
 * A line of its own device, because that is the only way to say that it is active high: a
 * _PRT entry that names a GSI directly means level and active low. Nothing can be chosen.
 */
static void link_device(struct vmm_aml *a, unsigned int gsi)
{
	static const char *const lists[] = { "_CRS", "_PRS" };
	char name[5];
	unsigned int i;

	link_name(name, gsi);
	vmm_aml_device(a, name);
	name_eisaid(a, "_HID", "PNP0C0F");
	name_integer(a, "_UID", gsi);
	for (i = 0; i < 2; i++) {
		struct vmm_bytes res = { 0 };

		vmm_res_interrupt(&res, gsi);
		name_resources(a, lists[i], &res);
	}
	vmm_aml_method(a, "_SRS", 1, false);
	vmm_aml_end(a);
	vmm_aml_end(a);
}

static unsigned int gsis_in_use(void)
{
	unsigned int slot, pin, mask = 0;

	for (slot = 0; slot < SLOTS; slot++)
		for (pin = 1; pin <= PINS; pin++)
			mask |= 1u << vmm_pci_intx_gsi(slot, pin);
	return mask;
}

static void link_devices(struct vmm_aml *a)
{
	unsigned int gsi, mask = gsis_in_use();

	for (gsi = 0; gsi < VMM_IOAPIC_PINS; gsi++)
		if (mask & 1u << gsi)
			link_device(a, gsi);
}

static void routing(struct vmm_aml *a)
{
	unsigned int slot, pin;
	char link[5];

	vmm_aml_name(a, "_PRT");
	vmm_aml_package(a, SLOTS * PINS);
	for (slot = 0; slot < SLOTS; slot++) {
		for (pin = 0; pin < PINS; pin++) {
			link_name(link, vmm_pci_intx_gsi(slot, pin + 1));
			vmm_aml_package(a, 4);
			vmm_aml_integer(a, slot << 16 | 0xffff);
			vmm_aml_integer(a, pin);
			vmm_aml_path(a, link);
			vmm_aml_integer(a, 0);
			vmm_aml_end(a);
		}
	}
	vmm_aml_end(a);
}

/* --- the PCI root bus ----------------------------------------------------------------------- */

static void windows(struct vmm_aml *a, const struct vmm_platform *platform)
{
	struct vmm_bytes res = { 0 };

	vmm_res_bus_window(&res, 0, 0); /* as MCFG says */
	/* The configuration ports are the bridge's own; all around them may go to devices. */
	vmm_res_io(&res, VMM_PORT_PCI_ADDR, 8);
	vmm_res_io_window(&res, 0, VMM_PORT_PCI_ADDR - 1);
	vmm_res_io_window(&res, VMM_PORT_PCI_ADDR + 8, VMM_PIO_PCI_END - 1);
	vmm_res_memory_window(&res, VMM_MMIO32_BASE, VMM_MMIO32_END - 1);
	if (platform->mmio64_base < platform->mmio64_end)
		vmm_res_prefetch_window(&res, platform->mmio64_base, platform->mmio64_end - 1);
	name_resources(a, "_CRS", &res);
}

static void dword_of_capabilities(struct vmm_aml *a, unsigned int index, const char *name)
{
	vmm_aml_op(a, VMM_AML_DWORD_FIELD);
	vmm_aml_op(a, VMM_AML_ARG3);
	vmm_aml_integer(a, 4ul * index);
	vmm_aml_path(a, name);
}

/* CDW1 |= @bit */
static void osc_status(struct vmm_aml *a, unsigned int bit)
{
	vmm_aml_op(a, VMM_AML_OR);
	vmm_aml_path(a, "CDW1");
	vmm_aml_integer(a, bit);
	vmm_aml_path(a, "CDW1");
}

/*
 * The guest gets the PCI Express capability structures of devices. It does not get native
 * hot plug or power management events: ejection is ACPI's here, and there are no root ports.
 */
static void osc(struct vmm_aml *a)
{
	vmm_aml_method(a, "_OSC", 4, true);
	dword_of_capabilities(a, 0, "CDW1");
	vmm_aml_if(a);
	vmm_aml_op(a, VMM_AML_LEQUAL);
	vmm_aml_op(a, VMM_AML_ARG0);
	vmm_aml_uuid(a, OSC_UUID);
	{
		dword_of_capabilities(a, 2, "CDW3");
		/* Local0 = CDW3 & OSC_PCIE_CAP */
		vmm_aml_op(a, VMM_AML_AND);
		vmm_aml_path(a, "CDW3");
		vmm_aml_integer(a, OSC_PCIE_CAP);
		vmm_aml_op(a, VMM_AML_LOCAL0);
		vmm_aml_if(a);
		vmm_aml_op(a, VMM_AML_LNOT);
		vmm_aml_op(a, VMM_AML_LEQUAL);
		vmm_aml_op(a, VMM_AML_ARG1);
		vmm_aml_integer(a, 1);
		osc_status(a, OSC_BAD_REVISION);
		vmm_aml_end(a);
		vmm_aml_if(a);
		vmm_aml_op(a, VMM_AML_LNOT);
		vmm_aml_op(a, VMM_AML_LEQUAL);
		vmm_aml_path(a, "CDW3");
		vmm_aml_op(a, VMM_AML_LOCAL0);
		osc_status(a, OSC_MASKED);
		vmm_aml_end(a);
		vmm_aml_op(a, VMM_AML_STORE);
		vmm_aml_op(a, VMM_AML_LOCAL0);
		vmm_aml_path(a, "CDW3");
	}
	vmm_aml_end(a);
	vmm_aml_else(a);
	osc_status(a, OSC_BAD_UUID);
	vmm_aml_end(a);
	vmm_aml_op(a, VMM_AML_RETURN);
	vmm_aml_op(a, VMM_AML_ARG3);
	vmm_aml_end(a);
}

static void slot_name(char name[5], unsigned int slot)
{
	snprintf(name, 5, "S%02X", slot & 0xff);
}

static void slot_device(struct vmm_aml *a, unsigned int slot)
{
	char name[5];

	slot_name(name, slot);
	vmm_aml_device(a, name);
	name_integer(a, "_ADR", slot << 16);
	name_integer(a, "_SUN", slot);
	vmm_aml_method(a, "_EJ0", 1, false);
	vmm_aml_op(a, VMM_AML_STORE);
	vmm_aml_integer(a, 1u << slot);
	vmm_aml_path(a, "PEND");
	vmm_aml_end(a);
	vmm_aml_end(a);
}

static void host_bridge(struct vmm_aml *a, const struct vmm_platform *platform)
{
	unsigned int slot;

	vmm_aml_device(a, "PCI0");
	name_eisaid(a, "_HID", "PNP0A08");
	name_eisaid(a, "_CID", "PNP0A03");
	name_integer(a, "_UID", 0);
	name_integer(a, "_SEG", 0);
	name_integer(a, "_BBN", 0);
	windows(a, platform);
	routing(a);
	osc(a);
	vmm_aml_region(a, "EJCT", VMM_AML_SYSTEM_IO, VMM_PORT_EJECT, 4);
	vmm_aml_field(a, "EJCT", VMM_AML_DWORD_ACC);
	vmm_aml_field_unit(a, "PEND", 32);
	vmm_aml_end(a);
	for (slot = 1; slot < SLOTS; slot++)
		slot_device(a, slot);
	vmm_aml_end(a);
}

/* General-purpose event: tell the slots that are asked back. */
static void eject_event(struct vmm_aml *a)
{
	char path[16], method[5], name[5];
	unsigned int slot;

	snprintf(method, sizeof(method), "_E%02X", VMM_GPE_EJECT);
	vmm_aml_scope(a, "\\_GPE");
	vmm_aml_method(a, method, 0, false);
	vmm_aml_op(a, VMM_AML_STORE);
	vmm_aml_path(a, "\\_SB.PCI0.PEND");
	vmm_aml_op(a, VMM_AML_LOCAL0);
	for (slot = 1; slot < SLOTS; slot++) {
		slot_name(name, slot);
		snprintf(path, sizeof(path), "\\_SB.PCI0.%s", name);
		vmm_aml_if(a);
		vmm_aml_op(a, VMM_AML_AND);
		vmm_aml_op(a, VMM_AML_LOCAL0);
		vmm_aml_integer(a, 1u << slot);
		vmm_aml_path(a, "");
		vmm_aml_op(a, VMM_AML_NOTIFY);
		vmm_aml_path(a, path);
		vmm_aml_integer(a, EJECT_REQUEST);
		vmm_aml_end(a);
	}
	vmm_aml_end(a);
	vmm_aml_end(a);
}

/* --- devices on the main board -------------------------------------------------------------- */

static void isa_device(struct vmm_aml *a, const char *name, const char *id, uint16_t port,
		       uint8_t len, unsigned int irq)
{
	struct vmm_bytes res = { 0 };

	vmm_aml_device(a, name);
	name_eisaid(a, "_HID", id);
	name_integer(a, "_UID", 1);
	vmm_res_io(&res, port, len);
	vmm_res_irq(&res, irq);
	name_resources(a, "_CRS", &res);
	vmm_aml_end(a);
}

/* Linux takes the configuration space that MCFG names only when a device here claims it. */
static void board_resources(struct vmm_aml *a)
{
	struct vmm_bytes res = { 0 };

	vmm_aml_device(a, "MBRD");
	name_eisaid(a, "_HID", "PNP0C02");
	name_integer(a, "_UID", 1);
	vmm_res_memory(&res, VMM_ECAM_BASE, VMM_ECAM_SIZE);
	vmm_res_io(&res, VMM_PORT_PM1_EVT, VMM_PORT_EJECT + 4 - VMM_PORT_PM1_EVT);
	name_resources(a, "_CRS", &res);
	vmm_aml_end(a);
}

int vmm_dsdt_build(struct vmm_aml *a, const struct vmm_platform *platform)
{
	if (platform->mmio64_base > platform->mmio64_end)
		return -EINVAL;
	power_off(a);
	vmm_aml_scope(a, "\\_SB");
	host_bridge(a, platform);
	link_devices(a);
	isa_device(a, "COM1", "PNP0501", VMM_PORT_COM1, 8, VMM_IRQ_COM1);
	isa_device(a, "RTC", "PNP0B00", VMM_PORT_RTC, 2, VMM_IRQ_RTC);
	board_resources(a);
	vmm_aml_end(a);
	eject_event(a);
	if (a->depth && !a->bytes.error)
		a->bytes.error = -EINVAL;
	return a->bytes.error;
}
