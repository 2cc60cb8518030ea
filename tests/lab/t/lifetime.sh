#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic igb --nvme --timeout 600
#
# A monitor that is killed in mid-transfer leaves nothing behind, and a device that
# the host wants back is given back while the guest runs.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/guest.sh
. "$here/../host/guest.sh"
# shellcheck source=tests/lab/host/sriov.sh
. "$here/../host/sriov.sh"

guest_files 6.1 "igbvf nvme"
modprobe -a vfio-pci igbvf
nic=$(first_of igb)
ssd=$(first_of nvme)
pf_up "$nic"
"$vfctl" create --no-probe "$nic" 2 > /dev/null
"$vfctl" create --no-probe "$ssd" 2 > /dev/null
nvme_vf_online "$ssd" 0
vf0=$(vf_of "$nic" 0) vf1=$(vf_of "$nic" 1) nvf=$(vf_of "$ssd" 0)
"$vfctl" set "$nic" 0 mac 02:00:00:00:00:10
"$vfctl" set "$nic" 1 mac 02:00:00:00:00:11

# The other end of the wire: the second VF in a name space of its own.
take "$vf1" igbvf
wire=$(netdev_of "$vf1")
ip netns add far
ip link set "$wire" netns far
far() { ip netns exec far "$tree/build/guest/bpguest" "$@" --ip 10.9.0.1 --if "$wire" --timeout 90; }

# Pages that devices may reach are pinned; the kernel counts both ways (since 5.8), each
# processor for itself, so the difference is right to some hundred pages. A guest has 80000.
pinned()
{
	awk '/^nr_foll_pin_acquired/ { a = $2 } /^nr_foll_pin_released/ { r = $2 } END { print a - r }' \
		/proc/vmstat
}

group_free()
{
	local group

	group=$(basename "$(readlink "$pci/$1/iommu_group")")
	[ -z "$(find /proc/[0-9]*/fd -lname "/dev/vfio/$group" 2>/dev/null)" ]
}

boot() # NAME VF PARAMETERS
{
	guest_start "$1" --kernel "$guest_kernel" --initrd "$guest_initrd" --mem 320M --vf "$2" \
		--append "console=ttyS0 quiet panic=-1 bp.timeout=60 $3"
}

# moving NAME: waits until a guest in an endless transfer has compared something.
moving()
{
	local deadline=$((SECONDS + 120))

	while [ "$(guest_event "$1" progress | jq .bytes_compared)" -le 0 ] 2>/dev/null ||
	      ! guest_event "$1" progress > /dev/null; do
		kill -0 "${guest_pid[$1]}" || return 1
		[ "$SECONDS" -lt "$deadline" ] || { guest_show "$1"; return 1; }
		sleep 0.2
	done
}

# kill_in_transfer NAME VF PARAMETERS
kill_in_transfer()
{
	local name=$1 vf=$2 before

	"$vfctl" bind "$vf" > /dev/null
	before=$(pinned)
	boot "$name" "$vf" "$3"
	check "$name: data is moving" moving "$name"
	check "$name: guest memory is pinned meanwhile" test "$(pinned)" -gt $((before + 50000))
	kill -KILL "${guest_pid[$name]}"
	wait "${guest_pid[$name]}" 2>/dev/null || :
	check "$name: no page stays pinned" test "$(pinned)" -lt $((before + 1000))
	check "$name: nobody holds the group" group_free "$vf"
}

net="bp.role=client bp.ip=10.9.0.2 bp.peer=10.9.0.1"
far loop --role server > "$work/far.log" &
far_pid=$!
kill_in_transfer net "$vf0" "bp.do=loop $net"
kill "$far_pid"
wait "$far_pid" 2>/dev/null || :

far net --role server --bytes 1M > "$work/far.log" &
far_pid=$!
boot again "$vf0" "bp.do=net bp.bytes=1M $net"
check 'net: the same VF works in the next guest' guest_wait again 150
check 'net: the next guest saw right data' jq -e '.ok' <<< "$(guest_event again result || echo false)"
wait "$far_pid" || :

kill_in_transfer blk "$nvf" "bp.do=loop bp.kind=blk bp.blocks=64"
boot blkagain "$nvf" "bp.do=blk bp.blocks=64"
check 'blk: the same VF works in the next guest' guest_wait blkagain 150
"$vfctl" restore "$nvf" > /dev/null

# The host's own way to ask for a device: unbinding its driver.
boot giver "$vf0" "bp.do=info bp.hold=90"
check 'recall: guest is up' guest_until giver hold 120
check 'recall: unbinding gets the device' timeout 40 sh -c "echo $vf0 > $pci/$vf0/driver/unbind"
check 'recall: the guest goes on' kill -0 "${guest_pid[giver]}"
check 'recall: the monitor no longer has it' \
	jq -e '.devices | length == 0' <<< "$("$bluepass" -j ctl "$work/giver.sock" status)"
"$bluepass" ctl "$work/giver.sock" stop --force > /dev/null
check 'recall: stopped on request' guest_wait giver 20

# A guest that knows nothing of ejection: the monitor lets go instead.
"$vfctl" restore "$vf0" > /dev/null
"$vfctl" bind "$vf0" > /dev/null
boot deaf "$vf0" "acpi=off bp.do=info bp.hold=90"
check 'recall, deaf guest: guest is up' guest_until deaf hold 120
check 'recall, deaf guest: unbinding gets the device' \
	timeout 60 sh -c "echo $vf0 > $pci/$vf0/driver/unbind"
status=0
guest_wait deaf 20 || status=$?
check 'recall, deaf guest: exit status 1' test "$status" -eq 1
check 'recall, deaf guest: says why' grep -q "$vf0.*host" "$work/deaf.log"

"$vfctl" restore "$vf0" > /dev/null
take "$vf0" igbvf
near=$(netdev_of "$vf0")
ip address add 10.9.0.2/24 dev "$near"
ip link set "$near" up
ip -n far address replace 10.9.0.1/24 dev "$wire"
ip -n far link set "$wire" up
check 'the VF works for the host again' sh -c \
	'for i in 1 2 3 4 5 6 7 8 9 10; do ping -c 1 -W 1 10.9.0.1 && exit 0; done; exit 1'
ip netns delete far
checks_done
