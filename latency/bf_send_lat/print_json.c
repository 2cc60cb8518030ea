// SPDX-License-Identifier: GPL-2.0-only
/* A JSON value that somebody else made, through the printer. */
#include <json-c/json.h>

#include "report.h"

#define DEPTH_MAX 8

static void print(struct bp_print *p, const char *key, struct json_object *obj, int depth)
{
	if (depth > DEPTH_MAX) {
		bp_print_null(p, key, NULL);
		return;
	}
	switch (json_object_get_type(obj)) {
	case json_type_object: {
		bp_print_object(p, key);
		json_object_object_foreach(obj, name, value) print(p, name, value, depth + 1);
		bp_print_object_end(p);
		break;
	}
	case json_type_array:
		bp_print_array(p, key);
		for (size_t i = 0; i < json_object_array_length(obj); i++)
			print(p, NULL, json_object_array_get_idx(obj, i), depth + 1);
		bp_print_array_end(p);
		break;
	case json_type_int:
		bp_print_s64(p, key, NULL, json_object_get_int64(obj));
		break;
	case json_type_double:
		bp_print_f64(p, key, NULL, 6, json_object_get_double(obj));
		break;
	case json_type_boolean:
		bp_print_bool(p, key, NULL, json_object_get_boolean(obj));
		break;
	case json_type_string:
		bp_print_str(p, key, NULL, json_object_get_string(obj));
		break;
	default:
		bp_print_null(p, key, NULL);
	}
}

void lat_print_json(struct bp_print *p, const char *key, struct json_object *obj)
{
	if (bp_print_is_json(p))
		print(p, key, obj, 0);
}
