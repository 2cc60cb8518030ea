// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "latency/perfdiff/record.h"

/* Words of a command, and bytes in one. */
#define WORDS_MAX 4096
#define TEXT_MAX  65536

/* The file, for messages: "FILE: WHAT". */
struct reader {
	const char *name;
	struct bp_error *err;
};

__attribute__((format(printf, 2, 3))) static int wrong(const struct reader *rd, const char *fmt,
						       ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return bp_error_set(rd->err, -EINVAL, "make it with 'perfdiff run -o FILE -- COMMAND'",
			    "'%s' is no record of perfdiff: %s", rd->name, text);
}

static int get(const struct reader *rd, struct json_object *o, const char *key, enum json_type type,
	       struct json_object **out)
{
	*out = NULL;
	if (!json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, key, out) ||
	    !json_object_is_type(*out, type))
		return wrong(rd, "no %s \"%s\"", json_type_to_name(type), key);
	return 0;
}

static int get_number(const struct reader *rd, struct json_object *o, const char *key, int64_t min,
		      int64_t max, int64_t *out)
{
	struct json_object *v;
	int ret = get(rd, o, key, json_type_int, &v);

	if (ret)
		return ret;
	*out = json_object_get_int64(v);
	if (*out < min || *out > max)
		return wrong(rd, "\"%s\" is out of range", key);
	return 0;
}

/* Text that fits, without a NUL inside that would hide its end. */
static int get_text(const struct reader *rd, struct json_object *o, const char *key, char *out,
		    size_t size)
{
	struct json_object *v;
	int ret = get(rd, o, key, json_type_string, &v);

	if (ret)
		return ret;
	if ((size_t)json_object_get_string_len(v) >= size ||
	    strlen(json_object_get_string(v)) != (size_t)json_object_get_string_len(v))
		return wrong(rd, "\"%s\" is too long", key);
	memcpy(out, json_object_get_string(v), (size_t)json_object_get_string_len(v) + 1);
	return 0;
}

static int read_rows(const struct reader *rd, struct json_object *top, struct lat_record *r)
{
	struct json_object *rows, *v;
	int ret = get(rd, top, "counters", json_type_array, &rows);

	if (ret)
		return ret;
	r->nr_rows = json_object_array_length(rows);
	if (!r->nr_rows || r->nr_rows > LAT_ROWS_MAX)
		return wrong(rd, "%zu counters", r->nr_rows);
	for (size_t i = 0; i < r->nr_rows; i++) {
		struct json_object *o = json_object_array_get_idx(rows, i);
		struct lat_row *row = &r->row[i];

		ret = get_text(rd, o, "name", row->name, sizeof(row->name));
		if (!ret)
			ret = get_text(rd, o, "unit", row->unit, sizeof(row->unit));
		if (!ret)
			ret = get(rd, o, "user_only", json_type_boolean, &v);
		if (ret)
			return ret;
		row->user_only = json_object_get_boolean(v);
		if (json_object_object_get_ex(o, "missing", &v) && v)
			ret = get_text(rd, o, "missing", row->missing, sizeof(row->missing));
		if (ret)
			return ret;
		for (size_t k = 0; k < i; k++)
			if (!strcmp(r->row[k].name, row->name))
				return wrong(rd, "counter %s is there twice", row->name);
	}
	return 0;
}

/* An array of numbers, one for each row; null is NAN. */
static int read_numbers(const struct reader *rd, struct json_object *o, const char *key, size_t n,
			double max, double *out)
{
	struct json_object *list;
	int ret = get(rd, o, key, json_type_array, &list);

	if (ret)
		return ret;
	if (json_object_array_length(list) != n)
		return wrong(rd, "%zu %s, not %zu", json_object_array_length(list), key, n);
	for (size_t i = 0; i < n; i++) {
		struct json_object *v = json_object_array_get_idx(list, i);

		out[i] = NAN;
		if (!v)
			continue;
		if (!json_object_is_type(v, json_type_double) &&
		    !json_object_is_type(v, json_type_int))
			return wrong(rd, "one of %s is no number", key);
		out[i] = json_object_get_double(v);
		if (!isfinite(out[i]) || out[i] < 0 || out[i] > max)
			return wrong(rd, "one of %s is out of range", key);
	}
	return 0;
}

static int read_run(const struct reader *rd, struct json_object *o, const struct lat_record *r,
		    struct lat_run *run)
{
	int64_t round, place, padding, status;
	int ret = get_number(rd, o, "round", 0, LAT_RUNS_MAX - 1, &round);

	if (!ret)
		ret = get_number(rd, o, "place", 0, LAT_CONFIGS_MAX - 1, &place);
	if (!ret)
		ret = get_number(rd, o, "padding", 0, 1 << 20, &padding);
	if (!ret)
		ret = get_number(rd, o, "status", 0, 255, &status);
	if (!ret)
		ret = read_numbers(rd, o, "values", r->nr_rows, 1e30, run->value);
	if (!ret)
		ret = read_numbers(rd, o, "shares", r->nr_rows, 1, run->share);
	if (ret)
		return ret;
	run->round = (unsigned int)round;
	run->place = (unsigned int)place;
	run->padding = (unsigned int)padding;
	run->status = (int)status;
	return 0;
}

static int read_argv(const struct reader *rd, struct json_object *o, char ***out)
{
	struct json_object *list;
	size_t n;
	int ret = get(rd, o, "command", json_type_array, &list);

	if (ret)
		return ret;
	n = json_object_array_length(list);
	if (!n || n > WORDS_MAX)
		return wrong(rd, "a command of %zu words", n);
	*out = calloc(n + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct json_object *v = json_object_array_get_idx(list, i);

		if (!json_object_is_type(v, json_type_string) ||
		    json_object_get_string_len(v) > TEXT_MAX)
			ret = wrong(rd, "a word of a command is no text");
		else
			(*out)[i] = (char *)json_object_get_string(v);
	}
	return ret;
}

static int read_config(const struct reader *rd, struct json_object *o, struct lat_record *r)
{
	struct json_object *runs;
	struct lat_config *c;
	char **argv = NULL, name[64];
	int ret = get_text(rd, o, "name", name, sizeof(name));

	if (!ret)
		ret = get(rd, o, "runs", json_type_array, &runs);
	if (!ret)
		ret = read_argv(rd, o, &argv);
	if (!ret)
		ret = lat_record_config(r, argv, name);
	/* The words are the JSON object's own. */
	free(argv);
	if (ret)
		return ret;
	c = &r->config[r->nr_configs - 1];
	if (json_object_array_length(runs) > LAT_RUNS_MAX)
		return wrong(rd, "%zu runs", json_object_array_length(runs));
	for (size_t i = 0; i < json_object_array_length(runs) && !ret; i++) {
		struct lat_run *run = lat_record_run(c);

		ret = run ? read_run(rd, json_object_array_get_idx(runs, i), r, run) : -ENOMEM;
	}
	return ret;
}

static int read_record(const struct reader *rd, struct json_object *top, struct lat_record *r)
{
	struct json_object *v, *list;
	char schema[64];
	int64_t version, rounds, warmup;
	int ret = get_text(rd, top, "schema", schema, sizeof(schema));

	if (!ret && strcmp(schema, LAT_RECORD_SCHEMA) != 0)
		ret = wrong(rd, "its schema is something else");
	if (!ret)
		ret = get_number(rd, top, "version", 1, INT64_MAX, &version);
	if (ret)
		return ret;
	if (version > LAT_RECORD_VERSION)
		return bp_error_set(rd->err, -EPROTO, "use the perfdiff that wrote it",
				    "'%s' has version %ld, this perfdiff knows %d", rd->name,
				    (long)version, LAT_RECORD_VERSION);
	ret = get_number(rd, top, "rounds", 0, LAT_RUNS_MAX, &rounds);
	if (!ret)
		ret = get_number(rd, top, "warmup", 0, LAT_RUNS_MAX, &warmup);
	if (!ret)
		ret = get(rd, top, "seed", json_type_int, &v);
	if (!ret)
		ret = read_rows(rd, top, r);
	if (!ret)
		ret = get(rd, top, "configurations", json_type_array, &list);
	if (ret)
		return ret;
	r->seed = json_object_get_uint64(v);
	r->rounds = (unsigned int)rounds;
	r->warmup = (unsigned int)warmup;
	if (!json_object_array_length(list) || json_object_array_length(list) > LAT_CONFIGS_MAX)
		return wrong(rd, "%zu configurations", json_object_array_length(list));
	for (size_t i = 0; i < json_object_array_length(list) && !ret; i++)
		ret = read_config(rd, json_object_array_get_idx(list, i), r);
	return ret;
}

int lat_record_parse(struct lat_record *r, const char *text, size_t len, const char *name,
		     struct bp_error *err)
{
	struct reader rd = { .name = name, .err = err };
	struct json_tokener *tok;
	struct json_object *top;
	struct lat_record *fresh;
	int ret;

	if (len > LAT_FILE_MAX)
		return bp_error_set(err, -EFBIG, NULL, "'%s' is larger than any record of perfdiff",
				    name);
	tok = json_tokener_new();
	fresh = calloc(1, sizeof(*fresh));
	if (!tok || !fresh) {
		ret = -ENOMEM;
		goto out;
	}
	top = json_tokener_parse_ex(tok, text, (int)len);
	if (!top)
		ret = wrong(&rd, "%s",
			    json_tokener_get_error(tok) == json_tokener_continue
				    ? "it ends too early"
				    : json_tokener_error_desc(json_tokener_get_error(tok)));
	else
		ret = read_record(&rd, top, fresh);
	json_object_put(top);
	if (ret)
		lat_record_free(fresh);
	else
		*r = *fresh;
out:
	free(fresh);
	if (tok)
		json_tokener_free(tok);
	return ret;
}

int lat_record_load(struct lat_record *r, const char *path, struct bp_error *err)
{
	char *text = NULL;
	struct stat st;
	size_t got = 0;
	ssize_t n = 1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), ret = 0;

	if (fd < 0 || fstat(fd, &st)) {
		ret = bp_error_set(err, -errno, NULL, "cannot read '%s': %s", path,
				   strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		ret = bp_error_set(err, -EINVAL, NULL, "'%s' is no regular file", path);
		goto out;
	}
	if (st.st_size > LAT_FILE_MAX) {
		ret = bp_error_set(err, -EFBIG, NULL, "'%s' is larger than any record of perfdiff",
				   path);
		goto out;
	}
	text = malloc((size_t)st.st_size + 1);
	if (!text) {
		ret = -ENOMEM;
		goto out;
	}
	while (got < (size_t)st.st_size && n > 0) {
		n = read(fd, text + got, (size_t)st.st_size - got);
		got += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		ret = bp_error_set(err, -errno, NULL, "cannot read '%s': %s", path,
				   strerror(errno));
	else
		ret = lat_record_parse(r, text, got, path, err);
out:
	free(text);
	if (fd >= 0)
		close(fd);
	return ret;
}
