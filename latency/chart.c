// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>

#include <bp/text.h>
#include "latency/chart.h"

#define WIDTH  760
#define HEIGHT 420 /* or more, for a long legend */
#define LINE   18
#define LEFT   80
#define RIGHT  180
#define TOP    40
#define BOTTOM 50
/* The axis ends at 99.999 %. */
#define NINES 5

/* Told apart by those who see colours differently, too (Okabe and Ito). */
static const char *const colours[LAT_CHART_COLOURS] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#a6a600"
};

struct frame {
	FILE *out;
	int height;
	int low; /* decades of the least and the greatest value */
	int high;
};

/* Text between tags: names may hold anything. */
static void escaped(FILE *out, const char *s)
{
	for (size_t len; *s; s += len ? len : 1) {
		unsigned char c = (unsigned char)*s;

		len = bp_text_utf8(s);
		if (c == '<')
			fputs("&lt;", out);
		else if (c == '&')
			fputs("&amp;", out);
		else if (!len || c < 0x20 || c == 0x7f)
			fputc('?', out);
		else
			fwrite(s, 1, len, out);
	}
}

static double x_of(double below)
{
	double nines = below < 1 ? -log10(1 - below) : NINES;

	return LEFT + (WIDTH - LEFT - RIGHT) * fmin(nines, NINES) / NINES;
}

static double y_of(const struct frame *f, double value)
{
	double part = (log10(value) - f->low) / (f->high - f->low);

	return f->height - BOTTOM - (f->height - TOP - BOTTOM) * fmin(fmax(part, 0), 1);
}

/* Zero has no place on a logarithmic axis; a tick is the least that was measured. */
static double value_of(const struct lat_chart_series *s, uint64_t v)
{
	return (v ? (double)v : 0.5) * s->scale;
}

static void find_range(struct frame *f, const struct lat_chart_series *s, size_t n)
{
	double min = INFINITY, max = 0;

	for (size_t i = 0; i < n; i++) {
		if (!s[i].hist->total)
			continue;
		min = fmin(min, value_of(&s[i], s[i].hist->min));
		max = fmax(max, value_of(&s[i], s[i].hist->max));
	}
	f->low = max > 0 ? (int)floor(log10(min)) : 0;
	f->high = max > 0 ? (int)ceil(log10(max)) : 1;
	if (f->high <= f->low)
		f->high = f->low + 1;
}

static void grid(const struct frame *f, const char *unit)
{
	static const char *const names[] = { "0", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %" };

	fprintf(f->out, "<g stroke=\"#ddd\">\n");
	for (int i = 0; i <= NINES; i++)
		fprintf(f->out, "<path d=\"M%.1f %dV%d\"/>\n", x_of(1 - pow(10, -i)), TOP,
			f->height - BOTTOM);
	for (int d = f->low; d <= f->high; d++)
		fprintf(f->out, "<path d=\"M%d %.1fH%d\"/>\n", LEFT, y_of(f, pow(10, d)),
			WIDTH - RIGHT);
	fprintf(f->out, "</g>\n<g text-anchor=\"middle\">\n");
	for (int i = 0; i <= NINES; i++)
		fprintf(f->out, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", x_of(1 - pow(10, -i)),
			f->height - BOTTOM + 20, names[i]);
	fprintf(f->out, "</g>\n<g text-anchor=\"end\">\n");
	for (int d = f->low; d <= f->high; d++)
		fprintf(f->out, "<text x=\"%d\" y=\"%.1f\">%g</text>\n", LEFT - 8,
			y_of(f, pow(10, d)) + 4, pow(10, d));
	fprintf(f->out, "</g>\n<text x=\"12\" y=\"%d\">", TOP - 14);
	escaped(f->out, unit);
	fprintf(f->out, "</text>\n");
}

static void curve(const struct frame *f, const struct lat_chart_series *s, size_t nr)
{
	const char *colour = colours[nr % LAT_CHART_COLOURS];
	const struct lat_hist *h = s->hist;
	uint64_t below = 0;
	double x = x_of(0);

	fprintf(f->out,
		"<path fill=\"none\" stroke-width=\"2\" stroke=\"%s\" stroke-dasharray=\"%zu %zu\" "
		"d=\"M%.1f %.1f",
		colour, 12 / (nr / LAT_CHART_COLOURS + 1), 2 * (nr / LAT_CHART_COLOURS), x,
		y_of(f, value_of(s, h->min)));
	for (unsigned int i = 0; i < LAT_HIST_BUCKETS; i++) {
		struct lat_bucket b = lat_hist_bucket(h, i);
		double part = (double)below / (double)h->total;

		if (!b.count)
			continue;
		/* What fewer than ten samples say is chance. */
		if (h->total - below < 10)
			break;
		x = x_of(part);
		fprintf(f->out, "L%.1f %.1f", x,
			y_of(f, value_of(s, b.low < h->min ? h->min : b.low)));
		below += b.count;
	}
	fprintf(f->out, "\"/>\n<circle r=\"4\" fill=\"%s\" cx=\"%.1f\" cy=\"%.1f\"/>\n", colour,
		x_of(1 - 1 / (double)h->total), y_of(f, value_of(s, h->max)));
}

int lat_chart_write(FILE *out, const char *title, const char *unit,
		    const struct lat_chart_series *s, size_t n)
{
	struct frame f = { .out = out, .height = HEIGHT };

	if (!n || n > LAT_CHART_SERIES)
		return -EINVAL;
	if (f.height < TOP + LINE * (int)n)
		f.height = TOP + LINE * (int)n;
	find_range(&f, s, n);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 "
		"0 %d %d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" "
		"height=\"100%%\" "
		"fill=\"#fff\"/>\n<text x=\"%d\" y=\"20\" font-size=\"15\">",
		WIDTH, f.height, WIDTH, f.height, LEFT);
	escaped(out, title);
	fprintf(out, "</text>\n");
	grid(&f, unit);
	for (size_t i = 0; i < n; i++) {
		if (s[i].hist->total)
			curve(&f, &s[i], i);
		fprintf(out, "<text x=\"%d\" y=\"%zu\" fill=\"%s\">", WIDTH - RIGHT + 16,
			TOP + 10 + LINE * i, colours[i % LAT_CHART_COLOURS]);
		escaped(out, s[i].name);
		fprintf(out, "</text>\n");
	}
	fprintf(out, "</svg>\n");
	return ferror(out) ? -EIO : 0;
}
