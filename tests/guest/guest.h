/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The test program of nested guests: PID 1 of a small initramfs, or an ordinary
 * process in the host that plays the other side.
 *
 * It says what it sees in lines of their own, each "BP " and one JSON object.
 */
#ifndef BP_TESTS_GUEST_H
#define BP_TESTS_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/**
 * struct guest - what the program was asked, and where it reports
 * @keys, @values: parameters, "bp.KEY=VALUE" of the kernel command line or "--KEY VALUE"
 * @count:  how many
 * @out_fd: where report lines go
 * @kmsg:   @out_fd is /dev/kmsg: lines want a level in front
 * @init:   running as PID 1
 */
struct guest {
	char *keys[64];
	char *values[64];
	size_t count;
	int out_fd;
	bool kmsg;
	bool init;
};

/* ---- params.c: parameters ---- */

/** guest_add - remember a parameter; the later of two wins. Return: 0, or -E2BIG or -ENOMEM. */
int guest_add(struct guest *g, const char *key, const char *value);

/** guest_str - value of @key, or @other where it was not given. */
const char *guest_str(const struct guest *g, const char *key, const char *other);

/**
 * guest_u64 - value of @key as a number
 * @other: what holds where it was not given
 *
 * Decimal, 0x... or with a suffix K, M, G (powers of 1024).
 * Return: 0, or -EINVAL after a report line that names the parameter.
 */
int guest_u64(const struct guest *g, const char *key, uint64_t other, uint64_t *value);

/** guest_parse_cmdline - take all "bp.KEY=VALUE" words of a kernel command line. */
int guest_parse_cmdline(struct guest *g, char *line);

/* ---- report.c: the lines ---- */

/** struct report - a line being put together. */
struct report {
	char text[4096];
	size_t len;
	bool first;
};

void report_open(struct report *r, const char *ev);
void report_str(struct report *r, const char *key, const char *value);
void report_u64(struct report *r, const char *key, uint64_t value);
void report_seconds(struct report *r, const char *key, double value);
void report_bool(struct report *r, const char *key, bool value);
void report_list(struct report *r, const char *key);
void report_list_end(struct report *r);
void report_object(struct report *r);
void report_object_end(struct report *r);
/** report_send - write the line at once. A line that grew too long is an error line instead. */
void report_send(const struct guest *g, struct report *r);
/** report_error - {"ev":"error","text":...}. */
__attribute__((format(printf, 2, 3)))
void report_error(const struct guest *g, const char *fmt, ...);

/**
 * report_transfer - {"ev":"begin"} or {"ev":"end_transfer"}, then rest for bp.linger milliseconds.
 *
 * Whoever counts exits reads the counters in that rest: between the two there is
 * nothing but the transfer.
 */
void report_transfer(const struct guest *g, bool begin);

/** uptime_ms - milliseconds since the kernel started. */
uint64_t uptime_ms(void);
/** seconds_since - seconds from @start (CLOCK_MONOTONIC) to now. */
double seconds_since(const struct timespec *start);
/** read_text - first line of a file, without newline. Return: 0 or a negative errno. */
int read_text(const char *path, char *buf, size_t size);
/** write_text - write a string to a sysfs file. Return: 0 or a negative errno. */
int write_text(const char *path, const char *text);

/* ---- pattern.c: bytes that both sides can make ---- */

/** pattern_fill - bytes @offset .. @offset + @len - 1 of stream @seed. */
void pattern_fill(uint64_t seed, uint64_t offset, void *buf, size_t len);
/** pattern_check - how many bytes of @buf differ from that stream. */
uint64_t pattern_check(uint64_t seed, uint64_t offset, const void *buf, size_t len);
/** pattern_word - 64-bit word number @index of stream @seed. */
uint64_t pattern_word(uint64_t seed, uint64_t index);

/* ---- pci.c: the devices ---- */

/** struct irq_count - interrupts of a PCI function so far. */
struct irq_count {
	uint64_t total;
	unsigned int vectors;
	char mode[8];			/* msix, msi, intx or none */
};

/** pci_report_all - a "dev" line for each PCI function. */
void pci_report_all(const struct guest *g);
/** pci_irqs - interrupts that /proc/interrupts counts for @bdf. Return: 0 or a negative errno. */
int pci_irqs(const char *bdf, struct irq_count *irq);
/** pci_report_irqs - an "irq" line with each vector of @bdf; the sums in @irq, too. */
void pci_report_irqs(const struct guest *g, const char *bdf, const char *when, struct irq_count *irq);
/** pci_reset - unbind @bdf's driver, reset the function, bind it again; a "flr" line. */
int pci_reset(const struct guest *g, const char *bdf);
/** pci_of - BDF behind a sysfs "device" link (climbs from an NVMe namespace). Return: 0 or -ENODEV. */
int pci_of(const char *sysfs, char *bdf, size_t size);

/* ---- workloads; each ends with a "result" line. Return: 0 when all was right ---- */

int net_run(struct guest *g, bool endless);
int blk_run(struct guest *g, bool endless);
/** steps_run - MTRRs over a BAR, as "steps" says; see steps.c. */
int steps_run(struct guest *g);

/* ---- init.c ---- */

/** init_main - life of PID 1; never returns. */
__attribute__((noreturn)) void init_main(struct guest *g);
/** guest_work - do what the parameters ask; @what is info, net, blk, loop or mtrr. */
int guest_work(struct guest *g, const char *what);

#endif
