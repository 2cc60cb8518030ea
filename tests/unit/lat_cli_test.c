// SPDX-License-Identifier: GPL-2.0-only
/* perfdiff and mmap_lat as their user meets them: words, JSON, exit statuses, documentation. */
#include <stdbool.h>
#include <unistd.h>

#include "suite.h"
#include "mt_run.h"

static char dir[] = "/tmp/lat-cli-XXXXXX";

static void in_a_directory(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("D", dir, 1);
}

static void leave(void)
{
	/* Nothing half-written is left beside what was asked for. */
	run_says("rm -f $D/*.json; ls $D", "");
	rmdir(dir);
}

START_TEST(a_run_and_its_table)
{
	in_a_directory();
	run_status("perfdiff run -o $D/a.json -r 8 -q -s 5 -n one -n two -- sh -c 'echo no' --vs "
		   "sleep 0.005 2>/dev/null",
		   0);
	ck_assert_ptr_nonnull(strstr(run_output, "counter"));
	ck_assert_ptr_nonnull(strstr(run_output, "elapsed"));
	ck_assert_ptr_null(strstr(run_output, "no\nno"));
	run_says("jq -c '[.schema, .version, .seed, .rounds, .warmup, (.configurations | "
		 "map(.name)), "
		 "(.configurations | map(.runs | length)), .configurations[1].command]' $D/a.json",
		 "[\"bluepass-perfdiff\",1,5,8,1,[\"one\",\"two\"],[8,8],[\"sleep\",\"0.005\"]]\n");
	/* Each counter has values, or a reason for none. */
	run_says("jq '. as $d | [range(.counters | length)] | all(. as $i | "
		 "($d.counters[$i].missing != null) == "
		 "([$d.configurations[].runs[].values[$i]] | all(. == null)))' $D/a.json",
		 "true\n");
	run_says("jq -r '.environment | .cpus_online > 0 and (.warnings | type) == \"array\"' "
		 "$D/a.json",
		 "true\n");
	/* Every number of the text is in the JSON, and the same record gives the same interval. */
	run_says("perfdiff -j show $D/a.json | jq -c '[.base, .statistic, .level, (.configurations "
		 "| map(.name))]'",
		 "[\"one\",\"mean\",0.99,[\"one\",\"two\"]]\n");
	run_says("perfdiff -j show $D/a.json > $D/1.json; perfdiff -j show $D/a.json > $D/2.json; "
		 "cmp $D/1.json $D/2.json && echo same",
		 "same\n");
	run_says("perfdiff -j show $D/a.json | jq -c '.rows[] | select(.counter == \"elapsed\") | "
		 ".columns[1] | "
		 "[.configuration, .runs, .paired, .change_low <= .change and .change <= "
		 ".change_high]'",
		 "[\"two\",8,true,true]\n");
	run_status("perfdiff show --median --level 95 $D/a.json $D/a.json", 0);
	ck_assert_ptr_nonnull(strstr(run_output, "95 % interval"));
	ck_assert_ptr_nonnull(strstr(run_output, "a:two"));
	leave();
}
END_TEST

START_TEST(perfdiff_gives_one_sentence_and_leaves_nothing)
{
	in_a_directory();
	run_mentions("perfdiff run -o $D/b.json -r 2 -- sh -c 'exit 3' 2>&1 | tail -1; test ! -e "
		     "$D/b.json",
		     0, "ended with status 3");
	run_status("perfdiff run -o $D/b.json -r 2 -- sh -c 'exit 3'", 1);
	run_mentions("perfdiff run -o $D/b.json -- /no/such/program", 1,
		     "cannot run '/no/such/program'");
	run_mentions("perfdiff run -o /no/such/dir/b.json -- touch $D/ran.json; s=$?; test ! -e "
		     "$D/ran.json && exit $s",
		     1, "cannot write beside '/no/such/dir/b.json'");
	run_mentions("perfdiff run -- true", 2, "-o FILE is needed");
	run_mentions("perfdiff run -o $D/b.json", 2, "no command");
	run_mentions("perfdiff run -o $D/b.json -- true --vs", 2, "no command after --vs");
	run_mentions("perfdiff run -o $D/b.json -- --vs true", 2, "no command before --vs");
	run_mentions("perfdiff run -o $D/b.json -r 0 -- true", 2, "--runs is 1 to");
	run_mentions("perfdiff run -o $D/b.json -n a -n b -- true", 2, "2 names for 1 commands");
	run_mentions("perfdiff run --frobnicate -o x -- true", 2, "--frobnicate");
	run_mentions("perfdiff show", 2, "no file");
	run_mentions("perfdiff show --level 100 x", 2, "--level");
	run_mentions("perfdiff show /no/such/file", 1, "cannot read '/no/such/file'");
	run_mentions("perfdiff show /etc/passwd", 1, "'/etc/passwd' is no record of perfdiff");
	run_mentions("perfdiff show /", 1, "no regular file");
	/* The options of the command are its own. */
	run_status("perfdiff run -o $D/b.json -q -r 1 -w 0 -- ls --version 2>/dev/null", 0);
	run_says("jq -c '.configurations[0].command' $D/b.json", "[\"ls\",\"--version\"]\n");
	run_mentions("perfdiff show $D/b.json", 0, "+-   0.00 %");
	/* A disk that is full is no success. */
	run_status("perfdiff show $D/b.json > /dev/full", 1);
	leave();
}
END_TEST

START_TEST(failures_can_be_counted)
{
	in_a_directory();
	run_mentions("perfdiff run -o $D/c.json --any-status -r 2 -w 0 -n bad -- sh -c 'exit 3' "
		     "2>/dev/null",
		     0, "2 of 2 runs of bad ended with a status other than 0");
	run_says("jq -c '[.configurations[0].runs[].status]' $D/c.json", "[3,3]\n");
	leave();
}
END_TEST

START_TEST(phases_of_mappings)
{
	run_says("mmap_lat -j phases -b anon,shared,file -p 4K -s 256K -n 3 | jq -c '[.schema, "
		 ".version, .command, .rounds,"
		 " (.results | map([.backing, .pages, .touched_pages, (.phases | length)]))]'",
		 "[\"bluepass-mmap_lat\",1,\"phases\",3,[[\"anon\",\"4K\",64,11],[\"shared\","
		 "\"4K\",64,11],"
		 "[\"file\",\"4K\",64,11]]]\n");
	run_says("mmap_lat -j phases -b anon -p 4K -s 256K -n 3 | jq -c '.results[0].phases[] | "
		 "select(.name == \"first touch\") | [.times, .faults, .warmup.times, (.histogram "
		 "| map(.[1]) | add), "
		 ".p99.few, .p50.few, .min.ns <= .p50.ns, .p50.ns <= .max.ns]'",
		 "[192,192,63,192,true,false,true,true]\n");
	run_says("mmap_lat -j phases -b anon -p 4K -s 256K -n 3 | jq -c '[(.clock | .cost_ns > 0, "
		 ".ns_per_tick > 0), "
		 "(.environment.window | has(\"steal_ms\"))]'",
		 "[true,true,true]\n");
	run_status("mmap_lat phases -b anon -p 4k -s 64K -n 2", 0);
	ck_assert_ptr_nonnull(strstr(run_output, "anon 4K: 16 pages"));
	ck_assert_ptr_nonnull(strstr(run_output, "touch again"));
}
END_TEST

START_TEST(a_picture_of_them)
{
	in_a_directory();
	run_status("mmap_lat phases -b anon,shared -p 4K -s 256K -n 3 --plot $D/p.json", 0);
	run_says("grep -c '<circle' $D/p.json; grep -o 'anon 4K<\\|shared 4K<' $D/p.json",
		 "2\nanon 4K<\nshared 4K<\n");
	run_mentions("mmap_lat phases -b anon -p 4K -s 64K -n 2 -P /no/such/dir/p", 1,
		     "/no/such/dir/p");
	run_mentions("mmap_lat phases -b anon -p 4K -s 64K -n 2 -P /dev/full", 1, "/dev/full");
	leave();
}
END_TEST

START_TEST(the_other_measurements)
{
	run_says("mmap_lat -j lat_mmap -s 1M -n 20 -w 2 | jq -c '.results[0] | [.megabytes == 1, "
		 ".touches, .parts[3].times, "
		 "(.whole_us * 1000 - .parts[3].p50.ns | fabs) < 1]'",
		 "[true,7,20,true]\n");
	run_says("mmap_lat -j mmap-perf -n 20000 -w 100 | jq -c '[.seed, .digest, .wrong_bytes, "
		 ".kinds[6].name]'",
		 "[2009,\"0xc750ae30d9e7c7f8\",0,\"all\"]\n");
	run_mentions("mmap_lat lat_mmap -s 4K", 1, "at least 163840 bytes");
	run_mentions("mmap_lat lat_mmap -d /no/such/dir -n 1", 1, "/no/such/dir");
	run_mentions("mmap_lat phases -b stone", 2, "no 'stone'");
	run_mentions("mmap_lat phases -p 3K", 2, "no '3K'");
	run_mentions("mmap_lat phases -s 0", 2, "'0' is no size");
	run_mentions("mmap_lat phases -n 0", 2, "--rounds is 1 to");
	run_mentions("mmap_lat phases -S 3", 2, "wrong option '-S'");
	run_mentions("mmap_lat mmap-perf what", 2, "'what' is too much");
	run_mentions("mmap_lat phases -c 99999", 1, "CPU 99999");
	run_status("mmap_lat mmap-perf -n 100 > /dev/full", 1);
}
END_TEST

/* Nothing that a user can type is missing from the manual pages, --help or the completions. */
START_TEST(every_option_is_documented)
{
	static const char *const tools[][2] = { { "perfdiff", "run show" },
						{ "mmap_lat", "phases lat_mmap mmap-perf" } };

	for (size_t t = 0; t < 2; t++) {
		char command[512], options[4096], *rest = options, *word;
		int count = 0;

		snprintf(command, sizeof(command),
			 "for c in %s; do %s $c --help; done | grep -oE -- '--[a-z][a-z-]+' | sort "
			 "-u | tr '\\n' ' '",
			 tools[t][1], tools[t][0]);
		run_status(command, 0);
		strcpy(options, run_output);
		while ((word = strsep(&rest, " ")) && *word) {
			snprintf(command, sizeof(command),
				 "for f in docs/man/%s.1.scd completions/%s; do "
				 "grep -qF -- '%s' $f || { echo $f does not know %s; exit 1; }; "
				 "done",
				 tools[t][0], tools[t][0], word, word);
			run_status(command, 0);
			count++;
		}
		ck_assert_int_ge(count, 8);
	}
}
END_TEST

START_TEST(completion)
{
	run_says("bash -c '. completions/perfdiff; COMP_WORDS=(perfdiff ru); COMP_CWORD=1; "
		 "_perfdiff; "
		 "echo ${COMPREPLY[*]}'",
		 "run\n");
	run_says("bash -c '. completions/perfdiff; COMP_WORDS=(perfdiff run --any); COMP_CWORD=2; "
		 "_perfdiff; "
		 "echo ${COMPREPLY[*]}'",
		 "--any-status\n");
	run_says("bash -c '. completions/mmap_lat; COMP_WORDS=(mmap_lat phases -b sh); "
		 "COMP_CWORD=3; _mmap_lat; "
		 "echo ${COMPREPLY[*]}'",
		 "shared\n");
	run_says("bash -c '. completions/mmap_lat; COMP_WORDS=(mmap_lat -j mm); COMP_CWORD=2; "
		 "_mmap_lat; "
		 "echo ${COMPREPLY[*]}'",
		 "mmap-perf\n");
}
END_TEST

SUITE("lat_cli", a_run_and_its_table, perfdiff_gives_one_sentence_and_leaves_nothing,
      failures_can_be_counted, phases_of_mappings, a_picture_of_them, the_other_measurements,
      every_option_is_documented, completion)
