/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * One processor's memory type range registers and its PAT: what a WRMSR may
 * store, what a RDMSR gives back, and which type an address has.
 *
 * The registers of a guest are written with mt_wrmsr(), which knows every #GP.
 * Those of the machine itself, which may have more than eight ranges and AMD's
 * extra bits, are loaded through mt/host.h.
 */
#ifndef MT_MTRR_H
#define MT_MTRR_H

#include <mt/types.h>

#define MT_FIXED_REGISTERS 11
#define MT_FIXED_RANGES	   88
#define MT_FIXED_END	   0x100000ull

/* More than any processor is known to have; the MSR numbers would allow 40. */
#define MT_VARIABLE_MAX 16

#define MT_MAXPHYADDR_MIN 32
#define MT_MAXPHYADDR_MAX 52

/**
 * struct mt_variable - a base and mask pair as the MSRs hold it.
 * @base: PHYSBASEn.
 * @mask: PHYSMASKn.
 */
struct mt_variable {
	uint64_t base;
	uint64_t mask;
};

/**
 * struct mt_mtrr - MTRRs and PAT of one processor.
 * @def_type: IA32_MTRR_DEF_TYPE.
 * @pat: IA32_PAT.
 * @fixed: FIX64K_00000, FIX16K_80000, FIX16K_A0000, FIX4K_C0000 to FIX4K_F8000.
 * @variable: the pairs; those from @vcnt on are not consulted.
 * @wb_above_4g: end of the stretch above 4 GiB whose default type is WB
 *               (AMD's Tom2ForceMemTypeWB on a host), 0 where there is none.
 * @cap: IA32_MTRRCAP.
 * @vcnt: number of variable ranges, at most MT_VARIABLE_MAX.
 * @maxphyaddr: physical address width in bits.
 */
struct mt_mtrr {
	uint64_t def_type;
	uint64_t pat;
	uint64_t fixed[MT_FIXED_REGISTERS];
	struct mt_variable variable[MT_VARIABLE_MAX];
	uint64_t wb_above_4g;
	uint32_t cap;
	uint8_t vcnt;
	uint8_t maxphyaddr;
};

/**
 * enum mt_gp - why a WRMSR raises #GP(0).
 * @MT_GP_NONE: it does not.
 * @MT_GP_READ_ONLY: MTRRCAP cannot be written.
 * @MT_GP_TYPE: a type field holds a reserved encoding.
 * @MT_GP_RESERVED: a reserved bit is set.
 * @MT_GP_WIDTH: an address bit at or above MAXPHYADDR is set.
 */
enum mt_gp {
	MT_GP_NONE,
	MT_GP_READ_ONLY,
	MT_GP_TYPE,
	MT_GP_RESERVED,
	MT_GP_WIDTH,
};

/**
 * mt_mtrr_init() - registers as a virtual processor has them at power-on.
 * @m: receives MTRRCAP 0x508, MTRRs disabled and zero, PAT at its reset value.
 * @maxphyaddr: the guest's address width, CPUID 0x80000008 EAX[7:0], 32 to 52.
 *
 * Zero is a legal content wherever the manuals leave the reset value undefined
 * (Intel SDM vol. 3 "MTRR Initialization"; APM vol. 2 table 14-1), and is what
 * KVM starts with. INIT changes none of these registers: do not call it then.
 *
 * Return: 0, or -EINVAL for a width outside its range.
 */
int mt_mtrr_init(struct mt_mtrr *m, unsigned int maxphyaddr);

/**
 * mt_msr_known() - whether an MSR belongs to this state.
 * @m: registers; their number of variable ranges counts.
 * @msr: register number.
 *
 * Return: true for MTRRCAP, PHYSBASEn and PHYSMASKn below the count, the eleven
 * fixed-range registers, PAT and DEF_TYPE.
 */
bool mt_msr_known(const struct mt_mtrr *m, uint32_t msr);

/**
 * mt_rdmsr() - what RDMSR returns.
 * @m: registers.
 * @msr: register number.
 * @value: receives all 64 bits.
 *
 * Return: 0, or -ENOENT for a register that is not part of this state.
 */
int mt_rdmsr(const struct mt_mtrr *m, uint32_t msr, uint64_t *value);

/**
 * mt_wrmsr_fault() - which rule a WRMSR would break.
 * @m: registers; not changed.
 * @msr: a register that mt_msr_known() knows.
 * @value: all 64 bits.
 *
 * Each register is judged alone. Overlaps, masks with holes and a base that is
 * not aligned to its mask raise nothing. Source: Intel SDM vol. 3
 * "IA32_MTRR_DEF_TYPE MSR", "Fixed Range MTRRs", "Variable Range MTRRs", "IA32_PAT MSR";
 * APM vol. 2 7.7.1, 7.7.2, 7.8.1.
 *
 * Return: the first rule broken in the order of enum mt_gp, MT_GP_NONE when the
 * write is legal or the register is not known.
 */
enum mt_gp mt_wrmsr_fault(const struct mt_mtrr *m, uint32_t msr, uint64_t value);

/**
 * mt_wrmsr() - carry out WRMSR.
 * @m: registers; unchanged when the write is refused.
 * @msr: register number.
 * @value: all 64 bits.
 *
 * Return: 0; -EINVAL when it raises #GP(0), mt_wrmsr_fault() says why; -ENOENT
 * for a register that is not part of this state.
 */
int mt_wrmsr(struct mt_mtrr *m, uint32_t msr, uint64_t value);

/**
 * struct mt_range_type - the type of an address and how firm it is.
 * @type: UC, WC, WT, WP or WB.
 * @undefined: the manuals leave this overlap undefined; @type is the most
 *             uncached of the types that take part.
 */
struct mt_range_type {
	enum mt_type type;
	bool undefined;
};

/**
 * mt_mtrr_type() - memory type of a physical address, from the registers directly.
 * @m: registers.
 * @addr: physical address, any 64-bit value.
 *
 * Precedence (Intel SDM vol. 3 "MTRR Precedences"; APM vol. 2 7.7.4): disabled
 * MTRRs mean UC everywhere; enabled fixed ranges win below 1 MiB; of the
 * variable ranges that match, equal types agree, UC wins, WT wins over WB, any
 * other mix is undefined; the default type is left. Mask bits at and above
 * MAXPHYADDR count as one, so no range reaches beyond the width.
 *
 * Takes one step for each variable range. A caller that asks often builds a map
 * (mt/map.h) once.
 *
 * Return: the type.
 */
struct mt_range_type mt_mtrr_type(const struct mt_mtrr *m, uint64_t addr);

/**
 * mt_fixed_range() - where one of the 88 fixed ranges lies.
 * @index: 0 to 87, in order of address.
 * @start: receives its first byte's address.
 * @size: receives 64 KiB, 16 KiB or 4 KiB.
 */
void mt_fixed_range(unsigned int index, uint64_t *start, uint32_t *size);

/**
 * mt_fixed_index() - which fixed range holds an address.
 * @addr: below MT_FIXED_END.
 *
 * Return: 0 to 87; byte (index % 8) of fixed register (index / 8).
 */
unsigned int mt_fixed_index(uint64_t addr);

/**
 * mt_fixed_msr() - MSR number of a fixed register.
 * @reg: 0 to MT_FIXED_REGISTERS - 1, in order of address.
 *
 * Return: 0x250, 0x258, 0x259 or 0x268 to 0x26f.
 */
uint32_t mt_fixed_msr(unsigned int reg);

#endif
