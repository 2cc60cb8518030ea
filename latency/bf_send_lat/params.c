// SPDX-License-Identifier: GPL-2.0-only
/* Parameters as JSON, and one set out of two. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "trial.h"

static void put(struct json_object *obj, const char *key, uint64_t value)
{
	json_object_object_add(obj, key, json_object_new_int64((int64_t)value));
}

struct json_object *lat_params_put(const struct lat_params *p)
{
	struct json_object *obj = json_object_new_object(), *sizes = json_object_new_array();

	put(obj, "given", p->given);
	json_object_object_add(obj, "connection", json_object_new_string(lat_conn_name(p->conn)));
	for (unsigned int i = 0; i < p->nr_sizes; i++)
		json_object_array_add(sizes, json_object_new_int64(p->sizes[i]));
	json_object_object_add(obj, "sizes", sizes);
	put(obj, "iters", p->iters);
	put(obj, "duration", p->duration);
	put(obj, "warmup", p->warmup);
	put(obj, "mtu", p->mtu);
	put(obj, "cm_qp", p->cm_qp);
	put(obj, "blueflame", p->blueflame);
	put(obj, "block", p->block);
	put(obj, "seed", p->seed);
	return obj;
}

static int get(struct json_object *obj, const char *key, uint64_t min, uint64_t max, uint64_t *out,
	       struct bp_error *err)
{
	struct json_object *v;
	int64_t n;

	if (!json_object_object_get_ex(obj, key, &v) || !json_object_is_type(v, json_type_int))
		return bp_error_set(err, -EPROTO, "use the same version on both ends",
				    "the peer's message has no number '%s'", key);
	n = json_object_get_int64(v);
	if (n < 0 || (uint64_t)n < min || (uint64_t)n > max)
		return bp_error_set(err, -EPROTO, "use the same version on both ends",
				    "the peer's '%s' of %ld is out of range", key, (long)n);
	*out = (uint64_t)n;
	return 0;
}

static int get_sizes(struct json_object *obj, struct lat_params *p, struct bp_error *err)
{
	struct json_object *v;
	size_t n;

	if (!json_object_object_get_ex(obj, "sizes", &v) ||
	    !json_object_is_type(v, json_type_array) || !(n = json_object_array_length(v)) ||
	    n > LAT_SIZES_MAX)
		goto bad;
	for (size_t i = 0; i < n; i++) {
		struct json_object *e = json_object_array_get_idx(v, i);
		int64_t size = json_object_get_int64(e);

		if (!json_object_is_type(e, json_type_int) || size < 0 || size > LAT_SIZE_MAX)
			goto bad;
		p->sizes[i] = (uint32_t)size;
	}
	p->nr_sizes = (unsigned int)n;
	return 0;
bad:
	return bp_error_set(err, -EPROTO, NULL, "the peer's list of sizes makes no sense");
}

int lat_params_get(struct json_object *obj, struct lat_params *p, struct bp_error *err)
{
	uint64_t given, duration, mtu, cm, bf, block;
	struct json_object *v;

	memset(p, 0, sizeof(*p));
	if (!json_object_object_get_ex(obj, "connection", &v) ||
	    !json_object_is_type(v, json_type_string) ||
	    lat_conn_parse(json_object_get_string(v), &p->conn))
		return bp_error_set(err, -EPROTO, NULL,
				    "the peer wants an unknown transport service");
	if (get_sizes(obj, p, err) || get(obj, "given", 0, UINT32_MAX, &given, err) ||
	    get(obj, "iters", 5, LAT_ITERS_MAX, &p->iters, err) ||
	    get(obj, "duration", 0, 1000000, &duration, err) ||
	    get(obj, "warmup", 1, LAT_ITERS_MAX, &p->warmup, err) ||
	    get(obj, "mtu", 0, 4096, &mtu, err) || get(obj, "cm_qp", 0, 1, &cm, err) ||
	    get(obj, "blueflame", 0, LAT_BF_AB, &bf, err) ||
	    get(obj, "block", 5, 1000000, &block, err) ||
	    get(obj, "seed", 0, UINT64_MAX >> 1, &p->seed, err))
		return -EPROTO;
	p->given = (unsigned int)given;
	p->duration = (unsigned int)duration;
	p->mtu = (unsigned int)mtu;
	p->cm_qp = cm;
	p->blueflame = (enum lat_blueflame)bf;
	p->block = (unsigned int)block;
	return 0;
}

static int clash(struct bp_error *err, const char *option, const char *client, const char *server)
{
	return bp_error_set(err, -EINVAL, "give it on one end only",
			    "client and server contradict each other: %s is %s there, %s here",
			    option, client, server);
}

static int clash_number(struct bp_error *err, const char *option, uint64_t client, uint64_t server)
{
	char a[24], b[24];

	snprintf(a, sizeof(a), "%lu", client);
	snprintf(b, sizeof(b), "%lu", server);
	return clash(err, option, a, b);
}

/* Contradictions of what both users gave. */
static int contradicts(const struct lat_params *c, const struct lat_params *s, struct bp_error *err)
{
	unsigned int both = c->given & s->given;

	if (both & LAT_GIVEN_CONN && c->conn != s->conn)
		return clash(err, "-c", lat_conn_name(c->conn), lat_conn_name(s->conn));
	if (both & LAT_GIVEN_SIZE &&
	    (c->nr_sizes != s->nr_sizes ||
	     memcmp(c->sizes, s->sizes, c->nr_sizes * sizeof(*c->sizes)) != 0))
		return c->nr_sizes == 1 && s->nr_sizes == 1
			       ? clash_number(err, "-s", c->sizes[0], s->sizes[0])
			       : clash(err, "the list of sizes (-s, -a)", "one", "another");
	if (both & LAT_GIVEN_ITERS && c->iters != s->iters)
		return clash_number(err, "-n", c->iters, s->iters);
	if (both & LAT_GIVEN_DURATION && c->duration != s->duration)
		return clash_number(err, "-D", c->duration, s->duration);
	if ((c->given & LAT_GIVEN_DURATION && s->given & LAT_GIVEN_ITERS) ||
	    (s->given & LAT_GIVEN_DURATION && c->given & LAT_GIVEN_ITERS))
		return bp_error_set(
			err, -EINVAL, "give one of them, on one end",
			"client and server contradict each other: -D on one end, -n on the other");
	if (both & LAT_GIVEN_WARMUP && c->warmup != s->warmup)
		return clash_number(err, "--warmup", c->warmup, s->warmup);
	if (both & LAT_GIVEN_MTU && c->mtu != s->mtu)
		return clash_number(err, "-m", c->mtu, s->mtu);
	if (both & LAT_GIVEN_BLUEFLAME && c->blueflame != s->blueflame)
		return clash(err, "--blueflame", lat_blueflame_name(c->blueflame),
			     lat_blueflame_name(s->blueflame));
	if (s->given & LAT_GIVEN_CM_QP && !c->cm_qp)
		return clash(err, "-R", "missing", "given");
	return 0;
}

int lat_params_merge(const struct lat_params *client, const struct lat_params *server,
		     struct lat_params *out, struct bp_error *err)
{
	unsigned int only = server->given & ~client->given;
	int ret = contradicts(client, server, err);

	if (ret)
		return ret;
	*out = *client;
	out->given |= server->given;
	if (only & LAT_GIVEN_CONN)
		out->conn = server->conn;
	if (only & LAT_GIVEN_SIZE) {
		out->nr_sizes = server->nr_sizes;
		memcpy(out->sizes, server->sizes, sizeof(out->sizes));
	}
	if (only & LAT_GIVEN_ITERS)
		out->iters = server->iters;
	if (only & LAT_GIVEN_DURATION)
		out->duration = server->duration;
	if (only & (LAT_GIVEN_ITERS | LAT_GIVEN_WARMUP))
		out->warmup = client->given & LAT_GIVEN_WARMUP ? client->warmup : server->warmup;
	if (only & LAT_GIVEN_MTU)
		out->mtu = server->mtu;
	if (only & LAT_GIVEN_BLUEFLAME)
		out->blueflame = server->blueflame;
	if (out->cm_qp && out->conn == LAT_UC)
		return bp_error_set(err, -EINVAL, "use -z, which only exchanges parameters over it",
				    "rdma_cm has no UC queue pairs");
	if (out->cm_qp && out->blueflame == LAT_BF_AB)
		return bp_error_set(err, -EINVAL, "leave out -R",
				    "--blueflame ab does not go with -R");
	return 0;
}
