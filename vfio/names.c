// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <pci/pci.h>

#include <vf/names.h>

struct vf_ids {
	struct pci_access *access;
};

/*
 * libpci reports a broken database by a function that must not return, and by
 * default ends the process. A handler is told nothing of the access structure,
 * so where to go on is kept per thread while a look-up runs.
 */
static _Thread_local jmp_buf *broken;

static __attribute__((noreturn)) void give_up(char *fmt, ...)
{
	(void)fmt;
	longjmp(*broken, 1);
}

static void say_nothing(char *fmt, ...)
{
	(void)fmt;
}

struct vf_ids *vf_ids_open(void)
{
	struct vf_ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return NULL;
	/*
	 * No pci_init(): it looks for a way to reach the hardware and ends the process without
	 * one. Names need only the structure and somebody to complain to.
	 */
	ids->access = pci_alloc();
	ids->access->error = give_up;
	ids->access->warning = say_nothing;
	ids->access->debug = say_nothing;
	return ids;
}

void vf_ids_close(struct vf_ids *ids)
{
	if (!ids)
		return;
	pci_cleanup(ids->access);
	free(ids);
}

static const char *lookup(struct pci_access *access, char *buf, int size, int what, int id1,
			  int id2)
{
	jmp_buf here;
	const char *name = NULL;

	broken = &here;
	if (!setjmp(here))
		/* Not udev's copy of the database: libpci leaks a handle where there is none. */
		name = pci_lookup_name(access, buf, size,
				       what | PCI_LOOKUP_NO_NUMBERS | PCI_LOOKUP_NO_HWDB, id1, id2);
	broken = NULL;
	return name;
}

const char *vf_ids_name(struct vf_ids *ids, uint16_t vendor, uint16_t device, char *buf,
			size_t size)
{
	char v[256], d[512];

	if (!lookup(ids->access, v, sizeof(v), PCI_LOOKUP_VENDOR, vendor, 0))
		snprintf(buf, size, "%04x:%04x", vendor, device);
	else if (!lookup(ids->access, d, sizeof(d), PCI_LOOKUP_DEVICE, vendor, device))
		snprintf(buf, size, "%s device %04x", v, device);
	else
		snprintf(buf, size, "%s %s", v, d);
	return buf;
}
