// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "latency/compare.h"
#include "latency/ranks.h"
#include "latency/rng.h"
#include "latency/stats.h"

#define RESAMPLES 2000
#define LEVEL	  0.99

/* A series ready for drawing. */
struct series {
	const double *v;
	size_t n;
	double *sorted;
	size_t *place; /* of each sample in sorted */
	double *sum; /* of the samples before each, for means of blocks */
	uint32_t *count; /* how often each place was drawn */
	size_t block;
	double *drawn; /* statistic of each resample */
};

struct keyed {
	double value;
	size_t index;
};

static int by_value(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->value < y->value || x->value > y->value)
		return x->value < y->value ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int order(const double *v, size_t n, struct keyed **out)
{
	struct keyed *k = calloc(n, sizeof(*k));

	if (!k)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		k[i] = (struct keyed){ .value = v[i], .index = i };
	qsort(k, n, sizeof(*k), by_value);
	*out = k;
	return 0;
}

int lat_block_length(const double *v, size_t n, size_t *length)
{
	double mean = ((double)n - 1) / 2, var = 0, tau = 1, want;
	struct keyed *k;
	double *rank;
	int ret;

	*length = 1;
	if (n < 16)
		return 0;
	ret = order(v, n, &k);
	if (ret)
		return ret;
	rank = calloc(n, sizeof(*rank));
	if (!rank) {
		free(k);
		return -ENOMEM;
	}
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && k[end].value <= k[i].value; end++)
			;
		for (size_t j = i; j < end; j++)
			rank[k[j].index] = (double)(i + end - 1) / 2 - mean;
	}
	for (size_t i = 0; i < n; i++)
		var += rank[i] * rank[i];
	/* Up to where correlation is lost in noise: what follows would only add noise. */
	for (size_t lag = 1; var > 0 && lag < n / 4; lag++) {
		double c = 0;

		for (size_t i = lag; i < n; i++)
			c += rank[i] * rank[i - lag];
		if (c / var < 2 / sqrt((double)n))
			break;
		tau += 2 * c / var;
	}
	free(rank);
	free(k);
	want = ceil(fmax(5 * (tau - 1), cbrt((double)n)));
	*length = want * 8 > (double)n ? n / 8 : (size_t)want;
	return 0;
}

static void series_free(struct series *s)
{
	free(s->sorted);
	free(s->place);
	free(s->sum);
	free(s->count);
	free(s->drawn);
}

static int series_init(struct series *s, const double *v, size_t n, unsigned int resamples)
{
	struct keyed *k;
	int ret;

	*s = (struct series){ .v = v, .n = n };
	ret = order(v, n, &k);
	if (ret)
		return ret;
	s->sorted = calloc(n, sizeof(*s->sorted));
	s->place = calloc(n, sizeof(*s->place));
	s->sum = calloc(n + 1, sizeof(*s->sum));
	s->count = calloc(n, sizeof(*s->count));
	s->drawn = calloc(resamples, sizeof(*s->drawn));
	if (!s->sorted || !s->place || !s->sum || !s->count || !s->drawn) {
		free(k);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		s->sorted[i] = k[i].value;
		s->place[k[i].index] = i;
		s->sum[i + 1] = s->sum[i] + v[i];
	}
	free(k);
	return 0;
}

static double statistic(const struct series *s, uint32_t ppm)
{
	return ppm == LAT_MEAN ? s->sum[s->n] / (double)s->n : s->sorted[lat_rank(s->n, ppm) - 1];
}

/* Sum of @len samples from @start on, around the end. */
static double sum_from(const struct series *s, size_t start, size_t len)
{
	if (start + len <= s->n)
		return s->sum[start + len] - s->sum[start];
	return s->sum[s->n] - s->sum[start] + s->sum[start + len - s->n];
}

/* The statistic of as many samples again, drawn block by block. */
static double draw(struct series *s, uint32_t ppm, struct lat_rng *rng)
{
	double sum = 0;

	if (ppm != LAT_MEAN)
		memset(s->count, 0, s->n * sizeof(*s->count));
	for (size_t got = 0; got < s->n;) {
		size_t start = lat_rng_below(rng, s->n), len = s->block;

		if (len > s->n - got)
			len = s->n - got;
		got += len;
		if (ppm == LAT_MEAN) {
			sum += sum_from(s, start, len);
			continue;
		}
		for (; len; len--) {
			s->count[s->place[start]]++;
			start = start + 1 == s->n ? 0 : start + 1;
		}
	}
	if (ppm == LAT_MEAN)
		return sum / (double)s->n;
	for (size_t i = 0, below = 0;; i++) {
		below += s->count[i];
		if (below >= lat_rank(s->n, ppm))
			return s->sorted[i];
	}
}

double lat_t_quantile(double p, double df)
{
	/*
	 * With t = sqrt(df) tan(x) the density is cos(x)^(df - 1), which is smooth up to its
	 * end: Simpson's rule on 2000 strips, then the place where the area is reached. Where
	 * there are many degrees of freedom, nothing is left beyond 40 standard deviations.
	 */
	enum {
		STRIPS = 2000
	};
	double area[STRIPS + 1] = { 0 }, h = fmin(M_PI_2, 40 / sqrt(df)) / STRIPS, want;
	size_t i = 1;

	for (size_t j = 1; j <= STRIPS; j++) {
		double a = pow(cos(h * (double)(j - 1)), df - 1);
		double m = pow(cos(h * ((double)j - 0.5)), df - 1);
		double b = pow(fmax(cos(h * (double)j), 0), df - 1);

		area[j] = area[j - 1] + h / 6 * (a + 4 * m + b);
	}
	want = (2 * p - 1) * area[STRIPS];
	while (i < STRIPS && area[i] < want)
		i++;
	return sqrt(df) *
	       tan(h * ((double)(i - 1) + (want - area[i - 1]) / (area[i] - area[i - 1])));
}

static void interval(double *v, unsigned int n, double alpha, double *low, double *high)
{
	size_t cut = (size_t)(alpha * n);

	qsort(v, n, sizeof(*v), by_double);
	*low = v[cut];
	*high = v[n - 1 - cut];
}

static int bootstrap(struct series *a, struct series *b, const struct lat_compare_opts *o,
		     double alpha, struct lat_diff *out)
{
	struct lat_rng ra = { o->seed }, rb = { o->paired ? o->seed : ~o->seed };
	bool ratio = out->base > 0 || out->base < 0;
	double *change = calloc(o->resamples, sizeof(*change));

	if (!change)
		return -ENOMEM;
	for (unsigned int i = 0; i < o->resamples; i++) {
		a->drawn[i] = draw(a, o->ppm, &ra);
		b->drawn[i] = draw(b, o->ppm, &rb);
		/* A resample may consist of zeros alone. */
		if (!(a->drawn[i] > 0 || a->drawn[i] < 0))
			ratio = false;
		else
			change[i] = b->drawn[i] / a->drawn[i] - 1;
		b->drawn[i] -= a->drawn[i];
	}
	interval(b->drawn, o->resamples, alpha, &out->diff_low, &out->diff_high);
	if (ratio)
		interval(change, o->resamples, alpha, &out->change_low, &out->change_high);
	free(change);
	return 0;
}

/* What the rank test looks at: of each whole block its mean, or the share above @limit. */
static size_t of_blocks(const struct series *s, uint32_t ppm, double limit, double *out)
{
	size_t blocks = s->n / s->block;

	for (size_t i = 0; i < blocks; i++) {
		double share = 0;

		if (ppm == LAT_MEAN) {
			out[i] = s->block == 1 ? s->v[i] : sum_from(s, i * s->block, s->block);
			out[i] /= (double)s->block;
			continue;
		}
		if (s->block == 1) {
			out[i] = s->v[i];
			continue;
		}
		for (size_t j = i * s->block; j < (i + 1) * s->block; j++)
			share += s->v[j] > limit ? 1 : s->v[j] < limit ? 0 : 0.5;
		out[i] = share / (double)s->block;
	}
	return blocks;
}

/* The percentile of both series together: shares above it tell whether a tail has grown. */
static double pooled(const struct series *a, const struct series *b, uint32_t ppm)
{
	uint64_t rank = lat_rank(a->n + b->n, ppm);
	size_t i = 0, j = 0;
	double v = 0;

	while (rank--) {
		bool first = j == b->n || (i < a->n && a->sorted[i] <= b->sorted[j]);

		v = first ? a->sorted[i++] : b->sorted[j++];
	}
	return v;
}

static int ranks(const struct series *a, const struct series *b, const struct lat_compare_opts *o,
		 struct lat_diff *out)
{
	double *va = calloc(a->n, sizeof(*va)), *vb = calloc(b->n, sizeof(*vb)), limit = 0;
	struct lat_rank_result r = { .p = 1 };
	size_t na, nb;
	int ret = -ENOMEM;

	if (!va || !vb)
		goto out;
	if (o->ppm != LAT_MEAN)
		limit = pooled(a, b, o->ppm);
	na = of_blocks(a, o->ppm, limit, va);
	nb = of_blocks(b, o->ppm, limit, vb);
	if (o->paired) {
		for (size_t i = 0; i < na; i++)
			vb[i] -= va[i];
		ret = lat_signed_rank(vb, nb, &r);
		/* At best all signs agree: two outcomes of 2^n. */
		out->hopeless = ldexp(2, -(int)(nb < 1000 ? nb : 1000)) > 1 - o->level;
	} else {
		double best = 2;

		ret = lat_rank_test(va, na, vb, nb, &r);
		/* At best one set lies above the other: two outcomes of (na + nb) over na. */
		for (size_t i = 1; i <= nb && best > 1e-9; i++)
			best *= (double)i / (double)(na + i);
		out->hopeless = best > 1 - o->level;
	}
	out->p = r.p;
out:
	free(va);
	free(vb);
	return ret;
}

static int check(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(v[i]))
			return -EINVAL;
	return n ? 0 : -EINVAL;
}

int lat_compare(const double *base, size_t nbase, const double *other, size_t nother,
		const struct lat_compare_opts *opts, struct lat_diff *out)
{
	struct lat_compare_opts o = *opts;
	struct series a = { 0 }, b = { 0 };
	size_t blocks_a, blocks_b;
	double k, df, alpha;
	int ret;

	o.resamples = o.resamples ? o.resamples : RESAMPLES;
	o.level = o.level > 0 ? o.level : LEVEL;
	if (check(base, nbase) || check(other, nother) || (o.ppm > LAT_PPM && o.ppm != LAT_MEAN) ||
	    !(o.level > 0.5 && o.level < 1) || (o.paired && nbase != nother) || o.resamples < 100)
		return -EINVAL;
	ret = series_init(&a, base, nbase, o.resamples);
	if (!ret)
		ret = series_init(&b, other, nother, o.resamples);
	if (ret)
		goto out;
	a.block = b.block = o.block;
	if (!o.block && (lat_block_length(base, nbase, &a.block) ||
			 lat_block_length(other, nother, &b.block))) {
		ret = -ENOMEM;
		goto out;
	}
	a.block = a.block < a.n ? a.block : a.n;
	b.block = b.block < b.n ? b.block : b.n;
	if (o.paired)
		a.block = b.block = a.block > b.block ? a.block : b.block;
	*out = (struct lat_diff){
		.base = statistic(&a, o.ppm),
		.other = statistic(&b, o.ppm),
		.diff_low = -INFINITY,
		.diff_high = INFINITY,
		.change = NAN,
		.change_low = NAN,
		.change_high = NAN,
		.block_base = a.block,
		.block_other = b.block,
		.level = o.level,
	};
	if (out->base > 0 || out->base < 0)
		out->change = out->other / out->base - 1;
	ret = ranks(&a, &b, &o, out);
	/* With k blocks the drawn spread is sqrt((k - 1) / k) of the true one. */
	blocks_a = a.n / a.block;
	blocks_b = b.n / b.block;
	k = (double)(blocks_a < blocks_b ? blocks_a : blocks_b);
	if (ret || k < 2)
		goto out;
	df = o.paired ? k - 1 : (double)(blocks_a + blocks_b - 2);
	alpha = erfc(sqrt(k / (k - 1)) * lat_t_quantile((1 + o.level) / 2, df) / M_SQRT2) / 2;
	ret = bootstrap(&a, &b, &o, alpha, out);
	out->differs = (out->diff_low > 0 || out->diff_high < 0) && out->p < 1 - o.level;
out:
	series_free(&a);
	series_free(&b);
	return ret;
}
