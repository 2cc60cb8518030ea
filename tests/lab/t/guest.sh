#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic igb --nvme
#
# The guest program and its initramfs under a monitor that is not ours: QEMU with
# KVM, on this host's SVM. What fails here is not bluepass's fault.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(cd "$here/../../.." && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/sriov.sh
. "$here/../host/sriov.sh"
bpguest=$tree/build/guest/bpguest
kdir=$(dirname "$LAB_KERNEL_DIR")/6.1
if [ ! -e "$kdir/release" ]; then
	skip guest 'no 6.1 kernel; run tests/lab/prepare 6.1'
	exit 77
fi

"$here/../guest-initrd" --kernel 6.1 --modules 'igbvf nvme' -o /run/guest.cpio

# run NAME BDF PARAMETERS: a guest with that function; its BP lines go to /run/NAME.
run()
{
	timeout -s KILL 120 qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
		-accel kvm -cpu host -M q35 -m 320 -serial stdio -device "vfio-pci,host=$2" \
		-kernel "$kdir/vmlinuz" -initrd /run/guest.cpio -append "console=ttyS0 quiet $3" \
		> "/run/$1.raw" 2> "/run/$1.err" || {
		tail -n 20 "/run/$1.err" "/run/$1.raw"
		return 1
	}
	tr -d '\r' < "/run/$1.raw" | sed -n 's/^.*BP \({.*}\)$/\1/p' > "/run/$1"
}

# has NAME FILTER: a line for which the filter is true.
has() { [ -n "$(jq -c "select($2)" "/run/$1")" ]; }

pf=$(first_of igb)
pf_up "$pf"
make_vfs "$pf" 2
v0=$(vf_of "$pf" 0) v1=$(vf_of "$pf" 1)
# An igbvf that is given no address makes one up; the host then refuses later ones.
n=$(netdev_of "$pf")
ip link set "$n" vf 0 mac 02:00:00:00:00:10
ip link set "$n" vf 1 mac 02:00:00:00:00:11
modprobe -a vfio-pci igbvf
take "$v0" vfio-pci
take "$v1" igbvf
n1=$(netdev_of "$v1")
ip netns add other
ip link set "$n1" netns other
ip netns exec other "$bpguest" net --role server --if "$n1" --ip 10.9.0.2 --peer 10.9.0.1 --bytes 2M \
	> /run/server &
server=$!
check 'guest with an igb VF runs and ends by itself' run net "$v0" \
	'bp.do=net bp.role=client bp.ip=10.9.0.1 bp.peer=10.9.0.2 bp.bytes=2M bp.ping=4'
if wait "$server"; then ok 'host side'; else not_ok 'host side' "$(< /run/server)"; fi
check 'modules' has net '.ev == "modules" and (.loaded | index("igbvf"))'
check 'PAT has WC' has net '.ev == "pat" and (.line | test(" WC "))'
check 'MTRRs are on' has net '.ev == "mtrr" and (.text | test("reg00"))'
check 'driver' has net '.ev == "dev" and .driver == "igbvf" and .irq_mode == "msix"'
check 'pings and bytes' has net '.ev == "result" and .ok and .ping_received == 4 and
	.bytes_compared == 2097152 and .mismatches == 0 and .peer_mismatches == 0 and .interrupts > 0'
check 'end' has net '.ev == "end" and .ok'

pf=$(first_of nvme)
make_vfs "$pf" 1
nvme_vf_online "$pf" 0
w0=$(vf_of "$pf" 0)
take "$w0" vfio-pci
check 'guest with an NVMe VF' run blk "$w0" 'bp.do=blk bp.flr=1 bp.blocks=100 bp.bs=16K bp.seed=9 bp.mode=write'
check 'function-level reset' has blk '.ev == "flr" and .ok and .method == "flr"'
check 'blocks' has blk '.ev == "result" and .ok and .bytes_moved == 1638400 and .interrupts > 0'
check 'what it wrote, through the PF' \
	"$bpguest" blk --dev "$(nvme_of "$pf")" --mode verify --blocks 100 --bs 16K --seed 9
checks_done
