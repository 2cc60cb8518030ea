// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include <bp/log.h>

#include "vfctl.h"

static const struct bp_command commands[] = {
	{ "list", "[--all | PF]", "List functions that have to do with SR-IOV or VFIO",
	  "Without arguments: PFs, VFs, and functions bound to a VFIO driver.\n"
	  "  -a, --all  every PCI function\n"
	  "  PF         its VFs only",
	  vfctl_list },
	{ "show", "FUNCTION", "Show everything about one function",
	  "FUNCTION is a BDF as 0000:01:00.1 or 01:00.1, or the name of its network interface.\n"
	  "Capabilities beyond the first 64 bytes of configuration space need root.",
	  vfctl_show },
	{ "create", "[--no-probe] PF N", "Make N virtual functions",
	  "Does nothing when PF has N already, and refuses to change another number but 0.\n"
	  "  --no-probe  keep the host's drivers off the new VFs",
	  vfctl_create },
	{ "destroy", "PF", "Remove all virtual functions of a PF",
	  "Refused while one of them is in use through VFIO or needed by the host.", vfctl_destroy },
	{ "set", "PF VF ATTRIBUTE VALUE", "Set an attribute of a virtual function",
	  "VF is its index from 0, or its BDF. Attributes:\n"
	  "  mac       hardware address\n"
	  "  vlan      ID[:PRIORITY[:802.1Q|802.1ad]], 0 for none\n"
	  "  trust     on or off\n"
	  "  spoofchk  on or off\n"
	  "  rate      MAX or MIN-MAX in Mbit/s, 0 for no limit\n"
	  "  guid      InfiniBand node and port GUID",
	  vfctl_set },
	{ "bind", "FUNCTION...", "Give functions to vfio-pci, all or none",
	  "What they had is recorded in /run/bluepass/bind for 'vfctl restore'. Refused for what\n"
	  "the host needs, for a PF with VFs, and where a member of the IOMMU group that is not\n"
	  "named stays on a driver of the host.",
	  vfctl_bind },
	{ "restore", "{--all | FUNCTION...}", "Give functions the drivers back that they had",
	  "Also repairs what a run that was killed left behind.\n"
	  "  --all  everything that is recorded",
	  vfctl_restore },
	{ 0 },
};

struct vf_host vfctl_host(const struct bp_cli *cli)
{
	return (struct vf_host){ .root = cli->root, .sys = vf_sys_libc() };
}

int vfctl_find(const struct vf_host *host, const char *text, struct vf_pci *out)
{
	struct bp_error err = { 0 };
	int ret = vf_pci_find(host, text, out, &err);

	if (!ret)
		return BP_EXIT_OK;
	bp_log_report(&err, ret, "looking for a function");
	return ret == -EINVAL ? BP_EXIT_USAGE : BP_EXIT_FAIL;
}

struct bp_print *vfctl_print_begin(struct bp_cli *cli)
{
	struct bp_print *p = bp_print_new(stdout, cli->mode);

	if (!p)
		bp_log_report(NULL, -ENOMEM, "cannot print");
	return p;
}

int vfctl_print_end(struct bp_print *p, int status)
{
	int ret = bp_print_free(p);

	return ret ? bp_log_report(NULL, ret, "cannot write the output") : status;
}

int main(int argc, char **argv)
{
	struct bp_cli cli = {
		.prog = "vfctl",
		.summary = "find, make, configure and bind virtual functions",
		.commands = commands,
		.with_root = true,
	};

	return bp_cli_main(&cli, argc, argv);
}
