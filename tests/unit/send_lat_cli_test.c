// SPDX-License-Identifier: GPL-2.0-only
/* bf_send_lat as its user meets it where there is no RDMA device: options and --compare. */
#include <math.h>

#include "latency/bf_send_lat/difference.h"
#include "latency/rng.h"
#include "mt_run.h"
#include "suite.h"

#define RUN_NAME(name) "/tmp/send_lat_cli." name ".json"

START_TEST(options)
{
	run_mentions("bf_send_lat --help", 0, "-c, --connection=RC|UC|UD");
	run_mentions("bf_send_lat -V", 0, "bf_send_lat ");
	/* Refused, with the reason; by letter, by name, with and without a value. */
	run_mentions("bf_send_lat -g", 2, "-g is refused: both ends of a group");
	run_mentions("bf_send_lat --mcg", 2, "refused");
	run_mentions("bf_send_lat -l 4", 2, "-l is refused: it belongs to bandwidth tests");
	run_mentions("bf_send_lat --post_list=4", 2, "refused");
	run_mentions("bf_send_lat --report_gbits", 2, "--report_gbits is refused");
	run_mentions("bf_send_lat -q 2", 2, "-q is refused");
	run_mentions("bf_send_lat -c DC h", 2, "takes RC, UC or UD, not 'DC'");
	run_mentions("bf_send_lat -c UC -R h", 2, "rdma_cm has no UC queue pairs");
	/* ib_send_lat's bounds. */
	run_mentions("bf_send_lat -n 4 h", 2, "from 5 to");
	run_mentions("bf_send_lat -n 12x h", 2, "not '12x'");
	run_mentions("bf_send_lat -s 8388609 h", 2, "not '8388609'");
	run_mentions("bf_send_lat -m 1000 h", 2, "256, 512, 1024, 2048 or 4096");
	run_mentions("bf_send_lat -D 5 -a h", 2, "does not go with -a");
	run_mentions("bf_send_lat -D 5 -n 100 h", 2, "exclude each other");
	run_mentions("bf_send_lat -D 5 -U h", 2, "every sample");
	run_mentions("bf_send_lat --loopback h", 2, "exclude each other");
	run_mentions("bf_send_lat a b", 2, "one host");
	run_mentions("bf_send_lat --nonsense", 2, "unrecognized option");
	run_mentions("bf_send_lat --rate 0 h", 2, "positive number");
	run_mentions("bf_send_lat --fail-if 'p99>5%' h", 2, "goes with --compare");
}
END_TEST

START_TEST(no_device)
{
	/* Every failure leaves a document that a script can read. */
	run_status("rm -f " RUN_NAME("none"), 0);
	if (run("ibv_devices 2>/dev/null | tail -n +3 | grep -q .") == 0)
		return;
	run_mentions("bf_send_lat -F --loopback --out_json_file=" RUN_NAME("none"), 1,
		     "there is no RDMA device");
	run_says("jq -c '[.schema, .ok, .error.errno, .results]' " RUN_NAME("none"),
		 "[1,false,\"ENODEV\",[]]\n");
	run_says("bf_send_lat -F -j --loopback 2>/dev/null | jq -c .ok", "false\n");
	run_status("bf_send_lat --wc-check", 77);
	run_mentions("bf_send_lat -F --wait 0.2 127.0.0.1 -p 1", 1,
		     "no server at 127.0.0.1 port 1");
	run_status("rm -f " RUN_NAME("none"), 0);
}
END_TEST

/* A run as it would be: neighbours alike, now and then a stall. Scaled by a factor. */
static void write_run(const char *name, uint64_t seed, double factor)
{
	struct lat_rng rng = { seed };
	FILE *f = fopen(name, "w");
	double level = 0;

	ck_assert_ptr_nonnull(f);
	fputs("{\"schema\":1,\"program\":\"bf_send_lat\",\"test_info\":{\"unit\":\"usec\"},"
	      "\"results\":[{\"MsgSize\":64,\"blueflame\":{\"asked\":\"as is\"},\"samples\":[",
	      f);
	for (int i = 0; i < 2000; i++) {
		double noise = (double)(lat_rng_next(&rng) >> 11) * 0x1p-53;
		double stall = lat_rng_below(&rng, 200) ? 0 : 20.0 * noise;

		level = 0.8 * level + 0.2 * (noise - 0.5);
		fprintf(f, "%s%.4f", i ? "," : "",
			factor * (2.0 + 0.1 * level + 0.02 * noise + stall));
	}
	fputs("]}]}\n", f);
	ck_assert_int_eq(fclose(f), 0);
}

#define COMPARE "bf_send_lat --compare " RUN_NAME("a") " " RUN_NAME("b") " "

START_TEST(compare_finds_three_per_cent)
{
	write_run(RUN_NAME("a"), 1, 1);
	write_run(RUN_NAME("b"), 2, 1.03);
	run_mentions(COMPARE, 1, "slower");
	run_mentions(COMPARE, 1, "64 bytes: p50>+2%");
	run_status(COMPARE "--fail-if 'p50>+4%'", 0);
	run_status(COMPARE "--fail-if 'p50>+4%' --fail-if 'avg>+1%'", 1);
	run_status(COMPARE "--fail-if 'p99>1000'", 0);
	run_status(COMPARE "--fail-if 'p50>2.01'", 1);
	run_says(COMPARE "-j --fail-if 'p50>+1%' | jq -c '[.worse, (.differences | map(.metric))]'",
		 "[true,[\"avg\",\"p50\",\"p90\",\"p99\"]]\n");
	/* A gain is no failure. */
	run_status("bf_send_lat --compare " RUN_NAME("b") " " RUN_NAME("a"), 0);
}
END_TEST

START_TEST(compare_passes_equal_pairs)
{
	for (unsigned int i = 0; i < 20; i++) {
		write_run(RUN_NAME("a"), 100 + i, 1);
		write_run(RUN_NAME("b"), 200 + i, 1);
		run_status(COMPARE "--fail-if 'p50>+0%' --fail-if 'avg>+0%' --fail-if 'p99>+5%'",
			   0);
	}
}
END_TEST

START_TEST(compare_bad_documents)
{
	write_run(RUN_NAME("a"), 1, 1);
	run_status("echo '{\"schema\":1' > " RUN_NAME("b"), 0);
	run_mentions(COMPARE, 1, "is no JSON document");
	run_status("echo '{\"schema\":2,\"results\":[]}' > " RUN_NAME("b"), 0);
	run_mentions(COMPARE, 1, "no document of bf_send_lat with schema 1");
	run_status("jq '.results[0].samples[3] = \"x\"' " RUN_NAME("a") " > " RUN_NAME("b"), 0);
	run_mentions(COMPARE, 1, "sample 3 is no number");
	run_status("jq '.results[0].samples = []' " RUN_NAME("a") " > " RUN_NAME("b"), 0);
	run_mentions(COMPARE, 1, "holds no samples for 64 bytes");
	run_status("jq '.results[0].MsgSize = 2' " RUN_NAME("a") " > " RUN_NAME("b"), 0);
	run_mentions(COMPARE, 1, "no size in common");
	run_status("jq '.test_info.unit = \"cycles\"' " RUN_NAME("a") " > " RUN_NAME("b"), 0);
	run_mentions(COMPARE, 1, "one document is in usec");
	run_status("jq '.results[0] = 7 | .results[1] = null' " RUN_NAME("a") " > " RUN_NAME("b"),
		   0);
	run_mentions(COMPARE, 1, "no size in common");
	run_mentions("bf_send_lat --compare a", 2, "two JSON documents");
	run_mentions(COMPARE "--fail-if p50", 2, "not 'p50'");
	run_status("rm -f " RUN_NAME("a") " " RUN_NAME("b"), 0);
}
END_TEST

START_TEST(limits)
{
	struct lat_limit l;

	ck_assert_int_eq(lat_limit_parse("p99.99>+5%", &l, NULL), 0);
	ck_assert_uint_eq(l.ppm, 999900);
	ck_assert(l.relative);
	ck_assert_double_eq_tol(l.value, 0.05, 1e-12);
	ck_assert_int_eq(lat_limit_parse("avg>3.5", &l, NULL), 0);
	ck_assert_uint_eq(l.ppm, LAT_MEAN);
	ck_assert(!l.relative);
	ck_assert_int_eq(lat_limit_parse("p100>1", &l, NULL), 0);
	ck_assert_uint_eq(l.ppm, 1000000);
	static const char *const bad[] = { "p>1",   "p101>1",  "p9.9.9>1", "p99<1",
					   "p99>",  "p99>-5%", "p99>5%%",  "p99>nan",
					   "max>1", "p99>1x",  "p.>1",	   ">1" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(lat_limit_parse(bad[i], &l, NULL) < 0, "'%s' is taken", bad[i]);
}
END_TEST

SUITE("bf_send_lat", options, no_device, compare_finds_three_per_cent, compare_passes_equal_pairs,
      compare_bad_documents, limits)
