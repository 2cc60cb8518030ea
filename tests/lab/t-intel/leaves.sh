#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kvm-memtype.ko before a processor that tells what it reads: a guest stores to a BAR and to
# memory through every PAT index while WC ranges come, move and go; the leaf behind each
# store is taken from Bochs's trace.
#
#   leaves.sh [HOST]...	of intel-6.1, intel-6.12 and amd-6.1; without one, all
set -euo pipefail

# shellcheck source=tests/lab/bochs/outside.sh
. "$(dirname "$0")/../bochs/outside.sh"

# fails NAME COMMAND...: the judge must say no.
fails()
{
	local name=$1 status=0

	shift
	"$@" > "$dir/said" || status=$?
	if [ "$status" -eq 1 ]; then ok "$name"; else not_ok "$name" "the judge's exit status is $status"; fi
}

# A judge that cannot say no proves nothing: the same trace, spoilt in one place each time.
spoilt()
{
	local trace=$1

	awk '/0x5EED0000 0x00020029/ { f = 0 } f != 1 { print } /0x5EED0000 0x00020028/ { f = 1 }' "$trace" > "$dir/spoilt"
	fails 'a store without a walk of its own is found' "$dir/leaves" "${judge[@]/TRACE/$dir/spoilt}"
	# The last entry before a store, once: WC without IPAT becomes WB; on AMD index 1 becomes 0.
	awk -v amd="$2" '/RD.: PHY/ { l = NR } { line[NR] = $0 }
		/0x5EED0000 0x00010005/ && !done { done = 1
			sub(amd ? "E6F\t" : "B0F\t", amd ? "E67\t" : "B37\t", line[l]) }
		END { for (i = 1; i <= NR; i++) print line[i] }' "$trace" > "$dir/spoilt"
	fails 'one leaf of another type is found' "$dir/leaves" "${judge[@]/TRACE/$dir/spoilt}"
	sed '/0x5EED0000 0x0005008F/d' "$trace" > "$dir/spoilt"
	fails 'a store that is missing is found' "$dir/leaves" "${judge[@]/TRACE/$dir/spoilt}"
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
	sed "s/^ */# $host, /" "$check_output"
	spoilt "$trace" "$([[ $host != amd-* ]] || echo 1)"
}

hosts=("$@")
[ "$#" -gt 0 ] || hosts=(intel-6.1 intel-6.12 amd-6.1)
for host in "${hosts[@]}"; do
	[[ $host =~ ^(intel-6\.1|intel-6\.12|amd-6\.1)$ ]] || { sed -n '8s/^# *//p' "$0" >&2; exit 2; }
	skip_without "${host#*-}"
done
checker leaves
gcc -std=gnu17 -O2 -Wall -Wextra -Werror -static -o "$dir/barvm" "$tree/tests/lab/bochs/barvm.c"
for host in "${hosts[@]}"; do
	run_host "$host"
done
checks_done
