// SPDX-License-Identifier: GPL-2.0-only
#include <bp/log.h>

#include <vf/sriov.h>

#include "vfctl.h"

int vfctl_destroy(struct bp_cli *cli, int argc, char **argv)
{
	struct vf_host host = vfctl_host(cli);
	struct bp_error err = { 0 };
	struct vf_admin admin;
	struct bp_print *p;
	struct vf_pci pf;
	bool changed;
	int ret;

	if (argc != 2)
		return bp_cli_usage(cli, "destroy", "destroy needs a PF");
	ret = vfctl_find(&host, argv[1], &pf);
	if (ret)
		return ret;
	vf_admin_init(&admin, &host);
	ret = vf_sriov_destroy(&admin, &pf.bdf, &changed, &err);
	if (ret)
		return bp_log_report(&err, ret, "cannot remove VFs");
	p = vfctl_print_begin(cli);
	if (!p)
		return BP_EXIT_FAIL;
	bp_print_object(p, NULL);
	vfctl_print_bdf(p, "pf", "%s:", &pf.bdf);
	bp_print_bool(p, "changed", NULL, changed);
	bp_print_u64(p, "num_vfs", NULL, 0);
	bp_print_u64(p, "removed", pf.num_vfs ? " %lu VFs removed\n" : " has no VFs\n", pf.num_vfs);
	bp_print_object_end(p);
	return vfctl_print_end(p, BP_EXIT_OK);
}
