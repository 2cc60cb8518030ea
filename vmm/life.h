/* SPDX-License-Identifier: GPL-2.0-only */
/* Building a machine, running it, taking it apart. */
#ifndef VMM_LIFE_H
#define VMM_LIFE_H

#include <bp/error.h>
#include "vmm/machine.h"

struct vmm_core;

/**
 * vmm_life_build() - open everything that a machine needs and put it together.
 * @config: what the user asked for; must outlive the machine.
 * @out: receives the machine, which does not run yet.
 * @err: one sentence on what stands in the way.
 *
 * Everything that can be checked is checked before a device is opened. On failure all
 * is as it was.
 *
 * Return: 0, or a negative errno.
 */
int vmm_life_build(const struct vmm_config *config, struct vmm_core **out, struct bp_error *err);

/**
 * vmm_life_run() - load the kernel, start the CPUs, serve until the machine ends.
 * @core: machine.
 * @err: what went wrong, a crash of the guest included.
 *
 * Return: 0 when it ended in an orderly way (core->end says how), or a negative errno.
 */
int vmm_life_run(struct vmm_core *core, struct bp_error *err);

/** vmm_life_stop() - end the CPUs' threads and wait for them. @core: machine; its lock is not held. */
void vmm_life_stop(struct vmm_core *core);

/** vmm_life_free() - give everything back. @core: NULL is allowed. */
void vmm_life_free(struct vmm_core *core);

/** vmm_life_reset() - loop handler of core->reset_fd. @priv: core. @fd: eventfd. */
void vmm_life_reset(void *priv, int fd);

/** vmm_life_signal() - loop handler of core->signal_fd. @priv: core. @fd: signalfd. */
void vmm_life_signal(void *priv, int fd);

#endif
