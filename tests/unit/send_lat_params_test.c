// SPDX-License-Identifier: GPL-2.0-only
/* bf_send_lat: which parameters hold when two users each gave some, or a peer says anything. */
#include <json-c/json.h>
#include <string.h>

#include "latency/bf_send_lat/trial.h"
#include "suite.h"

static struct lat_params plain(void)
{
	return (struct lat_params){
		.sizes = { 2 }, .nr_sizes = 1, .iters = 1000, .warmup = 100, .block = 50
	};
}

START_TEST(one_side_decides)
{
	struct lat_params c = plain(), s = plain(), out;
	struct bp_error err = { 0 };

	/* A server's wish holds when the client has none, and the other way round. */
	s.given = LAT_GIVEN_ITERS | LAT_GIVEN_CONN;
	s.iters = 50;
	s.warmup = 6;
	s.conn = LAT_UD;
	c.given = LAT_GIVEN_SIZE;
	c.sizes[0] = 64;
	ck_assert_int_eq(lat_params_merge(&c, &s, &out, &err), 0);
	ck_assert_uint_eq(out.iters, 50);
	ck_assert_uint_eq(out.warmup, 6);
	ck_assert_int_eq(out.conn, LAT_UD);
	ck_assert_uint_eq(out.sizes[0], 64);
	/* Defaults of either are no wishes. */
	s.given = 0;
	ck_assert_int_eq(lat_params_merge(&c, &s, &out, &err), 0);
	ck_assert_uint_eq(out.iters, 1000);
	ck_assert_int_eq(out.conn, LAT_RC);
}
END_TEST

static void clash(const struct lat_params *c, const struct lat_params *s, const char *words)
{
	struct bp_error err = { 0 };
	struct lat_params out;

	ck_assert_int_eq(lat_params_merge(c, s, &out, &err), -EINVAL);
	ck_assert_msg(strstr(err.what, words), "'%s' does not say '%s'", err.what, words);
}

START_TEST(contradictions_are_named)
{
	struct lat_params c = plain(), s = plain();

	c.given = s.given = LAT_GIVEN_ITERS;
	c.iters = 1000;
	s.iters = 500;
	clash(&c, &s, "-n is 1000 there, 500 here");
	c.given = s.given = LAT_GIVEN_CONN;
	c.conn = LAT_UC;
	clash(&c, &s, "-c is UC there, RC here");
	c.given = s.given = LAT_GIVEN_SIZE;
	c.sizes[0] = 64;
	clash(&c, &s, "-s is 64 there, 2 here");
	c = s = plain();
	c.given = LAT_GIVEN_DURATION;
	c.duration = 5;
	s.given = LAT_GIVEN_ITERS;
	clash(&c, &s, "-D on one end, -n on the other");
	c = s = plain();
	c.cm_qp = true;
	c.given = LAT_GIVEN_CM_QP;
	s.conn = LAT_UC;
	s.given = LAT_GIVEN_CONN;
	clash(&c, &s, "no UC queue pairs");
}
END_TEST

START_TEST(there_and_back)
{
	struct lat_params p = plain(), back;
	struct json_object *obj;

	p.given = LAT_GIVEN_SIZE | LAT_GIVEN_MTU;
	p.conn = LAT_UD;
	p.nr_sizes = LAT_SIZES_MAX;
	for (unsigned int i = 0; i < LAT_SIZES_MAX; i++)
		p.sizes[i] = i * 7;
	p.iters = LAT_ITERS_MAX;
	p.duration = 3;
	p.mtu = 2048;
	p.cm_qp = true;
	p.blueflame = LAT_BF_AB;
	p.seed = UINT64_MAX >> 1;
	obj = lat_params_put(&p);
	ck_assert_int_eq(lat_params_get(obj, &back, NULL), 0);
	ck_assert_mem_eq(&p, &back, sizeof(p));
	json_object_put(obj);
}
END_TEST

/* A good message with one member replaced must be refused. */
static void refused(const char *key, const char *value)
{
	struct lat_params p = plain(), back;
	struct json_object *obj = lat_params_put(&p);

	if (value)
		json_object_object_add(obj, key, json_tokener_parse(value));
	else
		json_object_object_del(obj, key);
	ck_assert_msg(lat_params_get(obj, &back, NULL) == -EPROTO, "%s: %s is taken", key,
		      value ? value : "nothing");
	json_object_put(obj);
}

START_TEST(nonsense_is_refused)
{
	refused("sizes", "[]");
	refused("sizes", "[8388609]");
	refused("sizes", "[-1]");
	refused("sizes", "[\"2\"]");
	refused("sizes", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]");
	refused("sizes", "2");
	refused("iters", "4");
	refused("iters", "9223372036854775807");
	refused("iters", "1.5");
	refused("iters", NULL);
	refused("warmup", "-1");
	refused("block", "0");
	refused("blueflame", "4");
	refused("connection", "\"DC\"");
	refused("connection", "null");
	refused("mtu", "4097");
}
END_TEST

SUITE("bf_send_lat parameters", one_side_decides, contradictions_are_named, there_and_back,
      nonsense_is_refused)
