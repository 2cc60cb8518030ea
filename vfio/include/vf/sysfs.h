/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Reading the kernel's attribute files (sys, proc, run) below a host's root.
 *
 * The tree may be a copy that somebody else made, so nothing in it is trusted:
 * a path never leaves the root, whatever its symbolic links say (openat2(2) with
 * RESOLVE_IN_ROOT), a FIFO or device in the place of an attribute is not waited
 * for, and what does not fit the caller's buffer is an error, never a cut text.
 *
 * Paths are relative to the root and given as a printf format, for example
 * "sys/bus/pci/devices/%s/vendor".
 */
#ifndef VF_SYSFS_H
#define VF_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vf/sys.h>

/* What an attribute has room for: one page, as in the kernel (sysfs_emit()). */
#define VF_ATTR_MAX 4096

/**
 * vf_sysfs_open() - open a file below the root.
 * @host: the host.
 * @flags: as open(2); O_CLOEXEC and O_NOCTTY are added.
 * @fmt: printf format of the path.
 *
 * Return: a descriptor, or a negative errno; -ENAMETOOLONG for a path that is too long.
 */
int vf_sysfs_open(const struct vf_host *host, int flags, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * vf_sysfs_read() - a text attribute without its final line breaks and blanks.
 * @host: the host.
 * @buf: receives the text and a NUL.
 * @size: bytes of room.
 * @fmt: printf format of the path.
 *
 * Return: length of the text; -EOVERFLOW when it does not fit, -EILSEQ when it contains
 * a NUL byte, -EINVAL for what is not a regular file, or the errno of open and read.
 */
int vf_sysfs_read(const struct vf_host *host, char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * vf_sysfs_read_all() - a text file of any length, such as /proc/self/mountinfo.
 * @host: the host.
 * @max: more than this many bytes is -EFBIG.
 * @out: receives the text, NUL-terminated; free() it.
 * @fmt: printf format of the path.
 *
 * Return: 0, or a negative errno as vf_sysfs_read().
 */
int vf_sysfs_read_all(const struct vf_host *host, size_t max, char **out, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * vf_sysfs_read_bytes() - a binary attribute, such as config.
 * @host: the host.
 * @buf: receives the bytes.
 * @size: bytes of room; more than that in the file is left there.
 * @fmt: printf format of the path.
 *
 * Return: bytes read, or a negative errno as vf_sysfs_read().
 */
int vf_sysfs_read_bytes(const struct vf_host *host, void *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * vf_sysfs_read_u64() - a number, decimal or with 0x, alone in its file.
 * @host: the host.
 * @out: written only on success.
 * @fmt: printf format of the path.
 *
 * Return: 0; -EINVAL for anything else than a number, -ERANGE when it does not fit; or as
 * vf_sysfs_read().
 */
int vf_sysfs_read_u64(const struct vf_host *host, uint64_t *out, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * vf_sysfs_read_s64() - a number that may be negative, such as numa_node.
 * @host: the host. @out: written only on success. @fmt: printf format of the path.
 *
 * Return: as vf_sysfs_read_u64().
 */
int vf_sysfs_read_s64(const struct vf_host *host, int64_t *out, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * vf_sysfs_link_name() - last component of what a symbolic link names.
 * @host: the host.
 * @buf: receives it; for ".../driver" this is the driver's name.
 * @size: bytes of room.
 * @fmt: printf format of the link's path.
 *
 * Return: 0; -ENOENT without such a link, -EINVAL for what is not a link or has no
 * last component, -EOVERFLOW when the name does not fit.
 */
int vf_sysfs_link_name(const struct vf_host *host, char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * vf_sysfs_realpath() - where a path leads, relative to the root, all links followed.
 * @host: the host.
 * @buf: receives a path such as "sys/devices/pci0000:00/0000:00:03.0".
 * @size: bytes of room.
 * @fmt: printf format of the path.
 *
 * Return: 0, or a negative errno.
 */
int vf_sysfs_realpath(const struct vf_host *host, char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** vf_sysfs_exists() - whether a path leads to something. @host: the host. @fmt: format of the path. Return: true if so. */
bool vf_sysfs_exists(const struct vf_host *host, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * struct vf_names - names found in a directory, sorted as strverscmp(3) does.
 * @name: @count strings.
 * @count: how many.
 */
struct vf_names {
	char **name;
	size_t count;
};

/**
 * vf_sysfs_list() - the entries of a directory, except "." and "..".
 * @host: the host.
 * @out: receives them; give back with vf_names_free(). Empty after a failure.
 * @fmt: printf format of the path.
 *
 * Return: 0, or a negative errno; -EFBIG above 1048576 entries.
 */
int vf_sysfs_list(const struct vf_host *host, struct vf_names *out, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** vf_names_free() - give back what vf_sysfs_list() found. @names: may be empty. */
void vf_names_free(struct vf_names *names);

#endif
