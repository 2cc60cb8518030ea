/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * The machine's own memory-type registers, as read from it: more variable
 * ranges than a guest has, and AMD's registers that say where an access goes
 * (to DRAM or to devices) beside how it is cached.
 */
#ifndef MT_HOST_H
#define MT_HOST_H

#include <mt/mtrr.h>

#define MT_MSR_SYSCFG	    0xc0010010u
#define MT_MSR_IORR_BASE(n) (0xc0010016u + 2 * (n))
#define MT_MSR_IORR_MASK(n) (0xc0010017u + 2 * (n))
#define MT_MSR_TOP_MEM	    0xc001001au
#define MT_MSR_TOP_MEM2	    0xc001001du
#define MT_IORRS	    2

#define MT_SYSCFG_FIX_DRAM_EN	  (1u << 18) /* RdMem and WrMem of fixed ranges take effect */
#define MT_SYSCFG_FIX_DRAM_MOD_EN (1u << 19) /* they are visible and can be written */
#define MT_SYSCFG_VAR_DRAM_EN	  (1u << 20) /* TOP_MEM and IORRs take effect */
#define MT_SYSCFG_TOM2_EN	  (1u << 21) /* so does TOP_MEM2 */
#define MT_SYSCFG_TOM2_WB	  (1u << 22) /* Tom2ForceMemTypeWB */

#define MT_FIXED_RDMEM	0x10u
#define MT_FIXED_WRMEM	0x08u

/** enum mt_route - where the memory controller sends an access. */
enum mt_route {
	MT_ROUTE_MMIO,
	MT_ROUTE_DRAM,
};

/**
 * struct mt_host - registers of one processor of the machine.
 * @mtrr: MTRRs and PAT; its look-ups and maps know of Tom2ForceMemTypeWB.
 * @vendor: whose machine.
 * @syscfg: SYSCFG; AMD.
 * @top_mem: TOP_MEM; AMD.
 * @top_mem2: TOP_MEM2; AMD.
 * @iorr: I/O range registers, base and mask; AMD.
 */
struct mt_host {
	struct mt_mtrr mtrr;
	enum mt_vendor vendor;
	uint64_t syscfg;
	uint64_t top_mem;
	uint64_t top_mem2;
	struct mt_variable iorr[MT_IORRS];
};

/**
 * mt_host_init() - start with nothing read.
 * @h: receives MTRRs disabled, PAT at reset.
 * @vendor: whose machine.
 * @cap: what MTRRCAP reads.
 * @maxphyaddr: physical address width, 32 to 52.
 *
 * Return: 0; -EINVAL for a width outside its range; -E2BIG when the processor has
 * more than MT_VARIABLE_MAX variable ranges.
 */
int mt_host_init(struct mt_host *h, enum mt_vendor vendor, uint32_t cap, unsigned int maxphyaddr);

/**
 * mt_host_load() - take over the content of one register.
 * @h: registers.
 * @msr: register number.
 * @value: what RDMSR gave.
 *
 * On AMD bits 4 and 3 of a fixed-range byte are RdMem and WrMem (APM vol. 2 7.9.1);
 * they are kept.
 *
 * Return: 0; -ENOENT for a register that is not part of this state; -EINVAL for a
 * value that the register cannot hold.
 */
int mt_host_load(struct mt_host *h, uint32_t msr, uint64_t value);

/**
 * mt_host_route() - where reads and writes of an address go. AMD.
 * @h: registers of an AMD machine.
 * @addr: physical address.
 * @read: receives where reads go.
 * @write: receives where writes go.
 *
 * RdMem and WrMem of the fixed range below 1 MiB if SYSCFG lets them take effect, whether or
 * not MTRRs are enabled; else a matching IORR; else DRAM below TOP_MEM and from 4 GiB
 * to TOP_MEM2, devices elsewhere (APM vol. 2 7.9).
 *
 * Return: 0; -ENODATA where SYSCFG has what decides switched off (VAR_DRAM_EN clear),
 * or hides it (FIX_DRAM_MOD_EN clear: the bits read as zero).
 */
int mt_host_route(const struct mt_host *h, uint64_t addr, enum mt_route *read,
		  enum mt_route *write);

/**
 * mt_host_route_legal() - whether a type may stand with a routing. AMD.
 * @read: where reads go.
 * @write: where writes go.
 * @type: type by the MTRRs.
 *
 * Source: APM vol. 2 7.9.1 table 7-13.
 *
 * Return: false for the reserved combinations.
 */
bool mt_host_route_legal(enum mt_route read, enum mt_route write, enum mt_type type);

#endif
