#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic igb --nic e1000e
#
# What a user gets wrong: each mistake is one sentence that says what to do, and
# the host is afterwards what it was before.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/guest.sh
. "$here/../host/guest.sh"

kernel=$LAB_KERNEL_DIR/vmlinuz
pf=$(basename "$(readlink -f /sys/bus/pci/drivers/igb/0*)")
e1000e=$(basename "$(readlink -f /sys/bus/pci/drivers/e1000e/0*)")
ip link set "$(ls "/sys/bus/pci/devices/$pf/net")" up

"$vfctl" create --no-probe "$pf" 2 > /dev/null
vf0=$(basename "$(readlink -f "/sys/bus/pci/devices/$pf/virtfn0")")
vf1=$(basename "$(readlink -f "/sys/bus/pci/devices/$pf/virtfn1")")
"$vfctl" bind "$vf0" > /dev/null
# Part of the chipset's group, of which another function has a driver of the host.
modprobe ahci
chipset=0000:00:1f.3

# Everything about the host that a failed run could have changed.
host_state()
{
	"$vfctl" -j list --all | jq -c '.[] | {bdf, driver, num_vfs}'
	cat /sys/kernel/mm/hugepages/*/{nr,free}_hugepages
	for d in /sys/bus/pci/devices/*; do
		printf '%s %s %s\n' "${d##*/}" "$(cat "$d/driver_override")" "$(cat "$d/enable")"
	done
	ls /run/bluepass 2>/dev/null || :
}
before=$(host_state)

run() { "$bluepass" run --kernel "$kernel" --mem 256M --console none "$@"; }

check_fails 'no such function' 1 'no PCI function 0000:77:00\.0.*vfctl list' \
	run --vf 0000:77:00.0
check_fails 'not an address' 2 'not a PCI address|not a BDF' run --vf banana
check_fails 'function without a driver' 1 "$vf1.*vfctl bind $vf1" run --vf "$vf1"
check_fails 'function with its own driver' 1 "$e1000e.*e1000e.*vfctl bind $e1000e" run --vf "$e1000e"
check_fails 'physical function with active VFs, run' 1 "$pf" run --vf "$pf"
check_fails 'physical function with active VFs, bind' 1 "$pf.*(virtual functions|VFs).*vfctl destroy $pf" \
	"$vfctl" bind "$pf"
check_fails 'group that is not viable' 1 "$chipset.*group.*0000:00:1f\.2" "$vfctl" bind "$chipset"
check_fails 'no such function, bind' 1 '0000:77:00\.0' "$vfctl" bind 0000:77:00.0

check_fails 'kernel that is text' 1 '/etc/passwd.*(not|no).*(kernel|bzImage)' \
	"$bluepass" run --kernel /etc/passwd --mem 256M
check_fails 'kernel that is not there' 1 '/no/such/kernel' \
	"$bluepass" run --kernel /no/such/kernel --mem 256M
head -c 100000 "$kernel" > /run/cut
check_fails 'kernel that is cut off' 1 '/run/cut.*(cut|short|truncated|incomplete)' \
	"$bluepass" run --kernel /run/cut --mem 256M
check_fails 'vmlinux instead of bzImage' 1 'vmlinux.*bzImage' \
	"$bluepass" run --kernel "$LAB_KERNEL_DIR/vmlinux" --mem 256M
check_fails 'initrd that is not there' 1 '/no/such/initrd' run --initrd /no/such/initrd
check_fails 'no kernel named' 2 '--kernel' "$bluepass" run --mem 256M

check_fails 'more memory than the host has' 1 '64.*(GiB|G).*available' \
	"$bluepass" run --kernel "$kernel" --mem 64G
check_fails 'huge pages that nobody reserved' 1 'huge pages.*nr_hugepages' run --hugepages 2M
check_fails 'memory that is no number' 2 '--mem' "$bluepass" run --kernel "$kernel" --mem lots
check_fails 'too little memory' 1 'at least|too (small|little)|16 MiB' \
	"$bluepass" run --kernel "$kernel" --mem 4M
check_fails 'no CPU' 2 '--cpus' run --cpus 0
check_fails 'too many CPUs' 2 '--cpus' run --cpus 1000
check_fails 'unknown option' 2 '--frobnicate' run --frobnicate
check_fails 'nobody behind the control socket' 1 '/no/such/socket' \
	"$bluepass" ctl /no/such/socket status
# Runs in a limit that pinning the guest's memory would exceed, without the right to exceed it.
check_fails 'locked memory is limited' 1 'memlock|RLIMIT_MEMLOCK|locked memory' \
	prlimit --memlock=1048576:1048576 setpriv --bounding-set=-ipc_lock,-sys_resource \
	"$bluepass" run --kernel "$kernel" --mem 256M --console none --vf "$vf0"

after=$(host_state)
if [ "$before" = "$after" ]; then
	ok 'the host is as it was'
else
	not_ok 'the host is as it was' 'something changed'
	diff <(echo "$before") <(echo "$after") || :
fi
"$vfctl" restore "$vf0" > /dev/null
"$vfctl" destroy "$pf" > /dev/null
checks_done
