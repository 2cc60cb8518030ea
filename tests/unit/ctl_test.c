// SPDX-License-Identifier: GPL-2.0-only
/* What users and clients write: options of run, requests of the control socket. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <unistd.h>

#include <bp/cli.h>
#include <bp/log.h>
#include "suite.h"
#include "vmm/api.h"
#include "vmm/commands.h"
#include "vmm/machine.h"
#include "vmm/tally.h"
#include "vmm/vcpu.h"

static struct vmm_config c;

/* Usage errors are told on standard error, which is caught here. */
static char said[512];

static int parse(const char *const *words)
{
	struct bp_cli cli = { .prog = "bluepass" };
	char *argv[64];
	int argc = 0, pipe_fd[2], saved = dup(2), ret;
	ssize_t n;

	for (; words[argc]; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc];
	ck_assert_int_eq(pipe2(pipe_fd, O_NONBLOCK), 0);
	dup2(pipe_fd[1], 2);
	bp_log_init("bluepass", 0);
	ret = vmm_config_parse(&cli, argc, argv, &c);
	dup2(saved, 2);
	n = read(pipe_fd[0], said, sizeof(said) - 1);
	said[n > 0 ? n : 0] = '\0';
	close(saved);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	return ret;
}

#define PARSE(...) parse((const char *const[]){ "run", __VA_ARGS__, NULL })

START_TEST(defaults)
{
	ck_assert_int_eq(PARSE("--kernel", "vmlinuz"), BP_EXIT_OK);
	ck_assert_str_eq(c.kernel, "vmlinuz");
	ck_assert_ptr_null(c.initrd);
	ck_assert_str_eq(c.append, "");
	ck_assert_uint_eq(c.cpus, 1);
	ck_assert_uint_eq(c.mem, 512 << 20);
	ck_assert_uint_eq(c.hugepage, 0);
	ck_assert_uint_eq(c.nr_vfs, 0);
	ck_assert_int_eq(c.backend, VF_BACKEND_AUTO);
	ck_assert_int_eq(c.console, VMM_CONSOLE_STDIO);
	ck_assert_ptr_null(c.api);
	ck_assert(!c.force_intx);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(every_option)
{
	ck_assert_int_eq(PARSE("--kernel=k", "--initrd", "i", "--append", "a=b c", "--cpus", "64",
			       "--mem=3G", "--hugepages", "1G", "--vf", "0000:01:10.0",
			       "--vf=01:10.2", "--backend", "iommufd", "--api", "/run/s",
			       "--console", "file:/tmp/x", "--memtype", "pat,force", "--intx"),
			 BP_EXIT_OK);
	ck_assert_str_eq(c.initrd, "i");
	ck_assert_str_eq(c.append, "a=b c");
	ck_assert_uint_eq(c.cpus, 64);
	ck_assert_uint_eq(c.mem, 3ull << 30);
	ck_assert_uint_eq(c.hugepage, 1 << 30);
	ck_assert_uint_eq(c.nr_vfs, 2);
	ck_assert_str_eq(c.vfs[1], "01:10.2");
	ck_assert_int_eq(c.backend, VF_BACKEND_IOMMUFD);
	ck_assert_str_eq(c.api, "/run/s");
	ck_assert_int_eq(c.console, VMM_CONSOLE_FILE);
	ck_assert_str_eq(c.console_path, "/tmp/x");
	ck_assert_int_eq(c.memtype, VMM_MT_PAT_FORCE);
	ck_assert(c.force_intx);
}
END_TEST

static void wrong(const char *words)
{
	ck_assert_msg(strstr(said, words) != NULL, "'%s' is not in '%s'", words, said);
	/* One sentence on one line. */
	ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}

#define WRONG(words, ...)                                            \
	do {                                                         \
		ck_assert_int_eq(PARSE(__VA_ARGS__), BP_EXIT_USAGE); \
		wrong(words);                                        \
	} while (0)

START_TEST(usage_errors)
{
	WRONG("--kernel", "--mem", "1G");
	WRONG("'--disk'", "--kernel", "k", "--disk", "d");
	WRONG("--memtype takes auto, module, pat, pat,force or off, not 'best'", "--kernel", "k",
	      "--memtype", "best");
	WRONG("'stray'", "--kernel", "k", "stray");
	WRONG("'--kernelx'", "--kernelx", "k");
	WRONG("--cpus", "--kernel", "k", "--cpus", "0");
	WRONG("--cpus", "--kernel", "k", "--cpus", "65");
	WRONG("'2x'", "--kernel", "k", "--cpus", "2x");
	WRONG("'lots'", "--kernel", "k", "--mem", "lots");
	WRONG("'4M'", "--kernel", "k", "--hugepages", "4M");
	WRONG("not a PCI address", "--kernel", "k", "--vf", "banana");
	WRONG("twice", "--kernel", "k", "--vf", "0000:01:10.0", "--vf", "01:10.0");
	WRONG("'best'", "--kernel", "k", "--backend", "best");
	WRONG("--console", "--kernel", "k", "--console", "file:");
	WRONG("--console", "--kernel", "k", "--console", "tty");
	WRONG("--api needs a value", "--kernel", "k", "--api");
	WRONG("--mem is given twice", "--kernel", "k", "--mem", "1G", "--mem", "2G");
}
END_TEST

static struct vmm_api_request req;
static struct bp_error err;

static int request(const char *line)
{
	bp_error_clear(&err);
	return vmm_api_parse(line, strlen(line), &req, &err);
}

START_TEST(requests)
{
	ck_assert_int_eq(request("{\"command\":\"status\"}"), 0);
	ck_assert_int_eq(req.command, VMM_API_STATUS);
	ck_assert(!req.text);
	ck_assert(!req.force);
	ck_assert_int_eq(request(" { \"format\" : \"text\", \"command\" : \"stats\" } "), 0);
	ck_assert_int_eq(req.command, VMM_API_STATS);
	ck_assert(req.text);
	ck_assert_int_eq(request("{\"command\":\"stop\",\"force\":true,\"format\":\"json\"}"), 0);
	ck_assert_int_eq(req.command, VMM_API_STOP);
	ck_assert(req.force);
	ck_assert_int_eq(request("{\"command\":\"pause\"}"), 0);
	ck_assert_int_eq(req.command, VMM_API_PAUSE);
	ck_assert_int_eq(request("{\"command\":\"resume\"}"), 0);
	ck_assert_int_eq(req.command, VMM_API_RESUME);
}
END_TEST

START_TEST(bad_requests)
{
	static const char *const bad[] = {
		"",
		"{",
		"}",
		"null",
		"[]",
		"\"status\"",
		"{}",
		"status",
		"{\"command\":1}",
		"{\"command\":null}",
		"{\"command\":\"dance\"}",
		"{\"command\":\"status\",\"format\":\"xml\"}",
		"{\"command\":\"status\",\"format\":null}",
		"{\"command\":\"stop\",\"force\":\"yes\"}",
		"{\"command\":\"status\"} {\"command\":\"stop\"}",
		"{'command':'status'}",
		"{\"command\":\"status\",\"x\":[[[[[[[[[[]]]]]]]]]]}",
		"{\"command\":\"\xff\xfe\"}",
	};
	char big[VMM_API_LINE_MAX + 1];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(request(bad[i]) == -EINVAL, "'%s' was taken", bad[i]);
		ck_assert_uint_ne(err.what[0], 0);
	}
	memset(big, ' ', sizeof(big));
	memcpy(big, "{\"command\":\"status\"}", 20);
	ck_assert_int_eq(vmm_api_parse(big, VMM_API_LINE_MAX, &req, &err), 0);
	ck_assert_int_eq(vmm_api_parse(big, VMM_API_LINE_MAX + 1, &req, &err), -EINVAL);
	/* A NUL in the middle. */
	ck_assert_int_eq(vmm_api_parse("{\"command\":\0\"status\"}", 21, &req, &err), -EINVAL);
}
END_TEST

/* Any bytes: refused or taken, but read within bounds. */
START_TEST(random_requests)
{
	static const char alphabet[] = "{}[]\":,\\ truefalsnomcdip0.e-\n\x80\xc3";
	uint32_t seed = 99;

	for (unsigned int round = 0; round < 50000; round++) {
		char *line;
		size_t len = 1 + round % 60;

		line = malloc(len);
		for (size_t i = 0; i < len; i++) {
			seed = seed * 1664525 + 1013904223;
			line[i] = alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
		}
		ck_assert_int_le(vmm_api_parse(line, len, &req, &err), 0);
		free(line);
	}
}
END_TEST

START_TEST(exit_names)
{
	unsigned int named = 0;

	ck_assert_str_eq(vmm_exit_name(KVM_EXIT_IO), "io");
	ck_assert_str_eq(vmm_exit_name(KVM_EXIT_MMIO), "mmio");
	ck_assert_str_eq(vmm_exit_name(KVM_EXIT_HLT), "hlt");
	ck_assert_str_eq(vmm_exit_name(KVM_EXIT_SHUTDOWN), "shutdown");
	ck_assert_str_eq(vmm_exit_name(KVM_EXIT_INTR), "intr");
	ck_assert_ptr_null(vmm_exit_name(VMM_EXIT_REASONS));
	ck_assert_ptr_null(vmm_exit_name(UINT32_MAX));
	/* No two reasons may share a name: they would share a JSON key. */
	for (unsigned int a = 0; a < VMM_EXIT_REASONS; a++) {
		named += vmm_exit_name(a) != NULL;
		for (unsigned int b = 0; b < a; b++)
			ck_assert(!vmm_exit_name(a) || !vmm_exit_name(b) ||
				  strcmp(vmm_exit_name(a), vmm_exit_name(b)));
	}
	ck_assert_uint_ge(named, 20);
}
END_TEST

START_TEST(tally_by_name_and_kind)
{
	static struct vmm_tally t;
	char name[80];
	uint64_t sum = 0;

	memset(&t, 0, sizeof(t));
	vmm_tally_add(&t, "serial", false);
	vmm_tally_add(&t, "serial", false);
	vmm_tally_add(&t, "serial", true);
	vmm_tally_add(&t, NULL, true);
	ck_assert_uint_eq(t.nr, 3);
	ck_assert_uint_eq(t.line[0].count, 2);
	ck_assert_str_eq(t.line[2].name, "unclaimed");
	/* A name may go away, may be long, and there may be too many. */
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%03u of a name that is longer than its place", i);
		vmm_tally_add(&t, name, true);
		vmm_tally_add(&t, name, true);
	}
	ck_assert_uint_eq(t.nr, VMM_TALLY_NAMES);
	ck_assert_uint_eq(t.line[3].count, 2);
	ck_assert_str_eq(t.line[VMM_TALLY_NAMES - 1].name, "others");
	for (unsigned int i = 0; i < t.nr; i++)
		sum += t.line[i].count;
	ck_assert_uint_eq(sum, 4 + 400);
}
END_TEST

SUITE("ctl", defaults, every_option, usage_errors, requests, bad_requests, random_requests,
      exit_names, tally_by_name_and_kind)
