/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest's memory types: its MTRR and PAT registers, and what is made of them.
 *
 * Data flows one way: a register write (msr.c) changes the state of one CPU; when all CPUs
 * that take part agree, that is the machine's state and its role (track.c); a new role cuts
 * the pages of BARs that are mapped straight into stretches of one type (areas.c); and the
 * mode decides how a stretch gets its type (apply.c). Reports only read.
 */
#ifndef VMM_MEMTYPE_H
#define VMM_MEMTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include <bp/error.h>

struct bp_print;
struct vmm;
struct vmm_mt;

/** enum vmm_mt_wish - what the user asks for with --memtype. */
enum vmm_mt_wish {
	VMM_MT_AUTO,	  /* the module if it is there, otherwise as KVM does */
	VMM_MT_MODULE,	  /* the module, or no machine */
	VMM_MT_PAT,	  /* a shadow PAT, where no page forbids it */
	VMM_MT_PAT_FORCE, /* a shadow PAT whatever it reaches */
	VMM_MT_OFF,	  /* as KVM does */
};

/**
 * vmm_mt_new() - decide the mode, and have the guest's accesses to MTRRs and PAT answered here.
 * @vmm: machine with its KVM objects, devices opened, VCPUs and BARs not made yet.
 * @out: receives the state.
 * @err: says why a mode cannot be had and what to do.
 *
 * Return: 0, -ENODEV when VMM_MT_MODULE was asked for and there is no module, or another
 * negative errno.
 */
int vmm_mt_new(struct vmm *vmm, struct vmm_mt **out, struct bp_error *err);

/** vmm_mt_free() - forget everything; areas must be gone. @mt: NULL is allowed. */
void vmm_mt_free(struct vmm_mt *mt);

/**
 * vmm_mt_owns() - whether a register is one of those that are answered here.
 * @msr: number.
 *
 * Nobody else saves or restores those.
 *
 * Return: so.
 */
bool vmm_mt_owns(uint32_t msr);

/**
 * vmm_mt_power_on() - registers as firmware leaves them (mt_firmware_state()).
 * @mt: state. @cpu: number. @vcpu_fd: the VCPU, not running.
 *
 * For a new VCPU and for each reset of the machine; INIT changes none of them (Intel SDM
 * vol. 3 table "IA-32 and Intel 64 Processor States Following Power-up, Reset, or INIT").
 *
 * Return: 0, or a negative errno.
 */
int vmm_mt_power_on(struct vmm_mt *mt, unsigned int cpu, int vcpu_fd);

/**
 * vmm_mt_rdmsr() - a guest's RDMSR that KVM hands over.
 * @mt: state. @cpu: whose. @msr: number. @value: receives the value.
 *
 * Return: 0, or -ENOENT: the guest gets #GP.
 */
int vmm_mt_rdmsr(struct vmm_mt *mt, unsigned int cpu, uint32_t msr, uint64_t *value);

/**
 * vmm_mt_wrmsr() - a guest's WRMSR that KVM hands over; with the machine's lock, in the VCPU's
 * thread.
 * @mt: state. @cpu: whose. @msr: number. @value: all 64 bits.
 *
 * An accepted value also goes to KVM. When it changes the machine's role all VCPUs stop before
 * their next instruction and go on when the leaves are right.
 *
 * Return: 0; -EINVAL or -ENOENT: the guest gets #GP; another negative errno when KVM refuses
 * what the rules allow.
 */
int vmm_mt_wrmsr(struct vmm_mt *mt, unsigned int cpu, uint32_t msr, uint64_t value);

/**
 * struct vmm_mt_place - what an area is, for reports.
 * @device: address of the function on the host.
 * @bar: number.
 * @offset: of the area in the BAR.
 */
struct vmm_mt_place {
	const char *device;
	unsigned int bar;
	uint64_t offset;
};

/**
 * vmm_mt_area_add() - map pages of a BAR into the guest, each with the type that is due.
 * @mt: state. @place: copied; @place->device must outlive the area.
 * @gpa: page aligned. @size: bytes, a multiple of the page size. @hva: page aligned.
 *
 * Return: number of the area, or a negative errno as of vmm_slot_add().
 */
int vmm_mt_area_add(struct vmm_mt *mt, const struct vmm_mt_place *place, uint64_t gpa,
		    uint64_t size, void *hva);

/** vmm_mt_area_remove() - unmap it. @mt: state. @area: from vmm_mt_area_add(). */
void vmm_mt_area_remove(struct vmm_mt *mt, int area);

/** vmm_mt_mode() - the mode at work. @mt: state. Return: "module", "pat" or "off". */
const char *vmm_mt_mode(const struct vmm_mt *mt);

/** vmm_mt_why() - why the mode is not what was asked for, or what stands in its way. @mt: state. Return: sentence without full stop, "" if nothing. */
const char *vmm_mt_why(const struct vmm_mt *mt);

/**
 * vmm_mt_report() - `ctl memtype`: modes, registers, map, each stretch of each BAR with what
 * the guest asked for, the leaf, what a store gets, and why.
 * @mt: state; the machine's lock is held and its VCPUs are held, too, since page tables are
 *      walked.
 * @p: printer, inside an object.
 */
void vmm_mt_report(struct vmm_mt *mt, struct bp_print *p);

/** vmm_mt_stats() - counters for `ctl stats`. @mt: state. @p: printer, inside an object. */
void vmm_mt_stats(const struct vmm_mt *mt, struct bp_print *p);

#endif
