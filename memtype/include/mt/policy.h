/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only */
/*
 * What to do about a guest's wishes: the leaf that a page should have, and the
 * PAT that a virtual processor should run with. One table serves VMX and SVM,
 * because a nested leaf of type WC mirrors an EPT leaf of type WC without IPAT
 * (APM vol. 2 15.25.8 against Intel SDM vol. 3 "EPT and Memory Typing"): UC-, WC and
 * WB of the guest become WC, everything else UC.
 */
#ifndef MT_POLICY_H
#define MT_POLICY_H

#include <mt/pat.h>

/** enum mt_mode - how a machine's memory types are virtualized. */
enum mt_mode {
	MT_MODE_OFF,	/* as KVM does by itself */
	MT_MODE_MODULE, /* leaves are rewritten as KVM makes them */
	MT_MODE_PAT,	/* a shadow PAT, leaves as KVM makes them */
};

/** enum mt_backing - what lies behind a guest page. */
enum mt_backing {
	MT_BAR, /* registers of an assigned device */
	MT_RAM, /* host memory */
};

/**
 * struct mt_leaf_case - what decides about a leaf.
 * @mode: how types are virtualized.
 * @vendor: VMX or SVM.
 * @backing: what lies behind the page.
 * @coherent: all DMA of assigned devices is coherent with the caches, or none is assigned.
 * @guest_mtrr: type by the guest's MTRRs.
 * @host_mtrr: type by the machine's MTRRs for the page itself; matters on AMD. UC for a
 *             BAR on a sound host.
 */
struct mt_leaf_case {
	enum mt_mode mode;
	enum mt_vendor vendor;
	enum mt_backing backing;
	bool coherent;
	enum mt_type guest_mtrr;
	enum mt_type host_mtrr;
};

/**
 * struct mt_leaf_want - the leaf that a page should have.
 * @type: type of the leaf.
 * @ipat: whether the guest's PAT is to be ignored; on SVM there is no such bit, and
 *        mt_policy_pat() does what can be done.
 * @stock: leave the leaf as KVM makes it; @type and @ipat then say what that is on
 *         VMX from Linux 6.11 on.
 */
struct mt_leaf_want {
	enum mt_type type;
	bool ipat;
	bool stock;
};

/**
 * mt_policy_leaf() - the leaf wanted.
 * @c: what decides.
 *
 * A leaf made by this policy for a BAR is WC where the guest's MTRRs say WC and UC
 * elsewhere, never cacheable: a cacheable mapping of device registers ends in
 * machine checks, which is how the guest-MTRR support of Linux 4.2 ended. On an AMD host
 * whose MTRRs wrongly cover the BAR with a cacheable type, KVM's own leaf
 * (index 0) would be cacheable, and UC is asked for instead.
 *
 * Return: the leaf wanted.
 */
struct mt_leaf_want mt_policy_leaf(const struct mt_leaf_case *c);

/**
 * mt_policy_apply() - put a wish into a leaf.
 * @want: from mt_policy_leaf().
 * @vendor: EPT or NPT format.
 * @level: size of the page that the leaf maps.
 * @host_pat: IA32_PAT of the host; not used for EPT.
 * @leaf: entry as KVM makes it.
 * @out: receives the entry, unchanged for a stock leaf.
 *
 * Return: 0, or -ENOENT when the host's PAT has no such type; *@out is @leaf then.
 */
int mt_policy_apply(struct mt_leaf_want want, enum mt_vendor vendor, enum mt_level level,
		    uint64_t host_pat, uint64_t leaf, uint64_t *out);

/**
 * struct mt_pat_case - what decides about the PAT that a virtual processor runs with.
 * @mode: how types are virtualized.
 * @vendor: VMX or SVM.
 * @guest_pat: what the guest wrote.
 * @coherent: as in struct mt_leaf_case.
 * @bar_mapped: pages of some BAR are mapped straight into the guest.
 * @wc_on_bar: the guest's MTRRs say WC somewhere on such pages.
 * @no_combining: some page that is mapped straight may not be write-combined (doorbells
 *                and other registers that must see each store).
 * @insist: the user accepts that.
 */
struct mt_pat_case {
	enum mt_mode mode;
	enum mt_vendor vendor;
	uint64_t guest_pat;
	bool coherent;
	bool bar_mapped;
	bool wc_on_bar;
	bool no_combining;
	bool insist;
};

/**
 * mt_policy_pat() - the PAT to load into the processor.
 * @c: what decides.
 * @hw_pat: receives it; the guest goes on reading back its own.
 *
 * Mode PAT, while the guest wants WC on a BAR: each UC- entry becomes WC. That reaches
 * every UC- page of the guest, hence the refusal below. Mode module on SVM with
 * coherent DMA and no BAR mapped: all WB, which forces RAM to WB as IPAT does on VMX.
 * Otherwise what the guest wrote.
 *
 * Return: 0; -EPERM when UC- would have to become WC and @no_combining forbids it,
 * *@hw_pat is what the guest wrote then.
 */
int mt_policy_pat(const struct mt_pat_case *c, uint64_t *hw_pat);

/**
 * mt_pat_lift() - a PAT in which UC- means WC.
 * @pat: what the guest wrote.
 *
 * Return: the value with each UC- entry replaced.
 */
uint64_t mt_pat_lift(uint64_t pat);

#endif
