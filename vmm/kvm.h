/* SPDX-License-Identifier: GPL-2.0-only */
/* KVM's device node and the virtual machine object with its in-kernel parts. */
#ifndef VMM_KVM_H
#define VMM_KVM_H

#include <bp/error.h>

/**
 * vmm_kvm_open() - open /dev/kvm and see that it can do what is needed.
 * @err: says what is missing and how to get it.
 *
 * Return: descriptor, or a negative errno.
 */
int vmm_kvm_open(struct bp_error *err);

/**
 * vmm_kvm_create() - make a virtual machine with PICs, I/O APIC, local APICs and PIT.
 * @kvm_fd: from vmm_kvm_open().
 * @err: receives the reason of a failure.
 *
 * Return: descriptor, or a negative errno.
 */
int vmm_kvm_create(int kvm_fd, struct bp_error *err);

/**
 * vmm_kvm_vfio_new() - the object that tells KVM about assigned devices.
 * @vm_fd: virtual machine.
 *
 * KVM learns from it whether DMA is coherent (Documentation/virt/kvm/devices/vfio.rst).
 *
 * Return: descriptor, or a negative errno.
 */
int vmm_kvm_vfio_new(int vm_fd);

/**
 * vmm_kvm_vfio_add() - name one group or device.
 * @vfio_fd: from vmm_kvm_vfio_new().
 * @file: from vf_device_kvm_fd(); each file may be added once.
 *
 * Return: 0, or a negative errno.
 */
int vmm_kvm_vfio_add(int vfio_fd, int file);

/**
 * vmm_kvm_vfio_del() - let go of a file that was named.
 * @vfio_fd: as above.
 * @file: the same descriptor, still open.
 *
 * KVM holds a reference to the file (virt/kvm/vfio.c): until this, closing the descriptor
 * gives nothing back to the host.
 *
 * Return: 0, -ENOENT when it was not named, or another negative errno.
 */
int vmm_kvm_vfio_del(int vfio_fd, int file);

struct vmm_chips;

/**
 * vmm_chips_save() - remember PICs, I/O APIC and PIT as they are at power-on.
 * @vm_fd: virtual machine.
 * @out: receives the state; free() it.
 *
 * Return: 0, or a negative errno.
 */
int vmm_chips_save(int vm_fd, struct vmm_chips **out);

/** vmm_chips_restore() - put them back. @vm_fd: machine. @chips: state. Return: 0 or a negative errno. */
int vmm_chips_restore(int vm_fd, const struct vmm_chips *chips);

#endif
