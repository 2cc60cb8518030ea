# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by tests that run in an emulated host: `ok`, `not ok` and `skip` lines,
# which tests/run counts, and an exit status that agrees with them.

checks_failed=0
check_output=$(mktemp /run/check.XXXXXX)

ok() { printf 'ok %s\n' "$1"; }
skip() { printf 'skip %s: %s\n' "$1" "$2"; }

not_ok()
{
	printf 'not ok %s: %s\n' "$1" "$2"
	checks_failed=$((checks_failed + 1))
}

# jq OPTION...: with -e first among the options, no result at all is a failure, which jq 1.6
# itself does not see: what was to be looked at is not there.
jq()
{
	local out status=0

	if [[ ${1:-} != -*e* ]]; then
		command jq "$@"
		return
	fi
	out=$(command jq "$@") || status=$?
	printf '%s' "${out:+$out$'\n'}"
	[ "$status" -ne 0 ] || [ -n "$out" ] || status=4
	return "$status"
}

# check NAME COMMAND...: ok when it succeeds; its output is shown when it does not. The
# command runs in this shell, whose children it may want to wait for.
check()
{
	local name=$1 status=0

	shift
	"$@" > "$check_output" 2>&1 || status=$?
	if [ "$status" -eq 0 ]; then
		ok "$name"
	else
		not_ok "$name" "exit status $status"
		sed 's/^/    /' "$check_output"
	fi
}

# check_fails NAME STATUS WORDS COMMAND...: ok when it exits with STATUS and says WORDS
# (an extended regular expression) in one line on standard error.
check_fails()
{
	local name=$1 want=$2 words=$3 said status=0

	shift 3
	said=$("$@" 2>&1 > /dev/null) || status=$?
	if [ "$status" -ne "$want" ]; then
		not_ok "$name" "exit status $status, not $want; said: $said"
	elif ! grep -qE -- "$words" <<< "$said"; then
		not_ok "$name" "does not say '$words': $said"
	elif [ "$(wc -l <<< "$said")" -ne 1 ]; then
		not_ok "$name" "says more than one sentence: $said"
	else
		ok "$name"
	fi
}

# Last line of every script.
checks_done() { [ "$checks_failed" -eq 0 ]; }
