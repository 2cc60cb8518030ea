/* SPDX-License-Identifier: GPL-2.0-only */
/* What a store to a stretch of a BAR gets; shared by the files of this directory only. */
#ifndef VMM_MEMTYPE_VERDICT_H
#define VMM_MEMTYPE_VERDICT_H

#include "vmm/memtype/state.h"

/**
 * struct vmm_mt_use - how a guest's entry uses a stretch.
 * @pat: type that the guest means: its PAT at @index, or WB while paging is off.
 * @hw_pat: the same of the PAT that is loaded.
 * @index: PAT index of the entry; -1 while paging is off.
 */
struct vmm_mt_use {
	enum mt_type pat;
	enum mt_type hw_pat;
	int index;
};

/** vmm_mt_use_of() - an entry with an index on a CPU. @cpu: CPU. @index: 0 to 7, or -1 for paging off. Return: the use. */
struct vmm_mt_use vmm_mt_use_of(const struct vmm_mt_cpu *cpu, int index);

/** vmm_mt_use_assumed() - the entry that a kernel without PAT makes for registers: UC-. @cpu: CPU. Return: the use. */
struct vmm_mt_use vmm_mt_use_assumed(const struct vmm_mt_cpu *cpu);

/**
 * vmm_mt_judge() - what a store gets, and why.
 * @mt: state.
 * @cut: the stretch.
 * @use: entry that the store goes through.
 * @host_mtrr: the machine's MTRR type of the BAR.
 * @out: receives effective type, leaf and steps; no steps when the PAT that is loaded is one
 *       of which mt_explain() knows nothing.
 */
void vmm_mt_judge(const struct vmm_mt *mt, const struct vmm_mt_cut *cut,
		  const struct vmm_mt_use *use, enum mt_type host_mtrr,
		  struct mt_explanation *out);

#endif
