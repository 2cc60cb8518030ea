/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * Which type a guest's store really gets, and why: KVM's rules release by
 * release, then the processor's. Steps are codes with arguments; whoever shows
 * them finds the words.
 */
#ifndef MT_EXPLAIN_H
#define MT_EXPLAIN_H

#include <mt/combine.h>
#include <mt/policy.h>

/**
 * struct mt_kernel - a release of Linux.
 * @major: 6 of 6.12.78.
 * @minor: 12.
 * @patch: 78; 0 when not known.
 */
struct mt_kernel {
	uint16_t major;
	uint16_t minor;
	uint16_t patch;
};

/** enum mt_why - one step of an explanation. Arguments of struct mt_step in brackets. */
enum mt_why {
	MT_WHY_ASKED,	       /* on bare metal these would give [MTRR, PAT, effective] */
	MT_WHY_UNREGISTERED,   /* the monitor did not tell KVM of the device: DMA counts as coherent */
	MT_WHY_NO_QUIRK,       /* this kernel or vendor does not have the quirk: it is ignored */
	MT_WHY_QUIRK_OFF,      /* IGNORE_GUEST_PAT is disabled: RAM has no IPAT */
	MT_WHY_GUEST_CD,       /* the guest's CR0.CD makes the leaf [type, IPAT] */
	MT_WHY_SHADOW,	       /* no nested paging: the guest's PAT is never looked at */
	MT_WHY_EPT_MMIO,       /* device pages get [leaf type], without IPAT */
	MT_WHY_EPT_GUEST_MTRR, /* this kernel takes the guest's MTRR: [leaf type], no IPAT */
	MT_WHY_EPT_RAM_FORCED, /* DMA is coherent: RAM gets [leaf type] with IPAT */
	MT_WHY_EPT_RAM,	       /* RAM gets [leaf type] without IPAT */
	MT_WHY_NPT_INDEX0,     /* nested leaves get index 0: [type] */
	MT_WHY_NPT_MMIO,       /* this kernel gives device pages an uncached nested leaf: [type] */
	MT_WHY_NPT_GUEST_MTRR, /* this kernel takes the guest's MTRR: nested leaf [type] */
	MT_WHY_MODULE_LEAF,    /* kvm-memtype.ko makes the leaf [type] */
	MT_WHY_MODULE_STOCK,   /* kvm-memtype.ko leaves the leaf alone: the guest's MTRR is [type] */
	MT_WHY_MODULE_KERNEL,  /* kvm-memtype.ko is not made for this kernel */
	MT_WHY_GPAT_RESET,     /* G_PAT keeps its reset value: index [i] is [type], not [asked] */
	MT_WHY_GPAT_WB,	       /* KVM loads an all-WB G_PAT: [type], not [asked] */
	MT_WHY_PAT_SHADOWED,   /* the shadow PAT turns [asked] into [type] */
	MT_WHY_EPT_RESULT,     /* EPT [leaf, IPAT, PAT] gives [effective] */
	MT_WHY_NPT_RESULT,     /* first step: guest [PAT] with nested [leaf] gives [type] */
	MT_WHY_MTRR_RESULT,    /* the machine's MTRR [type] with [type] gives [effective] */
	MT_WHY_HARDWARE_CD,    /* CR0.CD reaches the processor: [effective] */
	MT_WHY_AS_ASKED,       /* which is what bare metal gives */
	MT_WHY_LOST,	       /* which is not what bare metal gives: [bare metal, effective] */
	MT_WHY_REMEDY_MODULE,  /* with kvm-memtype.ko it would be [effective] */
	MT_WHY_REMEDY_PAT,     /* a guest that asks through a PAT entry WC would get [effective] */
};

#define MT_STEPS_MAX 16

/**
 * struct mt_step - one step.
 * @why: which.
 * @arg: its arguments in the order that enum mt_why names them; types are enum mt_type.
 */
struct mt_step {
	enum mt_why why;
	uint8_t arg[4];
};

/**
 * struct mt_case - a guest's store.
 * @vendor: host's processor.
 * @kernel: host's kernel.
 * @backing: BAR or RAM.
 * @coherent: DMA of the assigned devices is enforced coherent.
 * @guest_mtrr: type by the guest's MTRRs at the address.
 * @guest_pat: type that the guest means by its page-table entry.
 * @pat_index: index that the entry chooses, -1 for the one that Linux uses for @guest_pat.
 * @mode: how types are virtualized.
 * @quirk_off: KVM_X86_QUIRK_IGNORE_GUEST_PAT is disabled.
 * @guest_cd: the guest has CR0.CD set.
 * @cd_quirk_off: KVM_X86_QUIRK_CD_NW_CLEARED is disabled.
 * @shadow: KVM runs without EPT or NPT.
 * @unregistered: the monitor did not add the device's file to KVM's VFIO device.
 * @host_mtrr: type by the machine's MTRRs for the page behind it: UC for a BAR and WB for
 *             RAM on a sound host.
 */
struct mt_case {
	enum mt_vendor vendor;
	struct mt_kernel kernel;
	enum mt_backing backing;
	bool coherent;
	enum mt_type guest_mtrr;
	enum mt_type guest_pat;
	int pat_index;
	enum mt_mode mode;
	bool quirk_off;
	bool guest_cd;
	bool cd_quirk_off;
	bool shadow;
	bool unregistered;
	enum mt_type host_mtrr;
};

/**
 * struct mt_explanation - the answer.
 * @effective: type that the store gets.
 * @bare_metal: type that it would get without virtualization.
 * @leaf: type of the second-level leaf, or of the shadow entry.
 * @ipat: IPAT of the EPT leaf.
 * @steps: why, in order.
 * @count: how many.
 */
struct mt_explanation {
	struct mt_effective effective;
	struct mt_effective bare_metal;
	enum mt_type leaf;
	bool ipat;
	struct mt_step steps[MT_STEPS_MAX];
	uint32_t count;
};

/**
 * mt_explain() - what a guest's store gets under KVM, and why.
 * @c: the store.
 * @out: the answer.
 *
 * Sources: vmx_get_mt_mask() and svm.c of Linux 4.2, 5.10, 6.1, 6.12 and later; the
 * manuals as in mt/combine.h. Of the kernels in between, the releases in which the rule changed
 * are known from their commits: 4.2 honoured guest MTRRs, 4.3 took it back; SVM
 * loads the guest's PAT since 4.15; guest MTRRs are only stored since 6.11; the quirk
 * IGNORE_GUEST_PAT came with 6.16 and 6.12.78.
 *
 * Return: 0; -EINVAL for a type that cannot stand where it does or an index beyond 7;
 * -ENODATA for a case that is not known (CR0.CD before 4.2; a guest MTRR WP on RAM under
 * SVM in 4.2, which that kernel's PAT had no entry for).
 */
int mt_explain(const struct mt_case *c, struct mt_explanation *out);

/**
 * mt_kernel_at_least() - order of releases.
 * @k: release.
 * @major: of the other.
 * @minor: of the other.
 *
 * Return: whether @k is that release or a later one.
 */
bool mt_kernel_at_least(struct mt_kernel k, unsigned int major, unsigned int minor);

/**
 * mt_kernel_has_pat_quirk() - whether KVM_X86_QUIRK_IGNORE_GUEST_PAT exists.
 * @k: release.
 *
 * Return: true from 6.16 on, and in the 6.12 series from 6.12.78.
 */
bool mt_kernel_has_pat_quirk(struct mt_kernel k);

#endif
