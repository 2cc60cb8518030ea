// SPDX-License-Identifier: GPL-2.0-only
/* `memtype host` on machines that are trees of files. */
#include <stdarg.h>
#include <sys/stat.h>

#include "suite.h"
#include "mt_run.h"

static char root[64];

static void put(const char *path, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Write a file below the root, making its directories. */
static void put(const char *path, const char *fmt, ...)
{
	char full[512];
	va_list ap;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *s = strchr(full + strlen(root) + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdir(full, 0755);
		*s = '/';
	}
	f = fopen(full, "w");
	ck_assert_msg(f != NULL, "cannot write %s", full);
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fclose(f);
}

#define FIXED                                                                                     \
	"0x250 0x0606060606060606\n0x258 0x0606060606060606\n0x259 0\n0x268 0x0505050505050505\n" \
	"0x269 0x0505050505050505\n0x26a 0\n0x26b 0\n0x26c 0\n0x26d 0\n"                          \
	"0x26e 0x0505050505050505\n0x26f 0x0505050505050505\n"

/* Default WB, UC from 3 GiB to 4 GiB; %s adds or replaces: the first line of a register counts. */
static void cpu(unsigned int id, const char *more)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", id);
	put(path,
	    "%s0xfe 0x508\n0x2ff 0xc06\n0x277 0x0407050600070106\n" FIXED
	    "0x200 0xc0000000\n0x201 0xffffc0000800\n0x202 0\n0x203 0\n0x204 0\n0x205 0\n0x206 0\n"
	    "0x207 0\n0x208 0\n0x209 0\n0x20a 0\n0x20b 0\n0x20c 0\n0x20d 0\n0x20e 0\n0x20f 0\n",
	    more);
}

static void machine(const char *vendor, unsigned int cpus)
{
	char info[2048] = "";

	snprintf(root, sizeof(root), "/tmp/mt-host-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	for (unsigned int i = 0; i < cpus; i++) {
		size_t n = strlen(info);

		snprintf(info + n, sizeof(info) - n,
			 "processor\t: %u\nvendor_id\t: %s\nflags\t\t: mtrr pat\n"
			 "address sizes\t: 48 bits physical, 48 bits virtual\n\n",
			 i, vendor);
		cpu(i, "");
	}
	put("/proc/cpuinfo", "%s", info);
	put("/proc/mtrr", "reg00: base=0x0c0000000 ( 3072MB), size= 1024MB, count=1: uncachable\n");
	put("/sys/bus/pci/devices/0000:01:00.0/class", "0x020000\n");
	put("/sys/bus/pci/devices/0000:01:00.0/resource",
	    "0x00000000fe000000 0x00000000fe0fffff 0x0000000000140204\n"
	    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
	    "0x00000000f0000000 0x00000000f1ffffff 0x000000000014220c\n"
	    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
	    "0x000000000000e000 0x000000000000e01f 0x0000000000040101\n"
	    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
	    "0x00000000fe100000 0x00000000fe1fffff 0x0000000000046200\n"
	    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
	    "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
	    "0x00000000e0000000 0x00000000e7ffffff 0x000000000014220c\n");
	put("/sys/kernel/debug/x86/pat_memtype_list",
	    "PAT memtype list:\nPAT: [mem 0x00000000f0000000-0x00000000f2000000] write-combining\n"
	    "uncached-minus @ 0xfe000000-0xfe100000\n");
}

static const char *at_root(const char *options, const char *rest)
{
	static char command[512];

	snprintf(command, sizeof(command), "memtype %s --root %s host %s", options, root, rest);
	return command;
}

static void clean(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	run_status(command, 0);
}

START_TEST(a_sound_machine)
{
	machine("AuthenticAMD", 4);
	run_mentions(at_root("", ""), 0, "No problems found");
	run_says(at_root("-j", "| jq -c '.vendor, .maxphyaddr, (.cpus | length), .cpus[3].pat, "
			       "[.ranges[] | .type], .problems, .proc_mtrr[0].type'"),
		 "\"amd\"\n48\n4\n[\"WB\",\"WC\",\"UC-\",\"UC\",\"WB\",\"WP\",\"UC-\",\"WT\"]\n"
		 "[\"WB\",\"UC\",\"WP\",\"UC\",\"WP\",\"WB\",\"UC\",\"WB\"]\n[]\n\"uncachable\"\n");
	/* BARs: memory only, neither I/O nor ROM; those of virtual functions by their number. */
	run_says(at_root("-j", "| jq -c '.bars[] | [.bdf, .bar, .vf_bar, .prefetchable, .mtrr]'"),
		 "[\"0000:01:00.0\",0,false,false,\"UC\"]\n[\"0000:01:00.0\",2,false,true,\"UC\"]\n"
		 "[\"0000:01:00.0\",2,true,true,\"UC\"]\n");
	run_says(at_root("-j", "| jq -c '.pat_memtype_list[] | [.start, .end, .type]'"),
		 "[\"0x00000f0000000\",\"0x00000f1ffffff\",\"write-combining\"]\n"
		 "[\"0x00000fe000000\",\"0x00000fe0fffff\",\"uncached-minus\"]\n");
	clean();
}
END_TEST

START_TEST(one_address)
{
	machine("GenuineIntel", 1);
	run_says(at_root("-j", "0xf0001234 | jq -c '.address | .mtrr, .start, .kernel, .bdf, "
			       ".effective'"),
		 "\"UC\"\n\"0x00000c0000000\"\n\"write-combining\"\n\"0000:01:00.0\"\n"
		 "{\"UC\":\"UC\",\"UC-\":\"UC\",\"WC\":\"WC\",\"WT\":\"UC\",\"WP\":\"UC\","
		 "\"WB\":\"UC\"}\n");
	run_mentions(at_root("", "0x100000"), 0, "WB: WB");
	clean();
}
END_TEST

START_TEST(processors_that_differ)
{
	machine("AuthenticAMD", 4);
	cpu(2, "0x202 0xd0000001\n0x203 0xfffff0000800\n");
	run_mentions(at_root("", ""), 1, "PHYSBASE1 is 0 on CPU 0 and 0xd0000001 on CPU 2");
	run_says(at_root("-j", "| jq -c '[.problems[].code]'"),
		 "[\"cpus-differ\",\"cpus-differ\"]\n");
	run_status(at_root("-j", ""), 1);
	cpu(2, "0x277 0x0007040600070406\n");
	run_mentions(at_root("", ""), 1,
		     "PAT is 0x407050600070106 on CPU 0 and 0x7040600070406 on CPU 2");
	cpu(2, "0xc001001d 0x240000000\n");
	run_mentions(at_root("", ""), 1, "TOP_MEM2 is 0 on CPU 0");
	clean();
}
END_TEST

START_TEST(bars_under_cacheable_ranges)
{
	machine("GenuineIntel", 1);
	/* The hole begins too late. */
	cpu(0, "0x200 0xf8000000\n0x201 0xfffff8000800\n");
	run_mentions(
		at_root("", ""), 1,
		"bar-cacheable: 0000:01:00.0 BAR 2 (0xf0000000-0xf1ffffff) lies under a WB range");
	run_says(at_root("-j", "| jq -c '[.problems[].code]'"),
		 "[\"bar-cacheable\",\"bar-cacheable\"]\n");
	cpu(0, "0x200 0xf1000000\n0x201 0xffffff000800\n");
	run_mentions(at_root("", ""), 1, "bar-mixed: 0000:01:00.0 BAR 2");
	clean();
}
END_TEST

START_TEST(other_faults_of_firmware)
{
	machine("AuthenticAMD", 1);
	cpu(0, "0x202 0xc0000001\n0x203 0xfffff0000800\n0x200 0xc0000006\n");
	run_mentions(at_root("", ""), 1, "overlap-undefined");
	cpu(0, "0x2ff 0x406\n");
	run_mentions(at_root("", ""), 1, "mtrr-disabled");
	cpu(0, "0x277 0x0007040600070406\n");
	run_mentions(at_root("", ""), 1, "pat-without-wc");
	/* WB with reads and writes to devices: both routing bits clear, and visible. */
	cpu(0, "0xc0010010 0x7c0000\n");
	run_mentions(at_root("", ""), 1, "routing-reserved: 0-0xffff is WB");
	/* As firmware has it: memory with both bits, device ranges UC with none. */
	cpu(0, "0xc0010010 0x7c0000\n0xc001001a 0xc0000000\n0x250 0x1e1e1e1e1e1e1e1e\n"
	       "0x258 0x1e1e1e1e1e1e1e1e\n0x268 0x1515151515151515\n0x269 0x1515151515151515\n"
	       "0x26e 0x1515151515151515\n0x26f 0x1515151515151515\n");
	run_mentions(at_root("", ""), 0, "No problems found");
	run_says(at_root("-j", "0x1000 | jq -r '.address | .mtrr, .reads, .writes'"),
		 "WB\ndram\ndram\n");
	clean();
}
END_TEST

START_TEST(without_msrs_proc_mtrr_must_do)
{
	machine("GenuineIntel", 2);
	run_status("true", 0);
	{
		char command[128];

		snprintf(command, sizeof(command), "rm -r %s/dev", root);
		run_status(command, 0);
	}
	run_mentions(at_root("", ""), 0, "modprobe msr");
	run_says(at_root("-j", "| jq -c '.default_known, (.cpus | length), .no_msr != null'"),
		 "false\n0\ntrue\n");
	put("/proc/mtrr", "reg00: base=0x000000000 (    0MB), size=65536MB, count=1: write-back\n"
			  "reg01: base=0x0fe000000 ( 4064MB), size=   16MB, count=1: uncachable\n");
	run_mentions(at_root("", ""), 1, "BAR 2 (0xf0000000-0xf1ffffff) lies under a WB range");
	put("/proc/mtrr", "%s", "");
	run_mentions(at_root("", ""), 1, "run as root with the module msr loaded");
	clean();
}
END_TEST

START_TEST(broken_trees_are_refused_with_a_reason)
{
	machine("GenuineIntel", 1);
	cpu(0, "0x2ff 0x02\n");
	run_mentions(at_root("", ""), 0, "MSR 0x2ff has a value that it cannot have");
	put("/dev/cpu/0/msr", "0xfe 0x508\n0x277 0x0007040600070406\nnonsense\n\n0x2ff");
	run_mentions(at_root("", ""), 0, "cannot be read");
	cpu(0, "0xfe 0x5ff\n");
	run_mentions(at_root("", ""), 0, "not all MSRs were read");
	put("/sys/bus/pci/devices/0000:01:00.0/resource", "0xffff 0x1 0x200\nx\n0x1 0x2\n");
	run_says(at_root("-j", "| jq -c .bars"), "[]\n");
	put("/proc/cpuinfo", "processor : 0\nvendor_id : GenuineIntel\naddress sizes : 99 bits "
			     "physical\n");
	run_mentions(at_root("", ""), 1, "no sensible 'address sizes'");
	clean();
	run_mentions(at_root("", ""), 1, "cannot read /proc/cpuinfo");
}
END_TEST

SUITE("mt_cli_host", a_sound_machine, one_address, processors_that_differ,
      bars_under_cacheable_ranges, other_faults_of_firmware, without_msrs_proc_mtrr_must_do,
      broken_trees_are_refused_with_a_reason)
