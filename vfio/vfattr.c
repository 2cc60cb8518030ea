// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vf/sysfs.h>
#include <vf/vfattr.h>

#include "vfmsg.h"

#define DEV "sys/bus/pci/devices/%s/"

/* An interface with 256 VFs answers with about 60 KiB. */
#define ANSWER_MAX (256u << 10)

static bool is_this_host(const struct vf_host *host)
{
	return !strcmp(host->root, "/");
}

/*
 * Send one request and read until its answer or acknowledgement.
 * @answer receives the first message of @type, when that is not 0.
 */
static int talk(struct nlmsghdr *request, uint16_t type, char *answer, char *text, size_t size)
{
	struct mnl_socket *nl;
	const struct nlmsghdr *nlh;
	int one = 1, len, ret;
	ssize_t n;

	text[0] = 0;
	nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!nl)
		return -errno;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID)) {
		ret = -errno;
		goto out;
	}
	/* Kernels before 4.12 have no words for errors; then the errno must do. */
	mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl, NETLINK_CAP_ACK, &one, sizeof(one));
	if (mnl_socket_sendto(nl, request, request->nlmsg_len) < 0) {
		ret = -errno;
		goto out;
	}
	do {
		n = mnl_socket_recvfrom(nl, answer, ANSWER_MAX);
	} while (n < 0 && errno == EINTR);
	ret = n < 0 ? -errno : -EBADMSG;
	nlh = (const struct nlmsghdr *)answer;
	for (len = (int)n; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		if (nlh->nlmsg_seq != request->nlmsg_seq)
			continue;
		if (nlh->nlmsg_type == NLMSG_ERROR) {
			ret = vf_msg_error(nlh, text, size);
			break;
		}
		if (type && nlh->nlmsg_type == type) {
			memmove(answer, nlh, nlh->nlmsg_len);
			ret = 0;
			break;
		}
	}
out:
	mnl_socket_close(nl);
	return ret;
}

static int ask(unsigned int ifindex, unsigned int vf, struct vf_attrs *out)
{
	char request[VF_MSG_SIZE] __attribute__((aligned(8)));
	char text[256], *answer = malloc(ANSWER_MAX);
	int ret;

	if (!answer)
		return -ENOMEM;
	ret = talk(vf_msg_get(request, ifindex, (unsigned int)time(NULL)), RTM_NEWLINK, answer,
		   text, sizeof(text));
	if (!ret)
		ret = vf_msg_parse((const struct nlmsghdr *)answer, vf, out);
	free(answer);
	return ret;
}

/* The PF's interface that answers for the VF. A device of two ports has one for each. */
static int find_interface(const struct vf_host *host, const char *pf, unsigned int vf,
			  char *ifname, unsigned int *ifindex, struct vf_attrs *out)
{
	struct vf_names names;
	int ret, found = -ENODEV;
	uint64_t index;

	ifname[0] = 0;
	if (!is_this_host(host))
		return -ENODEV;
	ret = vf_sysfs_list(host, &names, DEV "net", pf);
	if (ret)
		return ret == -ENOENT ? -ENODEV : ret;
	for (size_t i = 0; i < names.count && found; i++) {
		if (strlen(names.name[i]) >= IFNAMSIZ ||
		    vf_sysfs_read_u64(host, &index, DEV "net/%s/ifindex", pf, names.name[i]) ||
		    index > INT32_MAX)
			continue;
		ret = ask((unsigned int)index, vf, out);
		if (ret && ret != -ENOENT)
			found = ret;
		if (ret)
			continue;
		snprintf(ifname, IFNAMSIZ, "%s", names.name[i]);
		*ifindex = (unsigned int)index;
		found = 0;
	}
	vf_names_free(&names);
	return found;
}

/*
 * mlx4: path of the attribute that holds a VF's GUID on the first port, relative to the
 * root. Entry 0 is the PF's, VF n is slave n + 1.
 */
static bool mlx4_guid(const struct vf_host *host, const char *pf, unsigned int vf, char *path,
		      size_t size)
{
	struct vf_names names;
	bool found = false;

	if (vf_sysfs_list(host, &names, DEV "infiniband", pf))
		return false;
	for (size_t i = 0; i < names.count && !found; i++) {
		int n = snprintf(path, size, DEV "infiniband/%s/iov/ports/1/admin_guids/%u", pf,
				 names.name[i], vf + 1);

		found = n > 0 && (size_t)n < size && vf_sysfs_exists(host, "%s", path);
	}
	vf_names_free(&names);
	return found;
}

static bool read_mlx4_guid(const struct vf_host *host, const char *path, struct vf_attrs *out)
{
	char text[32], *end;

	if (vf_sysfs_read(host, text, sizeof(text), "%s", path) <= 0)
		return false;
	out->port_guid = strtoull(text, &end, 16);
	if (*end)
		return false;
	/* mlx4 has one GUID for both. */
	out->node_guid = out->port_guid;
	out->known |= 1u << VF_ATTR_GUID;
	return true;
}

int vf_attr_get(const struct vf_host *host, const struct vf_bdf *pf, unsigned int vf, char *ifname,
		struct vf_attrs *out, struct bp_error *err)
{
	char name[VF_BDF_LEN], path[VF_ATTR_MAX];
	unsigned int ifindex;
	int ret;

	*out = (struct vf_attrs){ 0 };
	vf_bdf_format(pf, name);
	ret = find_interface(host, name, vf, ifname, &ifindex, out);
	if (mlx4_guid(host, name, vf, path, sizeof(path)) && read_mlx4_guid(host, path, out))
		return 0;
	if (ret == -ENODEV)
		return bp_error_set(err, ret, NULL, "no network interface of PF %s knows VF %u",
				    name, vf);
	if (ret)
		return bp_error_set(err, ret, NULL, "PF %s does not tell about VF %u: %s", name, vf,
				    strerror(-ret));
	return 0;
}

/* Some drivers answer yes and do nothing. */
static int not_taken(const char *who, unsigned int vf, enum vf_attr attr, struct bp_error *err)
{
	return bp_error_set(err, -EIO, "'vfctl show' says what it has now",
			    "%s: its driver accepted %s of VF %u, but shows another value", who,
			    vf_attr_name(attr), vf);
}

static int set_mlx4_guid(struct vf_admin *a, const char *pf, unsigned int vf, const char *path,
			 const struct vf_attrs *to, bool *changed, struct bp_error *err)
{
	struct vf_attrs now = { 0 };
	char text[32];
	int ret;

	if (read_mlx4_guid(a->host, path, &now) && vf_attr_equal(&now, to, VF_ATTR_GUID))
		return 0;
	snprintf(text, sizeof(text), "0x%016" PRIx64, to->port_guid);
	ret = vf_admin_write(a, text, "%s", path);
	if (ret)
		return bp_error_set(err, ret, ret == -EACCES ? "run this as root" : NULL,
				    "PF %s: cannot set guid of VF %u: %s", pf, vf, strerror(-ret));
	*changed = true;
	/* 0 leaves the choice to the subnet manager (MLX4_NOT_SET_GUID). */
	if (to->port_guid && read_mlx4_guid(a->host, path, &now) &&
	    !vf_attr_equal(&now, to, VF_ATTR_GUID))
		return not_taken(pf, vf, VF_ATTR_GUID, err);
	return 0;
}

static int explain(int ret, const char *ifname, unsigned int vf, enum vf_attr attr,
		   const char *text, struct bp_error *err)
{
	const char *fix = NULL, *what = *text ? text : strerror(-ret);

	switch (ret) {
	case -EPERM:
		fix = "run this as root";
		break;
	case -EOPNOTSUPP:
		if (!*text)
			what = "its driver has no such setting";
		break;
	case -EINVAL:
		if (attr == VF_ATTR_RATE)
			fix = "the interface must be up, and many drivers want MIN 0 and MAX within the link's speed";
		break;
	}
	return bp_error_set(err, ret, fix, "%s: cannot set %s of VF %u: %s", ifname,
			    vf_attr_name(attr), vf, what);
}

int vf_attr_set(struct vf_admin *a, const struct vf_bdf *pf, unsigned int vf, enum vf_attr attr,
		const struct vf_attrs *to, bool *changed, struct bp_error *err)
{
	char name[VF_BDF_LEN], path[VF_ATTR_MAX], ifname[IFNAMSIZ];
	char request[VF_MSG_SIZE] __attribute__((aligned(8)));
	char text[256], *answer;
	struct vf_attrs now;
	unsigned int ifindex;
	int ret;

	*changed = false;
	vf_bdf_format(pf, name);
	if (attr == VF_ATTR_GUID && mlx4_guid(a->host, name, vf, path, sizeof(path)))
		return set_mlx4_guid(a, name, vf, path, to, changed, err);
	if (!is_this_host(a->host))
		return bp_error_set(err, -ENOTSUP, "leave out --root",
				    "%s: cannot set %s of VF %u under another root: netlink reaches only the running kernel",
				    name, vf_attr_name(attr), vf);
	ret = find_interface(a->host, name, vf, ifname, &ifindex, &now);
	if (ret == -ENODEV)
		return bp_error_set(err, ret, "is the PF on its own driver, with that many VFs?",
				    "%s: cannot set %s: no network interface of this PF knows VF %u",
				    name, vf_attr_name(attr), vf);
	if (ret)
		return bp_error_set(err, ret, NULL, "PF %s does not tell about VF %u: %s", name, vf,
				    strerror(-ret));
	if ((now.known & 1u << attr) && vf_attr_equal(&now, to, attr))
		return 0;
	answer = malloc(ANSWER_MAX);
	if (!answer)
		return -ENOMEM;
	ret = talk(vf_msg_set(request, ifindex, (unsigned int)time(NULL), vf, attr, to), 0, answer,
		   text, sizeof(text));
	free(answer);
	if (ret)
		return explain(ret, ifname, vf, attr, text, err);
	*changed = true;
	if (!ask(ifindex, vf, &now) && (now.known & 1u << attr) && !vf_attr_equal(&now, to, attr))
		return not_taken(ifname, vf, attr, err);
	return 0;
}
