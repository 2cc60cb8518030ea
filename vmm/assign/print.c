// SPDX-License-Identifier: GPL-2.0-only
/*
 * What `bluepass ctl` shows of an assigned function.
 */
#include <inttypes.h>

#include <linux/pci_regs.h>

#include <bp/print.h>
#include "vmm/assign/state.h"

static void print_bar(const struct vmm_assign *a, unsigned int n, struct bp_print *p)
{
	const struct vmm_pci_bar *desc = &a->pci.bar[n];
	const struct vmm_bar_state *bar = &a->bar[n];

	bp_print_object(p, NULL);
	bp_print_u64(p, "bar", "  BAR %lu", n);
	bp_print_str(p, "space", " %s", desc->io ? "io" : "memory");
	bp_print_bool(p, "is64", NULL, desc->is64);
	bp_print_bool(p, "prefetchable", NULL, desc->prefetch);
	bp_print_u64(p, "size", ", %lu bytes", desc->size);
	bp_print_bool(p, "live", ", decoding %s", desc->live);
	bp_print_hex(p, "address", desc->live ? " at %s" : NULL, 8, desc->live ? desc->addr : 0);
	bp_print_u64(p, "trapped_reads", ", %lu reads", bar->reads);
	bp_print_u64(p, "trapped_writes", " and %lu writes trapped\n", bar->writes);
	bp_print_array(p, "pieces");
	for (unsigned int i = 0; i < bar->nr; i++) {
		const struct vmm_piece_state *piece = &bar->piece[i];

		bp_print_object(p, NULL);
		bp_print_hex(p, "offset", "    %s", 4, piece->offset);
		bp_print_hex(p, "size", " + %s", 4, piece->size);
		bp_print_bool(p, "direct", " mapped straight: %s", piece->va != NULL);
		bp_print_bool(p, "peer", ", reachable for other devices: %s\n", piece->peer);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	bp_print_object_end(p);
}

void vmm_assign_print(const struct vmm_assign *a, struct bp_print *p)
{
	uint16_t command = vmm_cfg_get16(&a->pci.cfg, PCI_COMMAND);

	/* Given back: it is no device of this guest any more. */
	if (!a->dev)
		return;
	bp_print_object(p, NULL);
	bp_print_str(p, "bdf", "%s", a->name);
	bp_print_u64(p, "slot", " in slot %lu", a->pci.slot);
	bp_print_str(p, "state", ": %s", a->recalled ? "wanted back" : "assigned");
	bp_print_bool(p, "bus_master", ", bus master %s", command & PCI_COMMAND_MASTER);
	bp_print_str(p, "interrupts", ", interrupts by %s", vmm_assign_irq_mode(a));
	bp_print_u64(p, "vectors", " (%lu offered",
		     a->chain.msix_nr ? a->chain.msix_nr : a->chain.msi_nr);
	bp_print_u64(p, "vectors_connected", ", %lu connected", a->msix.provided + a->msi.provided);
	bp_print_u64(p, "vectors_attached", ", %lu attached)",
		     vmm_msix_attached(&a->msix) +
			     (unsigned int)__builtin_popcount(a->msi.attached));
	bp_print_u64(p, "resets", ", %lu resets\n", a->resets);
	bp_print_array(p, "bars");
	for (unsigned int n = 0; n < VMM_PCI_BARS; n++)
		if (a->pci.bar[n].size)
			print_bar(a, n, p);
	bp_print_array_end(p);
	bp_print_object_end(p);
}
