// SPDX-License-Identifier: GPL-2.0-only
#include "vmm/boot/boot.h"
#include "vmm/layout.h"

#define E820_RAM      1
#define E820_RESERVED 2

#define BIOS_AREA     0xf0000ull
#define ONE_MIB	      0x100000ull

unsigned int vmm_e820_build(const struct vmm_ram_layout *layout, struct vmm_e820 *map)
{
	const struct vmm_e820 fixed[] = {
		{ VMM_ECAM_BASE, VMM_ECAM_SIZE, E820_RESERVED },
		{ VMM_IOAPIC_BASE, 0x1000, E820_RESERVED },
		{ VMM_LAPIC_BASE, 0x1000, E820_RESERVED },
		{ VMM_IDENTITY_MAP, VMM_TSS + 0x3000 - VMM_IDENTITY_MAP, E820_RESERVED },
	};
	unsigned int n = 0;

	map[n++] = (struct vmm_e820){ 0, VMM_EBDA, E820_RAM };
	map[n++] = (struct vmm_e820){ VMM_EBDA, VMM_EBDA_SIZE, E820_RESERVED };
	map[n++] = (struct vmm_e820){ BIOS_AREA, ONE_MIB - BIOS_AREA, E820_RESERVED };
	map[n++] = (struct vmm_e820){ ONE_MIB, layout->region[0].size - ONE_MIB, E820_RAM };
	for (unsigned int i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		map[n++] = fixed[i];
	/* All further regions are above 4 GiB, and so above what is fixed. */
	for (unsigned int i = 1; i < layout->nr && n < VMM_E820_MAX; i++)
		map[n++] = (struct vmm_e820){ layout->region[i].gpa, layout->region[i].size,
					      E820_RAM };
	return n;
}
