// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stddef.h>

#include <libkmod.h>

#include <vf/module.h>

static void say_nothing(void *data, int priority, const char *file, int line, const char *fn,
			const char *format, va_list args)
{
	(void)data;
	(void)priority;
	(void)file;
	(void)line;
	(void)fn;
	(void)format;
	(void)args;
}

int vf_module_load(const char *name)
{
	struct kmod_list *list = NULL, *entry;
	struct kmod_ctx *ctx;
	int ret;

	ctx = kmod_new(NULL, NULL);
	if (!ctx)
		return -ENOMEM;
	kmod_set_log_fn(ctx, say_nothing, NULL);
	ret = kmod_module_new_from_lookup(ctx, name, &list);
	if (!ret && !list)
		ret = -ENOENT;
	kmod_list_foreach(entry, list)
	{
		struct kmod_module *m = kmod_module_get_module(entry);

		ret = kmod_module_probe_insert_module(m, 0, NULL, NULL, NULL, NULL);
		kmod_module_unref(m);
		if (ret)
			break;
	}
	kmod_module_unref_list(list);
	kmod_unref(ctx);
	/* A positive value would mean that a flag held it back, and no flag was given. */
	return ret > 0 ? -EPERM : ret;
}
