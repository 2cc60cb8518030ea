// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include <mt/mtrr.h>
#include <mt/pat.h>

#define DEF_TYPE_BITS (0xffull | MT_DEF_TYPE_FE | MT_DEF_TYPE_E)

/* Every known MSR is one 64-bit slot, so that reading and writing agree on where it is. */
static uint64_t *slot(struct mt_mtrr *m, uint32_t msr)
{
	if (msr >= MT_MSR_PHYSBASE(0) && msr < MT_MSR_PHYSBASE(m->vcnt)) {
		struct mt_variable *v = &m->variable[(msr - MT_MSR_PHYSBASE(0)) / 2];

		return msr & 1 ? &v->mask : &v->base;
	}
	for (unsigned int i = 0; i < MT_FIXED_REGISTERS; i++)
		if (msr == mt_fixed_msr(i))
			return &m->fixed[i];
	if (msr == MT_MSR_PAT)
		return &m->pat;
	if (msr == MT_MSR_DEF_TYPE)
		return &m->def_type;
	return NULL;
}

uint32_t mt_fixed_msr(unsigned int reg)
{
	if (reg == 0)
		return MT_MSR_FIX64K_00000;
	if (reg < 3)
		return MT_MSR_FIX16K_80000 + reg - 1;
	return MT_MSR_FIX4K_C0000 + reg - 3;
}

int mt_mtrr_init(struct mt_mtrr *m, unsigned int maxphyaddr)
{
	if (maxphyaddr < MT_MAXPHYADDR_MIN || maxphyaddr > MT_MAXPHYADDR_MAX)
		return -EINVAL;
	*m = (struct mt_mtrr){
		.pat = MT_PAT_RESET,
		.cap = MT_MTRRCAP_VALUE,
		.vcnt = MT_VARIABLE_RANGES,
		.maxphyaddr = maxphyaddr,
	};
	return 0;
}

bool mt_msr_known(const struct mt_mtrr *m, uint32_t msr)
{
	return msr == MT_MSR_MTRRCAP || slot((struct mt_mtrr *)m, msr);
}

int mt_rdmsr(const struct mt_mtrr *m, uint32_t msr, uint64_t *value)
{
	const uint64_t *where = slot((struct mt_mtrr *)m, msr);

	if (msr == MT_MSR_MTRRCAP)
		*value = m->cap;
	else if (where)
		*value = *where;
	else
		return -ENOENT;
	return 0;
}

static bool all_bytes_are_types(uint64_t value)
{
	for (unsigned int i = 0; i < 8; i++)
		if (!mt_type_in_mtrr(value >> (8 * i) & 0xff))
			return false;
	return true;
}

static enum mt_gp address_fault(const struct mt_mtrr *m, uint64_t value, uint64_t low_reserved)
{
	if (value & low_reserved)
		return MT_GP_RESERVED;
	return value >> m->maxphyaddr ? MT_GP_WIDTH : MT_GP_NONE;
}

enum mt_gp mt_wrmsr_fault(const struct mt_mtrr *m, uint32_t msr, uint64_t value)
{
	if (msr == MT_MSR_MTRRCAP)
		return MT_GP_READ_ONLY;
	if (!mt_msr_known(m, msr))
		return MT_GP_NONE;
	if (msr == MT_MSR_PAT)
		return mt_pat_valid(value) ? MT_GP_NONE : MT_GP_TYPE;
	if (msr == MT_MSR_DEF_TYPE) {
		if (!mt_type_in_mtrr(value & 0xff))
			return MT_GP_TYPE;
		return value & ~DEF_TYPE_BITS ? MT_GP_RESERVED : MT_GP_NONE;
	}
	if (msr < MT_MSR_PHYSBASE(m->vcnt)) {
		if (msr & 1)
			return address_fault(m, value, 0x7ff);
		if (!mt_type_in_mtrr(value & 0xff))
			return MT_GP_TYPE;
		return address_fault(m, value, 0xf00);
	}
	return all_bytes_are_types(value) ? MT_GP_NONE : MT_GP_TYPE;
}

int mt_wrmsr(struct mt_mtrr *m, uint32_t msr, uint64_t value)
{
	if (!mt_msr_known(m, msr))
		return -ENOENT;
	if (mt_wrmsr_fault(m, msr, value) != MT_GP_NONE)
		return -EINVAL;
	*slot(m, msr) = value;
	return 0;
}
