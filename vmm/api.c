// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <bp/print.h>
#include "vmm/api.h"
#include "vmm/core.h"
#include "vmm/dev/pm.h"
#include "vmm/report.h"

#define CLIENTS_MAX 8
#define RETRY_NS    20000000ull
#define SILENT_NS   10000000000ull /* a client that says nothing for so long is dropped */
#define RETRIES_MAX (SILENT_NS / RETRY_NS)
#define END_WAIT_MS 1000

struct client {
	struct vmm_api *api;
	int fd;
	struct vmm_timer *timer;
	bool waits; /* for the machine's end */
	bool text; /* and wants to be told in words */
	char in[VMM_API_LINE_MAX];
	size_t in_len;
	char *out;
	size_t out_len;
	size_t out_at;
	unsigned int retries;
};

struct vmm_api {
	struct vmm_core *core;
	int fd;
	int spare; /* given up for a moment to turn a client away when there is no other */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	ino_t inode;
	struct client *client[CLIENTS_MAX];
};

static void drop(struct client *c)
{
	struct vmm_api *api = c->api;

	vmm_timer_free(c->timer);
	vmm_loop_unwatch(api->core->vmm.loop, c->fd);
	close(c->fd);
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		if (api->client[i] == c)
			api->client[i] = NULL;
	free(c->out);
	free(c);
}

/* Send what the socket takes now. Return: false when the client is gone. */
static bool flush(struct client *c)
{
	while (c->out_at < c->out_len) {
		ssize_t n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0) {
			c->out_at += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN || ++c->retries > RETRIES_MAX) {
			drop(c);
			return false;
		}
		vmm_timer_arm(c->timer, RETRY_NS);
		return true;
	}
	free(c->out);
	c->out = NULL;
	c->out_len = c->out_at = 0;
	c->retries = 0;
	vmm_timer_arm(c->timer, c->waits ? 0 : SILENT_NS);
	return true;
}

/* What goes inside a reply. */
typedef void (*fill_fn)(struct vmm_core *core, struct bp_print *p);

static char *render_text(struct vmm_core *core, fill_fn fill)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct bp_print *p = f ? bp_print_new(f, BP_PRINT_TEXT) : NULL;

	if (p)
		fill(core, p);
	bp_print_free(p);
	if (f)
		fclose(f);
	return text;
}

static bool reply(struct client *c, const struct vmm_api_request *req, fill_fn fill,
		  const struct bp_error *err)
{
	struct vmm_core *core = c->api->core;
	FILE *f = open_memstream(&c->out, &c->out_len);
	struct bp_print *p = f ? bp_print_new(f, BP_PRINT_JSON) : NULL;

	if (!p) {
		if (f)
			fclose(f);
		drop(c);
		return false;
	}
	bp_print_object(p, NULL);
	bp_print_bool(p, "ok", NULL, !err);
	if (err) {
		bp_print_str(p, "error", NULL, err->what);
		bp_print_str(p, "fix", NULL, err->fix[0] ? err->fix : NULL);
	} else if (fill && req->text) {
		char *text = render_text(core, fill);

		bp_print_str(p, "text", NULL, text ? text : "");
		free(text);
	} else if (fill) {
		bp_print_object(p, "result");
		fill(core, p);
		bp_print_object_end(p);
	}
	bp_print_object_end(p);
	bp_print_free(p);
	/* The printer may or may not have ended the line. */
	fputc('\n', f);
	fclose(f);
	c->out_at = 0;
	return flush(c);
}

static void print_state(struct vmm_core *core, struct bp_print *p)
{
	bp_print_str(p, "state", "%s\n", core->paused ? "paused" : "running");
}

static void print_end(struct vmm_core *core, struct bp_print *p)
{
	bp_print_str(p, "ended", "%s\n", vmm_report_end(core));
}

static void print_memtype(struct vmm_core *core, struct bp_print *p)
{
	vmm_mt_report(core->vmm.mt, p);
}

static void set_paused(struct vmm_core *core, bool paused)
{
	if (core->paused == paused)
		return;
	core->paused = paused;
	if (!paused) {
		vmm_release(core);
		return;
	}
	vmm_hold(core);
	/* So that the guest's watchdog does not take the pause for a lockup; not all kernels can. */
	for (unsigned int i = 0; i < core->vmm.nr_vcpus; i++)
		ioctl(vmm_vcpu_fd(core->vmm.vcpu[i]), KVM_KVMCLOCK_CTRL, 0);
}

static void stop(struct client *c, const struct vmm_api_request *req)
{
	struct vmm_core *core = c->api->core;

	/* The answer comes from vmm_api_end(). */
	c->waits = true;
	c->text = req->text;
	vmm_timer_arm(c->timer, 0);
	set_paused(core, false);
	if (req->force) {
		core->end_by_ctl = true;
		vmm_end(&core->vmm, VMM_END_STOPPED);
	} else {
		vmm_pm_power_button(core->vmm.pm);
	}
}

static bool serve(struct client *c, const char *line, size_t len)
{
	struct vmm_core *core = c->api->core;
	struct vmm_api_request req;
	struct bp_error err = { 0 };
	bool sent;

	if (vmm_api_parse(line, len, &req, &err)) {
		bp_error_set(&err, -EINVAL, NULL, "the request could not be read");
		return reply(c, &req, NULL, &err);
	}
	switch (req.command) {
	case VMM_API_STATUS:
		return reply(c, &req, vmm_report_status, NULL);
	case VMM_API_STATS:
		return reply(c, &req, vmm_report_stats, NULL);
	case VMM_API_PAUSE:
	case VMM_API_RESUME:
		set_paused(core, req.command == VMM_API_PAUSE);
		return reply(c, &req, print_state, NULL);
	case VMM_API_MEMTYPE:
		/* Page tables of the guest are walked. */
		if (vmm_hold(core))
			bp_error_set(&err, -ECANCELED, NULL, "the machine ends");
		sent = reply(c, &req, print_memtype, err.what[0] ? &err : NULL);
		vmm_release(core);
		return sent;
	case VMM_API_STOP:
		stop(c, &req);
		break;
	}
	return true;
}

/* The complete lines that are there; the next one only when the answer has left. */
static void serve_lines(struct client *c)
{
	char *end;

	while (!c->out && !c->waits && (end = memchr(c->in, '\n', c->in_len))) {
		char line[VMM_API_LINE_MAX];
		size_t len = (size_t)(end - c->in);

		memcpy(line, c->in, len);
		c->in_len -= len + 1;
		memmove(c->in, end + 1, c->in_len);
		if (!serve(c, line, len))
			return;
	}
	if (c->in_len == sizeof(c->in))
		drop(c);
}

static void readable(void *priv, int fd)
{
	struct client *c = priv;
	ssize_t n = recv(fd, c->in + c->in_len, sizeof(c->in) - c->in_len, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	/* Who waits for the end has nothing more to say. */
	if (c->waits)
		return;
	c->in_len += (size_t)n;
	serve_lines(c);
}

static void tick(void *priv)
{
	struct client *c = priv;

	if (!c->out)
		drop(c);
	else if (flush(c))
		serve_lines(c);
}

static void turn_away(int client, const char *why)
{
	send(client, why, strlen(why), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(client);
}

static int take_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* A client that cannot be accepted would stay at the door, and the loop awake because of it. */
static void accept_with_spare(struct vmm_api *api)
{
	int client;

	close(api->spare);
	client = accept4(api->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (client >= 0)
		turn_away(client, "{\"ok\":false,\"error\":\"too many open files\"}\n");
	api->spare = take_spare();
}

static void accept_client(void *priv, int fd)
{
	struct vmm_api *api = priv;
	struct client *c;
	unsigned int i;
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (client < 0) {
		if ((errno == EMFILE || errno == ENFILE) && api->spare >= 0)
			accept_with_spare(api);
		return;
	}
	for (i = 0; i < CLIENTS_MAX && api->client[i]; i++)
		;
	c = i < CLIENTS_MAX ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		turn_away(client, "{\"ok\":false,\"error\":\"too many clients at once\"}\n");
		return;
	}
	c->api = api;
	c->fd = client;
	api->client[i] = c;
	if (vmm_timer_new(api->core->vmm.loop, tick, c, &c->timer) ||
	    vmm_loop_watch(api->core->vmm.loop, client, readable, c)) {
		drop(c);
		return;
	}
	vmm_timer_arm(c->timer, SILENT_NS);
}

/* A socket that nobody answers is left over from a process that was killed. */
static int clear_path(const struct sockaddr_un *addr, struct bp_error *err)
{
	struct stat st;
	int fd, ret;

	if (lstat(addr->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return bp_error_set(err, -EEXIST, "choose another path for --api",
				    "%s exists and is not a socket", addr->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	ret = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) ? -errno : 0;
	close(fd);
	if (ret != -ECONNREFUSED)
		return bp_error_set(err, -EADDRINUSE, "choose another path for --api",
				    "another machine serves the control socket %s", addr->sun_path);
	return unlink(addr->sun_path) ? -errno : 0;
}

static int listen_at(struct vmm_api *api, const struct sockaddr_un *addr)
{
	struct stat st;
	mode_t old;
	int ret;

	api->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (api->fd < 0)
		return -errno;
	/* The mode must be right from the first moment on. */
	old = umask(0177);
	ret = bind(api->fd, (const struct sockaddr *)addr, sizeof(*addr)) ? -errno : 0;
	umask(old);
	if (ret)
		return ret;
	memcpy(api->path, addr->sun_path, sizeof(api->path));
	if (!stat(api->path, &st))
		api->inode = st.st_ino;
	return listen(api->fd, CLIENTS_MAX) ? -errno : 0;
}

int vmm_api_new(struct vmm_core *core, const char *path, struct vmm_api **out, struct bp_error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct vmm_api *api;
	int ret;

	if (!*path || strlen(path) >= sizeof(addr.sun_path))
		return bp_error_set(
			err, -ENAMETOOLONG, "choose a shorter path for --api",
			"the control socket's path has %zu characters, and 1 to %zu are possible",
			strlen(path), sizeof(addr.sun_path) - 1);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	api = calloc(1, sizeof(*api));
	if (!api)
		return -ENOMEM;
	api->core = core;
	api->fd = -1;
	api->spare = take_spare();
	ret = clear_path(&addr, err);
	if (!ret)
		ret = listen_at(api, &addr);
	if (!ret)
		ret = vmm_loop_watch(core->vmm.loop, api->fd, accept_client, api);
	if (ret) {
		bp_error_set(err, ret, "choose another path for --api",
			     "the control socket %s cannot be made: %s", path, strerror(-ret));
		vmm_api_free(api);
		return ret;
	}
	*out = api;
	return 0;
}

/* The loop does not run any more: wait here for a socket that is full, but not for long. */
static void flush_now(struct client *c)
{
	while (c->out_at < c->out_len) {
		struct pollfd p = { .fd = c->fd, .events = POLLOUT };
		ssize_t n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0)
			c->out_at += (size_t)n;
		else if (n == 0 || errno != EAGAIN || poll(&p, 1, END_WAIT_MS) <= 0)
			return;
	}
}

void vmm_api_end(struct vmm_api *api)
{
	struct vmm_api_request req = { .command = VMM_API_STOP };
	struct bp_error err = { 0 };

	if (!api)
		return;
	if (api->core->end == VMM_END_CRASHED)
		bp_error_set(&err, -EIO, NULL, "%s",
			     api->core->crash[0] ? api->core->crash : "the machine crashed");
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = api->client[i];

		req.text = c && c->text;
		if (c && c->waits && reply(c, &req, print_end, err.code ? &err : NULL) && c->out)
			flush_now(c);
	}
}

void vmm_api_free(struct vmm_api *api)
{
	struct stat st;

	if (!api)
		return;
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		if (api->client[i])
			drop(api->client[i]);
	if (api->fd >= 0) {
		vmm_loop_unwatch(api->core->vmm.loop, api->fd);
		close(api->fd);
	}
	if (api->spare >= 0)
		close(api->spare);
	/* Only our own: somebody may have put another one there. */
	if (api->path[0] && !stat(api->path, &st) && st.st_ino == api->inode)
		unlink(api->path);
	free(api);
}
