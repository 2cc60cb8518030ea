# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by tests that run on this machine and start hosts in Bochs: sets $tree, $lab,
# $cache and a folder $dir of their own; skips where there is no Bochs.

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)
cache=${BP_CACHE:-$tree/cache}
lab=$tree/tests/lab/lab
# shellcheck source=tests/lab/host/check.sh
. "$tree/tests/lab/host/check.sh"
dir=$(mktemp -d)
# shellcheck disable=SC2154 # set by check.sh
trap 'rm -rf "$dir" "$check_output"' EXIT

# skip_without KERNEL: with "none" Bochs alone is needed.
skip_without()
{
	if ! command -v "${BP_BOCHS:-bochs-bin}" > /dev/null; then
		skip "$(basename "$0" .sh)" 'no Bochs; run tests/lab/prepare'
		exit 77
	fi
	if [ "$1" != none ] && [ ! -e "$cache/kernels/$1/release" ]; then
		skip "$(basename "$0" .sh)" "no kernel $1; run tests/lab/prepare $1"
		exit 77
	fi
}

# checker NAME: build a judge, with libmemtype, as $dir/NAME.
checker()
{
	local build=${BUILD:-build}

	make -s -C "$tree" BUILD="$build" "$build/lib/libmemtype.a" >&2
	[[ $build = /* ]] || build=$tree/$build
	gcc -std=gnu17 -O2 -Wall -Wextra -Werror -I"$tree/memtype/include" -o "$dir/$1" \
		"$tree/tests/lab/bochs/$1.c" "$build/lib/libmemtype.a"
}
