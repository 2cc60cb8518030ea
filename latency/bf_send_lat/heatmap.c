// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "heatmap.h"

#define MARGIN 40.0
#define SIDE   640.0

struct lat_heat {
	unsigned int n;
	double v[];
};

struct lat_heat *lat_heat_new(unsigned int n)
{
	struct lat_heat *h = calloc(1, sizeof(*h) + (size_t)n * n * sizeof(double));

	if (h)
		h->n = n;
	return h;
}

void lat_heat_set(struct lat_heat *h, unsigned int a, unsigned int b, double value)
{
	if (!(value > 0) || !isfinite(value))
		return;
	h->v[(size_t)a * h->n + b] = value;
	h->v[(size_t)b * h->n + a] = value;
}

int lat_heat_write(FILE *f, const struct lat_heat *h)
{
	double low = INFINITY, high = 0, cell = SIDE / h->n;
	size_t total = (size_t)h->n * h->n;

	for (size_t i = 0; i < total; i++) {
		if (!(h->v[i] > 0))
			continue;
		low = fmin(low, h->v[i]);
		high = fmax(high, h->v[i]);
	}
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
		"font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"%g\" y=\"14\">median of half the round trip between ranks, light %.3f "
		"to dark %.3f</text>\n",
		SIDE + 2 * MARGIN, SIDE + 2 * MARGIN, MARGIN, high > 0 ? low : 0, high);
	for (unsigned int a = 0; a < h->n; a++) {
		fprintf(f,
			"<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%u</text>"
			"<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%u</text>\n",
			MARGIN - 5, MARGIN + cell * (a + 0.6), a, MARGIN + cell * (a + 0.5),
			MARGIN - 6, a);
		for (unsigned int b = 0; b < h->n; b++) {
			double v = h->v[(size_t)a * h->n + b];
			/* Ratios count: twice as far is one step, wherever it starts. */
			double part = high > low ? log(v / low) / log(high / low) : 0;

			if (!(v > 0))
				continue;
			fprintf(f,
				"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
				"fill=\"hsl(%.0f,70%%,%.0f%%)\"><title>%u and %u: "
				"%.3f</title></rect>\n",
				MARGIN + cell * b, MARGIN + cell * a, cell, cell, 210 - 200 * part,
				85 - 45 * part, a, b, v);
		}
	}
	fputs("</svg>\n", f);
	return ferror(f) ? -EIO : 0;
}

void lat_heat_free(struct lat_heat *h)
{
	free(h);
}
