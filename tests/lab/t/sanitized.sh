#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic igb --nic e1000e --nvme --timeout 600
#
# Assigned functions once more, with a monitor and a vfctl that AddressSanitizer and
# UBSan watch (tests/run builds them). What they report ends the program with a status
# that the guest's checks do not take for a good end.
set -euo pipefail

tree=$(cd "$(dirname "$0")/../../.." && pwd -P)
build=$tree/${BUILD:-build}/asan/bin
if [ ! -x "$build/bluepass" ]; then
	echo "skip sanitized monitor: make BUILD=build/asan SANITIZE=address,undefined programs"
	exit 77
fi
export BLUEPASS=$build/bluepass VFCTL=$build/vfctl UBSAN_OPTIONS=print_stacktrace=1
exec "$tree/tests/lab/t/assign.sh" vf
