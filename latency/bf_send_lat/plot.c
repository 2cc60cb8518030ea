// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "export.h"
#include "latency/chart.h"
#include "report.h"

int lat_plot_write(FILE *f, const struct lat_trial *s, int ret, const struct bp_error *err)
{
	static struct lat_hist nothing;
	struct lat_chart_series series[LAT_CHART_SERIES] = { { "nothing was measured", &nothing,
							       1 } };
	char name[LAT_CHART_SERIES][32], title[128];
	size_t n = 0;

	(void)ret;
	(void)err;
	for (unsigned int i = 0; i < s->nr_rows && n < LAT_CHART_SERIES; i++) {
		const struct lat_row *row = &s->rows[i];

		snprintf(name[n], sizeof(name[n]), "%u bytes%s", row->size,
			 s->p.blueflame != LAT_BF_AB ? ""
			 : row->arm		     ? ", off"
						     : ", on");
		series[n] = (struct lat_chart_series){ name[n], &row->take.hist, lat_half(s, 1) };
		n++;
	}
	snprintf(title, sizeof(title), "Half of the round trip, %s, %s", lat_conn_name(s->p.conn),
		 s->devices[0].name);
	return lat_chart_write(f, title, s->o->cycles ? "cycles" : "microseconds", series,
			       n ? n : 1);
}
