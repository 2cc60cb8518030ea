/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MTRRs a second time, slowly: every register kept as the manual's fields, each
 * rule applied bit by bit in the order of the text (Intel SDM vol. 3, chapter on
 * memory cache control, section on MTRRs; AMD APM vol. 2 chapter 7). Shares no code and
 * no constant with the library that it judges.
 */
#ifndef MT_REFERENCE_H
#define MT_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct ref_variable {
	int type;
	uint64_t base; /* bits 12 and up */
	uint64_t mask;
	bool valid;
};

struct ref {
	int width;
	int default_type;
	bool enabled, fixed_enabled;
	int fixed[88];
	struct ref_variable var[8];
	int pat[8];
};

enum ref_verdict { REF_OK, REF_GP, REF_NOT_MINE };

static inline void ref_reset(struct ref *r, int width)
{
	static const int pat[8] = { 6, 4, 7, 0, 6, 4, 7, 0 };

	memset(r, 0, sizeof(*r));
	r->width = width;
	memcpy(r->pat, pat, sizeof(pat));
}

static inline bool ref_bit(uint64_t v, int bit)
{
	return (v >> bit) % 2;
}

static inline bool ref_mtrr_type(int t)
{
	switch (t) {
	case 0: /* uncacheable */
	case 1: /* write combining */
	case 4: /* write-through */
	case 5: /* write-protected */
	case 6: /* writeback */
		return true;
	}
	return false;
}

/* Index of the first range that a fixed-range register describes, -1 for other registers. */
static inline int ref_fixed_first(uint32_t msr)
{
	switch (msr) {
	case 0x250:
		return 0;
	case 0x258:
		return 8;
	case 0x259:
		return 16;
	case 0x268:
	case 0x269:
	case 0x26a:
	case 0x26b:
	case 0x26c:
	case 0x26d:
	case 0x26e:
	case 0x26f:
		return 24 + 8 * (int)(msr - 0x268);
	}
	return -1;
}

static inline enum ref_verdict ref_wrmsr(struct ref *r, uint32_t msr, uint64_t v)
{
	uint8_t byte[8];
	int first = ref_fixed_first(msr);

	for (int i = 0; i < 8; i++)
		byte[i] = v >> 8 * i;
	if (msr == 0xfe)
		return REF_GP;
	if (msr == 0x277) {
		for (int i = 0; i < 8; i++)
			if (!ref_mtrr_type(byte[i]) && byte[i] != 7)
				return REF_GP;
		for (int i = 0; i < 8; i++)
			r->pat[i] = byte[i];
		return REF_OK;
	}
	if (msr == 0x2ff) {
		for (int bit = 8; bit < 64; bit++)
			if (ref_bit(v, bit) && bit != 10 && bit != 11)
				return REF_GP;
		if (!ref_mtrr_type(byte[0]))
			return REF_GP;
		r->default_type = byte[0];
		r->fixed_enabled = ref_bit(v, 10);
		r->enabled = ref_bit(v, 11);
		return REF_OK;
	}
	if (first >= 0) {
		for (int i = 0; i < 8; i++)
			if (!ref_mtrr_type(byte[i]))
				return REF_GP;
		for (int i = 0; i < 8; i++)
			r->fixed[first + i] = byte[i];
		return REF_OK;
	}
	if (msr >= 0x200 && msr <= 0x20f) {
		struct ref_variable *var = &r->var[(msr - 0x200) / 2];
		bool is_mask = msr % 2;

		for (int bit = 0; bit < 64; bit++) {
			bool reserved = bit >= r->width ||
					(is_mask ? bit <= 10 : bit >= 8 && bit <= 11);

			if (reserved && ref_bit(v, bit))
				return REF_GP;
		}
		if (is_mask) {
			var->valid = ref_bit(v, 11);
			var->mask = v - v % 4096;
			return REF_OK;
		}
		if (!ref_mtrr_type(byte[0]))
			return REF_GP;
		var->type = byte[0];
		var->base = v - v % 4096;
		return REF_OK;
	}
	return REF_NOT_MINE;
}

static inline uint64_t ref_bytes(const int *t)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v * 256 + (unsigned int)t[i];
	return v;
}

static inline enum ref_verdict ref_rdmsr(const struct ref *r, uint32_t msr, uint64_t *v)
{
	int first = ref_fixed_first(msr);

	if (msr == 0xfe) {
		*v = 8 + (1 << 8) + (1 << 10);
	} else if (msr == 0x277) {
		*v = ref_bytes(r->pat);
	} else if (msr == 0x2ff) {
		*v = (unsigned int)r->default_type + (r->fixed_enabled ? 1024u : 0) +
		     (r->enabled ? 2048u : 0);
	} else if (first >= 0) {
		*v = ref_bytes(&r->fixed[first]);
	} else if (msr >= 0x200 && msr <= 0x20f) {
		const struct ref_variable *var = &r->var[(msr - 0x200) / 2];

		*v = msr % 2 ? var->mask + (var->valid ? 2048u : 0) :
			       var->base + (unsigned int)var->type;
	} else {
		return REF_NOT_MINE;
	}
	return REF_OK;
}

static inline int ref_fixed_type(const struct ref *r, uint64_t addr)
{
	uint64_t end = 0;

	for (int i = 0; i < 88; i++) {
		end += i < 8 ? 64 * 1024 : i < 24 ? 16 * 1024 : 4 * 1024;
		if (addr < end)
			return r->fixed[i];
	}
	return -1;
}

static inline bool ref_in(const struct ref *r, const struct ref_variable *var, uint64_t addr)
{
	for (int bit = 12; bit < 64; bit++) {
		bool looked_at = bit >= r->width || ref_bit(var->mask, bit);

		if (looked_at && ref_bit(addr, bit) != ref_bit(var->base, bit))
			return false;
	}
	return true;
}

/* The type of an address; *undefined where the manual has no answer. */
static inline int ref_type(const struct ref *r, uint64_t addr, bool *undefined)
{
	bool uc = false, wc = false, wt = false, wp = false, wb = false;
	int kinds;

	*undefined = false;
	if (!r->enabled)
		return 0;
	if (r->fixed_enabled && addr < 1024 * 1024)
		return ref_fixed_type(r, addr);
	for (int i = 0; i < 8; i++) {
		if (!r->var[i].valid || !ref_in(r, &r->var[i], addr))
			continue;
		uc |= r->var[i].type == 0;
		wc |= r->var[i].type == 1;
		wt |= r->var[i].type == 4;
		wp |= r->var[i].type == 5;
		wb |= r->var[i].type == 6;
	}
	kinds = uc + wc + wt + wp + wb;
	if (kinds == 0)
		return r->default_type;
	if (uc)
		return 0;
	if (kinds == 2 && wt && wb)
		return 4;
	*undefined = kinds > 1;
	return wc ? 1 : wt ? 4 : wp ? 5 : 6;
}

#endif
