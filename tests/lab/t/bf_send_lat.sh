#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --kernel 6.1 --cpus 1 --iommu none --mem 1G
#
# bf_send_lat over a verbs device made of software: every transport service over every way
# to connect, beside Debian's ib_send_lat in the same boot, and what happens to one end when
# the other is killed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/rxe.sh
. "$here/../host/rxe.sh"
# shellcheck source=tests/lab/host/send_lat.sh
. "$here/../host/send_lat.sh"

rxe_up
check 'a verbs device' rdma link show rxe0/1

# ---- against itself -------------------------------------------------------------------------

# good NAME CONN EXCHANGE SIZE: what a run must have left behind.
good()
{
	local name=$1 conn=$2 exchange=$3 iters=$4

	check "$name: both ends succeed" test "$client_rc/$server_rc" = 0/0
	[ "$client_rc/$server_rc" = 0/0 ] || cat "$run"/*.err
	# shellcheck disable=SC2016 # for jq
	check "$name: documents" jq -es --arg c "$conn" --arg x "$exchange" --argjson n "$iters" \
		'length == 2 and all(.ok and .test_info.connection == $c and .test_info.exchange == $x
		 and (.results | length > 0) and (.results | all(.n_iterations == $n and .complete
		 and .peer.n_iterations == $n and (.samples | length) == $n
		 and (.blueflame.used == "unknown"))))' "$run/client.json" "$run/server.json"
	check "$name: values in order" ordered "$run/client.out"
	check "$name: JSON holds the table's numbers" numbers_in_json "$run/client.out" "$run/client.json"
}

both '-F -e' -F -e -n 100 "$rxe_ip4"
good 'RC over TCP' RC TCP 100
both '-F -e' -F -e -n 100 -c UC -s 64,4096 "$rxe_ip6"
good 'UC over TCP, IPv6' UC TCP 100
# shellcheck disable=SC2016 # for jq
check 'GID of the address that was used' jq -es --arg a "$rxe_ip6" 'all(.test_info.gid == $a)' \
	"$run/client.json" "$run/server.json"
both '-F -e -c UD' -F -e -n 100 "$rxe_ip4"
good 'UD over TCP, a wish of the server alone' UD TCP 100
both '-F -e' -F -e -n 100 -R "$rxe_ip4"
good 'RC by rdma_cm' RC rdma_cm 100
both '-F -e' -F -e -n 100 -R -c UD "$rxe_ip4"
good 'UD by rdma_cm' UD rdma_cm 100
both '-F -e -z' -F -e -n 100 -z -c UC "$rxe_ip4"
good 'UC, exchange over rdma_cm' UC rdma_cm 100
both '-F' -F -n 100 "$rxe_ip4"
good 'both polling on one processor' RC TCP 100
check 'they give way' jq -es 'all(.test_info.wait == "polls and gives way")' "$run/client.json" "$run/server.json"
both '-F -e -t 1 -r 1 -m 1024 -I 0' -F -e -n 100 -t 1 -r 1 -I 0 "$rxe_ip4"
good 'queues of one' RC TCP 100
check 'MTU that one end asks for' jq -es 'all(.test_info.mtu == 1024)' "$run/client.json" "$run/server.json"
both '-F -e' -F -e -D 1 "$rxe_ip4"
check '-D: percentiles and no error' jq -e '.ok and (.results[0] | .n_iterations > 20
	and ."percentile_99.9" >= .t_typical and (.histogram | length > 3))' "$run/client.json"
both '-F -e' -F -e -n 20 --rate 200 "$rxe_ip4"
check '--rate: from the due time and from the send' jq -e '.ok and (.results[0] |
	.from_real_send.t_max > 0 and .t_max >= .from_real_send.t_typical)' "$run/client.json"
both '-F -e' -F -e -n 60 --blueflame ab --block 10 --seed 7 -s 2,64 "$rxe_ip4"
check '--blueflame ab: two kinds of row for each size' jq -es 'all(.ok and (.results | map(.blueflame.asked)) ==
	["on", "off", "on", "off"] and (.on_against_off | length > 0))' "$run/client.json" "$run/server.json"

"$send_lat" -F --loopback -U -n 25 > "$run/unsorted.out"
check '-U prints each sample before the row' test "$(grep -cE '^[0-9]+, [0-9.]+$' "$run/unsorted.out")" -eq 25
# shellcheck disable=SC2016 # for awk
check '-U: the row agrees with the samples' awk -F'[, ]+' '/^[0-9]+, / { if ($2 > max) max = $2 }
	/^ [0-9]+ / { exit !($5 == max) }' "$run/unsorted.out"
"$send_lat" -F --loopback -a -c UD -n 30 --out_json_file="$run/loop.json" > "$run/loop.out"
check '--loopback -a: all sizes of datagrams' jq -e '.ok and (.results | map(.MsgSize)) ==
	[2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]' "$run/loop.json"
check '--loopback -a: no second is spent outside the traffic' jq -e '.overhead_seconds < 1' "$run/loop.json"
status=0
"$send_lat" -j --wc-check > "$run/wc.json" 2> "$run/wc.err" || status=$?
check '--wc-check says unknown, and why' test "$status" -eq 77
check '--wc-check prints its posts' jq -e '.answer == "unknown" and (.posts | length > 5)' "$run/wc.json"

"$send_lat" -F --loopback -n 50 -s 2,64 --prometheus "$run/prom" --plot "$run/svg" > /dev/null
check 'Prometheus: quantiles, sum and count of each size' awk '/^bf_send_lat_half_rtt_seconds{.*size="(2|64)".*quantile=/ { q++ }
	/_count{.* 50$/ { n++ } /^bf_send_lat_success 1$/ { ok++ } END { exit !(q == 10 && n == 2 && ok == 1) }' "$run/prom"
check 'a drawing with a line for each size' test "$(grep -c 'stroke-width' "$run/svg")" -eq 2

# ---- beside ib_send_lat ----------------------------------------------------------------------

# beside CONN OPTIONS...: the same options for both programs.
beside()
{
	local conn=$1 pid status=0

	shift
	both "-F -e -d rxe0 -c $conn $*" -F -e -d rxe0 -c "$conn" "$@" "$rxe_ip4"
	timeout 30 ib_send_lat -F -e -d rxe0 -c "$conn" "$@" > /dev/null 2>&1 &
	pid=$!
	# It does not try again, so the server must be listening.
	while ! ss -Hltn "sport = :18515" | grep -q . && [ -e "/proc/$pid" ]; do sleep 0.1; done
	timeout 30 ib_send_lat -F -e -d rxe0 -c "$conn" "$@" "$rxe_ip4" > "$run/theirs.out" 2>&1 || status=$?
	wait "$pid" || status=$?
	check "$conn $*: it works" test "$client_rc/$server_rc" = 0/0
	[ "$client_rc/$server_rc" = 0/0 ] || cat "$run"/*.err
	check "ib_send_lat $conn $*: it works" test "$status" -eq 0
	check "$conn $*: first nine columns have its names" test "$(heading "$run/client.out" 9)" = "$(heading "$run/theirs.out" 9)"
	check "$conn $*: sizes and exchanges are the same" test \
		"$(row "$run/client.out" | awk '{ print $1, $2 }')" = "$(row "$run/theirs.out" | awk '{ print $1, $2 }')"
	# Emulated machines stall for milliseconds; the fastest exchange of either is near the truth.
	check "$conn $*: values of the same order" awk -v a="$(row "$run/client.out")" -v b="$(row "$run/theirs.out")" \
		'BEGIN { split(a, x); split(b, y); exit !(x[3] < 4 * y[3] && y[3] < 4 * x[3]) }'
}

beside RC -n 200 -s 64 -x 1 -i 1 -p 18515
beside UC -n 200 -s 1024 -m 2048
beside UD -n 200 -I 64 -S 0

# ---- all pairs ------------------------------------------------------------------------------

# launched PROGRAM...: three of them, as a launcher starts them.
launched()
{
	local r pids=() status=0

	for r in 1 2; do
		OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_SIZE=3 "$@" > "$run/rank$r" 2>&1 &
		pids+=($!)
	done
	OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=3 "$@" > "$run/pairs" || status=$?
	for r in "${pids[@]}"; do wait "$r" || status=$?; done
	return "$status"
}

all_pairs=("$send_lat" --all-pairs --rendezvous "$rxe_ip4" --source_ip "$rxe_ip4" -F -e -n 30)
check '--all-pairs: three processes' launched timeout 60 "${all_pairs[@]}" --plot "$run/heat.svg"
check '--all-pairs: a line for each pair, one at a time' jq -es 'map([.server, .client]) | sort == [[0,1],[0,2],[1,2]]' "$run/pairs"
check '--all-pairs: each has its values' jq -es 'all(.ok and .results[0].n_iterations == 30) and
	(map(.round) | unique | length == 3)' "$run/pairs"
check '--all-pairs: heat map' test "$(grep -c '<title>' "$run/heat.svg")" -eq 6
if command -v mpirun > /dev/null; then
	mpirun --allow-run-as-root --oversubscribe -np 3 "${all_pairs[@]}" > "$run/mpi" 2> "$run/mpi.err" || cat "$run/mpi.err"
	check '--all-pairs: by mpirun' jq -es 'length == 3 and all(.ok)' "$run/mpi"
else
	skip '--all-pairs: by mpirun' 'Open MPI is not installed'
fi

# ---- an end that dies ------------------------------------------------------------------------

# now: milliseconds.
now() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

# orphan NAME VICTIM DELAY OPTIONS...: kill -9 one end after DELAY; the other must end soon
# after, with an error and a document.
orphan()
{
	local name=$1 victim=$2 delay=$3 server client dead killed took status=0 other left

	shift 3
	rm -f "$run"/*
	timeout 60 "$send_lat" -F -e --out_json_file="$run/server.json" > "$run/server.out" 2> "$run/server.err" &
	server=$!
	timeout 60 "$send_lat" -F -e --out_json_file="$run/client.json" "$@" "$rxe_ip4" \
		> "$run/client.out" 2> "$run/client.err" &
	client=$!
	sleep "$delay"
	if [ "$victim" = server ]; then
		dead=$server other=client left=$client
	else
		dead=$client other=server left=$server
	fi
	# timeout passes no SIGKILL on: its child is meant.
	kill "-${SIGNAL:-9}" "$(pgrep -P "$dead")"
	killed=$(now)
	wait "$left" || status=$?
	took=$(($(now) - killed))
	wait "$dead" || :
	check "$name: the $other ends with an error" test "$status" -eq 1
	check "$name: within a second ($took ms)" test "$took" -lt 1000
	check "$name: it leaves a valid document" failed_well "$run/$other.json"
	check "$name: one sentence says why" grep -qE 'peer(: ended by a signal| closed| died)' "$run/$other.err"
}

orphan 'client killed while measured' client 1.5 -n 1000000
orphan 'server killed while measured' server 1.5 -n 1000000
orphan 'client killed, datagrams' client 1.5 -n 1000000 -c UD
orphan 'server killed, rdma_cm' server 2 -n 1000000 -R
orphan 'client killed, rdma_cm' client 2 -n 1000000 -R
SIGNAL=INT orphan 'server interrupted' server 1.5 -n 1000000
check 'server interrupted: its own document holds what was measured' jq -e \
	'.ok == false and .error.errno == "EINTR" and (.results[0] | .n_iterations > 0 and .complete == false)' \
	"$run/server.json"

# A client that stops in the middle of the greeting ritual, at each of its steps.
hello=$(printf '%s' '{"t":"hello","protocol":1,"params":{"given":0,"connection":"RC","sizes":[2],"iters":50,' \
	'"duration":0,"warmup":5,"mtu":0,"cm_qp":0,"blueflame":0,"block":50,"seed":1}}')
ends='{"t":"ends","ends":[{"qpn":17,"psn":1,"lid":0,"mtu":4096,"qkey":1,"gid":"::ffff:10.9.9.1"}]}'

# stopped NAME WORDS LINE...: the server's reason when a client said only that much.
stopped()
{
	local name=$1 words=$2 server status=0

	shift 2
	rm -f "$run"/*
	timeout 20 "$send_lat" -F --out_json_file="$run/server.json" > /dev/null 2> "$run/server.err" &
	server=$!
	while ! ss -Hltn "sport = :18515" | grep -q .; do sleep 0.1; done
	exec 7<> "/dev/tcp/$rxe_ip4/18515"
	printf '%s\n' "$@" >&7
	sleep 0.5
	exec 7>&-
	wait "$server" || status=$?
	check "$name: the server ends with an error" test "$status" -eq 1
	check "$name: it leaves a valid document" failed_well "$run/server.json"
	check "$name: it says where" grep -q "$words" "$run/server.err"
}

stopped 'client gone after its greeting' 'peer closed.*while exchanging addresses' "$hello"
stopped 'client gone after its address' 'peer closed.*while getting ready' "$hello" "$ends"
stopped 'client gone before a size' 'peer closed.*while starting a size' "$hello" "$ends" '{"t":"ready"}'
stopped 'client gone before its first message' 'peer closed.*after 0 exchanges' "$hello" "$ends" \
	'{"t":"ready"}' '{"t":"start","size":2}'
stopped 'client with a nonsensical wish' "peer's 'iters'" "${hello/50/-1}"

# said WORDS FILE: it does; what it says instead otherwise.
said() { grep -q -- "$1" "$2" || { cat "$2"; return 1; }; }

# And a server that does: it says the same lines, all but one.
stopped_server()
{
	local name=$1 words=$2 fake status=0

	shift 2
	rm -f "$run"/*
	{ [ "$#" -eq 0 ] || printf '%s\n' "$@"; sleep 0.5; } | busybox nc -l -p 18515 > /dev/null &
	fake=$!
	while ! ss -Hltn "sport = :18515" | grep -q .; do sleep 0.1; done
	timeout 20 "$send_lat" -F -n 50 --out_json_file="$run/client.json" "$rxe_ip4" > /dev/null 2> "$run/client.err" ||
		status=$?
	wait "$fake" || :
	check "$name: the client ends with an error" test "$status" -eq 1
	check "$name: it leaves a valid document" failed_well "$run/client.json"
	check "$name: it says where" said "$words" "$run/client.err"
}

stopped_server 'server gone before its greeting' 'peer closed.*while agreeing on parameters'
stopped_server 'server gone after its greeting' 'peer closed.*while exchanging addresses' "$hello"
stopped_server 'server gone after its address' 'peer closed.*while getting ready' "$hello" "$ends"
stopped_server 'server gone before a size' 'peer closed.*while starting a size' "$hello" "$ends" '{"t":"ready"}'
stopped_server 'server gone before its first answer' 'peer closed.*exchanges of 2 bytes' "$hello" "$ends" \
	'{"t":"ready"}' '{"t":"started","size":2}'

# An end that is gone before anything was agreed, and one that only says nonsense.
timeout 20 "$send_lat" -F --timeout 1 --out_json_file="$run/server.json" > /dev/null 2> "$run/server.err" &
server=$!
while ! ss -Hltn "sport = :18515" | grep -q .; do sleep 0.1; done
echo 'GET / HTTP/1.0' > "/dev/tcp/$rxe_ip4/18515"
sleep 0.3
check 'a server outlives a client that is none' test -e "/proc/$server"
status=0
timeout 20 "$send_lat" -F -n 20 -e -x 77 "$rxe_ip4" --out_json_file="$run/client.json" > /dev/null 2> "$run/client.err" || status=$?
wait "$server" || :
check 'a GID index that is not there: exit status' test "$status" -eq 1
check 'a GID index that is not there: those that are' grep -q "1 ::ffff:$rxe_ip4 (RoCE v2)" "$run/client.err"
check 'and the server knows as well' grep -q 'peer: .*no GID with index 77' "$run/server.err"
both '-F -e -n 50' -F -e -n 60 "$rxe_ip4"
check 'contradictory -n: both fail' test "$client_rc/$server_rc" = 1/1
check 'contradictory -n: the client names both' grep -q -- '-n is 60 there, 50 here' "$run/client.err"
status=0
timeout 20 "$send_lat" -F --wait 0.5 "$rxe_ip4" --out_json_file="$run/client.json" > /dev/null 2> "$run/client.err" || status=$?
check 'no server: an error and a document' failed_well "$run/client.json"
checks_done
