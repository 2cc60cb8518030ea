// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>

#include <bp/log.h>

#include <vf/holder.h>
#include <vf/link.h>
#include <vf/sysfs.h>
#include <vf/usage.h>

#include "vfctl.h"

#define HOLDERS_MAX 16

static void print_or_null(struct bp_print *p, const char *key, const char *fmt, const char *value)
{
	bp_print_str(p, key, fmt, *value ? value : NULL);
}

static void print_number(struct bp_print *p, const char *key, const char *fmt, int value)
{
	if (value < 0)
		bp_print_null(p, key, NULL);
	else
		bp_print_u64(p, key, fmt, (uint64_t)value);
}

static void show_identity(struct bp_print *p, const struct vf_pci *f, struct vf_ids *ids)
{
	char name[512];

	vfctl_print_bdf(p, "bdf", "%s ", &f->bdf);
	bp_print_str(p, "name", "%s",
		     vf_ids_name(ids, f->vendor_id, f->device_id, name, sizeof(name)));
	bp_print_text(p, " [%04x:%04x]", f->vendor_id, f->device_id);
	bp_print_hex(p, "vendor_id", NULL, 4, f->vendor_id);
	bp_print_hex(p, "device_id", NULL, 4, f->device_id);
	bp_print_hex(p, "subsystem_vendor_id", NULL, 4, f->sub_vendor_id);
	bp_print_hex(p, "subsystem_device_id", NULL, 4, f->sub_device_id);
	bp_print_hex(p, "class", " class %s", 6, f->class_code);
	bp_print_hex(p, "revision", " rev %s\n", 2, f->revision);
}

static void show_vfs(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f)
{
	struct vf_bdf *vfs = NULL;
	char driver[VF_DRIVER_LEN], name[VF_BDF_LEN];
	size_t n = 0;

	if (f->role != VF_ROLE_PF || vf_pci_vfs(host, &f->bdf, &vfs, &n))
		n = 0;
	bp_print_array(p, "vfs");
	for (size_t i = 0; i < n; i++) {
		if (vf_sysfs_link_name(host, driver, sizeof(driver), "sys/bus/pci/devices/%s/driver",
				       vf_bdf_format(&vfs[i], name)))
			driver[0] = 0;
		bp_print_object(p, NULL);
		bp_print_u64(p, "vf_index", "  vf %-10lu ", i);
		vfctl_print_bdf(p, "bdf", "%s", &vfs[i]);
		print_or_null(p, "driver", " on %s", driver);
		bp_print_text(p, "\n");
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	free(vfs);
}

static void show_role(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f)
{
	bp_print_str(p, "role", "  role          %s", vf_role_name(f->role));
	if (f->role == VF_ROLE_VF)
		vfctl_print_bdf(p, "pf", " of %s", &f->pf);
	else
		bp_print_null(p, "pf", NULL);
	print_number(p, "vf_index", ", index %lu", f->vf_index);
	if (f->role == VF_ROLE_PF) {
		bp_print_u64(p, "num_vfs", ", %lu of ", f->num_vfs);
		bp_print_u64(p, "total_vfs", "%lu VFs", f->total_vfs);
	} else {
		bp_print_null(p, "num_vfs", NULL);
		bp_print_null(p, "total_vfs", NULL);
	}
	bp_print_text(p, "\n");
	show_vfs(p, host, f);
}

/* Names of the folders below one of the function's, such as its interfaces. */
static void show_names(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f,
		       const char *key, const char *fmt, const char *folder)
{
	char name[VF_BDF_LEN];
	struct vf_names names;

	bp_print_array(p, key);
	if (!vf_sysfs_list(host, &names, "sys/bus/pci/devices/%s/%s", vf_bdf_format(&f->bdf, name),
			   folder)) {
		for (size_t i = 0; i < names.count; i++)
			bp_print_str(p, NULL, fmt, names.name[i]);
		vf_names_free(&names);
	}
	bp_print_array_end(p);
}

static void show_holders(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f)
{
	struct vf_holder found[HOLDERS_MAX];
	int n = vf_holders(host, &f->bdf, found, HOLDERS_MAX);

	bp_print_array(p, "holders");
	for (int i = 0; i < n && i < HOLDERS_MAX; i++) {
		bp_print_object(p, NULL);
		bp_print_str(p, "name", "  in use by     %s", found[i].name);
		bp_print_u64(p, "pid", " (pid %lu)\n", (uint64_t)found[i].pid);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

static void show_use(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f)
{
	struct bp_error err = { 0 };
	char why[400];
	int ret;

	if (*f->driver) {
		bp_print_str(p, "driver", "  driver        %s", f->driver);
	} else {
		bp_print_null(p, "driver", "  driver        none");
	}
	print_or_null(p, "driver_override", ", only %s may have it", f->driver_override);
	bp_print_text(p, "\n");
	show_names(p, host, f, "interfaces", "  interface     %s\n", "net");
	show_names(p, host, f, "rdma", "  rdma device   %s\n", "infiniband");
	show_holders(p, host, f);
	ret = vf_usage(host, &f->bdf, why, sizeof(why), &err);
	bp_print_str(p, "needed_by_host", "  host          %s\n", ret > 0 ? why : NULL);
	print_number(p, "numa_node", "  numa node     %lu\n", f->numa_node);
}

static void show_link(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f)
{
	/* The registers of a VF are its PF's. */
	const struct vf_bdf *of = f->role == VF_ROLE_VF ? &f->pf : &f->bdf;
	struct vf_link link;

	vf_link_read(host, of, &link);
	if (!*link.speed && !*link.max_speed && !link.width) {
		bp_print_null(p, "link", NULL);
		return;
	}
	bp_print_object(p, "link");
	bp_print_text(p, "  link          ");
	print_or_null(p, "speed", "%s", link.speed);
	print_number(p, "width", " x%lu", link.width ? (int)link.width : -1);
	print_or_null(p, "max_speed", " of %s", link.max_speed);
	print_number(p, "max_width", " x%lu", link.max_width ? (int)link.max_width : -1);
	vfctl_print_bdf(p, "of", f->role == VF_ROLE_VF ? " (of %s)" : NULL, of);
	bp_print_text(p, "\n");
	bp_print_object_end(p);
}

static void show_attrs(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f)
{
	struct bp_error err = { 0 };
	struct vf_attrs attrs;
	char ifname[IFNAMSIZ];

	if (f->role != VF_ROLE_VF || f->vf_index < 0 ||
	    vf_attr_get(host, &f->pf, (unsigned int)f->vf_index, ifname, &attrs, &err)) {
		vfctl_print_attrs(p, "vf", NULL, "");
		bp_print_str(p, "vf_why", NULL, err.code ? err.what : NULL);
		return;
	}
	bp_print_text(p, "  attributes    ");
	vfctl_print_attrs(p, "vf", &attrs, ifname);
	bp_print_text(p, "\n");
}

int vfctl_show(struct bp_cli *cli, int argc, char **argv)
{
	struct vf_host host = vfctl_host(cli);
	struct bp_print *p;
	struct vf_ids *ids;
	struct vf_pci f;
	int ret;

	if (argc != 2)
		return bp_cli_usage(cli, "show", "show needs one function");
	ret = vfctl_find(&host, argv[1], &f);
	if (ret)
		return ret;
	ids = vf_ids_open();
	if (!ids)
		return bp_log_report(NULL, -ENOMEM, "cannot read names");
	p = vfctl_print_begin(cli);
	if (!p) {
		vf_ids_close(ids);
		return BP_EXIT_FAIL;
	}
	bp_print_object(p, NULL);
	show_identity(p, &f, ids);
	show_role(p, &host, &f);
	show_use(p, &host, &f);
	show_attrs(p, &host, &f);
	show_link(p, &host, &f);
	vfctl_show_iommu(p, &host, &f);
	vfctl_show_config(p, &host, &f);
	bp_print_object_end(p);
	vf_ids_close(ids);
	return vfctl_print_end(p, BP_EXIT_OK);
}
