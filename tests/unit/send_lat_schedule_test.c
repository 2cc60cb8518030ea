// SPDX-License-Identifier: GPL-2.0-only
/* bf_send_lat --all-pairs: every pair once, no device in two at a time, as few rounds as can be. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latency/bf_send_lat/heatmap.h"
#include "latency/bf_send_lat/schedule.h"
#include "suite.h"

static struct lat_pair pairs[LAT_RANKS_MAX * LAT_RANKS_MAX / 2];

/* Number of rounds, after all that must hold has been checked. */
static int rounds(const char *const *device, unsigned int n)
{
	static unsigned char met[64][64];
	int r = lat_schedule(device, n, pairs);
	size_t total = (size_t)n * (n - 1) / 2;

	memset(met, 0, sizeof(met));
	for (size_t i = 0; i < total; i++) {
		ck_assert_uint_lt(pairs[i].server, pairs[i].client);
		ck_assert_uint_lt(pairs[i].client, n);
		ck_assert_int_eq(met[pairs[i].server][pairs[i].client]++, 0);
		ck_assert_int_lt(pairs[i].round, r);
		ck_assert(!i || pairs[i - 1].round <= pairs[i].round);
		for (size_t k = 0; k < i; k++) {
			const char *a[2] = { device[pairs[i].server], device[pairs[i].client] };
			const char *b[2] = { device[pairs[k].server], device[pairs[k].client] };

			if (pairs[k].round == pairs[i].round)
				for (int x = 0; x < 4; x++)
					ck_assert_str_ne(a[x / 2], b[x % 2]);
		}
	}
	return r;
}

START_TEST(own_devices)
{
	char names[64][8];
	const char *device[64];

	for (unsigned int i = 0; i < 64; i++) {
		snprintf(names[i], sizeof(names[i]), "d%u", i);
		device[i] = names[i];
	}
	for (unsigned int n = 2; n <= 33; n++)
		ck_assert_int_eq(rounds(device, n), n % 2 ? n : n - 1);
}
END_TEST

START_TEST(shared_devices)
{
	const char *const one[] = { "a", "a", "a", "a" };
	const char *const two[] = { "a", "a", "b", "b" };

	/* All on one device: one after the other. */
	ck_assert_int_eq(rounds(one, 4), 6);
	/* Only the two pairs within a device can run at once. */
	ck_assert_int_eq(rounds(two, 4), 5);
}
END_TEST

static const char *set[8];

static char *look(const char *name)
{
	for (int i = 0; set[i]; i += 2)
		if (!strcmp(set[i], name))
			return (char *)set[i + 1];
	return NULL;
}

static int env(const char *a, const char *b, const char *c, const char *d, unsigned int *rank,
	       unsigned int *size)
{
	memcpy(set, (const char *[]){ a, b, c, d, NULL }, 5 * sizeof(*set));
	return lat_ranks_env(look, rank, size);
}

START_TEST(launchers)
{
	unsigned int rank = 9, size = 9;

	ck_assert_int_eq(env(NULL, NULL, NULL, NULL, &rank, &size), -ENOENT);
	ck_assert_int_eq(env("SLURM_PROCID", "3", "SLURM_NTASKS", "4", &rank, &size), 0);
	ck_assert_uint_eq(rank, 3);
	ck_assert_uint_eq(size, 4);
	ck_assert_int_eq(
		env("OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "2", &rank, &size), 0);
	ck_assert_uint_eq(rank, 0);
	ck_assert_int_eq(env("PMI_RANK", "2", "PMI_SIZE", "2", &rank, &size), -EINVAL);
	ck_assert_int_eq(env("PMI_RANK", "0", "PMI_SIZE", "1", &rank, &size), -EINVAL);
	ck_assert_int_eq(env("PMI_RANK", "x", "PMI_SIZE", "4", &rank, &size), -EINVAL);
}
END_TEST

START_TEST(heat)
{
	struct lat_heat *h = lat_heat_new(3);
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	lat_heat_set(h, 0, 1, 2.0);
	lat_heat_set(h, 1, 2, 4.0);
	lat_heat_set(h, 0, 2, -1);
	ck_assert_int_eq(lat_heat_write(f, h), 0);
	fclose(f);
	ck_assert(strstr(text, "light 2.000 to dark 4.000"));
	ck_assert(strstr(text, "<title>0 and 1: 2.000</title>"));
	ck_assert(strstr(text, "<title>2 and 1: 4.000</title>"));
	ck_assert(!strstr(text, "0 and 2:"));
	free(text);
	lat_heat_free(h);
}
END_TEST

SUITE("bf_send_lat all pairs", own_devices, shared_devices, launchers, heat)
