# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by tests of bf_send_lat: both ends of a run, and what is checked of their output.

send_lat=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)/build/bin/bf_send_lat
[ -z "${BUILD:-}" ] || send_lat=$BUILD/bin/bf_send_lat
run=/run/send_lat client_rc='' server_rc=''
mkdir -p "$run"

# both "SERVER OPTIONS" CLIENT OPTIONS...: a whole run; JSON in $run/{server,client}.json, what
# they said in $run/{server,client}.{out,err}, exit statuses in $server_rc and $client_rc.
# shellcheck disable=SC2034 # for whoever sources this
both()
{
	local server_options=() pid

	read -r -a server_options <<< "$1"
	shift
	rm -f "$run"/*
	timeout 60 "$send_lat" --out_json_file="$run/server.json" "${server_options[@]}" \
		> "$run/server.out" 2> "$run/server.err" &
	pid=$!
	client_rc=0 server_rc=0
	timeout 60 "$send_lat" --out_json_file="$run/client.json" "$@" \
		> "$run/client.out" 2> "$run/client.err" || client_rc=$?
	wait "$pid" || server_rc=$?
}

# row FILE: the first row of a table, of ours or of ib_send_lat.
row() { awk '/^ *[0-9]+ +[0-9]+ +[0-9.]/ { print; exit }' "$1"; }

# heading FILE N: the first N names of the columns.
heading()
{
	sed -n 's/^ *#bytes/#bytes/p' "$1" | head -n 1 | sed 's/% percentile/%_percentile/g' |
		tr -s '[:space:]' '\n' | head -n "$2" | tr '\n' ' '
}

# ordered FILE: minimum, median, percentiles and maximum are in order, and the mean within.
ordered()
{
	row "$1" | awk '{ exit !($3 > 0 && $3 <= $5 && $5 <= $8 && $8 <= $9 && $9 <= $4 && $6 >= $3 && $6 <= $4) }'
}

# numbers_in_json OUT JSON: each number of the table's rows is a value of the document's rows.
numbers_in_json()
{
	local missing

	jq -r '.results[] | [.. | numbers] | .[]' "$2" | awk '{ printf "%.3f\n", $1 }' | sort -u > "$run/known"
	missing=$(awk '/^ *[0-9]+ +[0-9]+ +[0-9.]/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9.]+$/) printf "%.3f\n", $i }' "$1" |
		sort -u | comm -23 - "$run/known")
	# The list of percentiles with few samples is a word that may look like a number.
	if grep -vxE '(50|90|99)\.000|99\.9[09]0|' <<< "$missing"; then
		echo "not in $2"
		return 1
	fi
}

# failed_well JSON: a valid document that says why it failed.
failed_well() { jq -e '.schema == 1 and .ok == false and (.error.what | length > 0)' "$1" > /dev/null; }
