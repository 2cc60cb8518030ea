// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include <bp/log.h>

#include "vfctl.h"

/* A VF by its index, or by its own name. */
static int find_vf(const struct vf_host *host, const struct vf_pci *pf, const char *text,
		   unsigned int *index)
{
	struct vf_pci vf;
	uint64_t n;
	int ret;

	if (!bp_parse_u64(text, 0, UINT16_MAX, &n)) {
		if (n >= pf->num_vfs) {
			bp_log_error("there is no VF %u: the PF has %u VFs; VF counts from 0, and "
				     "'vfctl create' makes them", (unsigned int)n, pf->num_vfs);
			return BP_EXIT_FAIL;
		}
		*index = (unsigned int)n;
		return BP_EXIT_OK;
	}
	ret = vfctl_find(host, text, &vf);
	if (ret)
		return ret;
	if (vf.role != VF_ROLE_VF || vf_bdf_cmp(&vf.pf, &pf->bdf) || vf.vf_index < 0) {
		bp_log_error("%s is not a VF of that PF; 'vfctl list' shows who belongs to whom", text);
		return BP_EXIT_FAIL;
	}
	*index = (unsigned int)vf.vf_index;
	return BP_EXIT_OK;
}

static int print_result(struct bp_cli *cli, const struct vf_host *host, const struct vf_pci *pf,
			unsigned int index, const char *name, bool changed)
{
	char ifname[IFNAMSIZ];
	struct vf_attrs now;
	struct bp_print *p = vfctl_print_begin(cli);
	int ret;

	if (!p)
		return BP_EXIT_FAIL;
	ret = vf_attr_get(host, &pf->bdf, index, ifname, &now, NULL);
	bp_print_object(p, NULL);
	vfctl_print_bdf(p, "pf", "%s", &pf->bdf);
	bp_print_u64(p, "vf_index", " VF %lu", index);
	bp_print_str(p, "attribute", changed ? ": %s set" : ": has that %s already", name);
	bp_print_bool(p, "changed", NULL, changed);
	bp_print_text(p, "; ");
	vfctl_print_attrs(p, "attributes", ret ? NULL : &now, ifname);
	bp_print_text(p, "\n");
	bp_print_object_end(p);
	return vfctl_print_end(p, BP_EXIT_OK);
}

int vfctl_set(struct bp_cli *cli, int argc, char **argv)
{
	struct vf_host host = vfctl_host(cli);
	struct vf_attrs to = { 0 }, check = { 0 };
	struct bp_error err = { 0 };
	char ifname[IFNAMSIZ];
	struct vf_admin admin;
	struct vf_pci pf;
	unsigned int index;
	bool changed;
	int ret, attr;

	if (argc != 5)
		return bp_cli_usage(cli, "set", "set needs a PF, a VF, an attribute and a value");
	attr = vf_attr_parse(argv[3], argv[4], &check, &err);
	if (attr < 0)
		return bp_cli_usage(cli, "set", "%s", err.what);
	ret = vfctl_find(&host, argv[1], &pf);
	if (!ret && pf.role != VF_ROLE_PF) {
		bp_log_error("%s is not a PF; 'vfctl list' shows the PFs", argv[1]);
		ret = BP_EXIT_FAIL;
	}
	if (!ret)
		ret = find_vf(&host, &pf, argv[2], &index);
	if (ret)
		return ret;
	/* What the value leaves open, such as the lower rate, stays as it is. */
	if (vf_attr_get(&host, &pf.bdf, index, ifname, &to, NULL))
		to = (struct vf_attrs){ 0 };
	vf_attr_parse(argv[3], argv[4], &to, NULL);
	vf_admin_init(&admin, &host);
	ret = vf_attr_set(&admin, &pf.bdf, index, (enum vf_attr)attr, &to, &changed, &err);
	if (ret)
		return bp_log_report(&err, ret, "cannot set an attribute");
	return print_result(cli, &host, &pf, index, argv[3], changed);
}
