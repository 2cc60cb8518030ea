// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include "cmd.h"

static const struct bp_command commands[] = {
	{ "table", "intel|amd|ept|npt [--host-mtrr T]", "print a combination table",
	  "intel, amd  MTRR type (rows) with PAT type (columns) on bare metal\n"
	  "ept         type and IPAT of an EPT leaf (rows) with the guest's PAT type (columns)\n"
	  "npt         guest's PAT type (rows) with the nested leaf's type (columns); with\n"
	  "            --host-mtrr also combined with the machine's MTRR type for the page",
	  mt_cmd_table },
	{ "effective", "--vendor intel|amd --mtrr T --pat T [--nested T [--ipat]] [--host-mtrr T]",
	  "print the type that two or three types combine to",
	  "T is one of UC UC- WC WT WP WB.\n"
	  "Without --nested: bare metal. With it: a guest's access; --nested is the type of the "
	  "EPT\n"
	  "or NPT leaf, --pat the guest's type, and --mtrr, the guest's MTRR, is not seen by the\n"
	  "processor. On AMD the machine's MTRR for the page counts: --host-mtrr, UC if not given.",
	  mt_cmd_effective },
	{ "explain",
	  "--vendor intel|amd --kernel X.Y[.Z] --backing bar|ram --coherent yes|no\n"
	  "       --guest-mtrr T --guest-pat T [--module | --mode module|pat|off]\n"
	  "       [--host-mtrr T] [--pat-index N] [--shadow] [--unregistered] [--pat-quirk-off]\n"
	  "       [--guest-cd] [--cd-quirk-off]",
	  "say which type a guest's store gets under KVM, and why",
	  "--coherent       DMA of the assigned devices is enforced coherent\n"
	  "--guest-mtrr     type by the guest's MTRRs at the address\n"
	  "--guest-pat      type that the guest's page-table entry chooses from its PAT\n"
	  "--module         kvm-memtype.ko is active for the page; same as --mode module\n"
	  "--mode pat       the monitor loads a shadow PAT in which UC- means WC\n"
	  "--host-mtrr      machine's MTRR for the page behind it (default: UC bar, WB ram)\n"
	  "--pat-index      index that the entry chooses (default: where Linux has the type)\n"
	  "--shadow         KVM without EPT or NPT\n"
	  "--unregistered   the monitor did not add the device to KVM's VFIO device\n"
	  "--pat-quirk-off  KVM_X86_QUIRK_IGNORE_GUEST_PAT is disabled\n"
	  "--guest-cd       the guest has CR0.CD set; --cd-quirk-off: KVM_X86_QUIRK_CD_NW_CLEARED\n"
	  "                 is disabled",
	  mt_cmd_explain },
	{ "decode", "MSR=VALUE... [--maxphyaddr N] [--host intel|amd]",
	  "print the ranges that MTRR values describe, or what would raise #GP",
	  "MSR is a number or a name: DEF_TYPE, PAT, PHYSBASEn, PHYSMASKn, FIX64K_00000,\n"
	  "FIX16K_80000, FIX16K_A0000, FIX4K_C0000 to FIX4K_F8000. Registers that are not given\n"
	  "are zero, and PAT is at its reset value. Writes are judged as a guest's, in the order\n"
	  "given. --host: registers of a real machine, where MTRRCAP sets the number of variable\n"
	  "ranges and AMD has SYSCFG, TOP_MEM, TOP_MEM2 and bits 4:3 of fixed ranges.\n"
	  "--maxphyaddr: physical address width; if not given, what the masks show, at least 36.",
	  mt_cmd_decode },
	{ "host", "[ADDR]", "show this machine's MTRRs and PAT, and what is wrong with them",
	  "Reads /dev/cpu/N/msr (module msr, root), /proc/mtrr, /proc/cpuinfo,\n"
	  "/sys/kernel/debug/x86/pat_memtype_list and the BARs in /sys/bus/pci/devices.\n"
	  "Exit status 1 when processors differ, a BAR lies under a cacheable range, or ranges\n"
	  "overlap in a way that the manuals leave undefined. ADDR: also what holds there.",
	  mt_cmd_host },
	{ "guest", "SOCKET [--timeout SEC]",
	  "show a running guest's MTRRs, PAT and BARs, and what its stores get",
	  "SOCKET is the machine's control socket; 'bluepass ctl SOCKET memtype' says the same.\n"
	  "The CPUs of the guest stand still while its page tables are followed.\n"
	  "--timeout: how long to wait for the answer (10 seconds).",
	  mt_cmd_guest },
	{ NULL, NULL, NULL, NULL, NULL },
};

int main(int argc, char **argv)
{
	struct bp_cli cli = {
		.prog = "memtype",
		.summary = "memory types of x86 machines and their guests",
		.commands = commands,
		.with_root = true,
	};

	return bp_cli_main(&cli, argc, argv);
}
