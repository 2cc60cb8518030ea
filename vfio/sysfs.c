// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vf/sysfs.h>

#define ENTRIES_MAX (1u << 20)

/* More than any mix of renames on a working machine needs, and an end for one that never rests. */
#define OPEN_TRIES 1000

/* A path that was put together, or the reason why it could not be. */
struct path {
	char text[PATH_MAX];
};

static int path_make(struct path *p, const char *fmt, va_list ap)
{
	int n;

	/* The format is the caller's literal: the attribute on the public function checks it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n = vsnprintf(p->text, sizeof(p->text), fmt, ap);
#pragma GCC diagnostic pop
	return n < 0 || (size_t)n >= sizeof(p->text) ? -ENAMETOOLONG : 0;
}

#define PATH_MAKE(p, fmt)                                                                          \
	({                                                                                         \
		va_list ap_;                                                                       \
		int ret_;                                                                          \
                                                                                                   \
		va_start(ap_, fmt);                                                                \
		ret_ = path_make(p, fmt, ap_);                                                     \
		va_end(ap_);                                                                       \
		ret_;                                                                              \
	})

static bool is_this_host(const struct vf_host *host)
{
	return !strcmp(host->root, "/");
}

static int open_below(const struct vf_host *host, int flags, const char *path)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC | O_NOCTTY),
		.resolve = RESOLVE_IN_ROOT,
	};
	int root, fd, tries = OPEN_TRIES, ret;

	if (flags & O_PATH)
		how.flags &= ~(uint64_t)O_NOCTTY;
	root = open(host->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	/*
	 * EAGAIN: somewhere on the machine something was renamed or mounted while ".." was
	 * followed (openat2(2)), which says nothing about this file.
	 */
	do {
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	} while (fd < 0 && errno == EAGAIN && --tries);
	/*
	 * Kernels before 5.6 lack the call, and container filters refuse it. Nothing lies
	 * outside "/", so there the ordinary call means the same.
	 */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN) && is_this_host(host))
		fd = openat(root, path, (int)how.flags);
	ret = fd < 0 ? -errno : fd;
	close(root);
	return ret;
}

int vf_sysfs_open(const struct vf_host *host, int flags, const char *fmt, ...)
{
	struct path p;
	int ret = PATH_MAKE(&p, fmt);

	return ret ? ret : open_below(host, flags, p.text);
}

/* Open something that is read from start to end and cannot block. */
static int open_regular(const struct vf_host *host, const char *path)
{
	int fd = open_below(host, O_RDONLY | O_NONBLOCK, path);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/* Read until the end or until @size bytes are there. */
static ssize_t read_full(int fd, char *buf, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = read(fd, buf + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static int read_text(const struct vf_host *host, const char *path, char *buf, size_t size)
{
	ssize_t n;
	int fd;

	if (!size)
		return -EOVERFLOW;
	fd = open_regular(host, path);
	if (fd < 0)
		return fd;
	n = read_full(fd, buf, size);
	close(fd);
	if (n < 0)
		return (int)n;
	if ((size_t)n == size)
		return -EOVERFLOW;
	if (memchr(buf, 0, (size_t)n))
		return -EILSEQ;
	while (n && isspace((unsigned char)buf[n - 1]))
		n--;
	buf[n] = 0;
	return (int)n;
}

int vf_sysfs_read(const struct vf_host *host, char *buf, size_t size, const char *fmt, ...)
{
	struct path p;
	int ret = PATH_MAKE(&p, fmt);

	return ret ? ret : read_text(host, p.text, buf, size);
}

int vf_sysfs_read_all(const struct vf_host *host, size_t max, char **out, const char *fmt, ...)
{
	size_t room = VF_ATTR_MAX, got = 0;
	char *buf = NULL, *bigger;
	struct path p;
	ssize_t n;
	int fd, ret = PATH_MAKE(&p, fmt);

	if (ret)
		return ret;
	fd = open_regular(host, p.text);
	if (fd < 0)
		return fd;
	for (;;) {
		bigger = realloc(buf, room + 1);
		if (!bigger) {
			ret = -ENOMEM;
			goto out;
		}
		buf = bigger;
		n = read_full(fd, buf + got, room - got);
		if (n < 0) {
			ret = (int)n;
			goto out;
		}
		got += (size_t)n;
		if (got > max) {
			ret = -EFBIG;
			goto out;
		}
		if (got < room)
			break;
		room *= 2;
	}
	if (memchr(buf, 0, got)) {
		ret = -EILSEQ;
		goto out;
	}
	buf[got] = 0;
	*out = buf;
	buf = NULL;
out:
	free(buf);
	close(fd);
	return ret;
}

int vf_sysfs_read_bytes(const struct vf_host *host, void *buf, size_t size, const char *fmt, ...)
{
	struct path p;
	int fd, ret = PATH_MAKE(&p, fmt);

	if (ret)
		return ret;
	if (size > INT_MAX)
		return -EINVAL;
	fd = open_regular(host, p.text);
	if (fd < 0)
		return fd;
	ret = (int)read_full(fd, buf, size);
	close(fd);
	return ret;
}

static int parse_u64(const char *s, uint64_t *out)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, s[0] == '0' && (s[1] | 0x20) == 'x' ? 16 : 10);
	if (errno)
		return -errno;
	if (*end)
		return -EINVAL;
	*out = v;
	return 0;
}

int vf_sysfs_read_u64(const struct vf_host *host, uint64_t *out, const char *fmt, ...)
{
	char text[64];
	struct path p;
	int ret = PATH_MAKE(&p, fmt);

	if (!ret)
		ret = read_text(host, p.text, text, sizeof(text));
	if (ret == -EOVERFLOW)
		return -EINVAL;
	return ret < 0 ? ret : parse_u64(text, out);
}

int vf_sysfs_read_s64(const struct vf_host *host, int64_t *out, const char *fmt, ...)
{
	bool negative;
	char text[64];
	struct path p;
	uint64_t v = 0;
	int ret = PATH_MAKE(&p, fmt);

	if (!ret)
		ret = read_text(host, p.text, text, sizeof(text));
	if (ret == -EOVERFLOW)
		return -EINVAL;
	if (ret < 0)
		return ret;
	negative = text[0] == '-';
	ret = parse_u64(text + negative, &v);
	if (ret)
		return ret;
	if (v > INT64_MAX)
		return -ERANGE;
	*out = negative ? -(int64_t)v : (int64_t)v;
	return 0;
}

int vf_sysfs_link_name(const struct vf_host *host, char *buf, size_t size, const char *fmt, ...)
{
	char target[PATH_MAX];
	struct path p;
	const char *base;
	ssize_t n;
	int fd, ret = PATH_MAKE(&p, fmt);

	if (ret)
		return ret;
	fd = open_below(host, O_PATH | O_NOFOLLOW, p.text);
	if (fd < 0)
		return fd;
	n = readlinkat(fd, "", target, sizeof(target) - 1);
	ret = n < 0 ? -errno : 0;
	close(fd);
	/* On something that is no link the empty path gives ENOENT. */
	if (ret)
		return ret == -ENOENT ? -EINVAL : ret;
	target[n] = 0;
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	if (!*base || !strcmp(base, ".") || !strcmp(base, ".."))
		return -EINVAL;
	if (strlen(base) >= size)
		return -EOVERFLOW;
	memcpy(buf, base, strlen(base) + 1);
	return 0;
}

static int fd_path(int fd, char *buf, size_t size)
{
	char self[64];
	ssize_t n;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, buf, size);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -EOVERFLOW;
	buf[n] = 0;
	return 0;
}

int vf_sysfs_realpath(const struct vf_host *host, char *buf, size_t size, const char *fmt, ...)
{
	char root[PATH_MAX], full[PATH_MAX];
	struct path p;
	size_t len;
	int fd, ret = PATH_MAKE(&p, fmt);

	if (ret)
		return ret;
	fd = open(host->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fd_path(fd, root, sizeof(root));
	close(fd);
	if (ret)
		return ret;
	fd = open_below(host, O_PATH, p.text);
	if (fd < 0)
		return fd;
	ret = fd_path(fd, full, sizeof(full));
	close(fd);
	if (ret)
		return ret;
	len = strcmp(root, "/") ? strlen(root) : 0;
	if (strncmp(full, root, len) != 0 || full[len] != '/')
		return -EXDEV;
	if (strlen(full + len + 1) >= size)
		return -EOVERFLOW;
	memcpy(buf, full + len + 1, strlen(full + len + 1) + 1);
	return 0;
}

bool vf_sysfs_exists(const struct vf_host *host, const char *fmt, ...)
{
	struct path p;
	int fd;

	if (PATH_MAKE(&p, fmt))
		return false;
	fd = open_below(host, O_PATH, p.text);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static int name_order(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

int vf_sysfs_list(const struct vf_host *host, struct vf_names *out, const char *fmt, ...)
{
	struct dirent *e;
	struct path p;
	size_t room = 0;
	DIR *dir;
	int fd, ret = PATH_MAKE(&p, fmt);

	*out = (struct vf_names){ 0 };
	if (ret)
		return ret;
	fd = open_below(host, O_RDONLY | O_DIRECTORY | O_NONBLOCK, p.text);
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		ret = -errno;
		close(fd);
		return ret;
	}
	while (errno = 0, (e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (out->count == ENTRIES_MAX) {
			ret = -EFBIG;
			goto out;
		}
		if (out->count == room) {
			char **bigger = reallocarray(out->name, room = room ? 2 * room : 32,
						     sizeof(*bigger));

			if (!bigger) {
				ret = -ENOMEM;
				goto out;
			}
			out->name = bigger;
		}
		out->name[out->count] = strdup(e->d_name);
		if (!out->name[out->count]) {
			ret = -ENOMEM;
			goto out;
		}
		out->count++;
	}
	ret = -errno;
out:
	closedir(dir);
	if (ret)
		vf_names_free(out);
	else if (out->count)
		qsort(out->name, out->count, sizeof(*out->name), name_order);
	return ret;
}

void vf_names_free(struct vf_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct vf_names){ 0 };
}
