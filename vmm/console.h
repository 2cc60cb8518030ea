/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the guest's serial port leads on the host: the terminal, a file, or nowhere. */
#ifndef VMM_CONSOLE_H
#define VMM_CONSOLE_H

#include <bp/error.h>

struct vmm;
struct vmm_console;

/**
 * vmm_console_new() - open what config->console names.
 * @vmm: machine with its loop.
 * @out: receives the console.
 * @err: receives the reason of a failure.
 *
 * A terminal on standard input is put into raw mode; there, Ctrl-A x ends the machine
 * and Ctrl-A Ctrl-A is one Ctrl-A for the guest.
 *
 * Return: 0, or a negative errno.
 */
int vmm_console_new(struct vmm *vmm, struct vmm_console **out, struct bp_error *err);

/** vmm_console_out() - where the guest's output goes. @console: console. Return: descriptor or -1. */
int vmm_console_out(const struct vmm_console *console);

/** vmm_console_in() - where its input comes from. @console: console. Return: descriptor or -1. */
int vmm_console_in(const struct vmm_console *console);

/** vmm_console_free() - restore the terminal, close what was opened. @console: NULL is allowed. */
void vmm_console_free(struct vmm_console *console);

#endif
