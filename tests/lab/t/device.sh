#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic e1000e --nvme
# lab: --kernel 6.1 --nic e1000e --nvme
# lab: --kernel 5.10 --nic e1000e --nvme
# lab: --iommu intel --nic e1000e --nvme
#
# libvf takes an e1000e from the kernel and makes it move: regions, mappings, DMA,
# MSI-X, INTx, reset; and says why it cannot, where it cannot.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/device.sh
. "$here/../host/device.sh"

nic=$(basename "$(readlink -f /sys/bus/pci/drivers/e1000e/0*)")
nvme=$(basename "$(readlink -f /sys/bus/pci/drivers/nvme/0*)")

check_fails 'without VFIO' 1 'no VFIO.*modprobe vfio-pci' "$probe" --open "$nic" type1
modprobe -a vfio-pci vfio_iommu_type1

check_fails 'without iommufd' 1 'no /dev/iommu.*CONFIG_IOMMUFD' "$probe" --open "$nic" iommufd
check_fails 'no such function' 1 'no PCI function 0000:77:00.0' "$probe" --open 77:00.0
check_fails 'not a name' 1 "'banana' is not the name" "$probe" --open banana
check_fails 'driver of the host' 1 "$nvme is bound to nvme, .*vfctl bind $nvme" "$probe" --open "$nvme"
unbind "$nic"
check_fails 'no driver' 1 "$nic is not bound to any.*vfctl bind $nic" "$probe" --open "$nic"
to_vfio "$nic"

# The chipset's functions share a group: one on vfio-pci does not make it viable.
modprobe -a ahci i2c_i801
to_vfio 0000:00:1f.2
check_fails 'group that is not viable' 1 'group [0-9]+ of 0000:00:1f.2 is not viable.*0000:00:1f.3 \(i801_smbus\)' \
	"$probe" --open 0000:00:1f.2
unbind 0000:00:1f.3
check 'the same group, viable' "$probe" --open 0000:00:1f.2

if [ "$LAB_IOMMU" = amd ]; then
	unsafe=/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts
	echo N > "$unsafe"
	check_fails 'interrupts not remapped' 1 'remap interrupts.*allow_unsafe_interrupts=1' \
		"$probe" --open "$nic"
	echo Y > "$unsafe"
fi

to_vfio "$nvme"
run_probe "$nic" type1 "$nvme"
checks_done
