// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>

#include <vf/sriov.h>

#include "vfctl.h"

static int print_result(struct bp_cli *cli, const struct vf_host *host, const struct vf_pci *pf,
			bool changed, bool made)
{
	struct vf_ids *ids = vf_ids_open();
	struct bp_error err = { 0 };
	struct vf_bdf *vfs = NULL;
	struct bp_print *p;
	struct vf_pci f;
	int status = BP_EXIT_OK, ret;
	size_t n = 0;

	if (!ids)
		return bp_log_report(NULL, -ENOMEM, "cannot read names");
	ret = vf_pci_vfs(host, &pf->bdf, &vfs, &n);
	if (ret) {
		vf_ids_close(ids);
		return bp_log_report(NULL, ret, "cannot list the new VFs");
	}
	p = vfctl_print_begin(cli);
	if (!p) {
		free(vfs);
		vf_ids_close(ids);
		return BP_EXIT_FAIL;
	}
	bp_print_object(p, NULL);
	vfctl_print_bdf(p, "pf", "%s:", &pf->bdf);
	bp_print_bool(p, "changed", NULL, changed);
	bp_print_u64(p, "num_vfs", made ? " %lu VFs made\n" : " has %lu VFs already\n",
		     pf->num_vfs);
	bp_print_array(p, "vfs");
	if (n)
		vfctl_print_heading(p);
	for (size_t i = 0; i < n; i++) {
		ret = vf_pci_read(host, &vfs[i], &f, &err);
		if (ret) {
			status = bp_log_report(&err, ret, "cannot read a VF");
			break;
		}
		vfctl_print_pci(p, &f, ids);
	}
	bp_print_array_end(p);
	bp_print_object_end(p);
	free(vfs);
	vf_ids_close(ids);
	return vfctl_print_end(p, status);
}

int vfctl_create(struct bp_cli *cli, int argc, char **argv)
{
	struct vf_host host = vfctl_host(cli);
	struct bp_error err = { 0 };
	unsigned int flags = 0;
	struct vf_admin admin;
	struct vf_pci pf;
	bool changed, had;
	uint64_t n;
	int ret;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		if (strcmp(argv[1], "--no-probe") != 0)
			return bp_cli_usage(cli, "create", "unknown option '%s'", argv[1]);
		flags |= VF_SRIOV_NO_PROBE;
	}
	if (argc != 3)
		return bp_cli_usage(cli, "create", "create needs a PF and the number of VFs");
	if (bp_parse_u64(argv[2], 1, UINT16_MAX, &n))
		return bp_cli_usage(cli, "create", "'%s' is not a number of VFs, 1 or more", argv[2]);
	ret = vfctl_find(&host, argv[1], &pf);
	if (ret)
		return ret;
	had = pf.num_vfs;
	vf_admin_init(&admin, &host);
	ret = vf_sriov_create(&admin, &pf.bdf, (uint32_t)n, flags, &changed, &err);
	if (!ret)
		ret = vf_pci_read(&host, &pf.bdf, &pf, &err);
	if (ret)
		return bp_log_report(&err, ret, "cannot make VFs");
	return print_result(cli, &host, &pf, changed, changed && !had);
}
