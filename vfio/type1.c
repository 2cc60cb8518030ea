// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
/*
 * VFIO's first interface: groups in a container with the type1v2 IOMMU.
 * Documentation/driver-api/vfio.rst has the order of the calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "caps.h"
#include "function.h"

/* A group's node can be opened once only, so its devices share the descriptor. */
struct group {
	struct group *next;
	int number;
	int fd;
	unsigned int refs;
};

struct container {
	int fd;
	bool has_iommu;
	struct group *groups;
};

static const struct vf_iommu_ops type1_ops;

static int call(struct vf_iommu *iommu, int fd, unsigned long request, void *arg)
{
	int ret = iommu->host.sys->ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

int vf_type1_new(struct vf_iommu *iommu, struct bp_error *err)
{
	const struct vf_sys *sys = iommu->host.sys;
	struct container *c;
	char path[512];
	int ret;

	ret = vf_path(&iommu->host, path, sizeof(path), "dev/vfio/vfio");
	if (ret)
		return bp_error_set(err, ret, NULL, "path of the VFIO container is too long");
	c = calloc(1, sizeof(*c));
	if (!c)
		return bp_error_set(err, -ENOMEM, NULL, "no memory for a VFIO container");
	c->fd = sys->open(path, O_RDWR | O_CLOEXEC);
	if (c->fd < 0) {
		ret = -errno;
		if (ret == -ENOENT || ret == -ENODEV || ret == -ENXIO)
			bp_error_set(err, ret = -ENOENT, "modprobe vfio-pci",
				     "this kernel has no VFIO: %s cannot be opened", path);
		else if (ret == -EACCES || ret == -EPERM)
			bp_error_set(err, ret = -EACCES, "run as root, or give the user the node",
				     "%s may not be opened", path);
		else
			bp_error_set(err, ret, NULL, "cannot open %s: %s", path, strerror(-ret));
		goto err_free;
	}
	ret = call(iommu, c->fd, VFIO_GET_API_VERSION, NULL);
	if (ret != VFIO_API_VERSION) {
		ret = bp_error_set(err, -ENOTSUP, NULL, "VFIO has API version %d, %d is known", ret,
				   VFIO_API_VERSION);
		goto err_close;
	}
	ret = call(iommu, c->fd, VFIO_CHECK_EXTENSION, (void *)VFIO_TYPE1v2_IOMMU);
	if (ret <= 0) {
		ret = bp_error_set(err, -ENOTSUP, "modprobe vfio_iommu_type1",
				   "VFIO has no type1v2 IOMMU");
		goto err_close;
	}
	iommu->priv = c;
	iommu->ops = &type1_ops;
	return 0;

err_close:
	sys->close(c->fd);
err_free:
	free(c);
	return ret;
}

static void type1_free(struct vf_iommu *iommu)
{
	struct container *c = iommu->priv;

	iommu->host.sys->close(c->fd);
	free(c);
}

static int open_group(struct vf_iommu *iommu, const struct vf_function *fn, struct bp_error *err)
{
	int number = fn->group, fd, ret;
	char path[512];

	ret = vf_path(&iommu->host, path, sizeof(path), "dev/vfio/%d", number);
	if (ret)
		return bp_error_set(err, ret, NULL, "path of IOMMU group %d is too long", number);
	fd = iommu->host.sys->open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	ret = -errno;
	switch (ret) {
	case -EBUSY:
		return vf_in_use(&iommu->host, fn, err);
	case -EACCES:
	case -EPERM:
		return bp_error_set(err, -EACCES, "run as root, or give the user the node",
				    "%s may not be opened", path);
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
		return bp_error_set(err, -ENOTCONN, "bind the device to vfio-pci again",
				    "IOMMU group %d has no node %s", number, path);
	default:
		return bp_error_set(err, ret, NULL, "cannot open %s: %s", path, strerror(-ret));
	}
}

static int check_viable(struct vf_iommu *iommu, int fd, const struct vf_function *fn,
			struct bp_error *err)
{
	struct vfio_group_status st = { .argsz = sizeof(st) };
	int ret = call(iommu, fd, VFIO_GROUP_GET_STATUS, &st);

	if (ret < 0)
		return bp_error_set(err, ret, NULL,
				    "cannot ask for the status of IOMMU group %d: %s", fn->group,
				    strerror(-ret));
	if (st.flags & VFIO_GROUP_FLAGS_CONTAINER_SET)
		return vf_in_use(&iommu->host, fn, err);
	if (st.flags & VFIO_GROUP_FLAGS_VIABLE)
		return 0;
	return vf_not_viable(&iommu->host, fn, err);
}

static int set_iommu(struct vf_iommu *iommu, struct container *c, struct bp_error *err)
{
	int ret;

	if (c->has_iommu)
		return 0;
	ret = call(iommu, c->fd, VFIO_SET_IOMMU, (void *)VFIO_TYPE1v2_IOMMU);
	if (ret == -EPERM)
		return vf_no_remapping("vfio_iommu_type1", err);
	if (ret == -ENODEV)
		return bp_error_set(err, ret, "modprobe vfio_iommu_type1",
				    "no VFIO IOMMU driver takes the group");
	if (ret < 0)
		return bp_error_set(err, ret, NULL, "cannot set the type1v2 IOMMU: %s",
				    strerror(-ret));
	c->has_iommu = true;
	return 0;
}

static void put_group(struct vf_iommu *iommu, struct container *c, struct group *g)
{
	struct group **at;

	if (--g->refs)
		return;
	for (at = &c->groups; *at != g; at = &(*at)->next)
		;
	*at = g->next;
	/*
	 * Fails with EBUSY while something still holds a device of the group (a
	 * mapping of a BAR); the kernel then does it when the last holder goes.
	 */
	call(iommu, g->fd, VFIO_GROUP_UNSET_CONTAINER, NULL);
	iommu->host.sys->close(g->fd);
	free(g);
	/* The kernel drops the IOMMU with the last group (vfio_container.c). */
	if (!c->groups)
		c->has_iommu = false;
}

static int get_group(struct vf_iommu *iommu, struct container *c, const struct vf_function *fn,
		     struct group **out, struct bp_error *err)
{
	struct group *g;
	int ret;

	for (g = c->groups; g; g = g->next) {
		if (g->number == fn->group) {
			g->refs++;
			*out = g;
			return 0;
		}
	}
	g = calloc(1, sizeof(*g));
	if (!g) {
		bp_error_set(err, -ENOMEM, NULL, "no memory for an IOMMU group");
		return -ENOMEM;
	}
	g->number = fn->group;
	g->refs = 1;
	g->fd = ret = open_group(iommu, fn, err);
	if (ret < 0)
		goto err_free;
	ret = check_viable(iommu, g->fd, fn, err);
	if (ret)
		goto err_close;
	ret = call(iommu, g->fd, VFIO_GROUP_SET_CONTAINER, &c->fd);
	if (ret < 0) {
		/* The IOMMU is set already, so its check for remapping happens here. */
		if (ret == -EPERM && c->has_iommu)
			vf_no_remapping("vfio_iommu_type1", err);
		bp_error_set(err, ret, NULL, "IOMMU group %d cannot join the container: %s",
			     fn->group, strerror(-ret));
		goto err_close;
	}
	g->next = c->groups;
	c->groups = g;
	ret = set_iommu(iommu, c, err);
	if (ret) {
		put_group(iommu, c, g);
		return ret;
	}
	*out = g;
	return 0;

err_close:
	iommu->host.sys->close(g->fd);
err_free:
	free(g);
	return ret;
}

static int type1_attach(struct vf_iommu *iommu, const struct vf_function *fn, struct vf_device *dev,
			struct bp_error *err)
{
	struct container *c = iommu->priv;
	struct group *g = NULL;
	int fd, ret;

	ret = get_group(iommu, c, fn, &g, err);
	if (ret)
		return ret;
	fd = call(iommu, g->fd, VFIO_GROUP_GET_DEVICE_FD, (void *)fn->bdf);
	if (fd < 0) {
		ret = fd;
		if (ret == -EACCES)
			vf_needs_token(fn, err);
		else if (ret == -ENODEV)
			bp_error_set(err, ret = -ENOTCONN, "bind the device to vfio-pci again",
				     "%s is not in IOMMU group %d for VFIO", fn->bdf, fn->group);
		else
			bp_error_set(err, ret, NULL, "cannot take %s: %s", fn->bdf, strerror(-ret));
		goto err_put;
	}
	ret = vf_kernel_device_new(dev, &iommu->host, fd, g->fd);
	if (ret) {
		bp_error_set(err, ret, NULL, "no memory for device %s", fn->bdf);
		goto err_put;
	}
	dev->attachment = g;
	return 0;

err_put:
	put_group(iommu, c, g);
	return ret;
}

static void type1_detach(struct vf_iommu *iommu, struct vf_device *dev)
{
	put_group(iommu, iommu->priv, dev->attachment);
}

static int get_info(struct vf_iommu *iommu, void **info, size_t *len)
{
	struct container *c = iommu->priv;
	struct vfio_iommu_type1_info fixed = { 0 };

	return vf_info_get(iommu->host.sys, c->fd, VFIO_IOMMU_GET_INFO, &fixed, sizeof(fixed), info,
			   len);
}

/* One capability of the container's answer, 0 with *@cap unset when it has none. */
static int info_cap(const void *info, size_t len, uint16_t id, size_t min, const void **cap,
		    size_t *room)
{
	struct vfio_iommu_type1_info fixed;

	memcpy(&fixed, info, sizeof(fixed));
	if (!(fixed.flags & VFIO_IOMMU_INFO_CAPS))
		return -ENOENT;
	return vf_caps_find(info, len, fixed.cap_offset, sizeof(fixed), id, min, cap, room);
}

static int type1_ranges(struct vf_iommu *iommu, struct vf_iova_list *out)
{
	struct vfio_iommu_type1_info_cap_iova_range head;
	const void *cap;
	void *info;
	size_t len, room;
	uint32_t i;
	int ret;

	ret = get_info(iommu, &info, &len);
	if (ret)
		return ret;
	ret = info_cap(info, len, VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, sizeof(head), &cap, &room);
	if (ret == -ENOENT) {
		/* Linux before 5.4 names no ranges; sysfs has the reserved ones. */
		ret = vf_iova_add(out, 0, UINT64_MAX);
		goto out;
	}
	if (ret)
		goto out;
	memcpy(&head, cap, sizeof(head));
	if (head.nr_iovas > (room - sizeof(head)) / sizeof(struct vfio_iova_range)) {
		ret = -EPROTO;
		goto out;
	}
	for (i = 0; !ret && i < head.nr_iovas; i++) {
		struct vfio_iova_range r;

		memcpy(&r, (const char *)cap + sizeof(head) + i * sizeof(r), sizeof(r));
		ret = r.end < r.start ? -EPROTO : vf_iova_add(out, r.start, r.end);
	}
out:
	free(info);
	return ret;
}

static uint32_t type1_map_limit(struct vf_iommu *iommu)
{
	struct vfio_iommu_type1_info_dma_avail avail;
	const void *cap;
	uint32_t left = 0;
	size_t len, room;
	void *info;

	if (get_info(iommu, &info, &len))
		return 0;
	if (!info_cap(info, len, VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL, sizeof(avail), &cap, &room)) {
		memcpy(&avail, cap, sizeof(avail));
		left = avail.avail;
	}
	free(info);
	return left;
}

static int type1_map(struct vf_iommu *iommu, uint64_t iova, void *va, uint64_t size,
		     unsigned int flags)
{
	struct container *c = iommu->priv;
	struct vfio_iommu_type1_dma_map m = {
		.argsz = sizeof(m),
		.flags = (flags & VF_MAP_READ ? VFIO_DMA_MAP_FLAG_READ : 0) |
			 (flags & VF_MAP_WRITE ? VFIO_DMA_MAP_FLAG_WRITE : 0),
		.vaddr = (uintptr_t)va,
		.iova = iova,
		.size = size,
	};
	int ret = call(iommu, c->fd, VFIO_IOMMU_MAP_DMA, &m);

	return ret < 0 ? ret : 0;
}

static int type1_unmap(struct vf_iommu *iommu, uint64_t iova, uint64_t size, uint64_t *done)
{
	struct container *c = iommu->priv;
	struct vfio_iommu_type1_dma_unmap u = {
		.argsz = sizeof(u),
		.iova = iova,
		.size = size,
	};
	int ret = call(iommu, c->fd, VFIO_IOMMU_UNMAP_DMA, &u);

	*done = u.size;
	return ret < 0 ? ret : 0;
}

static bool type1_coherent(struct vf_iommu *iommu)
{
	struct container *c = iommu->priv;

	return call(iommu, c->fd, VFIO_CHECK_EXTENSION, (void *)VFIO_DMA_CC_IOMMU) == 1;
}

static const struct vf_iommu_ops type1_ops = {
	.name = "type1",
	.attach = type1_attach,
	.detach = type1_detach,
	.ranges = type1_ranges,
	.map = type1_map,
	.unmap = type1_unmap,
	.map_limit = type1_map_limit,
	.coherent = type1_coherent,
	.free = type1_free,
};
