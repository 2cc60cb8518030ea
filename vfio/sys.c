// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vf/sys.h>

static int libc_open(const char *path, int flags)
{
	return open(path, flags);
}

static int libc_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

const struct vf_sys *vf_sys_libc(void)
{
	static const struct vf_sys sys = {
		.open = libc_open,
		.close = close,
		.ioctl = libc_ioctl,
		.mmap = mmap,
		.munmap = munmap,
		.pread = pread,
		.pwrite = pwrite,
	};

	return &sys;
}
