// SPDX-License-Identifier: GPL-2.0-only
#include <vf/coherent.h>

#include "vfctl.h"

#define RESERVED_MAX 64

static void show_translation(struct bp_print *p, const struct vf_host *host,
			     const struct vf_pci *f)
{
	struct vf_translation t;

	vf_translation_read(host, &f->bdf, &t);
	bp_print_object(p, "iommu");
	bp_print_str(p, "name", "  iommu         %s", *t.iommu ? t.iommu : NULL);
	bp_print_str(p, "kind", " (%s)", *t.kind ? t.kind : NULL);
	if (t.coherent < 0) {
		bp_print_null(p, "coherent", *t.iommu ? ", coherent: not known" :
							"  iommu         none");
	} else {
		bp_print_bool(p, "coherent", ", coherent: %s", t.coherent);
	}
	bp_print_str(p, "why", *t.iommu ? " (%s)" : NULL, t.why);
	bp_print_text(p, "\n");
	bp_print_object_end(p);
}

static const char *state_name(enum vf_member_state state)
{
	switch (state) {
	case VF_MEMBER_FREE:
		return "free";
	case VF_MEMBER_VFIO:
		return "vfio";
	case VF_MEMBER_BRIDGE:
		return "bridge";
	case VF_MEMBER_HOST:
		return "host";
	}
	return "unknown";
}

static void show_members(struct bp_print *p, const struct vf_group *group)
{
	bp_print_array(p, "members");
	for (size_t i = 0; i < group->count; i++) {
		const struct vf_group_member *m = &group->members[i];

		bp_print_object(p, NULL);
		vfctl_print_bdf(p, "bdf", "    member      %s", &m->bdf);
		bp_print_str(p, "driver", " on %s", *m->driver ? m->driver : NULL);
		bp_print_str(p, "state", " (%s)\n", state_name(m->state));
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

static void show_reserved(struct bp_print *p, const struct vf_host *host, int number)
{
	struct vf_resv r[RESERVED_MAX];
	int n = vf_group_reserved(host, number, r, RESERVED_MAX);

	if (n < 0) {
		bp_print_null(p, "reserved_regions", NULL);
		return;
	}
	bp_print_array(p, "reserved_regions");
	for (int i = 0; i < n && i < RESERVED_MAX; i++) {
		bp_print_object(p, NULL);
		bp_print_hex(p, "start", "  reserved      %s", 1, r[i].start);
		bp_print_hex(p, "last", " to %s", 1, r[i].last);
		bp_print_str(p, "type", " %s\n", vf_resv_name(r[i].type));
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

void vfctl_show_iommu(struct bp_print *p, const struct vf_host *host, const struct vf_pci *f)
{
	struct vf_group *group = NULL;

	show_translation(p, host, f);
	if (f->iommu_group < 0 || vf_group_read(host, f->iommu_group, &group, NULL)) {
		bp_print_null(p, "iommu_group", "  group         none\n");
		bp_print_null(p, "group", NULL);
		bp_print_null(p, "reserved_regions", NULL);
		return;
	}
	bp_print_u64(p, "iommu_group", "  group         %lu", (uint64_t)f->iommu_group);
	bp_print_object(p, "group");
	bp_print_u64(p, "number", NULL, (uint64_t)group->number);
	bp_print_str(p, "type", ", %s", *group->type ? group->type : NULL);
	bp_print_bool(p, "viable", ", viable: %s\n", vf_group_viable(group));
	show_members(p, group);
	bp_print_object_end(p);
	show_reserved(p, host, f->iommu_group);
	vf_group_free(group);
}
