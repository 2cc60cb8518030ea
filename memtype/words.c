// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <mt/words.h>

/* In the texts %1 to %4 stand for arguments as types, %n for a number, %i for IPAT. */
struct words {
	const char *code;
	const char *text;
};

static const struct words words[] = {
	[MT_WHY_ASKED] = { "asked", "the guest's MTRR says %1 and its page table %2: on bare metal "
				    "that is %3" },
	[MT_WHY_UNREGISTERED] = { "unregistered",
				  "the monitor did not add the device to KVM's VFIO "
				  "device: KVM takes all DMA for coherent" },
	[MT_WHY_NO_QUIRK] = { "no-quirk",
			      "this host has no quirk IGNORE_GUEST_PAT (Intel, from Linux "
			      "6.16 and 6.12.78): disabling it changes nothing" },
	[MT_WHY_QUIRK_OFF] = { "quirk-off", "the quirk IGNORE_GUEST_PAT is disabled: RAM gets no "
					    "IPAT" },
	[MT_WHY_GUEST_CD] = { "guest-cd", "the guest's CR0.CD makes KVM choose an EPT leaf %1 %i" },
	[MT_WHY_SHADOW] = { "shadow-paging", "without EPT or NPT the processor walks KVM's own "
					     "tables, with index 0, WB, and the guest's PAT is "
					     "never looked at" },
	[MT_WHY_EPT_MMIO] = { "ept-mmio", "KVM maps device pages with EPT type %1 without IPAT, "
					  "whatever the guest's MTRRs say" },
	[MT_WHY_EPT_GUEST_MTRR] = { "ept-guest-mtrr",
				    "this kernel puts the guest's MTRR type into the "
				    "EPT leaf: %1 without IPAT" },
	[MT_WHY_EPT_RAM_FORCED] = { "ept-ram-forced",
				    "DMA is coherent, so KVM maps RAM with EPT type "
				    "%1 and IPAT" },
	[MT_WHY_EPT_RAM] = { "ept-ram", "KVM maps this RAM with EPT type %1 without IPAT" },
	[MT_WHY_NPT_INDEX0] = { "npt-index0",
				"KVM's nested leaves choose index 0 of the host's PAT, "
				"%1, for every page" },
	[MT_WHY_NPT_MMIO] = { "npt-mmio",
			      "this kernel gives device pages a nested leaf of type %1" },
	[MT_WHY_NPT_GUEST_MTRR] = { "npt-guest-mtrr",
				    "this kernel puts the guest's MTRR type into the "
				    "nested leaf: %1" },
	[MT_WHY_MODULE_LEAF] = { "module-leaf",
				 "kvm-memtype.ko makes the leaf %1, as the guest's MTRR "
				 "says" },
	[MT_WHY_MODULE_STOCK] = { "module-stock",
				  "kvm-memtype.ko leaves the leaf alone, the guest's "
				  "MTRR being %1" },
	[MT_WHY_MODULE_KERNEL] = { "module-kernel",
				   "kvm-memtype.ko is made for Linux 5.10, 6.1 and "
				   "6.12, and refuses to load on kernels that it does "
				   "not know" },
	[MT_WHY_GPAT_RESET] = { "gpat-reset",
				"before Linux 4.15 the guest's PAT never reaches the "
				"processor: index %n of the reset value is %2, not %3" },
	[MT_WHY_GPAT_WB] = { "gpat-wb",
			     "with no device registered this kernel loads a PAT that is all "
			     "%1: the guest's %2 is lost" },
	[MT_WHY_PAT_SHADOWED] = { "pat-shadowed",
				  "the shadow PAT that the monitor loads makes %1 mean "
				  "%2" },
	[MT_WHY_EPT_RESULT] = { "ept-result",
				"the processor combines EPT type %1 %i with PAT type %3 "
				"to %4" },
	[MT_WHY_NPT_RESULT] = { "npt-result",
				"the processor combines guest type %1 with nested type "
				"%2 to %3" },
	[MT_WHY_MTRR_RESULT] = { "mtrr-result", "the machine's MTRR type %1 with %2 gives %3" },
	[MT_WHY_HARDWARE_CD] = { "hardware-cd", "the guest's CR0.CD reaches the processor, which "
						"then caches nothing: %1" },
	[MT_WHY_AS_ASKED] = { "as-asked", "the store gets what bare metal would give" },
	[MT_WHY_LOST] = { "lost", "the store gets %2 where bare metal would give %1" },
	[MT_WHY_REMEDY_MODULE] = { "remedy-module", "with kvm-memtype.ko the store would get %1" },
	[MT_WHY_REMEDY_PAT] = { "remedy-pat",
				"a guest that maps the page through a PAT entry WC would "
				"get %1" },
};

static const struct {
	uint32_t note;
	const char *text;
} notes_text[] = {
	{ MT_NOTE_NO_SNOOP, "UC comes from the MTRR, or the EPT leaf: caches are not snooped" },
	{ MT_NOTE_SNOOP, "UC comes from the page table: caches are snooped" },
	{ MT_NOTE_ONCE_UNDEF, "undefined in older manuals, but all processors do this" },
	{ MT_NOTE_IMPL, "implementation-dependent while the PAT is at its reset value" },
	{ MT_NOTE_CD, "CD: uncached, copies found in caches are written back first" },
	{ MT_NOTE_WC_PLUS, "WC+: write-combined, caches are probed" },
	{ MT_NOTE_IPAT, "IPAT: the guest's PAT is ignored" },
	{ MT_NOTE_CACHE_OFF, "CR0.CD is set: nothing else counts" },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/** struct sink - text that grows and never beyond its room. */
struct sink {
	char *buf;
	size_t size;
	size_t used;
};

static void put(struct sink *s, char c)
{
	if (s->used + 1 < s->size)
		s->buf[s->used++] = c;
}

static void puts_all(struct sink *s, const char *text)
{
	while (*text)
		put(s, *text++);
}

static struct sink sink(char *buf, size_t size)
{
	return (struct sink){ buf, size, 0 };
}

static void finish(struct sink *s)
{
	if (s->size)
		s->buf[s->used] = '\0';
}

const char *mt_why_code(enum mt_why why)
{
	return (unsigned int)why < COUNT(words) ? words[why].code : "?";
}

const char *mt_step_text(const struct mt_step *step, char *buf, size_t size)
{
	const char *t = (unsigned int)step->why < COUNT(words) ? words[step->why].text : "?";
	struct sink s = sink(buf, size);

	for (; *t; t++) {
		if (*t != '%') {
			put(&s, *t);
			continue;
		}
		t++;
		if (*t == 'n')
			put(&s, (char)('0' + (step->arg[0] & 7)));
		else if (*t == 'i')
			puts_all(&s, step->arg[1] ? "with IPAT" : "without IPAT");
		else
			puts_all(&s, mt_type_name((enum mt_type)step->arg[(*t - '1') & 3]));
	}
	finish(&s);
	return buf;
}

const char *mt_note_text(uint32_t notes, char *buf, size_t size)
{
	struct sink s = sink(buf, size);

	for (size_t i = 0; i < COUNT(notes_text); i++) {
		if (!(notes & notes_text[i].note))
			continue;
		if (s.used)
			puts_all(&s, "; ");
		puts_all(&s, notes_text[i].text);
	}
	finish(&s);
	return s.used ? buf : NULL;
}
