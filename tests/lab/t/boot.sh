#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --kernel 6.12 --timeout 600
#
# Guests without assigned devices: every kernel, both entry points, CPUs, huge pages,
# power-off, reset, and the control socket.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/guest.sh
. "$here/../host/guest.sh"

modprobe kvm-amd
append='console=ttyS0 quiet panic=-1'
limit=120

# boot NAME VERSION ARG...: a guest that reports and powers off; the status of the monitor.
boot()
{
	local name=$1 version=$2

	shift 2
	guest_files "$version" ''
	guest_start "$name" --kernel "${image:-$guest_kernel}" --initrd "$guest_initrd" --mem 320M \
		--append "$append bp.do=info" "$@"
	guest_wait "$name" "$limit" || { local s=$?; guest_show "$name"; return "$s"; }
}

# says NAME EVENT FILTER: the event was seen and the filter is true for it.
says()
{
	guest_event "$1" "$2" | jq -e "$3" > /dev/null || { guest_lines "$1"; return 1; }
}

# boots NAME VERSION ARG...: and what a guest must then have found.
boots()
{
	local name=$1 version=$2

	check "$name: to user space and off, status 0" boot "$@"
	check "$name: the guest's program ended well" says "$name" end .ok
	check "$name: PAT has a write-combining entry" says "$name" pat '.line | test("WC")'
	check "$name: MTRRs are on, UC over the PCI hole" says "$name" mtrr \
		'.text | test("base=0x0c0000000.*size= *1024MB.*uncachable")'
	check "$name: the kernel has nothing to say against its MTRRs" says "$name" kernel_mtrr \
		'[.lines[] | select(test("disabled|skipping|mismatch|inconsistent|BIOS"; "i"))] == []'
	printf 'boot-ms %s %s\n' "$name" \
		"$(guest_event "$name" init | jq .uptime_ms)"
}

boots one-cpu-6.1 6.1
boots two-cpus-6.12 6.12 --cpus 2
check 'two CPUs run' says two-cpus-6.12 init '.cpus == 2'

pages=/sys/kernel/mm/hugepages/hugepages-2048kB
echo 170 > $pages/nr_hugepages
if [ "$(< $pages/nr_hugepages)" -ge 160 ]; then
	boots two-cpus-5.10-hugepages 5.10 --cpus 2 --hugepages 2M
	check 'two CPUs run, 5.10' says two-cpus-5.10-hugepages init '.cpus == 2'
	check 'huge pages come back' test "$(< $pages/free_hugepages)" = "$(< $pages/nr_hugepages)"
else
	skip two-cpus-5.10-hugepages 'this host has too little memory in one piece'
fi
echo 0 > $pages/nr_hugepages

# The 32-bit entry: a copy whose header (xloadflags, 0x236) offers no other.
cp "$cache/kernels/6.1/vmlinuz" "$work/entry32"
printf '\0\0' | dd of="$work/entry32" bs=1 seek=$((0x236)) conv=notrunc status=none
image=$work/entry32 boots entry32 6.1

# A guest that restarts itself without end, and what the control socket says and does.
ctl() { "$bluepass" -j ctl "$work/again.sock" "$@"; }
# answers REQUEST FILTER: the machine answers, and the filter is true for it.
answers()
{
	local said

	# shellcheck disable=SC2086 # a request with its options
	said=$(ctl $1) && jq -e "$2" <<< "$said"
}
twice()
{
	local deadline=$((SECONDS + limit))

	while [ "$(guest_lines again | grep -c '"ev":"init"')" -lt 2 ]; do
		kill -0 "${guest_pid[again]}" || { guest_show again; return 1; }
		[ "$SECONDS" -lt "$deadline" ] || { guest_show again; return 1; }
		sleep 0.2
	done
}
exits() { ctl stats | jq -e '[.exits[]] | add'; }
stands_still()
{
	local before after

	before=$(exits)
	sleep 1
	after=$(exits)
	[ "$before" -gt 0 ] && [ "$after" = "$before" ]
}
guest_files 6.1 ''
guest_start again --kernel "$guest_kernel" --initrd "$guest_initrd" --mem 320M --cpus 2 \
	--append "$append bp.do=info bp.end=reboot"
check 'restart: a second boot after the reset' twice
check 'restart: counted' answers status '.resets >= 1 and .state == "running" and .entry == "64-bit"'
check 'restart: both CPUs again' says again init '.cpus == 2'
check 'stats: exits, accesses, counters of KVM, memory' answers stats \
	'.exits.io > 0 and (.accesses | length > 0) and .kvm.exits > 0 and .vmm_extra_kib > 0 and
	 .vmm_extra_peak_kib >= .vmm_extra_kib'
check 'socket: for its owner alone' test "$(stat -c %a "$work/again.sock")" = 600
check 'pause' answers pause '.state == "paused"'
check 'pause: the CPUs stand still' stands_still
check 'resume' answers resume '.state == "running"'
check_fails 'socket: in use' 1 'again\.sock' \
	"$bluepass" run --kernel "$guest_kernel" --mem 128M --console none --api "$work/again.sock"
check 'stop --force' answers 'stop --force' '.ended == "stopped"'
check 'stop --force: status 0' guest_wait again 10
check 'stop --force: the socket is gone' test ! -e "$work/again.sock"

# The power button: a guest that does what an ACPI daemon would, once the kernel has
# counted the event.
cat > "$work/on-button" <<-'INIT'
	#!/bin/sh
	bb=/bin/busybox
	$bb mount -t proc proc /proc
	$bb mount -t sysfs sys /sys
	while read -r module; do $bb insmod "$module"; done < /mods/list
	echo 'BP {"ev":"waiting"}' > /dev/console
	until $bb grep -q '^ *[1-9]' /sys/firmware/acpi/interrupts/ff_pwr_btn; do $bb usleep 100000; done
	echo 'BP {"ev":"pressed"}' > /dev/console
	$bb poweroff -f
INIT
chmod +x "$work/on-button"
"$here/../guest-initrd" --kernel 6.1 --modules button --add "$work/on-button:/on-button" \
	-o "$work/initrd-button.cpio"
guest_start button --kernel "$cache/kernels/6.1/vmlinuz" --initrd "$work/initrd-button.cpio" \
	--mem 320M --append "$append rdinit=/on-button"
check 'power button: the guest waits for it' guest_until button waiting "$limit"
check 'power button: stop ends the guest' \
	test "$("$bluepass" ctl "$work/button.sock" stop)" = poweroff
check 'power button: status 0' guest_wait button 10
check 'power button: the guest has seen it' guest_event button pressed

# The smallest kernel: a bzImage of protocol 2.06 that sleeps. Offsets as in boot.rst.
poke() { printf '%b' "$2" | dd of="$work/sleeper" bs=1 seek=$(($1)) conv=notrunc status=none; }
head -c 1152 /dev/zero > "$work/sleeper"
poke 0x1f1 '\x01' # one sector of setup code
poke 0x1f4 '\x08' # kernel proper, in paragraphs
poke 0x1fe '\x55\xaa'
poke 0x200 '\xeb\x3aHdrS\x06\x02'
poke 0x211 '\x01' # loaded high
poke 0x238 '\xff' # length of the command line
poke 0x400 '\xf4\xeb\xfd' # hlt; jmp to it

# Ends from outside: by a signal, and by one that cannot be answered.
sleeper() { "$bluepass" -j ctl "$work/sleeper.sock" "$@"; }
ends_by() # SIGNAL WANTED-STATUS
{
	local status=0 deadline=$((SECONDS + 20)) pid

	"$bluepass" run --kernel "$work/sleeper" --mem 32M --console none --api "$work/sleeper.sock" &
	pid=$!
	until [ "$(sleeper status | jq -r .entry)" = 32-bit ]; do
		[ "$SECONDS" -lt "$deadline" ] || { kill -KILL $pid; return 1; }
		sleep 0.1
	done 2> /dev/null
	kill "-$1" $pid
	wait $pid || status=$?
	[ "$status" -eq "$2" ] || { echo "status $status"; return 1; }
}
check 'SIGTERM: status 1' ends_by TERM 1
check 'SIGTERM: the socket is gone' test ! -e "$work/sleeper.sock"
check 'SIGKILL' ends_by KILL 137
check 'SIGKILL: the socket stays' test -S "$work/sleeper.sock"
check 'SIGKILL: a new machine takes the socket over' ends_by INT 1

checks_done
