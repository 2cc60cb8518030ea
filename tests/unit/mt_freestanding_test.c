// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library is compiled into a kernel module: nothing of a C library may creep in,
 * and no function may want much of a kernel's stack.
 */
#include "suite.h"
#include "mt_run.h"

/* Where the kernel's headers stand, only what the library may use of them. */
/* clang-format off */
static const char prepare[] =
	"d=$(mktemp -d) && trap 'rm -r $d' EXIT && mkdir $d/linux && "
	"printf '%s\\n' 'typedef unsigned long long uint64_t; typedef unsigned int uint32_t;' "
	"'typedef unsigned short uint16_t; typedef unsigned char uint8_t; typedef _Bool bool;' "
	"'typedef unsigned long size_t;' '#define true 1' '#define false 0' > $d/linux/types.h && "
	"printf '#define NULL ((void *)0)\\n' > $d/linux/stddef.h && "
	"printf '#define %s\\n' 'EINVAL 22' 'ENOENT 2' 'EPERM 1' 'ENODATA 61' 'E2BIG 7' 'ENOSPC 28' "
	"> $d/linux/errno.h && "
	"for f in memtype/*.c; do gcc -D__KERNEL__ -std=gnu11 -O2 -ffreestanding -nostdinc "
	"-fno-builtin -fno-pic -mno-sse -mgeneral-regs-only -fno-stack-protector "
	"-Wall -Wextra -Werror -Wundef -Wshadow -Wframe-larger-than=1024 "
	"-I$d -Imemtype/include -c $f -o $d/$(basename $f .c).o || exit 3; done && ";
/* clang-format on */

START_TEST(compiles_with_kernel_headers_alone)
{
	char command[4096];

	snprintf(command, sizeof(command), "%s :", prepare);
	run_status(command, 0);
	ck_assert_str_eq(run_output, "");
}
END_TEST

START_TEST(needs_nobody_but_itself)
{
	char command[4096], *rest = run_output, *name;
	int undefined = 0;

	/* What is undefined in one object must be defined in another. */
	snprintf(command, sizeof(command),
		 "%s nm -u $d/*.o | awk 'NF == 2 {print $2}' | sort -u > $d/u && "
		 "nm --defined-only $d/*.o | awk 'NF == 3 {print $3}' | sort -u > $d/d && "
		 "comm -23 $d/u $d/d",
		 prepare);
	run_status(command, 0);
	while ((name = strsep(&rest, "\n")) && *name) {
		/* The kernel has these three, and compilers call them for plain assignments. */
		if (strcmp(name, "memcpy") && strcmp(name, "memset") && strcmp(name, "memmove"))
			ck_abort_msg("the library needs %s", name);
		undefined++;
	}
	ck_assert_int_le(undefined, 3);
}
END_TEST

/* Writable data would be shared by all machines and all CPUs. */
START_TEST(keeps_no_state_of_its_own)
{
	char command[4096];

	snprintf(command, sizeof(command), "%s nm $d/*.o | grep -E ' [bBdDcC] '",
		 prepare);
	run(command);
	ck_assert_str_eq(run_output, "");
}
END_TEST

SUITE("mt_freestanding", compiles_with_kernel_headers_alone, needs_nobody_but_itself,
      keeps_no_state_of_its_own)
