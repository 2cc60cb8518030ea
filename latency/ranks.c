// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "latency/ranks.h"

/* A number, the set that it belongs to, and twice its rank: midranks are halves. */
struct item {
	double value;
	bool first;
	size_t rank2;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct item *)a)->value, y = ((const struct item *)b)->value;

	return (x > y) - (x < y);
}

/* Sort, give midranks; returns the sum of t^3 - t over groups of t equal numbers. */
static double rank(struct item *v, size_t n)
{
	double ties = 0;

	if (n)
		qsort(v, n, sizeof(*v), by_value);
	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && v[end].value <= v[i].value; end++)
			;
		for (size_t j = i; j < end; j++)
			v[j].rank2 = i + 1 + end;
		t = (double)(end - i);
		ties += t * t * t - t;
	}
	return ties;
}

static double two_sided(double deviation, double variance)
{
	/* Half a step towards the middle, as ranks come in steps and the curve does not. */
	double z = variance > 0 ? fmax(fabs(deviation) - 0.5, 0) / sqrt(variance) : 0;

	return erfc(z / sqrt(2));
}

/* Probability that the outcome is at least as far from the middle as @seen; ways[] counts them. */
static double tail(const double *ways, size_t sums, double middle, double seen)
{
	double all = 0, far = 0;

	for (size_t s = 0; s < sums; s++) {
		all += ways[s];
		if (fabs((double)s - middle) >= fabs(seen - middle) - 1e-9)
			far += ways[s];
	}
	return all > 0 ? fmin(far / all, 1) : 1;
}

/* Ways to choose @k of the ranks with each sum: one item after the other joins or does not. */
static double choose_exactly(const struct item *v, size_t n, size_t k, size_t seen2)
{
	size_t sums = n * (n + 1) + 1;
	double *ways = calloc((k + 1) * sums, sizeof(*ways)), p;

	if (!ways)
		return -1;
	ways[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i < k ? i + 1 : k; j >= 1; j--)
			for (size_t s = sums; s-- > v[i].rank2;)
				ways[j * sums + s] += ways[(j - 1) * sums + s - v[i].rank2];
	p = tail(ways + k * sums, sums, (double)(k * (n + 1)), (double)seen2);
	free(ways);
	return p;
}

int lat_rank_test(const double *a, size_t na, const double *b, size_t nb,
		  struct lat_rank_result *out)
{
	size_t n = na + nb, sum2 = 0;
	double ties, da = (double)na, db = (double)nb;
	struct item *v;
	int ret = 0;

	*out = (struct lat_rank_result){ .p = 1 };
	if (!na || !nb)
		return 0;
	v = calloc(n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct item){ .value = i < na ? a[i] : b[i - na], .first = i < na };
		if (!isfinite(v[i].value))
			ret = -EINVAL;
	}
	if (ret)
		goto out;
	ties = rank(v, n);
	for (size_t i = 0; i < n; i++)
		sum2 += v[i].first ? v[i].rank2 : 0;
	out->statistic = (double)sum2 / 2 - da * (da + 1) / 2;
	out->exact = n <= LAT_RANKS_EXACT;
	if (out->exact) {
		out->p = choose_exactly(v, n, na, sum2);
		ret = out->p < 0 ? -ENOMEM : 0;
	} else {
		double dn = (double)n;

		out->p = two_sided(out->statistic - da * db / 2,
				   da * db / 12 * (dn + 1 - ties / (dn * (dn - 1))));
	}
out:
	free(v);
	return ret;
}

/* Every rank is positive or negative with the same likelihood. */
static double sign_exactly(const struct item *v, size_t n, size_t seen2)
{
	size_t sums = n * (n + 1) + 1;
	double *ways = calloc(sums, sizeof(*ways)), p;

	if (!ways)
		return -1;
	ways[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t s = sums; s-- > v[i].rank2;)
			ways[s] += ways[s - v[i].rank2];
	p = tail(ways, sums, (double)(n * (n + 1)) / 2, (double)seen2);
	free(ways);
	return p;
}

int lat_signed_rank(const double *d, size_t n, struct lat_rank_result *out)
{
	size_t used = 0, sum2 = 0;
	struct item *v;
	double ties;
	int ret = 0;

	*out = (struct lat_rank_result){ .p = 1 };
	v = calloc(n ? n : 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(d[i]))
			ret = -EINVAL;
		else if (d[i] > 0 || d[i] < 0)
			v[used++] = (struct item){ .value = fabs(d[i]), .first = d[i] > 0 };
	}
	if (ret || !used)
		goto out;
	ties = rank(v, used);
	for (size_t i = 0; i < used; i++)
		sum2 += v[i].first ? v[i].rank2 : 0;
	out->statistic = (double)sum2 / 2;
	out->exact = used <= LAT_RANKS_EXACT;
	if (out->exact) {
		out->p = sign_exactly(v, used, sum2);
		ret = out->p < 0 ? -ENOMEM : 0;
	} else {
		double m = (double)used;

		out->p = two_sided(out->statistic - m * (m + 1) / 4,
				   m * (m + 1) * (2 * m + 1) / 24 - ties / 48);
	}
out:
	free(v);
	return ret;
}
