#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab:
# lab: --kernel 6.1
# lab: --kernel 5.10
#
# kvm-memtype.ko on Debian's kernels: KVM's own trace says which leaves a guest's stores
# got, with ranges and without, while the module comes and goes. `make kmod` builds it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
tree=$(cd "$here/../../.." && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"

build=$(realpath -m "${BUILD:-$tree/build}")/kmod
module=$build/$LAB_KERNEL/kvm-memtype.ko
device=/dev/kvm-memtype
if [ ! -e "$module" ]; then
	not_ok 'kvm-memtype.ko' "$module is missing; make kmod"
	exit 1
fi
mount -t tracefs nodev /sys/kernel/tracing 2> /dev/null || mountpoint -q /sys/kernel/tracing
dmesg -C

# ---- machines: processes that are told what to do --------------------------------------------

declare -A to from pids
reply=

vm_start()
{
	local in out

	mkfifo "/run/$1.in" "/run/$1.out"
	"$build/probe" < "/run/$1.in" > "/run/$1.out" &
	pids[$1]=$!
	exec {in}> "/run/$1.in" {out}< "/run/$1.out"
	rm "/run/$1.in" "/run/$1.out"
	to[$1]=$in from[$1]=$out
	vm_reply "$1"
}

vm_reply() { IFS= read -r -t 120 -u "${from[$1]}" reply; }

# ask NAME COMMAND...: the answer is in reply.
ask()
{
	local name=$1

	shift
	echo "$*" >&"${to[$name]}"
	vm_reply "$name"
}

vm_end()
{
	local in=${to[$1]} out=${from[$1]}

	exec {in}>&- {out}<&-
	wait "${pids[$1]}"
}

# says NAME VM ANSWER COMMAND...: ok when the answer matches, a glob.
says()
{
	local what=$1 name=$2 want=$3

	shift 3
	ask "$name" "$@"
	# shellcheck disable=SC2053 # a pattern
	if [[ $reply == $want ]]; then
		ok "$what"
	else
		not_ok "$what" "$*: '$reply', not '$want'"
	fi
}

# leaves NAME VM GPA=INDEX...: which index each store's new leaf has, "none" for no new one.
leaves()
{
	local what=$1 name=$2 pair want wrong=''

	shift 2
	for pair in "$@"; do
		want="leaf * index ${pair#*=}"
		[ "${pair#*=}" != none ] || want='leaf none'
		ask "$name" touch "${pair%=*}"
		# shellcheck disable=SC2053 # a pattern
		[[ $reply == $want ]] || wrong+="; $pair: $reply"
	done
	if [ -z "$wrong" ]; then ok "$what"; else not_ok "$what" "${wrong#; }"; fi
}

# stat VM KEY: one counter.
stat_of()
{
	ask "$1" stats
	sed -n "s/.*\b$2 \([0-9]*\).*/\1/p" <<< "$reply"
}

is()
{
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "$2, not $3"; fi
}

# refuses NAME WORDS COMMAND...: the module does not load, and one line in the log says why.
refuses()
{
	local what=$1 words=$2 status=0 said

	shift 2
	dmesg -C
	"$@" 2> /dev/null || status=$?
	said=$(dmesg | grep 'kvm-memtype: ') || said=
	if [ "$status" -eq 0 ]; then
		not_ok "$what" 'it was loaded'
		rmmod kvm_memtype
	elif [ "$(wc -l <<< "$said")" -ne 1 ] || ! grep -q -- "$words" <<< "$said"; then
		not_ok "$what" "the log says: $said"
	else
		ok "$what"
	fi
}

# ---- loading -----------------------------------------------------------------------------------

modprobe -r kvm_amd
modprobe kvm
refuses 'without kvm_amd' 'kvm_amd is not loaded.*modprobe kvm_amd' insmod "$module"
modprobe kvm_amd
sysctl -q kernel.ftrace_enabled=0
refuses 'with probes switched off' 'switched off.*ftrace_enabled' insmod "$module"
sysctl -q kernel.ftrace_enabled=1
if [ "$LAB_KERNEL" = 6.12 ]; then
	refuses 'kernel that is not known' 'not made for Linux 6.12' insmod "${module%.ko}-unknown.ko"
	refuses 'symbol that is missing' 'make_spte() of kvm cannot be hooked' insmod "${module%.ko}-nosymbol.ko"
fi
check 'load' insmod "$module"
check_fails 'load twice' 1 'File exists' insmod "$module"
is 'mode of the device' "$(stat -c '%a %U' "$device")" '600 root'
check_fails 'somebody else may not open it' 1 'Permission denied' \
	setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "exec 3<> $device"
check_fails 'kvm_amd stays as it is' 1 'in use' rmmod kvm_amd

# ---- leaves -------------------------------------------------------------------------------------

vm_start a
says 'what it can do' a 'abi 1 vendor 2 flags 1 types 0x73 pat 407050600070106 max 512 reserved 0' info
ask a slot 0x100000 0x40000
says 'counters of a machine without ranges' a 'nr 0 leaves 0 hits 0 straddled 0 zaps 0 missed 0' stats
leaves 'stock leaves' a 0x108000=0
ask a set 0x108000,0x2000,1
leaves 'WC inside, stock on each side' a 0x107000=0 0x108000=1 0x109000=1 0x10a000=0
says 'counters' a 'nr 1 leaves 4 hits 2 straddled 0 zaps 1 missed 0' stats
leaves 'leaves stay' a 0x107000=none 0x108000=none 0x109000=none 0x10a000=none
ask a set 0x109000,0x2000,1
leaves 'leaves follow a range that moves' a 0x107000=none 0x108000=0 0x109000=1 0x10a000=1
ask a set 0x109000,0x2000,0
leaves 'UC' a 0x108000=none 0x109000=3 0x10a000=3
ask a set 0x109000,0x1000,4 0x10a000,0x1000,5 0x10b000,0x1000,6
leaves 'WT, WP and WB side by side' a 0x109000=7 0x10a000=5 0x10b000=0 0x10c000=0
ask a set 0x109000,0x1000,4 0x10a000,0x1000,1 0x10b000,0x1000,6
leaves 'only what changed is made anew' a 0x109000=none 0x10a000=1 0x10b000=none
zaps=$(stat_of a zaps)
ask a set 0x109000,0x1000,4 0x10a000,0x1000,1 0x10b000,0x1000,6
is 'the same ranges again drop nothing' "$(stat_of a zaps)" "$zaps"
says 'malformed requests' a ok hostile
leaves 'they change nothing' a 0x109000=none 0x10a000=none
ask a set
leaves 'no ranges' a 0x109000=0 0x10a000=0 0x10b000=0
ask a cpu
ask a set 0x110000,0x2000,1
leaves 'another processor' a 0x10f000=0 0x110000=1 0x111000=1 0x112000=0
says 'a guest with page tables' a 'done' paging
leaves 'its leaves' a 0x111000=none 0x113000=0
ask a set 0x111000,0x2000,1
leaves 'its leaves follow' a 0x110000=0 0x111000=1 0x112000=1 0x113000=none

ask a slot 0x800000 0x800000 huge
ask a touch 0x800000
if [[ $reply == *'level 2'* ]]; then
	straddled=$(stat_of a straddled)
	ask a set 0x900000,0x2000,1 0xa00000,0x400000,1 0xe00000,0x200000,4
	says 'a large leaf around a range is stock' a 'leaf * level 2 index 0' touch 0x800000
	is 'and counted' "$(stat_of a straddled)" $((straddled + 1))
	says 'large leaves in a range' a 'leaf * level 2 index 1' touch 0xa00000
	says 'large leaf at its end' a 'leaf * level 2 index 1' touch 0xc01000
	says 'a large leaf that would need the PAT bit is stock' a 'leaf * level 2 index 0' touch 0xe00000
	is 'and counted, too' "$(stat_of a straddled)" $((straddled + 2))
else
	skip 'large leaves' "no 2 MiB page was to be had: $reply"
fi

# ---- several machines ----------------------------------------------------------------------------

ask a set 0x108000,0x2000,1
ask a touch 0x108000
vm_start b
ask b slot 0x100000 0x40000
leaves 'another machine is not touched' b 0x108000=0
ask b set 0x108000,0x1000,0
leaves 'ranges of its own' b 0x108000=3 0x109000=0
leaves 'the first one does not notice' a 0x108000=none 0x109000=1
ask b set
leaves 'nor that they go' a 0x108000=none 0x109000=none
ask b set 0x108000,0x2000,1
vm_end b
leaves 'nor that the other one goes' a 0x108000=none 0x109000=none
ask a set
ask a set 0x108000,0x2000,1
leaves 'and it still has its own' a 0x108000=1 0x109000=1

# As likely as not it gets the address of the one before.
for _ in 1 2 3; do
	vm_start c
	ask c slot 0x100000 0x40000
	ask c touch 0x108000
	first=$reply
	ask c stats
	[[ $first == *'index 0' && $reply == 'nr 0 leaves 0 hits 0 '* ]] || break
	ask c set 0x100000,0x10000,1
	vm_end c
	first=
done
is 'ranges go with their machine' "${first:-gone}" gone

slab() { sed -n 's/^SUnreclaim: *\([0-9]*\).*/\1/p' /proc/meminfo; }
ask a churn 20
sleep 1
before=$(slab)
says 'machines that end with 512 ranges' a 'done' churn 150
sleep 2
# Their ranges alone would be 2400 KiB.
check 'their memory comes back' test $(($(slab) - before)) -lt 1200

# ---- at the same time ---------------------------------------------------------------------------------

ask a slot 0x2000000 0x40000
says 'ranges come and go under a running guest' a 'hammer [1-9]*' hammer 3
is 'no leaf was missed' "$(stat_of a missed)" 0

ask a set 0x108000,0x2000,1
leaves 'WC before unloading' a 0x108000=1 0x109000=1
ask a open
check_fails 'an open device keeps the module' 1 'in use' rmmod kvm_memtype
ask a close
check 'unload under a running machine' rmmod kvm_memtype
leaves 'its leaves are stock' a 0x108000=0 0x109000=0
says 'without a module' a 'error ENOENT' set 0x108000,0x2000,1
leaves 'and the machine goes on' a 0x120000=0

# 20 times, while a guest stores and its ranges come and go, and other machines end.
come_and_go()
{
	local tries _

	echo 'hammer 12 loose' >&"${to[a]}"
	echo 'churn 600 loose' >&"${to[d]}"
	for _ in {1..20}; do
		insmod "$module"
		sleep 0.1
		# The machine's own requests have the device open now and then.
		tries=0
		until rmmod kvm_memtype 2> /run/rmmod.err; do
			tries=$((tries + 1))
			[ "$tries" -lt 200 ] || { cat /run/rmmod.err; return 1; }
		done
	done
	vm_reply d
	[ "$reply" = 'done' ] || { echo "other machines: $reply"; return 1; }
	vm_reply a
}
vm_start d
check 'load and unload 20 times under load' come_and_go
if [[ $reply == 'hammer '[1-9]* ]]; then
	ok 'the guest stored all the time'
else
	not_ok 'the guest stored all the time' "$reply"
fi
vm_end d
ask a touch 0x108000
insmod "$module"
says 'nothing is left of the ranges' a 'nr 0 leaves 0 hits 0 straddled 0 zaps 0 missed 0' stats
ask a set 0x108000,0x1000,1
leaves 'loaded again' a 0x108000=1

sysctl -q kernel.ftrace_enabled=0
says 'probes switched off' a 'error EIO' set 0x108000,0x2000,1
says 'taking away works all the same' a 'done' set
sysctl -q kernel.ftrace_enabled=1
is 'and it is counted' "$(stat_of a missed)" 1
ask a set 0x108000,0x2000,1
leaves 'probes are on again' a 0x108000=1 0x109000=1
vm_end a
check 'unload without machines' rmmod kvm_memtype

# ---- shadow paging --------------------------------------------------------------------------------------

if [ "$LAB_KERNEL" != 6.1 ]; then
	modprobe -r kvm_amd
	modprobe kvm_amd npt=0
	check 'load with npt=0' insmod "$module"
	vm_start s
	says 'it knows' s 'abi 1 vendor 2 flags 0 types 0x73 *' info
	ask s slot 0x100000 0x40000
	ask s set 0x108000,0x2000,1
	leaves 'shadow leaves' s 0x107000=0 0x108000=1 0x109000=1 0x10a000=0
	ask s set 0x109000,0x2000,1
	leaves 'shadow leaves follow' s 0x107000=none 0x108000=0 0x109000=1 0x10a000=1
	ask s paging
	leaves 'shadow leaves of a guest with page tables' s 0x107000=0 0x108000=0 0x109000=1 0x10a000=1 0x10b000=0
	ask s set 0x10a000,0x1000,1
	leaves 'they follow, too' s 0x109000=0 0x10a000=1
	check 'unload with npt=0' rmmod kvm_memtype
	leaves 'stock shadow leaves' s 0x10a000=0
	vm_end s
fi

bad=$(dmesg | grep -E 'WARNING|BUG|Oops|stall|lockdep|possible recursive|general protection|Call Trace|refcount') || bad=
is 'the log has no complaint' "${bad:-none}" none
checks_done
