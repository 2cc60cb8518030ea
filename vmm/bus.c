// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vmm/bus.h"

struct range {
	uint64_t base;
	uint64_t last;
	vmm_io_fn fn;
	void *priv;
	const char *name;
};

/* @range is sorted by address and has no overlaps, so that a look-up can bisect. */
struct vmm_bus {
	struct range *range;
	size_t nr;
	size_t room;
};

struct vmm_bus *vmm_bus_new(void)
{
	return calloc(1, sizeof(struct vmm_bus));
}

void vmm_bus_free(struct vmm_bus *bus)
{
	if (!bus)
		return;
	free(bus->range);
	free(bus);
}

/* Index of the first range that ends at or after @addr; bus->nr when there is none. */
static size_t lower_bound(const struct vmm_bus *bus, uint64_t addr)
{
	size_t lo = 0, hi = bus->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (bus->range[mid].last < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int vmm_bus_add(struct vmm_bus *bus, uint64_t base, uint64_t size, vmm_io_fn fn, void *priv,
		const char *name)
{
	uint64_t last = base + size - 1;
	size_t at;

	if (!size || last < base || !fn || !name)
		return -EINVAL;
	at = lower_bound(bus, base);
	if (at < bus->nr && bus->range[at].base <= last)
		return -EEXIST;
	if (bus->nr == bus->room) {
		size_t room = bus->room ? 2 * bus->room : 16;
		struct range *bigger = reallocarray(bus->range, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		bus->range = bigger;
		bus->room = room;
	}
	memmove(&bus->range[at + 1], &bus->range[at], (bus->nr - at) * sizeof(*bus->range));
	bus->range[at] = (struct range){ base, last, fn, priv, name };
	bus->nr++;
	return 0;
}

void vmm_bus_remove(struct vmm_bus *bus, uint64_t base)
{
	size_t at = lower_bound(bus, base);

	if (at == bus->nr || bus->range[at].base != base)
		return;
	bus->nr--;
	memmove(&bus->range[at], &bus->range[at + 1], (bus->nr - at) * sizeof(*bus->range));
}

void vmm_bus_remove_all(struct vmm_bus *bus, const struct vmm_bus_range *range, unsigned int nr)
{
	while (nr--)
		vmm_bus_remove(bus, range[nr].base);
}

int vmm_bus_add_all(struct vmm_bus *bus, const struct vmm_bus_range *range, unsigned int nr,
		    void *priv)
{
	for (unsigned int i = 0; i < nr; i++) {
		int ret = vmm_bus_add(bus, range[i].base, range[i].size, range[i].fn, priv,
				      range[i].name);

		if (ret) {
			vmm_bus_remove_all(bus, range, i);
			return ret;
		}
	}
	return 0;
}

const char *vmm_bus_access(struct vmm_bus *bus, uint64_t addr, void *data, unsigned int len,
			   bool write)
{
	const char *name = NULL;
	uint8_t *p = data;

	while (len) {
		size_t at = lower_bound(bus, addr);
		bool hit = at < bus->nr && bus->range[at].base <= addr;
		uint64_t room = hit	       ? bus->range[at].last - addr + 1
				: at < bus->nr ? bus->range[at].base - addr
					       : UINT64_MAX;
		unsigned int n = 8;

		/* A handler gets 1, 2, 4 or 8 bytes, none of them beyond its range. */
		while (n > len || n > room)
			n /= 2;
		if (hit) {
			/* A copy: the handler may change the bus, as moving a BAR does. */
			struct range r = bus->range[at];

			r.fn(r.priv, addr - r.base, p, n, write);
			if (!name)
				name = r.name;
		} else if (!write) {
			memset(p, 0xff, n);
		}
		addr += n;
		p += n;
		len -= n;
	}
	return name;
}
