// SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bp/log.h>
#include <mt/words.h>

#include "cmd.h"

#define COLUMNS_MAX 7

/* Orders as in the manuals' tables. */
static const uint8_t mtrr_types[] = { MT_UC, MT_WC, MT_WT, MT_WP, MT_WB };
static const uint8_t pat_types[] = { MT_UC, MT_UC_MINUS, MT_WC, MT_WT, MT_WP, MT_WB };
static const uint8_t amd_types[] = { MT_UC, MT_UC_MINUS, MT_WC, MT_WC_PLUS, MT_WT, MT_WP, MT_WB };
static const uint8_t npt_types[] = { MT_UC, MT_UC_MINUS, MT_WC, MT_WP, MT_WT, MT_WB };

struct table {
	const char *name;
	const char *title;
	const uint8_t *rows;
	size_t row_count;
	const uint8_t *cols;
	size_t col_count;
	/* The cell of two types; variant is the half of the table, or the host's MTRR. */
	void (*cell)(enum mt_type row, enum mt_type col, int variant, struct mt_effective *out);
	size_t halves;
};

static void intel_cell(enum mt_type row, enum mt_type col, int variant, struct mt_effective *out)
{
	(void)variant;
	mt_combine_intel(row, col, out);
}

static void amd_cell(enum mt_type row, enum mt_type col, int variant, struct mt_effective *out)
{
	(void)variant;
	mt_combine_amd(row, col, out);
}

static void ept_cell(enum mt_type row, enum mt_type col, int variant, struct mt_effective *out)
{
	mt_combine_ept(row, variant == 1, col, false, out);
}

static void npt_cell(enum mt_type row, enum mt_type col, int variant, struct mt_effective *out)
{
	enum mt_type type;

	if (variant >= 0) {
		mt_combine_npt(row, col, (enum mt_type)variant, false, false, out);
		return;
	}
	mt_combine_npt_pat(row, col, &type);
	out->type = type;
	out->notes = type == MT_WC_PLUS ? MT_NOTE_WC_PLUS : 0;
}

#define ARRAY(a) a, sizeof(a) / sizeof(*(a))

static const struct table tables[] = {
	{ "intel", "Intel, bare metal: rows MTRR, columns PAT", ARRAY(mtrr_types), ARRAY(pat_types),
	  intel_cell, 1 },
	{ "amd", "AMD, bare metal and second step of NPT: rows MTRR, columns PAT",
	  ARRAY(mtrr_types), ARRAY(amd_types), amd_cell, 1 },
	{ "ept", "Intel, EPT: rows EPT leaf, columns guest PAT", ARRAY(mtrr_types),
	  ARRAY(pat_types), ept_cell, 2 },
	{ "npt", "AMD, NPT: rows guest PAT, columns nested leaf by the host's PAT",
	  ARRAY(npt_types), ARRAY(npt_types), npt_cell, 1 },
};

/* Notes that are numbers in a cell; the others belong to a type and stand below the table. */
static void cell_text(const struct mt_effective *e, char buf[16])
{
	int n = snprintf(buf, 16, "%s", mt_type_name(e->type));
	bool any = false;

	for (int bit = 0; bit < 4; bit++) {
		if (!(e->notes & 1u << bit))
			continue;
		n += snprintf(buf + n, (size_t)(16 - n), "%c%d", any ? ',' : '(', bit + 1);
		any = true;
	}
	if (any)
		snprintf(buf + n, (size_t)(16 - n), ")");
}

static void row_name(const struct table *t, unsigned int row, unsigned int half, char buf[16])
{
	snprintf(buf, 16, "%s%s", mt_type_name((enum mt_type)t->rows[row]), half ? " IPAT" : "");
}

static void print_cells(struct bp_print *p, const struct table *t, int variant, uint32_t *seen)
{
	char text[16];

	bp_print_array(p, "cells");
	for (unsigned int half = 0; half < t->halves; half++) {
		for (unsigned int r = 0; r < t->row_count; r++) {
			row_name(t, r, half, text);
			bp_print_text(p, "  %-8s", text);
			bp_print_array(p, NULL);
			for (unsigned int c = 0; c < t->col_count; c++) {
				struct mt_effective e;

				t->cell((enum mt_type)t->rows[r], (enum mt_type)t->cols[c],
					t->halves > 1 ? (int)half : variant, &e);
				*seen |= e.notes;
				cell_text(&e, text);
				bp_print_text(p, c + 1 < t->col_count ? " %-8s" : " %s", text);
				bp_print_str(p, NULL, NULL, mt_type_name(e.type));
			}
			bp_print_array_end(p);
			bp_print_text(p, "\n");
		}
	}
	bp_print_array_end(p);
}

static void print_notes(struct bp_print *p, const struct table *t, int variant)
{
	bp_print_array(p, "cell_notes");
	for (unsigned int half = 0; half < t->halves; half++) {
		for (unsigned int r = 0; r < t->row_count; r++) {
			bp_print_array(p, NULL);
			for (unsigned int c = 0; c < t->col_count; c++) {
				struct mt_effective e;
				char buf[256];
				const char *text;

				t->cell((enum mt_type)t->rows[r], (enum mt_type)t->cols[c],
					t->halves > 1 ? (int)half : variant, &e);
				text = mt_note_text(e.notes, buf, sizeof(buf));
				if (text)
					bp_print_str(p, NULL, NULL, text);
				else
					bp_print_null(p, NULL, NULL);
			}
			bp_print_array_end(p);
		}
	}
	bp_print_array_end(p);
}

static void print_legend(struct bp_print *p, uint32_t seen)
{
	for (int bit = 0; bit < 32; bit++) {
		char buf[256];
		const char *text = mt_note_text(seen & 1u << bit, buf, sizeof(buf));

		if (!text)
			continue;
		if (bit < 4)
			bp_print_text(p, "  (%d) %s\n", bit + 1, text);
		else
			bp_print_text(p, "  %s\n", text);
	}
}

static void print_table(struct bp_print *p, const struct table *t, int variant)
{
	uint32_t seen = 0;
	char text[16];

	bp_print_object(p, NULL);
	bp_print_str(p, "table", NULL, t->name);
	bp_print_str(p, "title", "%s", t->title);
	if (variant >= 0)
		bp_print_str(p, "host_mtrr", ", with host MTRR %s",
			     mt_type_name((enum mt_type)variant));
	bp_print_text(p, "\n  %-8s", "");
	bp_print_array(p, "rows");
	for (unsigned int half = 0; half < t->halves; half++) {
		for (unsigned int r = 0; r < t->row_count; r++) {
			row_name(t, r, half, text);
			bp_print_str(p, NULL, NULL, text);
		}
	}
	bp_print_array_end(p);
	bp_print_array(p, "cols");
	for (unsigned int c = 0; c < t->col_count; c++)
		bp_print_str(p, NULL, c + 1 < t->col_count ? " %-8s" : " %s\n",
			     mt_type_name((enum mt_type)t->cols[c]));
	bp_print_array_end(p);
	print_cells(p, t, variant, &seen);
	if (bp_print_is_json(p))
		print_notes(p, t, variant);
	print_legend(p, seen);
	bp_print_object_end(p);
}

int mt_cmd_table(struct bp_cli *cli, int argc, char **argv)
{
	struct mt_opt opts[] = { { "host-mtrr", false, NULL }, { NULL, false, NULL } };
	int rest = mt_opts_parse(cli, opts, argc, argv);
	const struct table *t = NULL;
	enum mt_type host = MT_UC;
	struct bp_print *p;
	int ret;

	if (rest < 0)
		return BP_EXIT_USAGE;
	if (rest != 1)
		return bp_cli_usage(cli, argv[0], "name one table: intel, amd, ept or npt");
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (!strcmp(tables[i].name, argv[1]))
			t = &tables[i];
	if (!t)
		return bp_cli_usage(cli, argv[0],
				    "there is no table '%s', only intel, amd, ept and npt",
				    argv[1]);
	if (opts[0].value && t->cell != npt_cell)
		return bp_cli_usage(cli, argv[0], "--host-mtrr is for the table npt");
	if (opts[0].value && mt_opt_type(cli, argv[0], &opts[0], false, &host))
		return BP_EXIT_USAGE;
	p = bp_print_new(stdout, cli->mode);
	if (!p)
		return bp_log_report(NULL, -ENOMEM, "printing");
	print_table(p, t, opts[0].value ? (int)host : -1);
	ret = bp_print_free(p);
	return ret ? bp_log_report(NULL, ret, "writing the table") : BP_EXIT_OK;
}
