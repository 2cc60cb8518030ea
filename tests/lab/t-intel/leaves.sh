#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: intel-6.1
# lab: intel-6.12
# lab: amd-6.1
#
# kvm-memtype.ko before a processor that tells what it reads: a guest stores to a BAR and to
# memory through every PAT index while WC ranges come, move and go; the leaf behind each
# store is taken from Bochs's trace.
#
#   leaves.sh [HOST]...	of those that the `lab:` lines name; without one, all
set -euo pipefail

# shellcheck source=tests/lab/bochs/outside.sh
. "$(dirname "$0")/../bochs/outside.sh"

# fails NAME WORDS COMMAND...: the judge must say no, and why.
fails()
{
	local name=$1 words=$2 status=0

	shift 2
	"$@" > "$dir/said" || status=$?
	if [ "$status" -ne 1 ]; then
		not_ok "$name" "the judge's exit status is $status"
	elif ! grep -q -- "$words" "$dir/said"; then
		not_ok "$name" "it does not say '$words': $(head -n 1 "$dir/said")"
	else
		ok "$name"
	fi
}

# A judge that cannot say no proves nothing: the same trace, spoilt in one place each time.
# Stores are known by their values: phase and number (bochs/bar.h).
spoilt()
{
	local trace=$1 old=$2 new=$3 said=$4

	awk '/0x5EED0000 0x00020029/ { gone = 0 } !gone { print } /0x5EED0000 0x00020028/ { gone = 1 }' \
		"$trace" > "$dir/spoilt"
	fails 'a store without a walk of its own is found' 'phase 2, page 5, .*no walk of its own' \
		"$dir/leaves" "${judge[@]/TRACE/$dir/spoilt}"
	# The last entry that was read before the store.
	awk -v old="$old\t" -v new="$new\t" '/RD.: PHY/ { last = NR } { line[NR] = $0 }
		/0x5EED0000 0x00010005/ { sub(old, new, line[last]) }
		END { for (i = 1; i <= NR; i++) print line[i] }' "$trace" > "$dir/spoilt"
	fails 'one leaf of another type is found' "phase 1, page 5, index 0: $said" \
		"$dir/leaves" "${judge[@]/TRACE/$dir/spoilt}"
	sed '/0x5EED0000 0x0005008F/d' "$trace" > "$dir/spoilt"
	fails 'a store that is missing is found' 'taken away: 143 stores' "$dir/leaves" "${judge[@]/TRACE/$dir/spoilt}"
}

# run_host HOST: one boot.
run_host()
{
	local host=$1 kernel=${1#*-} options=() said status=0 module trace=$dir/trace-$1 pat

	module=$(realpath -m "${BUILD:-$tree/build}")/kmod/$kernel/kvm-memtype.ko
	if [ ! -e "$module" ]; then
		not_ok "$host" "$module is missing; make kmod"
		return 0
	fi
	[[ $host != amd-* ]] || options=(--cpu ryzen)
	said=$("$lab" intel --kernel "$kernel" "${options[@]}" --timeout 600 --trace "$trace" \
		--add "$module:/kvm-memtype.ko" --add "$dir/barvm:/barvm" -- \
		sh -c 'insmod /kvm-memtype.ko && /barvm && cat /proc/mtrr') || status=$?
	if [ "$status" -ne 0 ]; then
		not_ok "$host: the guest stores" "exit status $status"
		printf '%s\n' "$said"
		return 0
	fi
	if [[ $said == *' straddled 0 zaps '*' missed 0'* ]]; then
		ok "$host: no leaf went by"
	else
		not_ok "$host: no leaf went by" "$said"
	fi
	judge=(vmx TRACE)
	if [[ $host = amd-* ]]; then
		pat=$(sed -n 's/^host PAT //p' <<< "$said")
		judge=(svm TRACE "$pat")
		# What the judge takes for granted of the BAR.
		check "$host: the BAR is UC by the host's MTRRs" \
			grep -q 'base=0x0c0000000 .* size= 1024MB.*: uncachable' <<< "$said"
	fi
	check "$host: each leaf is what its range says" "$dir/leaves" "${judge[@]/TRACE/$trace}"
	# Nothing more is to be had from a trace that is wrong already.
	[ "$checks_failed" -eq 0 ] || return 0
	sed "s/^ */# $host, /" "$check_output"
	if [[ $host = amd-* ]]; then
		spoilt "$trace" E6F E67 'index 0 in the leaf'
	else
		spoilt "$trace" B0F B37 'the leaf is WB'
	fi
}

hosts=("$@")
mapfile -t known < <(sed -n 's/^# lab: *//p' "$0")
[ "$#" -gt 0 ] || hosts=("${known[@]}")
for host in "${hosts[@]}"; do
	if [[ " ${known[*]} " != *" $host "* ]]; then
		echo "leaves.sh: $host is none of ${known[*]}" >&2
		exit 2
	fi
	skip_without "${host#*-}"
done
checker leaves
gcc -std=gnu17 -O2 -Wall -Wextra -Werror -static -o "$dir/barvm" "$tree/tests/lab/bochs/barvm.c"
for host in "${hosts[@]}"; do
	run_host "$host"
done
checks_done
