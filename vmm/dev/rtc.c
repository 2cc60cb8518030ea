// SPDX-License-Identifier: GPL-2.0-only
/*
 * MC146818 (Motorola data sheet ADI1026): the clock is the host's real-time clock plus
 * an offset, so it needs no ticking. Flags that hardware would set in passing are worked
 * out from the time when somebody looks; a timer runs only while an interrupt wants one.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "vmm/dev/rtc.h"
#include "vmm/layout.h"
#include "vmm/machine.h"

#define NSEC	       1000000000ll
#define DAY	       86400ll

#define REG_SECONDS    0x00
#define REG_SEC_ALARM  0x01
#define REG_MINUTES    0x02
#define REG_MIN_ALARM  0x03
#define REG_HOURS      0x04
#define REG_HOUR_ALARM 0x05
#define REG_WEEKDAY    0x06
#define REG_DAY	       0x07
#define REG_MONTH      0x08
#define REG_YEAR       0x09
#define REG_A	       0x0a
#define REG_B	       0x0b
#define REG_C	       0x0c
#define REG_D	       0x0d
#define REG_CENTURY    0x32
#define NR_REGS	       0x80

#define A_UIP	       0x80
#define A_DV	       0x70
#define A_DV_RUN       0x20
#define A_RS	       0x0f

#define B_SET	       0x80
#define B_PIE	       0x40
#define B_AIE	       0x20
#define B_UIE	       0x10
#define B_SQWE	       0x08
#define B_BINARY       0x04
#define B_24H	       0x02

#define C_IRQF	       0x80
#define C_PF	       0x40
#define C_AF	       0x20
#define C_UF	       0x10
#define C_FLAGS	       (C_PF | C_AF | C_UF)

#define D_VRT	       0x80

#define HOUR_PM	       0x80
#define ALARM_ANY      0xc0 /* both top bits: matches every value */
#define UIP_NS	       244000

#define TIME_MIN       (-7000000000ll) /* 1748 */
#define TIME_MAX       9000000000ll /* 2255 */

#define MIB	       (1ull << 20)

struct vmm_rtc {
	struct vmm *vmm;
	struct vmm_timer *timer;
	uint8_t index;
	uint8_t reg[NR_REGS];
	int64_t offset; /* guest's time minus CLOCK_REALTIME, ns; the registers rule while stopped */
	int64_t seen; /* guest's time up to which register C's flags are worked out, ns */
	bool line;
};

static int64_t host_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static bool divider_runs(const struct vmm_rtc *rtc)
{
	return (rtc->reg[REG_A] & A_DV) == A_DV_RUN;
}

static bool running(const struct vmm_rtc *rtc)
{
	return divider_runs(rtc) && !(rtc->reg[REG_B] & B_SET);
}

/* The divider goes on while SET holds the calendar still, and so do periodic interrupts. */
static int64_t divider_ns(const struct vmm_rtc *rtc)
{
	return host_ns() + rtc->offset;
}

/* --- what the time registers say ------------------------------------------------------------ */

static uint8_t encode(const struct vmm_rtc *rtc, unsigned int value)
{
	return rtc->reg[REG_B] & B_BINARY ? value : (value / 10) << 4 | value % 10;
}

static unsigned int decode(const struct vmm_rtc *rtc, uint8_t raw)
{
	return rtc->reg[REG_B] & B_BINARY ? raw : (raw >> 4) * 10u + (raw & 0x0f);
}

static uint8_t encode_hour(const struct vmm_rtc *rtc, unsigned int hour)
{
	if (rtc->reg[REG_B] & B_24H)
		return encode(rtc, hour);
	return encode(rtc, hour % 12 ? hour % 12 : 12) | (hour >= 12 ? HOUR_PM : 0);
}

static unsigned int decode_hour(const struct vmm_rtc *rtc, uint8_t raw)
{
	if (rtc->reg[REG_B] & B_24H)
		return decode(rtc, raw);
	return decode(rtc, raw & ~HOUR_PM) % 12 + (raw & HOUR_PM ? 12 : 0);
}

static void registers_from_time(struct vmm_rtc *rtc, int64_t ns)
{
	time_t sec = floor_div(ns, NSEC);
	struct tm tm;

	if (!gmtime_r(&sec, &tm))
		return;
	rtc->reg[REG_SECONDS] = encode(rtc, tm.tm_sec);
	rtc->reg[REG_MINUTES] = encode(rtc, tm.tm_min);
	rtc->reg[REG_HOURS] = encode_hour(rtc, tm.tm_hour);
	rtc->reg[REG_WEEKDAY] = encode(rtc, tm.tm_wday + 1);
	rtc->reg[REG_DAY] = encode(rtc, tm.tm_mday);
	rtc->reg[REG_MONTH] = encode(rtc, tm.tm_mon + 1);
	rtc->reg[REG_YEAR] = encode(rtc, (tm.tm_year + 1900) % 100);
	rtc->reg[REG_CENTURY] = encode(rtc, (tm.tm_year + 1900) / 100);
}

/*
 * Seconds since 1970. timegm() makes a time of whatever the guest wrote; it is held to
 * years that nanoseconds in 64 bits can hold, with room to subtract the host's time.
 */
static int64_t time_from_registers(const struct vmm_rtc *rtc)
{
	struct tm tm = {
		.tm_sec = decode(rtc, rtc->reg[REG_SECONDS]),
		.tm_min = decode(rtc, rtc->reg[REG_MINUTES]),
		.tm_hour = decode_hour(rtc, rtc->reg[REG_HOURS]),
		.tm_mday = decode(rtc, rtc->reg[REG_DAY]),
		.tm_mon = (int)decode(rtc, rtc->reg[REG_MONTH]) - 1,
		.tm_year = (int)(decode(rtc, rtc->reg[REG_CENTURY]) * 100 +
				 decode(rtc, rtc->reg[REG_YEAR])) -
			   1900,
	};
	int64_t sec = timegm(&tm);

	if (sec < TIME_MIN)
		return TIME_MIN;
	return sec > TIME_MAX ? TIME_MAX : sec;
}

static bool is_time(unsigned int reg)
{
	return reg == REG_SECONDS || reg == REG_MINUTES || reg == REG_HOURS ||
	       (reg >= REG_WEEKDAY && reg <= REG_YEAR) || reg == REG_CENTURY;
}

/* --- flags and interrupts ------------------------------------------------------------------- */

static bool alarm_takes(const struct vmm_rtc *rtc, unsigned int reg, unsigned int value)
{
	uint8_t raw = rtc->reg[reg];

	if ((raw & ALARM_ANY) == ALARM_ANY)
		return true;
	return value == (reg == REG_HOUR_ALARM ? decode_hour(rtc, raw) : decode(rtc, raw));
}

/* First second after @sec at which the alarm matches, or -1 when it never does. */
static int64_t alarm_after(const struct vmm_rtc *rtc, int64_t sec)
{
	int64_t day = floor_div(sec + 1, DAY) * DAY, start = sec + 1 - day;
	int d, h, m, s;

	for (d = 0; d < 2; d++) {
		int64_t from = d ? 0 : start;

		for (h = from / 3600; h < 24; h++) {
			if (!alarm_takes(rtc, REG_HOUR_ALARM, h))
				continue;
			for (m = 0; m < 60; m++) {
				if (h * 3600 + m * 60 + 59 < from ||
				    !alarm_takes(rtc, REG_MIN_ALARM, m))
					continue;
				for (s = 0; s < 60; s++) {
					int64_t at = h * 3600 + m * 60 + s;

					if (at >= from && alarm_takes(rtc, REG_SEC_ALARM, s))
						return day + d * DAY + at;
				}
			}
		}
	}
	return -1;
}

/*
 * Distance of periodic interrupts as a power of two of the 32768 Hz clock's ticks, or -1.
 * The two fastest rates do not exist with this clock and stand for slow ones.
 */
static int period_shift(const struct vmm_rtc *rtc)
{
	int rs = rtc->reg[REG_A] & A_RS;

	if (!rs || !divider_runs(rtc))
		return -1;
	return rs <= 2 ? rs + 6 : rs - 1;
}

static int64_t clock_ticks(int64_t ns)
{
	int64_t sec = floor_div(ns, NSEC);

	return sec * 32768 + (ns - sec * NSEC) * 32768 / NSEC;
}

static void flags_refresh(struct vmm_rtc *rtc)
{
	int64_t now = divider_ns(rtc), before = rtc->seen, sec, alarm;
	int shift = period_shift(rtc);

	rtc->seen = now;
	if (now < before)
		return; /* the host's clock was set back */
	if (shift >= 0 && clock_ticks(now) >> shift != clock_ticks(before) >> shift)
		rtc->reg[REG_C] |= C_PF;
	if (!running(rtc))
		return;
	sec = floor_div(now, NSEC);
	if (sec == floor_div(before, NSEC))
		return;
	rtc->reg[REG_C] |= C_UF;
	alarm = alarm_after(rtc, floor_div(before, NSEC));
	if (alarm >= 0 && alarm <= sec)
		rtc->reg[REG_C] |= C_AF;
}

static void line_update(struct vmm_rtc *rtc)
{
	bool level = rtc->reg[REG_C] & rtc->reg[REG_B] & C_FLAGS;

	if (level)
		rtc->reg[REG_C] |= C_IRQF;
	else
		rtc->reg[REG_C] &= ~C_IRQF;
	if (level == rtc->line)
		return;
	rtc->line = level;
	vmm_irq_line(rtc->vmm->irq, VMM_IRQ_RTC, level);
}

/* Wake up for the next enabled event; one that is pending already cannot interrupt again. */
static void timer_update(struct vmm_rtc *rtc)
{
	uint8_t want = rtc->reg[REG_B] & ~rtc->reg[REG_C] & C_FLAGS;
	int64_t now = divider_ns(rtc), sec = floor_div(now, NSEC), next = INT64_MAX, at;
	int shift = period_shift(rtc);

	if ((want & B_PIE) && shift >= 0) {
		int64_t tick = ((clock_ticks(now) >> shift) + 1) * (1ll << shift);
		int64_t s = tick >> 15;

		/* Rounded up: at this time the tick has happened. */
		next = s * NSEC + ((tick & 32767) * NSEC + 32767) / 32768;
	}
	if ((want & B_UIE) && running(rtc) && (sec + 1) * NSEC < next)
		next = (sec + 1) * NSEC;
	if ((want & B_AIE) && running(rtc)) {
		at = alarm_after(rtc, sec);
		if (at >= 0 && at * NSEC < next)
			next = at * NSEC;
	}
	vmm_timer_arm(rtc->timer, next == INT64_MAX ? 0 : next - now);
}

static void timer_fired(void *priv)
{
	struct vmm_rtc *rtc = priv;

	flags_refresh(rtc);
	line_update(rtc);
	timer_update(rtc);
}

/* --- ports ---------------------------------------------------------------------------------- */

static int64_t phase(int64_t ns)
{
	return ns - floor_div(ns, NSEC) * NSEC;
}

/* The calendar registers were set: let the clock go on from there. */
static void set_time(struct vmm_rtc *rtc, int64_t sub_second)
{
	rtc->offset = time_from_registers(rtc) * NSEC + sub_second - host_ns();
	rtc->seen = divider_ns(rtc);
}

/*
 * Registers A and B stop and start the clock. After a divider reset the first update
 * comes half a second later (data sheet, "Divider Control"), which is what Linux waits
 * for when it sets the time; without one the phase of the second stays.
 */
static void control_write(struct vmm_rtc *rtc, unsigned int reg, uint8_t value)
{
	int64_t sub_second = divider_runs(rtc) ? phase(divider_ns(rtc)) : NSEC / 2;
	bool ran = running(rtc);

	if (ran)
		registers_from_time(rtc, divider_ns(rtc));
	if (reg == REG_A)
		rtc->reg[REG_A] = value & ~A_UIP;
	else
		rtc->reg[REG_B] = value & B_SET ? value & ~B_UIE : value;
	if (!ran && divider_runs(rtc))
		set_time(rtc, sub_second);
}

static void write_reg(struct vmm_rtc *rtc, unsigned int reg, uint8_t value)
{
	flags_refresh(rtc);
	if (is_time(reg) && running(rtc)) {
		int64_t now = divider_ns(rtc);

		registers_from_time(rtc, now);
		rtc->reg[reg] = value;
		set_time(rtc, phase(now));
	} else if (reg == REG_A || reg == REG_B) {
		control_write(rtc, reg, value);
	} else if (reg != REG_C && reg != REG_D) {
		rtc->reg[reg] = value;
	}
	line_update(rtc);
	timer_update(rtc);
}

static uint8_t read_reg(struct vmm_rtc *rtc, unsigned int reg)
{
	uint8_t value;

	if (is_time(reg) && running(rtc))
		registers_from_time(rtc, divider_ns(rtc));
	switch (reg) {
	case REG_A:
		value = rtc->reg[REG_A];
		if (running(rtc) && phase(divider_ns(rtc)) >= NSEC - UIP_NS)
			value |= A_UIP;
		return value;
	case REG_C:
		flags_refresh(rtc);
		line_update(rtc);
		value = rtc->reg[REG_C];
		rtc->reg[REG_C] = 0;
		line_update(rtc);
		timer_update(rtc);
		return value;
	default:
		return rtc->reg[reg];
	}
}

static void rtc_io(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_rtc *rtc = priv;
	uint8_t *byte = data;
	unsigned int i;

	for (i = 0; i < len && offset + i < 2; i++) {
		if (offset + i == 0) {
			/* Bit 7 gates the NMI on a PC; there is none to gate. The index cannot be read. */
			if (write)
				rtc->index = byte[i] & 0x7f;
			else
				byte[i] = 0xff;
		} else if (write) {
			write_reg(rtc, rtc->index, byte[i]);
		} else {
			byte[i] = read_reg(rtc, rtc->index);
		}
	}
}

/* --- life ----------------------------------------------------------------------------------- */

static void put16(struct vmm_rtc *rtc, unsigned int reg, uint64_t value)
{
	if (value > 0xffff)
		value = 0xffff;
	rtc->reg[reg] = value;
	rtc->reg[reg + 1] = value >> 8;
}

/* What a BIOS leaves for operating systems that ask the CMOS how much memory there is. */
static void memory_size(struct vmm_rtc *rtc)
{
	uint64_t mem = rtc->vmm->config->mem;
	uint64_t low = mem < VMM_LOW_RAM_END ? mem : VMM_LOW_RAM_END, high = mem - low;
	uint64_t above1 = low > MIB ? (low - MIB) / 1024 : 0;
	uint64_t above16 = low > 16 * MIB ? (low - 16 * MIB) / 65536 : 0;
	unsigned int i;
	uint16_t sum = 0;

	put16(rtc, 0x15, 640);
	put16(rtc, 0x17, above1);
	put16(rtc, 0x30, above1);
	put16(rtc, 0x34, above16);
	high /= 65536;
	rtc->reg[0x5b] = high;
	rtc->reg[0x5c] = high >> 8;
	rtc->reg[0x5d] = high >> 16;
	/* The checksum that the BIOS keeps over the equipment bytes, high byte first. */
	for (i = 0x10; i <= 0x2d; i++)
		sum += rtc->reg[i];
	rtc->reg[0x2e] = sum >> 8;
	rtc->reg[0x2f] = sum;
}

void vmm_rtc_reset(struct vmm_rtc *rtc)
{
	rtc->reg[REG_B] &= ~(B_PIE | B_AIE | B_UIE | B_SQWE);
	rtc->reg[REG_C] = 0;
	line_update(rtc);
	timer_update(rtc);
}

int vmm_rtc_new(struct vmm *vmm, struct vmm_rtc **out)
{
	struct vmm_rtc *rtc = calloc(1, sizeof(*rtc));
	int ret;

	if (!rtc)
		return -ENOMEM;
	rtc->vmm = vmm;
	/* 32768 Hz, periodic rate 1024 Hz, 24 hours, BCD: as every BIOS sets it. */
	rtc->reg[REG_A] = A_DV_RUN | 6;
	rtc->reg[REG_B] = B_24H;
	rtc->reg[REG_D] = D_VRT;
	memory_size(rtc);
	rtc->seen = host_ns();
	ret = vmm_timer_new(vmm->loop, timer_fired, rtc, &rtc->timer);
	if (ret)
		goto free;
	ret = vmm_bus_add(vmm->pio, VMM_PORT_RTC, 2, rtc_io, rtc, "rtc");
	if (ret)
		goto free_timer;
	*out = rtc;
	return 0;
free_timer:
	vmm_timer_free(rtc->timer);
free:
	free(rtc);
	return ret;
}

void vmm_rtc_free(struct vmm_rtc *rtc)
{
	if (!rtc)
		return;
	vmm_bus_remove(rtc->vmm->pio, VMM_PORT_RTC);
	vmm_timer_free(rtc->timer);
	free(rtc);
}
