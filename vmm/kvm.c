// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "vmm/kvm.h"
#include "vmm/layout.h"

static const struct {
	long cap;
	const char *name;
} needed[] = {
	{ KVM_CAP_USER_MEMORY, "USER_MEMORY" },
	{ KVM_CAP_IRQCHIP, "IRQCHIP" },
	{ KVM_CAP_PIT2, "PIT2" },
	{ KVM_CAP_IRQFD, "IRQFD" },
	{ KVM_CAP_IRQFD_RESAMPLE, "IRQFD_RESAMPLE" },
	{ KVM_CAP_IRQ_ROUTING, "IRQ_ROUTING" },
	{ KVM_CAP_SIGNAL_MSI, "SIGNAL_MSI" },
	{ KVM_CAP_SET_TSS_ADDR, "SET_TSS_ADDR" },
	{ KVM_CAP_SET_IDENTITY_MAP_ADDR, "SET_IDENTITY_MAP_ADDR" },
	{ KVM_CAP_EXT_CPUID, "EXT_CPUID" },
	{ KVM_CAP_MP_STATE, "MP_STATE" },
	{ KVM_CAP_VCPU_EVENTS, "VCPU_EVENTS" },
	{ KVM_CAP_XSAVE, "XSAVE" },
	{ KVM_CAP_IMMEDIATE_EXIT, "IMMEDIATE_EXIT" },
};

static int cannot_open(int code, struct bp_error *err)
{
	switch (code) {
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
		return bp_error_set(
			err, code,
			"enable SVM or VT-x in the firmware and load kvm_amd or kvm_intel",
			"this host has no usable /dev/kvm: %s", strerror(-code));
	case -EACCES:
	case -EPERM:
		return bp_error_set(err, code, "run as root or join the group that owns it",
				    "/dev/kvm may not be opened: %s", strerror(-code));
	default:
		return bp_error_set(err, code, NULL, "cannot open /dev/kvm: %s", strerror(-code));
	}
}

int vmm_kvm_open(struct bp_error *err)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int version, ret;

	if (fd < 0)
		return cannot_open(-errno, err);
	version = ioctl(fd, KVM_GET_API_VERSION, 0);
	if (version != KVM_API_VERSION) {
		ret = bp_error_set(err, -ENOTSUP, "use Linux 5.10 or later",
				   "/dev/kvm answers with API version %d instead of %d", version,
				   KVM_API_VERSION);
		goto fail;
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (ioctl(fd, KVM_CHECK_EXTENSION, needed[i].cap) > 0)
			continue;
		ret = bp_error_set(err, -ENOTSUP, "use Linux 5.10 or later",
				   "this host's KVM lacks KVM_CAP_%s", needed[i].name);
		goto fail;
	}
	return fd;
fail:
	close(fd);
	return ret;
}

static int vm_fail(int vm_fd, const char *doing, struct bp_error *err)
{
	int code = -errno;

	bp_error_set(err, code, NULL, "KVM cannot %s: %s", doing, strerror(-code));
	close(vm_fd);
	return code;
}

int vmm_kvm_create(int kvm_fd, struct bp_error *err)
{
	struct kvm_pit_config pit = { .flags = KVM_PIT_SPEAKER_DUMMY };
	uint64_t identity = VMM_IDENTITY_MAP;
	int fd;

	do {
		fd = ioctl(kvm_fd, KVM_CREATE_VM, 0);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return bp_error_set(err, -errno,
				    errno == EBUSY ? "end what else uses hardware virtualization"
						   : NULL,
				    "KVM cannot create a virtual machine: %s", strerror(errno));
	/* Before the first VCPU; the addresses matter on Intel without unrestricted guest. */
	if (ioctl(fd, KVM_SET_IDENTITY_MAP_ADDR, &identity))
		return vm_fail(fd, "set the identity map's address", err);
	if (ioctl(fd, KVM_SET_TSS_ADDR, (unsigned long)VMM_TSS))
		return vm_fail(fd, "set the TSS address", err);
	if (ioctl(fd, KVM_CREATE_IRQCHIP, 0))
		return vm_fail(fd, "create the interrupt controllers", err);
	if (ioctl(fd, KVM_CREATE_PIT2, &pit))
		return vm_fail(fd, "create the interval timer", err);
	return fd;
}

int vmm_kvm_vfio_new(int vm_fd)
{
	struct kvm_create_device dev = { .type = KVM_DEV_TYPE_VFIO };

	return ioctl(vm_fd, KVM_CREATE_DEVICE, &dev) ? -errno : (int)dev.fd;
}

/* KVM_DEV_VFIO_FILE and its attributes in newer headers have the same values. */
static int vfio_file(int vfio_fd, uint64_t what, int file)
{
	int32_t fd = file;
	struct kvm_device_attr attr = {
		.group = KVM_DEV_VFIO_GROUP,
		.attr = what,
		.addr = (uintptr_t)&fd,
	};

	return ioctl(vfio_fd, KVM_SET_DEVICE_ATTR, &attr) ? -errno : 0;
}

int vmm_kvm_vfio_add(int vfio_fd, int file)
{
	return vfio_file(vfio_fd, KVM_DEV_VFIO_GROUP_ADD, file);
}

int vmm_kvm_vfio_del(int vfio_fd, int file)
{
	return vfio_file(vfio_fd, KVM_DEV_VFIO_GROUP_DEL, file);
}

struct vmm_chips {
	struct kvm_irqchip chip[3];
	struct kvm_pit_state2 pit;
};

int vmm_chips_save(int vm_fd, struct vmm_chips **out)
{
	struct vmm_chips *chips = calloc(1, sizeof(*chips));
	int ret;

	if (!chips)
		return -ENOMEM;
	for (uint32_t i = 0; i < 3; i++) {
		/* KVM_IRQCHIP_PIC_MASTER, _PIC_SLAVE and _IOAPIC are 0 to 2. */
		chips->chip[i].chip_id = i;
		if (ioctl(vm_fd, KVM_GET_IRQCHIP, &chips->chip[i]))
			goto fail;
	}
	if (ioctl(vm_fd, KVM_GET_PIT2, &chips->pit))
		goto fail;
	*out = chips;
	return 0;
fail:
	ret = -errno;
	free(chips);
	return ret;
}

int vmm_chips_restore(int vm_fd, const struct vmm_chips *chips)
{
	for (unsigned int i = 0; i < 3; i++)
		if (ioctl(vm_fd, KVM_SET_IRQCHIP, &chips->chip[i]))
			return -errno;
	return ioctl(vm_fd, KVM_SET_PIT2, &chips->pit) ? -errno : 0;
}
