# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Sourced by `lab` and by what it hands over to: messages, what is built once and kept
# in the cache, waiting for a turn. Sets $here, $tree, $cache and $work.

die() { echo "lab: $*" >&2; exit 125; }
wrong() { echo "lab: $*; see lab --help" >&2; exit 2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
tree=$(cd "$here/../.." && pwd -P)
cache=${BP_CACHE:-$tree/cache}
work=$cache/lab

# newer FILE INPUT...: FILE is there and no INPUT has changed since.
newer()
{
	local file=$1 input

	shift
	[ -e "$file" ] || return 1
	for input in "$@"; do
		[ ! "$input" -nt "$file" ] || return 1
	done
}

# compile NAME FLAGS SOURCE...: a program of the lab into $work; sources are named from
# here, headers are found by themselves.
compile()
{
	local name=$1 flags=() headers

	read -r -a flags <<< "$2"
	shift 2
	headers=("$here"/*.h "$here"/bochs/*.h)
	newer "$work/$name" "${@/#/$here/}" "${headers[@]}" && return 0
	gcc -std=gnu17 -O2 -Wall -Wextra -Werror "${flags[@]}" -o "$work/.$name" "${@/#/$here/}" ||
		die "could not compile $*"
	mv "$work/.$name" "$work/$name"
}

# bare NAME SOURCE...: a program that a disk starts with, boot sector first (bochs/boot.S).
bare()
{
	local name=$1 part flags

	shift
	newer "$work/$name" "$here"/bochs/{boot.S,bare.ld,bare.h} "$here"/bochs/*.h "${@/#/$here/}" && return 0
	# shellcheck disable=SC2054 # the linker's arguments
	flags=(-std=gnu17 -Os -Wall -Wextra -Werror -ffreestanding -nostdlib -fno-pic -no-pie -mno-red-zone
		-mgeneral-regs-only -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none
		-Wl,--build-id=none -Wl,-zmax-page-size=4096 -Wl,--no-warn-rwx-segments "-Wl,-T$here/bochs/bare.ld")
	gcc "${flags[@]}" -o "$work/.$name.elf" "$here/bochs/boot.S" "${@/#/$here/}" || die "could not compile $*"
	for part in boot program; do
		objcopy -O binary -j .$part "$work/.$name.elf" "$work/.$name.$part"
	done
	cat "$work/.$name.boot" "$work/.$name.program" > "$work/.$name"
	mv "$work/.$name" "$work/$name"
	rm -f "$work/.$name".*
}

# As many machines at once as there are processors; the rest wait their turn, since
# time limits mean nothing to machines that starve each other. The lock goes with the
# last process that has it open.
turn()
{
	local i slots

	slots=$(nproc)
	while :; do
		for ((i = 0; i < slots; i++)); do
			exec 8> "$work/.slot$i"
			flock -n 8 && return
		done
		sleep 0.2
	done
}
