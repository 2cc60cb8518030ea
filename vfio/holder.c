// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vf/group.h>
#include <vf/holder.h>
#include <vf/sysfs.h>

#define DESCRIBED_MAX 8

/* The nodes whose users hold one function. */
struct nodes {
	char group[64];
	char cdev[64];
};

static void nodes_of(const struct vf_host *host, const struct vf_bdf *bdf, struct nodes *n)
{
	char name[VF_BDF_LEN];
	struct vf_names found;
	int group = vf_group_of(host, bdf);

	n->group[0] = n->cdev[0] = 0;
	if (group >= 0)
		snprintf(n->group, sizeof(n->group), "/dev/vfio/%d", group);
	if (vf_sysfs_list(host, &found, "sys/bus/pci/devices/%s/vfio-dev",
			  vf_bdf_format(bdf, name)))
		return;
	if (found.count && strlen(found.name[0]) < 16)
		snprintf(n->cdev, sizeof(n->cdev), "/dev/vfio/devices/%.15s", found.name[0]);
	vf_names_free(&found);
}

/* Whether one of a process's descriptors is one of the nodes. */
static bool holds(const struct vf_host *host, const char *pid, const struct nodes *n)
{
	struct vf_names fds;
	bool found = false;
	int dir;

	if (vf_sysfs_list(host, &fds, "proc/%s/fd", pid))
		return false;
	dir = vf_sysfs_open(host, O_PATH | O_DIRECTORY, "proc/%s/fd", pid);
	for (size_t i = 0; dir >= 0 && i < fds.count && !found; i++) {
		char target[128];
		ssize_t len = readlinkat(dir, fds.name[i], target, sizeof(target) - 1);

		if (len <= 0)
			continue;
		target[len] = 0;
		found = (*n->group && !strcmp(target, n->group)) ||
			(*n->cdev && !strcmp(target, n->cdev));
	}
	if (dir >= 0)
		close(dir);
	vf_names_free(&fds);
	return found;
}

static bool is_pid(const char *name)
{
	size_t len = strspn(name, "0123456789");

	return len && len < 10 && !name[len];
}

int vf_holders(const struct vf_host *host, const struct vf_bdf *bdf, struct vf_holder *out,
	       size_t max)
{
	struct vf_names procs;
	struct nodes nodes;
	size_t n = 0;
	int ret;

	nodes_of(host, bdf, &nodes);
	if (!*nodes.group && !*nodes.cdev)
		return 0;
	ret = vf_sysfs_list(host, &procs, "proc");
	if (ret)
		return ret;
	for (size_t i = 0; i < procs.count; i++) {
		if (!is_pid(procs.name[i]) || !holds(host, procs.name[i], &nodes))
			continue;
		if (n < max) {
			out[n].pid = atoi(procs.name[i]);
			if (vf_sysfs_read(host, out[n].name, sizeof(out[n].name), "proc/%s/comm",
					  procs.name[i]) < 0)
				out[n].name[0] = 0;
		}
		n++;
	}
	vf_names_free(&procs);
	return (int)n;
}

int vf_holders_describe(const struct vf_host *host, const struct vf_bdf *bdf, char *buf,
			size_t size)
{
	struct vf_holder found[DESCRIBED_MAX] = { 0 };
	int n = vf_holders(host, bdf, found, DESCRIBED_MAX);
	size_t len = 0;

	buf[0] = 0;
	for (int i = 0; i < n; i++) {
		char one[64] = "";
		size_t k;

		if (i < DESCRIBED_MAX)
			snprintf(one, sizeof(one), "%s%s (pid %d)", i ? ", " : "",
				 *found[i].name ? found[i].name : "a process", (int)found[i].pid);
		k = strlen(one);
		if (!k || len + k + sizeof(", ...") > size) {
			snprintf(buf + len, size - len, "%s...", len ? ", " : "");
			break;
		}
		memcpy(buf + len, one, k + 1);
		len += k;
	}
	return n;
}
