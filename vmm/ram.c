// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "vmm/hostmem.h"
#include "vmm/layout.h"
#include "vmm/ram.h"

#ifndef MFD_HUGE_SHIFT
#define MFD_HUGE_SHIFT 26
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define VGA_START 0xa0000ull
#define VGA_END	  0xc0000ull

struct slot {
	bool used;
	uint64_t gpa;
	uint64_t size;
};

struct vmm_ram {
	int vm_fd;
	int fd;
	struct vmm_ram_layout layout;
	struct slot *slot;
	unsigned int nr_slots;
	unsigned int max_slots;
};

static int kvm_region(struct vmm_ram *ram, unsigned int slot, uint64_t gpa, uint64_t size,
		      void *hva)
{
	struct kvm_userspace_memory_region r = {
		.slot = slot,
		.guest_phys_addr = gpa,
		.memory_size = size,
		.userspace_addr = (uintptr_t)hva,
	};

	return ioctl(ram->vm_fd, KVM_SET_USER_MEMORY_REGION, &r) ? -errno : 0;
}

/* A free number; the table grows up to what KVM has. */
static int free_slot(struct vmm_ram *ram)
{
	unsigned int n, more;
	struct slot *bigger;

	for (n = 0; n < ram->nr_slots; n++)
		if (!ram->slot[n].used)
			return (int)n;
	if (n >= ram->max_slots)
		return -ENOSPC;
	more = ram->nr_slots ? 2 * ram->nr_slots : 16;
	if (more > ram->max_slots)
		more = ram->max_slots;
	bigger = reallocarray(ram->slot, more, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	memset(bigger + ram->nr_slots, 0, (more - ram->nr_slots) * sizeof(*bigger));
	ram->slot = bigger;
	ram->nr_slots = more;
	return (int)n;
}

int vmm_slot_add(struct vmm_ram *ram, uint64_t gpa, uint64_t size, void *hva)
{
	int slot, ret;

	if (!size || (gpa | size | (uintptr_t)hva) & 4095 || gpa + size < gpa)
		return -EINVAL;
	for (unsigned int n = 0; n < ram->nr_slots; n++) {
		const struct slot *s = &ram->slot[n];

		if (s->used && s->gpa < gpa + size && gpa < s->gpa + s->size)
			return -EEXIST;
	}
	slot = free_slot(ram);
	if (slot < 0)
		return slot;
	ret = kvm_region(ram, (unsigned int)slot, gpa, size, hva);
	if (ret)
		return ret;
	ram->slot[slot] = (struct slot){ true, gpa, size };
	return slot;
}

void vmm_slot_remove(struct vmm_ram *ram, int slot)
{
	if (slot < 0 || (unsigned int)slot >= ram->nr_slots || !ram->slot[slot].used)
		return;
	kvm_region(ram, (unsigned int)slot, ram->slot[slot].gpa, 0, NULL);
	ram->slot[slot].used = false;
}

/*
 * A file of a tmpfs of our own, which no path leads to: memory there comes in huge pages
 * where the host has them, and a machine with fewer and larger page table entries is
 * faster. Needs CAP_SYS_ADMIN and Linux 5.2.
 */
static int tmpfs_file(uint64_t size)
{
	char bytes[32];
	int fs, mount = -1, fd = -1;

	fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -1;
	/* Without a size it would end at half of the host's memory. */
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)size);
	if (!fsconfig(fs, FSCONFIG_SET_STRING, "huge", "always", 0) &&
	    !fsconfig(fs, FSCONFIG_SET_STRING, "size", bytes, 0) &&
	    !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (mount >= 0) {
		fd = openat(mount, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		close(mount);
	}
	close(fs);
	return fd;
}

/* The file behind guest memory. It is shared memory either way, so that it can be told apart. */
static int ram_file(uint64_t size, uint64_t page_size)
{
	unsigned int flags = MFD_CLOEXEC;
	int fd;

	if (page_size)
		flags |= MFD_HUGETLB | (unsigned int)__builtin_ctzll(page_size) << MFD_HUGE_SHIFT;
	fd = page_size ? -1 : tmpfs_file(size);
	if (fd < 0)
		fd = memfd_create("bluepass-ram", flags);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size)) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

static int map_region(struct vmm_ram *ram, struct vmm_ram_region *r, off_t offset, bool huge)
{
	void *p = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, ram->fd, offset);

	if (p == MAP_FAILED)
		return -errno;
	r->hva = p;
	/* A core file of the monitor is not to hold the guest. */
	madvise(p, r->size, MADV_DONTDUMP);
	if (!huge) {
		madvise(p, r->size, MADV_HUGEPAGE);
		return 0;
	}
	/*
	 * mmap() has reserved the pages already; touching them now turns what a
	 * cgroup still refuses into an error here instead of a SIGBUS later.
	 * Kernels before 5.14 do not know the call.
	 */
	if (madvise(p, r->size, MADV_POPULATE_WRITE) && errno != EINVAL)
		return -errno;
	return 0;
}

/* The VGA range has no memory: a probe finds nothing there, as on a PC without VGA. */
static int add_slots(struct vmm_ram *ram, const struct vmm_ram_region *r)
{
	int ret;

	if (r->gpa)
		return vmm_slot_add(ram, r->gpa, r->size, r->hva);
	ret = vmm_slot_add(ram, 0, VGA_START, r->hva);
	if (ret < 0)
		return ret;
	return vmm_slot_add(ram, VGA_END, r->size - VGA_END, (char *)r->hva + VGA_END);
}

int vmm_ram_new(int vm_fd, const struct vmm_ram_layout *layout, uint64_t page_size,
		struct vmm_ram **out, struct bp_error *err)
{
	struct vmm_ram *ram = calloc(1, sizeof(*ram));
	uint64_t total = 0;
	off_t offset = 0;
	int ret, limit;

	if (!ram)
		return -ENOMEM;
	ram->vm_fd = vm_fd;
	ram->layout = *layout;
	for (unsigned int i = 0; i < layout->nr; i++) {
		ram->layout.region[i].hva = NULL;
		total += layout->region[i].size;
	}
	limit = ioctl(vm_fd, KVM_CHECK_EXTENSION, KVM_CAP_NR_MEMSLOTS);
	ram->max_slots = limit > 0 ? (unsigned int)limit : 32;
	ram->fd = ram_file(total, page_size);
	if (ram->fd < 0) {
		ret = ram->fd;
		goto fail;
	}
	for (unsigned int i = 0; i < layout->nr; i++) {
		struct vmm_ram_region *r = &ram->layout.region[i];

		ret = map_region(ram, r, offset, page_size);
		if (ret)
			goto fail;
		offset += (off_t)r->size;
		ret = add_slots(ram, r);
		if (ret < 0) {
			bp_error_set(err, ret, NULL, "KVM refuses %llu MiB of memory at %#llx: %s",
				     (unsigned long long)(r->size >> 20),
				     (unsigned long long)r->gpa, strerror(-ret));
			goto fail;
		}
	}
	*out = ram;
	return 0;
fail:
	/* The usual reason by far, and the text that helps. */
	if (page_size && ret == -ENOMEM)
		vmm_hostmem_check("/", total, page_size, err);
	bp_error_set(err, ret, "give the guest less memory",
		     "%llu MiB of guest memory cannot be had: %s",
		     (unsigned long long)(total >> 20), strerror(-ret));
	vmm_ram_free(ram);
	return ret;
}

void vmm_ram_free(struct vmm_ram *ram)
{
	if (!ram)
		return;
	for (unsigned int n = 0; n < ram->nr_slots; n++)
		vmm_slot_remove(ram, (int)n);
	for (unsigned int i = 0; i < ram->layout.nr; i++)
		if (ram->layout.region[i].hva)
			munmap(ram->layout.region[i].hva, ram->layout.region[i].size);
	if (ram->fd >= 0)
		close(ram->fd);
	free(ram->slot);
	free(ram);
}

const struct vmm_ram_layout *vmm_ram_layout(const struct vmm_ram *ram)
{
	return &ram->layout;
}

void *vmm_ram_at(const struct vmm_ram *ram, uint64_t gpa, uint64_t len)
{
	for (unsigned int i = 0; i < ram->layout.nr; i++) {
		const struct vmm_ram_region *r = &ram->layout.region[i];

		if (len && gpa >= r->gpa && gpa - r->gpa < r->size &&
		    len <= r->size - (gpa - r->gpa))
			return (char *)r->hva + (gpa - r->gpa);
	}
	return NULL;
}
