// SPDX-License-Identifier: GPL-2.0-only
/* `ctl memtype`: BARs, their stretches, and the guest's mappings of them. */
#include <string.h>

#include <mt/words.h>
#include "vmm/memtype/hostmtrr.h"
#include "vmm/memtype/report.h"
#include "vmm/memtype/verdict.h"

/* Explanations of one stretch. */
#define WHY_KINDS 4u

static struct vmm_mt_use use_of(const struct vmm_mt *mt, const struct vmm_walk_mapping *m)
{
	return vmm_mt_use_of(&mt->cpu[m->cpu], m->page ? (int)m->index : -1);
}

/* The CPU that stands for all where there is no mapping. */
static const struct vmm_mt_cpu *some_cpu(const struct vmm_mt *mt)
{
	for (unsigned int i = 0; i < mt->vmm->config->cpus; i++)
		if (mt->cpu[i].seen)
			return &mt->cpu[i];
	return &mt->cpu[0];
}

/**
 * struct sum - what all mappings of a stretch come to.
 * @any: at least one was added. @mixed: effective types differ. @bare_mixed: those of bare metal.
 * @first: the first one's judgement.
 * @nr_lost: kinds of use that lose what bare metal would give. @lost: they, as far as there is room.
 */
struct sum {
	bool any;
	bool mixed;
	bool bare_mixed;
	struct mt_explanation first;
	unsigned int nr_lost;
	struct vmm_mt_use lost[WHY_KINDS];
};

/* What a device sees no difference between. */
static enum mt_type plain(enum mt_type type)
{
	return type == MT_CD ? MT_UC : type == MT_WC_PLUS ? MT_WC : type;
}

static void add_use(struct sum *s, const struct vmm_mt_use *use, const struct mt_explanation *e)
{
	if (!s->any)
		s->first = *e;
	s->any = true;
	s->mixed |= e->effective.type != s->first.effective.type;
	s->bare_mixed |= e->bare_metal.type != s->first.bare_metal.type;
	if (plain(e->effective.type) == plain(e->bare_metal.type))
		return;
	for (unsigned int i = 0; i < s->nr_lost; i++)
		if (s->lost[i].pat == use->pat && s->lost[i].hw_pat == use->hw_pat)
			return;
	if (s->nr_lost < WHY_KINDS)
		s->lost[s->nr_lost++] = *use;
}

static void print_mapping(struct bp_print *p, const struct vmm_walk_mapping *m,
			  const struct vmm_mt_use *use, const struct mt_explanation *e)
{
	bp_print_object(p, NULL);
	bp_print_u64(p, "cpu", "    CPU %lu", m->cpu);
	bp_print_hex(p, "gva", " maps it at %s", 1, m->gva);
	bp_print_hex(p, "gpa", NULL, 1, m->gpa);
	bp_print_hex(p, "size", " + %s", 1, m->size);
	if (use->index < 0)
		bp_print_null(p, "index", ", without paging");
	else
		bp_print_u64(p, "index", ", PAT index %lu", m->index);
	bp_print_hex(p, "pte", NULL, 1, m->pte);
	bp_print_str(p, "pat", ", %s", mt_type_name(use->pat));
	bp_print_str(p, "hw_pat", use->pat == use->hw_pat ? NULL : ", loaded %s",
		     mt_type_name(use->hw_pat));
	bp_print_str(p, "effective", ": %s\n", mt_type_name(e->effective.type));
	bp_print_object_end(p);
}

static void print_why(const struct vmm_mt_report_state *r, const struct vmm_mt_stretch *s,
		      const struct vmm_mt_cut *cut, const struct sum *sum, enum mt_type host_mtrr)
{
	struct bp_print *p = r->p;

	bp_print_array(p, "why");
	if (s->area->limited)
		bp_print_str(p, NULL, "    %s\n",
			     "the guest's MTRRs cut the BAR into too many pieces: all of it stays "
			     "as KVM makes it");
	for (unsigned int i = 0; !s->area->limited && i < sum->nr_lost; i++) {
		struct mt_explanation e;
		char text[MT_STEP_TEXT];

		vmm_mt_judge(r->mt, cut, &sum->lost[i], host_mtrr, &e);
		if (!e.count)
			bp_print_str(p, NULL, "    %s\n",
				     "the PAT that is loaded is not the guest's");
		for (uint32_t n = 0; n < e.count; n++)
			bp_print_str(p, NULL, "    %s\n",
				     mt_step_text(&e.steps[n], text, sizeof(text)));
	}
	bp_print_array_end(p);
}

static void print_stretch(const struct vmm_mt_report_state *r, unsigned int n,
			  enum mt_type host_mtrr)
{
	const struct vmm_mt_stretch *s = &r->stretch[n];
	struct vmm_mt_cut real = *s->cut;
	const struct vmm_mt_cut *c = &real;
	const struct vmm_mt *mt = r->mt;
	struct mt_explanation e;
	struct sum sum = { 0 };
	struct bp_print *p = r->p;
	struct vmm_mt_use use;
	bool stock = real.want.stock || r->lost;
	const char *effective;

	real.want.stock = stock;
	for (unsigned int i = 0; i < r->nr_found; i++) {
		if (r->found[i].target != n)
			continue;
		use = use_of(mt, &r->found[i]);
		vmm_mt_judge(mt, c, &use, host_mtrr, &e);
		add_use(&sum, &use, &e);
	}
	bp_print_object(p, NULL);
	bp_print_str(p, "effective_from", NULL, sum.any ? "mappings" : "assumed UC-");
	if (!sum.any) {
		use = vmm_mt_use_assumed(some_cpu(mt));
		vmm_mt_judge(mt, c, &use, host_mtrr, &e);
		add_use(&sum, &use, &e);
		sum.any = false;
	}
	effective = sum.mixed ? "mixed" : mt_type_name(sum.first.effective.type);
	bp_print_hex(p, "start", "  %s", 1, c->gpa);
	bp_print_hex(p, "end", "-%s", 1, c->gpa + c->size - 1);
	bp_print_hex(p, "offset", ", offset %s", 1,
		     s->area->place.offset + (c->gpa - s->area->gpa));
	bp_print_str(p, "mtrr", ": MTRR %s", s->area->limited ? "mixed" : mt_type_name(c->mtrr));
	bp_print_bool(p, "undefined", NULL, c->undefined);
	bp_print_text(p, "%s", c->undefined ? " (undefined overlap)" : "");
	bp_print_str(p, "leaf", ", leaf %s", mt_type_name(sum.first.leaf));
	bp_print_text(p, "%s", stock && mt->nested && mt->vendor == MT_AMD ? " (index 0)" : "");
	bp_print_str(p, "by", " by %s", stock ? "kvm" : "module");
	bp_print_str(p, "effective", NULL, effective);
	bp_print_text(p, "; a store gets %s", sum.mixed ? "what its mapping says" : effective);
	bp_print_text(p, "%s", sum.any ? "" : " if it goes through a UC- mapping");
	bp_print_str(p, "bare_metal", ", on bare metal %s\n",
		     sum.bare_mixed || s->area->limited ? "mixed"
							: mt_type_name(sum.first.bare_metal.type));
	bp_print_array(p, "mappings");
	for (unsigned int i = 0; i < r->nr_found; i++) {
		if (r->found[i].target != n)
			continue;
		use = use_of(mt, &r->found[i]);
		vmm_mt_judge(mt, c, &use, host_mtrr, &e);
		print_mapping(p, &r->found[i], &use, &e);
	}
	bp_print_array_end(p);
	print_why(r, s, c, &sum, host_mtrr);
	bp_print_object_end(p);
}

static bool same_bar(const struct vmm_mt_stretch *a, const struct vmm_mt_stretch *b)
{
	return a->area->place.bar == b->area->place.bar &&
	       !strcmp(a->area->place.device, b->area->place.device);
}

void vmm_mt_report_bars(const struct vmm_mt_report_state *r)
{
	struct bp_print *p = r->p;
	/* Under EPT the machine's MTRRs have no say. */
	bool counts = r->mt->vendor == MT_AMD || !r->mt->nested;

	bp_print_array(p, "bars");
	for (unsigned int n = 0; n < r->nr;) {
		const struct vmm_mt_stretch *first = &r->stretch[n];
		const struct vmm_mt_place *place = &first->area->place;
		enum mt_type host_mtrr = MT_UC;
		bool known = vmm_mt_host_mtrr(&r->mt->host, place->device, place->bar, &host_mtrr);

		bp_print_object(p, NULL);
		bp_print_str(p, "device", "%s", place->device);
		bp_print_u64(p, "bar", " BAR %lu", place->bar);
		bp_print_str(p, "host_mtrr", counts ? ", MTRR of the host %s" : NULL,
			     mt_type_name(host_mtrr));
		bp_print_str(p, "host_mtrr_from", NULL, known ? "/proc/mtrr" : "assumed");
		bp_print_text(p, "%s\n", known || !counts ? "" : " (assumed)");
		bp_print_array(p, "stretches");
		while (n < r->nr && same_bar(first, &r->stretch[n]))
			print_stretch(r, n++, host_mtrr);
		bp_print_array_end(p);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	if (!r->nr)
		bp_print_text(p, "no page of a BAR is mapped straight into the guest\n");
}
