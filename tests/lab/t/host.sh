#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --kernel 6.12 --nic igb --nvme --nic e1000e
# lab: --kernel 6.1 --nic igb --nvme
# lab: --kernel 5.10 --nic igb --nvme
# lab: --kernel 6.12 --iommu intel --nic igb --nvme
# lab: --kernel 6.1 --iommu intel --nic igb --nvme
# lab: --kernel 6.12 --mem 6G --nic igb
#
# What an emulated host offers, before anything of ours is used in it: SVM, an
# IOMMU with a group for each function, virtual functions that move data.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(cd "$here/../../.." && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/sriov.sh
. "$here/../host/sriov.sh"
bpguest=$tree/build/guest/bpguest

mounted() { [ "$(stat -f -c %T "$1")" = "$2" ]; }
group_of() { basename "$(readlink -e "$pci/$1/iommu_group")"; }
alone_in_group() { [ "$(ls "/sys/kernel/iommu_groups/$(group_of "$1")/devices")" = "$1" ]; }
# Not grep -q: dmesg would be told that its reader has gone.
said() { dmesg | grep -E -- "$1" > /dev/null; }

# BAR 0 of a VF that QEMU maps where the host believes it to be: below 4 GiB.
low_bar()
{
	local start

	read -r start _ < "$pci/$1/resource"
	[ $((start)) -gt 0 ] && [ $((start)) -lt $((1 << 32)) ]
}

check 'kernel' test "$(uname -r)" = "$LAB_RELEASE"
check 'series of the kernel' test "${LAB_KERNEL}" = "$(uname -r | grep -oE '^[0-9]+\.[0-9]+')"
check 'kvm_amd' test -d /sys/module/kvm_amd
check 'nested paging' grep -q '[1Y]' /sys/module/kvm_amd/parameters/npt
check '/dev/kvm' test -c /dev/kvm
check '/run is empty memory' mounted /run tmpfs
check 'tracefs' test -w /sys/kernel/tracing/trace
check 'debugfs' mounted /sys/kernel/debug debugfs
check 'lo' grep -q 'lo:' /proc/net/dev
check 'loopback answers' ping -q -c 1 -W 2 127.0.0.1
check 'modules' modprobe -n vfio-pci
echo 16 > /proc/sys/vm/nr_hugepages
check 'huge pages' test "$(< /proc/sys/vm/nr_hugepages)" -eq 16
echo 0 > /proc/sys/vm/nr_hugepages

# ---- the IOMMU --------------------------------------------------------------

chipset=$(group_of 0000:00:1f.0)
check 'chipset functions share a group' test "$(group_of 0000:00:1f.3)" = "$chipset"
modprobe vfio-pci
check 'vfio' test -c /dev/vfio/vfio
unsafe=$(< /sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts)
if [ "$LAB_IOMMU" = intel ]; then
	check 'interrupt remapping' said 'Enabled IRQ remapping'
	check 'unsafe interrupts stay off' test "$unsafe" = N
else
	check 'AMD-Vi' said 'AMD-Vi: Extended features'
	check 'unsafe interrupts are allowed' test "$unsafe" = Y
fi

# ---- igb: two VFs talk to each other -----------------------------------------

pf=$(first_of igb)
check 'igb has a group of its own' alone_in_group "$pf"
pf_up "$pf"
make_vfs "$pf" 2
v0=$(vf_of "$pf" 0) v1=$(vf_of "$pf" 1)
check 'VFs have groups of their own' alone_in_group "$v0"
check 'VFs come without a driver' test -z "$(driver_of "$v0")"
check 'VF BAR below 4 GiB' low_bar "$v0"
modprobe igbvf
take "$v0" igbvf
take "$v1" igbvf
n0=$(netdev_of "$v0") n1=$(netdev_of "$v1")
ip netns add other
ip link set "$n1" netns other
ip netns exec other "$bpguest" net --role server --if "$n1" --ip 10.9.0.2 --peer 10.9.0.1 --bytes 1M \
	> /run/server &
server=$!
check 'VF to VF: pings and 1 MiB each way' \
	"$bpguest" net --role client --if "$n0" --ip 10.9.0.1 --peer 10.9.0.2 --ping 4 --bytes 1M
if wait "$server"; then ok 'the other side agrees'; else not_ok 'the other side agrees' "$(< /run/server)"; fi

# ---- NVMe: VFs see one namespace ----------------------------------------------

if [ -e /sys/bus/pci/drivers/nvme ] && pf=$(first_of nvme); then
	check 'NVMe has a group of its own' alone_in_group "$pf"
	make_vfs "$pf" 2
	w0=$(vf_of "$pf" 0) w1=$(vf_of "$pf" 1)
	check 'NVMe VF BAR below 4 GiB' low_bar "$w0"
	nvme_vf_online "$pf" 0
	nvme_vf_online "$pf" 1
	take "$w0" nvme
	take "$w1" nvme
	check 'write by VF 0' "$bpguest" blk --dev "$(nvme_of "$w0")" --mode write --blocks 200 --seed 3
	check 'read by VF 1' "$bpguest" blk --dev "$(nvme_of "$w1")" --mode verify --blocks 200 --seed 3
	check 'read by the PF' "$bpguest" blk --dev "$(nvme_of "$pf")" --mode verify --blocks 200 --seed 3
	# The comparison must be able to fail.
	check_other=$("$bpguest" blk --dev "$(nvme_of "$pf")" --mode verify --blocks 200 --seed 4 | tail -n 1) || :
	check 'other data is seen as such' grep -q '"bad_blocks":200' <<< "$check_other"
fi
if [ -e /sys/bus/pci/drivers/e1000e ] && pf=$(first_of e1000e); then
	check 'e1000e has a group of its own' alone_in_group "$pf"
fi
check 'no warning of the kernel' test $(($(< /proc/sys/kernel/tainted) & 0x280)) -eq 0
checks_done
