#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --nic igb --nic e1000e --nvme --timeout 600
#
# A guest whose virtual function comes through a device node and iommufd: the check of
# assign.sh, with other modules below.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/iommufd/load.sh
. "$here/../iommufd/load.sh"

if ! why=$(iommufd_load 2>&1); then
	skip iommufd-guest "$why"
	exit 77
fi
work=$(mktemp -d /run/guests.XXXXXX)
export work
"$here/assign.sh" igb_vf_smp || checks_failed=$((checks_failed + 1))
check 'the monitor says iommufd' jq -e '.backend == "iommufd"' "$work/igb_vf_smp.status"
checks_done
