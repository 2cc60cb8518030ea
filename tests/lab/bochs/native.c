// SPDX-License-Identifier: GPL-2.0-only
/* Runs on Bochs without any system and does what native.h says. */
#define BARE_MEMORY
#include "bare.h"
#include "native.h"
#include "../frame.h"

#define VA 0x100000000ull /* 4 GiB, where nothing is mapped yet */

static __attribute__((aligned(4096))) uint64_t dir[512], table[512];
static struct __attribute__((packed)) {
	uint16_t low, selector;
	uint8_t ist, type;
	uint16_t middle;
	uint32_t high, zero;
} idt[32];
static volatile uint32_t faults;

/* Only WRMSR and RDMSR fault, both two bytes long. */
__asm__(".globl gp_entry\n"
	"gp_entry: addq $8, %rsp\n"
	"	addq $2, (%rsp)\n"
	"	incl faults(%rip)\n"
	"	iretq\n");
extern const char gp_entry[];

static void print(const void *data, uint32_t len)
{
	const uint8_t *p = data;

	for (; len; len--)
		bare_print(*p++);
}

static void frame(uint32_t type, const void *data, uint32_t len)
{
	struct lab_frame f = { type, len };

	print(&f, sizeof(f));
	print(data, len);
}

static _Noreturn void finish(uint32_t status)
{
	frame(LAB_EXIT, &status, sizeof(status));
	for (;;)
		__asm__ volatile("cli; hlt");
}

static _Noreturn void die(const char *text)
{
	uint32_t len = 0;

	while (text[len])
		len++;
	frame(LAB_ERR, text, len);
	finish(1);
}

static char *put_hex(char *to, uint64_t v)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[(v >> shift) & 15];
	return to;
}

static void catch_gp(void)
{
	struct __attribute__((packed)) {
		uint16_t limit;
		uint64_t base;
	} idtr = { sizeof(idt) - 1, (uintptr_t)idt };
	uintptr_t at = (uintptr_t)gp_entry;

	memset(idt, 0, sizeof(idt));
	idt[13].low = (uint16_t)at;
	idt[13].selector = 0x10;
	idt[13].type = 0x8e;
	idt[13].middle = (uint16_t)(at >> 16);
	__asm__ volatile("lidt %0" ::"m"(idtr));
}

static void map_window(void)
{
	uint64_t *pdpt;

	__asm__("movl $0x2000, %k0" : "=r"(pdpt));
	memset(dir, 0, sizeof(dir));
	memset(table, 0, sizeof(table));
	pdpt[4] = (uintptr_t)dir | 3;
	dir[0] = (uintptr_t)table | 3;
}

static void flush(void)
{
	uint64_t cr3;

	__asm__ volatile("movq %%cr3, %0; movq %0, %%cr3" : "=r"(cr3)::"memory");
}

static void do_writes(const uint64_t *op, uint32_t n)
{
	static char line[2 + NATIVE_STORES_MAX + 20];
	char *to = line;
	uint64_t sum = 0;

	*to++ = 'w';
	*to++ = ' ';
	for (uint32_t i = 0; i < n; i++, op += 2) {
		uint32_t before = faults;

		wrmsr((uint32_t)op[0], op[1]);
		*to++ = faults == before ? '0' : '1';
		sum = native_mix(sum, rdmsr((uint32_t)op[0]));
	}
	*to++ = ' ';
	to = put_hex(to, sum);
	*to++ = '\n';
	frame(LAB_OUT, line, (uint32_t)(to - line));
}

static void do_stores(const uint64_t *op, uint32_t n)
{
	uint64_t *to = (uint64_t *)VA;

	for (uint32_t i = 0; i < n; i++)
		table[i] = op[2 * i];
	flush();
	MAGIC_BREAK();
	for (uint32_t i = 0; i < n; i++)
		*(volatile uint64_t *)(to + 512 * i) = op[2 * i + 1];
	MAGIC_BREAK();
	for (uint32_t i = 0; i < n; i++)
		table[i] = 0;
	flush();
}

static void set_caches(uint32_t on)
{
	uint64_t cr0;

	__asm__ volatile("movq %%cr0, %0" : "=r"(cr0));
	cr0 = on ? cr0 & ~(1ull << 30) : cr0 | 1ull << 30;
	__asm__ volatile("movq %0, %%cr0" ::"r"(cr0) : "memory");
	flush();
}

static void say_width(void)
{
	uint32_t a = 0x80000008, b, c, d;
	char line[] = "width 00\n";

	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	line[6] = (char)('0' + (a & 0xff) / 10);
	line[7] = (char)('0' + (a & 0xff) % 10);
	frame(LAB_OUT, line, sizeof(line) - 1);
}

int main(void)
{
	const uint64_t *op = (const uint64_t *)NATIVE_ADDR, *end;

	if ((uintptr_t)&table[512] > 0x30000)
		die("the program is larger than native_page_is_free() thinks\n");
	catch_gp();
	map_window();
	say_width();
	bare_read(NATIVE_SECTOR, 1, (void *)(uintptr_t)NATIVE_ADDR);
	if (op[0] != NATIVE_MAGIC || op[1] > NATIVE_WORDS_MAX - 2)
		die("the disk has no list\n");
	bare_read(NATIVE_SECTOR, (uint32_t)((op[1] + 2) * 8 + SECTOR - 1) / SECTOR,
		  (void *)(uintptr_t)NATIVE_ADDR);
	end = op + 2 + op[1];
	for (op += 2; op < end && (*op & 0xff) != NATIVE_END;) {
		uint32_t kind = *op & 0xff, n = (uint32_t)(*op >> 8);

		op++;
		if (kind == NATIVE_CACHES) {
			set_caches(n);
			continue;
		}
		if (n > NATIVE_STORES_MAX || op + 2 * n > end)
			die("the list is broken\n");
		if (kind == NATIVE_WRITES)
			do_writes(op, n);
		else
			do_stores(op, n);
		op += 2 * n;
	}
	finish(0);
}
