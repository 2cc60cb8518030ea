// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/mman.h>

#include "latency/mmap_lat/workload.h"
#include "latency/rng.h"

const char *const lat_work_names[LAT_WORKS] = {
	[LAT_WK_MAP] = "map",	[LAT_WK_UNMAP] = "unmap",     [LAT_WK_RESIZE] = "resize",
	[LAT_WK_MOVE] = "move", [LAT_WK_PROTECT] = "protect", [LAT_WK_TOUCH] = "touch",
};

/* One touch in so many operations makes about 54000 faults in a million; in 2009 it was 56000. */
#define TOUCH_ONE_IN 7

/*
 * What a slot holds. A mapping in pieces (holes, or pages of different protection) is several
 * to the kernel, so it is neither moved nor resized.
 */
struct slot {
	unsigned int len;
	bool pieces;
	unsigned char prot[LAT_SLOT_PAGES]; /* 0 for a hole */
	unsigned char byte[LAT_SLOT_PAGES]; /* what was written to it last */
};

struct work {
	struct lat_workload *w;
	struct lat_meter *m;
	struct lat_rng rng;
	size_t page;
	char *base;
	struct slot slot[LAT_SLOTS];
	uint64_t from;
};

static unsigned int below(struct work *k, unsigned int n)
{
	return (unsigned int)lat_rng_below(&k->rng, n);
}

/* FNV-1a: the order of what is fed counts. */
static void feed(struct work *k, uint64_t v)
{
	for (int i = 0; i < 8; i++, v >>= 8)
		k->w->digest = (k->w->digest ^ (v & 0xff)) * 0x100000001b3ull;
}

static char *address(const struct work *k, unsigned int slot, unsigned int page)
{
	return k->base + ((size_t)slot * LAT_SLOT_PAGES + page) * k->page;
}

static void begin(struct work *k)
{
	k->from = lat_clock_now(&k->m->clock);
}

static void end(struct work *k, enum lat_work kind)
{
	uint64_t now = lat_clock_now(&k->m->clock);

	lat_series_add(&k->w->series[kind], k->m, k->from, now);
	lat_series_add(&k->w->all, k->m, k->from, now);
}

static int failed(enum lat_work kind, unsigned int slot, struct bp_error *err)
{
	int code = errno ? -errno : -EEXIST;

	return bp_error_set(err, code, NULL, "%s of slot %u failed: %s", lat_work_names[kind], slot,
			    strerror(-code));
}

static unsigned char some_prot(struct work *k)
{
	return below(k, 4) ? PROT_READ | PROT_WRITE : PROT_READ;
}

static int do_map(struct work *k, unsigned int n, struct bp_error *err)
{
	struct slot *s = &k->slot[n];
	unsigned char prot;
	char *p;

	s->len = 1 + below(k, LAT_SLOT_PAGES);
	s->pieces = false;
	prot = some_prot(k);
	memset(s->prot, 0, sizeof(s->prot));
	memset(s->byte, 0, sizeof(s->byte));
	memset(s->prot, prot, s->len);
	feed(k, s->len << 8 | prot);
	errno = 0;
	begin(k);
	p = mmap(address(k, n, 0), s->len * k->page, prot,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	end(k, LAT_WK_MAP);
	if (p != address(k, n, 0)) {
		s->len = 0;
		return failed(LAT_WK_MAP, n, err);
	}
	return 0;
}

/* All of it half of the time, otherwise a part, which may leave a hole. */
static int do_unmap(struct work *k, unsigned int n, struct bp_error *err)
{
	struct slot *s = &k->slot[n];
	unsigned int off = 0, len = s->len;
	int ret;

	if (!s->pieces && below(k, 2)) {
		off = below(k, s->len);
		len = 1 + below(k, s->len - off);
	}
	feed(k, off << 8 | len);
	begin(k);
	ret = munmap(address(k, n, off), len * k->page);
	end(k, LAT_WK_UNMAP);
	if (ret)
		return failed(LAT_WK_UNMAP, n, err);
	memset(s->prot + off, 0, len);
	if (len == s->len)
		s->len = 0;
	else if (off + len == s->len)
		s->len = off;
	else
		s->pieces = true;
	return 0;
}

static int do_resize(struct work *k, unsigned int n, struct bp_error *err)
{
	struct slot *s = &k->slot[n];
	unsigned int len = 1 + below(k, LAT_SLOT_PAGES);
	void *p;

	feed(k, len);
	begin(k);
	p = mremap(address(k, n, 0), s->len * k->page, len * k->page, 0);
	end(k, LAT_WK_RESIZE);
	if (p == MAP_FAILED)
		return failed(LAT_WK_RESIZE, n, err);
	for (unsigned int i = s->len; i < len; i++) {
		s->prot[i] = s->prot[0];
		s->byte[i] = 0;
	}
	for (unsigned int i = len; i < s->len; i++)
		s->prot[i] = 0;
	s->len = len;
	return 0;
}

static int do_move(struct work *k, unsigned int n, unsigned int to, struct bp_error *err)
{
	struct slot *s = &k->slot[n];
	void *p;

	feed(k, to);
	begin(k);
	p = mremap(address(k, n, 0), s->len * k->page, s->len * k->page,
		   MREMAP_MAYMOVE | MREMAP_FIXED, address(k, to, 0));
	end(k, LAT_WK_MOVE);
	if (p == MAP_FAILED)
		return failed(LAT_WK_MOVE, n, err);
	k->slot[to] = *s;
	s->len = 0;
	return 0;
}

/* The whole, or a stretch of it; in a mapping in pieces one page that is there. */
static int do_protect(struct work *k, unsigned int n, struct bp_error *err)
{
	struct slot *s = &k->slot[n];
	unsigned int off = 0, len = s->len;
	unsigned char prot = some_prot(k);
	int ret;

	if (s->pieces) {
		off = below(k, s->len);
		while (!s->prot[off])
			off = (off + 1) % s->len;
		len = 1;
	} else if (below(k, 2)) {
		off = below(k, s->len);
		len = 1 + below(k, s->len - off);
	}
	feed(k, (uint64_t)off << 16 | len << 8 | prot);
	begin(k);
	ret = mprotect(address(k, n, off), len * k->page, prot);
	end(k, LAT_WK_PROTECT);
	if (ret)
		return failed(LAT_WK_PROTECT, n, err);
	if (len != s->len && s->prot[off] != prot)
		s->pieces = true;
	memset(s->prot + off, prot, len);
	return 0;
}

static void touch(struct work *k, unsigned int n, unsigned char what)
{
	struct slot *s = &k->slot[n];
	unsigned int page = below(k, LAT_SLOT_PAGES);
	volatile unsigned char *p = (unsigned char *)address(k, n, page);
	unsigned char seen;

	if (page >= s->len || !s->prot[page])
		return;
	begin(k);
	/* One instruction that reads and writes: a read first would fault in the zero page. */
	seen = s->prot[page] & PROT_WRITE ? __atomic_exchange_n(p, what, __ATOMIC_RELAXED) : *p;
	end(k, LAT_WK_TOUCH);
	feed(k, seen);
	k->w->wrong += seen != s->byte[page];
	if (s->prot[page] & PROT_WRITE)
		s->byte[page] = what;
}

static int one(struct work *k, uint64_t i, struct bp_error *err)
{
	unsigned int n = below(k, LAT_SLOTS), dice = below(k, 100), to = below(k, LAT_SLOTS);
	struct slot *s = &k->slot[n];
	int ret;

	feed(k, n << 8 | dice);
	if (!s->len)
		ret = do_map(k, n, err);
	else if (dice < 35)
		ret = do_unmap(k, n, err);
	else if (s->pieces || dice >= 65)
		ret = do_protect(k, n, err);
	else if (dice < 50 && !k->slot[to].len)
		ret = do_move(k, n, to, err);
	else
		ret = do_resize(k, n, err);
	if (!ret && !below(k, TOUCH_ONE_IN))
		touch(k, below(k, LAT_SLOTS), (unsigned char)(i + 1));
	return ret;
}

/* What was measured so far was warm-up. Operations mix, so counters are for all together. */
static void start_series(struct lat_workload *w, struct lat_meter *m)
{
	for (int i = 0; i < LAT_WORKS; i++)
		lat_series_init(&w->series[i], lat_work_names[i], 0);
	lat_series_init(&w->all, "all", 0);
	lat_series_open(&w->all, m);
}

int lat_workload_run(struct lat_workload *w, struct lat_meter *m, uint64_t seed, uint64_t ops,
		     uint64_t warmup, struct bp_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE),
	       size = (size_t)LAT_SLOTS * LAT_SLOT_PAGES * page;
	struct work *k = calloc(1, sizeof(*k));
	int ret = 0;

	if (!k)
		return -ENOMEM;
	*k = (struct work){ .w = w, .m = m, .rng = { seed }, .page = page };
	w->digest = 0xcbf29ce484222325ull;
	w->wrong = 0;
	start_series(w, m);
	/* A place for all slots; nothing else is mapped while this runs, so it stays free. */
	k->base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (k->base == MAP_FAILED) {
		ret = bp_error_set(err, -errno, NULL, "no room for %zu bytes: %s", size,
				   strerror(errno));
		goto out;
	}
	munmap(k->base, size);
	for (uint64_t i = 0; i < warmup + ops && !ret; i++) {
		if (i == warmup)
			start_series(w, m);
		ret = one(k, i, err);
	}
	lat_series_close(&w->all, m);
	munmap(k->base, size);
out:
	free(k);
	return ret;
}
