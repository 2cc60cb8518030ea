// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include <bp/log.h>

#include "vfctl.h"

/* The names on the command line as functions that need not exist. */
static int names(const struct vf_host *host, int argc, char **argv, struct vf_bdf *out)
{
	struct vf_pci f;

	for (int i = 0; i < argc; i++) {
		int ret;

		if (!vf_bdf_parse(argv[i], &out[i]))
			continue;
		ret = vfctl_find(host, argv[i], &f);
		if (ret)
			return ret;
		out[i] = f.bdf;
	}
	return BP_EXIT_OK;
}

int vfctl_bind(struct bp_cli *cli, int argc, char **argv)
{
	struct vf_host host = vfctl_host(cli);
	struct bp_error err = { 0 };
	struct vf_bind_result *results;
	struct vf_admin admin;
	struct vf_bdf *bdfs;
	struct bp_print *p;
	int count = argc - 1, ret;

	if (count < 1)
		return bp_cli_usage(cli, "bind", "bind needs at least one function");
	bdfs = calloc((size_t)count, sizeof(*bdfs));
	results = calloc((size_t)count, sizeof(*results));
	if (!bdfs || !results) {
		ret = bp_log_report(NULL, -ENOMEM, "cannot bind");
		goto out;
	}
	ret = names(&host, count, argv + 1, bdfs);
	if (ret)
		goto out;
	vf_admin_init(&admin, &host);
	ret = vf_bind(&admin, bdfs, (size_t)count, results, &err);
	if (ret) {
		ret = bp_log_report(&err, ret, "cannot bind");
		goto out;
	}
	p = vfctl_print_begin(cli);
	if (!p) {
		ret = BP_EXIT_FAIL;
		goto out;
	}
	bp_print_array(p, NULL);
	for (int i = 0; i < count; i++)
		vfctl_print_bind(p, &results[i]);
	bp_print_array_end(p);
	ret = vfctl_print_end(p, BP_EXIT_OK);
out:
	free(results);
	free(bdfs);
	return ret;
}
