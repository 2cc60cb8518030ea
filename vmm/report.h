/* SPDX-License-Identifier: GPL-2.0-only */
/* What a running machine tells about itself. All with the machine's lock held. */
#ifndef VMM_REPORT_H
#define VMM_REPORT_H

struct bp_print;
struct vmm_core;

/** vmm_report_status() - state, layout, devices. @core: machine. @p: printer, inside an object. */
void vmm_report_status(struct vmm_core *core, struct bp_print *p);

/** vmm_report_stats() - exits, accesses, KVM's counts, memory. @core: machine. @p: printer, inside an object. */
void vmm_report_stats(struct vmm_core *core, struct bp_print *p);

/** vmm_report_end() - why a machine ended, in one word. @core: machine. Return: constant string. */
const char *vmm_report_end(const struct vmm_core *core);

#endif
