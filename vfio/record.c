// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vf/admin.h>
#include <vf/record.h>
#include <vf/sysfs.h>

#define STORE "run/bluepass/"

static int open_store(const struct vf_host *host, const char *kind)
{
	char path[64];

	snprintf(path, sizeof(path), STORE "%s", kind);
	return vf_admin_dir(host, path);
}

static int write_new(int dir, const char *name, const char *text)
{
	size_t len = strlen(text);
	ssize_t n;
	int fd, ret = 0;

	/* What a crash left behind; it was never a record. */
	unlinkat(dir, name, 0);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	if (n < 0 || fsync(fd))
		ret = -errno;
	else if ((size_t)n != len)
		ret = -ENOSPC;
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

int vf_record_save(const struct vf_host *host, const char *kind, const struct vf_bdf *bdf,
		   const char *text, struct bp_error *err)
{
	char name[VF_BDF_LEN], fresh[VF_BDF_LEN + 8];
	int dir, ret;

	vf_bdf_format(bdf, name);
	snprintf(fresh, sizeof(fresh), ".%s.new", name);
	if (strlen(text) >= VF_RECORD_MAX)
		return -EMSGSIZE;
	ret = dir = open_store(host, kind);
	if (dir < 0)
		goto out;
	ret = write_new(dir, fresh, text);
	if (!ret && renameat(dir, fresh, dir, name))
		ret = -errno;
	if (ret)
		unlinkat(dir, fresh, 0);
	else if (fsync(dir))
		ret = -errno;
	close(dir);
out:
	if (ret)
		bp_error_set(err, ret, ret == -EACCES ? "run this as root" : NULL,
			     "cannot write /" STORE "%s/%s, which would say how to undo this: %s",
			     kind, name, strerror(-ret));
	return ret;
}

int vf_record_load(const struct vf_host *host, const char *kind, const struct vf_bdf *bdf,
		   char buf[VF_RECORD_MAX])
{
	char name[VF_BDF_LEN];
	int ret;

	ret = vf_sysfs_read(host, buf, VF_RECORD_MAX, STORE "%s/%s", kind,
			    vf_bdf_format(bdf, name));
	return ret < 0 ? ret : 0;
}

int vf_record_drop(const struct vf_host *host, const char *kind, const struct vf_bdf *bdf)
{
	char name[VF_BDF_LEN];
	int dir, ret = 0;

	dir = vf_sysfs_open(host, O_RDONLY | O_DIRECTORY, STORE "%s", kind);
	if (dir < 0)
		return dir == -ENOENT ? 0 : dir;
	if (unlinkat(dir, vf_bdf_format(bdf, name), 0) && errno != ENOENT)
		ret = -errno;
	close(dir);
	return ret;
}

int vf_record_list(const struct vf_host *host, const char *kind, struct vf_bdf **out,
		   size_t *count)
{
	struct vf_names names;
	struct vf_bdf *all;
	int ret;

	*out = NULL;
	*count = 0;
	ret = vf_sysfs_list(host, &names, STORE "%s", kind);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	all = calloc(names.count + 1, sizeof(*all));
	if (!all)
		ret = -ENOMEM;
	for (size_t i = 0; all && i < names.count; i++)
		if (!vf_bdf_parse(names.name[i], &all[*count]))
			(*count)++;
	*out = all;
	vf_names_free(&names);
	return ret;
}
