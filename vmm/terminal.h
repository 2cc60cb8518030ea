/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user's terminal in raw mode, and back under all circumstances: at the normal end,
 * at exit(), and when a fatal signal strikes. Only SIGKILL leaves it raw.
 */
#ifndef VMM_TERMINAL_H
#define VMM_TERMINAL_H

#include <stdbool.h>

/**
 * vmm_terminal_raw() - hand every key to the program.
 * @fd: a terminal whose foreground process group is ours.
 *
 * One terminal at a time: a signal handler has nothing but a global to find it by.
 *
 * Return: true when it is raw now.
 */
bool vmm_terminal_raw(int fd);

/** vmm_terminal_restore() - as it was before; does nothing when it was not changed. */
void vmm_terminal_restore(void);

#endif
