// SPDX-License-Identifier: GPL-2.0-only
/* --blueflame ab: both kinds beside each other. */
#include <stdlib.h>

#include "difference.h"
#include "report.h"

static bool series(const struct lat_trial *s, const struct lat_row *row, struct lat_series *out)
{
	const struct lat_take *t = &row->take;

	out->n = row->nr_sorted;
	out->v = out->n ? malloc(out->n * sizeof(*out->v)) : NULL;
	for (size_t i = 0; out->v && i < out->n; i++)
		out->v[i] = lat_half(s, (double)t->samples[t->n - out->n + i]);
	return out->v;
}

void lat_report_ab(struct bp_print *p, const struct lat_trial *s)
{
	bp_print_text(p, "# difference between BlueFlame on and off, intervals of 99%%\n");
	lat_difference_head(p, "on", "off");
	bp_print_array(p, "on_against_off");
	for (unsigned int i = 0; i + 1 < s->nr_rows; i += 2) {
		struct lat_series a, b;
		bool both = series(s, &s->rows[i], &a) & series(s, &s->rows[i + 1], &b);

		if (both)
			lat_difference_print(p, s->rows[i].size, &a, &b);
		free(a.v);
		free(b.v);
	}
	bp_print_array_end(p);
}
