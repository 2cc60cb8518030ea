#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic igb --nic e1000e --nvme --timeout 900 --qemu -device --qemu nec-usb-xhci,id=usb,msix=off --qemu -device --qemu usb-tablet,bus=usb.0
# lab: --kernel 6.1 --nic igb --nic e1000e --nvme --timeout 600
# lab: --kernel 6.1 --iommu intel --nic igb --nic e1000e --nvme --timeout 600
# lab: --iommu intel --nic igb --nic e1000e --nvme --timeout 600
#
# Assigned functions at work in guests: virtual functions of an igb and of an NVMe
# controller, an e1000e by MSI-X and INTx, a USB controller by MSI; resets by the guest;
# restarts. Data is checked at both ends, and no access to a register leaves the guest
# meanwhile.
#
#   assign.sh [PATTERN]	only the cases whose name matches
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/guest.sh
. "$here/../host/guest.sh"
# shellcheck source=tests/lab/host/sriov.sh
. "$here/../host/sriov.sh"

pattern=${1:-}
guest_files 6.1 "igbvf nvme e1000e xhci-pci"
bpguest=${BUILD:-$tree/build}/guest/bpguest
modprobe -a vfio-pci igbvf
nic=$(first_of igb)
e1000e=$(first_of e1000e)
ssd=$(first_of nvme)
pf_up "$nic"
make_vfs "$nic" 2
make_vfs "$ssd" 2
nvme_vf_online "$ssd" 0
vf0=$(vf_of "$nic" 0) vf1=$(vf_of "$nic" 1) nvf=$(vf_of "$ssd" 0)
pf_dev=$(netdev_of "$nic")
ip link set "$pf_dev" vf 0 mac 02:00:00:00:00:10
ip link set "$pf_dev" vf 1 mac 02:00:00:00:00:11

# One end of each wire is the host's: the second VF, and the igb itself for the e1000e.
take "$vf1" igbvf
wire=$(netdev_of "$vf1")
take "$vf0" vfio-pci
take "$nvf" vfio-pci
take "$e1000e" vfio-pci

# boot NAME PARAMETERS OPTION...
boot()
{
	local name=$1 parameters=$2

	shift 2
	guest_start "$name" --kernel "$guest_kernel" --initrd "$guest_initrd" --mem 320M \
		--append "console=ttyS0 quiet panic=-1 bp.linger=4000 bp.timeout=60 $parameters" "$@"
}

# follow NAME: to its end, with the monitor's counters around the transfer.
follow()
{
	local name=$1

	if guest_until "$name" begin 240 > /dev/null &&
	   guest_stats "$name" > "$work/$name.before" &&
	   "$bluepass" -j ctl "$work/$name.sock" status > "$work/$name.status" &&
	   guest_until "$name" end_transfer 180 > /dev/null &&
	   guest_stats "$name" > "$work/$name.after"; then
		guest_wait "$name" 60
		return
	fi
	# The next guest wants its device.
	kill "${guest_pid[$name]}" 2>/dev/null || :
	guest_wait "$name" 20 || :
	return 1
}

# starts NAME: now and then an emulated host runs no guest at all; leave it to the next one.
starts()
{
	guest_until "$1" init 150 > /dev/null && return
	not_ok "$1: guest starts" 'it said nothing in 150 s'
	exit 1
}

# works NAME MODE: the guest is content and used that kind of interrupt; nothing was trapped.
# shellcheck disable=SC2016 # jq expands it
works()
{
	local name=$1 result

	starts "$name"
	check "$name: guest runs and powers off" follow "$name"
	result=$(guest_event "$name" result) || result='{}'
	check "$name: data is right" jq -e \
		'.ok and .mismatches == 0 and .bytes_compared > 0' <<< "$result"
	check "$name: interrupts by $2" jq -e --arg mode "$2" \
		'.irq_mode == $mode and .interrupts > 10' <<< "$result"
	check "$name: no register access leaves the guest" jq -e -n \
		--slurpfile b "$work/$name.before" --slurpfile a "$work/$name.after" \
		'($b[0].exits.mmio // 0) == ($a[0].exits.mmio // 0)'
}

# status NAME FILTER TEXT: what the monitor said of its devices during the transfer.
status() { check "$1: $3" jq -e ".devices[0] | $2" "$work/$1.status"; }

# net NAME BDF IP-OF-PEER INTERFACE-OF-PEER MODE PARAMETERS OPTION...
net()
{
	local name=$1 bdf=$2 peer=$3 dev=$4 mode=$5 parameters=$6 server

	shift 6
	"$bpguest" net --role server --bytes 1M --ip "$peer" --if "$dev" --timeout 300 \
		> "$work/server-$name" 2>&1 &
	server=$!
	boot "$name" "bp.do=net bp.bytes=1M bp.ping=3 bp.role=client bp.ip=${peer%.*}.2 bp.peer=$peer $parameters" \
		--vf "$bdf" "$@"
	works "$name" "$mode"
	kill "$server" 2>/dev/null || :
	wait "$server" || :
	check "$name: the peer got right data" grep -q '"ok":true' "$work/server-$name"
}

test_igb_vf()
{
	net igb_vf "$vf0" 10.9.0.1 "$wire" msix ''
	status igb_vf '.bars | map(select(.bar == 0)) | .[0] | .is64 and .prefetchable and .live and
		(.pieces | all(.direct)) and .trapped_reads + .trapped_writes == 0' 'BAR 0 is mapped straight, 64-bit and prefetchable'
	status igb_vf '.vectors_connected == 3 and .vectors_attached == 3' 'three vectors'
}

test_igb_vf_smp_reset()
{
	net igb_vf_smp "$vf0" 10.9.0.1 "$wire" msix bp.flr=1 --cpus 2
	check 'igb_vf_smp: reset by the guest' jq -e '.ok and .method == "flr"' <<< "$(guest_event igb_vf_smp flr || echo {})"
	status igb_vf_smp '.resets >= 2' 'the device was reset for it'
}

test_nvme_vf()
{
	boot nvme_vf "bp.do=blk bp.blocks=256 bp.flr=1" --vf "$nvf"
	works nvme_vf msix
	check 'nvme_vf: reset by the guest' jq -e '.ok and .method == "flr"' <<< "$(guest_event nvme_vf flr || echo {})"
	status nvme_vf '.bars[0].pieces == [{offset: "0x0000", size: "0x2000", direct: true, peer: false},
		{offset: "0x2000", size: "0x2000", direct: false, peer: false}]' 'only the pages of the MSI-X table are trapped'
}

# The guest starts again from its kernel; the device has to be as new each time.
test_restart()
{
	local deadline=$((SECONDS + 400)) results=0 status

	boot restart "bp.do=blk bp.blocks=64 bp.end=reboot" --vf "$nvf"
	starts restart
	while [ "$results" -lt 3 ] && [ "$SECONDS" -lt "$deadline" ] && kill -0 "${guest_pid[restart]}" 2>/dev/null; do
		sleep 0.5
		results=$(guest_lines restart | jq -c 'select(.ev == "result")' 2>/dev/null | wc -l)
	done
	check 'restart: three starts in one monitor' test "$results" -ge 3
	check 'restart: data is right each time' jq -se \
		'map(select(.ev == "result")) | length >= 3 and all(.ok)' <<< "$(guest_lines restart)"
	"$bluepass" ctl "$work/restart.sock" stop --force > /dev/null
	status=0
	guest_wait restart 20 || status=$?
	check 'restart: stops' test "$status" -eq 0
}

test_e1000e_msix()
{
	net e1000e_msix "$e1000e" 10.8.0.1 "$pf_dev" msix ''
	status e1000e_msix '.interrupts == "msix"' 'the monitor agrees'
}

# A USB controller without MSI-X and without a reset of its own. (Not the e1000e: its
# driver finds that QEMU's model sends no MSI, with and without a monitor in between.)
test_msi()
{
	local usb

	usb=$(basename "$(dirname "$(grep -lx 0x0c0330 "$pci"/*/class)")")
	take "$usb" vfio-pci
	boot msi "bp.do=info bp.hold=10" --vf "$usb"
	starts msi
	check 'msi: guest is up' guest_until msi hold 240
	"$bluepass" -j ctl "$work/msi.sock" status > "$work/msi.status"
	status msi '.interrupts == "msi" and .vectors_attached >= 1' 'the monitor delivers messages'
	check 'msi: guest powers off' guest_wait msi 120
	check 'msi: the guest gets them' jq -e '.driver == "xhci_hcd" and .irq_mode == "msi" and .interrupts > 3' \
		<<< "$(guest_lines msi | jq -c 'select(.ev == "dev" and .class == "0x0c0330")' | tail -n 1)"
}

test_e1000e_intx()
{
	net e1000e_intx "$e1000e" 10.8.0.1 "$pf_dev" intx '' --intx
	status e1000e_intx '.interrupts == "intx" and .vectors == 0' 'no messages are offered'
	# Through the 8259s, as guests without an I/O APIC have it.
	net e1000e_pic "$e1000e" 10.8.0.1 "$pf_dev" intx noapic --intx
	check_fails 'INTx of a VF' 1 "$vf0 has no INTx.*without --intx" \
		"$bluepass" run --kernel "$guest_kernel" --console none --intx --vf "$vf0"
}

# Three devices in one guest: each BAR that can be mapped is there for the others.
test_peers()
{
	boot peers "bp.do=blk bp.blocks=64" --vf "$nvf" --vf "$vf0" --vf "$e1000e"
	works peers msix
	check 'peers: BARs are mapped for each other' jq -e \
		'.devices | length == 3 and
		([.[].bars[] | select(.space == "memory" and .live).pieces[] | select(.direct).peer] | length >= 5 and all)' \
		"$work/peers.status"
}

# What does not depend on the host's kernel and IOMMU is seen on one of them.
elsewhere='igb_vf$|nvme_vf|e1000e_msix|e1000e_intx'
[ "$LAB_KERNEL $LAB_IOMMU" != '6.12 amd' ] || elsewhere=.

for t in $(declare -F | sed -n 's/^declare -f \(test_.*\)/\1/p'); do
	[[ $t == *$pattern* && $t =~ $elsewhere ]] || continue
	"$t"
done
checks_done
