// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block workload: units of a device in random order, each with a tag that says
 * where it belongs and the rest from the seeded pattern; written, or read and
 * compared, past the page cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"

#define MAGIC 0x6270626c6b2d3031ull	/* "bpblk-01" */

struct tag {
	uint64_t magic, seed, unit, turn;
};

struct blk {
	int fd;
	unsigned char *buf;
	uint64_t size, units;		/* bytes of a unit; units of the device */
	uint64_t count, seed;		/* units to touch */
	uint64_t step, first;		/* the order: first + i * step, modulo units */
	uint64_t moved, compared, mismatches, bad_units;
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

/*
 * A step without a common factor with the number of units visits each unit once:
 * random enough for a device, and the verifier makes the same order.
 */
static void choose_order(struct blk *b)
{
	b->first = pattern_word(b->seed, 0) % b->units;
	b->step = pattern_word(b->seed, 1) % b->units;
	while (gcd(b->step, b->units) != 1)
		b->step = (b->step + 1) % b->units;
}

static uint64_t unit_at(const struct blk *b, uint64_t i)
{
	return (uint64_t)((b->first + (unsigned __int128)i * b->step) % b->units);
}

/* The pattern of a unit starts at an offset that no other unit has. */
static uint64_t pattern_at(const struct blk *b, uint64_t unit)
{
	return unit * b->size;
}

static int write_units(const struct guest *g, struct blk *b)
{
	for (uint64_t i = 0; i < b->count; i++) {
		uint64_t unit = unit_at(b, i);
		struct tag tag = { .magic = MAGIC, .seed = b->seed, .unit = unit, .turn = i };
		ssize_t n;

		memcpy(b->buf, &tag, sizeof(tag));
		pattern_fill(b->seed, pattern_at(b, unit), b->buf + sizeof(tag), b->size - sizeof(tag));
		n = pwrite(b->fd, b->buf, b->size, (off_t)(unit * b->size));
		if (n != (ssize_t)b->size) {
			int err = n < 0 ? -errno : -EIO;

			report_error(g, "writing at byte %llu: %s", (unsigned long long)(unit * b->size),
				     strerror(-err));
			return err;
		}
		b->moved += b->size;
	}
	if (fsync(b->fd)) {
		report_error(g, "flush: %s", strerror(errno));
		return -EIO;
	}
	return 0;
}

static int verify_units(const struct guest *g, struct blk *b)
{
	for (uint64_t i = 0; i < b->count; i++) {
		uint64_t unit = unit_at(b, i), bad = 0;
		struct tag tag = { .magic = MAGIC, .seed = b->seed, .unit = unit, .turn = i };
		ssize_t n;

		/* So that a read that does not arrive cannot look right. */
		memset(b->buf, 0xa5, b->size);
		n = pread(b->fd, b->buf, b->size, (off_t)(unit * b->size));
		if (n != (ssize_t)b->size) {
			int err = n < 0 ? -errno : -EIO;

			report_error(g, "reading at byte %llu: %s", (unsigned long long)(unit * b->size),
				     strerror(-err));
			return err;
		}
		for (size_t j = 0; j < sizeof(tag); j++)
			bad += b->buf[j] != ((unsigned char *)&tag)[j];
		bad += pattern_check(b->seed, pattern_at(b, unit), b->buf + sizeof(tag),
				     b->size - sizeof(tag));
		if (bad && !b->bad_units) {
			struct tag got;

			memcpy(&got, b->buf, sizeof(got));
			report_error(g, "unit %llu (turn %llu) has %llu wrong bytes; its tag says magic %s, seed %llu, unit %llu, turn %llu",
				     (unsigned long long)unit, (unsigned long long)i, (unsigned long long)bad,
				     got.magic == MAGIC ? "right" : "wrong", (unsigned long long)got.seed,
				     (unsigned long long)got.unit, (unsigned long long)got.turn);
		}
		b->bad_units += bad != 0;
		b->mismatches += bad;
		b->compared += b->size;
		b->moved += b->size;
	}
	return 0;
}

/* Wait for the device node: drivers probe in their own time. */
static int open_device(struct guest *g, const char *name, double deadline)
{
	struct timespec start;
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s%s", name[0] == '/' ? "" : "/dev/", name);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno != ENOENT && errno != ENXIO && errno != EBUSY)
			break;
		if (seconds_since(&start) > deadline)
			break;
		usleep(20000);
	}
	fd = -errno;
	report_error(g, "%s: %s", path, strerror(-fd));
	return fd;
}

/* The size of a block device, or of a file that stands for one. */
static int device_size(int fd, uint64_t *bytes)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*bytes = (uint64_t)st.st_size;
	if (S_ISBLK(st.st_mode) && ioctl(fd, BLKGETSIZE64, bytes))
		return -errno;
	return 0;
}

/* PCI function of a block device; an NVMe controller says its own address. */
static int blk_pci(const char *name, char *bdf, size_t size)
{
	const char *base = strrchr(name, '/');
	char path[PATH_MAX];
	unsigned int ctrl;

	base = base ? base + 1 : name;
	if (sscanf(base, "nvme%un", &ctrl) == 1) {
		snprintf(path, sizeof(path), "/sys/class/nvme/nvme%u/address", ctrl);
		return read_text(path, bdf, size);
	}
	snprintf(path, sizeof(path), "/sys/class/block/%s", base);
	return pci_of(path, bdf, size);
}

static void report_progress(const struct guest *g, const struct blk *b)
{
	struct report r;

	report_open(&r, "progress");
	report_u64(&r, "uptime_ms", uptime_ms());
	report_u64(&r, "bytes_moved", b->moved);
	report_u64(&r, "bytes_compared", b->compared);
	report_u64(&r, "mismatches", b->mismatches);
	report_send(g, &r);
}

static int open_and_size(struct guest *g, struct blk *b, const char *name, uint64_t timeout)
{
	uint64_t bytes = 0;

	b->fd = open_device(g, name, (double)timeout);
	if (b->fd < 0)
		return b->fd;
	if (device_size(b->fd, &bytes)) {
		report_error(g, "%s: size: %s", name, strerror(errno));
		return -EIO;
	}
	b->units = bytes / b->size;
	if (!b->count || b->count > b->units) {
		report_error(g, "blocks=%llu of %llu bytes do not fit %s of %llu bytes",
			     (unsigned long long)b->count, (unsigned long long)b->size, name,
			     (unsigned long long)bytes);
		return -EINVAL;
	}
	choose_order(b);
	return 0;
}

int blk_run(struct guest *g, bool endless)
{
	const char *name = guest_str(g, "dev", "nvme0n1"), *mode = guest_str(g, "mode", "writeverify");
	bool do_write = !strncmp(mode, "write", 5), do_verify = strstr(mode, "verify") != NULL;
	struct irq_count before = { 0 }, after = { 0 };
	struct timespec start;
	struct blk b = { .fd = -1 };
	char bdf[32] = "";
	struct report r;
	uint64_t timeout, seconds;
	double told = 0, took;
	bool ok;
	int err;

	if (strcmp(mode, "write") && strcmp(mode, "verify") && strcmp(mode, "writeverify")) {
		report_error(g, "mode=%s is none of write, verify and writeverify", mode);
		return -EINVAL;
	}
	if (guest_u64(g, "blocks", 256, &b.count) || guest_u64(g, "seed", 1, &b.seed) ||
	    guest_u64(g, "bs", 4096, &b.size) || guest_u64(g, "timeout", 60, &timeout) ||
	    guest_u64(g, "seconds", 0, &seconds))
		return -EINVAL;
	if (!b.size || b.size % 4096 || b.size > 1 << 20) {
		report_error(g, "bs=%llu is not a multiple of 4096 up to 1M", (unsigned long long)b.size);
		return -EINVAL;
	}
	b.buf = aligned_alloc(4096, b.size);
	if (!b.buf) {
		report_error(g, "out of memory");
		return -ENOMEM;
	}
	err = open_and_size(g, &b, name, timeout);
	if (err)
		goto out;
	if (!blk_pci(name, bdf, sizeof(bdf))) {
		if (*guest_str(g, "flr", "") == '1') {
			close(b.fd);
			err = pci_reset(g, bdf);
			if (!err)
				err = open_and_size(g, &b, name, timeout);
			if (err)
				goto out;
		}
		pci_report_irqs(g, bdf, "before", &before);
	}
	report_transfer(g, true);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		err = do_write ? write_units(g, &b) : 0;
		if (!err && do_verify)
			err = verify_units(g, &b);
		if (endless && seconds_since(&start) - told >= 1) {
			told = seconds_since(&start);
			report_progress(g, &b);
		}
		if (endless && do_write) {
			b.seed++;
			choose_order(&b);
		}
	} while (endless && !err && !b.mismatches && (!seconds || seconds_since(&start) < (double)seconds));
	took = seconds_since(&start);
	report_transfer(g, false);
	if (*bdf) {
		pci_report_irqs(g, bdf, "after", &after);
	}
	ok = !err && !b.mismatches;
	report_open(&r, "result");
	report_str(&r, "do", endless ? "loop" : "blk");
	report_bool(&r, "ok", ok);
	report_str(&r, "dev", name);
	report_str(&r, "bdf", *bdf ? bdf : NULL);
	report_str(&r, "mode", mode);
	report_u64(&r, "blocks", b.count);
	report_u64(&r, "block_bytes", b.size);
	report_u64(&r, "bytes_moved", b.moved);
	report_u64(&r, "bytes_compared", b.compared);
	report_u64(&r, "mismatches", b.mismatches);
	report_u64(&r, "bad_blocks", b.bad_units);
	report_seconds(&r, "seconds", took);
	report_str(&r, "irq_mode", after.mode);
	report_u64(&r, "interrupts", after.total - before.total);
	report_send(g, &r);
	err = ok ? 0 : -EIO;
out:
	if (b.fd >= 0)
		close(b.fd);
	free(b.buf);
	return err;
}
