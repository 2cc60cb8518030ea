// SPDX-License-Identifier: GPL-2.0-only
/* The first words: who is there, and which parameters hold. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include <bp/cli.h>

#include "trial.h"

#define PROTOCOL 1

const char *lat_host_id(char buf[64])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	buf[0] = '\0';
	if (f) {
		if (!fgets(buf, 64, f))
			buf[0] = '\0';
		fclose(f);
	}
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

static int64_t number(struct json_object *obj, const char *key, int64_t none)
{
	struct json_object *v;

	return json_object_object_get_ex(obj, key, &v) && json_object_is_type(v, json_type_int)
		       ? json_object_get_int64(v)
		       : none;
}

static const char *text(struct json_object *obj, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(obj, key, &v) && json_object_is_type(v, json_type_string)
		       ? json_object_get_string(v)
		       : "";
}

static struct json_object *greeting(const struct lat_trial *s, const struct lat_params *p)
{
	struct json_object *msg = json_object_new_object();
	char host[64];
	int cpu = -1;

	json_object_object_add(msg, "t", json_object_new_string("hello"));
	json_object_object_add(msg, "protocol", json_object_new_int(PROTOCOL));
	json_object_object_add(msg, "version", json_object_new_string(bp_version()));
	json_object_object_add(msg, "host", json_object_new_string(lat_host_id(host)));
	json_object_object_add(msg, "cpus", json_object_new_int(lat_cpus(&cpu)));
	json_object_object_add(msg, "cpu", json_object_new_int(cpu));
	json_object_object_add(msg, "open", json_object_new_int(s->o->rate > 0));
	json_object_object_add(msg, "params", lat_params_put(p));
	return msg;
}

/* What the greeting says about the peer besides parameters. */
static int meet(struct lat_trial *s, struct json_object *msg, struct lat_params *p,
		struct bp_error *err)
{
	struct json_object *params;
	char host[64];
	int own_cpu = -1, own = lat_cpus(&own_cpu);

	if (number(msg, "protocol", 0) != PROTOCOL)
		return bp_error_set(
			err, -EPROTO, "use the same version on both ends",
			"the peer speaks protocol %ld, this end %d (versions %s and %s)",
			(long)number(msg, "protocol", 0), PROTOCOL, text(msg, "version"),
			bp_version());
	if (!json_object_object_get_ex(msg, "params", &params))
		return bp_error_set(err, -EPROTO, NULL, "the peer's greeting has no parameters");
	s->same_host = *lat_host_id(host) && !strcmp(host, text(msg, "host"));
	s->peer_open = number(msg, "open", 0);
	/* Two that poll on one processor wait for each other's time slices. */
	s->yield = s->o->yield == 1 ||
		   (s->o->yield == -1 && s->same_host && own == 1 && number(msg, "cpus", 0) == 1 &&
		    number(msg, "cpu", -1) == own_cpu);
	return lat_params_get(params, p, err);
}

int lat_hello_client(struct lat_trial *s, unsigned int *cm_port, struct bp_error *err)
{
	struct json_object *msg = NULL;
	int ret;

	s->ctl->doing = "agreeing on parameters";
	ret = lat_ctl_send(s->ctl, greeting(s, &s->o->params), s->o->timeout, err);
	if (!ret)
		ret = lat_ctl_recv(s->ctl, "hello", s->o->timeout, &msg, err);
	if (ret)
		return ret;
	ret = meet(s, msg, &s->p, err);
	*cm_port = (unsigned int)number(msg, "cm_port", 0) & 0xffff;
	json_object_put(msg);
	return ret;
}

int lat_hello_read(struct lat_trial *s, struct bp_error *err)
{
	struct json_object *msg = NULL;
	struct lat_params theirs;
	int ret;

	s->ctl->doing = "waiting for a client's wishes";
	ret = lat_ctl_recv(s->ctl, "hello", s->o->timeout, &msg, err);
	if (ret)
		return ret == -EINTR ? ret : -EBADMSG;
	ret = meet(s, msg, &theirs, err);
	json_object_put(msg);
	if (ret)
		return ret;
	s->ctl->doing = "agreeing on parameters";
	return lat_params_merge(&theirs, &s->o->params, &s->p, err);
}

int lat_hello_answer(struct lat_trial *s, unsigned int cm_port, struct bp_error *err)
{
	struct json_object *msg = greeting(s, &s->p);

	json_object_object_add(msg, "cm_port", json_object_new_int((int)cm_port));
	return lat_ctl_send(s->ctl, msg, s->o->timeout, err);
}
