// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "vmm/api.h"

#define DEPTH_MAX 4

static const char *const commands[] = {
	[VMM_API_STATUS] = "status", [VMM_API_STATS] = "stats", [VMM_API_PAUSE] = "pause",
	[VMM_API_RESUME] = "resume", [VMM_API_STOP] = "stop",	[VMM_API_MEMTYPE] = "memtype",
};

static int parse_command(const char *word, enum vmm_api_command *out)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(commands[i], word)) {
			*out = (enum vmm_api_command)i;
			return 0;
		}
	}
	return -EINVAL;
}

static int interpret(struct json_object *root, struct vmm_api_request *out, struct bp_error *err)
{
	struct json_object *v;

	if (!json_object_is_type(root, json_type_object))
		return bp_error_set(err, -EINVAL, NULL, "a request is a JSON object");
	if (!json_object_object_get_ex(root, "command", &v) ||
	    !json_object_is_type(v, json_type_string) ||
	    parse_command(json_object_get_string(v), &out->command))
		return bp_error_set(err, -EINVAL, NULL,
				    "\"command\" is one of status, stats, pause, resume, stop "
				    "and memtype");
	if (json_object_object_get_ex(root, "format", &v)) {
		const char *format = json_object_get_string(v);

		if (!format || (strcmp(format, "json") != 0 && strcmp(format, "text") != 0))
			return bp_error_set(err, -EINVAL, NULL, "\"format\" is json or text");
		out->text = !strcmp(format, "text");
	}
	if (json_object_object_get_ex(root, "force", &v)) {
		if (!json_object_is_type(v, json_type_boolean))
			return bp_error_set(err, -EINVAL, NULL, "\"force\" is true or false");
		out->force = json_object_get_boolean(v);
	}
	return 0;
}

int vmm_api_parse(const char *line, size_t len, struct vmm_api_request *out, struct bp_error *err)
{
	struct json_tokener *tok;
	struct json_object *root;
	int ret;

	memset(out, 0, sizeof(*out));
	if (!len || len > VMM_API_LINE_MAX)
		return bp_error_set(err, -EINVAL, NULL, "a request has 1 to %u bytes",
				    VMM_API_LINE_MAX);
	tok = json_tokener_new_ex(DEPTH_MAX);
	if (!tok)
		return -ENOMEM;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	root = json_tokener_parse_ex(tok, line, (int)len);
	if (json_tokener_get_error(tok) == json_tokener_success)
		ret = interpret(root, out, err);
	else
		ret = bp_error_set(err, -EINVAL, NULL, "the request is not JSON");
	json_object_put(root);
	json_tokener_free(tok);
	return ret;
}
