/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a program has that boot.S started on Bochs: ports, MSRs, the disk, and a
 * way to say something and to stop.
 */
#ifndef LAB_BOCHS_BARE_H
#define LAB_BOCHS_BARE_H

#include <stddef.h>
#include <stdint.h>

#define SECTOR 512u

/* Bochs stops here when `magic_break` is on; a processor does nothing. */
#define MAGIC_BREAK() __asm__ volatile("xchgw %%bx, %%bx" ::: "memory")

/** struct bare_e820 - the BIOS's memory map, where boot.S has put it. */
struct bare_e820 {
	uint32_t count;
	uint32_t unused;
	struct __attribute__((packed)) {
		uint64_t addr, size;
		uint32_t type;
	} entry[];
};

static inline const struct bare_e820 *bare_e820(void)
{
	const struct bare_e820 *map;

	/* Through the assembler, so that the compiler takes it for an object. */
	__asm__("movl $0x8000, %k0" : "=r"(map));
	return map;
}

static inline void out8(uint16_t port, uint8_t v)
{
	__asm__ volatile("outb %0, %1" ::"a"(v), "Nd"(port));
}

static inline uint8_t in8(uint16_t port)
{
	uint8_t v;

	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}

static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return low | (uint64_t)high << 32;
}

static inline void wrmsr(uint32_t msr, uint64_t v)
{
	__asm__ volatile("wrmsr" ::"c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)) : "memory");
}

/** bare_say() - text to Bochs's standard output, by its port 0xe9. */
static inline void bare_say(const char *text)
{
	for (; *text; text++)
		out8(0xe9, (uint8_t)*text);
}

/** bare_print() - a byte to the printer, which is what the outer side of the lab reads. */
static inline void bare_print(uint8_t byte)
{
	out8(0x378, byte);
	out8(0x37a, 0x0d); /* strobe */
	out8(0x37a, 0x0c);
}

/** bare_stop() - end Bochs: this text at its port 0x8900 does. */
static inline _Noreturn void bare_stop(void)
{
	for (const char *p = "Shutdown"; *p; p++)
		out8(0x8900, (uint8_t)*p);
	for (;;)
		__asm__ volatile("cli; hlt");
}

/**
 * bare_read() - sectors of the first disk, by programmed I/O.
 * @lba: first sector.
 * @sectors: how many.
 * @to: where to.
 *
 * An error is said and ends Bochs.
 */
static inline void bare_read(uint32_t lba, uint32_t sectors, void *to)
{
	while (sectors) {
		uint32_t n = sectors < 256 ? sectors : 256;

		out8(0x1f6, (uint8_t)(0xe0 | lba >> 24)); /* LBA, first drive */
		out8(0x1f2, (uint8_t)n); /* 0 means 256 */
		out8(0x1f3, (uint8_t)lba);
		out8(0x1f4, (uint8_t)(lba >> 8));
		out8(0x1f5, (uint8_t)(lba >> 16));
		out8(0x1f7, 0x20); /* read */
		for (uint32_t i = 0; i < n; i++) {
			uint64_t words = SECTOR / 2;
			uint8_t status;

			do
				status = in8(0x1f7);
			while (!(status & 1) && (status & 0x88) != 8);
			if (status & 1) {
				bare_say("the disk cannot be read\n");
				bare_stop();
			}
			__asm__ volatile("rep insw"
					 : "+D"(to), "+c"(words)
					 : "d"((uint16_t)0x1f0)
					 : "memory");
		}
		lba += n;
		sectors -= n;
	}
}

/* The compiler makes calls of these, whatever the flags. */
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#ifdef BARE_MEMORY
void *memcpy(void *to, const void *from, size_t n)
{
	void *p = to;

	__asm__ volatile("rep movsb" : "+D"(p), "+S"(from), "+c"(n)::"memory");
	return to;
}

void *memset(void *to, int c, size_t n)
{
	void *p = to;

	__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(c) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}
#endif

#endif
