// SPDX-License-Identifier: GPL-2.0-only
#include "vmm/assign/msi.h"

#include <errno.h>
#include <string.h>

void vmm_msi_init(struct vmm_msi *m, const struct vmm_vec_ops *ops, void *priv)
{
	memset(m, 0, sizeof(*m));
	m->ops = ops;
	m->priv = priv;
}

static void detach(struct vmm_msi *m, unsigned int v)
{
	if (m->attached & (1u << v))
		m->ops->detach(m->priv, v);
	m->attached &= ~(1u << v);
}

static void stop(struct vmm_msi *m)
{
	for (unsigned int v = 0; v < VMM_MSI_MAX; v++)
		detach(m, v);
	if (m->provided)
		m->ops->provide(m->priv, 0);
	m->provided = 0;
}

int vmm_msi_set(struct vmm_msi *m, unsigned int count, uint64_t address, uint32_t data,
		uint32_t mask)
{
	bool moved = address != m->address || data != m->data;
	int first = 0, ret;

	if (count > VMM_MSI_MAX || (count & (count - 1)))
		return -EINVAL;
	/* The number of messages is fixed while they are enabled, here as in hardware. */
	if (count != m->provided)
		stop(m);
	m->address = address;
	m->data = data;
	m->mask = mask;
	if (!count)
		return 0;
	if (!m->provided) {
		ret = m->ops->provide(m->priv, count);
		if (ret)
			return ret;
		m->provided = count;
	}
	for (unsigned int v = 0; v < count; v++) {
		if (mask & (1u << v)) {
			detach(m, v);
			continue;
		}
		if ((m->attached & (1u << v)) && !moved)
			continue;
		ret = m->ops->attach(m->priv, v, address, (data & ~(count - 1)) | v);
		if (!ret)
			m->attached |= 1u << v;
		else if (!first)
			first = ret;
	}
	return first;
}

uint32_t vmm_msi_pending(const struct vmm_msi *m)
{
	uint32_t bits = 0;

	for (unsigned int v = 0; v < m->provided; v++)
		if (!(m->attached & (1u << v)) && m->ops->pending(m->priv, v))
			bits |= 1u << v;
	return bits;
}
