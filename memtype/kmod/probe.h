/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/* The probe on make_spte(), through which each leaf of KVM goes before it is used. */
#ifndef KM_PROBE_H
#define KM_PROBE_H

#include "host.h"

/**
 * km_probe_start() - hook make_spte().
 * @host: what was found at load; must stay until km_probe_stop().
 *
 * Return: 0, or -ENOENT when it cannot be hooked, with a line in the kernel's log.
 */
int km_probe_start(const struct km_host *host);

/** km_probe_stop() - unhook it; no handler runs any more when this returns. */
void km_probe_stop(void);

/**
 * km_probe_alive() - whether probes work at all just now.
 *
 * An administrator can silence them (sysctl kernel.ftrace_enabled=0, or debugfs
 * kprobes/enabled), and KVM's leaves then go by unseen and uncounted. A function that is
 * probed in the same way is called to find out; when that goes unseen, it counts as missed.
 *
 * Return: so.
 */
bool km_probe_alive(void);

/**
 * km_probe_missed() - leaves that went by unseen or were not understood.
 *
 * Return: how many since km_probe_start().
 */
uint64_t km_probe_missed(void);

#endif
