/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Resource descriptors (ACPI 6.4, 6.4): what stands inside a _CRS or _PRS buffer. Each
 * call appends one descriptor; vmm_res_end() closes the list.
 */
#ifndef VMM_RESOURCE_H
#define VMM_RESOURCE_H

#include <stdint.h>

#include "vmm/acpi/bytes.h"

/** vmm_res_io() - ports that a device uses, 16 bits decoded. @b: list. @base: port. @len: 1 to 255. */
void vmm_res_io(struct vmm_bytes *b, uint16_t base, uint8_t len);

/** vmm_res_irq() - an ISA interrupt: edge, active high, not shared. @b: list. @irq: 0 to 15. */
void vmm_res_irq(struct vmm_bytes *b, unsigned int irq);

/** vmm_res_interrupt() - a line: level, active high, shared. @b: list. @gsi: line. */
void vmm_res_interrupt(struct vmm_bytes *b, uint32_t gsi);

/** vmm_res_memory() - memory that a device uses, below 4 GiB. @b: list. @base: address. @len: bytes. */
void vmm_res_memory(struct vmm_bytes *b, uint32_t base, uint32_t len);

/** vmm_res_bus_window() - bus numbers behind a host bridge. @b: list. @min: first. @max: last. */
void vmm_res_bus_window(struct vmm_bytes *b, uint16_t min, uint16_t max);

/** vmm_res_io_window() - ports behind a host bridge. @b: list. @min: first. @max: last. */
void vmm_res_io_window(struct vmm_bytes *b, uint16_t min, uint16_t max);

/** vmm_res_memory_window() - memory behind a host bridge, below 4 GiB. @b: list. @min: first. @max: last. */
void vmm_res_memory_window(struct vmm_bytes *b, uint32_t min, uint32_t max);

/** vmm_res_prefetch_window() - prefetchable memory behind a host bridge. @b: list. @min: first. @max: last. */
void vmm_res_prefetch_window(struct vmm_bytes *b, uint64_t min, uint64_t max);

/** vmm_res_end() - close the list. @b: list. */
void vmm_res_end(struct vmm_bytes *b);

#endif
