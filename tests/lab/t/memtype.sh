#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic igb --timeout 600
# lab: --kernel 6.1 --nic igb --timeout 600
#
# A guest without PAT asks for write combining by MTRR, over pages of its VF's BAR. Without
# kvm-memtype.ko KVM's leaves stay as they are, and the report says that a store is not
# combined, and why. With it the leaves follow the guest's MTRRs and nothing else, as KVM's
# own trace shows; during traffic, too, with two CPUs, through a reset, and until the module
# goes.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/guest.sh
. "$here/../host/guest.sh"
# shellcheck source=tests/lab/host/sriov.sh
. "$here/../host/sriov.sh"
# shellcheck source=tests/lab/host/mtrr.sh
. "$here/../host/mtrr.sh"

bpguest=$build/guest/bpguest
if [ ! -e "$module" ]; then
	not_ok kvm-memtype.ko "$module is missing; make kmod"
	exit 1
fi
guest_files 6.1 'msr igbvf'
modprobe -a vfio-pci igbvf msr
nic=$(first_of igb)
pf_up "$nic"
make_vfs "$nic" 2
vf0=$(vf_of "$nic" 0) vf1=$(vf_of "$nic" 1)
ip link set "$(netdev_of "$nic")" vf 0 mac 02:00:00:00:00:10
ip link set "$(netdev_of "$nic")" vf 1 mac 02:00:00:00:00:11
take "$vf1" igbvf
wire=$(netdev_of "$vf1")
take "$vf0" vfio-pci
host_wc_index
leaves_start

# boot NAME STEPS PARAMETERS OPTION...
boot()
{
	local name=$1 steps=$2 parameters=$3

	shift 3
	guest_start_steps "$name" --kernel "$guest_kernel" --initrd "$guest_initrd" --mem 320M \
		--append "console=ttyS0 quiet panic=-1 iomem=relaxed bp.do=mtrr bp.timeout=120 bp.steps=$steps $parameters" \
		--vf "$vf0" --cpus 2 "$@"
}

# ---- without the module ---------------------------------------------------------------------

boot stock map,add:wc:0x1000:0x1000,wait:asked nopat
check 'stock: guest asks for WC' guest_until stock asked 150
look stock
check 'stock: its kernel has the range' says stock step '.mtrr | test("base=0x100001000.*size= *4KB.*write-combining")'
check 'stock: leaves are index 0' leaves_are stock 0 0 0 0
check 'stock: --memtype auto is off, and says so' report_is stock \
	'.wish == "auto" and .mode == "off" and (.why | test("kvm-memtype"))'
check 'stock: a store gets UC where bare metal gives WC' stretch_is stock 0x1000 \
	'.from == 4096 and .size == 4096 and .mtrr == "WC" and .by == "kvm" and .effective == "UC" and .bare_metal == "WC"'
check 'stock: the report says why' stretch_is stock 0x1000 '.why | length > 0 and any(test("MTRR"))'
check 'stock: through UC- mappings of both CPUs' stretch_is stock 0x1000 \
	'[.mappings[] | select(.pat == "UC-" and .index == 2).cpu] | unique == [0, 1]'
guest_go stock
check 'stock: guest powers off' guest_wait stock 60

# ---- with it ----------------------------------------------------------------------------------

insmod "$module"
"$bpguest" net --role server --bytes 1M --ip 10.9.0.1 --if "$wire" --timeout 500 > "$work/server" 2>&1 &
server=$!
steps="map,wait:mapped,
	add:wc:0x1000:0x1000,wait:asked,
	del:0x1000:0x1000,add:wc:0x2000:0x2000,wait:moved,
	del:0x2000:0x2000,wait:removed,
	one:0:5:wc:0x1000:0x1000,wait:alone,
	one:1:5:wc:0x1000:0x1000,wait:agreed,
	one:0:5:wc:0x1000:0x1000,one:1:5:wc:0x1000:0x1000,wait:again,
	clear:0:5,clear:1:5,wait:cleared,
	toggle:0x2000:0x1000,net,still,wait:moved_data,
	add:wc:0x0:0x2000,wait:before_reset"
boot module "$(tr -d '\n\t' <<< "$steps")" \
	'nopat bp.end=reboot bp.linger=2000 bp.bytes=1M bp.ping=3 bp.role=client bp.ip=10.9.0.2 bp.peer=10.9.0.1' \
	--memtype module
check 'guest is up' guest_until module mapped 150
look module
check 'at power-on leaves are index 0' leaves_are module 0 0 0 0
check 'the module is at work' report_is module '.mode == "module" and .why == ""'
check 'at power-on a store gets UC' stretch_is module 0x1000 '.mtrr == "WB" and .effective == "UC"'
count_start module

step asked
check 'WC range: its leaf has the index of WC, no other' leaves_are module 0 "$wc" 0 0
check 'WC range: leaves were made anew' leaves_new 4
check 'WC range: a store gets WC' stretch_is module 0x1000 \
	'.from == 4096 and .size == 4096 and .mtrr == "WC" and .leaf == "WC" and .by == "module" and .effective == "WC"'
check 'below it: UC' stretch_is module 0x0 '.size == 4096 and .by == "kvm" and .effective == "UC"'
check 'above it: UC' stretch_is module 0x2000 '.size == 8192 and .by == "kvm" and .effective == "UC"'

step moved
check 'range moved and larger: leaves follow' leaves_are module 0 0 "$wc" "$wc"
check 'range moved and larger: so does the report' stretch_is module 0x2000 \
	'.size == 8192 and .leaf == "WC" and .effective == "WC"'
check 'where it was: UC' stretch_is module 0x1000 '.leaf == "WB" and .effective == "UC"'

step removed
check 'range removed: leaves are index 0' leaves_are module 0 0 0 0
check 'range removed: UC' stretch_is module 0x2000 '.size == 16384 and .mtrr == "WB" and .effective == "UC"'
# A range added, one moved (taken away and added), one taken away.
check 'four changes of the map, leaves made anew four times' counted module 4

step alone
check 'an MTRR of one CPU alone: leaves stay' leaves_are module 0 0 0 0
check 'an MTRR of one CPU alone: the report says so' report_is module \
	'.cpus_differ and .registers_that_differ == ["PHYSBASE5", "PHYSMASK5"]'
check 'an MTRR of one CPU alone: nothing is applied' counted module 4
step agreed
check 'the other CPU agrees: leaves follow' leaves_are module 0 "$wc" 0 0
check 'the other CPU agrees: WC' stretch_is module 0x1000 '.effective == "WC"'
check 'the other CPU agrees: nothing differs' report_is module '.cpus_differ == false'
check 'the other CPU agrees: applied once' counted module 5
step again
check 'the same written once more: no other role, nothing made anew' counted module 5
step cleared
check 'both CPUs gave it up: leaves are index 0' leaves_are module 0 0 0 0

# Ranges come and go over the registers of the queues while these are in use.
count_start module
guest_go module
check 'traffic begins' guest_until module begin 120
guest_stats module > "$work/before"
check 'traffic ends' guest_until module end_transfer 240
guest_stats module > "$work/after"
check 'traffic: the guest is content' guest_until module moved_data 120
result=$(guest_event module result) || result='{}'
toggled=$(guest_event module toggled) || toggled='{}'
check 'traffic: all data arrived, and right' jq -e \
	'.ok and .mismatches == 0 and .bytes_compared == 1048576 and .ping_received == 3' <<< "$result"
wait "$server" || not_ok 'traffic: the peer is content' "$(< "$work/server")"
check 'traffic: right at the other end, too' grep -q '"ok":true.*"mismatches":0' "$work/server"
check 'traffic: MTRRs changed many times meanwhile' jq -e '.ok and .changes >= 20' <<< "$toggled"
# shellcheck disable=SC2016 # jq expands it
check 'traffic: no register access left the guest' jq -e -n --slurpfile b "$work/before" --slurpfile a "$work/after" \
	'($b[0].exits.mmio // 0) == ($a[0].exits.mmio // 0)'
check 'traffic: each change applied once' counted module "$(jq .changes <<< "$toggled")"
check 'traffic: no leaf went by unseen' stats_are module '.memtype.module | .missed == 0 and .straddled == 0 and .hits > 0'
look module
check 'traffic: leaves are index 0 again' leaves_are module 0 0 0 0
check 'memory stays WB' ram_is_wb

# ---- reset, and the module goes ------------------------------------------------------------------

step before_reset
check 'before a reset: WC' leaves_are module "$wc" "$wc" 0 0
guest_go module
check 'reset: a second start' guest_until_again module mapped 2 150
look module
check 'reset: leaves are index 0' leaves_are module 0 0 0 0
check 'reset: the map is as firmware leaves it' report_is module \
	'[.map[] | select(.type == "WC")] == [] and .role.enabled and ([.bars[].stretches[] | select(.mtrr != "WB" or .effective != "UC")] == [])'
guest_go module
check 'the guest asks again' guest_until_again module asked 2 60
look module
check 'after the reset leaves follow as before' leaves_are module 0 "$wc" 0 0
check 'the module goes while the guest runs' rmmod kvm-memtype
touched module
check 'without the module leaves are index 0' leaves_are module 0 0 0 0
check 'without the module: the guest runs on' "$bluepass" ctl "$work/module.sock" status
"$bluepass" ctl "$work/module.sock" stop --force > /dev/null
check 'the guest stops' guest_wait module 20
check 'no warning of the kernel' test $(($(< /proc/sys/kernel/tainted) & 0x280)) -eq 0
checks_done
