#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# lab: --kernel 6.1
# lab: --kernel 6.12
#
# libmemtype against Linux: thousands of random MTRR programs, each answered by this kernel's
# own look-up of types, too. 6.1 compares masks, 6.12 makes a map: two ways that others
# wrote. Then in a guest of bluepass, on 6.12: hundreds of programs written by WRMSR, and
# read back; and what Linux makes of the registers, in /proc/mtrr.
#
# tests/lab/oracle-mtrr/build makes the module and the program.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd -P)
# shellcheck source=tests/lab/host/check.sh
. "$here/../host/check.sh"
# shellcheck source=tests/lab/host/guest.sh
. "$here/../host/guest.sh"
# shellcheck source=tests/lab/host/mtrr.sh
. "$here/../host/mtrr.sh"

oracle=$build/oracle-mtrr/mtrr-oracle
if ! insmod "$build/oracle-mtrr/$LAB_KERNEL/mtrr_oracle.ko"; then
	not_ok oracle "no module for $(uname -r); run tests/lab/oracle-mtrr/build"
	exit 1
fi
counted=$work/linux
check 'Linux and the library agree on 5000 programs' sh -c "$oracle linux 1 5000 > $counted"
cat "$counted"
# has FILTER: what was compared; nothing is skipped without being counted.
has() { jq -e "$1" "$counted" > /dev/null || { cat "$counted"; return 1; }; }
check 'pages: each kind was there' has '.pages > 100000 and .undefined > 5000 and .disabled > 5000 and .wrong == 0'
check 'ranges: of one type and of several' has '.ranges > 20000 and .mixed_ranges > 5000'
if [ "$LAB_KERNEL" = 6.1 ]; then
	check 'nothing was left out' has '.skipped_untidy == 0 and .skipped_low == 0'
else
	check 'left out: only what its map cannot say' has '.skipped_untidy > 0 and .skipped_low > 0'
fi
if [ "$LAB_KERNEL" != 6.12 ]; then
	checks_done
	exit
fi

# ---- in a guest -----------------------------------------------------------------------------

cat > "$work/on-msr" <<-'INIT'
	#!/bin/sh
	bb=/bin/busybox
	$bb mount -t proc proc /proc
	$bb mount -t devtmpfs dev /dev
	while read -r module; do $bb insmod "$module"; done < /mods/list
	/mtrr-oracle msr 3 300 8 > /dev/console
	echo "BP {\"ev\":\"end\",\"status\":$?}" > /dev/console
	$bb poweroff -f
INIT
chmod +x "$work/on-msr"
modprobe kvm-amd
"$here/../guest-initrd" --kernel 6.1 --modules msr --add "$work/on-msr:/on-msr" --add "$oracle:/mtrr-oracle" \
	-o "$work/initrd-msr.cpio"
guest_start msr --kernel "${BP_CACHE:-$tree/cache}/kernels/6.1/vmlinuz" --initrd "$work/initrd-msr.cpio" --mem 320M \
	--append 'console=ttyS0 quiet panic=-1 msr.allow_writes=on rdinit=/on-msr'
check 'guest: to the end' guest_wait msr 240
check 'guest: WRMSR stores, refuses and reads back as the library says' says msr end '.status == 0'
check 'guest: 300 programs' says msr msr '.programs == 300 and .wrong == 0 and .refused > 1000 and .writes > 10000'
check 'guest: /proc/mtrr has the same ranges and types' says msr msr '.lines > 300 and .types > 5000'
guest_event msr msr || :

# decoded: `memtype decode` of the registers says what Linux's lines say, range by range, above
# 1 MiB: the ends of all lines, and the middle of what lies between.
decoded()
{
	local n=0 program

	guest_lines msr | jq -c 'select(.ev == "program")' > "$work/programs"
	while read -r program; do
		# shellcheck disable=SC2046 # a word for each register
		"$memtype" -j decode $(jq -r .msrs <<< "$program") --maxphyaddr "$(jq .width <<< "$program")" \
			> "$work/decoded" || [ $? -eq 1 ]
		jq -e --argjson linux "$program" -f "$work/compare.jq" "$work/decoded" > "$work/compared" || {
			echo "$program"
			cat "$work/decoded" "$work/compared"
			return 1
		}
		n=$((n + 1))
	done < "$work/programs"
	[ "$n" -eq 8 ] || { echo "$n programs"; return 1; }
}
# In numbers of 4 KiB pages, which are exact in a double.
cat > "$work/compare.jq" <<-'JQ'
	def page: ltrimstr("0x") | .[:-3] | explode |
		reduce .[] as $c (0; . * 16 + if $c > 96 then $c - 87 else $c - 48 end);
	. as $all |
	def by_linux($p): [$linux.ranges[] | select(.base / 4096 <= $p and $p < (.base + .size) / 4096).type] | unique |
		if $all.enabled | not then "UC"
		elif . == [] then $all.default
		elif index("UC") then "UC"
		elif . == ["WB", "WT"] then "WT"
		elif length > 1 then "undefined"
		else .[0] end;
	[.ranges[] | {first: (.start | page), last: (.end | page),
			type: (if .undefined then "undefined" else .type end)} |
		select(.last >= 256) | .first = ([.first, 256] | max) | . as $r |
		(.first, .last, ((.first + .last) / 2 | floor)) | {page: ., ours: $r.type, linux: by_linux(.)} |
		select(.ours != .linux)] == []
JQ
check 'guest: memtype decode agrees with /proc/mtrr' decoded
checks_done
