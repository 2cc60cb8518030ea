# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced, after guest.sh, by tests of memory types: guests that wait for a word between
# their steps (tests/guest/steps.c), the leaves that KVM makes meanwhile, and what the
# monitor reports of them.

# shellcheck disable=SC2154 # tree, work, bluepass: of guest.sh
build=$(realpath -m "${BUILD:-$tree/build}")
# shellcheck disable=SC2034 # for those who source this
module=$build/kmod/$LAB_KERNEL/kvm-memtype.ko
memtype=$build/bin/memtype
declare -gA guest_keys

# guest_start_steps NAME ARG...: guest_start, with a console that can be typed at.
guest_start_steps()
{
	local name=$1 fd

	shift
	rm -f "$work/$name".*
	mkfifo "$work/$name.keys"
	exec {fd}<> "$work/$name.keys"
	guest_keys[$name]=$fd
	# shellcheck disable=SC2034,SC2004 # for those who source this
	guest_started[$name]=${EPOCHREALTIME/./}
	"$bluepass" -v run --console stdio --api "$work/$name.sock" "$@" \
		> "$work/$name.console" 2> "$work/$name.log" <&"$fd" &
	# shellcheck disable=SC2004 # associative
	guest_pid[$name]=$!
}

# guest_go NAME: the guest leaves its wait.
guest_go() { echo >&"${guest_keys[$1]}"; }

# guest_until_again NAME EVENT COUNT SECONDS: until the event has been seen COUNT times.
guest_until_again()
{
	local deadline=$((SECONDS + $4))

	until [ "$(grep -ac "\"ev\":\"$2\"" "$work/$1.console")" -ge "$3" ]; do
		if [ "$SECONDS" -ge "$deadline" ] || ! kill -0 "${guest_pid[$1]}"; then
			guest_show "$1"
			return 1
		fi
		sleep 0.1
	done
}

# says NAME EVENT FILTER: true of the last event of that kind.
says() { guest_event "$1" "$2" | jq -e "$3" > /dev/null || { guest_lines "$1" | tail -n 5; return 1; }; }

# ---- leaves ---------------------------------------------------------------------------------

tracing=/sys/kernel/tracing
leaf_event=$tracing/events/kvmmmu/kvm_mmu_set_spte

# host_wc_index: wc is the index of the entry WC in this host's PAT. Needs module msr. Status 1
# of `memtype host` is a problem found, and an emulated host has some.
host_wc_index()
{
	# shellcheck disable=SC2034 # for those who source this
	wc=$({ "$memtype" -j host || [ $? -eq 1 ]; } | jq -e '.pat | index("WC")') || {
		not_ok 'WC in the PAT of this host' "$("$memtype" host 2>&1 | head -n 3)"
		exit 1
	}
}

# leaves_start: from here on KVM's trace has every leaf above 4 GiB, where BARs are, and each
# one below that has bits of a type; and a histogram counts those below.
# A leaf has PWT, PCD and PAT in bits 3, 4 and 7; a large one has PAT in bit 12 (APM vol. 2
# 5.4.1), but there all of memory's address bits are, too.
leaves_start()
{
	modprobe kvm-amd
	echo 0 > $leaf_event/enable
	echo > $tracing/trace
	echo 4096 > $tracing/buffer_size_kb
	echo 'gfn >= 0x100000 || spte & 0x18 || (level == 1 && spte & 0x80)' > $leaf_event/filter
	echo 'hist:keys=level if gfn < 0x100000' > $leaf_event/trigger
	echo 1 > $leaf_event/enable
}

# look NAME: what there is to see now: the trace since the last look, and the report. The guest
# waits, and has touched each page of the BAR since its last step.
look()
{
	cp $tracing/trace "$work/trace"
	cat "$work/trace" >> "$work/trace.all"
	echo > $tracing/trace
	"$bluepass" -j ctl "$work/$1.sock" memtype > "$work/$1.memtype"
}

# touched NAME: look, once the guest has gone on touching its BAR for a while.
touched()
{
	sleep 1
	look "$1"
}

# step NAME: on to that wait of guest "module".
step()
{
	guest_go module
	check "step $1" guest_until module "$1" 60
	look module
}

# leaf_index: "GFN INDEX" of each leaf above 4 GiB in the trace of the last look.
leaf_index()
{
	local gfn spte level

	sed -n 's/.*kvm_mmu_set_spte: gfn \([0-9a-f]*\) spte \([0-9a-f]*\) .* level \([0-9]*\) .*/\1 \2 \3/p' "$work/trace" |
		while read -r gfn spte level; do
			gfn=$((0x$gfn)) spte=$((0x$spte))
			((gfn >= 0x100000)) || continue
			((level == 1)) || echo "large"
			echo "$gfn $((spte >> 3 & 3 | spte >> 5 & 4))"
		done
}

declare -gA last_leaf=()

# leaves_are NAME INDEX...: the newest leaves of the first pages of the guest's BAR, of this look or
# an earlier one.
leaves_are()
{
	local gfn index start seen='' i

	start=$(jq -r '.bars[0].stretches[0].start' "$work/$1.memtype")
	shift
	leaf_index > "$work/leaves"
	while read -r gfn index; do
		last_leaf[$gfn]=$index
	done < "$work/leaves"
	for ((i = 0; i < $#; i++)); do
		seen+=" ${last_leaf[$(((start >> 12) + i))]:-none}"
	done
	[ "$seen" = " $*" ] || {
		echo "leaves from $start on:$seen; wanted: $*"
		return 1
	}
}

# leaves_new COUNT: so many pages got leaves since the look before this one.
leaves_new() { [ "$(leaf_index | cut -d' ' -f1 | sort -u | wc -l)" -ge "$1" ]; }

# ram_is_wb: memory had leaves, and none with bits of a type.
ram_is_wb()
{
	local hits

	hits=$(sed -n 's/^ *Hits: //p' $leaf_event/hist)
	[ "$hits" -gt 50 ] || { echo "only $hits leaves of memory"; return 1; }
	! grep -a 'gfn [0-9a-f]\{1,5\} spte' "$work/trace.all"
}

# ---- reports --------------------------------------------------------------------------------

# report_is NAME FILTER: of the last look.
report_is() { jq -e "$2" "$work/$1.memtype" > /dev/null || { head -c 3000 "$work/$1.memtype"; return 1; }; }

# stretch_is NAME OFFSET FILTER: of the stretch of BAR 0 with that offset; .from is where it
# starts in the BAR and .size its size.
stretch_is()
{
	# shellcheck disable=SC2016 # jq expands it
	jq -e --argjson at "$(($2))" '
		def hex: ltrimstr("0x") | ascii_downcase | explode |
			reduce .[] as $c (0; . * 16 + if $c > 96 then $c - 87 else $c - 48 end);
		[.bars[] | select(.bar == 0).stretches[] | .from = (.offset | hex) |
			.size = (.end | hex) - (.start | hex) + 1 |
			select(.from <= $at and $at < .from + .size)] | .[0] | '"$3" "$work/$1.memtype" > /dev/null || {
		jq -c '.bars[0].stretches' "$work/$1.memtype" | head -c 3000
		return 1
	}
}

# stats_are NAME FILTER: of the counters now.
stats_are()
{
	guest_stats "$1" > "$work/$1.stats" || return 1
	jq -e "$2" "$work/$1.stats" > /dev/null || { cat "$work/$1.stats"; return 1; }
}

# count_start NAME: counters from here on.
count_start() { guest_stats "$1" | jq .memtype > "$work/$1.counts"; }

# counted NAME CHANGES: since then leaves were made anew as often as the map changed, and MTRRs
# were written many times more.
counted()
{
	local now

	now=$(guest_stats "$1" | jq .memtype)
	# shellcheck disable=SC2016 # jq expands it
	jq -e -n --slurpfile before "$work/$1.counts" --argjson now "$now" --argjson changes "$2" '
		($now.remakes - $before[0].remakes) as $n | $n == $changes and
		$now.roles - $before[0].roles == $n and $now.writes - $before[0].writes >= 5 * $n' > /dev/null || {
		cat "$work/$1.counts"
		echo "$now"
		return 1
	}
}
