// SPDX-License-Identifier: GPL-2.0-only
/* The program itself, run over a tree that plays a host. */
#include <fcntl.h>
#include <json-c/json.h>
#include <libgen.h>
#include <spawn.h>
#include <sys/wait.h>

#include "faketree.h"
#include "pcidump.h"
#include "suite.h"

extern char **environ;

static struct faketree t;
static char out[65536], errs[8192];

#define DEV "sys/devices/pci0000:00/"
#define PF  "0000:00:03.0"
#define VF0 "0000:00:13.0"
#define VF1 "0000:00:13.2"
#define CX  "0000:00:14.0"

static void dump(const char *fixture, const char *bdf)
{
	uint8_t cfg[PCIDUMP_SIZE];
	size_t n = pcidump_read(fixture, cfg);

	ft_bytes(&t, cfg, n, DEV "%s/config", bdf);
}

#define NONE "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"

static void host(void)
{
	ft_new(&t);
	ft_system(&t);
	ft_add(&t, &(struct ft_pci){ PF, 0x8086, 0x10c9, 0x020000, "igb", 1, 0, 7 });
	ft_add(&t, &(struct ft_pci){ VF0, 0x8086, 0x10ca, 0x020000, "igbvf", 8, 0, 0 });
	ft_add(&t, &(struct ft_pci){ VF1, 0x8086, 0x10ca, 0x020000, NULL, 9, 0, 0 });
	ft_add(&t, &(struct ft_pci){ CX, 0x15b3, 0x1004, 0x028000, "vfio-pci", 10, 0, 0 });
	ft_add(&t, &(struct ft_pci){ "0000:00:1f.2", 0x8086, 0x2922, 0x010601, "ahci", 7, 0, 0 });
	ft_vf(&t, PF, 0, VF0);
	ft_vf(&t, PF, 1, VF1);
	ft_file(&t, "2\n", DEV PF "/sriov_numvfs");
	dump("igb-vf", VF0);
	dump("connectx3-vf", CX);
	ft_file(&t, "0x00000000af000000 0x00000000af003fff 0x000000000014220c\n" NONE NONE
		    "0x00000000af020000 0x00000000af023fff 0x000000000014220c\n" NONE NONE, DEV VF0 "/resource");
	ft_file(&t, NONE NONE "0x0000003000000000 0x00000030007fffff 0x000000000014220c\n" NONE NONE NONE,
		DEV CX "/resource");
	ft_file(&t, "flr bus\n", DEV VF0 "/reset_method");
	ft_file(&t, "0x00000000fee00000 0x00000000feefffff msi\n"
		    "0x000000fd00000000 0x000000ffffffffff reserved\n",
		"sys/kernel/iommu_groups/8/reserved_regions");
	ft_dir(&t, "sys/devices/virtual/iommu/ivhd0/amd-iommu");
	ft_link(&t, "../../virtual/iommu/ivhd0", DEV VF0 "/iommu");
}

static void slurp(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(buf, 1, size - 1, f);
	buf[n] = 0;
	fclose(f);
}

/* Run vfctl [-j] --root TREE WORDS...; fills out and errs. Return: exit status. */
static int run(bool json, const char *words)
{
	char program[PATH_MAX], line[1024], opath[128], epath[128];
	char option_j[] = "-j", option_root[] = "--root";
	char *argv[32] = { program }, *word, *rest;
	posix_spawn_file_actions_t files;
	int n = 1, status;
	pid_t pid;
	ssize_t len;

	len = readlink("/proc/self/exe", line, sizeof(line) - 1);
	ck_assert_int_gt(len, 0);
	line[len] = 0;
	snprintf(program, sizeof(program), "%s/../bin/vfctl", dirname(line));
	ck_assert_msg(!access(program, X_OK), "%s is missing: run make first", program);
	snprintf(opath, sizeof(opath), "%s.out", t.root);
	snprintf(epath, sizeof(epath), "%s.err", t.root);
	if (json)
		argv[n++] = option_j;
	argv[n++] = option_root;
	argv[n++] = t.root;
	snprintf(line, sizeof(line), "%s", words);
	for (word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[n++] = word;
	argv[n] = NULL;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, opath, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&files, 2, epath, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_eq(posix_spawn(&pid, program, &files, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&files);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	slurp(opath, out, sizeof(out));
	slurp(epath, errs, sizeof(errs));
	unlink(opath);
	unlink(epath);
	ck_assert_msg(WIFEXITED(status), "%s ended by a signal: %s", words, errs);
	return WEXITSTATUS(status);
}

/* Run it, and take one value out of its JSON: a path such as "bars/0/size". */
static const char *value(struct json_object *doc, const char *path)
{
	char copy[256], *part, *rest;

	snprintf(copy, sizeof(copy), "%s", path);
	for (part = strtok_r(copy, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
		if (json_object_is_type(doc, json_type_array))
			doc = json_object_array_get_idx(doc, (size_t)atoi(part));
		else
			ck_assert_msg(json_object_object_get_ex(doc, part, &doc), "no key %s in %s", part, out);
	}
	return doc ? json_object_get_string(doc) : "null";
}

static struct json_object *json(const char *words)
{
	struct json_object *doc;
	int status = run(true, words);

	ck_assert_msg(!status, "%s: %d: %s", words, status, errs);
	doc = json_tokener_parse(out);
	ck_assert_msg(doc || !strcmp(out, "null\n"), "no JSON: %s", out);
	return doc;
}

START_TEST(list)
{
	struct json_object *doc;

	host();
	doc = json("list");
	ck_assert(json_object_is_type(doc, json_type_array));
	ck_assert_uint_eq(json_object_array_length(doc), 4);
	ck_assert_str_eq(value(doc, "0/bdf"), PF);
	ck_assert_str_eq(value(doc, "0/role"), "pf");
	ck_assert_str_eq(value(doc, "0/total_vfs"), "7");
	ck_assert_str_eq(value(doc, "0/num_vfs"), "2");
	ck_assert_str_eq(value(doc, "0/pf"), "null");
	ck_assert_str_eq(value(doc, "0/vf_index"), "null");
	ck_assert_str_eq(value(doc, "0/numa_node"), "null");
	ck_assert_str_eq(value(doc, "0/name"), "Intel Corporation 82576 Gigabit Network Connection");
	ck_assert_str_eq(value(doc, "1/pf"), PF);
	ck_assert_str_eq(value(doc, "2/vf_index"), "1");
	ck_assert_str_eq(value(doc, "2/driver"), "null");
	ck_assert_str_eq(value(doc, "2/vendor_id"), "0x8086");
	ck_assert_str_eq(value(doc, "2/device_id"), "0x10ca");
	ck_assert_str_eq(value(doc, "2/iommu_group"), "9");
	ck_assert_str_eq(value(doc, "2/total_vfs"), "null");
	/* A function that has nothing to do with SR-IOV, but is bound to vfio-pci. */
	ck_assert_str_eq(value(doc, "3/role"), "none");
	json_object_put(doc);
	doc = json("list --all");
	ck_assert_uint_eq(json_object_array_length(doc), 5);
	json_object_put(doc);
	doc = json("list " PF);
	ck_assert_uint_eq(json_object_array_length(doc), 2);
	json_object_put(doc);
	ck_assert_int_eq(run(false, "list"), 0);
	ck_assert_ptr_nonnull(strstr(out, "FUNCTION     ROLE PF           VF  ID        DRIVER"));
	ck_assert_ptr_nonnull(strstr(out, VF1 " vf   " PF " 1   8086:10ca -            9     -    -"));
	ft_free(&t);
}
END_TEST

START_TEST(list_of_nothing)
{
	ft_new(&t);
	ft_system(&t);
	ck_assert_int_eq(run(true, "list"), 0);
	ck_assert_str_eq(out, "[]\n");
	ck_assert_str_eq(errs, "");
	ck_assert_int_eq(run(false, "list"), 0);
	ck_assert_str_eq(out, "");
	ck_assert_ptr_nonnull(strstr(errs, "--all"));
	ft_free(&t);
	ck_assert_int_eq(run(true, "list"), 1);
	ck_assert_ptr_nonnull(strstr(errs, "cannot list PCI functions"));
}
END_TEST

START_TEST(show)
{
	static const struct {
		const char *path;
		const char *want;
	} facts[] = {
		{ "bdf", VF0 }, { "role", "vf" }, { "pf", PF }, { "driver", "igbvf" },
		{ "group/viable", "false" }, { "group/members/0/state", "host" }, { "group/type", "DMA" },
		{ "reserved_regions/1/start", "0xfd00000000" }, { "reserved_regions/1/last", "0xffffffffff" },
		{ "iommu/kind", "amd" }, { "iommu/coherent", "true" },
		{ "bars/1/index", "3" }, { "bars/1/size", "16384" }, { "bars/1/64bit", "true" },
		{ "bars/1/prefetchable", "true" }, { "bars/1/mmap_areas/0/offset", "0x1000" },
		{ "bars/1/mmap_areas/0/size", "12288" }, { "msix/vectors", "3" }, { "msix/table_bar", "3" },
		{ "msix/table_offset", "0x0" }, { "msix/pba_offset", "0x2000" }, { "msi", "null" },
		{ "reset_methods/0", "flr" }, { "reset_methods/1", "bus" }, { "flr", "true" },
		{ "capabilities/0/name", "PCI Express" }, { "extended_capabilities/1/name", "ARI" },
		{ "vf", "null" }, { "connectx", "null" }, { "holders", "[ ]" },
	};
	struct json_object *doc;

	host();
	doc = json("show 00:13.0");
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		ck_assert_msg(!strcmp(value(doc, facts[i].path), facts[i].want), "%s is %s", facts[i].path,
			      value(doc, facts[i].path));
	json_object_put(doc);
	ck_assert_int_eq(run(false, "show " VF0), 0);
	ck_assert_ptr_nonnull(strstr(out, "vf of " PF ", index 0"));
	ck_assert_ptr_nonnull(strstr(out, "16K at 0xaf020000 memory, 64-bit, prefetchable; mmap 0x1000+0x3000"));
	ft_free(&t);
}
END_TEST

START_TEST(show_connectx)
{
	struct json_object *doc;

	host();
	doc = json("show " CX);
	ck_assert_str_eq(value(doc, "connectx/uar/bar"), "2");
	ck_assert_str_eq(value(doc, "connectx/uar/offset"), "0x0");
	ck_assert_str_eq(value(doc, "connectx/uar/size"), "4194304");
	ck_assert_str_eq(value(doc, "connectx/blueflame/offset"), "0x400000");
	/* The MSI-X table is among the UAR pages. */
	ck_assert_str_eq(value(doc, "bars/0/mmap_areas/0/size"), "8192");
	ck_assert_str_eq(value(doc, "bars/0/mmap_areas/1/offset"), "0x3000");
	json_object_put(doc);
	ft_file(&t, "0x1018\n", DEV CX "/device");
	doc = json("show " CX);
	ck_assert_str_eq(value(doc, "connectx/blueflame"), "null");
	ck_assert_ptr_nonnull(strstr(value(doc, "connectx/why"), "ConnectX-4"));
	json_object_put(doc);
	ft_free(&t);
}
END_TEST

/* What a user without privilege sees. */
START_TEST(show_little)
{
	struct json_object *doc;
	uint8_t cfg[64] = { 0 };

	host();
	ft_bytes(&t, cfg, sizeof(cfg), DEV VF0 "/config");
	ft_unlink(&t, DEV VF0 "/resource");
	doc = json("show " VF0);
	ck_assert_str_eq(value(doc, "msix"), "null");
	ck_assert_str_eq(value(doc, "bars"), "null");
	ck_assert_str_eq(value(doc, "flr"), "null");
	json_object_put(doc);
	ck_assert_int_eq(run(false, "show " VF0), 0);
	ck_assert_ptr_nonnull(strstr(out, "needs root"));
	ft_free(&t);
}
END_TEST

START_TEST(changes)
{
	struct json_object *doc;

	host();
	doc = json("create " PF " 2");
	ck_assert_str_eq(value(doc, "changed"), "false");
	ck_assert_str_eq(value(doc, "vfs/1/bdf"), VF1);
	json_object_put(doc);
	/* Putting right what a killed run left is a change, but makes no VFs. */
	ft_file(&t, "1\n", "run/bluepass/autoprobe/" PF);
	ck_assert_int_eq(run(false, "create " PF " 2"), 0);
	ck_assert_ptr_nonnull(strstr(out, PF ": has 2 VFs already\n"));
	ft_file(&t, "1\n", "run/bluepass/autoprobe/" PF);
	doc = json("create " PF " 2");
	ck_assert_str_eq(value(doc, "changed"), "true");
	json_object_put(doc);
	ck_assert_int_eq(run(true, "create " PF " 3"), 1);
	ck_assert_str_eq(out, "");
	ck_assert_ptr_nonnull(strstr(errs, "vfctl: " PF " has 2 VFs already, not 3; "));
	ft_driver(&t, "vfio-pci");
	doc = json("bind " VF0);
	ck_assert_str_eq(value(doc, "0/changed"), "true");
	ck_assert_str_eq(value(doc, "0/from"), "igbvf");
	ck_assert_str_eq(value(doc, "0/to"), "vfio-pci");
	json_object_put(doc);
	ck_assert_str_eq(ft_text(&t, DEV VF0 "/driver_override"), "vfio-pci");
	doc = json("bind " VF0);
	ck_assert_str_eq(value(doc, "0/changed"), "false");
	json_object_put(doc);
	doc = json("restore --all");
	ck_assert_str_eq(value(doc, "0/bdf"), VF0);
	ck_assert_str_eq(value(doc, "0/changed"), "true");
	json_object_put(doc);
	ck_assert_int_eq(run(true, "restore --all"), 0);
	ck_assert_str_eq(out, "[]\n");
	doc = json("destroy " PF);
	ck_assert_str_eq(value(doc, "changed"), "true");
	ck_assert_str_eq(value(doc, "removed"), "2");
	json_object_put(doc);
	ck_assert_str_eq(ft_text(&t, DEV PF "/sriov_numvfs"), "0");
	doc = json("create --no-probe " PF " 4");
	ck_assert_str_eq(value(doc, "changed"), "true");
	ck_assert_str_eq(value(doc, "num_vfs"), "4");
	json_object_put(doc);
	ck_assert_str_eq(ft_text(&t, DEV PF "/sriov_drivers_autoprobe"), "1");
	ft_free(&t);
}
END_TEST

START_TEST(mistakes)
{
	static const struct {
		const char *words;
		int status;
		const char *said;
	} cases[] = {
		{ "show", 2, "show needs one function" },
		{ "show a b", 2, "show needs one function" },
		{ "show banana", 2, "'banana' is neither the name of a PCI function nor a network interface" },
		{ "show 0000:77:00.0", 1, "there is no PCI function 0000:77:00.0" },
		{ "list --some", 2, "unexpected argument '--some'" },
		{ "create " PF, 2, "create needs a PF and the number of VFs" },
		{ "create " PF " 0", 2, "'0' is not a number of VFs" },
		{ "create " PF " -1", 2, "'-1' is not a number of VFs" },
		{ "create --probe " PF " 1", 2, "unknown option '--probe'" },
		{ "create " PF " 8", 1, "its driver allows 1 to 7" },
		{ "create " VF0 " 1", 1, VF0 " is itself a VF; name its PF, " PF },
		{ "destroy", 2, "destroy needs a PF" },
		{ "destroy 00:1f.2", 1, "0000:00:1f.2 is not a PF" },
		{ "bind", 2, "bind needs at least one function" },
		{ "bind " PF, 1, PF " is a PF with 2 VFs" },
		{ "restore", 2, "restore needs a function or --all" },
		{ "restore 0000:77:00.0", 1, "there is no PCI function 0000:77:00.0" },
		{ "set " PF " 0 mac", 2, "set needs a PF, a VF, an attribute and a value" },
		{ "set " PF " 0 mac x", 2, "'x' is no mac" },
		{ "set " PF " 0 colour red", 2, "there is no attribute 'colour'" },
		{ "set " PF " 2 trust on", 1, "there is no VF 2: the PF has 2 VFs" },
		{ "set " PF " 00:14.0 trust on", 1, "is not a VF of that PF" },
		{ "set " VF0 " 0 trust on", 1, "is not a PF" },
		{ "set " PF " " VF1 " trust on", 1, "netlink reaches only the running kernel; leave out --root" },
		{ "frobnicate", 2, "there is no command 'frobnicate'" },
	};

	host();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int status = run(true, cases[i].words);

		ck_assert_msg(status == cases[i].status, "%s: status %d", cases[i].words, status);
		ck_assert_msg(strstr(errs, cases[i].said), "%s: says %s", cases[i].words, errs);
		/* One sentence, and nothing that a parser of JSON would choke on. */
		ck_assert_msg(strchr(errs, '\n') == errs + strlen(errs) - 1, "%s: %s", cases[i].words, errs);
		ck_assert_msg(!*out || !strcmp(out, "[]\n"), "%s: prints %s", cases[i].words, out);
	}
	ft_free(&t);
}
END_TEST

START_TEST(help)
{
	static const char *const commands[] = { "list", "show", "create", "destroy", "set", "bind", "restore" };
	char words[64];

	ft_new(&t);
	for (size_t i = 0; i < 7; i++) {
		snprintf(words, sizeof(words), "%s --help", commands[i]);
		ck_assert_int_eq(run(false, words), 0);
		ck_assert_ptr_nonnull(strstr(out, "Usage: vfctl "));
		snprintf(words, sizeof(words), "help %s", commands[i]);
		ck_assert_int_eq(run(false, words), 0);
	}
	ft_free(&t);
}
END_TEST

SUITE("vfctl", list, list_of_nothing, show, show_connectx, show_little, changes, mistakes, help)
