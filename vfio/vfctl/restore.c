// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>

#include <vf/record.h>
#include <vf/sriov.h>

#include "vfctl.h"

/* PFs whose autoprobe setting a killed `create --no-probe` left at 0. */
static int heal(struct vf_admin *a)
{
	struct bp_error err = { 0 };
	struct vf_bdf *pfs;
	bool changed;
	size_t n;
	int ret, status = BP_EXIT_OK;

	ret = vf_record_list(a->host, VF_RECORD_AUTOPROBE, &pfs, &n);
	if (ret)
		return bp_log_report(NULL, ret, "cannot list the records of PFs");
	for (size_t i = 0; i < n; i++) {
		bp_error_clear(&err);
		ret = vf_sriov_heal(a, &pfs[i], &changed, &err);
		if (ret)
			status = bp_log_report(&err, ret, "cannot put a PF's setting back");
	}
	free(pfs);
	return status;
}

/* One failure does not keep the others from being restored. */
static int restore_all(struct bp_cli *cli, struct vf_admin *a, const struct vf_bdf *bdfs, size_t n)
{
	struct bp_print *p = vfctl_print_begin(cli);
	struct vf_bind_result r;
	struct bp_error err;
	int ret, status = BP_EXIT_OK;

	if (!p)
		return BP_EXIT_FAIL;
	bp_print_array(p, NULL);
	for (size_t i = 0; i < n; i++) {
		bp_error_clear(&err);
		ret = vf_restore(a, &bdfs[i], &r, &err);
		if (ret)
			status = bp_log_report(&err, ret, "cannot restore");
		else
			vfctl_print_bind(p, &r);
	}
	bp_print_array_end(p);
	return vfctl_print_end(p, status);
}

int vfctl_restore(struct bp_cli *cli, int argc, char **argv)
{
	struct vf_host host = vfctl_host(cli);
	struct vf_bdf *bdfs = NULL;
	struct vf_admin admin;
	bool all = argc == 2 && !strcmp(argv[1], "--all");
	int status = BP_EXIT_OK, ret;
	size_t n = 0;

	if (argc < 2)
		return bp_cli_usage(cli, "restore", "restore needs a function or --all");
	vf_admin_init(&admin, &host);
	if (all) {
		status = heal(&admin);
		ret = vf_record_list(&host, VF_RECORD_BIND, &bdfs, &n);
		if (ret)
			return bp_log_report(NULL, ret, "cannot list /run/bluepass/bind");
	} else {
		bdfs = calloc((size_t)argc, sizeof(*bdfs));
		if (!bdfs)
			return bp_log_report(NULL, -ENOMEM, "cannot restore");
		for (; n < (size_t)argc - 1; n++) {
			struct vf_pci f;

			/* A function that is gone has no interface, but its name is enough. */
			if (!vf_bdf_parse(argv[n + 1], &bdfs[n]))
				continue;
			status = vfctl_find(&host, argv[n + 1], &f);
			if (status)
				goto out;
			bdfs[n] = f.bdf;
		}
	}
	ret = restore_all(cli, &admin, bdfs, n);
	status = ret ? ret : status;
out:
	free(bdfs);
	return status;
}
