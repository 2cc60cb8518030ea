// SPDX-License-Identifier: GPL-2.0-only
/* `memtype` as its user meets it: words, JSON, exit statuses. */
#include "suite.h"
#include "mt_run.h"

START_TEST(tables_in_json)
{
	run_says("memtype -j table intel | jq -c '[.rows, .cols]'",
		 "[[\"UC\",\"WC\",\"WT\",\"WP\",\"WB\"],"
		 "[\"UC\",\"UC-\",\"WC\",\"WT\",\"WP\",\"WB\"]]\n");
	run_says("memtype -j table intel | jq -c .cells",
		 "[[\"UC\",\"UC\",\"WC\",\"UC\",\"UC\",\"UC\"],"
		 "[\"UC\",\"WC\",\"WC\",\"UC\",\"UC\",\"WC\"],"
		 "[\"UC\",\"UC\",\"WC\",\"WT\",\"WP\",\"WT\"],"
		 "[\"UC\",\"WC\",\"WC\",\"WT\",\"WP\",\"WP\"],"
		 "[\"UC\",\"UC\",\"WC\",\"WT\",\"WP\",\"WB\"]]\n");
	/* Every table is rectangular, in both shapes of JSON. */
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = { "intel", "amd", "ept", "npt" };
		static const char *const sizes[] = { "5 6", "5 7", "10 6", "6 6" };
		char command[512];

		snprintf(command, sizeof(command),
			 "memtype -p table %s | jq -er '(.rows | length) as $r | (.cols | length) "
			 "as $c |"
			 " if (.cells | length) == $r and (.cells | all(length == $c)) and"
			 " (.cell_notes | length) == $r then \"\\($r) \\($c)\" else false end'",
			 names[i]);
		run_status(command, 0);
		ck_assert_int_eq(strncmp(run_output, sizes[i], strlen(sizes[i])), 0);
	}
	run_says("memtype -j table ept | jq -r '.rows[6], .cells[6][0], .cells[1][1]'",
		 "WC IPAT\nWC\nWC\n");
	run_says("memtype -j table npt --host-mtrr UC | jq -r '.host_mtrr, .cells[1][2], "
		 ".cells[5][2], "
		 ".cells[5][5]'",
		 "UC\nWC\nWC\nUC\n");
}
END_TEST

START_TEST(tables_in_text)
{
	run_mentions("memtype table intel", 0, "UC(2,3)");
	run_mentions("memtype table amd", 0, "WC+: write-combined, caches are probed");
	run_mentions("memtype tab npt", 0,
		     "UC-      UC       UC-      WC       UC       UC       UC");
}
END_TEST

START_TEST(effective_types)
{
	run_says("memtype effective --vendor intel --mtrr WC --pat UC-", "WC\n");
	run_says("memtype -j effective --vendor intel --mtrr WC --pat UC-",
		 "{\"type\":\"WC\",\"note\":null}\n");
	run_says("memtype -j effective --vendor=amd --mtrr=WC --pat=UC | jq -r .type", "CD\n");
	run_says("memtype -j effective --vendor intel --mtrr WC --pat WT | jq -r .note",
		 "UC comes from the page table: caches are snooped; undefined in older manuals, "
		 "but all "
		 "processors do this\n");
	/* EPT: IPAT beats PAT; without it the leaf stands for the MTRR. */
	run_says("memtype -j effective --vendor intel --mtrr UC --pat UC --nested WC --ipat | jq "
		 "-r .type",
		 "WC\n");
	run_says(
		"memtype -j effective --vendor intel --mtrr WC --pat UC- --nested UC | jq -r .type",
		"UC\n");
	/* NPT: nested leaf first, then the machine's MTRR. */
	run_says("memtype -j effective --vendor amd --mtrr WC --pat UC- --nested WB --host-mtrr UC "
		 "| "
		 "jq -r .type",
		 "UC\n");
	run_says(
		"memtype -j effective --vendor amd --mtrr WC --pat WC --nested WB --host-mtrr WB | "
		"jq -r .type",
		"WC+\n");
	run_says("memtype -j effective --vendor amd --pat UC- --nested WC | jq -r '.type, .note'",
		 "WC\nhost MTRR UC assumed, as for a BAR\n");
}
END_TEST

START_TEST(explanations)
{
	static const char legacy[] = "memtype -j explain --vendor amd --kernel 6.1 --backing bar "
				     "--coherent yes --guest-mtrr WC --guest-pat UC-";
	char command[1024];

	snprintf(command, sizeof(command), "%s | jq -r '.type, .bare_metal, .leaf'", legacy);
	run_says(command, "UC\nWC\nWB\n");
	snprintf(command, sizeof(command), "%s | jq -r '.steps[].code'", legacy);
	run_says(command,
		 "asked\nnpt-index0\nnpt-result\nmtrr-result\nlost\nremedy-module\nremedy-pat\n");
	snprintf(command, sizeof(command), "%s --module | jq -r '.type, .leaf'", legacy);
	run_says(command, "WC\nWC\n");
	snprintf(command, sizeof(command), "%s --mode pat | jq -r .type", legacy);
	run_says(command, "WC\n");
	run_says("memtype -j explain --vendor intel --kernel 6.16 --backing ram --coherent yes "
		 "--guest-mtrr WB --guest-pat WC --pat-quirk-off | jq -r .type",
		 "WC\n");
	run_says("memtype -j explain --vendor intel --kernel 6.12.77 --backing ram --coherent yes "
		 "--guest-mtrr WB --guest-pat WC --pat-quirk-off | jq -r .type",
		 "WB\n");
	/* What `uname -r` says is a kernel too. */
	run_says("memtype -j explain --vendor amd --kernel 6.1.0-57-amd64 --backing bar --coherent "
		 "no "
		 "--guest-mtrr UC --guest-pat WC | jq -r .type",
		 "WC\n");
	run_mentions("memtype explain --vendor amd --kernel 4.9 --backing ram --coherent yes "
		     "--guest-mtrr WB --guest-pat WC",
		     0, "index 1 of the reset value is WT, not WC");
	run_mentions("memtype explain --vendor amd --kernel 4.2 --backing ram --coherent yes "
		     "--guest-mtrr WP --guest-pat WB",
		     1, "not known");
}
END_TEST

/* No %-code of a step's text may be left over, whatever the case. */
START_TEST(every_step_is_words)
{
	run_status("for v in intel amd; do for k in 4.2 4.9 6.1 6.8 6.16; do "
		   "for b in bar ram; do for c in yes no; do for x in '' --module '--mode pat' "
		   "--shadow "
		   "--unregistered '--pat-quirk-off' '--shadow --module'; do "
		   "memtype explain --vendor $v --kernel $k --backing $b --coherent $c "
		   "--guest-mtrr WC "
		   "--guest-pat UC- $x || exit 9; done; done; done; done; done",
		   0);
	ck_assert_ptr_null(strchr(run_output, '%'));
	ck_assert_ptr_null(strstr(run_output, "?"));
	ck_assert_ptr_null(strstr(run_output, "(null)"));
}
END_TEST

START_TEST(decoded_ranges)
{
	run_says("memtype -j decode 0x2ff=0xc06 0x200=0xc0000000 0x201=0xffc0000800 --maxphyaddr "
		 "40 | "
		 "jq -c '.enabled, .default, (.ranges[] | [.start, .end, .type])'",
		 "true\n\"WB\"\n[\"0x0000000000000\",\"0x00000000fffff\",\"UC\"]\n"
		 "[\"0x0000000100000\",\"0x00000bfffffff\",\"WB\"]\n"
		 "[\"0x00000c0000000\",\"0x00000ffffffff\",\"UC\"]\n"
		 "[\"0x0000100000000\",\"0x000ffffffffff\",\"WB\"]\n");
	/* The width follows the masks. */
	run_says("memtype -j decode DEF_TYPE=0x806 PHYSBASE0=0xd0000001 PHYSMASK0=0xffff000800 | "
		 "jq -c '.maxphyaddr, (.ranges | length), .ranges[1].type'",
		 "40\n3\n\"WC\"\n");
	run_mentions("memtype decode 0x2ff=0x406", 0,
		     "MTRRs disabled (DEF_TYPE.E is 0): UC everywhere");
	run_mentions("memtype decode 0x2ff=0x800 0x200=0x40000001 0x201=0xff0000800 "
		     "0x202=0x40000006 0x203=0xff0000800",
		     0, "leave undefined");
	run_says("memtype -j decode 0x2ff=0x800 0x277=0x0407050600070106 | jq -c .pat",
		 "[\"WB\",\"WC\",\"UC-\",\"UC\",\"WB\",\"WP\",\"UC-\",\"WT\"]\n");
}
END_TEST

START_TEST(hostile_masks_end)
{
	/* Every second page of the address space, and one that changes nothing at all. */
	run_says("memtype -j decode 0x2ff=0x806 0x200=1 0x201=0x1800 --maxphyaddr 52 | "
		 "jq -c '(.ranges | length), .truncated'",
		 "512\ntrue\n");
	run_says("memtype -j decode 0x2ff=0x806 0x200=6 0x201=0x1800 --maxphyaddr 52 | "
		 "jq -c '(.ranges | length), .truncated'",
		 "1\ntrue\n");
	run_mentions("memtype decode 0x2ff=0x806 0x200=1 0x201=0x1800 --maxphyaddr 52", 0,
		     "and so on");
}
END_TEST

START_TEST(faults_are_named)
{
	run_says("memtype -j decode 0x2ff=2 --maxphyaddr 40 | jq -c '.faults, .ranges'",
		 "[{\"msr\":\"DEF_TYPE\",\"index\":\"0x2ff\",\"value\":\"0x2\","
		 "\"reason\":\"a type field holds a reserved encoding\"}]\nnull\n");
	run_mentions("memtype decode 0x2ff=0x1c06", 1, "a reserved bit is set");
	run_mentions("memtype decode 0x201=0x10000000800 --maxphyaddr 40", 1,
		     "at or above MAXPHYADDR");
	run_mentions("memtype decode 0x201=0x10000000800 --maxphyaddr 41", 0, "disabled");
	run_mentions("memtype decode 0xfe=0x508", 1, "read-only");
	run_mentions("memtype decode FIX64K_00000=0x1e", 1, "reserved encoding");
	run_mentions("memtype decode 0x210=0", 1, "PHYSBASE8");
	run_mentions("memtype decode 0x277=0x0202020202020202 0x2ff=0xc06", 1, "PAT = 0x");
}
END_TEST

START_TEST(registers_of_real_machines)
{
	run_says("memtype -j decode --host intel 0xfe=0xd0a 0x2ff=0x806 0x212=0xd0000001 "
		 "0x213=0xffff000800 | jq -r '.ranges[1].type'",
		 "WC\n");
	run_says("memtype -j decode --host amd DEF_TYPE=0xc00 FIX64K_00000=0x1e1e1e1e1e1e1e1e "
		 "SYSCFG=0x740000 TOP_MEM2=0x240000000 | jq -c '.ranges[] | [.start, .type]'",
		 "[\"0x0000000000000\",\"WB\"]\n[\"0x0000000080000\",\"UC\"]\n"
		 "[\"0x0000100000000\",\"WB\"]\n[\"0x0000240000000\",\"UC\"]\n");
	run_status("memtype decode --host intel SYSCFG=0", 1);
	run_mentions("memtype decode --host intel 0xfe=0x5ff", 1, "variable ranges");
}
END_TEST

START_TEST(usage_errors_say_what_to_do)
{
	static const struct {
		const char *command, *says;
	} wrong[] = {
		{ "memtype", "Usage" },
		{ "memtype frobnicate", "there is no command 'frobnicate'" },
		{ "memtype table", "intel, amd, ept or npt" },
		{ "memtype table vax", "there is no table 'vax'" },
		{ "memtype table intel amd", "one table" },
		{ "memtype table intel --host-mtrr UC", "is for the table npt" },
		{ "memtype table npt --host-mtrr UC-", "takes one of UC WC WT WP WB, not 'UC-'" },
		{ "memtype effective --mtrr WC --pat WC", "--vendor is missing" },
		{ "memtype effective --vendor intel --pat WC", "--mtrr is missing" },
		{ "memtype effective --vendor intel --mtrr WC", "--pat is missing" },
		{ "memtype effective --vendor vax --mtrr WC --pat WC", "intel, amd, not 'vax'" },
		{ "memtype effective --vendor intel --mtrr UC- --pat WC", "not 'UC-'" },
		{ "memtype effective --vendor intel --mtrr WC --pat XX", "not 'XX'" },
		{ "memtype effective --vendor intel --mtrr WC --pat CD", "not 'CD'" },
		{ "memtype effective --vendor intel --mtrr WC --pat WC --ipat",
		  "goes with --nested" },
		{ "memtype effective --vendor intel --mtrr WC --pat WC --host-mtrr UC",
		  "goes with --nested" },
		{ "memtype effective --vendor amd --mtrr WC --pat WC --nested WB --ipat",
		  "no IPAT" },
		{ "memtype effective --vendor intel --mtrr WC --pat WC --nested UC-", "not 'UC-'" },
		{ "memtype effective --vendor intel --mtrr WC --mtrr WC --pat WC", "given twice" },
		{ "memtype effective --vendor intel --mtrr WC --pat", "needs a value" },
		{ "memtype effective --vendor intel --mtrr WC --pat WC --nested WB --ipat=1",
		  "takes no value" },
		{ "memtype effective --vendor intel --mtrr WC --pat WC more",
		  "unexpected argument" },
		{ "memtype effective --frob", "unknown option" },
		{ "memtype explain --vendor amd", "--kernel is missing" },
		{ "memtype explain --vendor amd --kernel six --backing bar --coherent yes "
		  "--guest-mtrr WC "
		  "--guest-pat WC",
		  "not 'six'" },
		{ "memtype explain --vendor amd --kernel 6 --backing bar --coherent yes "
		  "--guest-mtrr WC "
		  "--guest-pat WC",
		  "not '6'" },
		{ "memtype explain --vendor amd --kernel 6.x --backing bar --coherent yes "
		  "--guest-mtrr WC "
		  "--guest-pat WC",
		  "not '6.x'" },
		{ "memtype explain --vendor amd --kernel 6.1 --backing rom --coherent yes "
		  "--guest-mtrr WC "
		  "--guest-pat WC",
		  "bar, ram, not 'rom'" },
		{ "memtype explain --vendor amd --kernel 6.1 --backing bar --coherent yes "
		  "--guest-mtrr WC "
		  "--guest-pat WC --module --mode off",
		  "exclude" },
		{ "memtype explain --vendor amd --kernel 6.1 --backing bar --coherent yes "
		  "--guest-mtrr WC "
		  "--guest-pat WC --pat-index 8",
		  "0 to 7" },
		{ "memtype decode", "at least one" },
		{ "memtype decode 0x2ff", "is not MSR=VALUE" },
		{ "memtype decode 0x2ff=", "is not MSR=VALUE" },
		{ "memtype decode 0x2ff=-1", "is not MSR=VALUE" },
		{ "memtype decode PHYSBASE16=0", "is not MSR=VALUE" },
		{ "memtype decode 0x2ff=1x", "is not MSR=VALUE" },
		{ "memtype decode 0x2ff=0x10000000000000000", "is not MSR=VALUE" },
		{ "memtype decode 0x2ff=0 --maxphyaddr 53", "takes 32 to 52" },
		{ "memtype decode 0x2ff=0 --host vax", "intel, amd" },
		{ "memtype host here", "is no address" },
		{ "memtype host 1 2", "one address at most" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		run_mentions(wrong[i].command, 2, wrong[i].says);
		/* One sentence, not a page. */
		if (i)
			ck_assert_ptr_eq(strchr(run_output, '\n'),
					 run_output + strlen(run_output) - 1);
	}
}
END_TEST

START_TEST(help_everywhere)
{
	static const char *const commands[] = { "table", "effective", "explain", "decode", "host" };
	char command[64];

	run_mentions("memtype help", 0, "Commands:");
	run_mentions("memtype --version", 0, "memtype ");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		snprintf(command, sizeof(command), "memtype %s --help", commands[i]);
		run_mentions(command, 0, "Usage: memtype ");
		run_mentions("memtype help", 0, commands[i]);
	}
}
END_TEST

START_TEST(a_full_disk_is_no_success)
{
	run_mentions("memtype table intel > /dev/full", 1, "writing the table");
	run_mentions("memtype -j effective --vendor intel --mtrr WC --pat WC > /dev/full", 1,
		     "writing");
	run_mentions("memtype decode 0x2ff=0xc06 > /dev/full", 1, "writing");
}
END_TEST

SUITE("mt_cli", tables_in_json, tables_in_text, effective_types, explanations, every_step_is_words,
      decoded_ranges, hostile_masks_end, faults_are_named, registers_of_real_machines,
      usage_errors_say_what_to_do, help_everywhere, a_full_disk_is_no_success)
