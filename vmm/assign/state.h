/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One assigned function from inside; shared by the files of this directory only.
 */
#ifndef VMM_ASSIGN_STATE_H
#define VMM_ASSIGN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <vf/device.h>
#include "vmm/assign/assign.h"
#include "vmm/assign/chain.h"
#include "vmm/assign/msi.h"
#include "vmm/assign/msix.h"
#include "vmm/assign/pages.h"
#include "vmm/machine.h"
#include "vmm/pci/pci.h"

/**
 * struct vmm_piece_state - one piece of a BAR at work.
 * @assign: the function. @bar: number of the BAR. @offset: of the piece in the BAR.
 * @size: bytes.
 * @va: this process's mapping of a direct piece, NULL for one that traps.
 * @area: number from vmm_mt_area_add() while the BAR answers, -1 otherwise.
 * @peer: other devices can reach it while the BAR answers.
 * @trapped: on the memory or port bus while the BAR answers.
 */
struct vmm_piece_state {
	struct vmm_assign *assign;
	unsigned int bar;
	uint64_t offset;
	uint64_t size;
	void *va;
	int area;
	bool peer;
	bool trapped;
};

/**
 * struct vmm_bar_state - one BAR.
 * @name: for the bus and messages.
 * @nr: pieces. @piece: they cover the BAR without gaps.
 * @reads: trapped reads. @writes: trapped writes.
 */
struct vmm_bar_state {
	char name[40];
	unsigned int nr;
	struct vmm_piece_state piece[VMM_PAGES_MAX];
	uint64_t reads;
	uint64_t writes;
};

/**
 * struct vmm_vectors - eventfds between the hardware's vectors and KVM.
 * @irq: the guest's interrupts. @dev: the function. @index: VF_IRQ_MSI or VF_IRQ_MSIX.
 * @name: for messages.
 * @room: entries of @fd and @handle.
 * @provided: vectors connected at the hardware.
 * @fd: eventfds, -1 where none exists yet.
 * @handle: from vmm_irq_msi_attach(), -1 where detached.
 * @told_provide: the log has that vectors cannot be had.
 * @told_attach: the log has that one does not reach the guest.
 */
struct vmm_vectors {
	struct vmm_irq *irq;
	struct vf_device *dev;
	unsigned int index;
	const char *name;
	unsigned int room;
	unsigned int provided;
	int *fd;
	int *handle;
	bool told_provide;
	bool told_attach;
};

/**
 * struct vmm_assign - one assigned function.
 * @pci: what sits on the guest's bus.
 * @vmm: machine.
 * @dev: the function; NULL once it is given back.
 * @name: its address on the host.
 * @chain: what stands behind the guest's configuration space.
 * @bar: BARs.
 * @msix_vec: vectors of MSI-X. @msix: the table that drives them.
 * @msi_vec: messages of MSI. @msi: the capability that drives them.
 * @intx_trigger: eventfd of INTx, -1 while off. @intx_resample: the way back.
 * @intx_failed: INTx could not be enabled; not tried again before a reset.
 * @err_fd: eventfd of uncorrectable errors. @req_fd: the host wants the device back.
 * @recall: time limit after that.
 * @recalled: the guest was asked to give it up.
 * @p2p: BARs are mapped for other devices.
 * @peer_refused: at least one such mapping was refused.
 * @command_lost: the hardware did not take the command register the last time.
 * @reset_lost: nor its reset.
 * @resets: function resets so far.
 */
struct vmm_assign {
	struct vmm_pci_dev pci;
	struct vmm *vmm;
	struct vf_device *dev;
	char name[32];
	struct vmm_chain chain;
	struct vmm_bar_state bar[VMM_PCI_BARS];
	struct vmm_vectors msix_vec;
	struct vmm_msix msix;
	struct vmm_vectors msi_vec;
	struct vmm_msi msi;
	int intx_trigger;
	int intx_resample;
	bool intx_failed;
	int err_fd;
	int req_fd;
	struct vmm_timer *recall;
	bool recalled;
	bool p2p;
	bool peer_refused;
	bool command_lost;
	bool reset_lost;
	uint64_t resets;
};

/** vmm_assign_of() - the assignment behind a function on the bus. @dev: its member. Return: it. */
static inline struct vmm_assign *vmm_assign_of(struct vmm_pci_dev *dev)
{
	return (struct vmm_assign *)((char *)dev - offsetof(struct vmm_assign, pci));
}

/* bars.c */

/**
 * vmm_assign_bars_describe() - find out what BARs the function has.
 * @dev: function. @raw: first 64 bytes of its configuration space.
 * @bar: receives VMM_PCI_BARS descriptions.
 */
void vmm_assign_bars_describe(struct vf_device *dev, const uint8_t *raw, struct vmm_pci_bar *bar);

/** vmm_assign_bars_open() - cut BARs into pieces and map the direct ones here. @a: assignment. */
void vmm_assign_bars_open(struct vmm_assign *a);

/** vmm_assign_bars_close() - unmap them; no BAR answers any more. @a: assignment. */
void vmm_assign_bars_close(struct vmm_assign *a);

/** vmm_assign_bar_map() - vmm_pci_ops.bar_map. @dev: function. @bar: number. Return: 0 or a negative errno. */
int vmm_assign_bar_map(struct vmm_pci_dev *dev, unsigned int bar);

/** vmm_assign_bar_unmap() - vmm_pci_ops.bar_unmap. @dev: function. @bar: number. */
void vmm_assign_bar_unmap(struct vmm_pci_dev *dev, unsigned int bar);

/* trap.c */

/** vmm_assign_trap() - an access to a piece that traps; a vmm_io_fn. @priv: the piece. */
void vmm_assign_trap(void *priv, uint64_t offset, void *data, unsigned int len, bool write);

/* vectors.c */

extern const struct vmm_vec_ops vmm_vectors_ops;

/**
 * vmm_vectors_init() - nothing connected.
 * @v: vectors. @irq: the guest's interrupts. @dev: function. @index: VF_IRQ_*.
 * @room: most vectors. @name: for messages.
 *
 * Return: 0, or -ENOMEM.
 */
int vmm_vectors_init(struct vmm_vectors *v, struct vmm_irq *irq, struct vf_device *dev,
		     unsigned int index, unsigned int room, const char *name);

/** vmm_vectors_exit() - close the eventfds; nothing may be connected. @v: one of zeros is allowed. */
void vmm_vectors_exit(struct vmm_vectors *v);

/**
 * vmm_vectors_limit() - have room for descriptors.
 * @count: eventfds that may be needed.
 * @name: for the message.
 *
 * Raises RLIMIT_NOFILE within its hard limit; warns when that is too low.
 */
void vmm_vectors_limit(unsigned int count, const char *name);

/* irqmode.c */

/** vmm_assign_irq_sync() - make interrupt delivery agree with the configuration space. @a: assignment. */
void vmm_assign_irq_sync(struct vmm_assign *a);

/** vmm_assign_irq_off() - deliver nothing; tables as after a reset. @a: assignment. */
void vmm_assign_irq_off(struct vmm_assign *a);

/** vmm_assign_irq_mode() - how interrupts arrive. @a: assignment. Return: "msix", "msi", "intx" or "none". */
const char *vmm_assign_irq_mode(const struct vmm_assign *a);

/* config.c */

/** vmm_assign_cfg_read() - vmm_pci_ops.cfg_read. @dev: function. @off: offset. @len: bytes. */
void vmm_assign_cfg_read(struct vmm_pci_dev *dev, unsigned int off, unsigned int len);

/** vmm_assign_cfg_write() - vmm_pci_ops.cfg_write. @dev: function. @off: offset. @len: bytes. @old: before. */
void vmm_assign_cfg_write(struct vmm_pci_dev *dev, unsigned int off, unsigned int len,
			  const uint8_t *old);

/**
 * vmm_assign_hw_command() - write the hardware's command register.
 * @a: assignment. @guest: what the guest's says; only bus mastering and error reporting
 *     are taken from it. Decoding is always on: while it is off the kernel takes the
 *     mapped pages away, and a guest that is late would stop instead of reading ones.
 */
void vmm_assign_hw_command(struct vmm_assign *a, uint16_t guest);

/**
 * vmm_assign_hw_reset() - reset the hardware: bus mastering off, then the kernel's reset.
 * @a: assignment, with interrupts off.
 *
 * A function without a reset of its own is only stopped.
 */
void vmm_assign_hw_reset(struct vmm_assign *a);

/* events.c */

/** vmm_assign_events_open() - watch for errors and for the host's recall. @a: assignment. Return: 0 or a negative errno. */
int vmm_assign_events_open(struct vmm_assign *a);

/** vmm_assign_events_close() - stop watching. @a: assignment. */
void vmm_assign_events_close(struct vmm_assign *a);

/* assign.c */

/** vmm_assign_give_back() - take the function from the guest and close it. @a: stays, without device. */
void vmm_assign_give_back(struct vmm_assign *a);

#endif
