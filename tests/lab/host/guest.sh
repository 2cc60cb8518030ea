# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by what runs in an emulated host: start guests of bluepass, follow what
# their program says (lines `BP {json}` on the console), wait for their end.
#
# A guest NAME has its console in $work/NAME.console, the monitor's messages in
# $work/NAME.log, and its control socket at $work/NAME.sock.

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)
cache=${BP_CACHE:-$tree/cache}
bluepass=${BLUEPASS:-$tree/build/bin/bluepass}
# shellcheck disable=SC2034 # for those who source this
vfctl=${VFCTL:-$tree/build/bin/vfctl}
work=${work:-$(mktemp -d /run/guests.XXXXXX)}
declare -gA guest_pid guest_started

# guest_files KERNEL MODULES: sets guest_kernel and guest_initrd, which hold what a guest
# of that kernel version boots, with the modules that it loads.
guest_files()
{
	# shellcheck disable=SC2034 # for those who source this
	guest_kernel=$cache/kernels/$1/vmlinuz guest_initrd=$work/initrd-$1.cpio
	"$tree/tests/lab/guest-initrd" --kernel "$1" --modules "$2" -o "$guest_initrd"
}

# guest_start NAME ARG...: `bluepass run` in the background; fails when it is gone at once.
guest_start()
{
	local name=$1

	shift
	rm -f "$work/$name".*
	# shellcheck disable=SC2034 # for those who source this
	guest_started[$name]=${EPOCHREALTIME/./}
	"$bluepass" -v run --console "file:$work/$name.console" --api "$work/$name.sock" "$@" \
		> "$work/$name.log" 2>&1 < /dev/null &
	guest_pid[$name]=$!
}

# guest_lines NAME: the JSON of its BP lines, whole lines only.
guest_lines()
{
	[ -e "$work/$1.console" ] || return 0
	tr -d '\r' < "$work/$1.console" | sed -n 's/^.*BP \({.*}\)$/\1/p'
}

# guest_event NAME EVENT: the last line of that event; fails when there is none.
guest_event()
{
	guest_lines "$1" | jq -c --arg ev "$2" 'select(.ev == $ev)' | tail -n 1 | grep .
}

# guest_said NAME EVENT: a quick look, without a process, since whoever waits for an event
# wants to act while the guest rests.
guest_said()
{
	local text=

	[ ! -e "$work/$1.console" ] || text=$(< "$work/$1.console")
	[[ $text == *"\"ev\":\"$2\""* ]]
}

# guest_until NAME EVENT SECONDS: wait for the event and print it; fails on time-out or
# when the monitor ended without it.
guest_until()
{
	local name=$1 deadline=$((SECONDS + $3))

	while ! { guest_said "$name" "$2" && guest_event "$name" "$2"; }; do
		if ! kill -0 "${guest_pid[$name]}" 2>/dev/null; then
			guest_event "$name" "$2" && return 0
			echo "guest $name ended before '$2'" >&2
			guest_show "$name" >&2
			return 1
		fi
		if [ "$SECONDS" -ge "$deadline" ]; then
			echo "guest $name did not reach '$2' in $3 s" >&2
			guest_show "$name" >&2
			return 1
		fi
		sleep 0.1
	done
}

# guest_wait NAME SECONDS: exit status of the monitor; 124 and its death on time-out.
guest_wait()
{
	local name=$1 deadline=$((SECONDS + $2)) status=0

	while kill -0 "${guest_pid[$name]}" 2>/dev/null; do
		if [ "$SECONDS" -ge "$deadline" ]; then
			echo "guest $name did not end in $2 s" >&2
			guest_show "$name" >&2
			kill -KILL "${guest_pid[$name]}"
			wait "${guest_pid[$name]}" || :
			return 124
		fi
		sleep 0.1
	done
	wait "${guest_pid[$name]}" || status=$?
	return "$status"
}

# guest_show NAME: the end of its console and of the monitor's messages.
guest_show()
{
	printf -- '--- console of %s\n' "$1"
	tail -n 30 "$work/$1.console" 2>/dev/null
	printf -- '--- messages of %s\n' "$1"
	tail -n 30 "$work/$1.log" 2>/dev/null
}

# guest_stats NAME: counters of a running guest, as JSON.
guest_stats() { "$bluepass" -j ctl "$work/$1.sock" stats; }
