// SPDX-License-Identifier: GPL-2.0-only
/* Telling the peer about the own ends, and connecting to its. */
#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "trial.h"

static void put(struct json_object *obj, const char *key, uint64_t value)
{
	json_object_object_add(obj, key, json_object_new_int64((int64_t)value));
}

static struct json_object *address_put(const struct lat_address *a)
{
	struct json_object *obj = json_object_new_object();
	char gid[INET6_ADDRSTRLEN];

	put(obj, "qpn", a->qpn);
	put(obj, "psn", a->psn);
	put(obj, "lid", a->lid);
	put(obj, "mtu", a->mtu);
	put(obj, "qkey", a->qkey);
	if (a->has_gid)
		json_object_object_add(obj, "gid",
				       json_object_new_string(lat_gid_format(&a->gid, gid)));
	return obj;
}

static bool get(struct json_object *obj, const char *key, uint64_t max, uint64_t *out)
{
	struct json_object *v;

	if (!json_object_object_get_ex(obj, key, &v) || !json_object_is_type(v, json_type_int) ||
	    json_object_get_int64(v) < 0 || (uint64_t)json_object_get_int64(v) > max)
		return false;
	*out = (uint64_t)json_object_get_int64(v);
	return true;
}

static bool address_get(struct json_object *obj, struct lat_address *a)
{
	uint64_t qpn, psn, lid, mtu, qkey;
	struct json_object *gid;

	memset(a, 0, sizeof(*a));
	if (!get(obj, "qpn", 0xffffff, &qpn) || !get(obj, "psn", 0xffffff, &psn) ||
	    !get(obj, "lid", 0xffff, &lid) || !get(obj, "mtu", 4096, &mtu) ||
	    !get(obj, "qkey", UINT32_MAX, &qkey))
		return false;
	a->qpn = (uint32_t)qpn;
	a->psn = (uint32_t)psn;
	a->lid = (uint16_t)lid;
	a->mtu = (unsigned int)mtu;
	a->qkey = (uint32_t)qkey;
	a->has_gid = json_object_object_get_ex(obj, "gid", &gid);
	return !a->has_gid || (json_object_is_type(gid, json_type_string) &&
			       inet_pton(AF_INET6, json_object_get_string(gid), a->gid.raw) == 1);
}

static int send_ends(struct lat_trial *s, struct bp_error *err)
{
	struct json_object *msg = json_object_new_object(), *list = json_object_new_array();

	json_object_object_add(msg, "t", json_object_new_string("ends"));
	for (unsigned int i = 0; i < s->nr_ends; i++) {
		struct lat_address a;

		lat_end_address(&s->ends[i], &a);
		json_object_array_add(list, address_put(&a));
	}
	json_object_object_add(msg, "ends", list);
	return lat_ctl_send(s->ctl, msg, s->o->timeout, err);
}

static int recv_ends(struct lat_trial *s, struct lat_address *peers, struct bp_error *err)
{
	struct json_object *msg = NULL, *list;
	int ret = lat_ctl_recv(s->ctl, "ends", s->o->timeout, &msg, err);

	if (ret)
		return ret;
	if (!json_object_object_get_ex(msg, "ends", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) != s->nr_ends)
		ret = -EPROTO;
	for (unsigned int i = 0; !ret && i < s->nr_ends; i++) {
		struct json_object *one = json_object_array_get_idx(list, i);

		if (!json_object_is_type(one, json_type_object) || !address_get(one, &peers[i]))
			ret = -EPROTO;
	}
	json_object_put(msg);
	return ret ? bp_error_set(err, ret, "use the same version on both ends",
				  "the peer's addresses make no sense")
		   : 0;
}

static int agree_mtu(struct lat_trial *s, const struct lat_address *peer, struct bp_error *err)
{
	unsigned int own = lat_mtu_bytes(s->devices[0].attr.active_mtu);
	unsigned int least = own < peer->mtu ? own : peer->mtu;

	s->mtu = s->p.mtu ? s->p.mtu : least;
	if (s->mtu > least)
		return bp_error_set(err, -EINVAL,
				    "use a smaller -m, or raise the MTU of the network",
				    "an MTU of %u is more than the ports have: %u here, %u there",
				    s->mtu, own, peer->mtu);
	if (s->p.conn != LAT_UD)
		return 0;
	/* A datagram is one packet. A list of sizes ends where it does. */
	while (s->p.nr_sizes > 1 && s->p.sizes[s->p.nr_sizes - 1] > s->mtu)
		s->p.nr_sizes--;
	for (unsigned int i = 0; i < s->p.nr_sizes; i++)
		if (s->p.sizes[i] > s->mtu)
			return bp_error_set(err, -EMSGSIZE, "use RC or UC, or a smaller -s",
					    "a datagram holds at most %u bytes here, not %u",
					    s->mtu, s->p.sizes[i]);
	return 0;
}

static int barrier(struct lat_trial *s, struct bp_error *err)
{
	struct json_object *msg = json_object_new_object(), *answer = NULL;
	int ret;

	json_object_object_add(msg, "t", json_object_new_string("ready"));
	ret = lat_ctl_send(s->ctl, msg, s->o->timeout, err);
	if (!ret)
		ret = lat_ctl_recv(s->ctl, "ready", s->o->timeout, &answer, err);
	json_object_put(answer);
	return ret;
}

int lat_join_peer(struct lat_trial *s, struct bp_error *err)
{
	struct lat_address peers[2];
	int ret;

	s->ctl->doing = "exchanging addresses";
	/* The server chooses its GID by the client's family, so the client goes first. */
	ret = s->client ? send_ends(s, err) : recv_ends(s, peers, err);
	if (!ret && !s->client && !s->p.cm_qp)
		for (unsigned int i = 0; i < s->nr_ends; i++)
			lat_device_match(&s->devices[i], s->o, &peers[i]);
	if (!ret)
		ret = s->client ? recv_ends(s, peers, err) : send_ends(s, err);
	if (!ret)
		ret = agree_mtu(s, &peers[0], err);
	for (unsigned int i = 0; !ret && i < s->nr_ends; i++)
		ret = lat_end_join(&s->ends[i], s->o, s->mtu, &peers[i], err);
	if (ret)
		return ret;
	s->ctl->doing = "getting ready";
	return barrier(s, err);
}
