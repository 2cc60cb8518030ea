#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --kernel 6.1 --icount --iommu none --mem 1G
#
# bf_send_lat --compare with real runs, on a clock that counts instructions: what differs
# then is what was made to differ. Where the time goes outside the traffic is seen there too.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/rxe.sh
. "$here/../host/rxe.sh"
# shellcheck source=tests/lab/host/send_lat.sh
. "$here/../host/send_lat.sh"

rxe_up

# measured NAME OPTIONS...: a run in this thread, kept.
measured()
{
	local name=$1

	shift
	"$send_lat" -F --loopback -n 200 -s 1024 --out_json_file="$run/$name.json" "$@" > /dev/null
}

# no_equal_pair_fails: twenty pairs of runs that are alike.
no_equal_pair_fails()
{
	local i

	measured a
	for i in {1..20}; do
		measured b
		"$send_lat" --compare "$run/a.json" "$run/b.json" || { echo "pair $i"; return 1; }
		mv "$run/b.json" "$run/a.json"
	done
}

check '20 equal pairs pass' no_equal_pair_fails
# One microsecond in each round trip of about 30.
measured slow --latency_gap 1
status=0
"$send_lat" --compare "$run/a.json" "$run/slow.json" > "$run/compared" || status=$?
check 'a slowdown by 3 to 4% is found' test "$status" -eq 1
[ "$status" -eq 1 ] || cat "$run/compared"
check 'and is no more than that' "$send_lat" --compare "$run/a.json" "$run/slow.json" --fail-if 'p50>+5%'

"$send_lat" -F --loopback -a -n 5 --out_json_file="$run/all.json" > "$run/all.out"
check '-a over 23 sizes spends less than a second outside the traffic' \
	jq -e '(.results | length) == 23 and .overhead_seconds < 1' "$run/all.json"
tail -n 1 "$run/all.out"
checks_done
