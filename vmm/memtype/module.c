// SPDX-License-Identifier: GPL-2.0-only
/*
 * Speaking with kvm-memtype.ko. Its device is opened for each request: a descriptor that
 * stayed open would keep the module from being unloaded as long as the guest lives.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>
#include "vmm/memtype/state.h"

static int speak(const struct vmm_mt *mt, unsigned long request, void *arg)
{
	const struct vf_sys *sys = mt->host.sys;
	char path[PATH_MAX];
	int fd, ret;

	snprintf(path, sizeof(path), "%s" KVM_MEMTYPE_DEVICE,
		 strcmp(mt->host.root, "/") ? mt->host.root : "");
	fd = sys->open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = sys->ioctl(fd, request, arg) ? -errno : 0;
	sys->close(fd);
	return ret;
}

int vmm_mt_module_info(const struct vmm_mt *mt, struct kvm_memtype_info *out)
{
	int ret;

	memset(out, 0, sizeof(*out));
	ret = speak(mt, KVM_MEMTYPE_GET_INFO, out);
	if (!ret && out->abi != KVM_MEMTYPE_ABI)
		ret = -EPROTO;
	if (ret)
		out->abi = 0;
	return ret;
}

int vmm_mt_module_stats(const struct vmm_mt *mt, struct kvm_memtype_stats *out)
{
	*out = (struct kvm_memtype_stats){ .vm_fd = mt->vmm->vm_fd };
	return speak(mt, KVM_MEMTYPE_GET_STATS, out);
}

static int set_ranges(const struct vmm_mt *mt, unsigned int nr, struct kvm_memtype_range *ranges)
{
	struct kvm_memtype_set set = {
		.vm_fd = mt->vmm->vm_fd,
		.nr = nr,
		.ranges = (uintptr_t)ranges,
	};

	return speak(mt, KVM_MEMTYPE_SET_RANGES, &set);
}

static int by_address(const void *a, const void *b)
{
	const struct kvm_memtype_range *x = a, *y = b;

	return x->gpa < y->gpa ? -1 : x->gpa > y->gpa;
}

static unsigned int collect(const struct vmm_mt *mt, struct kvm_memtype_range *out)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < mt->nr_areas; i++) {
		const struct vmm_mt_area *a = &mt->area[i];

		for (unsigned int n = 0; a->used && n < a->nr; n++) {
			const struct vmm_mt_cut *c = &a->cut[n];

			if (c->want.stock)
				continue;
			out[nr++] = (struct kvm_memtype_range){
				.gpa = c->gpa,
				.size = c->size,
				.type = (uint32_t)c->want.type,
				.flags = c->want.ipat ? KVM_MEMTYPE_IPAT : 0,
			};
		}
	}
	qsort(out, nr, sizeof(*out), by_address);
	return nr;
}

int vmm_mt_module_room(struct vmm_mt *mt)
{
	unsigned int room = mt->nr_areas * VMM_MT_CUTS_MAX;
	struct kvm_memtype_range *p;

	if (room <= mt->ranges_room)
		return 0;
	p = reallocarray(mt->ranges, room, sizeof(*p));
	if (!p)
		return -ENOMEM;
	mt->ranges = p;
	p = reallocarray(mt->ranges_due, room, sizeof(*p));
	if (!p)
		return -ENOMEM;
	mt->ranges_due = p;
	mt->ranges_room = room;
	return 0;
}

static bool is_gone(int ret)
{
	return ret == -ENOENT || ret == -ENXIO || ret == -ENODEV;
}

int vmm_mt_module_sync(struct vmm_mt *mt)
{
	struct kvm_memtype_range *due = mt->ranges_due;
	unsigned int nr = mt->mode == MT_MODE_MODULE ? collect(mt, due) : 0;
	int ret;

	if (nr == mt->nr_ranges && (!nr || !memcmp(due, mt->ranges, nr * sizeof(*due))))
		return 0;
	ret = set_ranges(mt, nr, due);
	if (!ret) {
		mt->ranges_due = mt->ranges;
		mt->ranges = due;
		mt->nr_ranges = nr;
		return 0;
	}
	/*
	 * What it has from before could meet pages of another BAR at those addresses. They are
	 * gone with the module; otherwise it is told to forget them, now or when this is
	 * called the next time.
	 */
	if (is_gone(ret)) {
		mt->nr_ranges = 0;
		vmm_mt_fall(mt, "kvm-memtype.ko is not loaded any more");
	} else if (!mt->nr_ranges || !set_ranges(mt, 0, NULL)) {
		mt->nr_ranges = 0;
		vmm_mt_fall(mt, "kvm-memtype.ko does not take %u ranges: %s", nr, strerror(-ret));
	} else {
		vmm_mt_fall(mt, "kvm-memtype.ko neither takes ranges nor forgets those before: %s",
			    strerror(-ret));
	}
	return -ENODEV;
}
