// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "vmm/acpi/resource.h"

/* Tags: small ones hold their length in the low three bits, large ones have bit 7 set. */
#define TAG_IRQ		0x22
#define TAG_IO		0x47
#define TAG_END		0x79
#define TAG_MEMORY32	0x86
#define TAG_DWORD	0x87
#define TAG_WORD	0x88
#define TAG_INTERRUPT	0x89
#define TAG_QWORD	0x8a

#define WINDOW_MEMORY	0
#define WINDOW_IO	1
#define WINDOW_BUS	2

#define FLAGS_PRODUCER	0x0c /* produced, positively decoded, both ends fixed */

#define IO_ENTIRE	0x03 /* ISA and other addresses alike */
#define MEMORY_RW	0x01
#define MEMORY_PREFETCH 0x06

#define IRQ_CONSUMER	0x01
#define IRQ_SHARED	0x08 /* with level and active high, which are zeros */

void vmm_res_io(struct vmm_bytes *b, uint16_t base, uint8_t len)
{
	vmm_bytes_le(b, TAG_IO, 1);
	vmm_bytes_le(b, 1, 1); /* 16 bits decoded */
	vmm_bytes_le(b, base, 2);
	vmm_bytes_le(b, base, 2);
	vmm_bytes_le(b, 1, 1); /* alignment */
	vmm_bytes_le(b, len, 1);
}

void vmm_res_irq(struct vmm_bytes *b, unsigned int irq)
{
	if (irq > 15 && !b->error)
		b->error = -EINVAL;
	vmm_bytes_le(b, TAG_IRQ, 1);
	vmm_bytes_le(b, 1u << (irq & 15), 2);
}

void vmm_res_interrupt(struct vmm_bytes *b, uint32_t gsi)
{
	vmm_bytes_le(b, TAG_INTERRUPT, 1);
	vmm_bytes_le(b, 6, 2);
	vmm_bytes_le(b, IRQ_CONSUMER | IRQ_SHARED, 1);
	vmm_bytes_le(b, 1, 1);
	vmm_bytes_le(b, gsi, 4);
}

void vmm_res_memory(struct vmm_bytes *b, uint32_t base, uint32_t len)
{
	vmm_bytes_le(b, TAG_MEMORY32, 1);
	vmm_bytes_le(b, 9, 2);
	vmm_bytes_le(b, MEMORY_RW, 1);
	vmm_bytes_le(b, base, 4);
	vmm_bytes_le(b, len, 4);
}

/* The three address descriptors differ in the width of their five numbers only (6.4.3.5). */
static void window(struct vmm_bytes *b, uint8_t tag, unsigned int width, uint8_t type,
		   uint8_t flags, uint64_t min, uint64_t max)
{
	if (min > max && !b->error)
		b->error = -EINVAL;
	vmm_bytes_le(b, tag, 1);
	vmm_bytes_le(b, 3 + 5 * width, 2);
	vmm_bytes_le(b, type, 1);
	vmm_bytes_le(b, FLAGS_PRODUCER, 1);
	vmm_bytes_le(b, flags, 1);
	vmm_bytes_le(b, 0, width); /* granularity */
	vmm_bytes_le(b, min, width);
	vmm_bytes_le(b, max, width);
	vmm_bytes_le(b, 0, width); /* translation */
	vmm_bytes_le(b, max - min + 1, width);
}

void vmm_res_bus_window(struct vmm_bytes *b, uint16_t min, uint16_t max)
{
	window(b, TAG_WORD, 2, WINDOW_BUS, 0, min, max);
}

void vmm_res_io_window(struct vmm_bytes *b, uint16_t min, uint16_t max)
{
	window(b, TAG_WORD, 2, WINDOW_IO, IO_ENTIRE, min, max);
}

void vmm_res_memory_window(struct vmm_bytes *b, uint32_t min, uint32_t max)
{
	window(b, TAG_DWORD, 4, WINDOW_MEMORY, MEMORY_RW, min, max);
}

void vmm_res_prefetch_window(struct vmm_bytes *b, uint64_t min, uint64_t max)
{
	window(b, TAG_QWORD, 8, WINDOW_MEMORY, MEMORY_RW | MEMORY_PREFETCH, min, max);
}

void vmm_res_end(struct vmm_bytes *b)
{
	vmm_bytes_le(b, TAG_END, 1);
	vmm_bytes_le(b, 0, 1); /* no checksum */
}
