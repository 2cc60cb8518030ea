// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
/*
 * VFIO's second interface: a device node of its own for each function, and
 * iommufd for the mappings (Documentation/userspace-api/iommufd.rst and, for
 * the order of the calls, Documentation/driver-api/vfio.rst).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <vf/group.h>

#include "backend.h"
#include "function.h"
#include "uapi_iommufd.h"
#include "uapi_vfio.h"

/* A range costs 16 bytes; a host has a handful. */
#define RANGES_MAX 4096

struct space {
	int fd;
	uint32_t ioas;
	bool has_compat;
};

static const struct vf_iommu_ops iommufd_ops;

static int call(struct vf_iommu *iommu, int fd, unsigned long request, void *arg)
{
	int ret = iommu->host.sys->ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

static int open_node(struct vf_iommu *iommu, const char *path, const char *fix,
		     struct bp_error *err)
{
	int fd = iommu->host.sys->open(path, O_RDWR | O_CLOEXEC), ret;

	if (fd >= 0)
		return fd;
	ret = -errno;
	switch (ret) {
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
		return bp_error_set(err, -ENOENT, fix, "this kernel has no %s", path);
	case -EACCES:
	case -EPERM:
		return bp_error_set(err, -EACCES, "run as root, or give the user the node",
				    "%s may not be opened", path);
	default:
		return bp_error_set(err, ret, NULL, "cannot open %s: %s", path, strerror(-ret));
	}
}

int vf_iommufd_new(struct vf_iommu *iommu, struct bp_error *err)
{
	struct iommu_ioas_alloc alloc = { .size = sizeof(alloc) };
	struct iommu_vfio_ioas compat = { .size = sizeof(compat), .op = IOMMU_VFIO_IOAS_SET };
	struct space *s;
	char path[512];
	int ret;

	ret = vf_path(&iommu->host, path, sizeof(path), "dev/iommu");
	if (ret)
		return bp_error_set(err, ret, NULL, "path of the iommufd node is too long");
	s = calloc(1, sizeof(*s));
	if (!s)
		return bp_error_set(err, -ENOMEM, NULL, "no memory for an I/O address space");
	s->fd = ret = open_node(iommu, path,
				"modprobe iommufd, on a kernel with CONFIG_IOMMUFD and "
				"CONFIG_VFIO_DEVICE_CDEV; or use the type1 backend",
				err);
	if (ret < 0)
		goto err_free;
	ret = call(iommu, s->fd, IOMMU_IOAS_ALLOC, &alloc);
	if (ret < 0) {
		bp_error_set(err, ret, NULL, "iommufd gives no I/O address space: %s",
			     strerror(-ret));
		goto err_close;
	}
	s->ioas = alloc.out_ioas_id;
	/* Only so that VFIO_CHECK_EXTENSION below speaks of this address space. */
	compat.ioas_id = s->ioas;
	s->has_compat = call(iommu, s->fd, IOMMU_VFIO_IOAS, &compat) >= 0;
	iommu->priv = s;
	iommu->ops = &iommufd_ops;
	return 0;

err_close:
	iommu->host.sys->close(s->fd);
err_free:
	free(s);
	return ret;
}

static void iommufd_free(struct vf_iommu *iommu)
{
	struct space *s = iommu->priv;

	/* The kernel destroys the address space with the descriptor. */
	iommu->host.sys->close(s->fd);
	free(s);
}

/*
 * The kernel's refusal in words. The node is closed already, or we would name
 * ourselves among its holders.
 */
static int refused(struct vf_iommu *iommu, const struct vf_function *fn, int ret,
		   struct bp_error *err)
{
	struct vf_group *group = NULL;
	bool viable = true;

	if (ret == -EPERM || ret == -EBUSY) {
		if (!vf_group_read(&iommu->host, fn->group, &group, NULL))
			viable = vf_group_viable(group);
		vf_group_free(group);
		if (!viable)
			return vf_not_viable(&iommu->host, fn, err);
	}
	switch (ret) {
	case -EPERM:
		return vf_no_remapping("iommufd", err);
	case -EBUSY:
	case -EINVAL: /* vfio_df_open(): a node can be bound once only */
		return vf_in_use(&iommu->host, fn, err);
	case -EACCES:
		return vf_needs_token(fn, err);
	default:
		return bp_error_set(err, ret, NULL, "cannot take %s: %s", fn->bdf, strerror(-ret));
	}
}

static int iommufd_attach(struct vf_iommu *iommu, const struct vf_function *fn,
			  struct vf_device *dev, struct bp_error *err)
{
	struct space *s = iommu->priv;
	struct vfio_device_bind_iommufd bind = { .argsz = sizeof(bind), .iommufd = s->fd };
	struct vfio_device_attach_iommufd_pt pt = { .argsz = sizeof(pt), .pt_id = s->ioas };
	char path[512];
	int fd, ret;

	if (fn->cdev < 0)
		return bp_error_set(err, -ENOENT, "use the type1 backend",
				    "%s has no device node of its own (CONFIG_VFIO_DEVICE_CDEV)",
				    fn->bdf);
	ret = vf_path(&iommu->host, path, sizeof(path), "dev/vfio/devices/vfio%d", fn->cdev);
	if (ret)
		return bp_error_set(err, ret, NULL, "path of the node of %s is too long", fn->bdf);
	fd = open_node(iommu, path,
		       "use the type1 backend, or a kernel with CONFIG_VFIO_DEVICE_CDEV", err);
	if (fd < 0)
		return fd;
	ret = call(iommu, fd, VFIO_DEVICE_BIND_IOMMUFD, &bind);
	if (ret < 0) {
		iommu->host.sys->close(fd);
		return refused(iommu, fn, ret, err);
	}
	ret = call(iommu, fd, VFIO_DEVICE_ATTACH_IOMMUFD_PT, &pt);
	if (ret < 0) {
		/* Closing the node also undoes the bind. */
		iommu->host.sys->close(fd);
		return bp_error_set(err, ret, NULL, "%s cannot join the I/O address space: %s",
				    fn->bdf, strerror(-ret));
	}
	ret = vf_kernel_device_new(dev, &iommu->host, fd, -1);
	if (ret)
		bp_error_set(err, ret, NULL, "no memory for device %s", fn->bdf);
	return ret;
}

static void iommufd_detach(struct vf_iommu *iommu, struct vf_device *dev)
{
	struct space *s = iommu->priv;
	/* This range means everything (iommufd.rst). */
	struct iommu_ioas_unmap all = {
		.size = sizeof(all),
		.ioas_id = s->ioas,
		.length = UINT64_MAX,
	};

	/*
	 * The kernel detached the device when its node was closed. Mappings would
	 * stay; a type1 container drops them with its last group, so do the same.
	 */
	(void)dev;
	if (!iommu->nr_devices)
		call(iommu, s->fd, IOMMU_IOAS_UNMAP, &all);
}

static int iommufd_ranges(struct vf_iommu *iommu, struct vf_iova_list *out)
{
	struct space *s = iommu->priv;
	struct iommu_iova_range *r = NULL;
	struct iommu_ioas_iova_ranges get;
	uint32_t room = 16, i;
	int ret, tries;

	/* Other devices may come between two calls, but not for ever. */
	for (tries = 0; tries < 4; tries++) {
		free(r);
		r = calloc(room, sizeof(*r));
		if (!r)
			return -ENOMEM;
		get = (struct iommu_ioas_iova_ranges){
			.size = sizeof(get),
			.ioas_id = s->ioas,
			.num_iovas = room,
			.allowed_iovas = (uintptr_t)r,
		};
		ret = call(iommu, s->fd, IOMMU_IOAS_IOVA_RANGES, &get);
		if (ret != -EMSGSIZE)
			break;
		if (get.num_iovas <= room || get.num_iovas > RANGES_MAX)
			break;
		room = get.num_iovas;
	}
	if (ret == -EMSGSIZE || (!ret && get.num_iovas > room))
		ret = -EPROTO;
	for (i = 0; !ret && i < get.num_iovas; i++)
		ret = r[i].last < r[i].start ? -EPROTO : vf_iova_add(out, r[i].start, r[i].last);
	free(r);
	return ret;
}

static int iommufd_map(struct vf_iommu *iommu, uint64_t iova, void *va, uint64_t size,
		       unsigned int flags)
{
	struct space *s = iommu->priv;
	struct iommu_ioas_map m = {
		.size = sizeof(m),
		.flags = IOMMU_IOAS_MAP_FIXED_IOVA |
			 (flags & VF_MAP_READ ? IOMMU_IOAS_MAP_READABLE : 0) |
			 (flags & VF_MAP_WRITE ? IOMMU_IOAS_MAP_WRITEABLE : 0),
		.ioas_id = s->ioas,
		.user_va = (uintptr_t)va,
		.length = size,
		.iova = iova,
	};
	int ret = call(iommu, s->fd, IOMMU_IOAS_MAP, &m);

	return ret < 0 ? ret : 0;
}

static int iommufd_unmap(struct vf_iommu *iommu, uint64_t iova, uint64_t size, uint64_t *done)
{
	struct space *s = iommu->priv;
	struct iommu_ioas_unmap u = {
		.size = sizeof(u),
		.ioas_id = s->ioas,
		.iova = iova,
		.length = size,
	};
	int ret = call(iommu, s->fd, IOMMU_IOAS_UNMAP, &u);

	*done = u.length;
	return ret < 0 ? ret : 0;
}

static bool iommufd_coherent(struct vf_iommu *iommu)
{
	struct space *s = iommu->priv;

	return s->has_compat &&
	       call(iommu, s->fd, VFIO_CHECK_EXTENSION, (void *)VFIO_DMA_CC_IOMMU) == 1;
}

static const struct vf_iommu_ops iommufd_ops = {
	.name = "iommufd",
	.attach = iommufd_attach,
	.detach = iommufd_detach,
	.ranges = iommufd_ranges,
	.map = iommufd_map,
	.unmap = iommufd_unmap,
	.coherent = iommufd_coherent,
	.free = iommufd_free,
};
