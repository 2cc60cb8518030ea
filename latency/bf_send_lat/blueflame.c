// SPDX-License-Identifier: GPL-2.0-only
#include <dlfcn.h>
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blueflame.h"

#define SHUT_UP "MLX5_SHUT_UP_BF"

static char *saved;
static bool changed;

static bool wants_off(enum lat_blueflame bf, unsigned int kind)
{
	return bf == LAT_BF_OFF || (bf == LAT_BF_AB && kind == 1);
}

void lat_blueflame_before_open(enum lat_blueflame bf, unsigned int kind)
{
	const char *old = getenv(SHUT_UP);

	if (bf == LAT_BF_AS_IS)
		return;
	saved = old ? strdup(old) : NULL;
	changed = true;
	setenv(SHUT_UP, wants_off(bf, kind) ? "1" : "0", 1);
}

void lat_blueflame_after_open(void)
{
	if (!changed)
		return;
	if (saved)
		setenv(SHUT_UP, saved, 1);
	else
		unsetenv(SHUT_UP);
	free(saved);
	saved = NULL;
	changed = false;
}

bool lat_blueflame_driver(const struct lat_device *d, const char *prefix)
{
	char path[160], target[256];
	const char *driver;
	ssize_t n;

	/* Devices are often renamed by where they are, so that the name tells nothing. */
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/driver", d->name);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	driver = strrchr(target, '/');
	driver = driver ? driver + 1 : target;
	return !strncmp(driver, prefix, strlen(prefix));
}

void lat_blueflame_adjust(enum lat_blueflame bf, unsigned int kind, const struct lat_device *d,
			  struct lat_options *o)
{
	if (wants_off(bf, kind) && lat_blueflame_driver(d, "mlx4"))
		o->inline_size = 0;
}

/* libmlx5 is asked only when it is there already, as the device's own provider. */
static bool mlx5_bf(struct ibv_qp *qp, struct mlx5dv_qp *out)
{
	int (*init)(struct mlx5dv_obj *, uint64_t);
	struct mlx5dv_obj obj = { .qp = { .in = qp, .out = out } };
	void *lib = dlopen("libmlx5.so.1", RTLD_NOW | RTLD_NOLOAD);
	bool ok = false;

	if (!lib)
		return false;
	*(void **)&init = dlsym(lib, "mlx5dv_init_obj");
	if (init)
		ok = !init(&obj, MLX5DV_OBJ_QP);
	dlclose(lib);
	return ok;
}

static void say(struct lat_bf_verdict *out, enum lat_bf_used used, const char *how)
{
	out->used = used;
	snprintf(out->how, sizeof(out->how), "%s", how);
}

void lat_blueflame_judge(const struct lat_end *e, uint32_t size, bool wanted,
			 struct lat_bf_verdict *out)
{
	struct mlx5dv_qp dv = { 0 };

	if (!e->device || !e->device->context) {
		say(out, LAT_BF_UNKNOWN, "no device was opened");
	} else if (lat_blueflame_driver(e->device, "mlx5")) {
		if (!mlx5_bf(e->qp, &dv))
			say(out, LAT_BF_UNKNOWN,
			    "the mlx5 provider tells nothing about the queue pair");
		else if (!dv.bf.size)
			say(out, LAT_BF_NOT_USED,
			    "the mlx5 provider gave the queue pair no BlueFlame register");
		else if (!wanted)
			say(out, LAT_BF_NOT_USED, "the context was opened with " SHUT_UP);
		else
			say(out, LAT_BF_UNKNOWN,
			    "the mlx5 provider has a BlueFlame register for it; whether the "
			    "processor "
			    "combines writes to it is what --wc-check measures");
	} else if (lat_blueflame_driver(e->device, "mlx4")) {
		if (size > e->inline_size)
			say(out, LAT_BF_NOT_USED, "mlx4 uses BlueFlame for inline messages only");
		else
			say(out, LAT_BF_UNKNOWN,
			    "the mlx4 provider does not tell whether it mapped a BlueFlame page");
	} else {
		char how[200];

		snprintf(how, sizeof(how), "%s is no ConnectX; nothing tells how it is notified",
			 e->device->name);
		say(out, LAT_BF_UNKNOWN, how);
	}
}

const char *lat_bf_used_name(enum lat_bf_used used)
{
	return used == LAT_BF_USED ? "yes" : used == LAT_BF_NOT_USED ? "no" : "unknown";
}
