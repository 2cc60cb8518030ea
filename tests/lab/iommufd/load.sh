# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by what runs in an emulated host: VFIO with iommufd and device nodes
# instead of the kernel's own.

# iommufd_load: load the modules that `build` made, before any of VFIO is loaded.
# Fails with a reason on standard error when there are none for this kernel.
iommufd_load()
{
	local dir m param=()

	dir=${BP_CACHE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)/cache}/iommufd/$LAB_KERNEL
	if [ "$(cat "$dir/release" 2>/dev/null)" != "$(uname -r)" ]; then
		echo "no modules for $(uname -r); run tests/lab/iommufd/build" >&2
		return 1
	fi
	modprobe irqbypass
	[ "$LAB_IOMMU" = intel ] || param=(allow_unsafe_interrupts=1)
	for m in iommufd vfio vfio_iommu_type1 vfio-pci-core vfio-pci; do
		case $m in
		iommufd|vfio_iommu_type1) insmod "$dir/$m.ko" "${param[@]}" ;;
		*) insmod "$dir/$m.ko" ;;
		esac
	done
}
