# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by tests of libvf alone: bind functions by hand, run the test program.

probe=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)/build/unit/vfio_host_test
[ -z "${BUILD:-}" ] || probe=$BUILD/unit/vfio_host_test

unbind() { [ ! -e "/sys/bus/pci/devices/$1/driver" ] || echo "$1" > "/sys/bus/pci/devices/$1/driver/unbind"; }

# to_vfio BDF: from whatever driver it has to vfio-pci.
to_vfio()
{
	unbind "$1"
	echo vfio-pci > "/sys/bus/pci/devices/$1/driver_override"
	echo "$1" > /sys/bus/pci/drivers_probe
}

# run_probe NIC BACKEND NVME: the program's own ok and not ok lines count as ours.
run_probe()
{
	local status=0

	"$probe" "$@" || status=$?
	[ "$status" -eq 0 ] || checks_failed=$((checks_failed + 1))
}
