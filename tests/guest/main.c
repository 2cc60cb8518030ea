// SPDX-License-Identifier: GPL-2.0-only
/* Entry: PID 1 of a nested guest, or a process with the same workloads. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

static const char usage[] =
	"Usage: bpguest net|blk|loop|pci|mtrr [--KEY VALUE]...\n"
	"The other side of a nested guest's workload, or a check of what it wrote.\n"
	"  net   --role server|client [--if IF] [--ip A] [--prefix N] [--mac M] --peer A\n"
	"        [--bytes N] [--seed S] [--ping N] [--pingsize N] [--port N]\n"
	"  blk   --dev NAME --mode write|verify|writeverify [--blocks N] [--bs N] [--seed S]\n"
	"  loop  [--kind net|blk] as above, until killed or for --seconds N\n"
	"  pci   a line for each PCI function\n"
	"  mtrr  --steps WORD,... [--pci BDF] [--bar N] [--scratch OFFSET]; tests/guest/steps.c\n"
	"All: [--timeout SEC] [--flr 1]. Lines are \"BP \" and a JSON object.\n"
	"In a guest the same are kernel parameters: bp.do=net bp.role=server ...\n"
	"Exit status: 0 all right, 1 not, 2 wrong usage.\n";

int main(int argc, char **argv)
{
	struct guest g = { .out_fd = STDOUT_FILENO };

	/* The kernel may add words of its command line as arguments. */
	if (getpid() == 1 && !strcmp(argv[0], "/init"))
		init_main(&g);
	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc < 2 || argc % 2)
		goto wrong;
	for (int i = 2; i < argc; i += 2) {
		if (strncmp(argv[i], "--", 2))
			goto wrong;
		if (guest_add(&g, argv[i] + 2, argv[i + 1])) {
			fputs("bpguest: too many options\n", stderr);
			return 2;
		}
	}
	if (!strcmp(argv[1], "pci")) {
		pci_report_all(&g);
		return 0;
	}
	return guest_work(&g, argv[1]) ? 1 : 0;
wrong:
	fputs(usage, stderr);
	return 2;
}
