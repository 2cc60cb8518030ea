/* SPDX-License-Identifier: GPL-2.0-only */
/* Who measures with whom, and when: all pairs of many processes, no device in two at a time. */
#ifndef LAT_SCHEDULE_H
#define LAT_SCHEDULE_H

#include <stddef.h>

#define LAT_RANKS_MAX 512

/** struct lat_pair - @server, @client: ranks. @round: when, from 0. */
struct lat_pair {
	unsigned int server;
	unsigned int client;
	unsigned int round;
};

/**
 * lat_ranks_env() - which process of how many this is, as launchers tell.
 * @env: looks up a variable, as getenv() does.
 * @rank: receives the number. @size: receives how many.
 *
 * Known: Open MPI (OMPI_COMM_WORLD_), Slurm (SLURM_PROCID, SLURM_NTASKS), MPICH and Intel (PMI_),
 * MVAPICH (MV2_COMM_WORLD_).
 *
 * Return: 0; -ENOENT without a launcher; -EINVAL for numbers that make no sense.
 */
int lat_ranks_env(char *(*env)(const char *), unsigned int *rank, unsigned int *size);

/**
 * lat_schedule() - all pairs.
 * @device: for each rank a text that is the same for those that share a device.
 * @n: ranks, at least 2, at most LAT_RANKS_MAX.
 * @pairs: receives n x (n - 1) / 2 of them, by rounds.
 *
 * In one round a device is in one pair at most. Where each rank has its own there are n - 1
 * rounds (n for an odd number), the fewest there can be.
 *
 * Return: number of rounds, or -ENOMEM.
 */
int lat_schedule(const char *const *device, unsigned int n, struct lat_pair *pairs);

#endif
