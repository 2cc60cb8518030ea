// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MSI-X table. Hardware vectors are connected in as few steps as can be: kernels
 * before 6.5 cannot add vectors to MSI-X while it is enabled, so each step there takes
 * all vectors away for a moment.
 */
#include "vmm/assign/msix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pci_regs.h>

#define ENTRY	    PCI_MSIX_ENTRY_SIZE
#define VECTORS_MAX 2048u

static uint32_t entry32(const struct vmm_msix *m, unsigned int v, unsigned int off)
{
	const uint8_t *p = m->table + (size_t)v * ENTRY + off;

	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t address(const struct vmm_msix *m, unsigned int v)
{
	return entry32(m, v, PCI_MSIX_ENTRY_LOWER_ADDR) |
	       (uint64_t)entry32(m, v, PCI_MSIX_ENTRY_UPPER_ADDR) << 32;
}

static bool vector_masked(const struct vmm_msix *m, unsigned int v)
{
	return m->masked ||
	       (entry32(m, v, PCI_MSIX_ENTRY_VECTOR_CTRL) & PCI_MSIX_ENTRY_CTRL_MASKBIT);
}

static void clear_table(struct vmm_msix *m)
{
	memset(m->table, 0, (size_t)m->nr * ENTRY);
	for (unsigned int v = 0; v < m->nr; v++)
		m->table[(size_t)v * ENTRY + PCI_MSIX_ENTRY_VECTOR_CTRL] =
			PCI_MSIX_ENTRY_CTRL_MASKBIT;
	m->written = 0;
}

int vmm_msix_init(struct vmm_msix *m, unsigned int nr, const struct vmm_vec_ops *ops, void *priv)
{
	memset(m, 0, sizeof(*m));
	if (!nr || nr > VECTORS_MAX)
		return -EINVAL;
	m->table = malloc((size_t)nr * ENTRY);
	m->attached = calloc(nr, sizeof(*m->attached));
	if (!m->table || !m->attached) {
		free(m->table);
		free(m->attached);
		memset(m, 0, sizeof(*m));
		return -ENOMEM;
	}
	m->nr = nr;
	m->ops = ops;
	m->priv = priv;
	clear_table(m);
	return 0;
}

static void stop(struct vmm_msix *m)
{
	for (unsigned int v = 0; v < m->nr; v++) {
		if (!m->attached[v])
			continue;
		m->ops->detach(m->priv, v);
		m->attached[v] = false;
	}
	if (m->provided)
		m->ops->provide(m->priv, 0);
	m->provided = 0;
}

void vmm_msix_exit(struct vmm_msix *m)
{
	if (!m->table)
		return;
	stop(m);
	free(m->table);
	free(m->attached);
	memset(m, 0, sizeof(*m));
}

void vmm_msix_reset(struct vmm_msix *m)
{
	if (!m->table)
		return;
	stop(m);
	m->enabled = false;
	m->masked = false;
	clear_table(m);
}

/* Have at least @need vectors connected. */
static int provide(struct vmm_msix *m, unsigned int need)
{
	unsigned int least = need;
	int ret;

	/* What is written will be used; better now than when some are in use already. */
	if (need < m->written)
		need = m->written;
	if (need <= m->provided)
		return 0;
	/* A guest that adds them one by one must not cost a step for each. */
	if (m->provided > 1 && need < 2 * m->provided)
		need = 2 * m->provided;
	if (need > m->nr)
		need = m->nr;
	ret = m->ops->provide(m->priv, need);
	if (ret && least < need) {
		/* The host may be short of vectors, and what is used now is fewer. Not again. */
		m->written = 0;
		if (least <= m->provided)
			return 0;
		need = least;
		ret = m->ops->provide(m->priv, need);
	}
	if (!ret)
		m->provided = need;
	return ret;
}

/* Make delivery of one vector agree with its masks. */
static int settle(struct vmm_msix *m, unsigned int v, bool changed)
{
	bool want = m->enabled && !vector_masked(m, v);
	int ret;

	if (!want) {
		if (m->attached[v])
			m->ops->detach(m->priv, v);
		m->attached[v] = false;
		return 0;
	}
	if (m->attached[v] && !changed)
		return 0;
	ret = provide(m, v + 1);
	if (ret)
		return ret;
	ret = m->ops->attach(m->priv, v, address(m, v), entry32(m, v, PCI_MSIX_ENTRY_DATA));
	if (!ret)
		m->attached[v] = true;
	return ret;
}

static int settle_all(struct vmm_msix *m)
{
	unsigned int top = 0;
	int first = 0;

	for (unsigned int v = 0; v < m->nr; v++)
		if (m->enabled && !vector_masked(m, v))
			top = v + 1;
	if (top)
		first = provide(m, top);
	for (unsigned int v = 0; v < m->nr; v++) {
		int ret = settle(m, v, false);

		if (ret && !first)
			first = ret;
	}
	return first;
}

int vmm_msix_control(struct vmm_msix *m, bool enable, bool mask)
{
	int ret = 0, all;

	if (!m->table)
		return 0;
	m->masked = mask;
	if (!enable) {
		m->enabled = false;
		stop(m);
		return 0;
	}
	if (!m->enabled) {
		m->enabled = true;
		/*
		 * Firmware of some devices looks at the enable bit, so the hardware follows at
		 * once, with one vector when nothing says yet how many are wanted.
		 */
		ret = provide(m, 1);
	}
	all = settle_all(m);
	return ret ? ret : all;
}

void vmm_msix_table_read(const struct vmm_msix *m, uint64_t off, uint8_t *buf, unsigned int len)
{
	uint64_t size = (uint64_t)m->nr * ENTRY;

	for (unsigned int i = 0; i < len; i++)
		buf[i] = off < size && i < size - off ? m->table[off + i] : 0;
}

int vmm_msix_table_write(struct vmm_msix *m, uint64_t off, const uint8_t *buf, unsigned int len)
{
	uint64_t size = (uint64_t)m->nr * ENTRY;
	unsigned int v_first, v_last;
	int first = 0;

	if (!len || off >= size || len > size - off)
		return 0;
	v_first = (unsigned int)(off / ENTRY);
	v_last = (unsigned int)((off + len - 1) / ENTRY);
	for (unsigned int i = 0; i < len; i++) {
		unsigned int at = (off + i) % ENTRY;
		uint8_t keep = 0xff;

		if (at == PCI_MSIX_ENTRY_LOWER_ADDR)
			keep = 0xfc;
		else if (at == PCI_MSIX_ENTRY_VECTOR_CTRL)
			keep = PCI_MSIX_ENTRY_CTRL_MASKBIT;
		else if (at > PCI_MSIX_ENTRY_VECTOR_CTRL)
			keep = 0;
		m->table[off + i] = buf[i] & keep;
	}
	for (unsigned int v = v_first; v <= v_last; v++) {
		unsigned int from = v == v_first ? (unsigned int)(off % ENTRY) : 0;
		int ret;

		if (address(m, v) && v + 1 > m->written)
			m->written = v + 1;
		ret = settle(m, v, from < PCI_MSIX_ENTRY_VECTOR_CTRL);
		if (ret && !first)
			first = ret;
	}
	return first;
}

void vmm_msix_pba_read(const struct vmm_msix *m, uint64_t off, uint8_t *buf, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++) {
		buf[i] = 0;
		for (unsigned int bit = 0; bit < 8; bit++) {
			uint64_t v = (off + i) * 8 + bit;

			/* An attached vector is on its way already. */
			if (v < m->provided && !m->attached[v] &&
			    m->ops->pending(m->priv, (unsigned int)v))
				buf[i] |= (uint8_t)(1u << bit);
		}
	}
}

unsigned int vmm_msix_attached(const struct vmm_msix *m)
{
	unsigned int count = 0;

	for (unsigned int v = 0; v < m->nr; v++)
		count += m->attached[v];
	return count;
}
