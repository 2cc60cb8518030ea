#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic e1000e --nvme
# lab: --iommu intel --nic e1000e --nvme
#
# libvf through device nodes and iommufd, and through type1 under the same modules:
# the same checks, the same answers.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/device.sh
. "$here/../host/device.sh"
# shellcheck source=tests/lab/iommufd/load.sh
. "$here/../iommufd/load.sh"

if ! why=$(iommufd_load 2>&1); then
	skip iommufd "$why"
	exit 77
fi

nic=$(basename "$(readlink -f /sys/bus/pci/drivers/e1000e/0*)")
nvme=$(basename "$(readlink -f /sys/bus/pci/drivers/nvme/0*)")

check_fails 'driver of the host' 1 "$nvme is bound to nvme, .*vfctl bind $nvme" \
	"$probe" --open "$nvme" iommufd
to_vfio "$nic"
to_vfio "$nvme"

# The chipset's functions share a group: one on vfio-pci does not make it viable.
modprobe -a ahci i2c_i801
to_vfio 0000:00:1f.2
check_fails 'group that is not viable' 1 \
	'group [0-9]+ of 0000:00:1f.2 is not viable.*0000:00:1f.3 \(i801_smbus\)' \
	"$probe" --open 0000:00:1f.2 iommufd
unbind 0000:00:1f.3
check 'the same group, viable' "$probe" --open 0000:00:1f.2 iommufd

if [ "$LAB_IOMMU" = amd ]; then
	unsafe=/sys/module/iommufd/parameters/allow_unsafe_interrupts
	echo N > "$unsafe"
	check_fails 'interrupts not remapped' 1 'remap interrupts.*modprobe iommufd allow_unsafe_interrupts=1' \
		"$probe" --open "$nic" iommufd
	echo Y > "$unsafe"
fi

if grep -q '^# backend iommufd' <<< "$("$probe" "$nic" auto)"; then
	ok 'iommufd is preferred'
else
	not_ok 'iommufd is preferred' 'another backend is'
fi
run_probe "$nic" iommufd "$nvme"
run_probe "$nic" type1 "$nvme"

# A node that went away with the driver is no reason to fail, only to use the group.
mv "/dev/vfio/devices/vfio$(basename "/sys/bus/pci/devices/$nic/vfio-dev"/vfio* | tr -dc 0-9)" /run/node
if grep -q '^# backend type1' <<< "$("$probe" "$nic" auto)"; then
	ok 'without a node, type1 is used'
else
	not_ok 'without a node, type1 is used' 'another backend is'
fi
checks_done
