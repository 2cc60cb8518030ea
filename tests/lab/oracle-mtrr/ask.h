/* SPDX-License-Identifier: GPL-2.0-only */
/* What the program asks the module, and what Linux says. */
#ifndef MTRR_ORACLE_ASK_H
#define MTRR_ORACLE_ASK_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define ORACLE_DEVICE  "/dev/mtrr-oracle"
#define ORACLE_VARS    8
#define ORACLE_ASK_MAX 512

/**
 * struct oracle_question - the type of [@start, @end).
 * @start: first byte. @end: first byte after it.
 * @type, @uniform: mtrr_type_lookup()'s answer.
 */
struct oracle_question {
	__u64 start;
	__u64 end;
	__u8 type;
	__u8 uniform;
	__u8 pad[6];
};

/**
 * struct oracle_ask - questions about one set of registers.
 * @var: PHYSBASEn and PHYSMASKn. @fixed: the eleven registers in order of address.
 * @def_type: DEF_TYPE.
 * @questions: address of struct oracle_question. @nr: how many, at most ORACLE_ASK_MAX.
 */
struct oracle_ask {
	struct {
		__u64 base;
		__u64 mask;
	} var[ORACLE_VARS];
	__u64 fixed[11];
	__u64 def_type;
	__u64 questions;
	__u32 nr;
	__u32 pad;
};

#define ORACLE_ASK _IOW(0xb8, 0, struct oracle_ask)

#endif
