#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --kernel 6.12 --timeout 240
#
# mmap_lat and perfdiff in a host without counters of its processor, and in a nested guest
# that has neither a shell's tools nor a disk. The same seed is the same sequence in both.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/guest.sh
. "$here/../host/guest.sh"
build=${BUILD:-$tree/build}
mmap_lat=$build/bin/mmap_lat perfdiff=$build/bin/perfdiff
ops=3000

# The guest starts first: it boots while the host measures.
cat > "$work/start" <<-START
	#!/bin/busybox sh
	busybox mount -t proc proc /proc
	busybox mount -t sysfs sys /sys
	busybox mount -t devtmpfs dev /dev
	exec > /dev/console 2>&1 < /dev/console
	# Each byte on the console is an exit of the guest: without the histograms.
	say()
	{
		local name=\$1 status=0
		shift
		"\$@" > /said || status=\$?
		echo "BEGIN \$name"
		busybox sed 's/"histogram":\[\(\[[^]]*\],*\)*\]/"histogram":[]/g' /said
		echo "END \$status"
	}
	say phases /mmap_lat -j phases -b anon,shared -s 256K -n 3
	say work /mmap_lat -j mmap-perf -n $ops
	say run /perfdiff -j run -o /d.json -q -r 8 -n base -n more -- /mmap_lat mmap-perf -n 300 --vs /mmap_lat mmap-perf -n 900
	say show /perfdiff -j show /d.json
	echo DONE
	busybox poweroff -f
START
chmod 755 "$work/start"
modprobe kvm-amd
"$tree/tests/lab/guest-initrd" --kernel 6.1 -o "$work/latency.cpio" --add "$work/start:/start" \
	--add "$build/guest/mmap_lat" --add "$build/guest/perfdiff"
guest_start nested --kernel "$cache/kernels/6.1/vmlinuz" --initrd "$work/latency.cpio" --mem 256M \
	--append 'console=ttyS0 quiet panic=-1 rdinit=/start hugepages=4'

# A machine with a few huge pages of 2M, and none of 1G.
pages=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
echo 8 > "$pages"
echo madvise > /sys/kernel/mm/transparent_hugepage/enabled

# holds FILE FILTER: the filter is true for the JSON.
holds() { jq -e "$2" "$1" > /dev/null || { jq -c . "$1" | head -c 2000; echo; return 1; }; }

# Which kinds were measured, and how often each page of them faulted when it was touched first.
# shellcheck disable=SC2016 # jq expands it
kinds='[.results[] | select(.skipped == null) | "\(.backing) \(.pages)"]'
# shellcheck disable=SC2016
faults_once='[.results[] | select(.backing == "anon" and .skipped == null) | .phases[] |
	select(.name == "first touch" or .name == "touch again") | .faults == .times and .times > 0] | all and length > 1'
ordered='[.results[] | .phases[]? | select(.times > 0) | .min.ns <= .p50.ns and .p50.ns <= .p99.ns and .p99.ns <= .max.ns] | all'

check 'host: phases' "$mmap_lat" -j phases -s 2M -n 3 > /dev/null
"$mmap_lat" -j phases -s 2M -n 3 > "$work/phases.json"
check 'host: 4K, transparent and 2M pages' holds "$work/phases.json" \
	"$kinds | contains([\"anon 4K\", \"anon THP\", \"anon 2M\", \"shared 4K\", \"shared 2M\", \"file 4K\", \"file 2M\"])"
check 'host: no pages of 1G, with the reason' holds "$work/phases.json" \
	'[.results[] | select(.pages == "1G")] | length == 3 and all(.skipped | test("huge pages of 1G"))'
check 'host: each page faults once' holds "$work/phases.json" "$faults_once"
check 'host: percentiles are in order' holds "$work/phases.json" "$ordered"
check 'host: all steps, moves of 2M pages included' holds "$work/phases.json" \
	'[.results[] | select(.skipped == null) | .phases | length] | all(. == 11)'
# shellcheck disable=SC2016
check 'host: counters that are missing are named' holds "$work/phases.json" \
	'[.missing_counters[].counter] as $m | (.results[0].phases[1].counters | has("cycles")) != ($m | any(. == "cycles"))'
check 'host: it knows that it is emulated' holds "$work/phases.json" \
	'.environment.virtualized and (.environment.warnings | map(.code) | any(. == "virtual"))'
echo 0 > "$pages"
check_fails 'host: nothing to measure' 77 '^$' "$mmap_lat" phases -b anon -p 2M
check 'host: the workload' sh -c "$mmap_lat -j mmap-perf -n $ops > $work/work.json"
check 'host: it reads what it wrote' holds "$work/work.json" '.wrong_bytes == 0'
check 'host: the pattern of lat_mmap' sh -c "$mmap_lat -j lat_mmap -s 1M -n 20 | jq -e '.results[0].touches == 7'"

check 'host: perfdiff' "$perfdiff" -j run -o "$work/d.json" -q -r 8 -n base -n more -n same -- \
	"$mmap_lat" mmap-perf -n 1000 --vs "$mmap_lat" mmap-perf -n 3000 --vs "$mmap_lat" mmap-perf -n 1000
"$perfdiff" -j show "$work/d.json" > "$work/show.json"
# 2000 operations more are some 100 faults more, on top of those that a program's start takes.
found='.rows[] | select(.counter == "page-faults") | .columns[1] | .differs and .change_low > 0'
check 'host: the planted difference is found' holds "$work/show.json" "$found"
# One in a hundred by chance, and minor faults are nearly all page faults.
check 'host: equal commands do not differ' holds "$work/show.json" \
	'[.rows[].columns[2].differs // false | select(.)] | length <= 2'
check 'host: counters have values or a reason' holds "$work/show.json" \
	'(.rows | length) + (.missing | length) == 17 and (.missing | all(.why != ""))'
check_fails 'host: a command that fails' 1 'ended with status 3' "$perfdiff" run -o "$work/no.json" -- sh -c 'exit 3'
check 'host: and leaves no record' test ! -e "$work/no.json"

# The guest has had its time.
guest_wait nested 100 || not_ok 'guest: ends by itself' "status $?"
# answer NAME: what the guest's program said, one JSON document.
answer() { tr -d '\r' < "$work/nested.console" | sed -n "/^BEGIN $1\$/,/^END /p" | grep '^{' > "$work/g-$1.json"; }
check 'guest: all of it ran' grep -q '^DONE' "$work/nested.console"
check 'guest: nothing failed' sh -c "[ \"\$(tr -d '\\r' < $work/nested.console | grep -c '^END 0\$')\" -eq 4 ]"
for n in phases work run show; do
	check "guest: answer to $n" answer "$n"
done
check 'guest: 4K and 2M pages' holds "$work/g-phases.json" \
	"$kinds | contains([\"anon 4K\", \"anon 2M\", \"shared 4K\", \"shared 2M\"])"
check 'guest: each page faults once' holds "$work/g-phases.json" "$faults_once"
check 'guest: percentiles are in order' holds "$work/g-phases.json" "$ordered"
check 'guest: the same sequence as in the host' test "$(jq -r .digest "$work/g-work.json")" = "$(jq -r .digest "$work/work.json")"
check 'guest: it reads what it wrote' holds "$work/g-work.json" '.wrong_bytes == 0'
check 'guest: the planted difference is found' holds "$work/g-show.json" "$found"
check 'guest: it says the same when it is shown again' cmp "$work/g-run.json" "$work/g-show.json"
[ "$checks_failed" -eq 0 ] || guest_show nested | cut -c 1-400
jq -r '.results[] | select(.skipped == null) | [.backing, .pages, (.phases[] | select(.name == "first touch") | .p50.ns)] | @tsv' \
	"$work/phases.json" | sed 's/^/first-touch host /'
jq -r '.results[] | select(.skipped == null) | [.backing, .pages, (.phases[] | select(.name == "first touch") | .p50.ns)] | @tsv' \
	"$work/g-phases.json" | sed 's/^/first-touch guest /'
checks_done
