// SPDX-License-Identifier: GPL-2.0-only
/* Choosing and opening a device, its port and its GID. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "end.h"

#define LIST_TEXT 1024

unsigned int lat_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

static int check_port(const struct lat_options *o, struct lat_device *d, struct bp_error *err)
{
	int ret = ibv_query_port(d->context, (uint8_t)d->port, &d->attr);

	if (ret)
		return bp_error_set(err, -ENODEV, NULL, "%s has no port %u", d->name, d->port);
	d->ethernet = d->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	if ((o->link == 'E' && !d->ethernet) || (o->link == 'I' && d->ethernet))
		return bp_error_set(err, -EINVAL, NULL,
				    "port %u of %s is %s, not what --force-link asks for", d->port,
				    d->name, d->ethernet ? "Ethernet" : "InfiniBand");
	if (d->attr.state != IBV_PORT_ACTIVE)
		return bp_error_set(err, -ENETDOWN,
				    d->ethernet ? "set its network interface up"
						: "see that a subnet manager runs",
				    "port %u of %s is %s", d->port, d->name,
				    ibv_port_state_str(d->attr.state));
	return 0;
}

static int pick_gid(const struct lat_options *o, const struct sockaddr_storage *local,
		    struct lat_device *d, struct bp_error *err)
{
	char list[LIST_TEXT];

	d->gid = -1;
	d->nr_gids = lat_gid_list(d->context, d->port, d->gids);
	if (d->nr_gids < 0)
		return bp_error_set(err, d->nr_gids, NULL, "the GIDs of %s cannot be read: %s",
				    d->name, strerror(-d->nr_gids));
	if (o->gid_index >= 0) {
		for (int i = 0; i < d->nr_gids; i++)
			if (d->gids[i].index == (unsigned int)o->gid_index)
				d->gid = i;
		if (d->gid < 0) {
			bp_error_set(err, -EINVAL, NULL, "port %u of %s has no GID with index %d",
				     d->port, d->name, o->gid_index);
			bp_error_fix(err, "it has %s",
				     lat_gid_describe(d->gids, d->nr_gids, list, sizeof(list)));
			return -EINVAL;
		}
		return 0;
	}
	/* InfiniBand finds its way by LID within a subnet; a GID is only used when asked for. */
	if (!d->ethernet)
		return 0;
	d->gid = lat_gid_choose(d->gids, d->nr_gids, local, o->ipv6);
	if (d->gid < 0)
		return bp_error_set(err, -EADDRNOTAVAIL, "give its network interface an address",
				    "port %u of %s has no usable GID", d->port, d->name);
	return 0;
}

static int look_at(const struct lat_options *o, const struct sockaddr_storage *local,
		   struct lat_device *d, struct bp_error *err)
{
	int ret;

	snprintf(d->name, sizeof(d->name), "%s", ibv_get_device_name(d->context->device));
	ret = check_port(o, d, err);
	return ret ? ret : pick_gid(o, local, d, err);
}

int lat_device_adopt(struct ibv_context *context, unsigned int port, const struct lat_options *o,
		     const struct sockaddr_storage *local, struct lat_device *out,
		     struct bp_error *err)
{
	*out = (struct lat_device){ .context = context, .port = port, .gid = -1 };
	return look_at(o, local, out, err);
}

/* How well a device suits: 3 has the very address, 2 is fine, 1 has no active port. */
static int rate(const struct lat_options *o, const char *want, const struct sockaddr_storage *local,
		struct lat_device *d)
{
	struct bp_error err = { 0 };

	if (look_at(o, local, d, &err))
		return 1;
	if (want && !strcmp(want, d->name))
		return 4;
	if (d->gid >= 0 && local) {
		/* Alone, the GID is chosen whatever the address; see if it is the address. */
		struct lat_gid two[2] = { { 0 }, d->gids[d->gid] };
		struct sockaddr_storage other = { .ss_family = AF_UNSPEC };

		two[0].type = IBV_GID_TYPE_ROCE_V2;
		two[0].gid.raw[0] = 0x20;
		if (lat_gid_choose(two, 2, local, true) == 1 &&
		    lat_gid_choose(two, 2, &other, true) == 0)
			return 3;
	}
	return 2;
}

static void names(struct ibv_device **list, int n, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (int i = 0; i < n && used + 70 < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "",
					 ibv_get_device_name(list[i]));
}

static struct ibv_device *choose(const struct lat_options *o, const char *want,
				 const struct sockaddr_storage *local, struct ibv_device **list,
				 int n)
{
	struct ibv_device *best = NULL;
	int best_rate = 0;

	for (int i = 0; i < n; i++) {
		struct lat_device d = { .port = o->ib_port, .gid = -1 };
		int r;

		if (o->device) {
			if (!strcmp(o->device, ibv_get_device_name(list[i])))
				return list[i];
			continue;
		}
		if (n == 1)
			return list[i];
		d.context = ibv_open_device(list[i]);
		if (!d.context)
			continue;
		r = rate(o, want, local, &d);
		ibv_close_device(d.context);
		if (r > best_rate) {
			best_rate = r;
			best = list[i];
		}
	}
	return best;
}

int lat_device_open(const struct lat_options *o, const char *want,
		    const struct sockaddr_storage *local, struct lat_device *out,
		    struct bp_error *err)
{
	struct ibv_device **list, *device;
	char text[512];
	int n = 0, ret;

	*out = (struct lat_device){ .port = o->ib_port, .gid = -1 };
	list = ibv_get_device_list(&n);
	if (!list || !n) {
		if (list)
			ibv_free_device_list(list);
		return bp_error_set(err, -ENODEV,
				    "load its driver; ibv_devices shows what there is",
				    "there is no RDMA device");
	}
	device = choose(o, want, local, list, n);
	names(list, n, text, sizeof(text));
	if (!device) {
		ret = bp_error_set(err, -ENODEV, NULL, "there is no RDMA device '%s'",
				   o->device ? o->device : "");
		bp_error_fix(err, "there is %s", text);
	} else {
		out->context = ibv_open_device(device);
		out->own = true;
		ret = out->context ? look_at(o, local, out, err)
				   : bp_error_set(err, -EIO, "it may need root or another provider",
						  "%s cannot be opened: %s",
						  ibv_get_device_name(device), strerror(errno));
	}
	ibv_free_device_list(list);
	if (ret)
		lat_device_close(out);
	return ret;
}

void lat_device_match(struct lat_device *d, const struct lat_options *o,
		      const struct lat_address *peer)
{
	bool v6;

	if (o->gid_index >= 0 || !d->ethernet || !peer->has_gid || d->gid < 0)
		return;
	v6 = !lat_gid_is_ipv4(&peer->gid);
	if (v6 == !lat_gid_is_ipv4(&d->gids[d->gid].gid))
		return;
	d->gid = lat_gid_choose(d->gids, d->nr_gids, NULL, v6);
}

void lat_device_close(struct lat_device *d)
{
	if (d->context && d->own)
		ibv_close_device(d->context);
	d->context = NULL;
}
