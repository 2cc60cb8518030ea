/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The kernel as libvf sees it: where its file systems are mounted and how its
 * calls are made. Tests put a directory and a table of their own here, so that
 * every failure (EBUSY, EACCES, a limit) can be produced on purpose.
 */
#ifndef VF_SYS_H
#define VF_SYS_H

#include <stddef.h>
#include <sys/types.h>

/**
 * struct vf_sys - the system calls that libvf makes on device nodes.
 * @open: as open(2) without O_CREAT.
 * @close: as close(2).
 * @ioctl: as ioctl(2) with a pointer or integer argument.
 * @mmap: as mmap(2).
 * @munmap: as munmap(2).
 * @pread: as pread(2).
 * @pwrite: as pwrite(2).
 *
 * Each returns what the call of the same name returns and sets errno.
 */
struct vf_sys {
	int (*open)(const char *path, int flags);
	int (*close)(int fd);
	int (*ioctl)(int fd, unsigned long request, void *arg);
	void *(*mmap)(void *addr, size_t len, int prot, int flags, int fd, off_t off);
	int (*munmap)(void *addr, size_t len);
	ssize_t (*pread)(int fd, void *buf, size_t len, off_t off);
	ssize_t (*pwrite)(int fd, const void *buf, size_t len, off_t off);
};

/** vf_sys_libc() - the table that calls the running kernel. Return: a constant table. */
const struct vf_sys *vf_sys_libc(void);

/**
 * struct vf_host - one host: a root directory and a way to call its kernel.
 * @root: directory below which sys, proc, run and dev are found; "/" for this host.
 * @sys: calls on device nodes.
 */
struct vf_host {
	const char *root;
	const struct vf_sys *sys;
};

#endif
