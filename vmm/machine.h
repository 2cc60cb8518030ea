/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The virtual machine as its parts see it. Parts get this handle and find each
 * other through it; nothing else is shared.
 *
 * One lock guards every device and everything reached from here except RAM: it
 * is taken by vmm_loop for its handlers and by a VCPU thread while an exit is
 * handled. The data path of an assigned device causes no such exit.
 */
#ifndef VMM_MACHINE_H
#define VMM_MACHINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <bp/error.h>
#include <vf/device.h>
#include "vmm/bus.h"
#include "vmm/irq.h"
#include "vmm/loop.h"
#include "vmm/memtype/memtype.h"
#include "vmm/ram.h"

#define VMM_VCPUS_MAX 64
#define VMM_VFS_MAX   16

/** enum vmm_console - where the guest's first serial port goes. */
enum vmm_console_kind {
	VMM_CONSOLE_STDIO,
	VMM_CONSOLE_FILE,
	VMM_CONSOLE_NONE,
};

/**
 * struct vmm_config - what the user asked for; strings belong to the caller.
 * @kernel: path of a bzImage.
 * @initrd: path, or NULL.
 * @append: kernel command line, "" for none.
 * @cpus: 1 to VMM_VCPUS_MAX.
 * @mem: bytes.
 * @hugepage: 0, 2 MiB or 1 GiB.
 * @nr_vfs: entries of @vfs.
 * @vfs: addresses of functions to assign.
 * @backend: VFIO interface.
 * @console: where the serial port goes.
 * @console_path: for VMM_CONSOLE_FILE.
 * @api: path of the control socket, or NULL.
 * @memtype: how the guest's memory types are to be had.
 * @force_intx: hide MSI and MSI-X from the guest (assigned devices then use INTx).
 */
struct vmm_config {
	const char *kernel;
	const char *initrd;
	const char *append;
	unsigned int cpus;
	uint64_t mem;
	uint64_t hugepage;
	unsigned int nr_vfs;
	const char *vfs[VMM_VFS_MAX];
	enum vf_backend backend;
	enum vmm_console_kind console;
	const char *console_path;
	const char *api;
	enum vmm_mt_wish memtype;
	bool force_intx;
};

/** enum vmm_end - why the machine ended; the exit status of `bluepass run` follows from it. */
enum vmm_end {
	VMM_END_NONE,
	VMM_END_POWEROFF, /* the guest powered itself off: status 0 */
	VMM_END_STOPPED, /* ctl stop or a signal: status 0 after ctl stop, else 1 */
	VMM_END_RECALLED, /* the host wanted a device back and the guest did not let go */
	VMM_END_CRASHED, /* triple fault, internal error */
};

struct vmm_vcpu;
struct vmm_pci;
struct vmm_assign;
struct vmm_pm;

/**
 * struct vmm - one virtual machine.
 * @config: what was asked.
 * @kvm_fd: /dev/kvm.
 * @vm_fd: the machine.
 * @vfio_fd: KVM's VFIO object, or -1.
 * @lock: see above.
 * @loop: event loop.
 * @ram: memory and slots.
 * @pio: ports.
 * @mmio: memory-mapped registers.
 * @irq: interrupts.
 * @iommu: the devices' view of memory; NULL without assigned devices.
 * @pci: root bus.
 * @pm: power management and ejection registers.
 * @mt: the guest's memory types.
 * @nr_vcpus: started VCPUs.
 * @vcpu: VCPUs.
 * @maxphyaddr: guest physical address width in bits.
 */
struct vmm {
	const struct vmm_config *config;
	int kvm_fd;
	int vm_fd;
	int vfio_fd;
	pthread_mutex_t lock;
	struct vmm_loop *loop;
	struct vmm_ram *ram;
	struct vmm_bus *pio;
	struct vmm_bus *mmio;
	struct vmm_irq *irq;
	struct vf_iommu *iommu;
	struct vmm_pci *pci;
	struct vmm_pm *pm;
	struct vmm_mt *mt;
	unsigned int nr_vcpus;
	struct vmm_vcpu *vcpu[VMM_VCPUS_MAX];
	unsigned int maxphyaddr;
};

/**
 * vmm_end() - end the machine: VCPUs are kicked, vmm_loop_run() returns.
 * @vmm: machine; its lock is held.
 * @why: reason; the first one given stays.
 */
void vmm_end(struct vmm *vmm, enum vmm_end why);

/**
 * vmm_reset() - the guest asked for a reset (port 0xcf9, i8042, ACPI reset register).
 * @vmm: machine; its lock is held.
 *
 * All VCPUs stop, devices and assigned functions are reset, the kernel is loaded
 * again, and VCPU 0 starts anew.
 */
void vmm_reset(struct vmm *vmm);

#endif
