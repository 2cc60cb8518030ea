/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who answers an access that left the guest: an ordered list of address ranges
 * for ports and one for memory. Everything here runs under the machine's lock.
 */
#ifndef VMM_BUS_H
#define VMM_BUS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * typedef vmm_io_fn - handles one access.
 * @priv: as given to vmm_bus_add().
 * @offset: bytes from the start of the range.
 * @data: for a write what the guest wrote, for a read where the answer goes (little-endian).
 * @len: 1, 2, 4 or 8 bytes; never crosses the end of the range.
 * @write: direction.
 */
typedef void (*vmm_io_fn)(void *priv, uint64_t offset, void *data, unsigned int len, bool write);

struct vmm_bus;

/** vmm_bus_new() - an empty bus. Return: the bus, or NULL when memory is short. */
struct vmm_bus *vmm_bus_new(void);

/** vmm_bus_free() - drop the bus and its list. @bus: NULL is allowed. */
void vmm_bus_free(struct vmm_bus *bus);

/**
 * vmm_bus_add() - put a range on the bus.
 * @bus: bus.
 * @base: first address.
 * @size: bytes, not 0, must not wrap.
 * @fn: handler.
 * @priv: handed to @fn.
 * @name: for statistics and messages; must stay valid.
 *
 * Return: 0, -EEXIST when the range overlaps another, -ENOMEM, or -EINVAL.
 */
int vmm_bus_add(struct vmm_bus *bus, uint64_t base, uint64_t size, vmm_io_fn fn, void *priv,
		const char *name);

/** vmm_bus_remove() - take the range that starts at @base off the bus. @bus: bus. @base: address. */
void vmm_bus_remove(struct vmm_bus *bus, uint64_t base);

/** struct vmm_bus_range - one range of a device that has several: as for vmm_bus_add(). */
struct vmm_bus_range {
	uint64_t base;
	uint64_t size;
	vmm_io_fn fn;
	const char *name;
};

/**
 * vmm_bus_add_all() - put all ranges of a device on the bus, or none.
 * @bus: bus. @range: ranges. @nr: entries. @priv: handed to each handler.
 *
 * Return: as vmm_bus_add().
 */
int vmm_bus_add_all(struct vmm_bus *bus, const struct vmm_bus_range *range, unsigned int nr,
		    void *priv);

/** vmm_bus_remove_all() - take them off again. @bus: bus. @range: ranges. @nr: entries. */
void vmm_bus_remove_all(struct vmm_bus *bus, const struct vmm_bus_range *range, unsigned int nr);

/**
 * vmm_bus_access() - deliver one access.
 * @bus: bus. @addr: address. @data: see vmm_io_fn. @len: 1, 2, 4 or 8. @write: direction.
 *
 * An access that nobody answers reads as all ones and writes into nothing, as on
 * a PC. One that crosses the end of a range is split.
 *
 * Return: name of the range that answered, or NULL.
 */
const char *vmm_bus_access(struct vmm_bus *bus, uint64_t addr, void *data, unsigned int len,
			   bool write);

#endif
