// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include <mt/explain.h>

bool mt_kernel_at_least(struct mt_kernel k, unsigned int major, unsigned int minor)
{
	return k.major != major ? k.major > major : k.minor >= minor;
}

bool mt_kernel_has_pat_quirk(struct mt_kernel k)
{
	if (k.major == 6 && k.minor == 12)
		return k.patch >= 78;
	return mt_kernel_at_least(k, 6, 16);
}

/* The one release that let guest MTRRs reach device pages, and SVM's nested leaves. */
static bool is_42(struct mt_kernel k)
{
	return k.major == 4 && k.minor == 2;
}

static void step4(struct mt_explanation *e, enum mt_why why, unsigned int a, unsigned int b,
		  unsigned int c, unsigned int d)
{
	if (e->count < MT_STEPS_MAX)
		e->steps[e->count++] =
			(struct mt_step){ why, { (uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d } };
}

static void step(struct mt_explanation *e, enum mt_why why)
{
	step4(e, why, 0, 0, 0, 0);
}

static void step1(struct mt_explanation *e, enum mt_why why, enum mt_type type)
{
	step4(e, why, type, 0, 0, 0);
}

static void leaf(struct mt_explanation *e, enum mt_why why, enum mt_type type, bool ipat)
{
	e->leaf = type;
	e->ipat = ipat;
	step1(e, why, type);
}

/* What KVM believes: it hears of non-coherent DMA only through its VFIO device. */
static bool noncoherent(const struct mt_case *c)
{
	return !c->coherent && !c->unregistered;
}

/* CR0.CD=1 and a leaf that follows it; false where this kernel does not look at it. */
static bool vmx_cd_leaf(const struct mt_case *c, struct mt_explanation *e)
{
	bool looks = c->backing == MT_RAM ? noncoherent(c) : is_42(c->kernel);

	if (!c->guest_cd || mt_kernel_at_least(c->kernel, 6, 11) || !looks)
		return false;
	e->leaf = c->cd_quirk_off ? MT_UC : MT_WB;
	e->ipat = c->cd_quirk_off || !mt_kernel_at_least(c->kernel, 6, 7);
	step4(e, MT_WHY_GUEST_CD, e->leaf, e->ipat, 0, 0);
	return true;
}

static void vmx_leaf(const struct mt_case *c, struct mt_explanation *e)
{
	if (vmx_cd_leaf(c, e))
		return;
	if (c->backing == MT_BAR) {
		if (is_42(c->kernel))
			leaf(e, MT_WHY_EPT_GUEST_MTRR, c->guest_mtrr, false);
		else
			leaf(e, MT_WHY_EPT_MMIO, MT_UC, false);
		return;
	}
	if (noncoherent(c)) {
		if (mt_kernel_at_least(c->kernel, 6, 11))
			leaf(e, MT_WHY_EPT_RAM, MT_WB, false);
		else
			leaf(e, MT_WHY_EPT_GUEST_MTRR, c->guest_mtrr, false);
		return;
	}
	if (c->quirk_off && mt_kernel_has_pat_quirk(c->kernel)) {
		step(e, MT_WHY_QUIRK_OFF);
		leaf(e, MT_WHY_EPT_RAM, MT_WB, false);
		return;
	}
	leaf(e, MT_WHY_EPT_RAM_FORCED, MT_WB, true);
}

static int svm_leaf(const struct mt_case *c, struct mt_explanation *e)
{
	if (!is_42(c->kernel)) {
		leaf(e, MT_WHY_NPT_INDEX0, MT_WB, false);
		return 0;
	}
	if (c->backing == MT_BAR) {
		leaf(e, MT_WHY_NPT_MMIO, MT_UC, false);
		return 0;
	}
	if (c->unregistered) {
		leaf(e, MT_WHY_NPT_INDEX0, MT_WB, false);
		return 0;
	}
	if (c->guest_mtrr == MT_WP)
		return -ENODATA;
	leaf(e, MT_WHY_NPT_GUEST_MTRR, c->guest_mtrr, false);
	return 0;
}

static void module_leaf(const struct mt_case *c, struct mt_explanation *e)
{
	const struct mt_leaf_case lc = {
		.mode = c->mode,
		.vendor = c->vendor,
		.backing = c->backing,
		.coherent = !noncoherent(c),
		.guest_mtrr = c->guest_mtrr,
		.host_mtrr = c->host_mtrr,
	};
	struct mt_leaf_want want = mt_policy_leaf(&lc);

	if (c->mode != MT_MODE_MODULE)
		return;
	if (!(c->kernel.major == 5 && c->kernel.minor == 10) &&
	    !(c->kernel.major == 6 && (c->kernel.minor == 1 || c->kernel.minor == 12)))
		step(e, MT_WHY_MODULE_KERNEL);
	if (want.stock)
		step1(e, MT_WHY_MODULE_STOCK, c->guest_mtrr);
	else
		leaf(e, MT_WHY_MODULE_LEAF, want.type, want.ipat);
}

static int pat_index(const struct mt_case *c)
{
	return c->pat_index >= 0 ? c->pat_index : mt_pat_find(MT_PAT_LINUX, c->guest_pat);
}

/* Type that the processor finds in the PAT which is really loaded. */
static enum mt_type loaded_pat(const struct mt_case *c, struct mt_explanation *e)
{
	enum mt_type type = c->guest_pat;

	if (c->vendor == MT_AMD && is_42(c->kernel)) {
		if (c->unregistered) {
			type = MT_WB;
			step4(e, MT_WHY_GPAT_WB, type, c->guest_pat, 0, 0);
			return type;
		}
	} else if (c->vendor == MT_AMD && !mt_kernel_at_least(c->kernel, 4, 15)) {
		unsigned int index = (unsigned int)pat_index(c);

		type = mt_pat_entry(MT_PAT_RESET, index);
		if (type != c->guest_pat)
			step4(e, MT_WHY_GPAT_RESET, index, type, c->guest_pat, 0);
		return type;
	}
	if (c->mode == MT_MODE_PAT && c->guest_pat == MT_UC_MINUS) {
		type = MT_WC;
		step4(e, MT_WHY_PAT_SHADOWED, c->guest_pat, type, 0, 0);
	}
	return type;
}

static int shadow_result(const struct mt_case *c, struct mt_explanation *e)
{
	int ret;

	e->leaf = MT_WB;
	step(e, MT_WHY_SHADOW);
	module_leaf(c, e);
	ret = mt_combine(c->vendor, c->host_mtrr, e->leaf, &e->effective);
	if (!ret)
		step4(e, MT_WHY_MTRR_RESULT, c->host_mtrr, e->leaf, e->effective.type, 0);
	return ret;
}

static int vmx_result(const struct mt_case *c, struct mt_explanation *e)
{
	enum mt_type pat;
	int ret;

	vmx_leaf(c, e);
	module_leaf(c, e);
	pat = loaded_pat(c, e);
	/* KVM owns the processor's CR0.CD under VMX, so it is clear here. */
	ret = mt_combine_ept(e->leaf, e->ipat, pat, false, &e->effective);
	if (!ret)
		step4(e, MT_WHY_EPT_RESULT, e->leaf, e->ipat, pat, e->effective.type);
	return ret;
}

static int svm_result(const struct mt_case *c, struct mt_explanation *e)
{
	bool cd = c->guest_cd && c->cd_quirk_off;
	enum mt_type pat, both;
	int ret = svm_leaf(c, e);

	if (ret)
		return ret;
	module_leaf(c, e);
	pat = loaded_pat(c, e);
	ret = mt_combine_npt_pat(pat, e->leaf, &both);
	if (!ret)
		ret = mt_combine_npt(pat, e->leaf, c->host_mtrr, cd, false, &e->effective);
	if (ret)
		return ret;
	if (cd) {
		step1(e, MT_WHY_HARDWARE_CD, e->effective.type);
		return 0;
	}
	step4(e, MT_WHY_NPT_RESULT, pat, e->leaf, both, 0);
	step4(e, MT_WHY_MTRR_RESULT, c->host_mtrr, both, e->effective.type, 0);
	return 0;
}

static int result(const struct mt_case *c, struct mt_explanation *e)
{
	int ret;

	e->count = 0;
	e->ipat = false;
	if (!mt_type_in_mtrr(c->host_mtrr) || c->pat_index > 7)
		return -EINVAL;
	ret = mt_combine(c->vendor, c->guest_mtrr, c->guest_pat, &e->bare_metal);
	if (ret || c->guest_pat == MT_WC_PLUS)
		return -EINVAL;
	if (c->guest_cd && !mt_kernel_at_least(c->kernel, 4, 2))
		return -ENODATA;
	step4(e, MT_WHY_ASKED, c->guest_mtrr, c->guest_pat, e->bare_metal.type, 0);
	if (c->unregistered)
		step(e, MT_WHY_UNREGISTERED);
	if (c->quirk_off && (c->vendor != MT_INTEL || !mt_kernel_has_pat_quirk(c->kernel)))
		step(e, MT_WHY_NO_QUIRK);
	if (c->shadow)
		return shadow_result(c, e);
	return c->vendor == MT_INTEL ? vmx_result(c, e) : svm_result(c, e);
}

/* What would help is found by asking the same question of the same rules. */
static void remedies(const struct mt_case *c, struct mt_explanation *e)
{
	struct mt_explanation other;
	struct mt_case with = *c;

	with.mode = MT_MODE_MODULE;
	if (c->mode != MT_MODE_MODULE && !result(&with, &other) &&
	    other.effective.type == e->bare_metal.type)
		step1(e, MT_WHY_REMEDY_MODULE, other.effective.type);
	with = *c;
	with.guest_pat = MT_WC;
	with.pat_index = -1;
	if (e->bare_metal.type == MT_WC && c->guest_pat != MT_WC && !result(&with, &other) &&
	    other.effective.type == MT_WC)
		step1(e, MT_WHY_REMEDY_PAT, other.effective.type);
}

int mt_explain(const struct mt_case *c, struct mt_explanation *out)
{
	int ret = result(c, out);

	if (ret)
		return ret;
	if (out->effective.type == out->bare_metal.type) {
		step(out, MT_WHY_AS_ASKED);
		return 0;
	}
	step4(out, MT_WHY_LOST, out->bare_metal.type, out->effective.type, 0, 0);
	remedies(c, out);
	return 0;
}
