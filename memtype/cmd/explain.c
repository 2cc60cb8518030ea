// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bp/log.h>
#include <mt/explain.h>

#include "cmd.h"

enum {
	VENDOR,
	KERNEL,
	BACKING,
	COHERENT,
	GUEST_MTRR,
	GUEST_PAT,
	MODULE,
	MODE,
	HOST_MTRR,
	PAT_INDEX,
	SHADOW,
	UNREGISTERED,
	PAT_QUIRK_OFF,
	GUEST_CD,
	CD_QUIRK_OFF,
	END,
};

/* Arguments of a step, as names; %1 to %4 in the texts below stand for them. */
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

static void step_text(const struct mt_step *s, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (const char *t = words[s->why].text; *t && n < size; t++) {
		int len;

		if (*t != '%') {
			buf[n++] = *t;
			continue;
		}
		t++;
		if (*t == 'n')
			len = snprintf(buf + n, size - n, "%u", s->arg[0]);
		else if (*t == 'i')
			len = snprintf(buf + n, size - n, "%s",
				       s->arg[1] ? "with IPAT" : "without IPAT");
		else
			len = snprintf(buf + n, size - n, "%s",
				       mt_type_name((enum mt_type)s->arg[*t - '1']));
		n += (size_t)len;
	}
	buf[n < size ? n : size - 1] = '\0';
}

static int parse_kernel(const char *text, struct mt_kernel *k)
{
	unsigned long part[3] = { 0, 0, 0 };
	char *end;
	int n = 0;

	for (const char *s = text;; s = end + 1) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		part[n] = strtoul(s, &end, 10);
		if (part[n++] > 65535)
			return -ERANGE;
		/* "6.1.0-57-amd64", as `uname -r` says it, will do. */
		if (n == 3 || *end != '.')
			break;
	}
	if (n < 2 || (*end && *end != '-' && *end != '+' && *end != '.'))
		return -EINVAL;
	*k = (struct mt_kernel){ (uint16_t)part[0], (uint16_t)part[1], (uint16_t)part[2] };
	return 0;
}

static int read_case(struct bp_cli *cli, const char *command, const struct mt_opt *o,
		     struct mt_case *c)
{
	static const char *const needed[] = { "vendor",	    "kernel",	 "backing", "coherent",
					      "guest-mtrr", "guest-pat", NULL };
	static const char *const backings[] = { "bar", "ram", NULL };
	static const char *const yes_no[] = { "no", "yes", NULL };
	static const char *const modes[] = { "off", "module", "pat", NULL };
	unsigned int vendor, backing, coherent, mode = MT_MODE_OFF;
	uint64_t index;

	if (mt_opts_need(cli, command, o, needed) ||
	    mt_opt_word(cli, command, &o[VENDOR], mt_vendor_words, &vendor) ||
	    mt_opt_word(cli, command, &o[BACKING], backings, &backing) ||
	    mt_opt_word(cli, command, &o[COHERENT], yes_no, &coherent) ||
	    mt_opt_type(cli, command, &o[GUEST_MTRR], false, &c->guest_mtrr) ||
	    mt_opt_type(cli, command, &o[GUEST_PAT], true, &c->guest_pat) ||
	    (o[MODE].value && mt_opt_word(cli, command, &o[MODE], modes, &mode)))
		return -EINVAL;
	if (parse_kernel(o[KERNEL].value, &c->kernel)) {
		bp_cli_usage(cli, command,
			     "--kernel takes a release such as 6.1 or 6.12.78, not '%s'",
			     o[KERNEL].value);
		return -EINVAL;
	}
	if (o[MODULE].value && o[MODE].value && mode != MT_MODE_MODULE) {
		bp_cli_usage(cli, command, "--module and --mode %s exclude each other",
			     o[MODE].value);
		return -EINVAL;
	}
	c->vendor = (enum mt_vendor)vendor;
	c->backing = (enum mt_backing)backing;
	c->coherent = coherent;
	c->mode = o[MODULE].value ? MT_MODE_MODULE : (enum mt_mode)mode;
	c->host_mtrr = c->backing == MT_BAR ? MT_UC : MT_WB;
	c->pat_index = -1;
	c->quirk_off = o[PAT_QUIRK_OFF].value;
	c->guest_cd = o[GUEST_CD].value;
	c->cd_quirk_off = o[CD_QUIRK_OFF].value;
	c->shadow = o[SHADOW].value;
	c->unregistered = o[UNREGISTERED].value;
	if (o[HOST_MTRR].value && mt_opt_type(cli, command, &o[HOST_MTRR], false, &c->host_mtrr))
		return -EINVAL;
	if (o[PAT_INDEX].value) {
		if (bp_parse_u64(o[PAT_INDEX].value, 0, 7, &index)) {
			bp_cli_usage(cli, command, "--pat-index takes 0 to 7, not '%s'",
				     o[PAT_INDEX].value);
			return -EINVAL;
		}
		c->pat_index = (int)index;
	}
	return 0;
}

static void print(struct bp_print *p, const struct mt_explanation *e)
{
	char text[256];

	bp_print_object(p, NULL);
	bp_print_str(p, "type", "%s", mt_type_name(e->effective.type));
	bp_print_str(p, "note", " (%s)", mt_note_text(e->effective.notes, text, sizeof(text)));
	bp_print_text(p, "\n");
	bp_print_str(p, "bare_metal", NULL, mt_type_name(e->bare_metal.type));
	bp_print_str(p, "leaf", NULL, mt_type_name(e->leaf));
	bp_print_bool(p, "ipat", NULL, e->ipat);
	bp_print_array(p, "steps");
	for (uint32_t i = 0; i < e->count; i++) {
		step_text(&e->steps[i], text, sizeof(text));
		bp_print_object(p, NULL);
		bp_print_str(p, "code", NULL, words[e->steps[i].why].code);
		bp_print_str(p, "text", "  %s\n", text);
		bp_print_object_end(p);
	}
	bp_print_array_end(p);
	bp_print_object_end(p);
}

int mt_cmd_explain(struct bp_cli *cli, int argc, char **argv)
{
	struct mt_opt opts[] = {
		[VENDOR] = { "vendor", false, NULL },
		[KERNEL] = { "kernel", false, NULL },
		[BACKING] = { "backing", false, NULL },
		[COHERENT] = { "coherent", false, NULL },
		[GUEST_MTRR] = { "guest-mtrr", false, NULL },
		[GUEST_PAT] = { "guest-pat", false, NULL },
		[MODULE] = { "module", true, NULL },
		[MODE] = { "mode", false, NULL },
		[HOST_MTRR] = { "host-mtrr", false, NULL },
		[PAT_INDEX] = { "pat-index", false, NULL },
		[SHADOW] = { "shadow", true, NULL },
		[UNREGISTERED] = { "unregistered", true, NULL },
		[PAT_QUIRK_OFF] = { "pat-quirk-off", true, NULL },
		[GUEST_CD] = { "guest-cd", true, NULL },
		[CD_QUIRK_OFF] = { "cd-quirk-off", true, NULL },
		[END] = { NULL, false, NULL },
	};
	int rest = mt_opts_parse(cli, opts, argc, argv), ret;
	struct mt_explanation e;
	struct mt_case c = { 0 };
	struct bp_print *p;

	if (rest < 0)
		return BP_EXIT_USAGE;
	if (rest > 0)
		return bp_cli_usage(cli, argv[0], "unexpected argument '%s'", argv[1]);
	if (read_case(cli, argv[0], opts, &c))
		return BP_EXIT_USAGE;
	ret = mt_explain(&c, &e);
	if (ret == -ENODATA) {
		bp_log_error(
			"what Linux %s does in this case is not known; ask for 4.3 or later, or "
			"leave out %s",
			opts[KERNEL].value, c.guest_cd ? "--guest-cd" : "the guest MTRR type WP");
		return BP_EXIT_FAIL;
	}
	if (ret)
		return bp_log_report(NULL, ret, "explaining the case");
	p = bp_print_new(stdout, cli->mode);
	if (!p)
		return bp_log_report(NULL, -ENOMEM, "printing");
	print(p, &e);
	ret = bp_print_free(p);
	return ret ? bp_log_report(NULL, ret, "writing the explanation") : BP_EXIT_OK;
}
