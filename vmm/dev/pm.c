// SPDX-License-Identifier: GPL-2.0-only
/*
 * ACPI fixed hardware (ACPI 6.4, 4.8.3) and the two inventions of this machine: the
 * ejection register and the general-purpose event that tells of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vmm/acpi/sleep.h"
#include "vmm/dev/pm.h"
#include "vmm/layout.h"
#include "vmm/machine.h"

#define PM_TIMER_HZ 3579545u
#define NSEC	    1000000000ull

#define PM1_TMR	    (1u << 0)
#define PM1_GBL	    (1u << 5)
#define PM1_PWRBTN  (1u << 8)
#define PM1_SLPBTN  (1u << 9)
#define PM1_RTC	    (1u << 10)
/*
 * Enable bits that keep what is written. Some of the events never happen here, but
 * Linux reads each one back and reports an error when it did not stay.
 */
#define PM1_ENABLES (PM1_TMR | PM1_GBL | PM1_PWRBTN | PM1_SLPBTN | PM1_RTC)

#define CNT_SCI_EN  (1u << 0)
#define CNT_BM_RLD  (1u << 1)
#define CNT_SLP_TYP (7u << 10)
#define CNT_SLP_EN  (1u << 13)

#define RESET_CPU   (1u << 2)

#define SLOTS	    32

struct eject {
	void (*fn)(void *priv, unsigned int slot);
	void *priv;
};

struct vmm_pm {
	struct vmm *vmm;
	struct vmm_timer *timer;
	uint16_t pm1_sts;
	uint16_t pm1_en;
	uint16_t pm1_cnt;
	uint16_t gpe_sts;
	uint16_t gpe_en;
	bool sci;
	uint64_t start; /* CLOCK_MONOTONIC in ns where the PM timer read 0 */
	uint64_t tmr_half; /* count of carries into bit 31 that TMR_STS has told of */
	uint32_t pending; /* slots asked back */
	struct eject eject[SLOTS];
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

/* Derived from the clock as a whole, never by adding up, so that no rounding accumulates. */
static uint64_t ticks(const struct vmm_pm *pm)
{
	return (unsigned __int128)(now_ns() - pm->start) * PM_TIMER_HZ / NSEC;
}

/* TMR_STS rises when the counter's top bit changes (ACPI 4.8.3.3); here that is bit 31. */
static void tmr_refresh(struct vmm_pm *pm)
{
	uint64_t half = ticks(pm) >> 31;

	if (half != pm->tmr_half) {
		pm->tmr_half = half;
		pm->pm1_sts |= PM1_TMR;
	}
}

static void tmr_arm(struct vmm_pm *pm)
{
	unsigned __int128 next;
	uint64_t ns, now;

	if (!(pm->pm1_en & PM1_TMR) || (pm->pm1_sts & PM1_TMR)) {
		vmm_timer_arm(pm->timer, 0);
		return;
	}
	next = (unsigned __int128)((pm->tmr_half + 1) << 31) * NSEC;
	ns = (next + PM_TIMER_HZ - 1) / PM_TIMER_HZ;
	now = now_ns() - pm->start;
	vmm_timer_arm(pm->timer, ns > now ? ns - now : 1);
}

static void sci_update(struct vmm_pm *pm)
{
	bool level = (pm->pm1_sts & pm->pm1_en) || (pm->gpe_sts & pm->gpe_en);

	if (level == pm->sci)
		return;
	pm->sci = level;
	vmm_irq_line(pm->vmm->irq, VMM_IRQ_SCI, level);
}

static void tmr_fired(void *priv)
{
	struct vmm_pm *pm = priv;

	tmr_refresh(pm);
	tmr_arm(pm);
	sci_update(pm);
}

/*
 * Registers are wider than some accesses: merge @len bytes at @offset into @old,
 * and say which bits were written.
 */
static uint32_t merge(uint32_t old, uint64_t offset, const void *data, unsigned int len,
		      uint32_t *written)
{
	uint32_t value = 0, mask = 0;
	unsigned int i;

	for (i = 0; i < len && offset + i < 4; i++) {
		value |= (uint32_t)((const uint8_t *)data)[i] << (8 * (offset + i));
		mask |= 0xffu << (8 * (offset + i));
	}
	*written = mask;
	return (old & ~mask) | value;
}

static void answer(uint32_t value, uint64_t offset, void *data, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		((uint8_t *)data)[i] = offset + i < 4 ? value >> (8 * (offset + i)) : 0xff;
}

static void pm1_evt(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_pm *pm = priv;
	uint32_t value, written;

	tmr_refresh(pm);
	if (!write) {
		answer(pm->pm1_sts | (uint32_t)pm->pm1_en << 16, offset, data, len);
		return;
	}
	value = merge(0, offset, data, len, &written);
	pm->pm1_sts &= ~value;
	if (written >> 16)
		pm->pm1_en = ((pm->pm1_en & ~(written >> 16)) | value >> 16) & PM1_ENABLES;
	tmr_arm(pm);
	sci_update(pm);
}

static void pm1_cnt(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_pm *pm = priv;
	uint32_t value, written;

	if (!write) {
		answer(pm->pm1_cnt | CNT_SCI_EN, offset, data, len);
		return;
	}
	value = merge(pm->pm1_cnt, offset, data, len, &written);
	/* SLP_EN and GBL_RLS are write-only; SCI_EN does not leave ACPI mode here. */
	pm->pm1_cnt = value & (CNT_BM_RLD | CNT_SLP_TYP);
	if ((value & CNT_SLP_EN) && (value & CNT_SLP_TYP) >> 10 == VMM_SLP_TYP_S5)
		vmm_end(pm->vmm, VMM_END_POWEROFF);
}

static void pm_tmr(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	if (!write)
		answer(ticks(priv), offset, data, len);
}

static void gpe0(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_pm *pm = priv;
	uint32_t value, written;

	if (!write) {
		answer(pm->gpe_sts | (uint32_t)pm->gpe_en << 16, offset, data, len);
		return;
	}
	value = merge(0, offset, data, len, &written);
	pm->gpe_sts &= ~value;
	pm->gpe_en = (pm->gpe_en & ~(written >> 16)) | value >> 16;
	sci_update(pm);
}

static void ejection(void *priv, uint64_t offset, void *data, unsigned int len, bool write)
{
	struct vmm_pm *pm = priv;
	uint32_t value, written;
	unsigned int slot;

	if (!write) {
		answer(pm->pending, offset, data, len);
		return;
	}
	/* A slot that nobody asked back stays: the guest's own whim must not unplug it for good. */
	value = merge(0, offset, data, len, &written) & pm->pending;
	for (slot = 1; slot < SLOTS; slot++) {
		struct eject e = pm->eject[slot];

		if (!(value & 1u << slot))
			continue;
		vmm_pm_eject_cancel(pm, slot);
		if (e.fn)
			e.fn(e.priv, slot);
	}
}

static const struct vmm_bus_range ranges[] = {
	{ VMM_PORT_PM1_EVT, 4, pm1_evt, "pm1-event" },
	{ VMM_PORT_PM1_CNT, 2, pm1_cnt, "pm1-control" },
	{ VMM_PORT_PM_TMR, 4, pm_tmr, "pm-timer" },
	{ VMM_PORT_GPE0, 4, gpe0, "gpe0" },
	{ VMM_PORT_EJECT, 4, ejection, "eject" },
};

#define NR_RANGES (sizeof(ranges) / sizeof(ranges[0]))

void vmm_pm_power_button(struct vmm_pm *pm)
{
	pm->pm1_sts |= PM1_PWRBTN;
	sci_update(pm);
}

void vmm_pm_eject_request(struct vmm_pm *pm, unsigned int slot,
			  void (*ejected)(void *priv, unsigned int slot), void *priv)
{
	if (slot < 1 || slot >= SLOTS)
		return;
	pm->pending |= 1u << slot;
	pm->eject[slot] = (struct eject){ ejected, priv };
	pm->gpe_sts |= 1u << VMM_GPE_EJECT;
	sci_update(pm);
}

void vmm_pm_eject_cancel(struct vmm_pm *pm, unsigned int slot)
{
	if (slot < 1 || slot >= SLOTS)
		return;
	pm->pending &= ~(1u << slot);
	pm->eject[slot] = (struct eject){ 0 };
}

void vmm_pm_reset_register(struct vmm_pm *pm, uint8_t value)
{
	if (value & RESET_CPU)
		vmm_reset(pm->vmm);
}

void vmm_pm_reset(struct vmm_pm *pm)
{
	pm->pm1_sts = 0;
	pm->pm1_en = 0;
	pm->pm1_cnt = 0;
	pm->gpe_sts = 0;
	pm->gpe_en = 0;
	pm->pending = 0;
	memset(pm->eject, 0, sizeof(pm->eject));
	pm->start = now_ns();
	pm->tmr_half = 0;
	vmm_timer_arm(pm->timer, 0);
	sci_update(pm);
}

int vmm_pm_new(struct vmm *vmm, struct vmm_pm **out)
{
	struct vmm_pm *pm = calloc(1, sizeof(*pm));
	int ret;

	if (!pm)
		return -ENOMEM;
	pm->vmm = vmm;
	ret = vmm_timer_new(vmm->loop, tmr_fired, pm, &pm->timer);
	if (ret)
		goto free;
	vmm_pm_reset(pm);
	ret = vmm_bus_add_all(vmm->pio, ranges, NR_RANGES, pm);
	if (ret)
		goto no_ranges;
	*out = pm;
	return 0;
no_ranges:
	vmm_timer_free(pm->timer);
free:
	free(pm);
	return ret;
}

void vmm_pm_free(struct vmm_pm *pm)
{
	if (!pm)
		return;
	vmm_bus_remove_all(pm->vmm->pio, ranges, NR_RANGES);
	vmm_timer_free(pm->timer);
	free(pm);
}
