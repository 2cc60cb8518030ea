/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel for libvf to talk to: the files of fake_host.h, and a struct vf_sys
 * that behaves as VFIO and iommufd do, as far as libvf can tell. It keeps the order of things: leaving out a step or taking
 * them in the wrong order fails as it would on a real host, or is noted in
 * @fake.broken. Any call can be made to fail.
 */
#ifndef TESTS_FAKE_VFIO_H
#define TESTS_FAKE_VFIO_H

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <linux/vfio.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vf/device.h>
#include <vf/iommu.h>
#include <vf/sys.h>

#include "fake_host.h"
#include "vfio/uapi_iommufd.h"
#include "vfio/uapi_vfio.h"

#define FAKE_FD_FIRST 1000
#define FAKE_FDS      32
#define FAKE_MAPS     8
#define FAKE_REGIONS  9
#define FAKE_LOG      8192

enum fake_kind {
	FAKE_FREE,
	FAKE_CONTAINER,
	FAKE_GROUP,
	FAKE_DEVICE,
	FAKE_IOMMUFD,
};

struct fake_fd {
	enum fake_kind kind;
	int number; /* group number, or device's */
	int parent; /* group: its container; device: its group or iommufd */
	bool attached;
};

/* What a call of VFIO_DEVICE_GET_REGION_INFO answers. */
struct fake_region {
	struct vfio_region_info info;
	unsigned char caps[512];
	size_t caps_len;
	bool absent;
};

struct fake_irqs {
	uint32_t count;
	uint32_t flags;
	int fds[16];
	bool on;
};

static struct fake {
	struct fake_fd fds[FAKE_FDS];
	bool iommu_set;

	/* settings */
	int api_version;
	bool no_type1v2;
	bool coherent;
	bool not_viable;
	int open_errno; /* of every node but the container's */
	int set_iommu_errno;
	int bind_errno;
	int map_errno;
	uint32_t device_flags;
	struct vf_iova_range ranges[24];
	uint32_t nr_ranges;
	unsigned char iommu_caps[1024];
	size_t iommu_caps_len;
	uint32_t iommu_first_cap;
	struct fake_region regions[FAKE_REGIONS];
	struct fake_irqs irqs[5];
	size_t chunk; /* most bytes that one pread or pwrite moves, 0 for all */
	int interrupted; /* how many of them are interrupted first */
	unsigned char memory[4096];

	/* what happened */
	struct vf_iova_range maps[FAKE_MAPS];
	unsigned int nr_maps;
	uint32_t map_flags;
	int resets;
	int unmask_fd;
	int unmasked, masked;
	char log[FAKE_LOG];
	const char *broken;

	/* failure injection: call number @fail_at fails with @fail_errno */
	int calls;
	int fail_at;
	int fail_errno;
} fake;

static struct vf_host fake_host;

static void fake_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void fake_log(const char *fmt, ...)
{
	size_t at = strlen(fake.log);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fake.log + at, sizeof(fake.log) - at, fmt, ap);
	va_end(ap);
}

/* ---- descriptors ------------------------------------------------------------------------- */

static struct fake_fd *fake_get(int fd)
{
	if (fd < FAKE_FD_FIRST || fd >= FAKE_FD_FIRST + FAKE_FDS ||
	    fake.fds[fd - FAKE_FD_FIRST].kind == FAKE_FREE)
		return NULL;
	return &fake.fds[fd - FAKE_FD_FIRST];
}

static int fake_new(enum fake_kind kind, int number, int parent)
{
	int i;

	for (i = 0; i < FAKE_FDS; i++) {
		if (fake.fds[i].kind == FAKE_FREE) {
			fake.fds[i] = (struct fake_fd){ kind, number, parent, false };
			return FAKE_FD_FIRST + i;
		}
	}
	ck_abort_msg("out of descriptors");
}

/* How many descriptors of a kind are open; with a number or parent when not -1. */
static int fake_count(enum fake_kind kind, int number, int parent)
{
	int i, n = 0;

	for (i = 0; i < FAKE_FDS; i++) {
		const struct fake_fd *f = &fake.fds[i];

		n += f->kind == kind && (number == -1 || f->number == number) &&
		     (parent == -1 || f->parent == parent);
	}
	return n;
}

static inline int fake_open_fds(void)
{
	return FAKE_FDS - fake_count(FAKE_FREE, -1, -1);
}

static int fake_fail(int e)
{
	errno = e;
	return -1;
}

/* Whether this call is the one that was chosen to fail. */
static bool fake_injected(void)
{
	fake.calls++;
	if (!fake.fail_at || fake.calls != fake.fail_at)
		return false;
	errno = fake.fail_errno;
	return true;
}

static int fake_sys_open(const char *path, int flags)
{
	struct stat st;
	int n, end = 0;

	ck_assert_int_eq(strncmp(path, fake_root, strlen(fake_root)), 0);
	ck_assert(flags & 02000000); /* O_CLOEXEC */
	if (fake_injected())
		return -1;
	path += strlen(fake_root);
	{
		char full[PATH_MAX];

		fake_path(full, path + 1);
		if (stat(full, &st))
			return -1;
	}
	if (strcmp(path, "/dev/vfio/vfio") == 0)
		return fake_new(FAKE_CONTAINER, 0, -1);
	if (fake.open_errno)
		return fake_fail(fake.open_errno);
	if (strcmp(path, "/dev/iommu") == 0)
		return fake_new(FAKE_IOMMUFD, 0, -1);
	if (sscanf(path, "/dev/vfio/devices/vfio%d%n", &n, &end) == 1 && !path[end])
		return fake_new(FAKE_DEVICE, n, -1);
	if (sscanf(path, "/dev/vfio/%d%n", &n, &end) == 1 && !path[end]) {
		if (fake_count(FAKE_GROUP, n, -1))
			return fake_fail(EBUSY);
		fake_log("open-group%d ", n);
		return fake_new(FAKE_GROUP, n, -1);
	}
	return fake_fail(ENXIO);
}

static int fake_sys_close(int fd)
{
	struct fake_fd *f = fake_get(fd);

	if (!f)
		return fake_fail(EBADF);
	switch (f->kind) {
	case FAKE_CONTAINER:
		if (fake_count(FAKE_GROUP, -1, fd))
			fake.broken = "container closed with a group in it";
		fake_log("close-container ");
		fake.iommu_set = false;
		break;
	case FAKE_IOMMUFD:
		if (fake_count(FAKE_DEVICE, -1, fd))
			fake.broken = "iommufd closed with a device bound to it";
		fake_log("close-iommufd ");
		break;
	case FAKE_GROUP:
		if (fake_count(FAKE_DEVICE, -1, fd))
			fake.broken = "group closed with a device open";
		if (f->parent >= 0)
			fake.broken = "group closed while in a container";
		fake_log("close-group%d ", f->number);
		break;
	default:
		fake_log("close-device ");
	}
	f->kind = FAKE_FREE;
	return 0;
}

/* ---- I/O address spaces ------------------------------------------------------------------ */

static int fake_map(uint64_t iova, uint64_t size, bool legal_flags)
{
	unsigned int i;
	bool inside = false;

	if (fake.map_errno)
		return fake_fail(fake.map_errno);
	for (i = 0; i < fake.nr_ranges; i++)
		inside |= iova >= fake.ranges[i].start && iova + (size - 1) <= fake.ranges[i].last;
	if (!inside || !legal_flags)
		return fake_fail(EINVAL);
	for (i = 0; i < fake.nr_maps; i++)
		if (iova <= fake.maps[i].last && iova + (size - 1) >= fake.maps[i].start)
			return fake_fail(EEXIST);
	if (fake.nr_maps == FAKE_MAPS)
		return fake_fail(ENOSPC);
	fake.maps[fake.nr_maps++] = (struct vf_iova_range){ iova, iova + (size - 1) };
	return 0;
}

/* Bytes that went. */
static uint64_t fake_unmap(uint64_t iova, uint64_t size)
{
	uint64_t done = 0;
	unsigned int i;

	for (i = 0; i < fake.nr_maps;) {
		if (fake.maps[i].start >= iova && fake.maps[i].last - iova <= size - 1) {
			done += fake.maps[i].last - fake.maps[i].start + 1;
			fake.maps[i] = fake.maps[--fake.nr_maps];
		} else {
			i++;
		}
	}
	return done;
}

static int fake_iommu_info(struct vfio_iommu_type1_info *info)
{
	size_t fixed = sizeof(*info), len = fixed + fake.iommu_caps_len;
	uint32_t argsz = info->argsz;

	info->flags = VFIO_IOMMU_INFO_PGSIZES;
	info->iova_pgsizes = 4096;
	if (fake.iommu_caps_len) {
		info->flags |= VFIO_IOMMU_INFO_CAPS;
		info->argsz = (uint32_t)len;
		info->cap_offset = 0;
		if (argsz >= len) {
			memcpy((char *)info + fixed, fake.iommu_caps, fake.iommu_caps_len);
			info->cap_offset = fake.iommu_first_cap;
		}
	}
	return 0;
}

static int fake_container_ioctl(int fd, unsigned long request, void *arg)
{
	struct vfio_iommu_type1_dma_unmap *u = arg;
	struct vfio_iommu_type1_dma_map *m = arg;

	switch (request) {
	case VFIO_GET_API_VERSION:
		return fake.api_version;
	case VFIO_CHECK_EXTENSION:
		if ((uintptr_t)arg == VFIO_TYPE1v2_IOMMU)
			return !fake.no_type1v2;
		return (uintptr_t)arg == VFIO_DMA_CC_IOMMU && fake.iommu_set && fake.coherent;
	case VFIO_SET_IOMMU:
		if (!fake_count(FAKE_GROUP, -1, fd) || fake.iommu_set)
			return fake_fail(EINVAL);
		if (fake.set_iommu_errno)
			return fake_fail(fake.set_iommu_errno);
		fake.iommu_set = true;
		fake_log("set-iommu ");
		return 0;
	}
	if (!fake.iommu_set)
		return fake_fail(EINVAL);
	switch (request) {
	case VFIO_IOMMU_GET_INFO:
		return fake_iommu_info(arg);
	case VFIO_IOMMU_MAP_DMA:
		fake.map_flags = m->flags;
		return fake_map(m->iova, m->size, m->flags & 3);
	case VFIO_IOMMU_UNMAP_DMA:
		u->size = fake_unmap(u->iova, u->size);
		return 0;
	}
	return fake_fail(ENOTTY);
}

static int fake_iommufd_ioctl(unsigned long request, void *arg)
{
	struct iommu_ioas_iova_ranges *r = arg;
	struct iommu_ioas_alloc *alloc = arg;
	struct iommu_ioas_unmap *u = arg;
	struct iommu_ioas_map *m = arg;

	switch (request) {
	case IOMMU_IOAS_ALLOC:
		alloc->out_ioas_id = 7;
		return 0;
	case IOMMU_VFIO_IOAS:
		return 0;
	case VFIO_CHECK_EXTENSION:
		return (uintptr_t)arg == VFIO_DMA_CC_IOMMU && fake.coherent;
	case IOMMU_IOAS_IOVA_RANGES: {
		uint32_t room = r->num_iovas;

		ck_assert_uint_eq(r->ioas_id, 7);
		r->num_iovas = fake.nr_ranges;
		if (fake.nr_ranges > room)
			return fake_fail(EMSGSIZE);
		memcpy((void *)(uintptr_t)r->allowed_iovas, fake.ranges,
		       fake.nr_ranges * sizeof(fake.ranges[0]));
		return 0;
	}
	case IOMMU_IOAS_MAP:
		ck_assert_uint_eq(m->ioas_id, 7);
		fake.map_flags = m->flags;
		return fake_map(m->iova, m->length, m->flags & IOMMU_IOAS_MAP_FIXED_IOVA);
	case IOMMU_IOAS_UNMAP:
		u->length = fake_unmap(u->iova, u->length);
		return u->length ? 0 : fake_fail(ENOENT);
	}
	return fake_fail(ENOTTY);
}

static int fake_group_ioctl(int fd, struct fake_fd *f, unsigned long request, void *arg)
{
	struct vfio_group_status *st = arg;
	int fresh, container;

	switch (request) {
	case VFIO_GROUP_GET_STATUS:
		st->flags = fake.not_viable ? 0 : VFIO_GROUP_FLAGS_VIABLE;
		if (f->parent >= 0)
			st->flags |= VFIO_GROUP_FLAGS_CONTAINER_SET;
		return 0;
	case VFIO_GROUP_SET_CONTAINER:
		if (fake.not_viable || f->parent >= 0)
			return fake_fail(EINVAL);
		f->parent = *(int *)arg;
		fake_log("set-container ");
		return 0;
	case VFIO_GROUP_UNSET_CONTAINER:
		if (fake_count(FAKE_DEVICE, -1, fd)) {
			fake.broken = "group left its container with a device open";
			return fake_fail(EBUSY);
		}
		if (f->parent < 0)
			return fake_fail(EINVAL);
		container = f->parent;
		f->parent = -1;
		fake_log("unset-container ");
		/* The IOMMU goes with the last group, and the mappings with it. */
		if (!fake_count(FAKE_GROUP, -1, container)) {
			fake.iommu_set = false;
			fake.nr_maps = 0;
		}
		return 0;
	case VFIO_GROUP_GET_DEVICE_FD:
		if (f->parent < 0 || !fake.iommu_set)
			return fake_fail(EINVAL);
		fresh = fake_new(FAKE_DEVICE, 0, fd);
		fake.fds[fresh - FAKE_FD_FIRST].attached = true;
		fake_log("device-fd ");
		return fresh;
	}
	return fake_fail(ENOTTY);
}

/* ---- devices ----------------------------------------------------------------------------- */

static int fake_region_info(struct vfio_region_info *info)
{
	const struct fake_region *r;
	uint32_t argsz = info->argsz;

	if (info->index >= FAKE_REGIONS || fake.regions[info->index].absent)
		return fake_fail(EINVAL);
	r = &fake.regions[info->index];
	*info = r->info;
	if (r->caps_len) {
		if (!info->argsz)
			info->argsz = (uint32_t)(sizeof(*info) + r->caps_len);
		if (argsz < info->argsz)
			info->cap_offset = 0;
		else
			memcpy(info + 1, r->caps, r->caps_len);
	} else {
		info->argsz = sizeof(*info);
	}
	return 0;
}

static int fake_set_irqs(const struct vfio_irq_set *set)
{
	uint32_t type = set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK, i;
	const int *data = (const int *)set->data;
	struct fake_irqs *irq;

	ck_assert_uint_lt(set->index, 5);
	irq = &fake.irqs[set->index];
	ck_assert_uint_eq(set->argsz,
			  sizeof(*set) + (type & VFIO_IRQ_SET_DATA_EVENTFD ? 4 * set->count : 0));
	if (set->flags & VFIO_IRQ_SET_ACTION_UNMASK) {
		if (!irq->on)
			return fake_fail(EINVAL);
		if (type & VFIO_IRQ_SET_DATA_EVENTFD)
			fake.unmask_fd = data[0];
		else
			fake.unmasked++;
		return 0;
	}
	if (set->flags & VFIO_IRQ_SET_ACTION_MASK) {
		fake.masked++;
		return 0;
	}
	if (type & VFIO_IRQ_SET_DATA_NONE) {
		if (!irq->on || set->count || set->index >= 3)
			return fake_fail(EINVAL);
		irq->on = false;
		return 0;
	}
	if (set->start + set->count > irq->count)
		return fake_fail(EINVAL);
	for (i = 0; i < set->count; i++)
		irq->fds[set->start + i] = data[i];
	irq->on = set->index < 3 || data[0] >= 0;
	return 0;
}

static int fake_device_ioctl(struct fake_fd *f, unsigned long request, void *arg)
{
	struct vfio_device_attach_iommufd_pt *pt = arg;
	struct vfio_device_bind_iommufd *bind = arg;
	struct vfio_device_info *info = arg;
	struct vfio_irq_info *irq = arg;
	int i;

	switch (request) {
	case VFIO_DEVICE_BIND_IOMMUFD:
		if (fake.bind_errno)
			return fake_fail(fake.bind_errno);
		/* A node may be opened often, but bound once. */
		for (i = 0; i < FAKE_FDS; i++)
			if (fake.fds[i].kind == FAKE_DEVICE && fake.fds[i].number == f->number &&
			    fake.fds[i].parent >= 0)
				return fake_fail(EINVAL);
		f->parent = bind->iommufd;
		return 0;
	case VFIO_DEVICE_ATTACH_IOMMUFD_PT:
		if (f->parent < 0)
			return fake_fail(EINVAL);
		ck_assert_uint_eq(pt->pt_id, 7);
		f->attached = true;
		return 0;
	}
	if (!f->attached)
		return fake_fail(EINVAL);
	switch (request) {
	case VFIO_DEVICE_GET_INFO:
		info->flags = fake.device_flags;
		info->num_regions = FAKE_REGIONS;
		info->num_irqs = 5;
		return 0;
	case VFIO_DEVICE_GET_REGION_INFO:
		return fake_region_info(arg);
	case VFIO_DEVICE_GET_IRQ_INFO:
		if (!fake.irqs[irq->index].count)
			return fake_fail(EINVAL);
		irq->count = fake.irqs[irq->index].count;
		irq->flags = fake.irqs[irq->index].flags;
		return 0;
	case VFIO_DEVICE_SET_IRQS:
		return fake_set_irqs(arg);
	case VFIO_DEVICE_RESET:
		fake.resets++;
		return 0;
	}
	return fake_fail(ENOTTY);
}

static int fake_sys_ioctl(int fd, unsigned long request, void *arg)
{
	struct fake_fd *f = fake_get(fd);

	if (!f)
		return fake_fail(EBADF);
	if (fake_injected())
		return -1;
	switch (f->kind) {
	case FAKE_CONTAINER:
		return fake_container_ioctl(fd, request, arg);
	case FAKE_GROUP:
		return fake_group_ioctl(fd, f, request, arg);
	case FAKE_IOMMUFD:
		return fake_iommufd_ioctl(request, arg);
	default:
		return fake_device_ioctl(f, request, arg);
	}
}

static void *fake_sys_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	ck_assert(fake_get(fd) && flags == MAP_SHARED);
	fake_log("mmap %#lx+%#zx:%d ", (unsigned long)off, len, prot);
	return mmap(addr, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static ssize_t fake_move(int fd, size_t *len, off_t off)
{
	ck_assert_ptr_nonnull(fake_get(fd));
	if (fake.interrupted) {
		fake.interrupted--;
		return fake_fail(EINTR);
	}
	if (fake.chunk && *len > fake.chunk)
		*len = fake.chunk;
	/* The fake's regions all show the same memory, each at index << 40. */
	return (off & 0xffffffffff) + (off_t)*len > (off_t)sizeof(fake.memory) ? fake_fail(EINVAL)
									       : 0;
}

static ssize_t fake_sys_pread(int fd, void *buf, size_t len, off_t off)
{
	if (fake_move(fd, &len, off))
		return -1;
	memcpy(buf, fake.memory + (off & 0xffffffffff), len);
	return (ssize_t)len;
}

static ssize_t fake_sys_pwrite(int fd, const void *buf, size_t len, off_t off)
{
	if (fake_move(fd, &len, off))
		return -1;
	memcpy(fake.memory + (off & 0xffffffffff), buf, len);
	return (ssize_t)len;
}

static const struct vf_sys fake_sys = {
	.open = fake_sys_open,
	.close = fake_sys_close,
	.ioctl = fake_sys_ioctl,
	.mmap = fake_sys_mmap,
	.munmap = munmap,
	.pread = fake_sys_pread,
	.pwrite = fake_sys_pwrite,
};

/* ---- set-up ------------------------------------------------------------------------------ */

/* The capability that names the usable ranges, alone in the container's answer. */
static void fake_range_cap(void)
{
	struct vfio_iommu_type1_info_cap_iova_range head = {
		.header = { VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, 1, 0 },
		.nr_iovas = fake.nr_ranges,
	};

	memcpy(fake.iommu_caps, &head, sizeof(head));
	memcpy(fake.iommu_caps + sizeof(head), fake.ranges,
	       fake.nr_ranges * sizeof(fake.ranges[0]));
	fake.iommu_caps_len = sizeof(head) + fake.nr_ranges * sizeof(fake.ranges[0]);
	fake.iommu_first_cap = sizeof(struct vfio_iommu_type1_info);
}

static inline void fake_region(unsigned int index, uint64_t size, uint32_t flags)
{
	fake.regions[index] = (struct fake_region){
		.info = { .index = index,
			  .size = size,
			  .flags = flags,
			  .offset = (uint64_t)index << 40 },
	};
}

/* A capability appended to a region's chain. */
static inline void fake_region_cap(unsigned int index, uint16_t id, const void *body, size_t len)
{
	struct fake_region *r = &fake.regions[index];
	struct vfio_info_cap_header h = { id, 1, 0 };
	size_t at = r->caps_len;

	/* The one before points here; the offset counts from the answer's start. */
	if (at) {
		uint32_t next = (uint32_t)(sizeof(r->info) + at), off = r->info.cap_offset;
		struct vfio_info_cap_header last;

		for (;;) {
			memcpy(&last, r->caps + off - sizeof(r->info), sizeof(last));
			if (!last.next)
				break;
			off = last.next;
		}
		last.next = next;
		memcpy(r->caps + off - sizeof(r->info), &last, sizeof(last));
	} else {
		r->info.cap_offset = sizeof(r->info);
		r->info.flags |= VFIO_REGION_INFO_FLAG_CAPS;
	}
	memcpy(r->caps + at, &h, sizeof(h));
	if (len)
		memcpy(r->caps + at + sizeof(h), body, len);
	r->caps_len = at + sizeof(h) + len;
}

#define FAKE_RW	 (VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE)
#define FAKE_RWM (FAKE_RW | VFIO_REGION_INFO_FLAG_MMAP)

/* The kernel's side as it is at first; the files stay as they are. */
static inline void fake_reset(void)
{
	unsigned int i;

	memset(&fake, 0, sizeof(fake));
	fake.device_flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET;
	fake.coherent = true;
	fake.unmask_fd = -2;
	fake.ranges[0] = (struct vf_iova_range){ 0, 0xfedfffff };
	fake.ranges[1] = (struct vf_iova_range){ 0xfef00000, 0xfcffffffff };
	fake.ranges[2] = (struct vf_iova_range){ 0x10000000000, 0xffffffffffff };
	fake.nr_ranges = 3;
	fake_range_cap();
	for (i = 0; i < FAKE_REGIONS; i++)
		fake.regions[i].absent = true;
	fake_region(0, 0x4000, FAKE_RWM);
	fake_region_cap(0, VFIO_REGION_INFO_CAP_MSIX_MAPPABLE, NULL, 0);
	fake_region(2, 0x2000, FAKE_RWM);
	fake_region(7, 0x1000, FAKE_RW);
	fake.irqs[VF_IRQ_INTX] = (struct fake_irqs){
		.count = 1,
		.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE | VFIO_IRQ_INFO_AUTOMASKED,
	};
	fake.irqs[VF_IRQ_MSIX] = (struct fake_irqs){
		.count = 8,
		.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE,
	};
	fake.irqs[VF_IRQ_REQ] = (struct fake_irqs){ .count = 1, .flags = VFIO_IRQ_INFO_EVENTFD };
}

/*
 * A host with two functions, 0000:01:00.1 and .2, in groups 11 and 12: BAR 0 holds
 * the MSI-X table, BAR 2 is plain.
 */
static inline void fake_setup(void)
{
	fake_root_make();
	fake_host = (struct vf_host){ .root = fake_root, .sys = &fake_sys };
	fake_reset();
	fake_file("dev/vfio/vfio", "");
	fake_function("0000:01:00.1", "vfio-pci", 11);
	fake_function("0000:01:00.2", "vfio-pci", 12);
}

/* Everything was given back, and nothing in the wrong order. */
static inline void fake_check_clean(void)
{
	ck_assert_msg(!fake.broken, "%s; %s", fake.broken, fake.log);
	ck_assert_msg(!fake_open_fds(), "%d descriptors left; %s", fake_open_fds(), fake.log);
}

static inline void fake_teardown(void)
{
	fake_root_remove();
	fake_check_clean();
}

#endif
