// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a guest's store gets, kernel by kernel. The table was derived by hand from
 * the kernels' sources and the manuals, not from this library. P is a guest that
 * uses a PAT entry WC, M one that uses an MTRR WC over a page mapped UC-.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <mt/explain.h>
#include "suite.h"

enum column { P_BAR, M_BAR, P_RAM, M_RAM, P_RAM_NC, M_RAM_NC, COLUMNS };

enum flag { NONE, QUIRK_OFF, SHADOW, UNREGISTERED };

struct line {
	enum mt_vendor vendor;
	const char *kernels; /* all of which behave the same */
	enum flag flag;
	const char *result[COLUMNS]; /* "-": no such case */
};

static const struct line lines[] = {
	{ MT_INTEL, "2.6.38 3.2 3.16 4.0 4.1", NONE, { "WC", "UC", "WB", "WB", "WC", "WC" } },
	{ MT_INTEL, "4.2", NONE, { "WC", "WC", "WB", "WB", "WC", "WC" } },
	{ MT_INTEL, "4.3 4.9 4.14 4.15 4.19 5.4 5.10 5.15 6.1 6.6 6.7 6.10", NONE,
	  { "WC", "UC", "WB", "WB", "WC", "WC" } },
	{ MT_INTEL, "6.11 6.12 6.12.77 6.13 6.15", NONE, { "WC", "UC", "WB", "WB", "WC", "UC" } },
	{ MT_INTEL, "6.16 6.12.78 6.12.117 6.17 7.3", NONE,
	  { "WC", "UC", "WB", "WB", "WC", "UC" } },
	{ MT_INTEL, "6.16 6.12.78 6.12.117 7.3", QUIRK_OFF,
	  { "WC", "UC", "WC", "UC", "WC", "UC" } },
	{ MT_INTEL, "3.2 4.1 4.2 4.3 5.10 6.1 6.12 6.16 7.3", SHADOW,
	  { "UC", "UC", "WB", "WB", "WB", "WB" } },
	{ MT_AMD, "3.2 4.1 4.3 4.9 4.14", NONE, { "UC", "UC", "WT", "CD", "WT", "CD" } },
	{ MT_AMD, "4.2", NONE, { "WC", "UC", "WC+", "WC", "WC+", "WC" } },
	{ MT_AMD, "4.2", UNREGISTERED, { "UC", "UC", "WB", "WB", "-", "-" } },
	{ MT_AMD, "4.15 4.19 5.4 5.10 6.1 6.12 6.12.117 7.3", NONE,
	  { "WC", "UC", "WC+", "CD", "WC+", "CD" } },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct mt_kernel kernel(const char *text)
{
	struct mt_kernel k = { 0, 0, 0 };

	ck_assert_int_ge(sscanf(text, "%hu.%hu.%hu", &k.major, &k.minor, &k.patch), 2);
	return k;
}

static struct mt_case of(enum mt_vendor vendor, const char *k, enum column column)
{
	bool pat_guest = column == P_BAR || column == P_RAM || column == P_RAM_NC;
	bool bar = column == P_BAR || column == M_BAR;

	return (struct mt_case){
		.vendor = vendor,
		.kernel = kernel(k),
		.backing = bar ? MT_BAR : MT_RAM,
		.coherent = column != P_RAM_NC && column != M_RAM_NC,
		.guest_mtrr = pat_guest ? (bar ? MT_UC : MT_WB) : MT_WC,
		.guest_pat = pat_guest ? MT_WC : MT_UC_MINUS,
		.pat_index = -1,
		.host_mtrr = bar ? MT_UC : MT_WB,
	};
}

static const struct mt_step *find(const struct mt_explanation *e, enum mt_why why)
{
	for (uint32_t i = 0; i < e->count; i++)
		if (e->steps[i].why == why)
			return &e->steps[i];
	return NULL;
}

static void is(const struct mt_case *c, const char *want, const char *k, int column)
{
	struct mt_explanation e;

	ck_assert_int_eq(mt_explain(c, &e), 0);
	ck_assert_msg(!strcmp(mt_type_name(e.effective.type), want),
		      "%s Linux %s column %d gives %s, not %s", c->vendor == MT_AMD ? "AMD" : "Intel",
		      k, column, mt_type_name(e.effective.type), want);
	/* Never without a reason. */
	ck_assert_uint_ge(e.count, 3);
	ck_assert_uint_lt(e.count, MT_STEPS_MAX);
	ck_assert_int_eq(e.steps[0].why, MT_WHY_ASKED);
	ck_assert_int_eq(find(&e, MT_WHY_LOST) != NULL, e.effective.type != e.bare_metal.type);
	ck_assert_int_eq(find(&e, MT_WHY_AS_ASKED) != NULL, e.effective.type == e.bare_metal.type);
}

START_TEST(every_line_of_the_table)
{
	for (size_t l = 0; l < COUNT(lines); l++) {
		char kernels[128], *k, *rest = kernels;

		snprintf(kernels, sizeof(kernels), "%s", lines[l].kernels);
		while ((k = strsep(&rest, " "))) {
			for (int column = 0; column < COLUMNS; column++) {
				struct mt_case c = of(lines[l].vendor, k, column);

				c.quirk_off = lines[l].flag == QUIRK_OFF;
				c.shadow = lines[l].flag == SHADOW;
				c.unregistered = lines[l].flag == UNREGISTERED;
				if (strcmp(lines[l].result[column], "-"))
					is(&c, lines[l].result[column], k, column);
			}
		}
	}
}
END_TEST

START_TEST(coherency_never_matters_on_a_bar)
{
	for (size_t l = 0; l < COUNT(lines); l++) {
		for (int column = P_BAR; column <= M_BAR; column++) {
			char k[32];
			struct mt_case c;

			sscanf(lines[l].kernels, "%31s", k);
			c = of(lines[l].vendor, k, column);
			c.coherent = false;
			c.quirk_off = lines[l].flag == QUIRK_OFF;
			c.shadow = lines[l].flag == SHADOW;
			c.unregistered = lines[l].flag == UNREGISTERED;
			is(&c, lines[l].result[column], k, column);
		}
	}
}
END_TEST

START_TEST(details_that_the_table_puts_in_words)
{
	struct mt_case c = of(MT_AMD, "4.2", P_RAM);

	c.guest_mtrr = MT_WC; /* 4.2 on AMD, PAT guest, its MTRR WC too */
	is(&c, "WC", "4.2", P_RAM);
	/* A host whose MTRRs have the BAR cacheable. */
	c = of(MT_AMD, "6.1", P_BAR);
	c.host_mtrr = MT_WB;
	is(&c, "WC+", "6.1", P_BAR);
	c = of(MT_AMD, "6.1", M_BAR);
	c.host_mtrr = MT_WB;
	is(&c, "CD", "6.1", M_BAR);
	/* Other legacy shapes on a BAR. */
	for (int vendor = 0; vendor < 2; vendor++) {
		static const enum mt_type ptes[] = { MT_WB, MT_UC, MT_WT };

		for (size_t i = 0; i < COUNT(ptes); i++) {
			c = of(vendor, "6.1", M_BAR);
			c.guest_pat = ptes[i];
			is(&c, "UC", "6.1", M_BAR);
		}
	}
	/* Before 4.15 the reset PAT decides by index: 1 is WT there, 4 is WB. */
	c = of(MT_AMD, "4.9", P_RAM);
	c.pat_index = 4;
	is(&c, "WB", "4.9", P_RAM);
	/* A monitor that does not register the device: KVM takes DMA for coherent. */
	c = of(MT_INTEL, "5.10", P_RAM_NC);
	c.unregistered = true;
	is(&c, "WB", "5.10", P_RAM_NC);
}
END_TEST

START_TEST(the_guests_cd)
{
	struct mt_case c = of(MT_INTEL, "6.1", P_RAM_NC);

	c.guest_cd = true;
	is(&c, "WB", "6.1", P_RAM_NC); /* WB with IPAT */
	c.cd_quirk_off = true;
	is(&c, "UC", "6.1", P_RAM_NC); /* UC with IPAT */
	c.kernel = kernel("6.7");
	is(&c, "UC", "6.7", P_RAM_NC);
	c.cd_quirk_off = false;
	is(&c, "WC", "6.7", P_RAM_NC); /* WB without IPAT */
	c.kernel = kernel("6.11");
	c.cd_quirk_off = true;
	is(&c, "WC", "6.11", P_RAM_NC);
	c.kernel = kernel("6.1");
	c.coherent = true;
	is(&c, "WB", "6.1", P_RAM);
	c = of(MT_INTEL, "4.2", M_BAR);
	c.guest_cd = true;
	is(&c, "WB", "4.2", M_BAR); /* "MMIO too", and the machine checks that followed */
	c = of(MT_AMD, "6.1", P_BAR);
	c.guest_cd = true;
	is(&c, "WC", "6.1", P_BAR);
	c.cd_quirk_off = true;
	is(&c, "CD", "6.1", P_BAR);
}
END_TEST

START_TEST(the_module_gives_legacy_guests_what_they_ask)
{
	static const char *const kernels[] = { "5.10", "6.1", "6.12", "6.12.117" };

	for (int vendor = 0; vendor < 2; vendor++) {
		for (size_t i = 0; i < COUNT(kernels); i++) {
			struct mt_case c = of(vendor, kernels[i], M_BAR);
			struct mt_explanation e;

			ck_assert_int_eq(mt_explain(&c, &e), 0);
			ck_assert_ptr_nonnull(find(&e, MT_WHY_REMEDY_MODULE));
			ck_assert_ptr_nonnull(find(&e, MT_WHY_REMEDY_PAT));
			c.mode = MT_MODE_MODULE;
			is(&c, "WC", kernels[i], M_BAR);
			ck_assert_int_eq(mt_explain(&c, &e), 0);
			ck_assert_ptr_nonnull(find(&e, MT_WHY_MODULE_LEAF));
			ck_assert_ptr_null(find(&e, MT_WHY_MODULE_KERNEL));
			ck_assert_int_eq(e.leaf, MT_WC);
			ck_assert(!e.ipat);
			c.guest_pat = MT_WB;
			is(&c, "WC", kernels[i], M_BAR);
			c.guest_pat = MT_UC;
			is(&c, "UC", kernels[i], M_BAR);
			c.shadow = true;
			is(&c, "WC", kernels[i], M_BAR);
			/* A PAT guest keeps what it has. */
			c = of(vendor, kernels[i], P_BAR);
			c.mode = MT_MODE_MODULE;
			is(&c, "WC", kernels[i], P_BAR);
			c.kernel = kernel("5.15");
			ck_assert_int_eq(mt_explain(&c, &e), 0);
			ck_assert_ptr_nonnull(find(&e, MT_WHY_MODULE_KERNEL));
		}
	}
}
END_TEST

START_TEST(a_shadow_pat_reaches_bars_where_kvm_loads_it)
{
	struct mt_case c = of(MT_INTEL, "6.1", M_BAR);

	c.mode = MT_MODE_PAT;
	is(&c, "WC", "6.1", M_BAR);
	c.vendor = MT_AMD;
	is(&c, "WC", "6.1", M_BAR);
	c.kernel = kernel("4.14");
	is(&c, "UC", "4.14", M_BAR);
	c = of(MT_INTEL, "6.1", M_RAM);
	c.mode = MT_MODE_PAT;
	is(&c, "WB", "6.1", M_RAM);
}
END_TEST

START_TEST(the_quirk_exists_where_it_exists)
{
	ck_assert(!mt_kernel_has_pat_quirk(kernel("6.12.77")));
	ck_assert(mt_kernel_has_pat_quirk(kernel("6.12.78")));
	ck_assert(!mt_kernel_has_pat_quirk(kernel("6.15.9")));
	ck_assert(mt_kernel_has_pat_quirk(kernel("6.16")));
	ck_assert(mt_kernel_has_pat_quirk(kernel("7.0")));
	ck_assert(!mt_kernel_has_pat_quirk(kernel("5.20")));
	for (int vendor = 0; vendor < 2; vendor++) {
		struct mt_case c = of(vendor, vendor ? "7.3" : "6.1", P_RAM);
		struct mt_explanation e;

		c.quirk_off = true;
		ck_assert_int_eq(mt_explain(&c, &e), 0);
		ck_assert_ptr_nonnull(find(&e, MT_WHY_NO_QUIRK));
		ck_assert_int_eq(e.effective.type, vendor ? MT_WC_PLUS : MT_WB);
	}
}
END_TEST

START_TEST(what_is_not_known_is_not_answered)
{
	struct mt_case c = of(MT_INTEL, "4.1", P_BAR);
	struct mt_explanation e;

	c.guest_cd = true;
	ck_assert_int_eq(mt_explain(&c, &e), -ENODATA);
	c = of(MT_AMD, "4.2", P_RAM);
	c.guest_mtrr = MT_WP;
	ck_assert_int_eq(mt_explain(&c, &e), -ENODATA);
	c = of(MT_AMD, "6.1", P_RAM);
	c.guest_mtrr = MT_UC_MINUS;
	ck_assert_int_eq(mt_explain(&c, &e), -EINVAL);
	c.guest_mtrr = MT_WB;
	c.guest_pat = MT_WC_PLUS;
	ck_assert_int_eq(mt_explain(&c, &e), -EINVAL);
	c.guest_pat = MT_WC;
	c.pat_index = 8;
	ck_assert_int_eq(mt_explain(&c, &e), -EINVAL);
	c.pat_index = -1;
	c.host_mtrr = MT_UC_MINUS;
	ck_assert_int_eq(mt_explain(&c, &e), -EINVAL);
}
END_TEST

SUITE("mt_explain", every_line_of_the_table, coherency_never_matters_on_a_bar,
      details_that_the_table_puts_in_words, the_guests_cd,
      the_module_gives_legacy_guests_what_they_ask, a_shadow_pat_reaches_bars_where_kvm_loads_it,
      the_quirk_exists_where_it_exists, what_is_not_known_is_not_answered)
