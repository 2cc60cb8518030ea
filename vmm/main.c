// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include <bp/cli.h>
#include "vmm/commands.h"

static const struct bp_command commands[] = {
	{
		"run",
		"--kernel FILE [OPTIONS]",
		"boot a Linux guest and run it until it powers off",
		"  --kernel FILE         a bzImage, boot protocol 2.06 or later (Linux 2.6.22)\n"
		"  --initrd FILE         initial RAM disk\n"
		"  --append STRING       kernel command line\n"
		"  --cpus N              CPUs, 1 to 64 (1)\n"
		"  --mem SIZE            memory, as 512M or 2G (512M)\n"
		"  --hugepages 2M|1G     take the memory from the host's huge pages\n"
		"  --vf BDF              assign this function, bound to vfio-pci; may be repeated\n"
		"  --backend KIND        VFIO interface: auto, type1 or iommufd (auto)\n"
		"  --memtype MODE        write combining by the guest's MTRRs: module\n"
		"                        (kvm-memtype.ko), pat (a shadow PAT), pat,force (even if\n"
		"                        pages forbid it), off, or auto: module if loaded (auto)\n"
		"  --intx                let assigned devices interrupt by INTx only\n"
		"  --api SOCKET          listen for 'bluepass ctl' there\n"
		"  --console stdio|file:NAME|none\n"
		"                        where the first serial port goes (stdio); on a terminal\n"
		"                        Ctrl-A x ends the machine\n"
		"\n"
		"Exit status 0 when the guest powered itself off or 'ctl stop' ended it.",
		vmm_cmd_run,
	},
	{
		"ctl",
		"SOCKET status|stats|memtype|pause|resume|stop [--force] [--timeout SEC]",
		"ask or command a running machine",
		"  status   state, memory layout, assigned devices\n"
		"  stats    exits by reason, accesses by device, memory types, KVM, memory\n"
		"  memtype  memory types: registers, BARs, what a store gets and why\n"
		"  pause    stop the CPUs; assigned devices are not stopped\n"
		"  resume   let them go on\n"
		"  stop     press the power button and wait until the machine has ended\n"
		"           --force ends it at once; --timeout limits the wait (60 s)",
		vmm_cmd_ctl,
	},
	{ 0 },
};

/* Otherwise the first file that is opened would be taken for the terminal. */
static bool stdio_is_there(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int main(int argc, char **argv)
{
	struct bp_cli cli = {
		.prog = "bluepass",
		.summary = "virtual machines with assigned VFs and true memory types",
		.commands = commands,
	};

	if (!stdio_is_there())
		return BP_EXIT_FAIL;
	return bp_cli_main(&cli, argc, argv);
}
