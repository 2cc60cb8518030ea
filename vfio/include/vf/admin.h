/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The means by which a host is changed: writing attributes, loading modules,
 * waiting. They are a table, because a directory that plays sysfs in a test
 * cannot answer EBUSY to a write, or let a driver's link appear.
 */
#ifndef VF_ADMIN_H
#define VF_ADMIN_H

#include <stdbool.h>
#include <stddef.h>

#include <bp/error.h>
#include <vf/sys.h>

struct vf_admin;

/**
 * struct vf_admin_ops - how to change a host.
 * @write: write @len bytes to the attribute at @path (relative to the root) in one
 *         call. Return: 0 or a negative errno.
 * @load_module: load a kernel module by name, with what it depends on. Return: 0,
 *         -ENOENT when there is none of that name, or a negative errno.
 * @sleep_ms: wait.
 */
struct vf_admin_ops {
	int (*write)(struct vf_admin *a, const char *path, const char *data, size_t len);
	int (*load_module)(struct vf_admin *a, const char *name);
	void (*sleep_ms)(struct vf_admin *a, unsigned int ms);
};

/**
 * struct vf_admin - a host and the means to change it.
 * @host: the host.
 * @ops: the means.
 * @live: a kernel stands behind the tree, so that effects can be waited for and checked.
 *        Without one (a copied tree) attributes are written and that is all.
 * @priv: for whoever brings a table of their own.
 */
struct vf_admin {
	const struct vf_host *host;
	const struct vf_admin_ops *ops;
	bool live;
	void *priv;
};

/**
 * vf_admin_init() - the ordinary means; @live when root/sys is a real sysfs.
 * @a: filled in.
 * @host: the host.
 */
void vf_admin_init(struct vf_admin *a, const struct vf_host *host);

/**
 * vf_admin_write() - write a text and a line break to an attribute.
 * @a: the means.
 * @text: shorter than a page (VF_ATTR_MAX).
 * @fmt: printf format of the attribute's path, relative to the root.
 *
 * Return: 0; -EMSGSIZE for a text that is too long, -ENAMETOOLONG for such a path, or the
 * errno of opening or writing.
 */
int vf_admin_write(struct vf_admin *a, const char *text, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * vf_admin_lock() - keep other changers of the same host out.
 * @a: the means.
 * @err: receives the reason of a failure; may be NULL.
 *
 * Takes root/run/bluepass/lock, and waits for whoever has it.
 *
 * Return: a descriptor to close(2) when done, or a negative errno.
 */
int vf_admin_lock(struct vf_admin *a, struct bp_error *err);

/**
 * vf_admin_dir() - open a directory below the root, made where it is missing.
 * @host: the host.
 * @path: relative to the root, such as "run/bluepass/bind".
 *
 * Return: a descriptor, or a negative errno.
 */
int vf_admin_dir(const struct vf_host *host, const char *path);

#endif
