#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# libmemtype against Bochs without virtualization: the type of each store under all pairs
# of MTRR and PAT type and under random programs, and what WRMSR refuses.
#
#   native.sh [SEED]
set -euo pipefail

# shellcheck source=tests/lab/bochs/outside.sh
. "$(dirname "$0")/../bochs/outside.sh"
skip_without none
seed=${1:-$EPOCHSECONDS}

checker oracle
(. "$tree/tests/lab/machine.sh"; mkdir -p "$work"; work=$dir bare native bochs/native.c)
"$dir/oracle" disk "$seed" "$dir/native" > "$dir/disk"
status=0
"$lab" intel --timeout 120 --trace "$dir/trace" --bare "$dir/disk" > "$dir/output" || status=$?
if [ "$status" -ne 0 ]; then
	not_ok 'Bochs runs the programs' "exit status $status, seed $seed"
	exit 1
fi
ok 'Bochs runs the programs'
said=$("$dir/oracle" check "$seed" "$dir/output" "$dir/trace") || status=$?
if [ "$status" -eq 0 ]; then
	ok "seed $seed: $said"
else
	not_ok "libmemtype and Bochs agree" "seed $seed"
	printf '%s\n' "$said"
fi
checks_done
