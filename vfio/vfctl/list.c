// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>

#include "vfctl.h"

static bool wanted(const struct vf_pci *f, bool all, const struct vf_pci *pf)
{
	if (pf)
		return f->role == VF_ROLE_VF && !vf_bdf_cmp(&f->pf, &pf->bdf);
	return all || f->role != VF_ROLE_NONE || vf_driver_is_vfio(f->driver);
}

int vfctl_list(struct bp_cli *cli, int argc, char **argv)
{
	struct vf_host host = vfctl_host(cli);
	const char *pf_name = NULL;
	struct bp_error err = { 0 };
	struct vf_pci *found, pf;
	bool all = false, any = false;
	struct bp_print *p;
	struct vf_ids *ids;
	size_t n;
	int ret;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--all") || !strcmp(argv[i], "-a"))
			all = true;
		else if (argv[i][0] == '-' || pf_name)
			return bp_cli_usage(cli, "list", "unexpected argument '%s'", argv[i]);
		else
			pf_name = argv[i];
	}
	if (all && pf_name)
		return bp_cli_usage(cli, "list", "--all and a PF exclude each other");
	if (pf_name) {
		ret = vfctl_find(&host, pf_name, &pf);
		if (ret)
			return ret;
	}
	ret = vf_pci_list(&host, &found, &n, &err);
	if (ret)
		return bp_log_report(&err, ret, "cannot list PCI functions");
	ids = vf_ids_open();
	if (!ids) {
		free(found);
		return bp_log_report(NULL, -ENOMEM, "cannot read names");
	}
	p = vfctl_print_begin(cli);
	if (!p) {
		vf_ids_close(ids);
		free(found);
		return BP_EXIT_FAIL;
	}
	bp_print_array(p, NULL);
	for (size_t i = 0; i < n; i++) {
		if (!wanted(&found[i], all, pf_name ? &pf : NULL))
			continue;
		if (!any)
			vfctl_print_heading(p);
		any = true;
		vfctl_print_pci(p, &found[i], ids);
	}
	bp_print_array_end(p);
	if (!any && !bp_print_is_json(p))
		bp_log_error(pf_name ? "this function has no VFs" :
				       "no PF, no VF and nothing on a VFIO driver here; 'vfctl list "
				       "--all' shows the other functions");
	vf_ids_close(ids);
	free(found);
	return vfctl_print_end(p, BP_EXIT_OK);
}
