// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include <bp/request.h>

/* What every monitor since the first says to a command that it does not know. */
#define UNKNOWN "\"command\" is one of "

static void print_value(struct bp_print *p, const char *key, struct json_object *v)
{
	switch (json_object_get_type(v)) {
	case json_type_object: {
		bp_print_object(p, key);
		json_object_object_foreach(v, name, child)
		{
			print_value(p, name, child);
		}
		bp_print_object_end(p);
		break;
	}
	case json_type_array:
		bp_print_array(p, key);
		for (size_t i = 0; i < json_object_array_length(v); i++)
			print_value(p, NULL, json_object_array_get_idx(v, i));
		bp_print_array_end(p);
		break;
	case json_type_int:
		if (json_object_get_int64(v) < 0)
			bp_print_s64(p, key, NULL, json_object_get_int64(v));
		else
			bp_print_u64(p, key, NULL, json_object_get_uint64(v));
		break;
	case json_type_boolean:
		bp_print_bool(p, key, NULL, json_object_get_boolean(v));
		break;
	case json_type_double:
		bp_print_f64(p, key, NULL, 6, json_object_get_double(v));
		break;
	case json_type_string:
		bp_print_str(p, key, NULL, json_object_get_string(v));
		break;
	case json_type_null:
		bp_print_null(p, key, NULL);
		break;
	}
}

static const char *string_in(struct json_object *o, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_string))
		return NULL;
	return json_object_get_string(v);
}

static int refused(struct json_object *reply, const struct bp_request *req, struct bp_error *err)
{
	const char *error = string_in(reply, "error"), *fix = string_in(reply, "fix");

	if (error && !strncmp(error, UNKNOWN, strlen(UNKNOWN)))
		return bp_error_set(err, -EOPNOTSUPP,
				    "it was started by an older bluepass; start it with this one",
				    "the machine at %s does not know the request '%s'", req->socket,
				    req->command);
	return bp_error_set(err, -EREMOTEIO, fix, "%s", error ? error : "the request failed");
}

static int print_result(struct json_object *reply, FILE *out, enum bp_print_mode mode)
{
	struct bp_print *p = bp_print_new(out, mode);
	struct json_object *v;

	if (p && json_object_object_get_ex(reply, "result", &v))
		print_value(p, NULL, v);
	return p ? bp_print_free(p) : -ENOMEM;
}

static int print_text(const char *text, FILE *out)
{
	errno = 0;
	if (fputs(text, out) >= 0 && !fflush(out))
		return 0;
	return errno ? -errno : -EIO;
}

int bp_reply_show(const char *line, const struct bp_request *req, FILE *out,
		  enum bp_print_mode mode, struct bp_error *err)
{
	struct json_object *reply = json_tokener_parse(line), *ok;
	const char *text = string_in(reply, "text");
	int ret;

	if (!json_object_is_type(reply, json_type_object) ||
	    !json_object_object_get_ex(reply, "ok", &ok))
		ret = bp_error_set(err, -EPROTO,
				   "name the socket that 'bluepass run --api' was given",
				   "what answers at %s is no machine of bluepass", req->socket);
	else if (!json_object_get_boolean(ok))
		ret = refused(reply, req, err);
	else if (text)
		ret = print_text(text, out);
	else
		ret = print_result(reply, out, mode);
	json_object_put(reply);
	if (ret)
		bp_error_set(err, ret, NULL, "the answer cannot be written: %s", strerror(-ret));
	return ret;
}
