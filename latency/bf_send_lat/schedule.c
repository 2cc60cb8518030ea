// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bp/cli.h>

#include "schedule.h"

static const char *const launchers[][2] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "PMI_RANK", "PMI_SIZE" },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
	{ "SLURM_PROCID", "SLURM_NTASKS" },
};

int lat_ranks_env(char *(*env)(const char *), unsigned int *rank, unsigned int *size)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const char *r = env(launchers[i][0]), *s = env(launchers[i][1]);
		uint64_t a, b;

		if (!r || !s)
			continue;
		if (bp_parse_u64(s, 2, LAT_RANKS_MAX, &b) || bp_parse_u64(r, 0, b - 1, &a))
			return -EINVAL;
		*rank = (unsigned int)a;
		*size = (unsigned int)b;
		return 0;
	}
	return -ENOENT;
}

/*
 * The circle method: one stays, the others go round, and who faces whom meets. An odd number
 * gets one more that nobody sees.
 */
static void circle(unsigned int n, struct lat_pair *pairs)
{
	unsigned int even = n + n % 2, used = 0;

	for (unsigned int r = 0; r + 1 < even; r++) {
		for (unsigned int i = 0; i < even / 2; i++) {
			unsigned int a = i ? (r + i) % (even - 1) : even - 1;
			unsigned int b = (r + even - 1 - i) % (even - 1);

			if (a >= n || b >= n)
				continue;
			pairs[used++] = (struct lat_pair){ a < b ? a : b, a < b ? b : a, 0 };
		}
	}
}

/* Rank of the first that has the same device: its number stands for the device. */
static unsigned int device_number(const char *const *device, unsigned int rank)
{
	unsigned int i = 0;

	while (strcmp(device[i], device[rank]) != 0)
		i++;
	return i;
}

static int by_round(const void *x, const void *y)
{
	const struct lat_pair *a = x, *b = y;

	if (a->round != b->round)
		return a->round < b->round ? -1 : 1;
	return a->server < b->server ? -1 : a->server > b->server;
}

int lat_schedule(const char *const *device, unsigned int n, struct lat_pair *pairs)
{
	size_t total = (size_t)n * (n - 1) / 2, done = 0;
	unsigned int *number = calloc(n, sizeof(*number));
	bool *busy = calloc(n, sizeof(*busy)), *taken = calloc(total, sizeof(*taken));
	int rounds = -ENOMEM;

	if (!number || !busy || !taken)
		goto out;
	for (unsigned int i = 0; i < n; i++)
		number[i] = device_number(device, i);
	circle(n, pairs);
	for (rounds = 0; done < total; rounds++) {
		memset(busy, 0, n * sizeof(*busy));
		for (size_t i = 0; i < total; i++) {
			bool *a = &busy[number[pairs[i].server]],
			     *b = &busy[number[pairs[i].client]];

			if (taken[i] || *a || *b)
				continue;
			taken[i] = *a = *b = true;
			pairs[i].round = (unsigned int)rounds;
			done++;
		}
	}
	qsort(pairs, total, sizeof(*pairs), by_round);
out:
	free(number);
	free(busy);
	free(taken);
	return rounds;
}
