// SPDX-License-Identifier: GPL-2.0-only
/* `memtype guest` and what it may meet at the other end of the socket. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "suite.h"
#include "mt_run.h"

static struct sockaddr_un addr = { .sun_family = AF_UNIX };
static char asked[256];
static int fd;

/* Answers one client; NULL: with silence. */
static void *machine(void *answer)
{
	int client = accept(fd, NULL, NULL);
	ssize_t n = read(client, asked, sizeof(asked) - 1);

	asked[n > 0 ? n : 0] = '\0';
	if (answer)
		send(client, answer, strlen(answer), MSG_NOSIGNAL);
	else
		n = read(client, &(char){ 0 }, 1);
	close(client);
	return NULL;
}

/* Run a command with $S in the place of the socket, and somebody who answers there. */
static void meets(const char *answer, const char *command, int status, const char *want)
{
	char line[512];
	pthread_t thread;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "/tmp/mt-guest-test-%d", getpid());
	unlink(addr.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, machine, (void *)(uintptr_t)answer), 0);
	setenv("S", addr.sun_path, 1);
	snprintf(line, sizeof(line), "%s", command);
	run_mentions(line, status, want);
	pthread_join(thread, NULL);
	close(fd);
	unlink(addr.sun_path);
}

START_TEST(what_the_machine_says)
{
	meets("{\"ok\":true,\"text\":\"asked for: auto\\nhost: amd\\n\"}\n", "memtype guest $S", 0,
	      "asked for: auto\nhost: amd\n");
	ck_assert_str_eq(asked, "{\"command\":\"memtype\",\"format\":\"text\",\"force\":false}\n");
	meets("{\"ok\":true,\"result\":{\"wish\":\"auto\",\"bars\":[]}}\n",
	      "memtype -j guest $S | jq -c '[.wish, .bars]'", 0, "[\"auto\",[]]\n");
	ck_assert_str_eq(asked, "{\"command\":\"memtype\",\"format\":\"json\",\"force\":false}\n");
	meets("{\"ok\":true,\"result\":{\"wish\":\"auto\"}}\n", "memtype -p guest $S", 0,
	      "{\n    \"wish\": \"auto\"\n}\n");
}
END_TEST

START_TEST(what_can_go_wrong)
{
	run_mentions("memtype guest /nonexistent/sock", 1,
		     "no machine answers at /nonexistent/sock: No such file or directory; name the "
		     "socket that 'bluepass run --api' was given");
	run_mentions("memtype guest /etc/passwd", 1, "no machine answers at /etc/passwd");
	meets("220 mail ESMTP\n", "memtype guest $S", 1, "is no machine of bluepass");
	meets("", "memtype guest $S", 1, "ended before there was an answer");
	meets("{\"ok\":false,\"error\":\"\\\"command\\\" is one of status, stats, pause, resume "
	      "and "
	      "stop\"}\n",
	      "memtype guest $S", 1,
	      "does not know the request 'memtype'; it was started by an older");
	meets("{\"ok\":false,\"error\":\"the machine ends\"}\n", "memtype -j guest $S", 1,
	      "memtype: the machine ends\n");
	meets(NULL, "memtype guest --timeout 1 $S", 1, "has not answered within 1 seconds");
	meets("{\"ok\":true,\"text\":\"x\"}\n", "memtype guest $S > /dev/full", 1,
	      "the answer cannot be written: No space left on device");
}
END_TEST

START_TEST(usage)
{
	run_mentions("memtype guest", 2, "name one control socket");
	run_mentions("memtype guest a b", 2, "name one control socket");
	run_mentions("memtype guest a --timeout 0", 2, "--timeout takes 1 to");
	run_mentions("memtype guest a --wait", 2, "unknown option '--wait'");
	run_mentions("memtype guest --help", 0, "memtype guest SOCKET");
}
END_TEST

SUITE("mt_cli_guest", what_the_machine_says, what_can_go_wrong, usage)
