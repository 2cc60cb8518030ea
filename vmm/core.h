/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine as its core sees it: what devices need not know about.
 */
#ifndef VMM_CORE_H
#define VMM_CORE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "vmm/assign/assign.h"
#include "vmm/boot/boot.h"
#include "vmm/dev/i8042.h"
#include "vmm/dev/rtc.h"
#include "vmm/dev/serial.h"
#include "vmm/machine.h"
#include "vmm/tally.h"
#include "vmm/vcpu.h"

struct vmm_api;
struct vmm_chips;
struct vmm_console;
struct vmm_memuse;

/* Makes a VCPU thread leave KVM_RUN; nothing but its arrival matters. */
#define VMM_KICK_SIGNAL SIGUSR1

/**
 * struct vmm_core - a machine; &core->vmm is what the other parts get.
 * @vmm: shared part.
 * @image: the kernel.
 * @entry: how it is entered.
 * @platform: what the firmware tables say.
 * @chips: interrupt controllers and timer at power-on.
 * @cpuid: what KVM supports.
 * @reset_fd: eventfd that brings a guest's reset to the loop, or -1.
 * @stats_fd: KVM's statistics of the machine, or a negative errno.
 * @signal_fd: signalfd, or -1.
 * @masked: the signals are blocked, and @old_mask is what was before.
 * @host: the host whose devices are assigned.
 * @console: where the serial port leads.
 * @serial: the port.
 * @rtc: clock.
 * @i8042: keyboard controller.
 * @nr_assigned: entries of @assigned.
 * @assigned: functions of the host.
 * @api: control socket, or NULL.
 * @memuse: samples this process's memory.
 * @changed: some VCPU parked or left, a hold ended, or the machine ends; with vmm->lock.
 * @holds: VCPUs may not run while this is not 0.
 * @parked: VCPUs that wait because of @holds.
 * @running: VCPU threads that have not left.
 * @paused: the user's own hold.
 * @reset_wanted: vmm_reset() was called and has its hold.
 * @end: why the machine ends.
 * @end_by_ctl: it ends because the control socket said so.
 * @crash: what to tell the user after a crash.
 * @started: CLOCK_MONOTONIC when the guest started.
 * @resets: restarts since then.
 * @tally: accesses by name of what answered.
 */
struct vmm_core {
	struct vmm vmm;
	struct vmm_image *image;
	struct vmm_entry entry;
	struct vmm_platform platform;
	struct vmm_chips *chips;
	struct kvm_cpuid2 *cpuid;
	int reset_fd;
	int stats_fd;
	int signal_fd;
	bool masked;
	sigset_t old_mask;
	struct vf_host host;

	struct vmm_console *console;
	struct vmm_serial *serial;
	struct vmm_rtc *rtc;
	struct vmm_i8042 *i8042;
	unsigned int nr_assigned;
	struct vmm_assign *assigned[VMM_VFS_MAX];
	struct vmm_api *api;
	struct vmm_memuse *memuse;

	pthread_cond_t changed;
	unsigned int holds;
	unsigned int parked;
	unsigned int running;
	bool paused;
	bool reset_wanted;
	enum vmm_end end;
	bool end_by_ctl;
	char crash[256];
	struct timespec started;
	uint64_t resets;
	struct vmm_tally tally;
};

/** vmm_core() - the core of a machine. @vmm: shared part. Return: core. */
static inline struct vmm_core *vmm_core(struct vmm *vmm)
{
	/* The shared part is the first member. */
	return (struct vmm_core *)vmm;
}

/**
 * vmm_hold() - stop all VCPUs and wait until they have.
 * @core: machine; its lock is held and is let go while waiting. Not for a VCPU's thread.
 *
 * Return: 0, or -ECANCELED when the machine ends instead; the hold counts in any case.
 */
int vmm_hold(struct vmm_core *core);

/**
 * vmm_hold_ask() - begin a hold from a VCPU's thread, and have the loop do what it is for.
 * @core: machine; its lock is held.
 * @fd: eventfd that the loop watches. Its handler calls vmm_hold(), which waits, and then
 *      vmm_release() twice: for this hold and for its own.
 *
 * The VCPU that asks finishes the access that it is at and executes no instruction after it.
 *
 * Return: whether the loop will come; false when the machine ends, or has to end because
 * it cannot be told.
 */
bool vmm_hold_ask(struct vmm_core *core, int fd);

/** vmm_release() - undo one vmm_hold(). @core: machine; its lock is held. */
void vmm_release(struct vmm_core *core);

/**
 * vmm_park() - in a VCPU's thread, between two entries: wait while there is a hold.
 * @core: machine; its lock is held and is let go while waiting.
 *
 * Return: false when the machine ends.
 */
bool vmm_park(struct vmm_core *core);

/** vmm_crash() - end the machine, saying why. @core: machine; its lock is held. @fmt: sentence. */
void vmm_crash(struct vmm_core *core, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * vmm_vcpu_reset() - back to the state after vmm_vcpu_new(), and to @entry.
 * @vcpu: VCPU that is parked.
 * @entry: as for vmm_vcpu_start().
 *
 * Return: 0, or a negative errno.
 */
int vmm_vcpu_reset(struct vmm_vcpu *vcpu, const struct vmm_entry *entry);

/** vmm_vcpu_stats_fd() - KVM's statistics of a VCPU. @vcpu: VCPU. Return: descriptor or negative errno. */
int vmm_vcpu_stats_fd(const struct vmm_vcpu *vcpu);

/** vmm_vcpu_join() - wait for the thread, which must have been told to end. @vcpu: VCPU. */
void vmm_vcpu_join(struct vmm_vcpu *vcpu);

/** vmm_vcpu_dump() - registers on standard error, at verbosity 1. @vcpu: VCPU, not running. */
void vmm_vcpu_dump(const struct vmm_vcpu *vcpu);

#endif
