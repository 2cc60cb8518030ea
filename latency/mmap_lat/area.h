/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory to be measured: what is behind it, and how large its pages are. */
#ifndef LAT_MMAP_AREA_H
#define LAT_MMAP_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bp/error.h>

/** enum lat_backing - anonymous and private; anonymous and shared; a file, shared. */
enum lat_backing {
	LAT_ANON,
	LAT_SHARED,
	LAT_FILE,
	LAT_BACKINGS,
};

/** enum lat_pages - base pages; transparent huge pages; huge pages of hugetlb. */
enum lat_pages {
	LAT_4K,
	LAT_THP,
	LAT_2M,
	LAT_1G,
	LAT_PAGES,
};

/** lat_backing_words, lat_pages_words - their names, ending with NULL. */
extern const char *const lat_backing_words[];
extern const char *const lat_pages_words[];

/**
 * struct lat_area - memory.
 * @backing, @pages: kind. @page: bytes of a page; @size: of all, whole pages.
 * @fd: of the file, or -1. @addr: where it goes; @other: where it is moved to.
 * @reserved: from mmap(), @reserved_size long; both addresses lie in it.
 */
struct lat_area {
	enum lat_backing backing;
	enum lat_pages pages;
	size_t page;
	size_t size;
	int fd;
	char *addr;
	char *other;
	char *reserved;
	size_t reserved_size;
};

/**
 * lat_area_init() - find addresses, and make the file.
 * @a: receives it; lat_area_free() it, also on failure.
 * @backing: what. @pages: how large.
 * @size: bytes; rounded up to whole pages, at most 1 TiB.
 * @dir: for a file, which has no name.
 * @err: says what failed. -ENODATA means: not to be had here, and @err has the reason.
 *
 * Return: 0 or a negative errno.
 */
int lat_area_init(struct lat_area *a, enum lat_backing backing, enum lat_pages pages, uint64_t size,
		  const char *dir, struct bp_error *err);

/** lat_area_free() - give all back. @a: area. */
void lat_area_free(struct lat_area *a);

/** lat_area_map() - one mmap(2), writable, at its address. @a: area. Return: 0 or a negative errno. */
int lat_area_map(const struct lat_area *a);

/** lat_area_advise() - ask for its size of pages, or for no other. @a: mapped. Return: 0 or a negative errno. */
int lat_area_advise(const struct lat_area *a);

/**
 * lat_area_huge() - bytes of it that are mapped by transparent huge pages.
 * @a: mapped and touched.
 *
 * Return: bytes, or a negative errno when /proc/self/smaps cannot be read.
 */
int64_t lat_area_huge(const struct lat_area *a);

/**
 * lat_area_why() - why such memory is not to be had.
 * @backing: what. @pages: how large. @code: negative errno of mmap() or madvise(); 0 when the
 * kernel gave small pages instead.
 * @err: receives the reason and what to do.
 *
 * Return: -ENODATA when the machine lacks it, or @code for any other failure.
 */
int lat_area_why(enum lat_backing backing, enum lat_pages pages, int code, struct bp_error *err);

#endif
