/* SPDX-License-Identifier: GPL-2.0-only */
/* The MC146818 clock and its CMOS memory. */
#ifndef VMM_RTC_H
#define VMM_RTC_H

struct vmm;
struct vmm_rtc;

/**
 * vmm_rtc_new() - put the clock at VMM_PORT_RTC, interrupt VMM_IRQ_RTC.
 * @vmm: machine; its memory size goes to the CMOS bytes that old kernels read.
 * @out: receives the clock.
 *
 * Time is the host's CLOCK_REALTIME in UTC plus what the guest set; alarm, periodic
 * and update-ended interrupts work.
 *
 * Return: 0, or a negative errno.
 */
int vmm_rtc_new(struct vmm *vmm, struct vmm_rtc **out);

/** vmm_rtc_reset() - interrupts off, as the RESET pin does; time and memory stay. @rtc: clock. */
void vmm_rtc_reset(struct vmm_rtc *rtc);

/** vmm_rtc_free() - unplug. @rtc: NULL is allowed. */
void vmm_rtc_free(struct vmm_rtc *rtc);

#endif
