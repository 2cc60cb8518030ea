// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/memfd.h>
#include <linux/mman.h>

#include "latency/mmap_lat/area.h"

#define SIZE_MAX_ (1ull << 40)

const char *const lat_backing_words[] = { "anon", "shared", "file", NULL };
const char *const lat_pages_words[] = { "4K", "THP", "2M", "1G", NULL };

static size_t page_of(enum lat_pages pages)
{
	switch (pages) {
	case LAT_THP:
	case LAT_2M:
		return 2u << 20;
	case LAT_1G:
		return 1u << 30;
	default:
		return (size_t)sysconf(_SC_PAGESIZE);
	}
}

static bool hugetlb(const struct lat_area *a)
{
	return a->pages == LAT_2M || a->pages == LAT_1G;
}

int lat_area_why(enum lat_backing backing, enum lat_pages pages, int code, struct bp_error *err)
{
	const char *size = lat_pages_words[pages];

	if (pages == LAT_THP && (code == 0 || code == -EINVAL))
		return bp_error_set(
			err, -ENODATA,
			backing == LAT_ANON ? "see /sys/kernel/mm/transparent_hugepage/enabled"
			: backing == LAT_SHARED
				? "see /sys/kernel/mm/transparent_hugepage/shmem_enabled"
				: "its file system has none; a tmpfs with huge=always has",
			"the kernel gives no transparent huge pages for %s memory",
			lat_backing_words[backing]);
	if ((pages == LAT_2M || pages == LAT_1G) && (code == -ENOMEM || code == -ENOSPC))
		return bp_error_set(
			err, -ENODATA,
			pages == LAT_2M
				? "echo 64 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
				: "echo 1 > "
				  "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages",
			"there are not enough free huge pages of %s", size);
	if ((pages == LAT_2M || pages == LAT_1G) &&
	    (code == -EINVAL || code == -ENOENT || code == -ENODEV || code == -ENOSYS))
		return bp_error_set(err, -ENODATA, NULL, "this machine has no huge pages of %s",
				    size);
	return bp_error_set(err, code, NULL, "cannot map %s memory in pages of %s: %s",
			    lat_backing_words[backing], size, strerror(-code));
}

static int huge_bits(const struct lat_area *a)
{
	return a->pages == LAT_1G ? MAP_HUGE_1GB : MAP_HUGE_2MB;
}

/* Filled, so that touching it allocates no blocks of a disk: that is another measurement. */
static int fill(int fd, size_t size)
{
	static const char zeros[1 << 16];

	for (size_t done = 0; done < size;) {
		size_t want = size - done < sizeof(zeros) ? size - done : sizeof(zeros);
		ssize_t n = write(fd, zeros, want);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int make_file(struct lat_area *a, const char *dir, struct bp_error *err)
{
	char path[4096];
	int ret;

	if (hugetlb(a)) {
		a->fd = memfd_create("mmap_lat",
				     (unsigned int)(MFD_CLOEXEC | MFD_HUGETLB | huge_bits(a)));
		if (a->fd < 0)
			return lat_area_why(a->backing, a->pages, -errno, err);
		return ftruncate(a->fd, (off_t)a->size)
			       ? lat_area_why(a->backing, a->pages, -errno, err)
			       : 0;
	}
	if (snprintf(path, sizeof(path), "%s/mmap_lat.XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	a->fd = mkostemp(path, O_CLOEXEC);
	if (a->fd < 0)
		return bp_error_set(err, -errno, "name another directory with --dir",
				    "cannot make a file in '%s': %s", dir, strerror(errno));
	unlink(path);
	ret = fill(a->fd, a->size);
	if (ret)
		return bp_error_set(err, ret,
				    "name another directory with --dir, or less with --size",
				    "cannot fill a file in '%s': %s", dir, strerror(-ret));
	return 0;
}

int lat_area_init(struct lat_area *a, enum lat_backing backing, enum lat_pages pages, uint64_t size,
		  const char *dir, struct bp_error *err)
{
	size_t align;

	*a = (struct lat_area){ .backing = backing,
				.pages = pages,
				.page = page_of(pages),
				.fd = -1,
				.reserved = MAP_FAILED };
	if (!size || size > SIZE_MAX_)
		return bp_error_set(err, -EINVAL, NULL, "a size of %lu bytes cannot be measured",
				    size);
	a->size = (size + a->page - 1) / a->page * a->page;
	/* Page tables are shared out alike for all: pages of 4K are aligned as those of 2M. */
	align = a->page > (2u << 20) ? a->page : 2u << 20;
	a->reserved_size = 2 * (a->size + align) + align;
	a->reserved = mmap(NULL, a->reserved_size, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->reserved == MAP_FAILED)
		return bp_error_set(err, -errno, "try less with --size",
				    "no room for %zu bytes: %s", a->size, strerror(errno));
	a->addr = (char *)(((uintptr_t)a->reserved + align - 1) / align * align);
	a->other = (char *)(((uintptr_t)a->addr + a->size + align - 1) / align * align);
	/* The addresses stay free: nothing else of this program is mapped while it measures. */
	munmap(a->reserved, a->reserved_size);
	return backing == LAT_FILE ? make_file(a, dir, err) : 0;
}

void lat_area_free(struct lat_area *a)
{
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
}

int lat_area_map(const struct lat_area *a)
{
	int flags = (a->backing == LAT_ANON ? MAP_PRIVATE : MAP_SHARED) | MAP_FIXED_NOREPLACE;
	void *p;

	if (a->backing != LAT_FILE)
		flags |= MAP_ANONYMOUS | (hugetlb(a) ? MAP_HUGETLB | huge_bits(a) : 0);
	p = mmap(a->addr, a->size, PROT_READ | PROT_WRITE, flags, a->fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	/* Kernels before 4.17 take the address for a wish. */
	if (p != a->addr) {
		munmap(p, a->size);
		return -EEXIST;
	}
	return 0;
}

int lat_area_advise(const struct lat_area *a)
{
	if (a->pages == LAT_THP)
		return madvise(a->addr, a->size, MADV_HUGEPAGE) ? -errno : 0;
	/* Where the kernel has no huge pages it says EINVAL, and gives small ones all the same. */
	if (a->pages == LAT_4K && madvise(a->addr, a->size, MADV_NOHUGEPAGE) && errno != EINVAL)
		return -errno;
	return 0;
}

int64_t lat_area_huge(const struct lat_area *a)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[1024];
	bool inside = false;
	int64_t sum = 0;

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		unsigned long from, to, kib;

		/* "FROM-TO perms ..." starts a mapping; "Name:  N kB" are its lines. */
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = from < (uintptr_t)a->addr + a->size && to > (uintptr_t)a->addr;
		else if (inside && (sscanf(line, "AnonHugePages: %lu", &kib) == 1 ||
				    sscanf(line, "ShmemPmdMapped: %lu", &kib) == 1 ||
				    sscanf(line, "FilePmdMapped: %lu", &kib) == 1))
			sum += (int64_t)kib * 1024;
	}
	fclose(f);
	return sum;
}
