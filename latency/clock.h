/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of a measurement: the time-stamp counter where it can be trusted, compared once
 * with CLOCK_MONOTONIC_RAW; that clock itself elsewhere. It knows what reading it costs.
 *
 * The rate is measured, not taken from /proc/cpuinfo, whose "cpu MHz" is that of the core,
 * not of the counter.
 */
#ifndef LAT_CLOCK_H
#define LAT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <bp/error.h>

/* How long a calibration spins, when the caller has no other wish: errors well below 100 ppm. */
#define LAT_CLOCK_WINDOW 20000000ull

/**
 * struct lat_clock_source - the clocks behind; replaced in tests.
 * @raw: nanoseconds, steady. @ticks: a fast counter, or NULL. @priv: handed to both.
 */
struct lat_clock_source {
	uint64_t (*raw)(void *priv);
	uint64_t (*ticks)(void *priv);
	void *priv;
};

/**
 * struct lat_clock - a calibrated clock.
 * @tsc: ticks are the time-stamp counter's; otherwise they are nanoseconds.
 * @ns_per_tick: length of a tick.
 * @error_ppm: greatest error of @ns_per_tick, by how well both clocks could be read together.
 * @cost_min, @cost_median: nanoseconds from one reading to the next; nothing is subtracted
 *                          from any sample.
 * @source: where it reads.
 * @raw0, @ticks0: both clocks at the start of the calibration. @slack0: their uncertainty, ns.
 */
struct lat_clock {
	bool tsc;
	double ns_per_tick;
	double error_ppm;
	double cost_min;
	double cost_median;
	struct lat_clock_source source;
	uint64_t raw0;
	uint64_t ticks0;
	uint64_t slack0;
};

/** lat_clock_here() - this machine's clocks. @tsc: use the time-stamp counter where the
 * processor has one. Return: a source; ticks is NULL without the counter.
 */
struct lat_clock_source lat_clock_here(bool tsc);

/**
 * lat_clock_calibrate() - find the length of a tick, and what a reading costs.
 * @c: receives it.
 * @source: clocks.
 * @window: nanoseconds to spin, from 1000 on; at once without ticks.
 * @err: says what is wrong with the counter.
 *
 * Return: 0, -EINVAL, or -EIO when the counter stands still or goes back: then calibrate
 * again with a source that has no ticks.
 */
int lat_clock_calibrate(struct lat_clock *c, const struct lat_clock_source *source, uint64_t window,
			struct bp_error *err);

/** lat_clock_ns() - from ticks to nanoseconds. @c: clock. @ticks: a difference. Return: ns. */
static inline double lat_clock_ns(const struct lat_clock *c, uint64_t ticks)
{
	return (double)ticks * c->ns_per_tick;
}

/**
 * lat_clock_drift() - how far the counter and the steady clock came apart since calibration.
 * @c: clock.
 *
 * To be asked at the end of a run: more than the calibration's error means that the counter's
 * rate changed, and with it the samples.
 *
 * Return: parts per million of the time since; 0 where ticks are nanoseconds.
 */
double lat_clock_drift(const struct lat_clock *c);

/** lat_clock_now() - the time, in ticks. @c: clock of lat_clock_here().
 *
 * LFENCE keeps the counter from being read before earlier instructions are done (Intel SDM
 * volume 2, RDTSC; on AMD it serialises when MSR C001_1029 bit 1 is set, as Linux sets it).
 *
 * Return: ticks.
 */
static inline uint64_t lat_clock_now(const struct lat_clock *c)
{
	struct timespec t;

#ifdef __x86_64__
	if (c->tsc) {
		uint32_t low, high;

		__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
		return (uint64_t)high << 32 | low;
	}
#endif
	(void)c;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif
