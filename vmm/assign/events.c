// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the host has to say about an assigned device: it failed, or it is wanted back.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bp/log.h>
#include "vmm/assign/state.h"
#include "vmm/dev/pm.h"

/* How long a guest may take to let go of a device. */
#define RECALL_NS 10000000000ull

static void drain(int fd)
{
	uint64_t count;

	while (read(fd, &count, sizeof(count)) > 0)
		;
}

/*
 * The kernel has seen an uncorrectable error and resets the link after this: what the
 * guest's driver believes of the device is no longer true, so the guest stops.
 */
static void on_error(void *priv, int fd)
{
	struct vmm_assign *a = priv;

	drain(fd);
	bp_log_error("%s: the host reports an uncorrectable PCI Express error; the guest is "
		     "stopped before it works with wrong data",
		     a->name);
	vmm_end(a->vmm, VMM_END_CRASHED);
}

static void on_ejected(void *priv, unsigned int slot)
{
	struct vmm_assign *a = priv;

	bp_log_info("%s: the guest has let go of slot %u; it is given back to the host", a->name,
		    slot);
	vmm_assign_give_back(a);
}

/* Comes again and again from the kernel until the device is closed; once is enough. */
static void on_request(void *priv, int fd)
{
	struct vmm_assign *a = priv;

	drain(fd);
	if (a->recalled)
		return;
	a->recalled = true;
	bp_log_warn("%s: the host wants the device back; asking the guest", a->name);
	vmm_timer_arm(a->recall, RECALL_NS);
	if (a->vmm->pm)
		vmm_pm_eject_request(a->vmm->pm, a->pci.slot, on_ejected, a);
}

static void on_recall_timeout(void *priv)
{
	struct vmm_assign *a = priv;

	bp_log_error("%s: the host wants the device back and the guest has not let go within "
		     "%llu seconds; the guest is stopped",
		     a->name, RECALL_NS / 1000000000ull);
	vmm_end(a->vmm, VMM_END_RECALLED);
}

static int open_one(struct vmm_assign *a, unsigned int index, int *fd,
		    void (*fn)(void *priv, int fd))
{
	int ret;

	if (!vf_device_irq(a->dev, index)->count)
		return 0;
	*fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (*fd < 0)
		return -errno;
	ret = vmm_loop_watch(a->vmm->loop, *fd, fn, a);
	if (ret)
		goto err_close;
	ret = vf_device_irq_set(a->dev, index, 0, 1, fd);
	if (ret)
		goto err_unwatch;
	return 0;

err_unwatch:
	vmm_loop_unwatch(a->vmm->loop, *fd);
err_close:
	close(*fd);
	*fd = -1;
	return ret;
}

static void close_one(struct vmm_assign *a, unsigned int index, int *fd)
{
	if (*fd < 0)
		return;
	vf_device_irq_disable(a->dev, index);
	vmm_loop_unwatch(a->vmm->loop, *fd);
	close(*fd);
	*fd = -1;
}

int vmm_assign_events_open(struct vmm_assign *a)
{
	int ret = vmm_timer_new(a->vmm->loop, on_recall_timeout, a, &a->recall);

	if (ret)
		return ret;
	ret = open_one(a, VF_IRQ_ERR, &a->err_fd, on_error);
	if (!ret)
		ret = open_one(a, VF_IRQ_REQ, &a->req_fd, on_request);
	if (ret)
		vmm_assign_events_close(a);
	return ret;
}

void vmm_assign_events_close(struct vmm_assign *a)
{
	close_one(a, VF_IRQ_ERR, &a->err_fd);
	close_one(a, VF_IRQ_REQ, &a->req_fd);
	vmm_timer_free(a->recall);
	a->recall = NULL;
	if (a->recalled && a->vmm->pm)
		vmm_pm_eject_cancel(a->vmm->pm, a->pci.slot);
}
