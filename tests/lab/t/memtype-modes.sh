#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic igb --timeout 600
#
# What --memtype chooses and refuses: guests with PAT, which have write combining in any
# mode; a shadow PAT, which must not reach pages that may not combine; and the module, asked
# for where there is none.
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

if [ ! -e "$module" ]; then
	not_ok kvm-memtype.ko "$module is missing; make kmod"
	exit 1
fi
guest_files 6.1 ''
modprobe -a vfio-pci msr
nic=$(first_of igb)
pf_up "$nic"
make_vfs "$nic" 1
vf=$(vf_of "$nic" 0)
take "$vf" vfio-pci
host_wc_index
leaves_start

# boot NAME STEPS MODE PARAMETERS: one CPU; a register in the first page keeps what is written.
boot()
{
	guest_start_steps "$1" --kernel "$guest_kernel" --initrd "$guest_initrd" --mem 320M --vf "$vf" \
		--memtype "$3" --append "console=ttyS0 quiet panic=-1 bp.do=mtrr bp.timeout=120 bp.scratch=0x800 bp.steps=$2 $4"
}

# at NAME EVENT: wait for it and look.
at()
{
	check "$1: $2" guest_until "$1" "$2" 150
	look "$1"
}

ends()
{
	guest_go "$1"
	check "$1: powers off" guest_wait "$1" 60
	check "$1: its register kept what was written" says "$1" end .ok
}

# ---- no module ------------------------------------------------------------------------------

check_fails 'module: not loaded' 1 'kvm-memtype.*not loaded.*modprobe kvm-memtype' \
	"$bluepass" run --kernel "$guest_kernel" --mem 128M --console none --memtype module --vf "$vf"
check_fails 'no such mode' 2 "--memtype takes auto, module, pat, pat,force or off, not 'wc'" \
	"$bluepass" run --kernel "$guest_kernel" --memtype wc

boot pat_guest map:wc,wait:mapped off ''
at pat_guest mapped
check 'PAT guest: leaves are index 0' leaves_are pat_guest 0 0 0 0
check 'PAT guest: its kernel has mapped it write-combining' says pat_guest step \
	'.step == "map:wc" and (.pat | any(test("write-combining")))'
check 'PAT guest: WC without the module' stretch_is pat_guest 0x0 \
	'.size == 16384 and .by == "kvm" and any(.mappings[]; .pat == "WC" and .effective == "WC")'
ends pat_guest

# The BARs of the VF follow each other: 0 has 16 KiB, and of BAR 3 two pages are mapped
# straight. A range over a part of them leaves registers that must not combine.
boot shadow map,wait:mapped,add:wc:0x1000:0x1000,wait:part,del:0x1000:0x1000,add:wc:0x0:0x8000,wait:all,del:0x0:0x8000,wait:none \
	pat nopat
at shadow mapped
check 'pat: nothing to do yet' report_is shadow '.mode == "pat" and (.cpus | all(.pat == .hw_pat))'
guest_go shadow
at shadow part
check 'pat: refused while other pages would combine, too' report_is shadow \
	'(.cpus | all(.pat == .hw_pat)) and (.why | test("pat,force"))'
check 'pat: refused, so a store gets UC' stretch_is shadow 0x1000 '.mtrr == "WC" and .effective == "UC"'
check 'pat: the user is told' grep -q 'memory types stay as KVM makes them.*pat,force' "$work/shadow.log"
guest_go shadow
at shadow all
check 'pat: UC- means WC when every page of a BAR may combine' report_is shadow \
	'.why == "" and (.cpus | all(.pat == "0x0007040600070406" and .hw_pat == "0x0001040600010406"))'
check 'pat: a store gets WC' stretch_is shadow 0x1000 '.size == 16384 and .by == "kvm" and .effective == "WC"'
check 'pat: leaves stay index 0' leaves_are shadow 0 0 0 0
guest_go shadow
at shadow none
check 'pat: the PAT is the guest'\''s own again' report_is shadow '.cpus | all(.pat == .hw_pat)'
check 'pat: UC again' stretch_is shadow 0x1000 '.effective == "UC"'
ends shadow

boot forced map,add:wc:0x1000:0x1000,wait:part pat,force nopat
at forced part
check 'pat,force: a store gets WC' stretch_is forced 0x1000 '.mtrr == "WC" and .effective == "WC"'
check 'pat,force: so does one that nobody asked for' stretch_is forced 0x2000 '.mtrr == "WB" and .effective == "WC"'
ends forced

# ---- the module is there --------------------------------------------------------------------

insmod "$module"
boot pat_module map:wc,wait:mapped,add:wc:0x1000:0x1000,wait:both auto ''
at pat_module mapped
check 'PAT guest, module: --memtype auto takes it' report_is pat_module '.mode == "module"'
check 'PAT guest, module: leaves are index 0 all the same' leaves_are pat_module 0 0 0 0
check 'PAT guest, module: WC as without it' stretch_is pat_module 0x0 \
	'.size == 16384 and any(.mappings[]; .pat == "WC" and .effective == "WC")'
guest_go pat_module
at pat_module both
check 'PAT guest, MTRR WC, too: the leaf follows' leaves_are pat_module 0 "$wc" 0 0
check 'PAT guest, MTRR WC, too: WC' stretch_is pat_module 0x1000 \
	'.leaf == "WC" and any(.mappings[]; .pat == "WC" and .effective == "WC")'
ends pat_module

boot off map,add:wc:0x1000:0x1000,wait:asked off nopat
at off asked
check 'off: the module is there, and nothing is done' leaves_are off 0 0 0 0
check 'off: UC' stretch_is off 0x1000 '.by == "kvm" and .effective == "UC"'
check 'off: said' report_is off '.wish == "off" and .mode == "off"'
ends off
check 'memory stays WB' ram_is_wb
checks_done
