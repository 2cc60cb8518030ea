/* SPDX-License-Identifier: GPL-2.0-only */
/* The differentiated system description: devices, interrupt routing, ejection, power off. */
#ifndef VMM_DSDT_H
#define VMM_DSDT_H

#include "vmm/acpi/acpi.h"
#include "vmm/acpi/aml.h"

/**
 * vmm_dsdt_build() - write the DSDT's body, without the table header.
 * @a: empty AML.
 * @platform: description.
 *
 * Return: 0, or a negative errno.
 */
int vmm_dsdt_build(struct vmm_aml *a, const struct vmm_platform *platform);

#endif
