// SPDX-License-Identifier: GPL-2.0-only
/* --compare: two documents of earlier runs. What is in them is checked, whoever wrote it. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bp/cli.h>
#include <bp/log.h>

#include "difference.h"
#include "modes.h"
#include "report.h"

/* Smaller changes come from one run to the next as well. */
#define DEFAULT_LIMIT "p50>+2%"
#define SAMPLES_MAX   (1u << 28)

struct document {
	const char *name;
	struct json_object *root;
	struct json_object *results;
	const char *unit;
};

static struct json_object *member(struct json_object *obj, const char *key, json_type type)
{
	struct json_object *v;

	return json_object_is_type(obj, json_type_object) &&
			       json_object_object_get_ex(obj, key, &v) &&
			       json_object_is_type(v, type)
		       ? v
		       : NULL;
}

static const char *text(struct json_object *obj, const char *key)
{
	struct json_object *v = member(obj, key, json_type_string);

	return v ? json_object_get_string(v) : "";
}

static int load(const char *name, struct document *d, struct bp_error *err)
{
	struct json_object *schema;

	d->name = name;
	d->root = json_object_from_file(name);
	if (!d->root)
		return bp_error_set(err, -EINVAL, "write it with --out_json_file",
				    "%s is no JSON document: %s", name, json_util_get_last_err());
	schema = member(d->root, "schema", json_type_int);
	d->results = member(d->root, "results", json_type_array);
	if (!schema || json_object_get_int64(schema) != LAT_SCHEMA || !d->results ||
	    strcmp(text(d->root, "program"), "bf_send_lat") != 0)
		return bp_error_set(err, -EINVAL, "write it with --out_json_file of this version",
				    "%s is no document of bf_send_lat with schema %d", name,
				    LAT_SCHEMA);
	d->unit = text(member(d->root, "test_info", json_type_object), "unit");
	return 0;
}

static int take_samples(const struct document *d, struct json_object *row, struct lat_series *out,
			struct bp_error *err)
{
	struct json_object *samples = member(row, "samples", json_type_array);
	size_t n = samples ? json_object_array_length(samples) : 0;

	*out = (struct lat_series){ NULL, n };
	if (!n || n > SAMPLES_MAX)
		return bp_error_set(
			err, -EINVAL,
			"measure a number of exchanges (-n, not -D), with --samples above "
			"100000",
			"%s holds no samples for %s bytes", d->name,
			json_object_get_string(member(row, "MsgSize", json_type_int)));
	out->v = malloc(n * sizeof(*out->v));
	if (!out->v)
		return bp_error_set(err, -ENOMEM, NULL, "no memory for %zu samples", n);
	for (size_t i = 0; i < n; i++) {
		struct json_object *v = json_object_array_get_idx(samples, i);

		out->v[i] = json_object_get_double(v);
		if ((!json_object_is_type(v, json_type_double) &&
		     !json_object_is_type(v, json_type_int)) ||
		    !isfinite(out->v[i]))
			return bp_error_set(err, -EINVAL, NULL, "%s: sample %zu is no number",
					    d->name, i);
	}
	return 0;
}

/* The row of the other document that measured the same. */
static struct json_object *counterpart(const struct document *d, struct json_object *row)
{
	struct json_object *size = member(row, "MsgSize", json_type_int);
	const char *asked = text(member(row, "blueflame", json_type_object), "asked");
	struct json_object *found = NULL;

	for (size_t i = 0; size && i < json_object_array_length(d->results); i++) {
		struct json_object *other = json_object_array_get_idx(d->results, i);
		struct json_object *s = member(other, "MsgSize", json_type_int);

		if (!s || json_object_get_int64(s) != json_object_get_int64(size))
			continue;
		/* One run with and one without BlueFlame may be compared as well. */
		if (!found ||
		    !strcmp(text(member(other, "blueflame", json_type_object), "asked"), asked))
			found = other;
	}
	return found;
}

static int judge(struct bp_print *p, const struct lat_limit *limits, unsigned int n,
		 unsigned int size, const struct lat_series *a, const struct lat_series *b,
		 bool *failed)
{
	for (unsigned int i = 0; i < n; i++) {
		bool broken = false;
		int ret = lat_limit_broken(&limits[i], a, b, &broken);

		if (ret)
			return ret;
		if (!broken)
			continue;
		*failed = true;
		bp_print_object(p, NULL);
		bp_print_u64(p, "MsgSize", "# %lu bytes:", size);
		bp_print_str(p, "fail_if", " %s\n", limits[i].text);
		bp_print_object_end(p);
	}
	return 0;
}

struct pair {
	unsigned int size;
	struct lat_series a;
	struct lat_series b;
};

static int pair_up(struct document docs[2], struct pair *pairs, size_t room, size_t *n,
		   struct bp_error *err)
{
	*n = 0;
	for (size_t i = 0; i < json_object_array_length(docs[0].results) && *n < room; i++) {
		struct json_object *row = json_object_array_get_idx(docs[0].results, i);
		struct json_object *other = counterpart(&docs[1], row);
		struct pair *pair = &pairs[*n];
		int ret;

		if (!other)
			continue;
		pair->size =
			(unsigned int)json_object_get_int64(member(row, "MsgSize", json_type_int));
		++*n;
		ret = take_samples(&docs[0], row, &pair->a, err);
		if (!ret)
			ret = take_samples(&docs[1], other, &pair->b, err);
		if (ret)
			return ret;
	}
	return *n ? 0
		  : bp_error_set(err, -EINVAL, NULL, "%s and %s have no size in common",
				 docs[0].name, docs[1].name);
}

static int print(struct bp_print *p, const struct pair *pairs, size_t n,
		 const struct lat_limit *limits, unsigned int nr_limits, bool *failed)
{
	int ret = 0;

	bp_print_object(p, NULL);
	bp_print_u64(p, "schema", NULL, LAT_SCHEMA);
	lat_difference_head(p, "A", "B");
	bp_print_array(p, "differences");
	for (size_t i = 0; !ret && i < n; i++)
		ret = lat_difference_print(p, pairs[i].size, &pairs[i].a, &pairs[i].b);
	bp_print_array_end(p);
	bp_print_array(p, "failed");
	for (size_t i = 0; !ret && i < n; i++)
		ret = judge(p, limits, nr_limits, pairs[i].size, &pairs[i].a, &pairs[i].b, failed);
	bp_print_array_end(p);
	bp_print_bool(p, "worse", NULL, *failed);
	bp_print_object_end(p);
	return ret;
}

int lat_compare_documents(const struct lat_options *o)
{
	struct document docs[2] = { 0 };
	struct pair pairs[LAT_ROWS_MAX] = { 0 };
	struct lat_limit limits[8];
	unsigned int nr_limits = o->nr_fail_if ? o->nr_fail_if : 1;
	struct bp_error err = { 0 };
	struct bp_print *p = NULL;
	bool failed = false;
	size_t n = 0;
	int ret = 0, code;

	for (unsigned int i = 0; i < nr_limits; i++) {
		if (lat_limit_parse(o->nr_fail_if ? o->fail_if[i] : DEFAULT_LIMIT, &limits[i],
				    &err)) {
			bp_log_report(&err, -EINVAL, "reading --fail-if");
			return BP_EXIT_USAGE;
		}
	}
	for (unsigned int i = 0; !ret && i < 2; i++)
		ret = load(o->compare[i], &docs[i], &err);
	if (!ret && strcmp(docs[0].unit, docs[1].unit) != 0)
		ret = bp_error_set(&err, -EINVAL, "leave out -C",
				   "one document is in %s, the other in %s", docs[0].unit,
				   docs[1].unit);
	if (!ret)
		ret = pair_up(docs, pairs, LAT_ROWS_MAX, &n, &err);
	if (!ret) {
		p = bp_print_new(stdout, o->pretty ? BP_PRINT_PRETTY
					 : o->json ? BP_PRINT_JSON
						   : BP_PRINT_TEXT);
		ret = p ? print(p, pairs, n, limits, nr_limits, &failed) : -ENOMEM;
		code = bp_print_free(p);
		ret = ret ? ret : code;
	}
	for (size_t i = 0; i < n; i++) {
		free(pairs[i].a.v);
		free(pairs[i].b.v);
	}
	for (unsigned int i = 0; i < 2; i++)
		json_object_put(docs[i].root);
	if (ret)
		return bp_log_report(&err, ret, "comparing");
	return failed ? BP_EXIT_FAIL : BP_EXIT_OK;
}
