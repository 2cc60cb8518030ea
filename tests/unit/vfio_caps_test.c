// SPDX-License-Identifier: GPL-2.0-only
/* Answers with capability chains, right and wrong ones. */
#include <errno.h>
#include <linux/vfio.h>
#include <stdint.h>
#include <string.h>

#include "suite.h"
#include "vfio/caps.h"

#define FIXED 24

static unsigned char buf[256];

static void put(uint32_t at, uint16_t id, uint32_t next)
{
	struct vfio_info_cap_header h = { id, 1, next };

	memcpy(buf + at, &h, sizeof(h));
}

static int find(size_t len, uint32_t first, uint16_t id, size_t min, size_t *room)
{
	const void *cap = NULL;
	int ret = vf_caps_find(buf, len, first, FIXED, id, min, &cap, room);

	ck_assert(ret || cap);
	return ret;
}

START_TEST(finds_what_is_there)
{
	size_t room = 0;

	put(24, 3, 48);
	put(48, 1, 33); /* not aligned, and backwards */
	put(33, 2, 0);
	ck_assert_int_eq(find(64, 24, 3, 8, &room), 0);
	ck_assert_uint_eq(room, 40);
	ck_assert_int_eq(find(64, 24, 1, 16, &room), 0);
	ck_assert_uint_eq(room, 16);
	ck_assert_int_eq(find(64, 24, 9, 8, &room), -ENOENT);
	ck_assert_int_eq(find(64, 0, 3, 8, &room), -ENOENT);
}
END_TEST

START_TEST(a_circle_ends)
{
	size_t room;

	put(24, 3, 40);
	put(40, 1, 24);
	ck_assert_int_eq(find(256, 24, 9, 8, &room), -EPROTO);
	put(24, 3, 24);
	ck_assert_int_eq(find(256, 24, 9, 8, &room), -EPROTO);
}
END_TEST

START_TEST(a_chain_does_not_leave_the_answer)
{
	size_t room;

	put(24, 3, 57); /* header would end at 65 */
	ck_assert_int_eq(find(64, 24, 9, 8, &room), -EPROTO);
	put(24, 3, 0xfffffff8);
	ck_assert_int_eq(find(64, 24, 9, 8, &room), -EPROTO);
	ck_assert_int_eq(find(64, 64, 9, 8, &room), -EPROTO);
	put(8, 3, 0);
	ck_assert_int_eq(find(64, 8, 3, 8, &room), -EPROTO); /* in the fixed part */
	put(56, 3, 0);
	ck_assert_int_eq(find(64, 56, 3, 8, &room), 0);
	ck_assert_int_eq(find(64, 56, 3, 9, &room), -EPROTO); /* shorter than its kind */
}
END_TEST

/* ---- the call ---------------------------------------------------------------------------- */

static uint32_t answers[8];
static int asked, fails_at, fails_with;

static int answer(int fd, unsigned long request, void *arg)
{
	uint32_t *argsz = arg;

	ck_assert_int_eq(fd, 5);
	ck_assert_uint_eq(request, 77);
	if (asked == fails_at) {
		errno = fails_with;
		return -1;
	}
	/* What the caller said it has is really there. */
	memset((char *)arg + 8, 0xaa, *argsz - 8);
	*argsz = answers[asked++];
	return 0;
}

static int get(size_t *len)
{
	static const struct vf_sys sys = { .ioctl = answer };
	const uint32_t fixed[6] = { 0, 0, 42 };
	void *out = NULL;
	int ret;

	asked = 0;
	ret = vf_info_get(&sys, 5, 77, fixed, sizeof(fixed), &out, len);
	ck_assert(!ret == !!out);
	free(out);
	return ret;
}

START_TEST(asks_again_with_more_room)
{
	size_t len = 0;

	fails_at = -1;
	answers[0] = 24;
	ck_assert_int_eq(get(&len), 0);
	ck_assert_uint_eq(len, 24);
	ck_assert_int_eq(asked, 1);
	answers[0] = 100;
	answers[1] = 120;
	answers[2] = 120;
	ck_assert_int_eq(get(&len), 0);
	ck_assert_uint_eq(len, 120);
	ck_assert_int_eq(asked, 3);
}
END_TEST

START_TEST(but_not_for_ever)
{
	size_t len;
	int i;

	fails_at = -1;
	for (i = 0; i < 8; i++)
		answers[i] = 100 + 10 * (uint32_t)i;
	ck_assert_int_eq(get(&len), -EPROTO);
	ck_assert_int_lt(asked, 8);
	answers[0] = UINT32_MAX;
	ck_assert_int_eq(get(&len), -EPROTO);
	ck_assert_int_eq(asked, 1);
}
END_TEST

START_TEST(a_failing_call_is_passed_on)
{
	size_t len;

	answers[0] = 100;
	fails_with = ENOTTY;
	fails_at = 0;
	ck_assert_int_eq(get(&len), -ENOTTY);
	fails_at = 1;
	ck_assert_int_eq(get(&len), -ENOTTY);
}
END_TEST

SUITE("capability chains", finds_what_is_there, a_circle_ends, a_chain_does_not_leave_the_answer,
      asks_again_with_more_room, but_not_for_ever, a_failing_call_is_passed_on)
