/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether an emulated machine still lives. Now and then all processors of one are halted for
 * good while its emulator waits for events that do not come; a kernel that merely idles is woken
 * by its clock every few seconds at least. So: threads of the emulator, its first one aside,
 * none of which has run for a while.
 */
#ifndef LAB_PULSE_H
#define LAB_PULSE_H

#include <stdbool.h>
#include <sys/types.h>

#define PULSE_SECONDS 30 /* without any */

struct pulse {
	unsigned long long ran;
	double since;
};

/**
 * pulse_lost() - look, from time to time.
 * @p: what was seen before; zero at first.
 * @pid: the emulator.
 * @now: seconds.
 *
 * Return: true when none has run for PULSE_SECONDS; false also where that cannot be told.
 */
bool pulse_lost(struct pulse *p, pid_t pid, double now);

#endif
