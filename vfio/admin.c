// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <vf/admin.h>
#include <vf/module.h>
#include <vf/sysfs.h>

static int file_write(struct vf_admin *a, const char *path, const char *data, size_t len)
{
	struct stat st;
	ssize_t n;
	int fd, ret = 0;

	fd = vf_sysfs_open(a->host, O_WRONLY | O_TRUNC | O_NONBLOCK, "%s", path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		ret = -EINVAL;
		goto out;
	}
	/* One call: the kernel takes each write() of an attribute as a whole request. */
	do {
		n = write(fd, data, len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		ret = -errno;
	else if ((size_t)n != len)
		ret = -EIO;
out:
	close(fd);
	return ret;
}

static int kernel_load(struct vf_admin *a, const char *name)
{
	/* Our own kernel would get the module, not the one whose tree this is. */
	return a->live ? vf_module_load(name) : -ENOENT;
}

static void really_sleep(struct vf_admin *a, unsigned int ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	(void)a;
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static const struct vf_admin_ops ordinary = {
	.write = file_write,
	.load_module = kernel_load,
	.sleep_ms = really_sleep,
};

void vf_admin_init(struct vf_admin *a, const struct vf_host *host)
{
	struct statfs fs;
	int fd;

	*a = (struct vf_admin){ .host = host, .ops = &ordinary };
	fd = vf_sysfs_open(host, O_PATH | O_DIRECTORY, "sys");
	if (fd < 0)
		return;
	a->live = !fstatfs(fd, &fs) && fs.f_type == SYSFS_MAGIC;
	close(fd);
}

int vf_admin_write(struct vf_admin *a, const char *text, const char *fmt, ...)
{
	char path[PATH_MAX], line[VF_ATTR_MAX];
	size_t len = strlen(text);
	va_list ap;
	int n;

	if (len + 2 > sizeof(line))
		return -EMSGSIZE;
	memcpy(line, text, len);
	line[len++] = '\n';
	line[len] = 0;
	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	return a->ops->write(a, path, line, len);
}

int vf_admin_dir(const struct vf_host *host, const char *path)
{
	char step[PATH_MAX];
	size_t len = 0, full = strlen(path);
	int parent, ret;

	if (full >= sizeof(step))
		return -ENAMETOOLONG;
	ret = parent = vf_sysfs_open(host, O_PATH | O_DIRECTORY, ".");
	while (ret >= 0 && len < full) {
		size_t start = len + (path[len] == '/');

		len = start + strcspn(path + start, "/");
		snprintf(step, sizeof(step), "%.*s", (int)len, path);
		if (mkdirat(parent, step + start, 0755) && errno != EEXIST) {
			ret = -errno;
			break;
		}
		close(parent);
		/* Opened from the root again, so that a link in the place of a folder stays inside. */
		ret = parent = vf_sysfs_open(host, O_RDONLY | O_DIRECTORY, "%s", step);
	}
	if (ret < 0 && parent >= 0)
		close(parent);
	return ret;
}

int vf_admin_lock(struct vf_admin *a, struct bp_error *err)
{
	int dir, fd = -1, ret;

	dir = vf_admin_dir(a->host, "run/bluepass");
	ret = dir;
	if (ret >= 0) {
		fd = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		ret = fd < 0 ? -errno : fd;
		close(dir);
	}
	while (ret >= 0 && flock(fd, LOCK_EX))
		if (errno != EINTR)
			ret = -errno;
	if (ret < 0) {
		if (fd >= 0)
			close(fd);
		return bp_error_set(err, ret, ret == -EACCES ? "run this as root" : NULL,
				    "cannot lock /run/bluepass/lock: %s", strerror(-ret));
	}
	return fd;
}
