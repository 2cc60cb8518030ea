#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic igb --nvme
# lab: --nic igb --nvme --kernel 6.1 --iommu intel
#
# vfctl against a real kernel: VFs are made, configured, bound, given back and
# removed; what it shows is compared with lspci, ip and sysfs; what it must not
# do is refused with the reason.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/sriov.sh
. "$here/../host/sriov.sh"

vfctl=${VFCTL:-$here/../../../build/bin/vfctl}
records=/run/bluepass/bind

# same NAME WANT GOT
same()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "wanted '$2', got '$3'"
	fi
}

# json FILTER ARG...: run vfctl -j and filter what it prints.
json()
{
	local filter=$1

	shift
	"$vfctl" -j "$@" | jq -r "$filter"
}

has_driver() { [ "$(driver_of "$1")" = "$2" ]; }
override_of() { cat "$pci/$1/driver_override"; }

# attributes of VF 0 as `ip` tells them.
ip_vf() { ip -j -d link show "$nic" | jq -r ".[0].vfinfo_list[] | select(.vf == 0) | $1"; }

modprobe igbvf
# Something of the host on the chipset's group, which has three functions.
modprobe ahci
pf=$(first_of igb)
ssd=$(first_of nvme)
nic=$(netdev_of "$pf")
pf_up "$pf"

# ---- list and create ---------------------------------------------------------

same 'list: the PFs and nothing else' "$pf pf 0,$ssd pf 0" \
	"$(json '[.[] | "\(.bdf) \(.role) \(.num_vfs)"] | join(",")' list)"
same 'list --all: as many functions as sysfs' "$(find "$pci" -mindepth 1 | wc -l)" \
	"$(json length list --all)"
same 'list: names as lspci has them' "$(lspci -s "$pf" -mm | sed 's/^[^"]*"[^"]*" "\([^"]*\)" "\([^"]*\)".*/\1 \2/')" \
	"$(json ".[] | select(.bdf == \"$pf\") | .name" list)"

before=$(lsmod | awk '$1 == "igbvf" { print $3 }')
same 'create: changed' 'true 2' "$(json '"\(.changed) \(.vfs | length)"' create --no-probe "$pf" 2)"
vf0=$(vf_of "$pf" 0)
vf1=$(vf_of "$pf" 1)
same 'create --no-probe: no driver on the VFs' ' ' "$(driver_of "$vf0") $(driver_of "$vf1")"
same 'create --no-probe: the switch is back' 1 "$(cat "$pci/$pf/sriov_drivers_autoprobe")"
same 'create: igbvf was not used' "$before" "$(lsmod | awk '$1 == "igbvf" { print $3 }')"
same 'create again: nothing changed' false "$(json .changed create "$pf" 2)"
check_fails 'create another number' 1 "$pf has 2 VFs already, not 3.*vfctl destroy $pf" \
	"$vfctl" create "$pf" 3
same 'create another number: still 2' 2 "$(cat "$pci/$pf/sriov_numvfs")"
check_fails 'create too many' 1 "$pf: cannot make 99 VFs: its driver allows 1 to 7" "$vfctl" create "$pf" 99
check_fails 'create on a VF' 1 "$vf0 is itself a VF; name its PF, $pf" "$vfctl" create "$vf0" 1
check_fails 'create on what is no PF' 1 '0000:00:1f\.0 is not a PF' "$vfctl" create 00:1f.0 1
check_fails 'create none' 2 'not a number of VFs' "$vfctl" create "$pf" 0
same 'list: the VFs with their PF and index' "$vf0 $pf 0,$vf1 $pf 1" \
	"$(json '[.[] | "\(.bdf) \(.pf) \(.vf_index)"] | join(",")' list "$pf")"

# ---- set ---------------------------------------------------------------------

"$vfctl" set "$pf" 0 mac 02:00:00:00:00:10 > /dev/null
same 'set mac' 02:00:00:00:00:10 "$(ip_vf .address)"
same 'set mac again: nothing changed' false "$(json .changed set "$pf" 0 mac 02:00:00:00:00:10)"
"$vfctl" set "$pf" "$vf0" vlan 100:3 > /dev/null
same 'set vlan, VF by its name' '100 3' "$(ip_vf '"\(.vlan_list[0].vlan) \(.vlan_list[0].qos)"')"
"$vfctl" set "$nic" 0 vlan 0 > /dev/null
same 'set vlan 0, PF by its interface' 'null' "$(ip_vf '.vlan_list[0].vlan')"
"$vfctl" set "$pf" 0 trust on > /dev/null
same 'set trust' true "$(ip_vf .trust)"
"$vfctl" set "$pf" 0 spoofchk off > /dev/null
same 'set spoofchk' false "$(ip_vf .spoofchk)"
"$vfctl" set "$pf" 0 rate 100 > /dev/null
same 'set rate' '100' "$(ip_vf .rate.max_tx)"
same 'show: what was set' '02:00:00:00:00:10 0 true false 100' \
	"$(json '.vf | "\(.mac) \(.vlan) \(.trust) \(.spoofchk) \(.max_rate)"' show "$vf0")"
"$vfctl" set "$pf" 0 rate 0 > /dev/null
check_fails 'set guid: not on Ethernet' 1 "$nic: cannot set guid of VF 0: .*" \
	"$vfctl" set "$pf" 0 guid 00:11:22:33:44:55:66:77
check_fails 'set rate above the link' 1 "$nic: cannot set rate of VF 0: .*the interface must be up" \
	"$vfctl" set "$pf" 0 rate 500000
check_fails 'set on no VF' 1 'there is no VF 5: the PF has 2 VFs' "$vfctl" set "$pf" 5 trust on
check_fails 'set nonsense' 2 "'maybe' is no trust: it is on or off" "$vfctl" set "$pf" 0 trust maybe

# ---- show --------------------------------------------------------------------

# Both are asked once a function; starting programs is what takes time here.
for f in "$pf" "$vf0" "$ssd"; do
	seen=$(lspci -s "$f" -vv)
	"$vfctl" -j show "$f" > /run/shown
	same "show $f: capabilities where lspci has them" \
		"$(sed -n 's/^\tCapabilities: \[\([0-9a-f]*\).*/\1/p' <<< "$seen")" \
		"$(jq -r '(.capabilities + .extended_capabilities)[].offset' /run/shown | sed 's/^0x0*//')"
	same "show $f: BAR sizes as lspci has them" \
		"$(sed -n 's/^\tRegion \([0-5]\).*size=\([0-9]*\)K\]/\1 \2K/p' <<< "$seen")" \
		"$(jq -r '.bars[] | select(.type == "memory") | "\(.index) \(.size / 1024)K"' /run/shown)"
	same "show $f: MSI-X as lspci has it" \
		"$(sed -n 's/.*MSI-X: Enable. Count=\([0-9]*\).*/\1/p; s/.*Vector table: BAR=\([0-9]\) offset=0*\([0-9a-f]*\)$/\1 0x\2/p' <<< "$seen" | sed 's/0x$/0x0/')" \
		"$(jq -r '.msix | .vectors, "\(.table_bar) \(.table_offset)"' /run/shown)"
	same "show $f: group as sysfs has it" "$(basename "$(readlink "$pci/$f/iommu_group")")" \
		"$(jq -r .group.number /run/shown)"
	same "show $f: reset methods as sysfs has them" "$(cat "$pci/$f/reset_method" 2> /dev/null || echo flr)" \
		"$(jq -r '.reset_methods | join(" ")' /run/shown)"
done
same 'show: the VF can be mapped around its MSI-X table' '[{"offset":"0x1000","size":12288}]' \
	"$(json '.bars[] | select(.index == 3) | .mmap_areas | tojson' show "$vf0")"
same 'show: reserved I/O addresses as sysfs has them' \
	"$(awk '{ print $3 }' "$pci/$vf0/iommu_group/reserved_regions")" \
	"$(json '.reserved_regions[].type' show "$vf0")"
if [ "$LAB_IOMMU" = amd ]; then
	same 'show: AMD-Vi is coherent' 'amd true' "$(json '.iommu | "\(.kind) \(.coherent)"' show "$vf0")"
else
	snoop=false
	[ $((0x$(cat "$pci/$vf0/iommu/intel-iommu/ecap") >> 7 & 1)) -eq 0 ] || snoop=true
	same "show: VT-d is as coherent as its snoop control" "intel $snoop" \
		"$(json '.iommu | "\(.kind) \(.coherent)"' show "$vf0")"
fi
check 'show: text form' "$vfctl" show "$vf0"

# ---- bind and restore --------------------------------------------------------

check_fails 'bind a PF with VFs' 1 "$pf is a PF with 2 VFs.*vfctl destroy $pf" "$vfctl" bind "$pf"
check_fails 'bind half of the chipset' 1 \
	'group [0-9]+ not viable: .*0000:00:1f\.2 \(ahci\).*vfctl bind 0000:00:1f.3 0000:00:1f.2' "$vfctl" bind 00:1f.3
check_fails 'bind nothing that exists' 1 'no PCI function 0000:77:00\.0' "$vfctl" bind 77:00.0
mount -t tmpfs none /mnt
if mkfs.ext2 -q -F /dev/nvme0n1 2> /dev/null && mount /dev/nvme0n1 /mnt 2> /dev/null; then
	check_fails 'bind what carries a mounted file system' 1 \
		"$ssd carries the file system mounted at /mnt" "$vfctl" bind "$ssd"
	umount /mnt
else
	skip 'bind what carries a mounted file system' 'no ext2 here'
fi
umount /mnt
ip address add 10.9.0.1/24 dev "$nic"
"$vfctl" destroy "$pf" > /dev/null
ip route add default via 10.9.0.2 dev "$nic"
check_fails 'bind what carries the default route' 1 "$pf carries the default route \($nic\)" "$vfctl" bind "$pf"
ip route del default
ip address flush dev "$nic"
same 'refused: nothing is recorded' '' "$(ls "$records" 2> /dev/null)"
same 'refused: nothing is overridden' '(null)' "$(override_of "$pf")"

# VFs that igbvf has, so that there is a driver to give back.
"$vfctl" create "$pf" 2 > /dev/null
same 'create with probing: igbvf has the VFs' 'igbvf igbvf' "$(driver_of "$vf0") $(driver_of "$vf1")"
rmmod vfio_pci vfio_pci_core 2> /dev/null || :
same 'bind: from igbvf to vfio-pci' "$vf0 true igbvf vfio-pci" \
	"$(json '.[] | "\(.bdf) \(.changed) \(.from) \(.to)"' bind "$vf0")"
check 'bind: the driver really has it' has_driver "$vf0" vfio-pci
same 'bind again: nothing changed' 'false already' "$(json '.[] | "\(.changed) \(.note)"' bind "$vf0")"
check 'bind: the other VF was left alone' has_driver "$vf1" igbvf
same 'bind: what it had is recorded' 'driver=igbvf override= module=igbvf id=8086:10ca' \
	"$(xargs < "$records/$vf0")"
same 'list: it is on vfio-pci' vfio-pci "$(json ".[] | select(.bdf == \"$vf0\") | .driver" list)"

group=$(basename "$(readlink "$pci/$vf0/iommu_group")")
sleep 60 3< "/dev/vfio/$group" &
holder=$!
# The shell opens the file before it becomes sleep.
for _ in {1..100}; do
	[ "$(cat /proc/$holder/comm)" != sleep ] || break
	sleep 0.05
done
check_fails 'restore while it is in use' 1 "$vf0 is in use by sleep \(pid $holder\)" "$vfctl" restore "$vf0"
check_fails 'destroy while one is in use' 1 "$vf0 is in use by sleep \(pid $holder\)" "$vfctl" destroy "$pf"
same 'show: who uses it' "sleep $holder" "$(json '.holders[] | "\(.name) \(.pid)"' show "$vf0")"
kill "$holder"
wait "$holder" 2> /dev/null || :

same 'restore: back to igbvf' "true vfio-pci igbvf" \
	"$(json '.[] | "\(.changed) \(.from) \(.to)"' restore "$vf0")"
check 'restore: the driver really has it' has_driver "$vf0" igbvf
same 'restore: no override remains' '(null)' "$(override_of "$vf0")"
same 'restore: no record remains' '' "$(ls "$records")"
same 'restore again: nothing changed' 'false no_record' "$(json '.[] | "\(.changed) \(.note)"' restore "$vf0")"

# A restore that finds what a killed bind left: record and override, but no driver yet.
"$vfctl" bind "$vf0" > /dev/null
cp "$records/$vf0" /run/saved
"$vfctl" restore "$vf0" > /dev/null
cp /run/saved "$records/$vf0"
echo vfio-pci > "$pci/$vf0/driver_override"
echo "$vf0" > "$pci/$vf0/driver/unbind"
same 'restore --all after a crash between unbind and probe' "true igbvf" \
	"$(json '.[] | "\(.changed) \(.to)"' restore --all)"
check 'restore --all: the driver really has it' has_driver "$vf0" igbvf

# A PF whose drivers are held back: igbvf takes its VF back all the same.
"$vfctl" bind "$vf0" "$vf1" > /dev/null
echo 0 > "$pci/$pf/sriov_drivers_autoprobe"
same 'restore with probing off at the PF' 'igbvf igbvf' "$(json '[.[].to] | join(" ")' restore "$vf0" "$vf1")"
echo 1 > "$pci/$pf/sriov_drivers_autoprobe"

# A VF that is destroyed while bound leaves nothing behind.
"$vfctl" bind "$vf0" > /dev/null
same 'destroy' 'true 2' "$(json '"\(.changed) \(.removed)"' destroy "$pf")"
same 'destroy: no VF is left' 0 "$(cat "$pci/$pf/sriov_numvfs")"
same 'destroy: no record is left' '' "$(ls "$records")"
same 'destroy again: nothing changed' false "$(json .changed destroy "$pf")"
check_fails 'restore what never was' 1 "no PCI function $vf0" "$vfctl" restore "$vf0"

# All of the chipset's group together is viable.
same 'bind the whole chipset' 'vfio-pci vfio-pci vfio-pci' \
	"$(json '[.[].to] | join(" ")' bind 00:1f.0 00:1f.2 00:1f.3)"
same 'show: the group is viable' true "$(json .group.viable show 00:1f.2)"
json '.[].bdf' restore --all > /dev/null
check 'restore --all: ahci is back' has_driver 0000:00:1f.2 ahci

# ---- NVMe --------------------------------------------------------------------

same 'create on NVMe' 'true 2' "$(json '"\(.changed) \(.vfs | length)"' create --no-probe "$ssd" 2)"
nvf=$(vf_of "$ssd" 0)
same 'show: a VF with its MSI-X table among its registers' '0 [{"offset":"0x0","size":8192},{"offset":"0x3000","size":4096}]' \
	"$(json '"\(.msix.table_bar) \(.bars[0].mmap_areas | tojson)"' show "$nvf")"
same 'show: no attributes without a network interface' null "$(json .vf show "$nvf")"
same 'bind an NVMe VF' 'null vfio-pci' "$(json '.[] | "\(.from) \(.to)"' bind "$nvf")"
same 'restore an NVMe VF that had no driver' 'vfio-pci null' "$(json '.[] | "\(.from) \(.to)"' restore "$nvf")"
same 'restore: it has no driver again' '' "$(driver_of "$nvf")"
check 'destroy on NVMe' "$vfctl" destroy "$ssd"

checks_done
