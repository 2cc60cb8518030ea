// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>

#include "export.h"
#include "report.h"

/* Rare ones matter most: each step to the right is ten times as rare. */
#define NINES  5
#define WIDTH  900.0
#define HEIGHT 540.0
#define LEFT   80.0
#define TOP    40.0
#define RIGHT  140.0
#define BOTTOM 50.0
#define STEPS  200

static const char *const colours[] = { "#0b6e99", "#c8553d", "#588157", "#7b2d8b",
				       "#b8860b", "#444444", "#1d3557", "#d62876" };

struct scale {
	double low;
	double high;
};

static double x_of(double nines)
{
	return LEFT + nines / NINES * (WIDTH - LEFT - RIGHT);
}

/* Logarithmic: a stall must not flatten everything else. */
static double y_of(const struct scale *y, double v)
{
	double part =
		(log10(v > y->low ? v : y->low) - log10(y->low)) / (log10(y->high) - log10(y->low));

	return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
}

static struct scale find_scale(const struct lat_trial *s)
{
	struct scale y = { INFINITY, 0 };

	for (unsigned int i = 0; i < s->nr_rows; i++) {
		const struct lat_stats *st = &s->rows[i].take.stats;

		if (!st->measured.n)
			continue;
		y.low = fmin(y.low, lat_half(s, (double)st->min.value));
		y.high = fmax(y.high, lat_half(s, (double)st->max.value));
	}
	if (!(y.low > 0) || !isfinite(y.low))
		y.low = 0.001;
	y.low = pow(10, floor(log10(y.low)));
	y.high = pow(10, ceil(log10(fmax(y.high, y.low * 1.001))));
	return y;
}

static void axes(FILE *f, const struct lat_trial *s, const struct scale *y)
{
	static const char *const marks[] = { "0%", "90%", "99%", "99.9%", "99.99%", "99.999%" };

	for (int i = 0; i <= NINES; i++)
		fprintf(f,
			"<path d=\"M%.1f %.1fV%.1f\" stroke=\"#ddd\"/>"
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
			x_of(i), TOP, HEIGHT - BOTTOM, x_of(i), HEIGHT - BOTTOM + 18, marks[i]);
	for (double v = y->low; v <= y->high * 1.001; v *= 10)
		fprintf(f,
			"<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ddd\"/>"
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			LEFT, y_of(y, v), WIDTH - RIGHT, LEFT - 6, y_of(y, v) + 4, v);
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\">half of the round trip, %s; %s, %s</text>\n", LEFT,
		TOP - 14, s->o->cycles ? "cycles" : "microseconds", lat_conn_name(s->p.conn),
		s->devices[0].name);
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">percentile</text>\n",
		(LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10);
}

static void curve(FILE *f, const struct lat_trial *s, const struct lat_row *row,
		  const struct scale *y, unsigned int nr)
{
	const char *colour = colours[nr % (sizeof(colours) / sizeof(*colours))];
	/* A line ends where one sample is all there is. */
	double end = fmin(NINES, log10((double)row->take.stats.measured.n)), last = 0;

	fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" d=\"", colour);
	for (int i = 0; i <= STEPS; i++) {
		double nines = end * i / STEPS;
		uint32_t ppm = (uint32_t)lround((1 - pow(10, -nines)) * LAT_PPM);

		last = lat_half(s, (double)lat_row_percentile(row, ppm).value);
		fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M', x_of(nines), y_of(y, last));
	}
	fprintf(f, "\"/>\n<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%u bytes%s</text>\n",
		WIDTH - RIGHT + 10, TOP + 16 * (nr + 1), colour, row->size,
		s->p.blueflame != LAT_BF_AB ? ""
		: row->arm		    ? ", off"
					    : ", on");
}

int lat_plot_write(FILE *f, const struct lat_trial *s, int ret, const struct bp_error *err)
{
	struct scale y = find_scale(s);

	(void)ret;
	(void)err;
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		WIDTH, HEIGHT);
	axes(f, s, &y);
	for (unsigned int i = 0; i < s->nr_rows; i++)
		if (s->rows[i].take.stats.measured.n)
			curve(f, s, &s->rows[i], &y, i);
	fputs("</svg>\n", f);
	return ferror(f) ? -EIO : 0;
}
