// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bp/print.h>
#include "latency/perfdiff/record.h"

/* A column's heading. */
#define NAME_MAX_ 24

static void argv_free(char **argv)
{
	for (char **a = argv; a && *a; a++)
		free(*a);
	free(argv);
}

static char **argv_copy(char *const *argv)
{
	size_t n = 0;
	char **copy;

	while (argv[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = strdup(argv[i]);
		if (!copy[i]) {
			argv_free(copy);
			return NULL;
		}
	}
	return copy;
}

/* The program's name and the words after it, as far as there is room. */
static void words(char *out, size_t size, char *const *argv)
{
	const char *slash = argv[0] ? strrchr(argv[0], '/') : NULL;
	size_t at = 0;

	*out = '\0';
	for (size_t i = 0; argv[i] && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%s", i ? " " : "",
				       !i && slash ? slash + 1 : argv[i]);
}

static bool taken(const struct lat_record *r, const char *name)
{
	for (size_t i = 0; i < r->nr_configs; i++)
		if (!strcmp(r->config[i].name, name))
			return true;
	return false;
}

int lat_record_config(struct lat_record *r, char *const *argv, const char *name)
{
	struct lat_config c = { 0 };
	char text[NAME_MAX_ + 1], unique[sizeof(text) + 16];

	if (r->nr_configs == LAT_CONFIGS_MAX)
		return -ENOSPC;
	if (name)
		snprintf(text, sizeof(text), "%s", name);
	else
		words(text, sizeof(text), argv);
	snprintf(unique, sizeof(unique), "%s", text);
	for (unsigned int i = 2; taken(r, unique); i++)
		snprintf(unique, sizeof(unique), "%s#%u", text, i);
	c.name = strdup(unique);
	c.argv = argv_copy(argv);
	if (!c.name || !c.argv) {
		free(c.name);
		argv_free(c.argv);
		return -ENOMEM;
	}
	r->config[r->nr_configs++] = c;
	return 0;
}

struct lat_run *lat_record_run(struct lat_config *c)
{
	/* Room for 16, 32, 64, ... runs: the next is due when the number is a power of two. */
	if (c->nr == LAT_RUNS_MAX)
		return NULL;
	if (!c->nr || (c->nr >= 16 && !(c->nr & (c->nr - 1)))) {
		struct lat_run *more = reallocarray(c->run, c->nr ? 2 * c->nr : 16, sizeof(*more));

		if (!more)
			return NULL;
		c->run = more;
	}
	memset(&c->run[c->nr], 0, sizeof(*c->run));
	return &c->run[c->nr++];
}

void lat_record_free(struct lat_record *r)
{
	for (size_t i = 0; i < r->nr_configs; i++) {
		free(r->config[i].name);
		argv_free(r->config[i].argv);
		free(r->config[i].run);
	}
	memset(r, 0, sizeof(*r));
}

static void write_rows(const struct lat_record *r, struct bp_print *p)
{
	bp_print_array(p, "counters");
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct lat_row *row = &r->row[i];

		bp_print_object(p, NULL);
		bp_print_str(p, "name", NULL, row->name);
		bp_print_str(p, "unit", NULL, row->unit);
		bp_print_bool(p, "user_only", NULL, row->user_only);
		bp_print_str(p, "missing", NULL, *row->missing ? row->missing : NULL);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
}

static void write_run(const struct lat_record *r, const struct lat_run *run, struct bp_print *p)
{
	bp_print_object(p, NULL);
	bp_print_u64(p, "round", NULL, run->round);
	bp_print_u64(p, "place", NULL, run->place);
	bp_print_u64(p, "padding", NULL, run->padding);
	bp_print_s64(p, "status", NULL, run->status);
	bp_print_array(p, "values");
	for (size_t i = 0; i < r->nr_rows; i++)
		bp_print_f64(p, NULL, NULL, 3, run->value[i]);
	bp_print_array_end(p);
	bp_print_array(p, "shares");
	for (size_t i = 0; i < r->nr_rows; i++)
		bp_print_f64(p, NULL, NULL, 6, run->share[i]);
	bp_print_array_end(p);
	bp_print_object_end(p);
}

int lat_record_write(const struct lat_record *r, FILE *out)
{
	struct bp_print *p = bp_print_new(out, BP_PRINT_JSON);

	if (!p)
		return -ENOMEM;
	bp_print_object(p, NULL);
	bp_print_str(p, "schema", NULL, LAT_RECORD_SCHEMA);
	bp_print_u64(p, "version", NULL, LAT_RECORD_VERSION);
	bp_print_u64(p, "seed", NULL, r->seed);
	bp_print_u64(p, "rounds", NULL, r->rounds);
	bp_print_u64(p, "warmup", NULL, r->warmup);
	write_rows(r, p);
	bp_print_array(p, "configurations");
	for (size_t i = 0; i < r->nr_configs; i++) {
		const struct lat_config *c = &r->config[i];

		bp_print_object(p, NULL);
		bp_print_str(p, "name", NULL, c->name);
		bp_print_array(p, "command");
		for (char **a = c->argv; *a; a++)
			bp_print_str(p, NULL, NULL, *a);
		bp_print_array_end(p);
		bp_print_array(p, "runs");
		for (size_t k = 0; k < c->nr; k++)
			write_run(r, &c->run[k], p);
		bp_print_array_end(p);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	if (r->has_env)
		lat_env_print(p, &r->env, &r->window);
	bp_print_object_end(p);
	return bp_print_free(p);
}

int lat_record_probe(const char *path, struct bp_error *err)
{
	char *tmp = NULL;
	int fd, ret = 0;

	if (asprintf(&tmp, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0) {
		ret = bp_error_set(err, -errno, NULL, "cannot write beside '%s': %s", path,
				   strerror(errno));
	} else {
		close(fd);
		unlink(tmp);
	}
	free(tmp);
	return ret;
}

int lat_record_save(const struct lat_record *r, const char *path, struct bp_error *err)
{
	char *tmp = NULL;
	FILE *f = NULL;
	int fd, ret;

	if (asprintf(&tmp, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0) {
		ret = bp_error_set(err, -errno, NULL, "cannot write beside '%s': %s", path,
				   strerror(errno));
		goto out;
	}
	/* mkostemp() is for secrets; this is an ordinary result. */
	f = fchmod(fd, 0644) ? NULL : fdopen(fd, "w");
	ret = f ? lat_record_write(r, f) : -errno;
	if (!f)
		close(fd);
	else if (fclose(f) && !ret)
		ret = -errno;
	if (!ret && rename(tmp, path))
		ret = -errno;
	if (ret) {
		unlink(tmp);
		bp_error_set(err, ret, NULL, "cannot write '%s': %s", path, strerror(-ret));
	}
out:
	free(tmp);
	return ret;
}
