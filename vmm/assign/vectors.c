// SPDX-License-Identifier: GPL-2.0-only
/*
 * Eventfds between the hardware's vectors and KVM. An eventfd remembers what fires while
 * no irqfd is attached, and KVM looks at it when one is attached again; so masking loses
 * nothing and needs no help from the hardware.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bp/log.h>
#include "vmm/assign/state.h"

/* Descriptors that the rest of the program needs beside the vectors. */
#define OTHER_FDS 256u

int vmm_vectors_init(struct vmm_vectors *v, struct vmm_irq *irq, struct vf_device *dev,
		     unsigned int index, unsigned int room, const char *name)
{
	memset(v, 0, sizeof(*v));
	v->fd = malloc(room * sizeof(*v->fd));
	v->handle = malloc(room * sizeof(*v->handle));
	if (!v->fd || !v->handle) {
		free(v->fd);
		free(v->handle);
		memset(v, 0, sizeof(*v));
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < room; i++)
		v->fd[i] = v->handle[i] = -1;
	v->irq = irq;
	v->dev = dev;
	v->index = index;
	v->room = room;
	v->name = name;
	return 0;
}

void vmm_vectors_exit(struct vmm_vectors *v)
{
	for (unsigned int i = 0; i < v->room; i++)
		if (v->fd[i] >= 0)
			close(v->fd[i]);
	free(v->fd);
	free(v->handle);
	memset(v, 0, sizeof(*v));
}

void vmm_vectors_limit(unsigned int count, const char *name)
{
	struct rlimit lim;
	rlim_t used = 0, need;
	/* Highest descriptor in use, near enough: the lowest free one. */
	int probe = dup(STDERR_FILENO);

	if (probe >= 0) {
		used = (rlim_t)probe;
		close(probe);
	}
	need = used + count + OTHER_FDS;
	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur >= need)
		return;
	lim.rlim_cur = need < lim.rlim_max ? need : lim.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur < need)
		bp_log_warn("%s: its %u interrupt vectors need %lu open files, the limit is %lu; "
			    "raise it with ulimit -n",
			    name, count, (unsigned long)need, (unsigned long)lim.rlim_cur);
}

static int have_fds(struct vmm_vectors *v, unsigned int count)
{
	if (count > v->room)
		return -EINVAL;
	for (unsigned int i = 0; i < count; i++) {
		int ret;

		if (v->fd[i] >= 0)
			continue;
		v->fd[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (v->fd[i] >= 0)
			continue;
		ret = -errno;
		/* Those that serve nothing now are more than this process has to spare. */
		while (i-- > v->provided) {
			if (v->handle[i] >= 0)
				continue;
			close(v->fd[i]);
			v->fd[i] = -1;
		}
		return ret;
	}
	return 0;
}

/* Interrupts of a time when the guest had vectors disabled are nothing to it later. */
static void forget(struct vmm_vectors *v)
{
	uint64_t count;

	for (unsigned int i = 0; i < v->room; i++)
		while (v->fd[i] >= 0 && read(v->fd[i], &count, sizeof(count)) > 0)
			;
}

/*
 * Vectors that could be added only with all of them off for a moment may have missed an
 * interrupt in it. One too many does no harm, one too few hangs a driver.
 */
static void kick_attached(struct vmm_vectors *v, unsigned int count)
{
	const uint64_t one = 1;

	for (unsigned int i = 0; i < count; i++)
		if (v->handle[i] >= 0 && write(v->fd[i], &one, sizeof(one)) < 0)
			bp_log_debug("%s: vector %u cannot be kicked: %s", v->name, i,
				     strerror(errno));
}

static int vectors_provide(void *priv, unsigned int count)
{
	struct vmm_vectors *v = priv;
	unsigned int had = v->provided;
	int ret;

	if (!count) {
		v->provided = 0;
		ret = vf_device_irq_disable(v->dev, v->index);
		forget(v);
		return ret;
	}
	ret = have_fds(v, count);
	if (ret)
		goto failed;
	if (had && !vf_device_irq(v->dev, v->index)->noresize) {
		ret = vf_device_irq_set(v->dev, v->index, had, count - had, v->fd + had);
	} else {
		if (had)
			vf_device_irq_disable(v->dev, v->index);
		ret = vf_device_irq_set(v->dev, v->index, 0, count, v->fd);
		if (ret && had && vf_device_irq_set(v->dev, v->index, 0, had, v->fd))
			v->provided = 0;
		kick_attached(v, had);
	}
	if (ret)
		goto failed;
	v->provided = count;
	return 0;

failed:
	/* Once: the guest can have it happen with every write. */
	if (!v->told_provide)
		bp_log_warn("%s: %u interrupt vectors cannot be had: %s", v->name, count,
			    strerror(-ret));
	v->told_provide = true;
	return ret;
}

static int vectors_attach(void *priv, unsigned int n, uint64_t address, uint32_t data)
{
	struct vmm_vectors *v = priv;
	int ret;

	if (n >= v->provided)
		return -EINVAL;
	if (v->handle[n] >= 0) {
		ret = vmm_irq_msi_update(v->irq, v->handle[n], address, data);
	} else {
		ret = vmm_irq_msi_attach(v->irq, address, data, 0, v->fd[n]);
		if (ret >= 0)
			v->handle[n] = ret;
	}
	if (ret >= 0)
		return 0;
	if (!v->told_attach)
		bp_log_warn("%s: vector %u does not reach the guest: %s", v->name, n,
			    strerror(-ret));
	v->told_attach = true;
	return ret;
}

static void vectors_detach(void *priv, unsigned int n)
{
	struct vmm_vectors *v = priv;

	if (v->handle[n] >= 0)
		vmm_irq_msi_detach(v->irq, v->handle[n]);
	v->handle[n] = -1;
}

static bool vectors_pending(void *priv, unsigned int n)
{
	struct vmm_vectors *v = priv;
	struct pollfd p = { .fd = v->fd[n], .events = POLLIN };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
}

const struct vmm_vec_ops vmm_vectors_ops = {
	.provide = vectors_provide,
	.attach = vectors_attach,
	.detach = vectors_detach,
	.pending = vectors_pending,
};
